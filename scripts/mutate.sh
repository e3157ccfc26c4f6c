#!/usr/bin/env bash
# Breaks one arithmetic line of a source at a time (+ to -, * to /, < to <=, constants, signs, terms)
# and says which mutants its quick tests let live. The tree does not change; the build is
# build/release: see tests/mutation/mutate.py, which also says how little is compiled for each.
#
# Usage: scripts/mutate.sh src/FILE.cpp [--near | --tests FILTER] [--lines N,N,..] [--limit N]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[[ $# -ge 1 && -f $1 ]] || { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
cd "$root"
cmake --preset release -DONSET_TESTS=ON >/dev/null
nice cmake --build --preset release --target onset_tests
exec nice /usr/bin/python3 -B "$root/tests/mutation/mutate.py" "$root/build/release" "$@"
