"""Sequence multi-index models as one writes them with NumPy: nested Monte Carlo over labels and hidden fields.

Two tokens, one direction a layer. Inner averages are plain importance sampling from the prior, in two independent
halves, so that squares of them are not biased.
"""

import numpy as np
from scipy.optimize import brentq

BLOCK = 64


def mixing(z, skip):
    """B = (A_l + c) .. (A_1 + c) of the hidden fields z (layers, .., 2), as arrays (.., 2, 2)."""
    b = np.broadcast_to(np.eye(2), (*z.shape[1:-1], 2, 2))
    for field in z:
        u = np.einsum("...ij,...j->...i", b, field)
        scores = u[..., :, None] * u[..., None, :]
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        attention = scores / scores.sum(axis=-1, keepdims=True)
        b = np.matmul(attention + skip * np.eye(2), b)
    return b


def solved(b, h):
    """B^-1 h and |det B|."""
    det = b[..., 0, 0] * b[..., 1, 1] - b[..., 0, 1] * b[..., 1, 0]
    x = (b[..., 1, 1] * h[..., 0] - b[..., 0, 1] * h[..., 1]) / det
    y = (b[..., 0, 0] * h[..., 1] - b[..., 1, 0] * h[..., 0]) / det
    return np.stack([x, y], axis=-1), np.abs(det)


