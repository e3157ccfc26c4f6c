"""Two-token attention of sequence single-index models as one writes it with NumPy and SciPy."""

import time

import numpy as np
from scipy.integrate import solve_ivp


def nodes(count):
    """A uniform rule, which converges faster here than Gauss-Hermite: the integrand has poles close to the axis."""
    x = np.linspace(-5.5, 5.5, count)
    w = np.exp(-x * x / 2)
    return x, w / w.sum()


def softmax(s):
    s = np.exp(s - s.max(axis=-1, keepdims=True))
    return s / s.sum(axis=-1, keepdims=True)


def grid(count):
    """Four standard normals: fields of the teacher, and what the student's have besides."""
    x, w = nodes(count)
    axes = np.stack(np.meshgrid(x, x, x, x, indexing="ij"), axis=-1).reshape(-1, 4)
    weight = np.einsum("i,j,k,l->ijkl", w, w, w, w).ravel()
    return axes, weight


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def phase(a_values, omega_values, resolution=21, count=16):
    """The kind of the global minimum of the risk over a grid of (e, m), for all (a, omega)."""
    axes, weight = grid(count)
    teacher = axes[:, :2]
    p_teacher = sigmoid(teacher[:, 0] * (teacher[:, 0] - teacher[:, 1]))
    steps = np.linspace(0, 1, resolution)
    table = np.full((resolution, resolution), np.nan)
    squares = np.empty(resolution)
    mean = 1 - np.exp(-steps**2 / 2) / (2 * 2**0.5)
    for i, e in enumerate(steps):
        for j, m in enumerate(steps):
            if e * e + m * m > 1 + 1e-9:
                continue
            z = m * teacher + (1 - m * m)**0.5 * axes[:, 2:] + e * np.array([1, -1])
            p = sigmoid(z[:, 0] * (z[:, 0] - z[:, 1]))
            table[i, j] = weight @ (p_teacher * p)
            if j == 0:
                squares[i] = weight @ (2 * (p**2 + (1 - p)**2))
    out = np.empty((len(a_values), len(omega_values)), int)
    for i, a in enumerate(a_values):
        fixed = sigmoid(2 * a * a)
        for j, omega in enumerate(omega_values):
            cross = 2 - 2 * mean[0] - 2 * mean[:, None] + 4 * table
            risk = (squares[:, None] / 2 - (1 - omega) * cross
                    - 2 * omega * (fixed * mean + (1 - fixed) * (1 - mean))[:, None])
            e, m = np.unravel_index(np.nanargmin(risk), risk.shape)
            out[i, j] = m > e
    return {"semantic": [out.tolist(), None]}


def flow(a, omega, rate, start, times, count=18):
    """The ODE of SGD with its drift by quadrature at every step."""
    axes, weight = grid(count)
    teacher, rest = axes[:, :2], axes[:, 2:]
    fixed = softmax(np.array([[a * a, -a * a], [-a * a, a * a]]))
    labels = (1 - omega) * softmax(teacher[:, :, None] * teacher[:, None, :]) + omega * fixed
    sign = np.array([1, -1])

    def drift(_, state):
        e, m = state
        z = m * teacher + (1 - m * m)**0.5 * rest + e * sign
        f = softmax(z[:, :, None] * z[:, None, :])
        g = f - labels
        h = f * (g - (g * f).sum(axis=-1, keepdims=True))
        slope = np.einsum("nij,nj->ni", h + h.transpose(0, 2, 1), z)
        along_m = weight @ (slope * (teacher - m / (1 - m * m)**0.5 * rest)).sum(axis=1)
        along_e = weight @ (slope @ sign)
        variance = weight @ (slope**2).sum(axis=1)
        radial = m * along_m + e * along_e
        return [-(along_e - e * radial) - rate / 2 * variance * e, -(along_m - m * radial) - rate / 2 * variance * m]

    solution = solve_ivp(drift, (0, times[-1]), start, t_eval=times, rtol=1e-4, atol=1e-6)
    rows = {}
    for k, t in enumerate(times):
        rows[f"e@{t:g}"], rows[f"m@{t:g}"] = [solution.y[0, k], None], [solution.y[1, k], None]
    return rows


def sgd(dim, steps, runs, rate, a, omega, m0, seed=1):
    """Online SGD, one run and one step at a time; seconds of one step, and the final overlap m over the runs."""
    rng = np.random.default_rng(seed)
    root = dim**0.5
    fixed = softmax(np.array([[a * a, -a * a], [-a * a, a * a]]))
    finals, start = [], time.process_time()
    for _ in range(runs):
        teacher = np.zeros(dim)
        teacher[0] = root
        positions = np.zeros((2, dim))
        positions[:, 1] = 1, -1
        w = rng.standard_normal(dim)
        w[:2] = 0
        w *= (dim * (1 - m0 * m0))**0.5 / np.linalg.norm(w)
        w[0] = m0 * root
        for _ in range(steps):
            x = rng.standard_normal((2, dim))
            z_teacher = x @ teacher / root
            tokens = x + positions
            z = tokens @ w / root
            y = (1 - omega) * softmax(np.outer(z_teacher, z_teacher)) + omega * fixed
            f = softmax(np.outer(z, z))
            g = f - y
            h = f * (g - (g * f).sum(axis=1, keepdims=True))
            w = w - rate * (((h + h.T) @ z) @ tokens) / root
            w *= root / np.linalg.norm(w)
        finals.append(w[0] / root)
    seconds = (time.process_time() - start) / (runs * steps)
    error = np.std(finals, ddof=1) / runs**0.5 if runs > 1 else None
    return {"m": [float(np.mean(finals)), error]}, seconds
