"""Tables of estimates, as Python people use them."""

from __future__ import annotations

import shutil

import numpy

from onset import _html, _onset
from onset._estimate import Estimate

_MOST_ROWS = 45  # of a longer table print() shows head and tail, as the command does


def _needed(module, what):
    """An optional module, or a sentence on how to get it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{what} needs {package} (on Debian: apt-get install python3-{package})") from error


class _NoColumn(KeyError):
    """A KeyError whose text is a sentence, not a quoted one."""

    def __str__(self):
        return self.args[0]


def _cell(cell):
    return Estimate(*cell) if isinstance(cell, tuple) else cell


def _array(cells):
    """Numbers as an array, no value as NaN; texts, and truths of which one is missing, as objects."""
    missing = any(cell is None for cell in cells)
    if any(isinstance(cell, str) for cell in cells) or (missing and any(isinstance(cell, bool) for cell in cells)):
        return numpy.array(cells, dtype=object)
    if missing:
        return numpy.array([numpy.nan if cell is None else cell for cell in cells], dtype=float)
    return numpy.array(cells)


class Table:
    """Named columns of numbers, each computed one with its standard error.

    `table["alpha"]` is a column as an array, `table.error("alpha")` its standard errors, `table.rows` a list of
    dictionaries. to_pandas(), to_xarray() and plot() need pandas, xarray and Matplotlib; nothing else does.
    """

    def __init__(self, content, answer=None):
        self._answer = answer
        self._names = [column[0] for column in content["columns"]]
        self._units = {name: unit for name, _, unit, _ in content["columns"]}
        self._estimates = {name for name, _, _, estimate in content["columns"] if estimate}
        self._cells = [[_cell(cell) for cell in row] for row in content["rows"]]
        self.columns = {name: meaning for name, meaning, _, _ in content["columns"]}
        self.command = content.get("command", "")

    @property
    def rows(self):
        """The rows as dictionaries; computed numbers are Estimates."""
        return [dict(zip(self._names, row)) for row in self._cells]

    @property
    def units(self):
        """The unit of every column; empty where there is none."""
        return dict(self._units)

    def _column(self, name):
        if name not in self._names:
            hint = _onset.suggestion(str(name), self._names)
            raise _NoColumn(f"no column {name!r}; there are {', '.join(self._names)}{hint}")
        at = self._names.index(name)
        return [row[at] for row in self._cells]

    def __getitem__(self, name):
        """The values of a column as an array; NaN where there is none."""
        return _array([cell.value if isinstance(cell, Estimate) else cell for cell in self._column(name)])

    def error(self, name):
        """The standard errors of a column as an array: 0 where exact to rounding, NaN where there is no value or
        its error is not known. Columns that were not computed have none."""
        cells = self._column(name)
        if name not in self._estimates:
            known = ", ".join(column for column in self._names if column in self._estimates)
            raise _onset.InvalidArgument(f"{name}: this column has no errors; those that have: {known or 'none'}")
        errors = [cell.error if isinstance(cell, Estimate) else (numpy.nan if cell is None else 0.0) for cell in cells]
        values = numpy.array([numpy.nan if cell is None else float(cell) for cell in cells])
        return numpy.where(numpy.isnan(values), numpy.nan, errors)

    def __len__(self):
        return len(self._cells)

    def __iter__(self):
        return iter(self.rows)

    def _ipython_key_completions_(self):
        return self._names

    def to_pandas(self):
        """A data frame: every computed column is followed by its errors, as `alpha` by `alpha_err`."""
        pandas = _needed("pandas", "to_pandas()")
        data = {}
        for name in self._names:
            data[name] = self[name]
            if name in self._estimates:
                data[f"{name}_err"] = self.error(name)
        frame = pandas.DataFrame(data)
        frame.attrs.update(self._attributes())
        return frame

    def _attributes(self):
        return {"command": self.command}

    def _grid(self):
        """The leading columns whose combinations are the rows: the dimensions of an array. None: there are none."""
        leading = []
        for name in self._names:
            if name in self._estimates:
                break
            leading.append(name)
        candidates = [name for name in leading if len(set(self._column(name))) > 1]
        for count in range(1, len(candidates) + 1):
            names = candidates[:count]
            points = set(zip(*(self._column(name) for name in names)))
            sizes = numpy.prod([len(set(self._column(name))) for name in names])
            if len(points) == len(self) == sizes and None not in set().union(*points):
                return names
        return None

    def to_xarray(self):
        """A dataset over the grid of the rows (say alpha), or over `row` where they are none; errors are `x_err`."""
        xarray = _needed("xarray", "to_xarray()")
        grid = self._grid()
        if grid is None:
            dimensions, coordinates = ["row"], {"row": numpy.arange(len(self))}
        else:
            dimensions, coordinates = grid, {name: list(dict.fromkeys(self._column(name))) for name in grid}
        shape = tuple(len(values) for values in coordinates.values())
        place = numpy.arange(len(self)) if grid is None else numpy.ravel_multi_index(
            [[coordinates[name].index(cell) for cell in self._column(name)] for name in grid], shape)
        variables = {}

        def add(name, column, values):
            ordered = numpy.empty(len(self), dtype=values.dtype)
            ordered[place] = values
            attributes = {"long_name": self.columns[column], "units": self._units[column]}
            variables[name] = (dimensions, ordered.reshape(shape), {k: v for k, v in attributes.items() if v})

        for name in self._names:
            if name in coordinates:
                continue
            add(name, name, self[name])
            if name in self._estimates:
                add(f"{name}_err", name, self.error(name))
        attributes = {key: str(value) for key, value in self._attributes().items()}
        dataset = xarray.Dataset(variables, coordinates, attributes)
        for name in grid or []:
            dataset[name].attrs["long_name"] = self.columns[name]
        return dataset

    def plot(self):
        """Draws with Matplotlib what the command draws with `--out`; returns the figure."""
        from onset import _plot

        drawing = self._answer.drawing() if self._answer else None
        if drawing is None:
            raise ValueError("there is nothing to draw these rows against: no column of them is a grid of numbers")
        return _plot.draw(drawing)

    def _texts(self):
        """The cells as people read them."""
        def text(cell):
            if cell is None:
                return "-"
            if isinstance(cell, bool):
                return "yes" if cell else "no"
            return _onset.concise(cell, 0.0) if isinstance(cell, float) else str(cell)

        return [[text(cell) for cell in row] for row in self._cells]

    def __str__(self):
        width = shutil.get_terminal_size().columns
        return self._answer.text(width, _MOST_ROWS).rstrip("\n") if self._answer else repr(self)

    def __repr__(self):
        return f"<onset.{type(self).__name__}: {len(self)} rows of {', '.join(self._names)}>"

    def _repr_html_(self):
        return _html.table(self._names, self._texts(), self.columns, self._numeric_columns())

    def _numeric_columns(self):
        return [not any(isinstance(row[at], str) for row in self._cells) for at in range(len(self._names))]
