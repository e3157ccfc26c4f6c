"""Are the stated errors right? Every [verb](glossary.md#verb) that states errors is run over many seeds at cheap settings.

For every column of every regime, deviations from the truth (or from a finer computation, or else from the mean
over the seeds) in units of the stated error are compared with the law that docs/numbers.md promises:

  replicates  Student's t with 15 degrees of freedom
  runs        Student's t of the runs in the row; the stated error has Student's factor already
  fraction    counts of a binomial law at the fraction that all seeds together found
  bound       never more than one error off

Tests, each with the odds of a false alarm of 1e-6 over all of them: Fisher's sum of log p against chi squared
(errors too small), the counts within one and two errors against a binomial law (too small; too large, but where a
bound on a bias is part of the error by design). Seeds are fixed, so that the same program gives the same answer.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import time

ALL_FALSE_ALARMS = 1e-6
REPLICATES = 16
ONE_SIGMA = 0.6826894921370859
PROCESSES = 2
FIRST_FINE_SEED = 1000  # seeds of finer computations lie above
ROUNDING = 1e-13  # relative; values that are exact may differ by so much


# ---- laws -----------------------------------------------------------------------------------------------------


def _continued_fraction(numerator, denominator, terms=300):
    """Lentz's method for b0 + a1/(b1 + a2/(b2 + ..)), with a_k = numerator(k), b_k = denominator(k)."""
    tiny = 1e-300
    value = denominator(0) or tiny
    c, d = value, 0.0
    for k in range(1, terms):
        d = denominator(k) + numerator(k) * d or tiny
        c = denominator(k) + numerator(k) / c or tiny
        d = 1.0 / d
        value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def chi_squared_tail(x, degrees):
    """P(chi squared > x)."""
    a, half = degrees / 2.0, x / 2.0
    if half <= 0.0:
        return 1.0
    scale = math.exp(-half + a * math.log(half) - math.lgamma(a))
    if half < a + 1.0:
        term = total = 1.0 / a
        k = a
        while term > 1e-17 * total:
            k += 1.0
            term *= half / k
            total += term
        return max(0.0, 1.0 - scale * total)
    fraction = _continued_fraction(lambda k: -(k - 1) * (k - 1 - a) if k > 1 else 1.0,
                                   lambda k: half + 2.0 * k - 1.0 - a if k else 0.0)
    return scale * fraction


def incomplete_beta(x, a, b):
    """The regularised incomplete beta function."""
    if x <= 0.0 or x >= 1.0:
        return min(1.0, max(0.0, x))
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(1.0 - x, b, a)
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) +
                     b * math.log1p(-x)) / a

    def numerator(k):
        if k == 1:
            return 1.0
        m = (k - 1) // 2
        if k % 2:
            return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))

    return scale * _continued_fraction(numerator, lambda k: 1.0 if k else 0.0)


def student_tail(t, degrees):
    """P(|T| > t) of Student's law."""
    return incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)


def student_factor(degrees):
    """The t that one sigma's share of Student's law lies within."""
    low, high = 0.5, 1e3
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if student_tail(middle, degrees) > 1.0 - ONE_SIGMA else (low, middle)
    return low


def binomial_pmf(k, n, p):
    if p <= 0.0 or p >= 1.0:
        return 1.0 if k == (n if p >= 1.0 else 0) else 0.0
    return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) +
                    (n - k) * math.log1p(-p))


def binomial_below(k, n, p):
    """P(at most k)."""
    return min(1.0, sum(binomial_pmf(j, n, p) for j in range(k + 1)))


def binomial_above(k, n, p):
    """P(at least k)."""
    return min(1.0, sum(binomial_pmf(j, n, p) for j in range(k, n + 1)))


# ---- what is run ----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Column:
    name: str
    law: str  # replicates, runs, fraction or bound
    runs: int = 0  # behind a mean or a fraction; 0: the row's column `runs` says
    bounded: bool = False  # a bound on a bias is part of the error, which may be larger than needed
    part: str = ""  # column with the fraction of the runs that are behind the mean


