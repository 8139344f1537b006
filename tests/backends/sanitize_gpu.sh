#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The op tests of the GPU under NVIDIA's compute-sanitizer: memcheck, initcheck and racecheck, side by side. Takes about six
# minutes on an H200 with 16 cores.
#
#   tests/backends/sanitize_gpu.sh BIN_FOLDER LOG_FOLDER
#
# racecheck looks at our own kernels alone: of the library's it reports those that wait by other means than it knows.
set -uo pipefail
bin=$1 logs=$2
mkdir -p "$logs"
ops=("backends_agree_with_the_reference:cuda, exact" "backends_agree_with_the_reference:cuda, fast"
     "backends_agree_in_halves:cuda, f16" "backends_agree_in_halves:cuda, bf16"
     "casts_are_absorbed:cuda, f16" "casts_are_absorbed:cuda, bf16")
sizes=(rounded_convolutions_agree)
while read -r row; do
  sizes+=("agree_with_the_reference:$row")
done < <("$bin/tst_gpu_sizes" -datatags | sed -n 's/^GpuSizes agree_with_the_reference \(pointwise of .*\)/\1/p')

check() { # TOOL NAME PROGRAM ARGUMENTS...
  local filter=()
  [ "$1" = racecheck ] && filter=(--kernel-regex kns=espalier)
  local log=$logs/$1-$2.log rc=0
  OMP_NUM_THREADS=4 compute-sanitizer --tool "$1" "${filter[@]}" --target-processes all --error-exitcode 9 \
    "$bin/$3" "${@:4}" > "$log" 2>&1 || rc=$?
  echo "$1 $2: exit code $rc, $(grep -c ^PASS "$log") passed, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | sed 's/=* //' | tr '\n' ' ')"
  return $rc
}
jobs=()
for tool in memcheck initcheck racecheck; do
  check $tool ops tst_op_checker "${ops[@]}" & jobs+=($!)
  check $tool sizes tst_gpu_sizes "${sizes[@]}" & jobs+=($!)
done
failed=0
for job in "${jobs[@]}"; do wait "$job" || failed=1; done
exit $failed
