# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of the GPU benchmarks, as a skilled user would run it. One JSON line a figure. A mode is a type and a layout
(nchw or nhwc): the peer of a type is the better of its two layouts.

    python3 bench_torch.py conv|sepconv|step|compiled [NAME_PART]

`compiled` is the training step through torch.compile, captured in one CUDA graph.
"""
import json, pathlib, sys, time
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "reference"))
import torch, torch.nn as nn, torch.nn.functional as F
from networks_torch import *

torch.backends.cudnn.benchmark = True
want = sys.argv[2] if len(sys.argv) > 2 else ""


def say(name, **figures):
    print(json.dumps(dict(name=name, **figures)), flush=True)


def tf32(on):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = on


def event_time(fn, iterations, warm=5):
    """Milliseconds a call: median of 5 means."""
    for _ in range(warm):
        fn()
    torch.cuda.synchronize()
    means = []
    for _ in range(5):
        a, b = torch.cuda.Event(True), torch.cuda.Event(True)
        a.record()
        for _ in range(iterations):
            fn()
        b.record()
        torch.cuda.synchronize()
        means.append(a.elapsed_time(b) / iterations)
    return sorted(means)[2]


def graphed(fn, repeats=1):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            fn()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            fn()
    return graph


def tensors(mode):
    kind, layout = mode.split("-")
    tf32(kind == "tf32")
    dtype = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[kind]
    return dtype, torch.channels_last if layout == "nhwc" else torch.contiguous_format


def conv_bench():
    cases = [("32x512x7x7_512_k3s1p1", 32, 512, 7, 7, 512, 3, 1, 1), ("32x16x7x7_1_k3s1p1", 32, 16, 7, 7, 1, 3, 1, 1), ("32x64x32x32_64_k3s1p0", 32, 64, 32, 32, 64, 3, 1, 0),
             ("32x64x32x32_64_k3s1p1", 32, 64, 32, 32, 64, 3, 1, 1), ("32x64x32x32_128_k3s2p1", 32, 64, 32, 32, 128, 3, 2, 1), ("32x64x32x32_256_k1s1p0", 32, 64, 32, 32, 256, 1, 1, 0),
             ("32x64x32x32_128_k1s2p0", 32, 64, 32, 32, 128, 1, 2, 0), ("32x3x224x224_64_k7s2p3", 32, 3, 224, 224, 64, 7, 2, 3)]
    for name, n, c, h, w, k, ks, s, p in cases:
        for mode in ("fp32-nchw", "fp32-nhwc", "tf32-nchw", "tf32-nhwc", "fp16-nchw", "fp16-nhwc", "bf16-nchw", "bf16-nhwc"):
            if want not in f"{name}/{mode}":
                continue
            dtype, layout = tensors(mode)
            x = torch.randn(n, c, h, w, device="cuda", dtype=dtype).to(memory_format=layout)
            wt = torch.randn(k, c, ks, ks, device="cuda", dtype=dtype).to(memory_format=layout)
            fwd = lambda: F.conv2d(x, wt, None, s, p)
            gy = torch.randn_like(fwd())
            bwd = lambda: torch.ops.aten.convolution_backward(gy, x, wt, None, [s, s], [p, p], [1, 1], False, [0, 0], 1, [True, True, False])
            flop = 2 * gy.numel() * c * ks * ks
            te, tg, tb = event_time(fwd, 100, 10), event_time(graphed(fwd, 20).replay, 5) / 20, event_time(graphed(bwd, 10).replay, 5) / 10
            say(f"conv/{name}/{mode}", forward_us=round(te * 1e3, 2), forward_graph_us=round(tg * 1e3, 2), backward_graph_us=round(tb * 1e3, 2), gflops=round(flop / te / 1e6), gflops_graph=round(flop / tg / 1e6))


def sepconv_bench():
    for n, c, hw in [(64, 16, 32), (64, 32, 16), (64, 64, 8), (48, 28, 32), (96, 36, 32)]:
        for k in (3, 5):
            for mode in ("tf32-nchw", "tf32-nhwc", "fp16-nchw", "fp16-nhwc"):
                if want not in f"{n}x{c}x{hw}_k{k}/{mode}":
                    continue
                _, layout = tensors(mode)
                tf32(True)
                block = sep_conv(c, k, 1, False).cuda().to(memory_format=layout)
                x = torch.randn(n, c, hw, hw, device="cuda").to(memory_format=layout).requires_grad_(True)

                def step():
                    with torch.autocast("cuda", torch.float16, enabled=mode.startswith("fp16")):
                        y = block(x)
                    y.backward(torch.ones_like(y))
                say(f"sepconv/{n}x{c}x{hw}_k{k}/{mode}", forward_backward_us=round(event_time(step, 20) * 1e3, 1), forward_backward_graph_us=round(event_time(graphed(step).replay, 20) * 1e3, 1))


def step_bench(modes=("fp32-nchw", "fp32-nhwc", "tf32-nchw", "tf32-nhwc", "fp16-nchw", "fp16-nhwc"), compiled=False):
    nets = {"supernet8_small/b16": (lambda: Supernet(8, 4, OPS8), 16), "supernet8_recommended/b32": (lambda: Supernet(16, 8, OPS8), 32), "supernet8_medium/b32": (lambda: Supernet(20, 12, OPS8), 32),
            "supernet8_large/b48": (lambda: Supernet(28, 16, OPS8), 48), "supernet10_small/b16": (lambda: Supernet(8, 4), 16), "supernet10_medium/b32": (lambda: Supernet(20, 12), 32),
            "genotype_c16_l8/b96": (lambda: GenotypeNetwork(16, 8), 96), "genotype_c36_l20/b96": (lambda: GenotypeNetwork(36, 20), 96), "growing/b128": (lambda: GrowingNetwork(), 128),
            "resnet18/b128": (lambda: ResNet18(), 128), "resnet18/b512": (lambda: ResNet18(), 512)}
    for name, (make, n) in nets.items():
        for mode in modes:
            if want not in f"{name}/{mode}":
                continue
            start = time.time()
            torch.cuda.empty_cache(); torch.cuda.reset_peak_memory_stats()
            _, layout = tensors(mode)
            tf32(not mode.startswith("fp32"))
            net = make().cuda().to(memory_format=layout)
            params = net.weights() if hasattr(net, "weights") else list(net.parameters())
            x, t = torch.randn(n, 3, 32, 32, device="cuda").to(memory_format=layout), torch.randint(0, 10, (n,), device="cuda")
            forward = torch.compile(net) if compiled else net
            opt = torch.optim.SGD(params, 0.025, 0.9, weight_decay=3e-4, fused=True)

            def step():
                with torch.autocast("cuda", torch.float16, enabled=mode.startswith("fp16"), cache_enabled=False):
                    loss = F.cross_entropy(forward(x).float(), t)
                opt.zero_grad(set_to_none=False); loss.backward()
                nn.utils.clip_grad_norm_(params, 5.0, foreach=True); opt.step()
            step(); torch.cuda.synchronize()
            first, te, peak = time.time() - start, event_time(step, 5, 3), torch.cuda.max_memory_allocated() / 2**20
            tg = event_time(graphed(step).replay, 5, 3)
            say(f"{'compiled' if compiled else 'step'}/{name}/{mode}", step_ms=round(te, 3), step_graph_ms=round(tg, 3), images_per_s=round(n / te * 1e3), images_per_s_graph=round(n / tg * 1e3), peak_mib=round(peak), first_step_s=round(first, 1))


{"conv": conv_bench, "sepconv": sepconv_bench, "step": step_bench,
 "compiled": lambda: step_bench(("fp16-nhwc",), True)}[sys.argv[1]]()