@dataclasses.dataclass(frozen=True)
class Case:
    verb: str
    regime: str
    options: str
    seeds: int
    quick: int  # seeds of the quick run; 0: not part of it
    key: tuple  # columns that tell rows apart
    columns: tuple
    truth: object = None  # (row, column name) -> the exact value, or None
    fine: str = ""  # options of a finer computation to compare with
    fine_seeds: int = 4
    remark: str = ""
    known: tuple = ()  # (start of the row's text, columns, reason): errors that are known not to cover


def columns(law, names, runs=0, bounded=False, part=""):
    return tuple(Column(name, law, runs, bounded, part) for name in names.split())


def only(**values):
    """The truth of columns that have one, the same in all rows."""
    return lambda row, name: values.get(name)


def square_evidence(row, name):
    """The free entropy of y = z^2 where nothing is known: Psi = log 2 - log(2 pi e) / 2."""
    if name != "free_entropy" or row["Q11"] != 0:
        return None
    return row["alpha"] * (math.log(2.0) - 0.5 * math.log(2.0 * math.pi * math.e))


def weak_square(row, name):
    return 0.5 if name == "alpha" and row["kind"] == "weak" else None


def one_layer_weak(row, name):
    return 1.0 / 12.0 if name == "alpha" and row["kind"] == "weak" else None


DECADES = "runs differ by orders of magnitude, and the mean is that of the largest; the output says so"
LEFT_OVER = "what exact recovery leaves, below 1e-6, differs by orders of magnitude between runs"
SKEWED = ("one run in ten of this small dimension ends far below the others, and few sets of eight have one; the output "
          "says so where they do")
