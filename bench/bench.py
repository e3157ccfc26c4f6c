"""Measures the jobs of jobs.py beside the plain way of doing them, and writes docs/speed.md.

Usage: bench.py --command ONSET --limits BENCH_LIMITS [--repeats N] [JOB.. | growth | growth-SIZE.. | page]

Without a name all jobs that are not slow are run, then the growth of costs with every size. Results are kept in bench/results.json,
where a job that is run again takes the place of its last run, and the page is made from that file; `page` only makes
the page. Ours on one core, ours on all and the plain way on one take turns. Times on one core are processor times, so
that other work on the machine counts little, on all cores wall times; of all the shortest turn. Ratios are core against
core, the median over turns.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import jobs as catalogue

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results.json"
PAGE = ROOT / "docs" / "speed.md"
MOST_ERRORS = 5.0
# A run on one core whose wall time exceeds its processor time by more shared its core with others.
BUSY = 1.3


# The plain way is measured on one core, and so is ours beside it.
ONE_CORE = os.environ | {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def child(command, folder):
    """(seconds, processor seconds, MiB, stdout) of a process."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, cwd=folder, env=ONE_CORE)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        out.seek(0)
        text = out.read().decode()
    if process.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(map(str, command))}\n{said.decode()}{text}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


class Bench:
    def __init__(self, command, repeats):
        self.command, self.repeats = os.path.abspath(command), repeats
        self.cores = len(os.sched_getaffinity(0))
        self.limits = None
        self.busy = False  # whether others used the cores during the job

    def ours(self, arguments, threads, folder, writes=False):
        """(seconds, MiB, Run)."""
        options = ["--threads", str(threads), "--format", "json", "--quiet"]
        if writes:
            options += ["--out", str(folder / "files")]
        wall, work, memory, text = child([self.command, *arguments, *options], folder)
        if threads == 1:
            self.busy = self.busy or wall > BUSY * work + 0.05
        return work if threads == 1 else wall, memory, catalogue.Run(json.loads(text), folder / "files")

    def turn(self, job, threads, folder):
        """(seconds of a unit, MiB, the numbers)."""
        fill = lambda words: [word.format(data=folder / "data", out=folder / f"out{time.monotonic_ns()}")
                              for word in words]
        seconds, memory, run = self.ours(fill(job.ours), threads, folder, job.writes)
        if job.few:
            other, more, _ = self.ours(fill(job.few), threads, folder)
            seconds, memory = abs(seconds - other) / job.units, max(memory, more)
        return seconds, memory, job.values(run)

    def plain(self, job, folder):
        name, arguments = job.plain
        text = json.dumps(arguments).replace("{data}", str(folder / "data"))
        _, _, memory, said = child([sys.executable, HERE / "plain_way.py", name, text], folder)
        answer = json.loads(said)
        return answer["seconds"], memory, answer["values"]

    def measure(self, job):
        self.busy = False
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            if job.prepare:
                child([self.command, *(word.format(data=folder / "data") for word in job.prepare)], folder)
            turns = []
            for _ in range(1 if job.slow else self.repeats):
                one = self.turn(job, 1, folder)
                # What others use the cores for would be measured with it, so that it is left out.
                both = one if self.busy else self.turn(job, self.cores, folder)
                theirs = self.plain(job, folder) if job.plain else None
                turns.append((one, both, theirs))
                if one[0] + (theirs[0] if theirs else 0) > 40:  # long jobs are their own average
                    break
        return self.entry(job, turns)

    def entry(self, job, turns):
        one, both = ([turn[side][0] for turn in turns] for side in range(2))
        entry = {"title": job.title, "unit": job.unit, "one": min(one), "all": None if self.busy or min(both) > BUSY * min(one) else min(both),
                 "turns": len(turns), "memory": max(turn[1][1] for turn in turns), "machine": machine(),
                 "cores": self.cores, "when": datetime.date.today().isoformat()}
        if job.plain:
            ours, theirs = turns[0][1][2], turns[0][2][2]
            factor = error_factor(ours, theirs) if job.at_equal_error else 1.0
            plain = [turn[2][0] for turn in turns]
            entry |= {"plain": min(plain), "error_factor": factor, "difference": difference(ours, theirs, job.close),
                      "ratio": statistics.median(factor * t / o for t, o in zip(plain, one)),
                      "plain_memory": max(turn[2][1] for turn in turns)}
        if job.limits:
            entry["limit"] = ", ".join(job.limits)
            entry["of_limit"] = sum(work / self.limits["one"][name] for name, work in job.limits.items()) / min(one)
        return entry

    def growth(self, row):
        name, what, expected, why, command, values = row
        times = []
        with tempfile.TemporaryDirectory() as text:
            folder = pathlib.Path(text)
            for x in values:
                if "{data}" in command:
                    sizes = {"k": ["--heads", "2", "--dim", "8", "--tokens", str(x)],
                             "m": ["--heads", str(x), "--dim", "8", "--tokens", "2"]}[name]
                    child([self.command, "mha", "generate", *sizes, "--samples", "5000", "--out", folder / f"data{x}"],
                          folder)
                words = [word.format(x=x, data=folder / f"data{x}") for word in command]
                times.append(min(child([self.command, *words, "--threads", "1", "--quiet", "--format", "json"],
                                       folder)[1] for _ in range(2)))
        return {"what": what, "expected": expected, "why": why, "values": values, "seconds": times,
                "exponent": slope(values, times), "machine": machine(), "command": " ".join(command)}


