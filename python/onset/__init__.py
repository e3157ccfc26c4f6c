"""Onset: where attention models start to learn, how well they can, and which algorithms get there.

    >>> import onset
    >>> result = onset.smi.thresholds(layers=2, tokens=2, skip=1)
    >>> result["alpha"], result.error("alpha")

Every verb of the command `onset` is a function of its family; `help(onset.smi.thresholds)` says what it takes
and what its columns mean. Parameters are those of the command with underscores for hyphens; grids are lists,
arrays or texts such as "0.1:1.2:0.1". Every number has its standard error.
"""

import inspect
import types
from typing import NamedTuple

import numpy

from onset import _onset
from onset._onset import InvalidArgument, IoError

__version__ = _onset.version
__all__ = ["Estimate", "InvalidArgument", "IoError", "Result", "run", "verbs"]


class Estimate(NamedTuple):
    """A number and its standard error; 0 means exact to rounding."""

    value: float
    error: float

    def __float__(self):
        return self.value


def _cell(cell):
    return Estimate(*cell) if isinstance(cell, tuple) else cell


def _array(cells):
    """Numbers as an array, no value as NaN; anything else as it is."""
    if any(isinstance(cell, str) for cell in cells):
        return numpy.array([cell if cell is not None else "" for cell in cells], dtype=object)
    if any(cell is None for cell in cells):
        cells = [numpy.nan if cell is None else cell for cell in cells]
    return numpy.array(cells)


class Result:
    """What a verb returns: a table of estimates, scalars of the whole, and how it ended."""

    def __init__(self, content):
        self._names = [column[0] for column in content["columns"]]
        self.columns = {name: meaning for name, meaning, _, _ in content["columns"]}
        self._cells = [[_cell(cell) for cell in row] for row in content["rows"]]
        self.parameters = content["parameters"]
        self.summary = {name: _cell(cell) for name, cell in content["summary"].items()}
        self.status = content["status"]
        self.reason = content["reason"]
        self.notes = content["notes"]
        self.artifacts = content["artifacts"]

    @property
    def rows(self):
        """The rows as dictionaries; estimates are pairs (value, error)."""
        return [dict(zip(self._names, row)) for row in self._cells]

    def _column(self, name):
        if name not in self._names:
            raise KeyError(f"no column {name!r}; there are {', '.join(self._names)}")
        at = self._names.index(name)
        return [row[at] for row in self._cells]

    def __getitem__(self, name):
        """The values of a column as an array."""
        return _array([cell.value if isinstance(cell, Estimate) else cell for cell in self._column(name)])

    def error(self, name):
        """The standard errors of a column as an array; 0 for what was given, not computed."""
        return _array([cell.error if isinstance(cell, Estimate) else 0.0 for cell in self._column(name)])

    def __len__(self):
        return len(self._cells)

    def __repr__(self):
        ending = "" if self.status == "ok" else f", {self.status}: {self.reason}"
        return f"<onset.Result: {len(self)} rows of {', '.join(self._names)}{ending}>"


def _plain(value):
    """Arrays, tuples and ranges as lists, NumPy's scalars as Python's."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return value.tolist()
    if isinstance(value, (tuple, range)):
        return list(value)
    return value


def run(command, *, threads=None, max_seconds=None, **parameters):
    """Runs a verb by its full name, say run("smi curve", alpha=[0.5, 1.0])."""
    family, _, name = command.partition(" ")
    given = {key: _plain(value) for key, value in parameters.items()}
    return Result(_onset.run(family, name, given, threads, max_seconds))


def verbs():
    """The full names of all verbs."""
    return [f"{verb['family']} {verb['name']}" for verb in _onset.verbs()]


def _document(verb):
    lines = [verb["summary"][0].upper() + verb["summary"][1:] + ".", "", verb["details"], "", "Parameters:"]
    for parameter in verb["parameters"]:
        default = "required" if parameter["required"] else f"default {parameter['default']}"
        lines.append(f"  {parameter['name'].replace('-', '_')}: {parameter['text']} "
                     f"Allowed: {parameter['allowed']}; {default}.")
    lines += ["", "Columns:"]
    lines += [f"  {name}: {meaning}" for name, meaning, _, _ in verb["columns"]]
    return "\n".join(lines)


def _function(verb):
    command = f"{verb['family']} {verb['name']}"

    def call(**parameters):
        return run(command, **parameters)

    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = [inspect.Parameter(parameter["name"].replace("-", "_"), keyword,
                                   default=inspect.Parameter.empty if parameter["required"]
                                   else parameter["default"])
                 for parameter in verb["parameters"]]
    signature += [inspect.Parameter(name, keyword, default=None) for name in ("threads", "max_seconds")]
    call.__name__ = verb["name"].replace("-", "_")
    call.__qualname__ = f"{verb['family']}.{call.__name__}"
    call.__doc__ = _document(verb)
    call.__signature__ = inspect.Signature(signature, return_annotation=Result)
    return call


for _verb in _onset.verbs():
    if _verb["family"] not in globals():
        globals()[_verb["family"]] = types.SimpleNamespace()
        __all__.append(_verb["family"])
    setattr(globals()[_verb["family"]], _verb["name"].replace("-", "_"), _function(_verb))
del _verb
