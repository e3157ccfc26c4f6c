"""A link of one's own, written in Python."""

from __future__ import annotations

import numpy

from onset import _onset
from onset._estimate import Estimate

# Roughly the core-seconds of one posterior of a vectorised NumPy function, by which runs are planned; the measured
# time would make the number of points, and so the numbers, depend on the machine.
_USUAL_SECONDS = 1e-6
_SECONDS_PER_NODE = 3e-8
_MOST_NODES = 1 << 16


def _rule(fields, nodes):
    """A product of Gauss-Hermite rules for standard normals: points (fields x K) and logarithms of weights."""
    points, weights = numpy.polynomial.hermite_e.hermegauss(nodes)
    grid = numpy.meshgrid(*[points] * fields, indexing="ij")
    logs = numpy.meshgrid(*[numpy.log(weights / weights.sum())] * fields, indexing="ij")
    return numpy.array([g.ravel() for g in grid]), sum(g.ravel() for g in logs)


class Link:
    """How the fields of a sample make its label, given by vectorised functions.

    `label(fields)`, or `label(fields, noise)` with `noise` standard normals per sample, returns labels. What a label
    says of the fields is given in one of two ways, `posterior` being the faster and more accurate:

    - `posterior(label, omega, variance)` for the prior z ~ N(omega, V) returns log Z (the log density of the label),
      and the means and second moments of zeta = (z - omega)/sqrt(V), in closed form;
    - `log_likelihood(label, fields)` returns log p(y | z), broadcast over trailing axes; integrals over the fields are
      then Gauss-Hermite sums of `nodes` points per field, for labels with noise that such sums resolve. Results are
      computed with half as many nodes too, and the difference is added to their errors.

    Arrays have one row per field (or number of a label) and one column per sample; `variance` has one number per
    block. Second moments are lower triangles, block after block. `ranks` are the directions of every block, `tokens`
    the tokens of a sample: field (block, direction, token) in this order. `constraints` is how many real numbers a
    label fixes exactly (0 for noisy or discrete ones).
    """

    def __init__(self, label, posterior=None, *, log_likelihood=None, ranks=(1,), tokens=1, label_size=1, noise=0,
                 constraints=0.0, nodes=64, name=None, seconds=None):
        if (posterior is None) == (log_likelihood is None):
            raise _onset.InvalidArgument("posterior: one of posterior and log_likelihood is wanted")
        ranks = [int(rank) for rank in numpy.atleast_1d(ranks)]
        if tokens < 1 or label_size < 1 or noise < 0 or not ranks or min(ranks) < 1:
            raise _onset.InvalidArgument("ranks: tokens, label_size and every rank must be 1 or more, noise 0 or more")
        self.name = name or getattr(label, "__name__", "link")
        self._fields = sum(ranks) * tokens
        self._block = numpy.repeat(numpy.arange(len(ranks)), [rank * tokens for rank in ranks])
        self._pairs = [(i, j) for i in range(self._fields) for j in range(i + 1) if self._block[i] == self._block[j]]
        self._nodes = None if posterior else int(nodes)
        if self._nodes is not None and (self._nodes < 8 or self._nodes**self._fields > _MOST_NODES):
            raise _onset.InvalidArgument(f"nodes: {nodes} for each of {self._fields} fields is not allowed; allowed: "
                                         f"8 or more, and at most {_MOST_NODES} for all fields together")
        sampler = label if noise else (lambda fields, _: label(fields))

        def own(moments, cost):
            return _onset.OwnLink(tokens, ranks, label_size, noise, float(constraints), float(seconds or cost),
                                  (sampler, moments))

        if posterior is not None:
            self._own, self._coarse = own(posterior, _USUAL_SECONDS), None
        else:
            cost = _SECONDS_PER_NODE * self._nodes**self._fields
            self._own = own(self._integral(log_likelihood, self._nodes), cost)
            self._coarse = own(self._integral(log_likelihood, self._nodes // 2), cost)

    def _integral(self, log_likelihood, nodes):
        """The posterior of a likelihood, by sums over nodes around omega."""
        points, log_weights = _rule(self._fields, nodes)
        rows = numpy.array([i for i, _ in self._pairs]), numpy.array([j for _, j in self._pairs])

        def posterior(label, omega, variance):
            deviation = numpy.sqrt(variance[self._block])[:, None, None]
            fields = omega[:, None, :] + deviation * points[:, :, None]
            logs = log_likelihood(label[:, None, :], fields) + log_weights[:, None]
            largest = logs.max(axis=0)
            weights = numpy.exp(logs - largest)
            total = weights.sum(axis=0)
            weights /= total
            mean = points @ weights
            second = (points[rows[0]] * points[rows[1]]) @ weights
            return largest + numpy.log(total), mean, second

        return posterior

    def check(self, points=1024):
        """Sentences on what is not consistent in the link, none where all is well; for each block also its gain and
        growth rate. A consistent link is blamed with a probability of 1e-6."""
        content = self._own.check(points)
        blocks = [{"gain": Estimate(*gain), "growth": Estimate(*growth)} for gain, growth in content["blocks"]]
        return LinkReport(content["findings"], blocks)

    def __repr__(self):
        return f"<onset.Link {self.name}>"


class LinkReport:
    """Whether a link is consistent with itself."""

    def __init__(self, findings, blocks):
        self.findings = findings
        self.blocks = blocks

    @property
    def passed(self):
        return not self.findings

    def __str__(self):
        said = "\n".join(self.findings) or "consistent"
        lines = [f"block {k}: gain {block['gain']}, growth {block['growth']}" for k, block in enumerate(self.blocks, 1)]
        return "\n".join([said, *lines])

    __repr__ = __str__