LOSSES = "losses of students that fit all labels differ by orders of magnitude between data sets"
AMP = columns("runs", "Q11 M11 cos1 error_plugin error_bayes")
CASES = [
    Case("smi thresholds", "y = z^2", "--link square", 200, 12, ("stage", "kind"),
         columns("replicates", "alpha", bounded=True), truth=weak_square),
    Case("smi thresholds", "y = z1 z2", "--link z1*z2 --stages 1", 100, 4, ("stage", "kind"),
         columns("replicates", "alpha", bounded=True), truth=only(alpha=0.593751098)),
    Case("smi thresholds", "y = z1 z2 z3", "--link z1*z2*z3 --stages 1", 60, 0, ("stage", "kind"),
         columns("replicates", "alpha", bounded=True), truth=only(alpha=2.5651804)),
    Case("smi thresholds", "y = z1 z2 + z3 z4", "--link z1*z2+z3*z4 --stages 1", 60, 0, ("stage", "kind"),
         columns("replicates", "alpha", bounded=True), truth=only(alpha=4.0 / 3.0)),
    Case("smi thresholds", "one layer, three tokens", "--layers 1 --tokens 3", 20, 3, ("stage", "kind"),
         columns("replicates", "alpha"), truth=one_layer_weak),
    Case("smi thresholds", "two layers, skip 1", "--stages 2 --tol 5e-3", 24, 0, ("stage",),
         columns("replicates", "alpha", bounded=True), fine="--stages 2 --tol 7e-4"),
    Case("smi thresholds", "two layers, skip 4", "--skip 4 --stages 2 --tol 5e-3", 24, 0, ("stage",),
         columns("replicates", "alpha", bounded=True), fine="--skip 4 --stages 2 --tol 7e-4"),
    Case("smi thresholds", "two layers, skip 8", "--skip 8 --stages 2 --tol 5e-3", 24, 0, ("stage",),
         columns("replicates", "alpha", bounded=True), fine="--skip 8 --stages 2 --tol 7e-4"),
    Case("smi curve", "one layer", "--layers 1 --alpha 0.22,0.3,0.42 --tol 0.02", 100, 8, ("alpha",),
         columns("replicates", "Q11 error_plugin error_bayes free_entropy", bounded=True),
         fine="--layers 1 --alpha 0.22,0.3,0.42 --tol 0.002"),
    Case("smi curve", "y = z^2", "--link square --alpha 0.7,1.05 --tol 0.02", 150, 8, ("alpha",),
         columns("replicates", "Q11 error_plugin error_bayes free_entropy", bounded=True),
         fine="--link square --alpha 0.7,1.05 --tol 0.002"),
    Case("smi curve", "y = min(|z|, 1), next to its threshold and on a steep branch",
         "--link min(abs(z1),1) --alpha 0.9,1.45", 30, 0, ("alpha",),
         columns("replicates", "Q11 error_plugin error_bayes free_entropy", bounded=True),
         fine="--link min(abs(z1),1) --alpha 0.9,1.45 --tol 0.002"),
    Case("smi curve", "y = sign(z1) z2", "--link sign(z1)*z2 --alpha 0.7 --tol 0.02", 24, 0, ("alpha",),
         columns("replicates", "Q11 Q22 error_plugin error_bayes free_entropy", bounded=True),
         fine="--link sign(z1)*z2 --alpha 0.7 --tol 0.003"),
    Case("smi evolution", "one layer", "--layers 1 --alpha 0.4 --iterations 6 --start-overlap 0.1", 100, 12,
         ("iteration",), columns("replicates", "Q11 cos1 error_plugin error_bayes"),
         fine="--layers 1 --alpha 0.4 --iterations 6 --start-overlap 0.1 --tol 0.001"),
    Case("smi potential", "y = z^2", "--link square --alpha 1.05 --points 4", 200, 24, ("Q11",),
         columns("replicates", "free_entropy"), truth=square_evidence,
         fine="--link square --alpha 1.05 --points 4 --tol 2e-5"),
    Case("smi potential", "two layers", "--layers 2 --alpha 1 --points 2", 100, 6, ("Q11", "Q22"),
         columns("replicates", "free_entropy", bounded=True),
         fine="--layers 2 --alpha 1 --points 2 --tol 5e-4"),
    Case("smi spectral", "y = z1 z2, the limit", "--link z1*z2 --alpha 1.6", 40, 0, ("block",),
         columns("replicates", "bulk_edge overlap", bounded=True), truth=only(bulk_edge=0.903006, overlap=0.329424)),
    Case("smi spectral", "y = z^2, D = 500, 8 runs", "--link square --alpha 1 --dim 500 --runs 8", 80, 6, ("block",),
         columns("runs", "eigenvalue1 overlap_found", runs=8)),
    Case("smi exponent", "y = z1 z2", "--link z1*z2", 40, 0, ("step",),
         columns("replicates", "weight", bounded=True), truth=only(weight=1.0 / 0.593751098)),
    Case("smi exponent", "y = max(z1, z2)", "--link max(z1,z2)", 30, 0, ("step", "directions"),
         columns("replicates", "weight", bounded=True)),
    Case("smi amp", "one layer, D = 60", "--layers 1 --dim 60 --alpha 0.15,0.3,0.6 --runs 8", 60, 5,
         ("alpha", "escaped"), AMP + columns("fraction", "fraction", runs=8),
         known=(("alpha 0.6, escaped exact", "cos1 error_plugin error_bayes", LEFT_OVER),)),
    Case("smi amp", "two layers, D = 100", "--dim 100 --alpha 0.6 --runs 8 --nodes 32 --iterations 100", 30, 0,
         ("alpha", "escaped"), AMP + columns("runs", "Q22 cos2") + columns("fraction", "fraction", runs=8),
         known=(("alpha 0.6, escaped", "cos2 error_plugin error_bayes", SKEWED),)),
    Case("smi sgd", "chain, D = 200", "--engine chain --dim 200 --runs 8 --level 0.5 --time 100 --records 50",
         100, 8, ("layer",), columns("runs", "time", runs=8, bounded=True, part="reached") +
         columns("fraction", "reached first", runs=8)),
    Case("smi sgd", "flow", "--engine flow --dim 200 --time 12 --records 2", 40, 0, ("time",),
         columns("replicates", "cos1 cos2", bounded=True)),
    Case("aim curve", "hardmax, two tokens", "--channel hardmax --rho 0.5 --alpha 0.1,0.4", 4, 2, ("alpha",),
         columns("bound", "q mmse")),
    Case("aim curve", "hardmax, three tokens", "--channel hardmax --tokens 3 --rho 0.5 --alpha 0.1,0.4", 60, 8,
         ("alpha",), columns("replicates", "q mmse", bounded=True),
         fine="--channel hardmax --tokens 3 --rho 0.5 --alpha 0.1,0.4 --tol 1e-5"),
    Case("aim amp", "softmax, d = 30", "--dim 30 --channel softmax --rho 0.5 --alpha 0.1,0.15,0.3 --runs 4", 150,
         8, ("alpha",), columns("runs", "mse variance", runs=4), known=(("alpha 0.3", "mse", DECADES),)),
    Case("aim gd", "softmax, d = 16", "--dim 16 --rho 0.5 --alpha 0.1,0.3 --runs 4 --starts 3", 80, 4,
         ("alpha",), columns("runs", "mse_single mse_averaged mse_extrapolated loss", runs=4),
         known=(("alpha 0.3", "mse_single mse_averaged mse_extrapolated loss", DECADES), ("alpha 0.1", "loss", LOSSES))),
    Case("aim sgd", "softmax, d = 40, 8 runs", "--dim 40 --time 1,2 --runs 8", 40, 2, ("time",),
         columns("runs", "mse risk trace", runs=8)),
    Case("aim erm", "softmax, three tokens",
         "--tokens 3 --loss cross-entropy --alpha 0.5 --decay 0.1", 60, 4, ("alpha",),
         columns("replicates", "mse objective test overlap", bounded=True)),
    Case("ssi loss", "quadratic target", "--target H2sum --tokens 4", 60, 6, ("m",),
         columns("replicates", "risk slope_m", bounded=True), remark="Every tenth row."),
    Case("ssi sie", "quadratic target", "--target H2sum --tokens 4", 100, 8, (),
         columns("replicates", "R_mm", bounded=True)),
    Case("ssi flow", "ODE", "--target H2sum --tokens 4 --loss squared --rate 0.05 --points 5 --time 20", 100, 8,
         ("time",), columns("replicates", "m", bounded=True)),
    Case("ssi flow", "SDE, 16 runs",
         "--a 1 --omega 0.64 --method sde --dim 1e6 --runs 16 --points 3 --time 100", 60, 0, ("time",),
         columns("runs", "e m", runs=16)),
    Case("ssi sgd", "mixture, d = 200", "--a 1 --omega 0.62 --loss frobenius --start zero --dim 200 --runs 16",
         100, 6, ("omega",), columns("fraction", "p_semantic converged_fraction", runs=16) +
         columns("runs", "mean_steps", runs=16)),
    Case("ssi sgd", "quadratic target, d = 200",
         "--target H2sum --tokens 4 --loss squared --rate 0.05 --level 0.5 --dim 200 --runs 8", 100, 6, (),
         columns("fraction", "reached_fraction", runs=8) + columns("runs", "m", runs=8) +
         columns("runs", "mean_steps", runs=8, part="reached_fraction")),
    Case("ssi gain", "d = 200, 16 runs",
         "--tokens 2,4 --policy equal --dim 200 --rate 0.05 --level 0.3 --runs 16", 100, 6, ("tokens",),
         columns("runs", "steps_tied steps_untied gain", runs=16)),
    Case("ssi scaling", "quadratic target, 16 runs",
         "--target H2sum --student tied --dim 50,200 --runs 16", 100, 6, ("dim",),
         columns("runs", "mean_steps", runs=16) + columns("replicates", "steps_theory", bounded=True)),
]

