"""A link of one's own, written in Python."""

import numpy
import onset
import pytest

# Independent estimates differ by more than this many of their joint standard errors once in a million.
LARGEST_DISTANCE = 4.9


def modulus_label(z):
    return numpy.abs(z)


def modulus_posterior(y, omega, variance):
    """Two points, z = y and z = -y: the link `square` of the library, whose labels are described by |z|."""
    deviation = numpy.sqrt(variance[0])
    a, b = (y - omega) / deviation, (-y - omega) / deviation
    log_ratio = 0.5 * (a * a - b * b)
    p = 1.0 / (1.0 + numpy.exp(numpy.minimum(log_ratio, 700.0)))
    mean, second = p * a + (1 - p) * b, p * a * a + (1 - p) * b * b
    log_z = numpy.logaddexp(0.0, log_ratio) - 0.5 * a * a - 0.5 * numpy.log(2 * numpy.pi * variance[0])
    return log_z, mean, second


MODULUS = onset.Link(modulus_label, modulus_posterior, constraints=1, name="modulus")


def distance(a, b):
    return abs(a.value - b.value) / numpy.hypot(a.error, b.error)


def test_it_gives_the_numbers_of_the_same_link_in_cpp():
    here, there = onset.smi.thresholds(link=MODULUS), onset.smi.thresholds(link="square")
    assert here["kind"].tolist() == there["kind"].tolist()
    # The two differ by the rounding of exp and log only.
    numpy.testing.assert_allclose(here["alpha"], there["alpha"], rtol=1e-9)
    curves = [onset.smi.curve(link=link, alpha=[0.3, 0.8]) for link in (MODULUS, "square")]
    numpy.testing.assert_allclose(curves[0]["Q11"], curves[1]["Q11"], rtol=1e-7, atol=1e-12)
    assert here.parameters["link"] == "<onset.Link modulus>"


def test_message_passing_takes_it():
    runs = [onset.smi.amp(link=link, dim=100, alpha=2.0, runs=2, seed=5) for link in (MODULUS, "square")]
    numpy.testing.assert_allclose(runs[0]["M11"], runs[1]["M11"], rtol=1e-6)
    data = onset.smi.generate(link=MODULUS, dim=100, alpha=2.0)
    assert onset.smi.amp(link=MODULUS, X=data.artifacts["X.npy"], Y=data.artifacts["Y.npy"])["alpha"].tolist() == [2.0]


def test_threads_do_not_change_it():
    alpha = [onset.smi.thresholds(link=MODULUS, threads=threads)["alpha"].tolist() for threads in (1, 3)]
    assert alpha[0] == alpha[1]


def test_it_is_checked_against_its_own_samples():
    assert MODULUS.check(points=256).passed

    def wrong(y, omega, variance):
        log_z, mean, second = modulus_posterior(y, omega, variance)
        return log_z, 0.5 * mean, second

    report = onset.Link(modulus_label, wrong).check(points=256)
    assert not report.passed and "derivative" in str(report)


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_a_likelihood_is_enough(noise):
    def log_likelihood(y, z):
        return -0.5 * ((y[0] - z[0]**2) / noise)**2 - 0.5 * numpy.log(2 * numpy.pi * noise**2)

    link = onset.Link(lambda z, e: z**2 + noise * e, log_likelihood=log_likelihood, noise=1, nodes=128)
    here, there = onset.smi.thresholds(link=link, stages=1), onset.smi.thresholds(link="z1^2", noise=noise, stages=1)
    assert here["kind"][0] == there["kind"][0] == "weak"
    assert distance(here.rows[0]["alpha"], there.rows[0]["alpha"]) < LARGEST_DISTANCE


def test_too_few_nodes_show_in_the_error():
    def narrow(y, z):
        return -0.5 * ((y[0] - z[0]**2) / 0.1)**2

    link = onset.Link(lambda z, e: z**2 + 0.1 * e, log_likelihood=narrow, noise=1, nodes=16)
    alpha = onset.smi.thresholds(link=link, stages=1).rows[0]["alpha"]
    assert distance(alpha, onset.smi.thresholds(link="z1^2", noise=0.1, stages=1).rows[0]["alpha"]) < LARGEST_DISTANCE
    assert alpha.error > 1e-3  # many times the default tolerance: the rule of 8 nodes gives another threshold


def test_what_its_functions_raise_arrives():
    def broken(z):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="^mine$"):
        onset.smi.thresholds(link=onset.Link(broken, modulus_posterior))
    with pytest.raises(ValueError, match="link: the posterior must return three arrays"):
        onset.smi.thresholds(link=onset.Link(modulus_label, lambda *_: 1))
    with pytest.raises(ValueError, match="link: the label has 1 numbers; allowed: 1 rows of"):
        onset.smi.thresholds(link=onset.Link(lambda z: 1.0, modulus_posterior))


def test_misuse_is_named():
    with pytest.raises(ValueError, match="^layers: describes deep attention"):
        onset.smi.thresholds(link=MODULUS, layers=3)
    with pytest.raises(ValueError, match="one of posterior and log_likelihood"):
        onset.Link(modulus_label)
    with pytest.raises(ValueError, match="^nodes: 512 for each of 2 fields"):
        onset.Link(modulus_label, log_likelihood=lambda y, z: 0, ranks=[2], nodes=512)
    with pytest.raises(ValueError, match="^link: no such field"):
        onset.aim.curve(link=MODULUS, alpha=0.1)
