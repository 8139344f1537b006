#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Our CPU step beside PyTorch's, turn by turn on one machine: a table of ms a step, peak resident MiB and their ratios.
#
#   tests/bench/compare_cpu.sh ESPALIER_TRAIN [THREADS...]      needs Python with PyTorch
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ours=$1; shift
[ $# -gt 0 ] || set -- 2 16
lscpu | grep -E 'Model name|Flags' | sed 's/Flags.*\(avx512_bf16\|avx512f\).*/has \1/' | cut -c1-100
lines=$(mktemp); trap 'rm -f "$lines"' EXIT
for threads in "$@"; do
  for network in resnet18 genotype_c16_l8; do
    for turn in 1 2; do
      export OMP_NUM_THREADS=$threads
      $ours bench step --network "$network" --threads "$threads" --seconds 5 --json | sed "s/^{/{\"side\": \"ours\", /" | tee -a "$lines"
      for layout in nchw nhwc; do
        python3 "$here/bench_torch_cpu.py" "$network" "$threads" 5 $layout | sed "s/^{/{\"side\": \"torch\", /" | tee -a "$lines"
      done
    done
  done
done
python3 - "$lines" <<'P'
import collections, json, statistics, sys
rows = collections.defaultdict(lambda: collections.defaultdict(list))
for line in open(sys.argv[1]):
    d = json.loads(line)
    network = d["name"].split("/")[1]
    rows[network, d["threads"]][d["side"] if d["side"] == "ours" else d["name"].rsplit("-", 1)[1]].append((d["step_ms"], d.get("peak_mib") or d["peak_rss_mib"]))
print(f"{'network':18} {'threads':>7} {'ours ms':>9} {'torch ms':>9} {'speed':>6} {'ours MiB':>9} {'torch MiB':>9} {'memory':>6}")
for (network, threads), sides in rows.items():
    median = {side: [statistics.median(v) for v in zip(*values)] for side, values in sides.items()}
    ours, torch = median["ours"], min(median["nchw"], median["nhwc"])
    print(f"{network:18} {threads:7} {ours[0]:9.1f} {torch[0]:9.1f} {torch[0] / ours[0]:6.2f} {ours[1]:9.0f} {torch[1]:9.0f} {ours[1] / torch[1]:6.2f}")
P
