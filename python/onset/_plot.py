"""What the command draws with gnuplot, drawn with Matplotlib: the same curves, bands, colours and words."""

from __future__ import annotations

import re

import numpy

from onset._progress import in_notebook
from onset._table import _needed

_MARKS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D"}
_PANEL_INCHES = (4.8, 3.8)
_FONT_SIZE = 10
# The letters of the font Symbol.
_GREEK = str.maketrans("abcdefghiklmnopqrstuwxyzDFGLPQSW",
                       "\u03b1\u03b2\u03c7\u03b4\u03b5\u03c6\u03b3\u03b7\u03b9\u03ba\u03bb\u03bc\u03bd\u03bf\u03c0\u03b8\u03c1"
                       "\u03c3\u03c4\u03c5\u03c9\u03be\u03c8\u03b6\u0394\u03a6\u0393\u039b\u03a0\u0398\u03a3\u03a9")
# As in the gnuplot figures, errors are bands of lines and bars of marks.
_LINE_WIDTH = {"line": 1.8, "dashed": 1.8, "joined": 1.0, "points": 0.0}


def _text(label):
    """gnuplot's markup (Q_{11}, 10^{-3}, {/Symbol a}, escapes) as Matplotlib's."""
    out, at = "", 0
    while at < len(label):
        character = label[at]
        if character == "\\" and at + 1 < len(label):
            out += _escaped(label[at + 1])
            at += 2
        elif character in "_^":
            inner = re.match(r"\{([^{}]*)\}|(.)", label[at + 1:])
            word = (inner.group(1) or inner.group(2) or "") if inner else ""
            out += rf"$\mathregular{{{character}{{{word}}}}}$" if word else _escaped(character)
            at += 1 + (inner.end() if inner else 0)
        else:
            symbol = re.match(r"\{/Symbol ([^{}]*)\}", label[at:])
            out += symbol.group(1).translate(_GREEK) if symbol else ("" if character in "{}" else _escaped(character))
            at += symbol.end() if symbol else 1
    return out


def _escaped(character):
    return "\\$" if character == "$" else character


def _draw_curve(axes, curve, drawing):
    x, y, error = (numpy.array(curve[name], dtype=float) for name in ("x", "y", "error"))
    style, colour = curve["style"], curve["colour"]
    error = numpy.where(numpy.isfinite(error), error, 0.0)
    label = _text(curve["label"]) or None
    lines = style in ("line", "dashed")
    axes.plot(x, y, color=colour, label=label, linewidth=_LINE_WIDTH[style],
              linestyle={"dashed": "--", "points": "none"}.get(style, "-"),
              marker="" if lines else _MARKS[curve["mark"]], markersize=5,
              markerfacecolor="white" if curve["hollow"] else colour)
    if lines:
        axes.fill_between(x, y - error, y + error, color=colour, alpha=drawing["band_opacity"], linewidth=0)
    elif error.any():
        axes.errorbar(x, y, yerr=error, color=colour, fmt="none", capsize=2, linewidth=1)


def _draw_guide(axes, horizontal, at, label, colour):
    line = axes.axhline if horizontal else axes.axvline
    line(at, color=colour, linestyle=":", linewidth=1, zorder=0)
    place = (1, at) if horizontal else (at, 1)
    transform = axes.get_yaxis_transform() if horizontal else axes.get_xaxis_transform()
    axes.text(*place, _text(label), transform=transform, color=colour, fontsize=0.78 * _FONT_SIZE,
              ha="right" if horizontal else "center", va="bottom")


def _edges(values):
    """The borders of the cells around values, which need not be evenly spaced."""
    values = numpy.array(values, dtype=float)
    if len(values) == 1:
        return values[0] + numpy.array([-0.5, 0.5])
    middles = (values[1:] + values[:-1]) / 2
    return numpy.concatenate([[2 * values[0] - middles[0]], middles, [2 * values[-1] - middles[-1]]])


