"""The jobs that users run, and beside each the plain way of doing it (plain/).

A job says how ours is called, which plain function answers the same question, which numbers of both must agree, and
what work there is at least, so that times can be held against what the machine can do at most.
"""

import csv
import dataclasses
import json
import math
import pathlib
import typing


@dataclasses.dataclass
class Run:
    """One run of ours: what it printed, and the folder that it wrote."""
    result: dict
    folder: pathlib.Path

    @property
    def rows(self):
        return self.result["rows"]

    def estimates(self, column, names=None):
        """{name: (value, error)} of one column; an unknown error is None."""
        out = {}
        for k, row in enumerate(self.rows):
            name = names(row) if names else f"{column}{k + 1}"
            if name is not None and row[column] is not None:
                out[name] = (row[column], row.get(column + "_err"))
        return out


@dataclasses.dataclass
class Job:
    name: str
    title: str
    ours: list
    plain: typing.Optional[tuple]  # (module.function, arguments); None where the plain way has no answer
    values: typing.Callable  # of a Run: {name: (value, error)}, by the names of the plain way
    close: float = 0.0  # a relative difference that is allowed besides five errors: the plain way's own accuracy
    few: list = None  # the same with less work: the difference is what `units` take
    units: float = 1.0
    unit: str = ""
    prepare: list = None  # a command that writes the data of both into {data}
    limits: dict = None  # {name of a limit: work of one unit}; their times add up
    at_equal_error: bool = False
    slow: bool = False  # run only when named
    writes: bool = False  # ours is asked for its files as well


def thresholds_of(run):
    weak = [row for row in run.rows if row["kind"] == "weak"]
    return {f"alpha{k + 1}": (row["alpha"], row["alpha_err"]) for k, row in enumerate(weak)}


def first_of(run):
    return {"alpha": (run.rows[0]["alpha"], run.rows[0]["alpha_err"])}


def mean_of_file(run, name, column):
    with open(run.folder / name, encoding="utf-8") as file:
        values = [float(row[column]) for row in csv.DictReader(line for line in file if not line.startswith("#"))]
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((x - mean)**2 for x in values) / (len(values) - 1) / len(values))


def semantic(run):
    rows = {}
    for row in run.rows:
        rows.setdefault(row["a"], []).append(row["global_type"] == "semantic")
    return {"semantic": (list(rows.values()), None)}


def certified_error(run):
    """A certified layer has no error but rounding; any other verdict is not the same answer."""
    return {"function_error": (0.0 if run.result["summary"]["verdict"] == "certified" else 1.0, 1e-6)}


def grid(start, step, count):
    return [round(start + step * k, 10) for k in range(count)]


def amp_work(dim, alpha, tokens=2):
    """Two products of the tokens with half of a symmetric matrix each, and the eigenvectors of one, which are put
    together again."""
    return {"single products": 2 * alpha * dim**2 * tokens * dim**2 + dim**3, f"eigenvectors of {dim}": 1}


