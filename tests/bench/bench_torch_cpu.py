# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of the CPU step: forward, backward and SGD of one network in this process, fp32, in both layouts.

    python3 bench_torch_cpu.py NETWORK THREADS [SECONDS]      NETWORK: resnet18, genotype_c16_l8, supernet8_small

One JSON line a layout, with the median step and the peak resident size of the process. One layout a process keeps the peaks apart:
give `nchw` or `nhwc` as the fourth argument.
"""
import json
import pathlib
import resource
import sys
import time

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "reference"))
from networks_torch import OPS8, GenotypeNetwork, ResNet18, Supernet  # noqa: E402

NETWORKS = {
    "resnet18": (lambda: ResNet18(), 64),
    "genotype_c16_l8": (lambda: GenotypeNetwork(16, 8), 32),
    "supernet8_small": (lambda: Supernet(8, 4, OPS8), 16),
}


def measure(name, layout, seconds):
    make, batch = NETWORKS[name]
    torch.manual_seed(0)
    memory_format = torch.channels_last if layout == "nhwc" else torch.contiguous_format
    net = make().to(memory_format=memory_format)
    x = torch.randn(batch, 3, 32, 32).to(memory_format=memory_format)
    t = torch.randint(0, 10, (batch,))
    weights = net.weights() if hasattr(net, "weights") else net.parameters()
    optimizer = torch.optim.SGD(weights, 0.025, 0.9, weight_decay=3e-4)

    def step():
        loss = F.cross_entropy(net(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(2):
        step()
    times, start = [], time.time()
    while time.time() - start < seconds or len(times) < 5:
        begin = time.time()
        step()
        times.append(time.time() - begin)
    median = sorted(times)[len(times) // 2]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(dict(name=f"step/{name}/b{batch}/fp32-{layout}", threads=torch.get_num_threads(), step_ms=round(median * 1e3, 2),
                          steps=len(times), peak_mib=round(peak))), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    for chosen in [sys.argv[4]] if len(sys.argv) > 4 else ["nchw", "nhwc"]:
        measure(sys.argv[1], chosen, float(sys.argv[3]) if len(sys.argv) > 3 else 6.0)
