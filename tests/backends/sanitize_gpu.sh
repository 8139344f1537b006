#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The op tests of the GPU under NVIDIA's compute-sanitizer, side by side. Takes about six minutes on an H200 with 16 cores.
#
#   tests/backends/sanitize_gpu.sh BIN_FOLDER LOG_FOLDER [memcheck] [initcheck] [racecheck]
#
# Each tool must find the fault that sanitizer_faults has for it first, and none in the tests then. Of racecheck's reports
# those about our own kernels count: of the library's it reports some that wait by other means than it knows. (Watching ours
# alone, by --kernel-name, ends in an illegal access within the tool where a library's kernel runs in halves.)
set -uo pipefail
bin=$1 logs=$2; shift 2
[ $# -gt 0 ] || set -- memcheck initcheck racecheck
mkdir -p "$logs"
rows=("tst_op_checker backends_agree_with_the_reference:cuda, exact" "tst_op_checker backends_agree_with_the_reference:cuda, fast"
      "tst_op_checker backends_agree_in_halves:cuda, f16" "tst_op_checker backends_agree_in_halves:cuda, bf16"
      "tst_op_checker casts_are_absorbed:cuda, f16" "tst_op_checker casts_are_absorbed:cuda, bf16"
      "tst_gpu_sizes rounded_convolutions_agree")
while read -r row; do
  rows+=("tst_gpu_sizes agree_with_the_reference:$row")
done < <("$bin/tst_gpu_sizes" -datatags | sed -n 's/^GpuSizes agree_with_the_reference \(pointwise of .*\)/\1/p')

under() { # TOOL LOG PROGRAM ARGUMENTS...: whether it ran to its end and the tool found something
  local tool=$1 log=$2 rc=0; shift 2
  OMP_NUM_THREADS=4 compute-sanitizer --tool "$tool" --print-limit 100000 --show-backtrace no --target-processes all \
    "$bin/$1" "${@:2}" > "$log" 2>&1 || rc=$?
  ended=0 found=0
  [ $rc = 0 ] && grep -q 'SUMMARY: ' "$log" && ! grep -q 'Internal Sanitizer Error' "$log" && ended=1
  if [ "$tool" = racecheck ]; then found=$(grep -c '^=.*espalier::' "$log"); else grep -q 'SUMMARY: 0 ' "$log" || found=1; fi
}
check() { # TOOL ROW
  local log; log=$logs/$1-$(tr -c 'a-z0-9\n' - <<< "${2#tst_}").log
  under "$1" "$log" "${2%% *}" "${2#* }"
  echo "$1 ${2#tst_}: $(grep -c '^PASS' "$log") passed, $(grep 'SUMMARY: ' "$log" | sed 's/=* //' | tr '\n' ' ')," \
    "$found of it ours, ended $ended"
  [ $ended = 1 ] && [ "$found" = 0 ]
}
failed=0
for tool in "$@"; do
  under "$tool" "$logs/$tool-faults.log" sanitizer_faults "$tool"
  [ "$found" != 0 ] || { echo "$tool does not find the fault that sanitizer_faults has for it: see $logs/$tool-faults.log"; exit 1; }
  jobs=()
  for row in "${rows[@]}"; do check "$tool" "$row" & jobs+=($!); done
  for job in "${jobs[@]}"; do wait "$job" || failed=1; done
done
exit $failed
