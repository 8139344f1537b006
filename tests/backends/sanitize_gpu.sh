#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The op tests of the GPU under NVIDIA's compute-sanitizer, side by side. Takes about six minutes on an H200 with 16 cores.
#
#   tests/backends/sanitize_gpu.sh BIN_FOLDER LOG_FOLDER [memcheck] [initcheck] [racecheck]
#
# Each tool must find the fault that sanitizer_faults has for it first, and none in the tests then. racecheck looks at our own
# kernels alone: of the library's it reports those that wait by other means than it knows.
set -uo pipefail
bin=$1 logs=$2; shift 2
[ $# -gt 0 ] || set -- memcheck initcheck racecheck
mkdir -p "$logs"
ops=("backends_agree_with_the_reference:cuda, exact" "backends_agree_with_the_reference:cuda, fast"
     "backends_agree_in_halves:cuda, f16" "backends_agree_in_halves:cuda, bf16"
     "casts_are_absorbed:cuda, f16" "casts_are_absorbed:cuda, bf16")
sizes=(rounded_convolutions_agree)
while read -r row; do
  sizes+=("agree_with_the_reference:$row")
done < <("$bin/tst_gpu_sizes" -datatags | sed -n 's/^GpuSizes agree_with_the_reference \(pointwise of .*\)/\1/p')

under() { # TOOL PROGRAM ARGUMENTS...
  local tool=$1 filter=(); shift
  [ "$tool" = racecheck ] && filter=(--kernel-regex kns=espalier)
  OMP_NUM_THREADS=4 compute-sanitizer --tool "$tool" "${filter[@]}" --target-processes all --error-exitcode 9 "$bin/$1" "${@:2}"
}
check() { # TOOL NAME PROGRAM ARGUMENTS...
  local log=$logs/$1-$2.log rc=0
  under "$1" "${@:3}" > "$log" 2>&1 || rc=$?
  echo "$1 $2: exit code $rc, $(grep -c ^PASS "$log") passed, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | sed 's/=* //' | tr '\n' ' ')"
  grep -E 'SUMMARY' "$log" | grep -qv 'SUMMARY: 0 ' && rc=9 # racecheck's exit code leaves warnings out
  return $rc
}
for tool in "$@"; do
  under "$tool" sanitizer_faults "$tool" > "$logs/$tool-faults.log" 2>&1
  [ $? = 9 ] || { echo "$tool does not find the fault that sanitizer_faults has for it: see $logs/$tool-faults.log"; exit 1; }
done
jobs=()
for tool in "$@"; do
  check "$tool" ops tst_op_checker "${ops[@]}" & jobs+=($!)
  check "$tool" sizes tst_gpu_sizes "${sizes[@]}" & jobs+=($!)
done
failed=0
for job in "${jobs[@]}"; do wait "$job" || failed=1; done
exit $failed
