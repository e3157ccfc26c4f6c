"""Attention-indexed models as one writes them with NumPy and SciPy: softmax labels of two tokens."""

import pathlib
import time

import numpy as np
from scipy.optimize import fsolve


def stieltjes(x, rho, delta):
    """g of S plus noise of variance delta at real x, Im <= 0 inside the bulk: roots of a cubic."""
    x = np.atleast_1d(x) * rho**0.5
    t = delta * rho
    companion = np.zeros((len(x), 3, 3))
    companion[:, 1, 0] = companion[:, 2, 1] = 1
    companion[:, 0, 2], companion[:, 1, 2], companion[:, 2, 2] = 1 / t, -(x + 1 - rho) / t, (x + t) / t
    roots = np.linalg.eigvals(companion)
    complex_root = roots[np.arange(len(x)), roots.imag.argmin(axis=1)]
    # Outside of the bulk all roots are real; the physical one has the smallest size.
    real_root = roots[np.arange(len(x)), np.abs(roots).argmin(axis=1)]
    return rho**0.5 * np.where(complex_root.imag < -1e-9, complex_root, real_root)


def density_grid(rho, delta, points=2000):
    width = 2 * delta**0.5
    top = (1 + rho**0.5)**2 / rho**0.5 + width + 0.1
    x = np.linspace(-width - 0.1, top, points)
    return x, stieltjes(x, rho, delta)


def least_error(delta, rho):
    """mmse of denoising with noise delta."""
    x, g = density_grid(rho, delta)
    mu = -g.imag / np.pi
    return delta - 4 * np.pi**2 / 3 * delta**2 * np.trapz(mu**3, x)


def curve(alphas, rho=0.5):
    """State evolution iterated to its fixed point at every alpha."""
    rows = {}
    for alpha in alphas:
        error = 1.0
        for _ in range(500):
            new = least_error(error / (4 * alpha), rho)
            done = abs(new - error) < 1e-7
            error = new
            if done:
                break
        rows[f"mmse@{alpha:g}"] = [error, None]
    return rows


def read_data(folder):
    folder = pathlib.Path(folder)
    x = np.load(folder / "X.npy")
    labels = np.load(folder / "logY.npy")
    truth = np.load(folder / "truth" / "S.npy")
    return x, labels, truth


def observed_scores(log_labels):
    """What softmax labels show of the scores: all but a common constant."""
    c = (log_labels.transpose(0, 2, 1) - log_labels).mean(axis=2)
    psi = log_labels + c[:, :, None]
    return psi - psi.mean(axis=(1, 2), keepdims=True)


def amp(folder, iterations, rho=0.5, damping=0.5):
    """Message passing with two matrix products and an eigendecomposition an iteration."""
    x, labels, truth = read_data(folder)
    n, tokens, dim = x.shape
    flat = x.reshape(-1, dim)
    psi = observed_scores(labels)
    estimate, variance, g = rho**0.5 * np.eye(dim), 1.0, np.zeros((n, tokens, tokens))
    norms = (x**2).sum(-1) / dim
    shape = (1 + np.eye(tokens)) * norms[:, :, None] * norms[:, None, :]
    pair_weight = 0.5 + 0.5 * np.eye(tokens)
    omega = anchor = None
    start = time.process_time()
    for _ in range(iterations):
        h = (np.matmul((flat @ estimate).reshape(x.shape), x.transpose(0, 2, 1))
             - np.trace(estimate) * np.eye(tokens)) / dim**0.5
        fresh = h - variance * shape * g
        keep = 0.0 if omega is None else damping
        omega = fresh if omega is None else keep * omega + (1 - keep) * fresh
        anchor = estimate if anchor is None else keep * anchor + (1 - keep) * estimate
        spread = variance * shape
        weight = pair_weight / spread
        common = (weight * (omega - psi)).sum(axis=(1, 2), keepdims=True) / weight.sum(axis=(1, 2), keepdims=True)
        g = (psi + common - omega) / spread
        conjugate = 2 * (pair_weight * shape * g**2).sum() / dim**2
        mixed = np.matmul(pair_weight * g, x).reshape(-1, dim)
        shown = (flat.T @ mixed - np.trace(g, axis1=1, axis2=2).sum() * np.eye(dim)) / dim**0.5
        values, vectors = np.linalg.eigh(anchor + 2 / (conjugate * dim) * shown)
        delta = 1 / conjugate
        cleaned = values - 2 * delta * stieltjes(values, rho, delta).real
        estimate = (vectors * cleaned) @ vectors.T
        keep = (1 + damping) / 2
        variance = keep * variance + (1 - keep) * least_error(delta, rho)
    seconds = (time.process_time() - start) / iterations
    return {"mse": [((estimate - truth)**2).sum() / dim, None]}, seconds


def softmax(scores):
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return scores / scores.sum(axis=-1, keepdims=True)


def descent(dim, alpha, starts, steps=1000, rate=0.1, rho=0.5, seed=1):
    """Adam on the weights of students, all starts on one data set; the gradient by hand."""
    rng = np.random.default_rng(seed)
    n, width = round(alpha * dim**2), round(rho * dim)
    scale = (width * dim)**0.5
    teacher = rng.standard_normal((dim, width))
    truth = teacher @ teacher.T / scale
    x = rng.standard_normal((n, 2, dim))
    flat = x.reshape(-1, dim)

    def scores(w):
        y = (flat @ w).reshape(n, 2, width)
        return y, (np.matmul(y, y.transpose(0, 2, 1)) - (w**2).sum() * np.eye(2)) / scale / dim**0.5

    labels = softmax(scores(teacher)[1])
    errors = []
    for _ in range(starts):
        w = rng.standard_normal((dim, width))
        first, second = np.zeros_like(w), np.zeros_like(w)
        for step in range(1, steps + 1):
            y, s = scores(w)
            f = softmax(s)
            d = 2 * (f - labels) / dim
            h = f * (d - (d * f).sum(axis=-1, keepdims=True))
            mixed = np.matmul(h + h.transpose(0, 2, 1), y).reshape(-1, width)
            gradient = (flat.T @ mixed - 2 * np.trace(h, axis1=1, axis2=2).sum() * w) / scale / dim**0.5
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            w -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        errors.append(((w @ w.T / scale - truth)**2).sum() / dim)
    return {"mse_single": [np.mean(errors), None]}


def trained(alphas, decay, noise, rho=0.5):
    """Empirical risk with weight decay, loss on the fields: two equations with integrals of the density."""
    rows = {}
    unknowns = [np.log((0.3 + noise) / (4 * max(alphas))), np.log(decay)]
    for alpha in sorted(alphas, reverse=True):  # each from the last one: few samples are the hard end
        a = 4 * alpha

        def equations(logs):
            delta, cut = np.exp(logs)
            x, g = density_grid(rho, delta)
            mu = -g.imag / np.pi
            f = np.maximum(x - cut, 0)
            square, first = np.trapz(f**2 * mu, x), np.trapz(f * mu, x)
            divided = 2 * np.trapz(g.real * f * mu, x)
            error = 1 + rho - square - 2 * cut * first + 2 * delta * divided
            equations.error = error
            return [a * delta - error - noise, decay - 2 * cut * (a - divided)]

        unknowns = fsolve(equations, unknowns, xtol=1e-8)
        rows[f"mse@{alpha:g}"] = [equations.error, None]
    return rows