# What states no error, or is tested elsewhere.
NOT_HERE = """
`smi generate`, `aim generate`, `mha generate` write data. `aim thresholds`, `aim potential`, `aim flow`, `aim spectrum`, `ssi phase` and `smi curve` of
links in closed form come from deterministic rules whose bounds are compared with finer rules or other programs in the unit tests. Numbers of `mha learn`,
`verify`, `evaluate`, `baseline` and `trial` and of single runs of `smi sgd` and `smi text` are outcomes of one run and have no error. `mha inspect` reads a layer from a folder; its
errors are the scatter of batches and draws of inputs. That of
`mha compare` is the scatter of the few starts that it was given.
"""


def run_once(command, case, options, seed):
    """The rows of one run; none where the run was refused."""
    words = [command, *case.verb.split(), *options.split(), "--seed", str(seed), "--threads", "1", "--format", "json",
             "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[:300]}")
    return json.loads(done.stdout)["rows"]


# ---- what is tested -------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Finding:
    """How one column of one kind of row fares."""
    case: Case
    where: str
    column: Column
    count: int = 0
    scatter: float = math.nan  # root mean square deviation over root mean square error
    shares: tuple = (math.nan, math.nan)  # within one and two errors
    nominal: tuple = (math.nan, math.nan)
    bias: float = math.nan  # mean deviation from a known value, in its own standard errors
    too_small: float = 1.0  # odds of so much by chance, were the errors right
    too_large: float = 1.0
    exact: bool = False
    wrong: bool = False  # exact values that differ, or a bound that is exceeded

    def reason(self):
        """Why the error is known not to cover; empty where it should."""
        for row, names, reason in self.case.known:
            if self.where.startswith(row) and self.column.name in names.split():
                return reason
        return ""

    def verdict(self, level):
        if self.wrong or self.too_small < level:
            return "TOO SMALL" if not self.reason() else "too small: " + self.reason()
        if self.exact:
            return "exact"
        if self.count < 5:
            return "too few rows"
        if self.too_large < level:
            return "larger than needed"
        return "covers"


