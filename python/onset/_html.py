"""Tables for notebooks. Colours are those of the page, so that they suit dark themes too."""

from __future__ import annotations

from html import escape

# Rows that a notebook shows: all of a short table, head and tail of a long one.
_MOST_ROWS = 24
_HEAD, _TAIL = 12, 6

_STYLE = """<style scoped>
.onset table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.onset th { text-align: left; border-bottom: 1px solid; padding: 2px 10px; }
.onset td { padding: 2px 10px; border-bottom: 1px solid rgba(128, 128, 128, 0.25); }
.onset .number { text-align: right; }
.onset .status { border-left: 4px solid #D55E00; padding: 2px 8px; margin: 6px 0; }
.onset .note, .onset .rest { opacity: 0.75; margin: 4px 0; }
</style>"""


def _row(cells, numeric, tag, titles=None):
    out = []
    for at, cell in enumerate(cells):
        kind = ' class="number"' if numeric[at] else ""
        title = f' title="{escape(titles[at], quote=True)}"' if titles else ""
        out.append(f"<{tag}{kind}{title}>{escape(cell)}</{tag}>")
    return "<tr>" + "".join(out) + "</tr>"


def table(names, rows, meanings, numeric, head="", foot=""):
    """A table; the meaning of a column is shown where the pointer rests on its name."""
    lines = [f'<div class="onset">{_STYLE}', head, "<table><thead>",
             _row(names, numeric, "th", [meanings[name] for name in names]), "</thead><tbody>"]
    if len(rows) <= _MOST_ROWS:
        lines += [_row(row, numeric, "td") for row in rows]
    else:
        lines += [_row(row, numeric, "td") for row in rows[:_HEAD]]
        left_out = len(rows) - _HEAD - _TAIL
        lines.append(f'<tr><td colspan="{len(names)}" class="rest">.. {left_out} more rows ..</td></tr>')
        lines += [_row(row, numeric, "td") for row in rows[-_TAIL:]]
    lines += ["</tbody></table>", foot, "</div>"]
    return "\n".join(line for line in lines if line)


def paragraph(text, kind):
    return f'<div class="{kind}">{escape(text)}</div>'
