"""Functions made from the catalogue of verbs: their signatures, help, and how a call becomes a run."""

from __future__ import annotations

import inspect
import shutil
import sys
import textwrap
import types

import numpy

from onset import _onset
from onset._data import Folders
from onset._link import Link
from onset._progress import Progress
from onset._result import Result

VERBS = _onset.verbs()
# Arguments that every function takes besides the parameters of its verb.
COMMON = {"threads": "int | None", "max_seconds": "float | None", "explain": "bool", "progress": "Progress"}
_COMMON_HELP = {
    "threads": "Worker threads; the numbers are the same for any value.",
    "max_seconds": "Stop after this time with the rows finished so far.",
    "explain": "Return method and estimated cost; run nothing.",
    "progress": "True, False, or a function of the fraction done and what is being done; by default there is a bar "
                "in terminals and notebooks.",
}


_MOST_ITEMS = 8


def _brief(value):
    """A parameter as the command shows it: 1 and not 1.0, lists with commas, of a long one its ends."""
    if isinstance(value, list) and len(value) > _MOST_ITEMS:
        return f"{_brief(value[:2])},..,{_brief(value[-1])} ({len(value)} values)"
    if isinstance(value, list):
        return ",".join(map(_brief, value))
    return f"{value:.15g}" if isinstance(value, float) else str(value)


class Explanation:
    """What a run will do and cost, said before it starts."""

    def __init__(self, command, content):
        self.command = command
        self.method = content["method"]
        self.core_seconds = content["core_seconds"]
        self.memory_bytes = content["memory_bytes"]
        self.caution = content["caution"]
        self.parameters = content["parameters"]

    def __str__(self):
        width = shutil.get_terminal_size().columns
        lines = [textwrap.fill(f"{self.command}: {self.method}", width), "", "Parameters"]
        lines += [f"  {name:<18}  {_brief(value)}" for name, value in self.parameters.items() if value is not None]
        lines += ["", textwrap.fill(self.caution, width)] if self.caution else []
        return "\n".join(lines + ["", f"Estimated cost: {self.core_seconds:.2g} core-seconds, "
                                      f"{self.memory_bytes / 2**20:.2g} MiB. Nothing was computed."])

    __repr__ = __str__


def takes_arrays(verb):
    """Whether X= and Y= may stand for the verb's folder of data."""
    return any(parameter["folder"] for parameter in verb["parameters"])


def takes_link(verb):
    """Whether a link of one's own may stand for a named one."""
    return any(parameter["name"] == "link" for parameter in verb["parameters"])


def array_arguments(verb):
    """X and Y, and the truth of arrays where no folder of that name is asked for."""
    if not takes_arrays(verb):
        return []
    has_truth = any(parameter["name"] == "truth" for parameter in verb["parameters"])
    return ["X", "Y"] + ([] if has_truth or verb["family"] == "mha" else ["truth"])