def _draw_map(figure, axes, shades, drawing):
    colours = _needed("matplotlib.colors", "plot()")
    z = numpy.array(shades["z"], dtype=float).reshape(len(shades["x"]), len(shades["y"])).T
    words = shades["words"]
    if words:
        scale = colours.ListedColormap([drawing["areas"][k % len(drawing["areas"])] for k in range(len(words))])
        norm = colours.BoundaryNorm(numpy.arange(len(words) + 1) - 0.5, len(words))
    else:
        scale = colours.LinearSegmentedColormap.from_list("onset", drawing["shades"])
        limits = {"vmin": shades["min"], "vmax": shades["max"]}
        norm = colours.LogNorm(**limits) if shades["log"] else colours.Normalize(**limits)
    mesh = axes.pcolormesh(_edges(shades["x"]), _edges(shades["y"]), z, cmap=scale, norm=norm)
    bar = figure.colorbar(mesh, ax=axes, label="" if words else _text(shades["label"]))
    if words:
        bar.set_ticks(range(len(words)), labels=words)
    levels = shades["contours"] or shades["contour_count"]
    if levels and not words:
        axes.contour(shades["x"], shades["y"], z, levels=levels, colors="white", linewidths=0.8)


def _draw_panel(figure, axes, panel, drawing):
    if panel["shades"]:
        _draw_map(figure, axes, panel["shades"], drawing)
    for curve in panel["curves"]:
        _draw_curve(axes, curve, drawing)
    for horizontal, at, label in panel["guides"]:
        _draw_guide(axes, horizontal, at, label, drawing["guide_colour"])
    for name in ("x", "y"):
        axis = panel[name]
        getattr(axes, f"set_{name}label")(_text(axis["label"]))
        if axis["log"]:
            getattr(axes, f"set_{name}scale")("log")
        getattr(axes, f"set_{name}lim")(axis["min"], axis["max"])
    axes.set_title(_text(panel["title"]), fontsize=_FONT_SIZE)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(drawing["axis_colour"])
    _add_key(axes, panel)


def _add_key(axes, panel):
    handles, labels = axes.get_legend_handles_labels()
    if not labels or panel["key"] == "none" or (len(labels) == 1 and len(panel["curves"]) == 1):
        return
    if panel["key"] == "below":
        longest = max(map(len, labels))
        columns = 1 if longest > 20 else 2 if longest > 10 else 3
        axes.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncol=min(columns, len(labels)),
                    frameon=False)
    else:
        vertical, _, horizontal = panel["key"].partition(" ")
        place = {"top": "upper", "bottom": "lower"}.get(vertical, "center")
        axes.legend(handles, labels, loc=f"{place} {horizontal or 'right'}", frameon=False)


def draw(drawing):
    """A Matplotlib figure, one panel beside the other."""
    pyplot = _needed("matplotlib.pyplot", "plot()")
    panels = drawing["panels"]
    columns = min(len(panels), 2 if in_notebook() else 3)  # a cell is about as wide as two panels
    rows = -(-len(panels) // columns)
    style = {"font.size": _FONT_SIZE, "text.color": drawing["text_colour"], "axes.labelcolor": drawing["text_colour"],
             "axes.formatter.useoffset": False}
    # Loads the backend: loaded within the context, it would lose its settings at the end, and a notebook would no longer
    # show other figures.
    pyplot.draw_if_interactive()
    with pyplot.rc_context(style):
        figure, grid = pyplot.subplots(rows, columns, squeeze=False, constrained_layout=True,
                                       figsize=(_PANEL_INCHES[0] * columns, _PANEL_INCHES[1] * rows))
        for axes, panel in zip(grid.flat, panels):
            _draw_panel(figure, axes, panel, drawing)
        for axes in grid.flat[len(panels):]:
            axes.set_visible(False)
    if in_notebook():
        pyplot.close(figure)  # a cell shows what it returns; left open, the figure would be shown twice
    return figure