def fraction_error(hits, trials):
    """As numerics::binomial_fraction."""
    shrunk = (hits + 1.0) / (trials + 2.0)
    return math.sqrt(shrunk * (1.0 - shrunk) / trials)


def fraction_coverage(p, trials, errors):
    """How often so many stated errors cover the fraction p."""
    return sum(binomial_pmf(k, trials, p) for k in range(trials + 1)
               if abs(k / trials - p) <= errors * fraction_error(k, trials) + 1e-12)


def degrees_of(column, row):
    if column.law != "runs":
        return REPLICATES - 1
    return round((column.runs or row["runs"]) * (row[column.part] if column.part else 1.0)) - 1


def judge_counts(finding, inside, nominal):
    finding.shares = tuple(k / finding.count for k in inside)
    finding.nominal = nominal
    for k, p in zip(inside, nominal):
        finding.too_small = min(finding.too_small, binomial_below(k, finding.count, p))
        if not finding.column.bounded:
            finding.too_large = min(finding.too_large, binomial_above(k, finding.count, p))


def judge_fraction(finding, values):
    trials = finding.column.runs
    p = sum(values) / len(values)
    if p in (0.0, 1.0):
        finding.exact = False
        finding.shares = finding.nominal = (1.0, 1.0)
        return
    inside = [sum(abs(v - p) <= m * fraction_error(round(v * trials), trials) for v in values) for m in (1, 2)]
    deviation = math.sqrt(sum((v - p)**2 for v in values) / (len(values) - 1))
    finding.scatter = deviation / math.sqrt(
        sum(fraction_error(round(v * trials), trials)**2 for v in values) / len(values))
    judge_counts(finding, inside, tuple(fraction_coverage(p, trials, m) for m in (1, 2)))