def jobs():
    out = []
    for layers in (2, 3, 4, 5):
        out.append(Job(f"first-threshold-{layers}", f"first threshold, {layers} layers",
                       ["smi", "thresholds", "--layers", str(layers), "--stages", "1"],
                       ("smi.first_threshold", {"layers": layers}), first_of, at_equal_error=True))
    for layers in (2, 3, 4, 5):
        # From four layers on the noise of the plain way is larger than the distance of the thresholds.
        plain = ("smi.thresholds", {"layers": layers}) if layers < 4 else None
        out.append(Job(f"thresholds-{layers}", f"all thresholds, {layers} layers",
                       ["smi", "thresholds", "--layers", str(layers), "--tol", "0.01"], plain,
                       thresholds_of, close=0.02, at_equal_error=True, slow=layers > 3))
    out.append(Job("curve", "curve of 60 points, two layers",
                   ["smi", "curve", "--alpha", "0.02:1.2:0.02", "--tol", "0.02"],
                   ("smi.curve", {"alphas": grid(0.02, 0.02, 60)}),
                   # Closer to the threshold the plain way depends on where its iteration starts.
                   lambda run: run.estimates(
                       "Q22", lambda row: f"Q22@{row['alpha']:g}" if row["alpha"] > 0.41 else None), close=0.05,
                   at_equal_error=True))
    for dim, runs in ((1000, 4), (10000, 1)):
        out.append(Job(f"gamp-{dim}", f"message passing, two layers, D = {dim}",
                       ["smi", "amp", "--dim", str(dim), "--alpha", "0.6", "--runs", str(runs), "--iterations", "40"],
                       ("smi.gamp", {"dim": dim, "alpha": 0.6, "runs": runs, "iterations": 40, "single": dim > 5000}),
                       lambda run: run.estimates("cos2", lambda row: "cos2"), close=0.03))
    out.append(Job("spectral", "spectral method, D = 1000, 4 runs",
                   ["smi", "spectral", "--link", "square", "--alpha", "1", "--dim", "1000", "--runs", "4"],
                   ("smi.spectral", {"dim": 1000, "alpha": 1.0, "runs": 4}),
                   lambda run: {"overlap": (run.rows[0]["overlap_found"], run.rows[0]["overlap_found_err"])}))
    out.append(Job("aim-curve", "curve of 20 points, full width",
                   ["aim", "curve", "--alpha", "0.01:0.2:0.01"], ("aim.curve", {"alphas": grid(0.01, 0.01, 20)}),
                   lambda run: run.estimates("mmse", lambda row: f"mmse@{row['alpha']:g}"), close=5e-3))
    for dim in (200, 400):
        call = ["aim", "amp", "--data", "{data}", "--iterations"]
        out.append(Job(f"aim-amp-{dim}", f"message passing, full width, d = {dim}: an iteration", [*call, "24"],
                       ("aim.amp", {"folder": "{data}", "iterations": 24}),
                       lambda run: run.estimates("mse", lambda row: "mse"), close=0.02, few=[*call, "4"], units=20,
                       unit="iteration",
                       prepare=["aim", "generate", "--dim", str(dim), "--alpha", "0.1", "--out", "{data}"],
                       limits=amp_work(dim, 0.1)))
    out.append(Job("aim-gd", "gradient descent, d = 60, 8 students",
                   ["aim", "gd", "--dim", "60", "--alpha", "0.1", "--starts", "8", "--runs", "1"],
                   ("aim.descent", {"dim": 60, "alpha": 0.1, "starts": 8}),
                   lambda run: run.estimates("mse_single", lambda row: "mse_single"), close=0.15,
                   limits={"double products": 8 * 1000 * 2 * 2 * 0.1 * 60**2 * 2 * 60 * 30}))
    out.append(Job("erm", "training with weight decay, 20 points",
                   ["aim", "erm", "--loss", "fields", "--noise-variance", "0.25", "--decay", "0.1", "--alpha",
                    "0.2:2.1:0.1"],
                   ("aim.trained", {"alphas": grid(0.2, 0.1, 20), "decay": 0.1, "noise": 0.25}),
                   lambda run: run.estimates("mse", lambda row: f"mse@{row['alpha']:g}"), close=5e-3))
    out.append(Job("phase", "phase diagram, 100 x 100 points",
                   ["ssi", "phase", "--a", "0.02:2:0.02", "--omega", "0.01:1:0.01"],
                   ("ssi.phase", {"a_values": grid(0.02, 0.02, 100), "omega_values": grid(0.01, 0.01, 100)}),
                   semantic, close=0.05))
    out.append(Job("flow", "flow of SGD",
                   ["ssi", "flow", "--a", "1", "--omega", "0.6", "--time", "40", "--points", "3"],
                   ("ssi.flow", {"a": 1, "omega": 0.6, "rate": 0.05, "start": [1000**-0.5] * 2,
                                 "times": [0, 20, 40]}),
                   lambda run: run.estimates("m", lambda row: f"m@{row['time']:g}"), close=0.02))
    for dim, steps, runs in ((1000, 2000, 16), (1000000, 10, 2)):
        call = ["ssi", "sgd", "--a", "1", "--omega", "0.6", "--dim", str(dim), "--rate", "0.5", "--start",
                "overlapped", "--runs", "512", "--steps"]
        many = 80000
        # The squared length of what lies outside the chain is made of the sixth normal; the label and the student
        # are softmaxes of two exponentials each.
        out.append(Job(f"sgd-{dim}", f"online SGD, d = {dim}: a step of a run", [*call, str(steps)],
                       ("ssi.sgd", {"dim": dim, "steps": steps, "runs": runs, "rate": 0.5, "a": 1, "omega": 0.6,
                                    "m0": dim**-0.5}),
                       lambda run: {"m": mean_of_file(run, "runs/1.csv", "m")}, close=1e-3, few=[*call, str(many)],
                       units=512 * (many - steps), unit="step", writes=True,
                       limits={"normals": 6, "exponentials": 4}))
    out.append(Job("learn", "learning a layer: two heads, d = 8, three tokens",
                   ["mha", "learn", "{data}", "--out", "{out}"], ("mha.learn", {"folder": "{data}"}),
                   certified_error, prepare=["mha", "generate", "--heads", "2", "--dim", "8",
                   "--tokens", "3", "--samples", "100000", "--out", "{data}"]))
    return out


