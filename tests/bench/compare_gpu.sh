#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The GPU's tables of docs/BENCHMARKS.md: convolutions, separable blocks and training steps, ours and PyTorch's one behind the
# other on one card. Algorithms are timed anew. Takes about eight minutes on an H200.
#
#   tests/bench/compare_gpu.sh ESPALIER_TRAIN FOLDER [conv] [sepconv] [step]      needs Python with PyTorch and a compiler
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ours=$1 folder=$2; shift 2
[ $# -gt 0 ] || set -- conv sepconv step
mkdir -p "$folder"
XDG_CACHE_HOME=$(mktemp -d); export XDG_CACHE_HOME; trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
step() { "$ours" bench step --backend cuda --network "$1" --batch "$2" "${@:3}" --json >> "$folder/ours-step.txt"; }
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for table in "$@"; do
  : > "$folder/ours-$table.txt"
  if [ "$table" = step ]; then
    for precision in fp16 tf32 fp32; do
      step resnet18 128 --tune --precision $precision
      step genotype_c16_l8 96 --tune --precision $precision
      step growing 128 --tune --precision $precision
    done
    step resnet18 128 --safe
    for network in resnet18/b128 genotype_c16_l8/b96 growing; do python3 "$here/bench_torch.py" step $network; done > "$folder/torch-step.txt"
    for network in resnet18/b128 genotype_c16_l8/b96; do python3 "$here/bench_torch.py" compiled $network; done >> "$folder/torch-step.txt"
  else
    "$ours" bench "$table" --backend cuda --json > "$folder/ours-$table.txt"
    python3 "$here/bench_torch.py" "$table" > "$folder/torch-$table.txt"
  fi
  python3 "$here/compare_gpu.py" "$folder/ours-$table.txt" "$folder/torch-$table.txt"
done
