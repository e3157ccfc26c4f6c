#!/usr/bin/env bash
# clang-tidy with the checks of .clang-tidy, all of them errors.
#
#   scripts/tidy.sh [FILE..|all|since COMMIT]
#
# Without words: the sources that differ from the commit before. All of them take more than an hour of
# one core.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
  -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;;
  all) mapfile -t files < <(git ls-files 'src/*.cpp' 'tool/*.cpp' 'tests/*.cpp') ;;
  '' | since)
    mapfile -t files < <(git diff --name-only --diff-filter=d "${2:-HEAD~1}" -- \
      'src/*.cpp' 'tool/*.cpp' 'tests/*.cpp') ;;
  *) files=("$@") ;;
esac
# The installed package's own consumer is no part of this build.
mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '^tests/install/')
((${#files[@]})) && [[ -n ${files[0]} ]] || { echo "no source has changed"; exit 0; }

cmake --preset clang -DONSET_TESTS=ON >/dev/null
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy-16 -p build/clang --quiet
