"""What `--explain` estimates beside what a run takes: core-seconds of every verb, over parameters that users would try.

Usage: explain.py PATH_OF_ONSET [--only TEXT] [--most SECONDS] [--factor X]

Every case is settled with `--explain` and then run with one thread; measured are the processor seconds of the command
(user and system, so that other work on the machine counts little). `--only` takes the cases whose command contains a
text, such as `smi` or `aim amp`; `--most` leaves out the cases that are estimated at more (60 unless given). Where a
run takes less than half a second the estimate has no use to anybody: it counts as right if it says less than a
second, or is within the factor. Printed is a table, with a mark where estimate and measurement differ by more than
`--factor` (3); the exit code is 1 where there is such a case.
"""

import argparse
import json
import resource
import shlex
import subprocess
import sys

SHORT = 0.5  # seconds below which nobody asks
SHORT_ESTIMATE = 1.0

CASES = """
smi thresholds --layers 1 --tokens 4
smi thresholds --layers 2
smi thresholds --layers 2 --tol 0.005
smi thresholds --layers 2 --skip 0.1
smi thresholds --layers 2 --tokens 3
smi thresholds --layers 3
smi thresholds --layers 2 --stages 1
smi thresholds --layers 3 --stages 1
smi thresholds --layers 4 --stages 1
smi thresholds --layers 6 --stages 1
smi thresholds --layers 8 --stages 1
smi thresholds --layers 3 --stages 1 --skip 0.2
smi thresholds --layers 3 --stages 2
smi thresholds --layers 2 --tokens 3 --stages 1
smi thresholds --layers 2 --tokens 4 --stages 1
smi thresholds --layers 2 --noise 0.3 --stages 1
smi thresholds --layers 2 --rank 2 --stages 1
smi thresholds --link square
smi thresholds --link staircase
smi thresholds --link z1^2
smi thresholds --link sign(z1)*z2
smi curve --layers 1 --tokens 3 --alpha 0.1:0.5:0.1
smi curve --layers 2 --alpha 0.1:1.2:0.1
smi curve --layers 2 --alpha 0.3
smi curve --layers 2 --alpha 0.1:1.2:0.02
smi curve --layers 2 --tokens 3 --alpha 0.2
smi curve --layers 3 --alpha 0.5
smi curve --link square --alpha 0.4:1.2:0.1
smi curve --link z1*z2 --alpha 1
smi evolution --layers 1 --alpha 0.4 --iterations 20
smi evolution --alpha 1.2 --iterations 20
smi evolution --layers 3 --alpha 1.2 --iterations 5
smi evolution --link square --alpha 1.3 --iterations 50
smi potential --layers 1 --alpha 0.3
smi potential --link square --alpha 0.6,1,1.1 --points 40
smi potential --layers 2 --alpha 0.9 --path grid --points 6
smi amp --dim 200 --alpha 0.4:1.2:0.4 --runs 2 --nodes 64
smi amp --layers 1 --dim 1000 --alpha 0.4 --runs 4
smi amp --layers 3 --dim 200 --alpha 1 --runs 1 --nodes 64
smi amp --link square --dim 500 --alpha 1.3 --runs 8
smi amp --link z1^2+0.3*e1 --dim 200 --alpha 1.5 --runs 4
smi sgd --time 20
smi sgd --engine online --dim 300 --time 30
smi sgd --engine chain --dim 10000 --time 50
smi sgd --engine chain --layers 3 --dim 1000
smi sgd --engine flow --dim 10000 --time 100
smi sgd --engine chain --link z1+z1*z2 --dim 1000 --rate 0.1 --time 50
smi exponent --layers 2
smi exponent --layers 3
smi exponent --link z1*z2*z3
smi spectral --alpha 0.2:1:0.2
smi spectral --link z1^2 --alpha 0.6,1 --dim 500 --runs 2
smi spectral --alpha 0.5 --dim 300 --runs 2
aim curve --alpha 0.05:0.5:0.05
aim curve --channel hardmax --alpha 0.1,0.3 --rho 0.5
aim curve --tokens 3 --alpha 0.1,0.3
aim thresholds
aim thresholds --channel hardmax
aim potential --alpha 0.1 --points 10
aim spectrum --rho 0.5 --delta 0.1
aim amp --dim 50 --alpha 0.1,0.3 --runs 2
aim amp --channel hardmax --dim 40 --alpha 0.3 --runs 2
aim amp --dim 200 --alpha 0.1 --runs 1
aim gd --dim 20 --alpha 0.3 --starts 4 --runs 2
aim gd --dim 40 --alpha 0.3 --starts 2 --runs 1
aim flow --time 0.1:1:0.1
aim flow --time 0.1:1:0.1 --student untied
aim flow --time 1:10:1 --student untied
aim flow --time 1:100:10 --student tied --loss cross-entropy
aim flow --time 20000 --student tied --loss cross-entropy
aim flow --time 0.5 --student tied --rate 0.1
aim flow --tokens 3 --time 1:5:1
aim sgd --dim 30 --time 0.5 --runs 2
aim sgd --dim 60 --time 1 --runs 2
aim erm --alpha 0.1:0.5:0.1
aim erm --alpha 0.1,0.2
aim erm --channel hardmax --alpha 0.3
aim erm --alpha 0.3 --loss fields
ssi sie --target He2(z1)+He2(z2)
ssi sie --target z1*z2 --tokens 2
ssi sie --target softmax --tokens 8
ssi sie --target prod(z) --tokens 6
ssi sie --target H2sum --tokens 64 --positional
ssi loss --target z1*z2
ssi loss --a 1 --omega 0.5
ssi loss --target max(z1,z2) --positional
ssi loss --target softmax --tokens 3 --positional
ssi loss --target H2sum --tokens 4 --positional --points 11
ssi flow --a 1 --omega 0.5
ssi flow --target H2sum --tokens 4 --positional
ssi flow --a 1 --omega 0.6 --loss frobenius
ssi phase --a 0.5:2:0.5 --omega 0.1:0.9:0.2
ssi phase --a 0.5:2:0.01 --omega 0.01:0.99:0.01
ssi phase --tokens 4 --a 0.8:1.4:0.2 --curves
ssi phase --tokens 8 --a 1 --omega 0.5
ssi sgd --a 1 --omega 0.5 --dim 1000 --steps 100000 --runs 16
ssi sgd --target H2sum --tokens 16 --student tied --dim 1000 --steps 20000 --runs 64
ssi sgd --target H2sum --tokens 8 --positional --dim 1000 --steps 20000 --runs 64
ssi sgd --a 1 --omega 0.5 --dim 200 --steps 20000 --runs 8 --engine full
ssi scaling --target H2sum --student tied --dim 100,200,400 --runs 16
ssi scaling --target z1^12 --tokens 64 --positional --dim 10,20 --runs 8 --start overlapped --steps 1
ssi gain --tokens 2,4,8 --dim 300 --runs 16
mha trial --heads 1 --dim 8 --tokens 4 --samples 20000
mha trial --heads 2 --dim 8 --tokens 4 --samples 50000
mha trial --heads 3 --dim 12 --samples 100000
mha compare --heads 2 --dim 8 --samples 20000
mha compare --heads 4 --dim 8 --samples 20000 --adam-steps 0
"""


