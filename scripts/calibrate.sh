#!/usr/bin/env bash
# Are the stated errors right? Runs every verb that states one over many seeds, tests scatter, coverage and
# bias, and writes docs/accuracy.md. With --quick (what the test suite runs) few seeds, and no file.
# scripts/calibrate.py says what is tested and how; `--help` lists its options.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ONSET_COMMAND=${ONSET_COMMAND:-$root/build/release/bin/onset}
exec /usr/bin/python3 -B "$root/scripts/calibrate.py" "$@"