def slope(x, y):
    """The exponent of y ~ x^p by least squares in the logarithms."""
    u, v = [math.log(a) for a in x], [math.log(b) for b in y]
    mu, mv = statistics.fmean(u), statistics.fmean(v)
    return sum((a - mu) * (b - mv) for a, b in zip(u, v)) / sum((a - mu)**2 for a in u)


def machine():
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return model


def errors(ours, theirs):
    """Pairs of known errors of the same numbers."""
    shared = [(ours[name][1], theirs[name][1]) for name in theirs if name in ours]
    return [(a, b) for a, b in shared if a and b]


def error_factor(ours, theirs):
    """How much longer the plain way would take for the error of ours: the errors fall like one over the root."""
    pairs = errors(ours, theirs)
    if not pairs:
        return 1.0
    return math.exp(statistics.fmean(2 * math.log(b / a) for a, b in pairs))


def difference(ours, theirs, close):
    """The largest difference, over what is allowed: five joint errors and the plain way's accuracy."""
    worst = 0.0
    for name, (value, error) in theirs.items():
        if name not in ours:
            continue
        mine, own = ours[name]
        if isinstance(value, list):
            flat = [a == b for x, y in zip(mine, value) for a, b in zip(x, y)]
            worst = max(worst, (1 - sum(flat) / len(flat)) / close)
            continue
        allowed = MOST_ERRORS * math.hypot(own or 0, error or 0) + close * abs(mine)
        worst = max(worst, abs(value - mine) / allowed if allowed else 0.0)
    return worst


def load():
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"jobs": {}, "growth": {}}


def save(results):
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", required=True)
    parser.add_argument("--limits", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    known = {job.name: job for job in catalogue.jobs()}
    sizes = {f"growth-{row[0]}": row for row in catalogue.GROWTH}
    unknown = set(options.names) - set(known) - set(sizes) - {"growth", "page"}
    if unknown:
        parser.error(f"no job {', '.join(unknown)}; allowed: growth, page, {', '.join([*known, *sizes])}")
    results = load()
    if options.names != ["page"]:
        bench = Bench(options.command, options.repeats)
        wanted = {name: job for name, job in known.items() if name in options.names or not (options.names or job.slow)}
        # What no job is compared with is not measured, so that long jobs may run beside other work.
        if any(job.limits for job in wanted.values()):
            bench.limits = json.loads(subprocess.run([options.limits], capture_output=True, text=True, check=True).stdout)
            results["limits"] = bench.limits | {"machine": machine()}
        for name, job in wanted.items():
            results["jobs"][name] = bench.measure(job)
            save(results)
            print(page_module().line(name, results["jobs"][name]), flush=True)
        for name, row in sizes.items():
            if not options.names or "growth" in options.names or name in options.names:
                results["growth"][row[0]] = bench.growth(row)
                save(results)
    order = {name: k for k, name in enumerate(known)}
    results["jobs"] = dict(sorted(results["jobs"].items(), key=lambda item: order.get(item[0], len(order))))
    results["growth"] = {row[0]: results["growth"][row[0]] for row in catalogue.GROWTH if row[0] in results["growth"]}
    save(results)
    page_module().write(results, PAGE)
    wrong = [name for name, entry in results["jobs"].items() if entry.get("difference", 0) > 1]
    if wrong:
        sys.exit(f"these do not give the same answer as the plain way: {', '.join(wrong)}")


def page_module():
    import page
    return page


if __name__ == "__main__":
    main()