def judge_deviations(finding, rows, values, errors, reference):
    """Pulls against the reference (value, error), or against the mean over the seeds."""
    n = len(values)
    mean = sum(values) / n
    deviation = math.sqrt(sum((v - mean)**2 for v in values) / (n - 1))
    finding.scatter = deviation / math.sqrt(sum(e * e for e in errors) / n)
    if reference:
        centre, known_to = reference
        finding.bias = (mean - centre) / math.hypot(deviation / math.sqrt(n), known_to)
        pulls = [(v - centre) / math.hypot(e, known_to) for v, e in zip(values, errors)]
    else:
        pulls = [(v - mean) / e * math.sqrt(n / (n - 1)) for v, e in zip(values, errors)]
    fisher, nominal = 0.0, [0.0, 0.0]
    for row, pull in zip(rows, pulls):
        degrees = degrees_of(finding.column, row)
        factor = student_factor(degrees) if finding.column.law == "runs" else 1.0
        fisher -= 2.0 * math.log(max(1e-300, student_tail(abs(pull) * factor, degrees)))
        for k in (0, 1):
            nominal[k] += (1.0 - student_tail((k + 1) * factor, degrees)) / n
    finding.too_small = chi_squared_tail(fisher, 2 * n)
    judge_counts(finding, [sum(abs(p) <= m for p in pulls) for m in (1, 2)], tuple(nominal))


def judge(case, column, where, rows, reference):
    """One column of the rows of one kind, one row per seed."""
    rows = [row for row in rows if row.get(column.name) is not None and row.get(column.name + "_err") is not None]
    finding = Finding(case, where, column, len(rows))
    values = [row[column.name] for row in rows]
    errors = [row[column.name + "_err"] for row in rows]
    truth = case.truth(rows[0], column.name) if case.truth and rows else None
    if truth is not None:
        reference = (truth, 0.0)
    if rows and max(errors) <= ROUNDING * max(map(abs, values)):
        centre = reference[0] if reference else values[0]
        finding.exact = True
        finding.wrong = max(abs(v - centre) for v in values) > ROUNDING * max(1e-300, abs(centre))
        return finding
    if len(rows) < 5:
        return finding
    if column.law == "fraction":
        judge_fraction(finding, values)
    elif min(errors) <= 0.0:
        finding.wrong = True  # some seeds call exact what others do not
    else:
        judge_deviations(finding, rows, values, errors, reference)
    return finding


def rows_by_kind(case, results):
    kinds = {}
    for rows in results:
        for row in rows:
            kinds.setdefault(tuple(row[name] for name in case.key), []).append(row)
    if case.verb == "ssi loss":
        kinds = dict(list(kinds.items())[::10])
    return kinds


def finer_value(case, key, column, finer):
    """Mean and standard error of the finer runs, with Student's factor."""
    values = [row[column.name] for row in rows_by_kind(case, finer).get(key, []) if row[column.name] is not None]
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    variance = sum((v - mean)**2 for v in values) / (len(values) - 1) / len(values)
    return mean, math.sqrt(variance) * student_factor(len(values) - 1)


def findings_of(case, results, finer):
    found = []
    for key, rows in rows_by_kind(case, results).items():
        where = ", ".join(f"{name} {value}" for name, value in zip(case.key, key))
        for column in case.columns:
            found.append(judge(case, column, where, rows, finer_value(case, key, column, finer)))
    return [finding for finding in found if finding.count > 0]


def jobs_of(cases, quick):
    """(case, options, seed), spread so that all cases are as far at any time."""
    jobs = []
    for case in cases:
        seeds = case.quick if quick else case.seeds
        jobs += [(seed / seeds, case, case.options, seed) for seed in range(1, seeds + 1)]
        if case.fine and not quick:
            count = case.fine_seeds
            jobs += [(k / count, case, case.fine, FIRST_FINE_SEED + k) for k in range(1, count + 1)]
    return [job[1:] for job in sorted(jobs, key=lambda job: job[0])]


