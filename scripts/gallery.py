"""Writes docs/gallery.md: every figure that Onset draws, with its command, its time and what it shows.

Usage: gallery.py --command ONSET [--check]

With --check nothing is written; it fails where the page is not what it would write.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/gallery.md"
OPTIONS = tomllib.loads((ROOT / "docs/images/options.toml").read_text(encoding="utf-8"))

HEAD = """# Gallery

Every figure that Onset draws. Times are estimates of the work on one core, in full and with `--quick`; what is computed is
kept beside the picture, so that an interrupted figure goes on. How figures are written: [figures](figures.md); words: the
[glossary](glossary.md).

"""


def work(onset, name, *options):
    """The estimate of the command itself; an empty text where a figure needs files of others."""
    said = subprocess.run([onset, "figure", name, "--explain", *options], capture_output=True, text=True, check=False)
    _, found, rest = said.stdout.partition("Estimated work on one core: ")
    return rest.partition(".  ")[0].partition(". Nothing")[0] if found else ""


def entry(onset, file):
    figure = tomllib.loads(file.read_text(encoding="utf-8"))
    name = file.stem
    full, quick = work(onset, name), work(onset, name, "--quick")
    time = f"{full}; with `--quick` {quick}" if full else "needs files of others, see its file"
    lines = [f"## {figure['title']}", "", f"`onset figure {name}` ({time})", "", " ".join(figure["caption"].split()), ""]
    if (ROOT / f"docs/images/{name}.png").exists():
        lines += [f"![{figure['title']}](images/{name}.png)", ""]
        if name in OPTIONS:
            lines += [f"Shown as `onset figure {name} {OPTIONS[name]}` draws it.", ""]
    return "\n".join(lines)


def without_times(page):
    """Estimates change with every verb; what is shown and said must not lag behind."""
    return re.sub(r"^(`onset figure \S+`) \(.*\)$", r"\1", page, flags=re.MULTILINE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = HEAD + "\n".join(entry(options.command, file) for file in sorted((ROOT / "figures").glob("*.toml")))
    if not options.check:
        PAGE.write_text(page, encoding="utf-8")
    elif without_times(PAGE.read_text(encoding="utf-8")) != without_times(page):
        sys.exit("docs/gallery.md is out of date: run scripts/gallery.py --command build/release/bin/onset")


if __name__ == "__main__":
    main()
