"""Writes the stubs of the families' modules from the catalogue, so that editors and type checkers know every argument.

Usage: make_stubs.py FOLDER, the folder of the package; onset must be importable from its parent.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve().parent))
sys.dont_write_bytecode = True

from onset import _calls  # noqa: E402

HEAD = '''# Made by python/make_stubs.py from the catalogue of verbs.
from typing import Literal, overload

from onset import Explanation, Link, Result
from onset._types import Array, Folder, Grid, Progress, Reals

'''

TYPES = {"flag": "bool", "integer": "int", "real": "float", "reals": "Reals", "grid": "Grid", "text": "str"}


def type_of(parameter):
    if parameter["folder"]:
        return "Folder"
    if parameter["kind"] == "word":
        kind = f"Literal[{', '.join(repr(word) for word in parameter['words'])}]"
    else:
        kind = TYPES[parameter["kind"]]
    return f"{kind} | Link" if parameter["name"] == "link" else kind


def argument(parameter):
    default = parameter["default"]
    # Arrays may stand for a folder that is required.
    optional = default is None and (not parameter["required"] or parameter["folder"])
    kind = type_of(parameter) + (" | None" if optional else "")
    return f"{parameter['name']}: {kind}" + (" = ..." if optional or default is not None else "")


def arguments(verb, explain):
    operands = [argument(parameter) for parameter in verb["parameters"] if parameter["operand"]]
    named = [argument(parameter) for parameter in verb["parameters"] if not parameter["operand"]]
    named += [f"{name}: Array | None = ..." for name in _calls.array_arguments(verb)]
    named += ["threads: int | None = ...", "max_seconds: float | None = ...", explain, "progress: Progress = ..."]
    return operands + ["*"] + named


def function(verb):
    """Two signatures: a call gives a Result, and with explain=True an Explanation."""
    name = verb["name"].replace("-", "_")
    out = []
    for explain, kind in (("explain: Literal[False] = ...", "Result"), ("explain: Literal[True]", "Explanation")):
        lines = ",\n    ".join(arguments(verb, explain))
        out.append(f"@overload\ndef {name}(\n    {lines},\n) -> {kind}: ...\n")
    return "".join(out)


def main(folder):
    families = {}
    for verb in _calls.VERBS:
        families.setdefault(verb["family"], []).append(function(verb))
    for family, functions in families.items():
        (folder / f"{family}.pyi").write_text(HEAD + "\n".join(functions), encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
