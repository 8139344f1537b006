#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the numbers that the window shows true? Trains for a while and compares, from outside of the program,

  GFLOPS:  those of the `resources` events with planned FLOPs times steps over this program's own clock,
  memory:  those of the process with what the device has less than before the run (cuMemGetInfo; on the CPU: VmRSS).

    check_shown.py build/bin/espalier-train [--data SPEC] [--network JSON] [--batch 128] [--steps 200] [--seconds 5] [--set key=value ...]

Ends with code 1 if one of them differs by more than 3 %.
"""
import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--data", default="synthetic:3x32x32,10,200000")
parser.add_argument("--network", default='{"network": "resnet", "base_width": 64, "stages": [2, 2, 2, 2]}')
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--skip", type=int, default=100, help="steps before the first one that counts")
parser.add_argument("--steps", type=int, default=200, help="at least so many steps are timed")
parser.add_argument("--seconds", type=float, default=5, help="and for so long")
parser.add_argument("--limit", type=float, default=100, help="seconds after which it gives up")
parser.add_argument("--set", action="append", default=[], help="as of `espalier-train run`")
options = parser.parse_args()


class Device:
    """Memory that all programs use on the first GPU, by the driver itself; None without one."""

    def __init__(self):
        try:
            self.cuda = ctypes.CDLL("libcuda.so.1")
        except OSError:
            self.cuda = None
            return
        context, device = ctypes.c_void_p(), ctypes.c_int()
        if (self.cuda.cuInit(0) or self.cuda.cuDeviceGet(ctypes.byref(device), 0)
                or self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
                or self.cuda.cuCtxSetCurrent(context)):
            self.cuda = None

    def used(self):
        if self.cuda is None:
            return None
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
        return total.value - free.value


def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1)) * 1024


device = Device()
before = device.used()
folder = tempfile.TemporaryDirectory()
config = os.path.join(folder.name, "config.json")
with open(config, "w") as file:
    json.dump({"data": options.data, "network": json.loads(options.network), "batch": options.batch, "epochs": 1000,
               "validation_share": 0.01, "checkpoint": {"every_minutes": 0}}, file)
command = [options.program, "run", "--config", config, "--out", os.path.join(folder.name, "run"), "--json"]
for setting in options.set:
    command += ["--set", setting]
run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

plan = worker = None
samples, memory = [], []
started = time.perf_counter()
for line in run.stdout:
    now = time.perf_counter()
    if now - started > options.limit:
        break
    event = json.loads(line)
    kind = event["type"]
    if kind == "hello":
        worker = event["pid"]
    elif kind == "plan" and not event.get("continued"):
        plan = event
    elif kind in ("error", "fallback", "warning"):
        print(kind + ":", event.get("text", event.get("reason")), file=sys.stderr)
    elif kind == "phase" and event["phase"] == "evaluating" and samples:
        sys.exit("An evaluation came in between: take more images.")
    elif kind == "resources" and event["step"] >= options.skip and "gflops" in event:
        if samples: # each one tells of the time since the one before
            memory.append(device.used() - before if plan["backend"] == "cuda" and before is not None else resident(worker))
        samples.append((now, event))
        if event["step"] - samples[0][1]["step"] >= options.steps and now - samples[0][0] >= options.seconds:
            break
run.send_signal(2)
try:
    run.wait(20)
except subprocess.TimeoutExpired:
    run.kill()
if len(samples) < 2:
    sys.exit("The run ended before enough steps were timed.")

(begin, first), (end, last) = samples[0], samples[-1]
steps, seconds = last["step"] - first["step"], end - begin
outside = plan["flops"] * steps / seconds / 1e9
inside = sum(event["gflops"] * (now - then) for (then, _), (now, event) in zip(samples, samples[1:])) / seconds
process = [event["memory"]["process"] for _, event in samples[1:] if "process" in event["memory"]]
mib = 1 << 20
print(json.dumps({"device": plan["device"], "precision": plan["precision"], "steps": steps,
                  "step_ms": seconds / steps * 1e3, "gflops_outside": outside, "gflops_shown": inside,
                  "mfu": last.get("mfu"), "planned_mib": last["memory"]["total"] / mib,
                  "process_shown_mib": process[-1] / mib if process else None, "process_outside_mib": memory[-1] / mib,
                  "sample": {key: value for key, value in last.items() if key not in ("type", "time", "step")}}))
wrong = abs(inside / outside - 1) > 0.03
print(f"GFLOPS shown {inside:,.0f}, outside {outside:,.0f}: {100 * (inside / outside - 1):+.2f} %")
if process:
    difference = process[-1] / memory[-1] - 1
    wrong |= abs(difference) > 0.03
    print(f"memory of the process shown {process[-1] / mib:,.0f} MiB, outside {memory[-1] / mib:,.0f}: "
          f"{100 * difference:+.2f} %")
else:
    print(f"memory of the process is not told here; planned {last['memory']['total'] / mib:,.0f} MiB, "
          f"outside {memory[-1] / mib:,.0f} with context and libraries")
sys.exit(wrong)
