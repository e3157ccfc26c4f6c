"""Figures of papers."""

from __future__ import annotations

import os
import pathlib
import tempfile
import warnings

from onset import _onset
from onset._progress import Progress
from onset._result import Unconverged
from onset._table import Table


def _figure_folder():
    """Where the figure files are: ONSET_DATA, beside this module (a wheel), or where they were built or installed."""
    here = pathlib.Path(__file__).resolve().parent
    places = [pathlib.Path(os.environ["ONSET_DATA"])] if "ONSET_DATA" in os.environ else [here / "share"]
    if "ONSET_DATA" not in os.environ:
        places += [parent / "share" / "onset" for parent in here.parents[1:5]]
    for place in places:
        if (place / "figures").is_dir():
            return place / "figures"
    raise _onset.IoError("share/onset: the figure files were not found; set ONSET_DATA to their folder")


def figures():
    """The names of all figures and what they show."""
    return dict(_onset.figures(str(_figure_folder())))


class Figure:
    """A figure that has been computed: `data` has the rows of every run, plot() draws it with Matplotlib, and
    save(folder) writes data and pictures as the command does."""

    def __init__(self, figure):
        self._figure = figure
        self.id, self.title, self.caption = figure.id, figure.title, figure.caption
        self.status, self.reason = figure.status, figure.reason
        self.data = {name: Table(answer.content(), answer) for name, answer in figure.data().items()}

    def plot(self):
        from onset import _plot

        return _plot.draw(self._figure.drawing())

    def save(self, folder):
        problem = self._figure.save(str(folder))
        if problem:
            warnings.warn(f"no pictures: {problem}", stacklevel=2)

    def __repr__(self):
        return f"<onset.Figure {self.id}: {self.title}>"


def figure(name, *, quick=False, full=False, as_published=False, seed=1, out=None, threads=None, max_seconds=None,
           progress=None):
    """Computes a figure by its name (see figures()) or from a file of one's own.

    With `out`, what is computed is kept in a store there, so that an interrupted figure goes on, and data and
    pictures are written; without, everything is in the object that is returned.
    """
    if quick and full:
        raise _onset.InvalidArgument("full: is the opposite of quick; allowed: one of them")
    try:
        found = _onset.Figure(os.fspath(name), str(_figure_folder()), quick, full, as_published, seed)
    except _onset.InvalidArgument as error:
        raise _onset.InvalidArgument(str(error).replace("`onset figure list` names", "onset.figures() names")) from None
    with tempfile.TemporaryDirectory(prefix="onset-") as temporary, Progress(f"figure {found.id}", progress) as shown:
        folder = pathlib.Path(temporary if out is None else out)
        folder.mkdir(parents=True, exist_ok=True)
        found.compute(str(folder / found.store_name()), threads, max_seconds, shown.function)
    done = Figure(found)
    if done.status != "ok":
        warnings.warn(Unconverged(f"figure {done.id}: {done.status}: {done.reason}"), stacklevel=2)
    if out is not None:
        done.save(out)
    return done