def calibrate(command, cases, quick, seconds):
    """The findings, and the number of runs: no run starts after so many seconds."""
    jobs = jobs_of(cases, quick)
    end = time.monotonic() + seconds

    def run_in_time(job):
        return run_once(command, *job) if time.monotonic() < end else None

    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        results = list(pool.map(run_in_time, jobs))
    found = []
    for case in cases:
        done = [(job, rows) for job, rows in zip(jobs, results) if job[0] is case and rows is not None]
        coarse = [rows for (_, _, seed), rows in done if seed <= FIRST_FINE_SEED]
        fine = [rows for (_, _, seed), rows in done if seed > FIRST_FINE_SEED]
        found += findings_of(case, coarse, fine)
    return found, sum(rows is not None for rows in results)


# ---- what is written ------------------------------------------------------------------------------------------


def percent(x):
    return "" if math.isnan(x) else f"{100 * x:.0f}"


def number(x, digits):
    return "" if math.isnan(x) else f"{x:.{digits}f}"


def table(findings, level):
    lines = ["| rows | column | law | seeds | scatter / error | within 1, of 100 | within 2, of 100 | bias | verdict |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for f in findings:
        law = f.column.law + (", bound on bias" if f.column.bounded else "")
        within = [f"{percent(s)} ({percent(n)})" if not math.isnan(s) else "" for s, n in zip(f.shares, f.nominal)]
        lines.append(f"| {f.where} | `{f.column.name}` | {law} | {f.count} | {number(f.scatter, 2)} | {within[0]} | "
                     f"{within[1]} | {number(f.bias, 1)} | {f.verdict(level)} |")
    return lines


HEADER = """# How well the stated errors cover

*Written by `scripts/calibrate.sh`, all sections or those of some verbs; do not edit.*

Every [verb](glossary.md#verb) that states errors, at cheap settings over many seeds. What is expected is in parentheses: [numbers](numbers.md) says what
each kind of error promises.

- `scatter / error`: standard deviation over the seeds over the root mean square of the stated errors: 1 where they are right.
- `within 1`, `within 2`: how many of 100 values are within one and two stated errors of the truth, of a finer computation, or else
  of the mean over all seeds.
- `bias`: mean deviation from the truth or the finer computation, in its own standard errors; empty where there is neither.
- law: `replicates`: Student's t with 15 degrees of freedom; `runs`: the stated error has Student's factor; `fraction`: binomial;
  `bound`: never exceeded. Where a bound on a bias is part of the error, it may be larger than the scatter asks for.
- verdict: `covers`, `exact` (error 0, and all seeds agree to rounding), `larger than needed`, `too small` (with the reason where it is known);
  the last two at odds of a false alarm of 1e-6 for the whole page. Rows that fewer than five seeds had are not judged.
"""


def section(findings, verb, level):
    lines = [f"## {verb}\n"]
    for case in dict.fromkeys(f.case for f in findings if f.case.verb == verb):
        lines += [f"{case.regime}: `onset {verb} {case.options}`{'. ' + case.remark if case.remark else ''}\n",
                  *table([f for f in findings if f.case is case], level), ""]
    return "\n".join(lines) + "\n"


def sections_of(text):
    """The sections of a page by their verbs."""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    return {part.splitlines()[0].removeprefix("## "): part for part in parts}


def page(findings, level, before):
    """All sections: those that were measured now, and others as they are in the page of before."""
    sections = sections_of(before)
    sections |= {verb: section(findings, verb, level) for verb in {f.case.verb for f in findings}}
    verbs = dict.fromkeys(case.verb for case in CASES)
    return "\n".join([HEADER, *(sections[verb].rstrip("\n") + "\n" for verb in verbs if verb in sections),
                      "## What is not here", NOT_HERE.rstrip()]) + "\n"


# ---- does it find what it looks for ---------------------------------------------------------------------------


def invented_rows(draw, seeds, understated):
    """Means of 16 normal replicates with their standard errors, stated too small by a factor."""
    rows = []
    for _ in range(seeds):
        replicates = [draw.gauss(1.0, 1.0) for _ in range(REPLICATES)]
        mean = sum(replicates) / REPLICATES
        error = math.sqrt(sum((x - mean)**2 for x in replicates) / (REPLICATES - 1) / REPLICATES)
        rows.append({"x": mean, "x_err": error / understated})
    return rows


def self_test():
    """The laws at tabulated values, and verdicts about errors that are known to be right or wrong."""
    draw = random.Random(1)
    column = Column("x", "replicates")
    case = Case("invented", "", "", 0, 0, (), (column,), truth=only(x=1.0))

    def verdict(rows):
        return judge(case, column, "", rows, None).verdict(1e-6)

    snapping = [{"x": 1.0, "x_err": 0.0}] * 181 + [{"x": 1.02, "x_err": 0.01}] * 19
    old = "## a b\n\nold\n\n## What is not here\n\nrest\n"
    checks = {
        "sections are told apart": sections_of("head\n" + old) == {"a b": "## a b\n\nold\n\n",
                                                                   "What is not here": "## What is not here\n\nrest\n"},
        "Student's tail": abs(student_tail(2.131449546, 15) - 0.05) < 1e-9,
        "Student's factor": abs(student_factor(1) - 1.8373) < 1e-4,
        "chi squared's tail": abs(chi_squared_tail(18.307038053, 10) - 0.05) < 1e-9,
        "the other side of it": abs(chi_squared_tail(3.940299136, 10) - 0.95) < 1e-9,
        "right errors pass": verdict(invented_rows(draw, 400, 1.0)) == "covers",
        "errors too small by half are found": verdict(invented_rows(draw, 200, 1.5)) == "TOO SMALL",
        "errors twice too large are found": verdict(invented_rows(draw, 200, 0.5)) == "larger than needed",
        "a value that is sometimes exact is found": verdict(snapping) == "TOO SMALL",
        "exact values pass": verdict([{"x": 1.0, "x_err": 0.0}] * 9) == "exact",
        "exact values that are not are found": verdict([{"x": 1.0, "x_err": 0.0}, {"x": 1.1, "x_err": 0.0}]) ==
                                               "TOO SMALL",
    }
    for what, good in checks.items():
        if not good:
            print(f"self-test failed: {what}")
    return 0 if all(checks.values()) else 1


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description="Are the stated errors right?")
    parser.add_argument("--quick", action="store_true", help="few seeds, no file; for the test suite")
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no run after so many seconds")
    parser.add_argument("--only", default="", help="verbs whose names contain this; the page keeps its other sections")
    parser.add_argument("--out", default=str(root / "docs" / "accuracy.md"), help="the page to write")
    parser.add_argument("--self-test", action="store_true", help="whether wrong errors would be found")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    cases = [case for case in CASES if options.only in case.verb]
    findings, runs = calibrate(os.environ["ONSET_COMMAND"], cases, options.quick, options.seconds)
    # Fisher's test and two counts on either side.
    level = ALL_FALSE_ALARMS / (5 * max(1, len(findings)))
    bad = [f for f in findings if f.verdict(level) == "TOO SMALL"]
    if not options.quick:
        out = pathlib.Path(options.out)
        before = out.read_text(encoding="utf-8") if options.only and out.is_file() else ""
        out.write_text(page(findings, level, before), encoding="utf-8")
    for f in findings if options.only else bad:
        print(f"{f.case.verb}, {f.case.regime}, {f.where}, {f.column.name}: {f.verdict(level)}; {f.count} seeds, "
              f"scatter/error {number(f.scatter, 2)}, within {percent(f.shares[0])} ({percent(f.nominal[0])}), "
              f"{percent(f.shares[1])} ({percent(f.nominal[1])}), bias {number(f.bias, 1)}, odds {f.too_small:.1e}")
    print(f"{runs} runs, {len(findings)} columns of {len(cases)} regimes, {len(bad)} with errors that are too small")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
