"""One iteration of message passing, softmax of two tokens: Onset beside NumPy written two ways.

plain: sensing matrices Z_ab of every sample, d x d each, contracted with einsum (n d^2 T^2 numbers)
best:  two matrix products, X S and X^T (G X), and eigh, as Onset does
Usage: aim_numpy.py PATH_TO_ONSET [DIM [ALPHA]]
"""

import subprocess
import sys
import time

import numpy as np


def least(run, repeats=3):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def onset_iteration(onset, dim, alpha):
    def job(iterations):
        subprocess.run([onset, "aim", "amp", "--dim", str(dim), "--alpha", str(alpha), "--runs", "1",
                        "--iterations", str(iterations), "--quiet"], stdout=subprocess.DEVNULL, check=False)
    return (least(lambda: job(14)) - least(lambda: job(4))) / 10


def numpy_ways(dim, alpha):
    rng = np.random.default_rng(1)
    n, tokens = round(alpha * dim * dim), 2
    x = rng.standard_normal((n, tokens, dim))
    g = rng.standard_normal((n, tokens, tokens))
    g = g + g.transpose(0, 2, 1)
    s = rng.standard_normal((dim, dim))
    s = (s + s.T) / np.sqrt(dim)
    flat = x.reshape(-1, dim)

    def best():
        products = (flat @ s).reshape(x.shape)
        np.matmul(products, x.transpose(0, 2, 1))
        return np.linalg.eigh(flat.T @ np.matmul(g, x).reshape(-1, dim) / n + s)

    def plain():
        z = np.einsum("nai,nbj->nabij", x, x)
        np.einsum("nabij,ij->nab", z, s)
        return np.linalg.eigh(np.einsum("nab,nabij->ij", g, z) / n + s)

    gigabytes = 8e-9 * n * (tokens * dim) ** 2
    return least(best), least(plain, 1) if gigabytes < 4 else None, gigabytes


def main():
    onset = sys.argv[1]
    dim = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    alpha = float(sys.argv[3]) if len(sys.argv) > 3 else 0.1
    ours = onset_iteration(onset, dim, alpha)
    best, plain, gigabytes = numpy_ways(dim, alpha)
    print(f"d = {dim}, alpha = {alpha}: seconds for one iteration")
    print(f"  onset        {ours:.4f}")
    print(f"  NumPy best   {best:.4f}  ({best / ours:.1f} x)")
    if plain is None:
        print(f"  NumPy plain  not run: needs {gigabytes:.0f} GB")
    else:
        print(f"  NumPy plain  {plain:.4f}  ({plain / ours:.1f} x, {gigabytes:.1f} GB)")


if __name__ == "__main__":
    main()
