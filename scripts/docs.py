"""Runs the commands that README.md and the docs show, and compares what they print with what is shown.

Usage: docs.py --command ONSET [--most-seconds X] [PAGE..]

Every line that a page shows below "$ onset .." must be printed, in that order; a page may leave lines out and break long
ones. Words must be the same (`..` stands for any), and so must numbers without an error; two numbers with errors may differ by
five of their joint errors and by rounding. Commands of one page run in one folder, so that one may read what another wrote, or
what the page shows as a file (```toml title="study.toml"). With --most-seconds, only those run that are estimated to take no
more core-seconds, and none that reads what a longer one would have written.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')
NUMBER = re.compile(r"(-?\d+(?:\.(\d+))?)(?:\((\d+)\))?(?:e(-?\d+))?")
MOST_ERRORS = 5.0
# Smaller ones are what rounding leaves of zero, which depends on the vector instructions.
ROUNDING = 1e-12
ESTIMATE = re.compile(r"Estimated (?:cost|work on one core): (\S+) (core-seconds|s|min|h)\b")
UNITS = {"core-seconds": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}
# It waits for a browser.
NEVER_ENDS = "serve"
# A sweep with one of these computes nothing.
ONLY_LOOKS = {"--dry-run", "--list", "--status"}

# Files of other people, which whoever runs this need not have.
OTHERS = "trec/"


def shown(page):
    """What a page shows, in its order: (command, lines shown below it), or (None, (name, text)) for a file."""
    for kind, block in FENCE.findall(page.read_text(encoding="utf-8")):
        title = TITLE.search(kind)
        if title:
            yield None, (title[1], block)
        if kind:
            continue
        command, lines = None, []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, lines
                command, lines = line[2:], []
            elif command and line.strip():
                lines.append(line)
        if command:
            yield command, lines


def value(text):
    """(value, error, unit of the last digit) of a number as people read it; None for a word."""
    found = NUMBER.fullmatch(text)
    if not found:
        return None
    exponent = int(found[4] or 0)
    unit = 10.0 ** (exponent - len(found[2] or ""))
    return float(found[1]) * 10.0**exponent, int(found[3] or 0) * unit, unit


def same_word(a, b):
    if a in (b, ".."):
        return True
    x, y = value(a), value(b)
    if x is None or y is None:
        return False
    if max(abs(x[0]), abs(y[0])) < ROUNDING:
        return True
    if x[1] == 0.0 or y[1] == 0.0:
        return False
    return abs(x[0] - y[0]) <= MOST_ERRORS * math.hypot(x[1], y[1]) + x[2] + y[2]


def is_rule(word):
    return set(word) == {"-"}


def missing_line(lines, printed):
    """The first shown line whose words were not printed one after the other, in its turn. Where lines are broken does
    not matter, and neither do rules, whose widths depend on the numbers below."""
    said = [word for word in printed.split() if not is_rule(word)]
    at = 0
    for line in lines:
        words = [word for word in line.split() if not is_rule(word)]
        if not words or words == [".."]:
            continue
        starts = range(at, len(said) - len(words) + 1)
        found = next((k for k in starts if all(map(same_word, words, said[k:k + len(words)]))), None)
        if found is None:
            return line
        at = found + len(words)
    return None


def core_seconds(onset, words, folder):
    """The estimate of the command itself; 0 for commands that only show something."""
    def said(*options):
        run = subprocess.run([onset, *words, *options], capture_output=True, text=True, cwd=folder, timeout=120)
        return run.stdout

    if words[0] == "sweep":
        points = [] if ONLY_LOOKS & set(words) else said("--list", "--format", "jsonl").splitlines()
        return sum(json.loads(point)["core_seconds"] for point in points)
    found = ESTIMATE.search(said("--explain"))
    return float(found[1]) * UNITS[found[2]] if found else 0.0


def written(words):
    """The names of what a command writes, without their kinds: a sweep of a.toml writes a.db."""
    named = {after for word, after in zip(words, words[1:]) if word in ("--out", "--store") or word == "sweep"}
    return {pathlib.PurePath(name).name.partition(".")[0] for name in named}


def reads(words, names):
    """Whether a command speaks of one of these files or folders."""
    return any(part.partition(".")[0] in names for word in words for part in pathlib.PurePath(word).parts)


def check(page, onset, most_seconds):
    """(how many commands ran, complaints)."""
    count, complaints, left_out = 0, [], set()
    with tempfile.TemporaryDirectory() as folder:
        for command, lines in shown(page):
            if command is None:
                pathlib.Path(folder, lines[0]).write_text(lines[1], encoding="utf-8")
                continue
            words = shlex.split(command, comments=True)
            if words[:1] != ["onset"] or "|" in words or ">" in words or any(OTHERS in word for word in words):
                continue
            if words[1] == NEVER_ENDS:
                continue
            if most_seconds is not None and (reads(words, left_out) or
                                             core_seconds(onset, words[1:], folder) > most_seconds):
                left_out |= written(words)
                continue
            run = subprocess.run([onset, *words[1:]], capture_output=True, text=True, cwd=folder)
            count += 1
            line = missing_line(lines, run.stdout + run.stderr)
            if line is not None:
                complaints.append(f"{page.relative_to(ROOT)}: {command}\n  shown but not printed: {line}\n"
                                  f"  printed:\n{run.stdout}{run.stderr}")
    return count, complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--most-seconds", type=float)
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    onset = os.path.abspath(options.command)
    pages = [pathlib.Path(page).resolve() for page in options.pages]
    total, complaints = 0, []
    for page in pages or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        count, found = check(page, onset, options.most_seconds)
        total += count
        complaints += found
    print("\n".join(complaints))
    print(f"{total} commands of the docs were run; {len(complaints)} print something else than is shown")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
