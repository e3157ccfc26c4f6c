"""What the bookkeeping of a large study takes: the table of docs/studies.md.

Usage: large_study.py PATH_OF_ONSET [--points N]

A sweep of `aim thresholds` over two axes fills a store, whose points take next to nothing themselves; then every command that
reads or writes such a store runs once. Measured are processor seconds (user and system, of the command and of the processes
that it starts, so that other work on the machine counts little) and the most memory of one process.
"""

import argparse
import math
import os
import pathlib
import subprocess
import tempfile

STUDY = """command = "aim thresholds"
[axes]
rho = "{rho}"
seed = {seeds}
"""


def measured(command, folder):
    """(processor seconds, MiB) of a command that must succeed."""
    with open(folder / "said", "wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{(folder / 'said').read_text()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def size(path):
    return f"{path.stat().st_size / 1e6:.2g} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--points", type=int, default=100000)
    options = parser.parse_args()
    onset = os.path.abspath(options.command)
    side = math.isqrt(options.points)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rho = f"0.1:1.1:{1.0 / (side - 1)!r}"
        (folder / "study.toml").write_text(STUDY.format(rho=rho, seeds=list(range(1, side + 1))), encoding="utf-8")
        sweep = [onset, "sweep", "study.toml", "--store", "s.db", "--quiet"]
        filling, _ = measured(sweep, folder)
        rows = [("plan: `sweep --list --format jsonl`",
                 measured([onset, "sweep", "study.toml", "--list", "--format", "jsonl"], folder)),
                ("plan and shares: `submit slurm --jobs 20`",
                 measured([onset, "submit", "slurm", "study.toml", "--jobs", "20", "--dry-run"], folder)),
                ("`sweep --status`", measured([*sweep, "--status"], folder)),
                ("`sweep` with nothing to do", measured(sweep, folder))]
        for form in ("csv", "json", "npy"):
            cost = measured([onset, "export", "s.db", "--format", form, "--out", f"all.{form}"], folder)
            rows.append((f"`export --format {form}` ({size(folder / f'all.{form}')})", cost))
        rows.append(("`merge` into a new store", measured([onset, "merge", "t.db", "s.db"], folder)))
        cost = measured([onset, "report", "s.db", "--out", "page.html"], folder)
        rows.append((f"`report` (a page of {size(folder / 'page.html')})", cost))
        print(f"{side * side} points, {size(folder / 's.db')} of store, filled at {1e3 * filling / side**2:.2g} ms a point\n")
        print("| command | seconds | MiB |\n| --- | --- | --- |")
        for what, (seconds, memory) in rows:
            print(f"| {what} | {seconds:.2g} | {memory:.0f} |")


if __name__ == "__main__":
    main()