def _plain(value):
    """Arrays, tuples and ranges as lists, NumPy's scalars as Python's."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return value.tolist()
    if isinstance(value, (tuple, range)):
        return list(value)
    return value


def _check_names(verb, given):
    """Refuses arguments that the function has not, naming the nearest one."""
    known = [parameter["name"] for parameter in verb["parameters"]] + array_arguments(verb)
    for name in given:
        if name not in known:
            raise _onset.InvalidArgument(f"{name}: no such field; allowed: {', '.join(known + list(COMMON))}"
                                         f"{_onset.suggestion(name, known + list(COMMON))}")


def _verb(command):
    for verb in VERBS:
        if command == f"{verb['family']} {verb['name']}":
            return verb
    names = [f"{verb['family']} {verb['name']}" for verb in VERBS]
    raise _onset.InvalidArgument(f"{command}: no such verb; allowed: {', '.join(names)}"
                                 f"{_onset.suggestion(command, names)}")


def call(verb, given, threads=None, max_seconds=None, explain=False, progress=None, stacklevel=2):
    """Runs a verb, or explains it."""
    _check_names(verb, given)
    family, name = verb["family"], verb["name"]
    command = f"{family} {name}"
    link = given["link"] if isinstance(given.get("link"), Link) else None
    if link:
        given = {key: value for key, value in given.items() if key != "link"}
    with Folders(family, verb["parameters"]) as folders, Progress(command, progress) as shown:
        try:
            values = {key: _plain(value) for key, value in folders.place(given).items()}
            own = link and link._own
            content = _onset.explain(family, name, values, own) if explain or shown.watched else None
            if explain:
                return Explanation(command, content)
            if content:
                shown.announce(content["core_seconds"], content["memory_bytes"], content["caution"])
            answer = _onset.run(family, name, values, own, threads, max_seconds, shown.function)
            if link and link._coarse:
                answer.widen(_onset.run(family, name, values, link._coarse, threads, max_seconds, shown.function))
            result = Result(answer)
        except (_onset.IoError, _onset.InvalidArgument) as error:
            raise folders.explain_error(error) from None
        result.parameters = {key: folders.name(value) if isinstance(value, str) else value
                             for key, value in result.parameters.items()}
        if link:
            result.parameters["link"] = repr(link)
    result._warn(stacklevel)
    return result


def run(command, *, threads=None, max_seconds=None, explain=False, progress=None, **parameters):
    """Runs a verb by its full name, say run("smi curve", alpha=[0.5, 1.0])."""
    return call(_verb(command), parameters, threads, max_seconds, explain, progress, stacklevel=3)


def verbs():
    """The full names of all verbs."""
    return [f"{verb['family']} {verb['name']}" for verb in VERBS]


def _document(verb):
    lines = [verb["summary"][0].upper() + verb["summary"][1:] + ".", "", verb["details"], "", "Parameters:"]
    for parameter in verb["parameters"]:
        default = "required" if parameter["required"] else f"default {parameter['default']}"
        lines.append(f"  {parameter['name']}: {parameter['text']} Allowed: {parameter['allowed']}; {default}.")
    if takes_arrays(verb):
        folder = next(parameter["name"] for parameter in verb["parameters"] if parameter["folder"])
        lines.append(f"  X, Y: Arrays of data instead of the folder `{folder}`, samples first.")
    lines += [f"  {name}: {text}" for name, text in _COMMON_HELP.items()]
    for when, columns in verb["rows"]:
        lines += ["", f"Columns {when}:" if when else "Columns:"]
        lines += [f"  {name}: {meaning}" for name, meaning, _, _ in columns]
    return "\n".join(lines)


def _signature(verb):
    operands, others = [], []
    for parameter in verb["parameters"]:
        # Arrays may stand for a required folder, so that nothing is required by Python itself.
        required = parameter["required"] and not parameter["folder"]
        default = inspect.Parameter.empty if required and not parameter["operand"] else parameter["default"]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if parameter["operand"] else inspect.Parameter.KEYWORD_ONLY
        entry = inspect.Parameter(parameter["name"], kind, default=default)
        (operands if parameter["operand"] else others).append(entry)
    others += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in array_arguments(verb)]
    others += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False if name == "explain" else None)
               for name in COMMON]
    return inspect.Signature(operands + others, return_annotation=Result)


def _function(verb):
    operands = [parameter["name"] for parameter in verb["parameters"] if parameter["operand"]]
    name = verb["name"].replace("-", "_")

    def function(*words, threads=None, max_seconds=None, explain=False, progress=None, **given):
        if len(words) > len(operands):
            allowed = f"{', '.join(operands)} without its name" if operands else "names for all, as in tokens=2"
            raise TypeError(f"{verb['family']}.{name}() was given {len(words)} values without a name; "
                            f"allowed: {allowed}")
        for operand, word in zip(operands, words):
            if operand in given:
                raise TypeError(f"{operand} is given twice; allowed: once")
            given[operand] = word
        return call(verb, given, threads, max_seconds, explain, progress, stacklevel=3)

    function.__name__ = name
    function.__qualname__ = name
    function.__module__ = f"onset.{verb['family']}"
    function.__doc__ = _document(verb)
    function.__signature__ = _signature(verb)
    return function


def families():
    """A module for every family, with a function for every verb."""
    modules = {}
    for verb in VERBS:
        family = verb["family"]
        if family not in modules:
            modules[family] = types.ModuleType(f"onset.{family}", f"The verbs of the family {family}.")
            modules[family].__all__ = []
            sys.modules[f"onset.{family}"] = modules[family]
        function = _function(verb)
        setattr(modules[family], function.__name__, function)
        modules[family].__all__.append(function.__name__)
    for family, module in modules.items():
        module.__getattr__ = _missing(f"onset.{family}", module.__all__)
    return modules


def _missing(module, names):
    """What a module says of a name that it has not."""
    def refuse(name):
        hint = "" if name.startswith("__") else f"; there are {', '.join(names)}{_onset.suggestion(name, names)}"
        raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")

    return refuse
