#!/usr/bin/env bash
# Measures what users run beside the plain way of doing it, prints one table and writes docs/speed.md.
#
#   scripts/bench.sh [JOB.. | growth | growth-SIZE.. | page] [--repeats N]
#
# Without a name: all jobs but the slow ones, and how costs grow; some ten minutes on two idle cores. Results are kept
# in bench/results.json. Needs Debian's python3-numpy, python3-scipy and python3-matplotlib, and Google Benchmark.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
cmake --preset release -DONSET_BENCH=ON >/dev/null
cmake --build build/release --target onset_tool bench_limits >/dev/null
exec /usr/bin/python3 -B bench/bench.py --command build/release/bin/onset --limits build/release/bin/bench_limits "$@"
