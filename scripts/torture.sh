#!/usr/bin/env bash
# Kills sweeps, shards, ranks, merges, reports, exports, figures, runs and data generation at random
# moments, and checks that nothing finished is lost or changed (tests/cli/torture_test.py). The build
# of scripts/demo.sh is tested. A failure names the folder in which it left everything.
#
# Usage: scripts/torture.sh [--kills N] [--seed S]     1000 kills, about half an hour on two cores
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

ONSET_COMMAND=$command ONSET_HAS_MPI=$has_mpi ONSET_KILLS=$kills ONSET_KILL_SEED=$seed \
  exec /usr/bin/python3 -B "$root/tests/cli/torture_test.py" --verbose
