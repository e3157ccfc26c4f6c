"""What a verb returns."""

from __future__ import annotations

import warnings

from onset import _html
from onset._estimate import Estimate
from onset._table import Table, _cell


class Unconverged(UserWarning):
    """A result that is not ok: it did not converge, was refused or was stopped. `.result` has it.

    Turn it into an error with warnings.simplefilter("error", onset.Unconverged).
    """

    result = None


class Result(Table):
    """A table of estimates, scalars of the whole, and how it ended.

    `status` is "ok", "unconverged", "refused" or "interrupted", with a `reason`; `summary` has the scalars of the
    whole, `parameters` all effective ones, `artifacts` the arrays and tables that the command would write with
    `--out`, `seconds` how long it took. print(result) shows the table, save(folder) writes what `--out` would.
    """

    def __init__(self, answer):
        content = answer.content()
        super().__init__(content, answer)
        self.parameters = content["parameters"]
        self.summary = {name: _cell(cell) for name, cell in content["summary"].items()}
        self.status = content["status"]
        self.reason = content["reason"]
        self.notes = content["notes"]
        self.seconds = content["seconds"]
        self.artifacts = {path: Table(item) if isinstance(item, dict) else item
                          for path, item in content["artifacts"].items()}

    def save(self, folder):
        """Writes result.csv, manifest.json, the artifacts and the figure into a folder, as `--out` does."""
        problem = self._answer.save(str(folder))
        if problem:
            warnings.warn(f"no figure: {problem}", stacklevel=2)

    def _attributes(self):
        return {"command": self.command, "parameters": self.parameters, "status": self.status, "reason": self.reason}

    def _ending(self):
        return "" if self.status == "ok" else f"{self.status}: {self.reason}"

    def __repr__(self):
        ending = self._ending()
        return super().__repr__()[:-1] + (f", {ending}>" if ending else ">")

    def _repr_html_(self):
        foot = "".join(_html.paragraph(f"{name}: {_text(cell)}", "note") for name, cell in self.summary.items())
        foot += "".join(_html.paragraph(f"note: {note}", "note") for note in self.notes)
        head = _html.paragraph(self._ending(), "status") if self.status != "ok" else ""
        return _html.table(self._names, self._texts(), self.columns, self._numeric_columns(), head, foot)

    def _warn(self, stacklevel):
        """Says once that the result is not ok, where its caller is."""
        if self.status == "ok":
            return
        warning = Unconverged(f"{self.command}: {self._ending()}")
        warning.result = self
        warnings.warn(warning, stacklevel=stacklevel + 1)


def _text(cell):
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return str(cell if not isinstance(cell, float) else Estimate(cell, 0.0))
