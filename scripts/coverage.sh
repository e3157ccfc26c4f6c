#!/usr/bin/env bash
# Which lines of the library and of the command the tests reach.
#
#   scripts/coverage.sh [--all] [--uncovered]
#
#   --all        the long tests too; the quick ones unless said so
#   --uncovered  also list the lines that no test reaches, file by file
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
which_tests=(-L quick -LE install)
table_words=()
while (($#)); do
  case $1 in
    --all) which_tests=(-LE install) ;;
    --uncovered) table_words+=(--uncovered) ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) printf 'coverage: unknown option %s\n' "$1" >&2; exit 2 ;;
  esac
  shift
done

cmake --preset coverage -DONSET_TESTS=ON >/dev/null
cmake --build --preset coverage
find build/coverage -name '*.gcda' -delete # of an earlier run
status=0
ctest --test-dir build/coverage -j "$(nproc)" --output-on-failure "${which_tests[@]}" || status=$?
/usr/bin/python3 scripts/coverage_table.py build/coverage "${table_words[@]}"
exit "$status"
