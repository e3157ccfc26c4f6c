"""Studies and their stores."""

from __future__ import annotations

import os
import pathlib

import numpy

from onset import _onset
from onset._progress import Progress
from onset._table import Table


def _toml(value):
    """A value of a study as a study file writes it."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple, range)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{text}"'
    raise _onset.InvalidArgument(f"{value!r}: cannot be part of a study; allowed: numbers, texts, truths and lists")


def _study_text(spec):
    """The study file that says what a dictionary says."""
    lines = [f"{key} = {_toml(value)}" for key, value in spec.items() if not isinstance(value, dict)]
    for key, values in spec.items():
        if isinstance(values, dict):
            lines.append(f"\n[{key}]")
            lines += [f"{name.replace('_', '-')} = {_toml(value)}" for name, value in values.items()]
    return "\n".join(lines) + "\n"


class Store:
    """A store of finished studies, read only: what `onset sweep` and Study.run() write."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.studies = list(_onset.names_of_studies(str(self.path)))

    def table(self, study=""):
        """The rows of a study, or of the only one."""
        answer = _onset.read_rows(str(self.path), study)
        return Table(answer.content(), answer)

    def status(self, study=""):
        """How many points there are, and how many ended how."""
        return dict(_onset.status_in_store(str(self.path), study))

    def to_pandas(self, study=""):
        return self.table(study).to_pandas()

    def to_xarray(self, study=""):
        return self.table(study).to_xarray()

    def plot(self, study=""):
        return self.table(study).plot()

    def __repr__(self):
        return f"<onset.Store {self.path}: {', '.join(self.studies) or 'no studies'}>"


def open_store(path):
    """Opens a store for reading."""
    return Store(path)


class Study:
    """One verb at every point of a grid, kept in a store.

    `spec` is a study file (docs/studies.md) or a dictionary with its keys:

        Study({"command": "smi thresholds", "fixed": {"layers": 2}, "axes": {"skip": [0.5, 1.0, 2.0]}})

    What run() has computed is in `store` and is not computed again, also after an interruption. The store is
    NAME.db unless given; a dictionary's name is its "name", or "study".
    """

    def __init__(self, spec, store=None):
        if isinstance(spec, dict):
            spec = dict(spec)
            name = spec.pop("name", "study")
            text, file = _study_text(spec), f"{name}.toml"
        else:
            file = os.fspath(spec)
            text = pathlib.Path(file).read_text(encoding="utf-8")
        self._study = _onset.Study(text, file)
        self.name = self._study.name
        self.command = self._study.command
        self.core_seconds = self._study.core_seconds
        self.store = pathlib.Path(store if store is not None else f"{self.name}.db")

    def run(self, *, threads=None, max_seconds=None, retry=False, progress=None):
        """Computes what is missing (with `retry` also what did not converge); returns status()."""
        with Progress(f"study {self.name}", progress) as shown:
            shown.announce(self.core_seconds)
            return dict(self._study.run(str(self.store), retry, threads, max_seconds, shown.function))

    def status(self):
        """How many points there are, and how many ended how."""
        return dict(self._study.status(str(self.store)))

    def table(self):
        """The rows of all finished points."""
        answer = _onset.read_rows(str(self.store), self.name)
        return Table(answer.content(), answer)

    def to_pandas(self):
        return self.table().to_pandas()

    def to_xarray(self):
        return self.table().to_xarray()

    def plot(self):
        return self.table().plot()

    def __repr__(self):
        status = self.status()
        return (f"<onset.Study {self.name}: {self.command}, {status['points'] - status['missing']} of "
                f"{status['points']} points in {self.store}>")
