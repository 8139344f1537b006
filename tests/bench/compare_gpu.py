# SPDX-License-Identifier: Apache-2.0
"""Puts the figures of `espalier-train bench ... --json` beside those of bench_torch.py and prints ratios (above 1: we are faster).

    python3 compare_gpu.py OURS.jsonl TORCH.jsonl
"""
import json, math, sys


def read(path):
    lines = (line.strip() for line in open(path))
    return {entry["name"]: entry for entry in (json.loads(line) for line in lines if line.startswith("{"))}


ours, torch = read(sys.argv[1]), read(sys.argv[2])


def peer(name, figure):
    """The better of PyTorch's layouts."""
    found = [torch[n][figure] for n in (f"{name}-nchw", f"{name}-nhwc") if n in torch]
    return min(found) if found else None


ratios = {}
for case, entry in ours.items():
    name = case.removesuffix("/safe")  # beside what PyTorch does by default
    kind = name.split("/")[0]
    columns = {"conv": [("forward_us",) * 2, ("forward_graph_us",) * 2, ("backward_graph_us",) * 2],
               "sepconv": [("forward_backward_us",) * 2, ("forward_backward_graph_us",) * 2],
               "step": [("step_ms", "step_ms"), ("step_ms", "step_graph_ms")]}[kind]
    text = f"{case:44}"
    for mine, theirs in columns:
        their_time = peer(name, theirs)
        if their_time and mine in entry:
            ratio = their_time / entry[mine]
            ratios.setdefault((kind, theirs), []).append(ratio)
            text += f"  {mine} {entry[mine]:.2f} / {their_time:.2f} = {ratio:.2f}"
    compiled = torch.get(name.replace("step/", "compiled/") + "-nhwc")
    if compiled and kind == "step":
        text += f"  compiled {compiled['step_graph_ms']:.2f} = {compiled['step_graph_ms'] / entry['step_ms']:.2f}"
        text += f"  memory {entry['planned_mib']:.0f} / {compiled['peak_mib']}"
    elif kind == "step":
        text += f"  memory {entry['planned_mib']:.0f} / {peer(name, 'peak_mib')}"
    print(text)
for key, values in ratios.items():
    print(f"{key[0]} {key[1]}: worst {min(values):.2f}, geometric mean {math.exp(sum(map(math.log, values)) / len(values)):.2f} of {len(values)}")
