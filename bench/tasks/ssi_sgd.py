"""Online SGD of two-token attention at d = 1000: a plain NumPy loop beside `onset ssi sgd`.

Usage: ssi_sgd.py PATH_OF_ONSET [THREADS]

The loop is one run, one step at a time, with its overlaps recorded; it has whatever threads NumPy takes. Onset has
THREADS (1 unless given), and many runs. Both sides take turns in one job, in processor time with one thread (so that
other work on the machine does not count) and in wall time with more. The command's start is taken out by timing two
numbers of steps.
"""

import resource
import subprocess
import sys
import time

import numpy as np

D, RATE, OMEGA, A = 1000, 0.05, 0.6, 1.0


def softmax(s):
    s = np.exp(s - s.max(axis=1, keepdims=True))
    return s / s.sum(axis=1, keepdims=True)


def clock(threads):
    """Seconds of this process and of those that it has waited for; of the wall if there are several threads."""
    if threads > 1:
        return time.perf_counter()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def numpy_seconds_per_step(threads, steps=1500):
    rng = np.random.default_rng(1)
    root = np.sqrt(D)
    teacher = rng.standard_normal(D)
    teacher *= root / np.linalg.norm(teacher)
    w = rng.standard_normal(D)
    w *= root / np.linalg.norm(w)
    p = rng.standard_normal(D)
    p -= teacher * (p @ teacher) / D
    positions = np.stack([p, -p]) / np.linalg.norm(p)
    fixed = softmax(np.array([[A**2, -(A**2)], [-(A**2), A**2]]))
    overlaps = np.empty((steps, 2))
    start = clock(threads)
    for step in range(steps):
        x = rng.standard_normal((2, D))
        z_teacher = x @ teacher / root
        tokens = x + positions
        z = tokens @ w / root
        y = (1 - OMEGA) * softmax(np.outer(z_teacher, z_teacher)) + OMEGA * fixed
        f = softmax(np.outer(z, z))
        g = f - y
        h = f * (g - (g * f).sum(axis=1, keepdims=True))
        w = w - RATE * (((h + h.T) @ z) @ tokens) / root
        w *= root / np.linalg.norm(w)
        overlaps[step] = w @ teacher / D, positions[0] @ w / root
    return (clock(threads) - start) / steps


def onset_seconds_per_step(command, engine, runs, few, many, threads):
    def seconds(steps):
        start = clock(threads)
        subprocess.run([command, "ssi", "sgd", "--a", str(A), "--omega", str(OMEGA), "--dim", str(D), "--rate",
                        str(RATE), "--runs", str(runs), "--steps", str(steps), "--engine", engine, "--threads",
                        str(threads), "--quiet", "--format", "json"], stdout=subprocess.DEVNULL, check=False)
        return clock(threads) - start
    return (seconds(many) - seconds(few)) / ((many - few) * runs)


def main():
    command = sys.argv[1]
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    turns = []
    for _ in range(3):
        turns.append((numpy_seconds_per_step(threads),
                      onset_seconds_per_step(command, "chain", 128, 1000, 41000, threads),
                      onset_seconds_per_step(command, "full", 16, 100, 2100, threads)))
    plain, chain, full = (sorted(x)[1] for x in zip(*turns))
    print(f"NumPy loop: {plain * 1e6:.0f} us a step")
    print(f"chain:      {chain * 1e9:.0f} ns a step and run, {plain / chain:.0f} times as fast")
    print(f"full:       {full * 1e6:.2f} us a step and run, {plain / full:.1f} times as fast")


if __name__ == "__main__":
    main()
