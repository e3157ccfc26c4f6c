"""Online SGD of two-token attention at d = 1000: a plain loop in Python beside `onset ssi sgd`.

Usage: ssi_sgd.py PATH_OF_ONSET [REPEATS]

The loops are what one writes first: one run, one step at a time, batch 1: draw two tokens, fields of teacher and
student, labels, gradient (by hand in NumPy, by autograd in torch, if that is installed), a step, the norm, and the
overlaps of every step kept. Double precision in NumPy, single in torch; no printing, no copies that the step does not
need. A loop runs on one core; it has no use for more. Onset advances many runs, on one core and on all of them.

All sides take turns, REPEATS times (5 unless given). Times are processor times, so that other work on the machine
counts little; on several cores they are divided by their number (runs are independent, and share them evenly), and the
wall time stands beside it, which means something on an idle machine only. The command's start is taken out by timing
two numbers of steps. Printed are the medians, and the ratios of each turn: median, least and largest.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import resource
import statistics
import subprocess
import sys
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None

D, RATE, OMEGA, A = 1000, 0.05, 0.6, 1.0
ROOT = D**0.5


def softmax(s):
    s = np.exp(s - s.max(axis=1, keepdims=True))
    return s / s.sum(axis=1, keepdims=True)


def numpy_loop(steps=1000):
    rng = np.random.default_rng(1)
    teacher = rng.standard_normal(D)
    teacher *= ROOT / np.linalg.norm(teacher)
    w = rng.standard_normal(D)
    w *= ROOT / np.linalg.norm(w)
    p = rng.standard_normal(D)
    p -= teacher * (p @ teacher) / D
    positions = np.stack([p, -p]) / np.linalg.norm(p)
    fixed = softmax(np.array([[A**2, -(A**2)], [-(A**2), A**2]]))
    overlaps = np.empty((steps, 2))
    start = time.process_time()
    for step in range(steps):
        x = rng.standard_normal((2, D))
        z_teacher = x @ teacher / ROOT
        tokens = x + positions
        z = tokens @ w / ROOT
        y = (1 - OMEGA) * softmax(np.outer(z_teacher, z_teacher)) + OMEGA * fixed
        f = softmax(np.outer(z, z))
        g = f - y
        h = f * (g - (g * f).sum(axis=1, keepdims=True))
        w = w - RATE * (((h + h.T) @ z) @ tokens) / ROOT
        w *= ROOT / np.linalg.norm(w)
        overlaps[step] = w @ teacher / D, positions[0] @ w / ROOT
    return (time.process_time() - start) / steps


def torch_loop(steps=500):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    teacher = torch.randn(D)
    teacher *= ROOT / teacher.norm()
    w = torch.randn(D)
    w = (w * ROOT / w.norm()).requires_grad_(True)
    p = torch.randn(D)
    p -= teacher * (p @ teacher) / D
    positions = torch.stack([p, -p]) / p.norm()
    fixed = torch.softmax(torch.tensor([[A**2, -(A**2)], [-(A**2), A**2]]), dim=1)
    overlaps = torch.empty(steps, 2)
    optimizer = torch.optim.SGD([w], lr=RATE)
    start = time.process_time()
    for step in range(steps):
        x = torch.randn(2, D)
        z_teacher = x @ teacher / ROOT
        z = (x + positions) @ w / ROOT
        y = (1 - OMEGA) * torch.softmax(torch.outer(z_teacher, z_teacher), dim=1) + OMEGA * fixed
        loss = 0.5 * ((torch.softmax(torch.outer(z, z), dim=1) - y) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            w *= ROOT / w.norm()
            overlaps[step, 0] = w @ teacher / D
            overlaps[step, 1] = positions[0] @ w / ROOT
    return (time.process_time() - start) / steps


def clocks():
    """Wall time, and processor time of the processes that this one has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return np.array([time.perf_counter(), usage.ru_utime + usage.ru_stime])


def onset(command, engine, runs, few, many, threads):
    """Seconds a step and run, of the wall and of each core."""
    def seconds(steps):
        start = clocks()
        subprocess.run([command, "ssi", "sgd", "--a", str(A), "--omega", str(OMEGA), "--dim", str(D), "--rate",
                        str(RATE), "--runs", str(runs), "--steps", str(steps), "--engine", engine, "--threads",
                        str(threads), "--quiet", "--format", "json"], stdout=subprocess.DEVNULL, check=False)
        return clocks() - start

    return (seconds(many) - seconds(few)) / ((many - few) * runs) / [1, threads]


def spread(values):
    return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def main():
    command = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    cores = len(os.sched_getaffinity(0))
    loops = {"NumPy": numpy_loop} | ({"torch": torch_loop} if torch else {})
    engines = {}
    for threads in sorted({1, cores}):
        engines["chain", threads] = lambda t=threads: onset(command, "chain", 64 * cores, 1000, 41000, t)
        engines["full", threads] = lambda t=threads: onset(command, "full", 8 * cores, 100, 2100, t)
    turns = [{key: run() for key, run in (loops | engines).items()} for _ in range(repeats)]
    for name in loops:
        print(f"{name} loop: {spread([turn[name] * 1e6 for turn in turns])} us a step")
    for engine, threads in engines:
        wall, own = zip(*(turn[engine, threads] for turn in turns))
        print(f"{engine}, {threads} core(s): {spread([x * 1e9 for x in own])} ns a step and run; "
              f"wall: {spread([x * 1e9 for x in wall])}")
        for name in loops:
            print(f"  times as fast as {name}: {spread([turn[name] / x for turn, x in zip(turns, own)])}")


if __name__ == "__main__":
    main()
