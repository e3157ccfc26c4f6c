"""What a link in Python costs: y = |z| here, and the same in C++ (the named link `square`), in one job.

Usage: PYTHONPATH=build/release/python python3 bench/tasks/python_link.py
"""

import time

import numpy
import onset


def posterior(y, omega, variance):
    deviation = variance[0] ** 0.5
    a, b = (y - omega) / deviation, (-y - omega) / deviation
    log_ratio = 0.5 * (a * a - b * b)
    p = 1 / (1 + numpy.exp(numpy.minimum(log_ratio, 700)))
    log_z = numpy.logaddexp(0, log_ratio) - 0.5 * a * a - 0.5 * numpy.log(2 * numpy.pi * variance[0])
    return log_z, p * a + (1 - p) * b, p * a * a + (1 - p) * b * b


TASKS = {
    "thresholds": lambda link: onset.smi.thresholds(link=link, threads=1),
    "curve of 8 points": lambda link: onset.smi.curve(link=link, alpha="0.3:1:0.1", threads=1),
    "amp, D = 500, 4 runs": lambda link: onset.smi.amp(link=link, dim=500, alpha=1.3, runs=4, threads=1),
}


def seconds(task, link):
    """Processor time, which other programs of the machine change least; the best of three."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        task(link)
        times.append(time.process_time() - begin)
    return min(times)


if __name__ == "__main__":
    modulus = onset.Link(abs, posterior, constraints=1)
    print("| task | Python | C++ | ratio |\n| --- | --- | --- | --- |")
    for name, task in TASKS.items():
        here, there = seconds(task, modulus), seconds(task, "square")
        print(f"| {name} | {here:.2f} | {there:.2f} | {here / there:.1f} |")