def first_growth(rng, layers, outer, inner, skip=1.0):
    """E ||E[z z^T | y] - 1||^2 of the last layer, nothing being known."""
    total = 0.0
    for _ in range(outer // BLOCK):
        z = rng.standard_normal((layers, BLOCK, 2))
        h = np.einsum("oij,oj->oi", mixing(z[:-1], skip), z[-1])
        halves = []
        for _ in range(2):
            b = mixing(rng.standard_normal((layers - 1, inner, 2)), skip)
            last, det = solved(b[None], h[:, None])
            weight = np.exp(-0.5 * (last**2).sum(-1)) / det
            weight /= weight.sum(1, keepdims=True)
            halves.append(np.matmul((weight[..., None] * last).transpose(0, 2, 1), last) - np.eye(2))
        total += (halves[0] * halves[1]).sum()
    return total / (outer // BLOCK * BLOCK)


def first_threshold(layers, outer=1024, inner=1024, replicates=8, seed=1):
    growth = np.array([first_growth(np.random.default_rng([seed, k]), layers, outer, inner)
                       for k in range(replicates)])
    error = growth.std(ddof=1) / len(growth)**0.5
    return {"alpha": [1 / growth.mean(), error / growth.mean()**2]}


class Expectations:
    """f_l = E|g_l|^2 of the learned layers and F_l of the others at variances V, on fixed random numbers."""

    def __init__(self, seed, layers, outer, inner, skip=1.0):
        rng = np.random.default_rng(seed)
        self.layers, self.skip = layers, skip
        self.outer = rng.standard_normal((outer // BLOCK, 2, layers, BLOCK, 2))
        self.inner = rng.standard_normal((outer // BLOCK, 2, layers - 1, inner, 2))

    def at(self, v):
        v = np.asarray(v, float)
        f, growth = np.zeros(self.layers), np.zeros(self.layers)
        root, rest = np.sqrt(1 - v)[:, None, None], np.sqrt(v)[:, None, None]
        for outer, inner in zip(self.outer, self.inner):
            omega = root * outer[0]
            z = omega + rest * outer[1]
            h = np.einsum("oij,oj->oi", mixing(z[:-1], self.skip), z[-1])
            first, second = (self.moments(h, omega, v, nodes) for nodes in inner)
            for layer in range(self.layers):
                g = [(half[0][layer] - omega[layer]) / v[layer] for half in (first, second)]
                f[layer] += (g[0] * g[1]).sum()
                t = [half[1][layer] - np.eye(2) for half in (first, second)]
                growth[layer] += (t[0] * t[1]).sum()
        count = len(self.outer) * BLOCK
        return f / count, growth / count

    def moments(self, h, omega, v, nodes):
        """<z_l> and <z_l z_l^T> of every layer, for all samples of a block."""
        hidden = omega[:-1, :, None] + np.sqrt(v[:-1])[:, None, None, None] * nodes[:, None]
        last, det = solved(mixing(hidden, self.skip), h[:, None])
        means, squares, norm = 0.0, 0.0, 0.0
        for sign in (1.0, -1.0):
            weight = np.exp(-0.5 * ((sign * last - omega[-1][:, None])**2).sum(-1) / v[-1]) / det
            norm = norm + weight.sum(1)
            z = np.concatenate([hidden, sign * last[None]])
            weighted = weight[None, :, None, :] * z.transpose(0, 1, 3, 2)
            means = means + weighted.sum(-1)
            squares = squares + np.matmul(weighted, z)
        norm = np.maximum(norm, 1e-300)
        return means / norm[:, None], squares / norm[:, None, None]


def fixed_point(expectations, alpha, v, learned, iterations=40, tolerance=1e-3):
    for _ in range(iterations):
        f, growth = expectations.at(v)
        new = np.where(learned, 1 / (1 + alpha * np.maximum(f, 0)), 1.0)
        moved = np.abs(np.log(new / v)).max()
        v = np.clip(new, 1e-4, 1.0)
        if moved < tolerance:
            break
    return v, growth


def staircase(expectations, layers):
    """Thresholds one after the other: alpha F_l = 1 at the fixed point of what is learned."""
    learned = np.zeros(layers, bool)
    v = np.ones(layers)
    _, growth = expectations.at(v)
    out = [1 / growth.max()]
    learned[growth.argmax()] = True
    while not learned.all():
        state = {"v": np.where(learned, 0.3 * v, 1.0)}

        def excess(alpha):
            state["v"], own = fixed_point(expectations, alpha, state["v"], learned)
            state["growth"] = np.where(learned, 0, own)
            return alpha * state["growth"].max() - 1

        out.append(brentq(excess, 1.02 * out[-1], layers / 2, xtol=1e-4, rtol=1e-4))
        learned[state["growth"].argmax()] = True
        v = state["v"]
    return out


def thresholds(layers, outer=256, inner=256, replicates=3, seed=1):
    found = np.array([staircase(Expectations([seed, k], layers, outer, inner), layers) for k in range(replicates)])
    error = found.std(axis=0, ddof=1) / replicates**0.5
    return {f"alpha{k + 1}": [found[:, k].mean(), error[k]] for k in range(layers)}


def curve(alphas, outer=256, inner=256, replicates=4, seed=1):
    """Overlaps of two layers along a grid, each point from the last one."""
    found = []
    for k in range(replicates):
        expectations, v, rows = Expectations([seed, k], 2, outer, inner), np.array([1 - 1e-3, 1 - 1e-3]), []
        for alpha in alphas:
            v, _ = fixed_point(expectations, alpha, np.minimum(v, 1 - 1e-3), np.ones(2, bool))
            rows.append(1 - v)
        found.append(rows)
    found = np.array(found)
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / replicates**0.5
    return {f"Q{layer + 1}{layer + 1}@{alpha:g}": [mean[i, layer], error[i, layer]]
            for i, alpha in enumerate(alphas) for layer in (1,)}


def over_runs(name, values):
    return {name: [np.mean(values), np.std(values, ddof=1) / len(values)**0.5 if len(values) > 1 else None]}


def gamp(dim, alpha, runs, **options):
    return over_runs("cos2", [one_gamp(dim, alpha, seed=seed, **options) for seed in range(runs)])


def one_gamp(dim, alpha, iterations=60, nodes=128, single=False, seed=1):
    """Message passing for two layers on one data set; posteriors on nodes shared by all samples."""
    rng = np.random.default_rng(seed)
    real = np.float32 if single else np.float64
    n = round(alpha * dim)
    teacher = rng.standard_normal((2, dim)).astype(real)
    x = rng.standard_normal((n * 2, dim), dtype=real)
    fields = (x @ teacher.T / dim**0.5).reshape(n, 2, 2).transpose(2, 0, 1).astype(float)
    h = np.einsum("oij,oj->oi", mixing(fields[:1], 1.0), fields[1])
    weights = 1e-3 * rng.standard_normal((2, dim))
    v, g = (1 - 1e-6) * np.eye(2), np.zeros((n, 2, 2))
    for _ in range(iterations):
        omega = (x @ weights.T.astype(real) / dim**0.5).reshape(n, 2, 2).transpose(0, 2, 1) - np.einsum(
            "pq,nqm->npm", v, g)
        mean, cov = gamp_moments(h, omega, v, rng.standard_normal((nodes, 2)))
        inverse = np.linalg.inv(v)
        g = np.einsum("pq,nqm->npm", inverse, mean - omega)
        a = (n * 2 * inverse - inverse @ cov @ inverse) / dim
        values, vectors = np.linalg.eigh((a + a.T) / 2)
        a = (vectors * np.maximum(values, 0)) @ vectors.T
        b = g.transpose(1, 0, 2).reshape(2, -1).astype(real) @ x / dim**0.5 + a @ weights
        v = np.linalg.inv(np.eye(2) + a)
        weights = v @ b
        if v[1, 1] < 1e-8:
            break
    return abs(weights[1] @ teacher[1]) / np.linalg.norm(weights[1]) / np.linalg.norm(teacher[1])


def gamp_moments(h, omega, v, nodes):
    """Means (n, layers, tokens) of the posterior, and the sum over samples and tokens of its covariances."""
    hidden = omega[:, None, 0] + v[0, 0]**0.5 * nodes
    last, det = solved(mixing(hidden[None], 1.0), h[:, None])
    expected = omega[:, None, 1] + v[0, 1] / v[0, 0] * (hidden - omega[:, None, 0])
    left = v[1, 1] - v[0, 1]**2 / v[0, 0]
    exponents = np.stack([-0.5 * ((sign * last - expected)**2).sum(-1) / left - np.log(det) for sign in (1, -1)])
    weight = np.exp(exponents - exponents.max(axis=(0, 2), keepdims=True))
    weight /= weight.sum(axis=(0, 2), keepdims=True)[:, :, :]
    plus, minus = weight
    mean = np.stack([np.einsum("nk,nkm->nm", plus + minus, hidden), np.einsum("nk,nkm->nm", plus - minus, last)],
                    axis=1)
    one = np.einsum("nk,nkm->", plus + minus, hidden**2)
    two = np.einsum("nk,nkm->", plus + minus, last**2)
    both = np.einsum("nk,nkm->", plus - minus, hidden * last)
    second = np.array([[one, both], [both, two]])
    return mean, second - np.einsum("npm,nqm->pq", mean, mean)


def spectral(dim, alpha, runs):
    return over_runs("overlap", [one_spectral(dim, alpha, seed) for seed in range(runs)])


def one_spectral(dim, alpha, seed):
    """The leading eigenvector of sum T(y) x x^T for y = z^2, with the optimal T."""
    rng = np.random.default_rng(seed)
    n = round(alpha * dim)
    teacher = rng.standard_normal(dim)
    x = rng.standard_normal((n, dim))
    y = (x @ teacher)**2 / dim
    weight = 1 - 1 / y
    _, vectors = np.linalg.eigh((x * weight[:, None]).T @ x / n)
    return (vectors[:, -1] @ teacher)**2 / (teacher @ teacher)
