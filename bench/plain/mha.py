"""Learning a layer of attention as one writes it with NumPy and SciPy: least squares from random starts."""

import pathlib

import numpy as np
from scipy.optimize import least_squares


def softmax(s):
    s = np.exp(s - s.max(axis=-1, keepdims=True))
    return s / s.sum(axis=-1, keepdims=True)


def features(thetas, x):
    """softmax(X Theta X^T) X of every head, side by side: (examples * tokens, heads * dim)."""
    parts = [np.matmul(softmax(np.matmul(x @ theta, x.transpose(0, 2, 1))), x) for theta in thetas]
    return np.concatenate(parts, axis=-1).reshape(-1, len(thetas) * x.shape[-1])


def learn(folder, heads=2, examples=150, starts=8, seed=1):
    """Score matrices by Levenberg-Marquardt, projections solved for at every step; differences as derivatives."""
    folder = pathlib.Path(folder)
    x = np.load(folder / "X.npy").astype(float)
    y = np.load(folder / "Y.npy").astype(float)
    dim = x.shape[-1]
    own, labels = x[:examples], y[:examples].reshape(-1, dim)
    rng = np.random.default_rng(seed)

    def residual(flat):
        design = features(flat.reshape(heads, dim, dim), own)
        return (labels - design @ np.linalg.lstsq(design, labels, rcond=None)[0]).ravel()

    for start in range(starts):
        found = least_squares(residual, rng.standard_normal(heads * dim * dim) * 3 / dim, max_nfev=60, xtol=1e-13,
                              ftol=1e-13, gtol=1e-13)
        if np.abs(found.fun).max() < 1e-6:
            break
    thetas = found.x.reshape(heads, dim, dim)
    design = features(thetas, own)
    projections = np.linalg.lstsq(design, labels, rcond=None)[0]
    fresh, truth = features(thetas, x[-1000:]) @ projections, y[-1000:].reshape(-1, dim)
    return {"function_error": [float(np.linalg.norm(fresh - truth) / np.linalg.norm(truth)), None],
            "starts": [start + 1, None]}