#: Cost against sizes: (name, what grows, expected exponent and why, command with {x}, values)
GROWTH = [
    ("D", "message passing (smi): dimension at fixed alpha", 2, "N D numbers are read; posteriors add N",
     ["smi", "amp", "--alpha", "0.4", "--runs", "1", "--iterations", "8", "--nodes", "32", "--dim", "{x}"],
     [4000, 6000, 9000, 13000]),
    ("N", "message passing (smi): samples at fixed dimension", 1, "posteriors and products go with N",
     ["smi", "amp", "--dim", "2000", "--runs", "1", "--iterations", "20", "--alpha", "{x}"], [0.4, 0.8, 1.6]),
    ("L", "posteriors (smi): layers", 1, "one more field at each node; the third proposal mixes all of them",
     ["smi", "amp", "--dim", "100", "--alpha", "80", "--runs", "1", "--iterations", "1", "--restarts", "0", "--layers", "{x}"],
     [2, 4, 8]),
    ("M", "message passing (smi): tokens", 2, "mixing matrices of M x M",
     ["smi", "amp", "--dim", "1000", "--alpha", "0.2", "--runs", "1", "--iterations", "10", "--tokens", "{x}"],
     [3, 4, 6, 8]),
    ("d", "message passing (aim): dimension at fixed alpha", 4, "n T d^2 with n = alpha d^2",
     ["aim", "amp", "--alpha", "0.2", "--runs", "1", "--iterations", "12", "--dim", "{x}"], [150, 220, 320]),
    ("T", "message passing (aim): tokens", 1, "n T d^2",
     ["aim", "amp", "--dim", "200", "--alpha", "0.05", "--runs", "1", "--iterations", "4", "--tokens", "{x}"],
     [8, 16, 32]),
    ("k", "training a layer by Adam: tokens", 1, "k products with d x d matrices for each head; k^2 d scores are few while k < d",
     ["mha", "baseline", "{data}", "--starts", "1", "--adam-steps", "8000", "--lm-steps", "1"], [2, 4, 8]),
    ("m", "training a layer by Adam: heads", 1, "each head has its own softmax",
     ["mha", "baseline", "{data}", "--heads", "{x}", "--starts", "1", "--adam-steps", "8000", "--lm-steps", "1"],
     [1, 2, 4]),
]
