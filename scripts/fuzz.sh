#!/usr/bin/env bash
# Gives every reader of files broken input, under the address and undefined-behaviour sanitizers.
#
#   scripts/fuzz.sh [--seconds N] [READER..]
#
#   --seconds N  for all of them together, 60 unless said otherwise
#   READER       npy, study, figure, .. (the names of tests/fuzz/*_fuzzer.cpp); all unless said otherwise
#
# A finding stops its fuzzer; the input is kept under build/fuzz/found. Mend the reader, then put
# the input into tests/fuzz/corpus/READER under a name that says what was wrong: ctest reads that
# folder in every build. New inputs that reach new code are kept in build/fuzz/corpus, so that the
# next run goes on from there.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=60
readers=()
while (($#)); do
  case $1 in
    --seconds) seconds=${2:?--seconds needs a number}; shift ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) readers+=("$1") ;;
  esac
  shift
done
if ((${#readers[@]} == 0)); then
  for file in tests/fuzz/*_fuzzer.cpp; do
    file=${file##*/}
    readers+=("${file%_fuzzer.cpp}")
  done
fi

cmake --preset asan -DONSET_TESTS=ON >/dev/null
cmake --build --preset asan --target "${readers[@]/%/_fuzzer}"

# Generous for one input; what takes longer hangs or eats the machine.
input_seconds=20
memory_megabytes=2048
longest_input=65536
mkdir -p build/fuzz/found build/fuzz/tmp
failed=()
for reader in "${readers[@]}"; do
  kept=build/fuzz/corpus/$reader
  mkdir -p "$kept"
  printf '== %s\n' "$reader"
  TMPDIR=$PWD/build/fuzz/tmp "build/asan/bin/${reader}_fuzzer" "$kept" "tests/fuzz/corpus/$reader" \
    -max_total_time=$((1 + seconds / ${#readers[@]})) -timeout=$input_seconds -max_len=$longest_input \
    -rss_limit_mb=$memory_megabytes -artifact_prefix="build/fuzz/found/$reader-" \
    -print_final_stats=1 >"build/fuzz/$reader.log" 2>&1 || failed+=("$reader")
  grep -E 'stat::number_of_executed_units|SUMMARY|Test unit written' "build/fuzz/$reader.log" || true
done
rm -rf build/fuzz/tmp
if ((${#failed[@]})); then
  printf 'found something: %s\n' "${failed[*]}"
  for reader in "${failed[@]}"; do tail -40 "build/fuzz/$reader.log"; done
  exit 1
fi
