"""A number with its standard error."""

from __future__ import annotations

import numbers

from onset import _onset

_NO_ARITHMETIC = (
    "an Estimate cannot be combined with another one: numbers of Onset share integration points, so that their "
    "errors are correlated and do not add up; take .value (or float) and judge the error of the result yourself")


class Estimate:
    """A number and its standard error; an error of 0 means exact to rounding, NaN that it is not known.

    float(e) is the value, str(e) writes 0.7199(5), and format specifications such as f"{e:.3f}" are for the value.
    Comparisons are between values. A known number may be added or multiplied, which moves or scales value and error
    alike; two estimates cannot be combined, since their errors are not independent.
    """

    __slots__ = ("_value", "_error")
    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to this class, which knows when to refuse it

    def __init__(self, value, error):
        self._value = float(value)
        self._error = float(error)

    @property
    def value(self):
        return self._value

    @property
    def error(self):
        """The standard error."""
        return self._error

    def __float__(self):
        return self._value

    def __bool__(self):
        return bool(self._value)

    def __iter__(self):
        """For `value, error = estimate`."""
        return iter((self._value, self._error))

    def __reduce__(self):
        return Estimate, (self._value, self._error)

    def __repr__(self):
        return f"Estimate(value={self._value!r}, error={self._error!r})"

    def __str__(self):
        return _onset.concise(self._value, self._error)

    def __format__(self, specification):
        return format(self._value, specification) if specification else str(self)

    def _compare(self, other, relation):
        if isinstance(other, Estimate):
            other = other._value
        return relation(self._value, other) if isinstance(other, numbers.Real) else NotImplemented

    def __eq__(self, other):
        return self._compare(other, float.__eq__)

    def __lt__(self, other):
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other):
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._compare(other, lambda a, b: a >= b)

    def __hash__(self):
        return hash(self._value)

    def __neg__(self):
        return Estimate(-self._value, self._error)

    def __pos__(self):
        return self

    def __add__(self, number):
        return Estimate(self._value + _known(number), self._error)

    __radd__ = __add__

    def __sub__(self, number):
        return Estimate(self._value - _known(number), self._error)

    def __rsub__(self, number):
        return Estimate(_known(number) - self._value, self._error)

    def __mul__(self, number):
        factor = _known(number)
        return Estimate(self._value * factor, self._error * abs(factor))

    __rmul__ = __mul__

    def __truediv__(self, number):
        divisor = _known(number)
        return Estimate(self._value / divisor, self._error / abs(divisor))

    def _refuse(self, other=None):
        raise TypeError(_NO_ARITHMETIC if isinstance(other, Estimate) else
                        "only sums with and multiples by a known number keep an error what it is; "
                        "take .value (or float) and judge the error of the result yourself")

    __rtruediv__ = __pow__ = __rpow__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse

    def __abs__(self):
        self._refuse()


def _known(number):
    """A number that is known, as a float; anything else is refused."""
    if isinstance(number, Estimate):
        raise TypeError(_NO_ARITHMETIC)
    if not isinstance(number, numbers.Real):
        raise TypeError(f"an Estimate takes part in sums with and multiples by a number, not a {type(number).__name__}")
    return float(number)
