"""A number with its error."""

import pickle

import numpy
import pytest
from onset import Estimate

THRESHOLD = Estimate(0.71987, 0.00052)


def test_it_is_written_as_papers_write_it():
    assert str(THRESHOLD) == f"{THRESHOLD}" == "0.7199(5)"
    assert f"{THRESHOLD:.3f}" == "0.720"
    assert repr(THRESHOLD) == "Estimate(value=0.71987, error=0.00052)"
    assert str(Estimate(1.0, 0.0)) == "1"


def test_it_is_a_number_and_a_pair():
    assert float(THRESHOLD) == THRESHOLD.value == 0.71987
    value, error = THRESHOLD
    assert (value, error) == (0.71987, 0.00052)
    assert numpy.array([THRESHOLD, Estimate(1, 0)], dtype=float).tolist() == [0.71987, 1.0]


def test_comparisons_are_between_values():
    assert THRESHOLD < 1 and THRESHOLD > 0.7 and 0.5 < THRESHOLD
    assert THRESHOLD == 0.71987 and THRESHOLD == Estimate(0.71987, 1.0) and THRESHOLD != 0.72
    assert max(THRESHOLD, Estimate(0.2, 0.0)) is THRESHOLD
    assert (THRESHOLD == "0.72") is False


def test_known_numbers_move_and_scale_it():
    doubled = THRESHOLD * 2
    assert (doubled.value, doubled.error) == (2 * 0.71987, 2 * 0.00052)
    assert (numpy.float64(2) * THRESHOLD).error == 2 * 0.00052
    assert (-2 * THRESHOLD).error == 2 * 0.00052
    assert (1 - THRESHOLD).value == 1 - 0.71987 and (1 - THRESHOLD).error == 0.00052
    assert (THRESHOLD / 2).error == 0.00026


def test_what_would_forget_correlations_is_refused():
    for combine in (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b):
        with pytest.raises(TypeError, match="share integration points"):
            combine(THRESHOLD, Estimate(0.2, 0.1))
    for other in (lambda e: 1 / e, lambda e: e**2, abs):
        with pytest.raises(TypeError, match="known number"):
            other(THRESHOLD)
    with pytest.raises(TypeError):
        THRESHOLD * numpy.array([1.0, 2.0])


def test_it_survives_a_pickle():
    copy = pickle.loads(pickle.dumps(THRESHOLD))
    assert (copy.value, copy.error) == (0.71987, 0.00052)
