#!/usr/bin/env bash
# clang-tidy with the checks of .clang-tidy, all of them errors.
#
#   scripts/tidy.sh [--most N] [FILE..|all|since COMMIT]
#
# Without words: the sources that differ from the commit before, 9 s each; with --most no more than
# N of them, evenly spread. `all` takes neighbouring
# sources of the library and of the command together, as the release build compiles them, since most
# of the time goes into headers that they share: half an hour of one core, and as long for the tests.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

check() { # BUILD OPTION.. with files on standard input, each ended by a zero
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-16 -p "$1" --quiet "${@:2}"
}

check_all() {
  cmake --preset clang -B build/tidy -DONSET_TESTS=ON -DONSET_QUICK_BUILD=ON >/dev/null
  # Files that include our sources are what taking them together means.
  sed -n 's/^  "file": "\(.*\)",\{0,1\}$/\1/p' build/tidy/compile_commands.json | sort -u |
    tr '\n' '\0' | check build/tidy --checks=-bugprone-suspicious-include
}

most=0
if [[ ${1:-} == --most ]]; then
  most=${2:?--most needs a number}
  shift 2
fi
case ${1:-} in
  -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;;
  all) check_all; exit ;;
  '' | since)
    mapfile -t files < <(git diff --name-only --diff-filter=d "${2:-HEAD~1}" -- \
      'src/*.cpp' 'tool/*.cpp' 'tests/*.cpp') ;;
  *) files=("$@") ;;
esac
# The installed package's own consumer is no part of this build.
mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -v '^tests/install/')
((${#files[@]})) && [[ -n ${files[0]} ]] || { echo "no source has changed"; exit 0; }

if ((most > 0 && ${#files[@]} > most)); then
  echo "$most of ${#files[@]} changed sources"
  spread=()
  for ((k = 0; k < most; ++k)); do spread+=("${files[k * ${#files[@]} / most]}"); done
  files=("${spread[@]}")
fi

cmake --preset clang -DONSET_TESTS=ON >/dev/null
printf '%s\0' "${files[@]}" | check build/clang
