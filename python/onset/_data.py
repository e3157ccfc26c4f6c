"""Arrays and results where the command takes folders."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile

import numpy

from onset import _onset
from onset._result import Result


def _write(folder, name, array):
    path = pathlib.Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    numpy.save(path, array)


def _signs(x):
    """Examples of +1 and -1, of whatever type, as the one byte that files have."""
    if not numpy.isin(x, (-1, 1)).all():
        raise _onset.InvalidArgument("X: has numbers that are neither 1 nor -1; allowed: these two, of any type, or real "
                                     "numbers with inputs=\"gaussian\"")
    return x.astype(numpy.int8)


def _checked(name, array, most_dimensions):
    array = numpy.asarray(array)
    if array.dtype.kind not in "biuf" or not 1 <= array.ndim <= most_dimensions:
        raise _onset.InvalidArgument(f"{name}: is an array of {array.dtype} of shape {array.shape}; "
                                     f"allowed: numbers, at most {most_dimensions} dimensions, samples first")
    return array


def _write_data(folder, x, y, truth, family, signs):
    """The files of a folder of data, as docs/smi-amp.md, aim-data.md and mha.md describe them."""
    x, y = _checked("X", x, 3), _checked("Y", y, 4)
    if len(x) != len(y):
        raise _onset.InvalidArgument(f"Y: has {len(y)} samples, but X has {len(x)}; allowed: as many")
    if x.ndim == 2:
        x = x[:, None, :]  # one token
    if y.ndim == 1:
        y = y[:, None]  # one number
    _write(folder, "X.npy", _signs(x) if signs else x.astype(float))
    _write(folder, "Y.npy", y.astype(float))
    if truth is not None:
        name = {"smi": "truth/w.npy", "aim": "truth/S.npy"}.get(family)
        if name is None:
            raise _onset.InvalidArgument("truth: has no meaning for arrays here; allowed: a folder")
        _write(folder, name, numpy.atleast_2d(numpy.asarray(truth, dtype=float)))


class Folders:
    """Gives every folder parameter of a call what the command reads: paths as they are, results saved, arrays
    written. What it wrote is gone when the call is over."""

    def __init__(self, family, parameters):
        self._family = family
        self._parameters = parameters
        self._stack = contextlib.ExitStack()
        self._names = {}  # what a temporary folder stands for

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _new(self, name):
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="onset-"))
        self._names[folder] = name
        return folder

    def place(self, given):
        """The call with paths only."""
        given = dict(given)
        folders = [parameter["name"] for parameter in self._parameters if parameter["folder"]]
        for name in folders:
            if isinstance(given.get(name), Result):
                result = given[name]
                given[name] = self._new(f"<result of {result.command}>")
                result._answer.save_files(given[name])
        if folders and {"X", "Y"} & given.keys():
            self._place_arrays(given, folders[0])
        for parameter in self._parameters:
            if parameter["folder"] and parameter["required"] and given.get(parameter["name"]) is None:
                raise _onset.InvalidArgument(f"{parameter['name']}: required, but not given; allowed: {self._kinds(parameter)}")
        for name, value in given.items():
            if isinstance(value, os.PathLike):
                given[name] = os.fspath(value)
        return given

    def _kinds(self, parameter):
        """What may stand for a folder: arrays only for the first, that of the data."""
        data = next(item["name"] for item in self._parameters if item["folder"])
        return "a folder, a result" + (", or arrays X and Y" if parameter["name"] == data else "")

    def _place_arrays(self, given, folder):
        missing = {"X", "Y"} - given.keys()
        if missing:
            raise _onset.InvalidArgument(f"{missing.pop()}: required with the other array, but not given; "
                                         "allowed: one entry per sample")
        if given.get(folder) is not None:
            raise _onset.InvalidArgument(f"{folder}: is given beside X and Y; allowed: one of the two")
        x, y = given.pop("X"), given.pop("Y")
        takes_truth = any(parameter["name"] == "truth" for parameter in self._parameters)
        truth = None if takes_truth else given.pop("truth", None)
        given[folder] = self._new("<arrays>")
        takes_inputs = any(parameter["name"] == "inputs" for parameter in self._parameters)
        signs = self._family == "mha" and takes_inputs and given.get("inputs") != "gaussian"
        _write_data(given[folder], x, y, truth, self._family, signs)

    def name(self, value):
        """What a path stood for, for people."""
        return self._names.get(value, value)

    def explain_error(self, error):
        """The same error, with arrays instead of the files that they were written to."""
        text = str(error)
        for folder, name in self._names.items():
            text = text.replace(f"{folder}/X.npy", "X").replace(f"{folder}/Y.npy", "Y").replace(folder, name)
        return type(error)(text)