def words(case):
    return shlex.split(case)


def json_of(command, arguments):
    run = subprocess.run([command, *arguments, "--format", "json"], capture_output=True, text=True)
    if not run.stdout.strip():
        return None, run.stderr.strip()
    return json.loads(run.stdout), run.stderr.strip()


def estimate(command, case):
    record, error = json_of(command, [*words(case), "--explain"])
    return (record["rows"][0]["core_seconds"], "") if record and record["rows"] else (None, error)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(command, case):
    before = processor_seconds()
    record, error = json_of(command, [*words(case), "--threads", "1"])
    status = record["status"] if record else error.splitlines()[-1] if error else "no output"
    return processor_seconds() - before, status


def is_right(estimated, measured, factor):
    if estimated <= factor * measured and measured <= factor * estimated:
        return True
    return measured < SHORT and estimated < SHORT_ESTIMATE


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=float, default=60.0)
    parser.add_argument("--factor", type=float, default=3.0)
    options = parser.parse_args()
    off = 0
    print("| command | estimate, s | measured, s | ratio | |")
    print("| --- | --- | --- | --- | --- |")
    for case in CASES.strip().splitlines():
        if options.only not in case:
            continue
        estimated, error = estimate(options.command, case)
        if estimated is None:
            print(f"| `{case}` | - | - | - | {error} |", flush=True)
            off += 1
            continue
        if estimated > options.most:
            print(f"| `{case}` | {estimated:.2g} | not run | | |", flush=True)
            continue
        measured, status = measure(options.command, case)
        right = is_right(estimated, measured, options.factor)
        off += 0 if right else 1
        note = " ".join(["" if right else "OFF", "" if status == "ok" else status]).strip()
        print(f"| `{case}` | {estimated:.2g} | {measured:.2g} | {measured / max(estimated, 1e-9):.2g} | {note} |",
              flush=True)
    print(f"\n{off} off by more than {options.factor:g}")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
