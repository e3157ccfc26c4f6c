#!/usr/bin/env bash
# Kills sweeps, shards, ranks, merges, reports, exports, figures, runs and data generation at random
# moments, and checks that nothing finished is lost or changed (tests/cli/torture_test.py); then lets
# every single change of a file go wrong: a full disk, a failing one, half a write, a kill
# (tests/cli/fault_test.py). build/release is tested. A failed kill test names the folder in which it
# left everything.
#
# Usage: scripts/torture.sh [--kills N] [--seed S]      N = 1000 takes 11 minutes on two idle cores
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kills=1000
seed=1

usage() {
  printf 'usage: scripts/torture.sh [--kills N] [--seed S]\n' >&2
  exit 2
}

while (($#)); do
  [[ $# -ge 2 && $2 =~ ^[0-9]+$ ]] || usage
  case $1 in
    --kills) kills=$2 ;;
    --seed) seed=$2 ;;
    *) usage ;;
  esac
  shift 2
done

command=$root/build/release/bin/onset
[[ -x $command ]] || { printf 'torture.sh: build first: scripts/bootstrap.sh --full\n' >&2; exit 2; }
has_mpi=FALSE
if ldd "$command" | grep -q libmpi; then has_mpi=TRUE; fi

export ONSET_COMMAND=$command ONSET_HAS_MPI=$has_mpi ONSET_KILLS=$kills ONSET_KILL_SEED=$seed
export ONSET_FAULT_LIBRARY=$root/build/release/lib/libonset_faults.so ONSET_FAULT_STRIDE=1
status=0
for test in torture_test fault_test; do
  /usr/bin/python3 -B "$root/tests/cli/$test.py" --verbose || status=1
done
exit "$status"
