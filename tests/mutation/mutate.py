"""Breaks one arithmetic line at a time and says which mutants the quick tests let live.

Usage: mutate.py BUILD FILE [--near | --tests FILTER] [--lines N,N,..] [--limit N]
       mutate.py --self-test

FILE is a source of the library (src/..cpp), BUILD a folder where it and its tests are built.
Nothing in the tree changes, nor in BUILD but for a folder that goes in the end: a mutant is
compiled, at -O1, together with the sources that FILE is compiled with, and linked with the test
objects of FILE's family alone. Its object comes before the library, whose own object of those
sources is then left out. Tests that mirror FILE run first, then those of its folder, then the family's, up to the first failure; with --near
only the first kind that there is, with --tests those that the filter of GoogleTest names. --lines takes only mutants of these lines, --limit N
only N of them, spread evenly.

Mutants that change nothing anybody could see are listed, with the reason, in equivalent.txt beside
this file; they are not tried. The exit status is 1 when a mutant lives.
"""

import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# A mutant that takes so many times as long as the original, and so many seconds, does not end.
SLOWER = 5.0
LEAST_PATIENCE = 10.0

# Binary operators stand between spaces, as the formatting has it: neither signs nor pointers nor
# templates do.
SWAPS = {
    " + ": [" - "], " - ": [" + "], " * ": [" / "], " / ": [" * "],
    " += ": [" -= "], " -= ": [" += "], " *= ": [" /= "], " /= ": [" *= "],
    " < ": [" <= "], " <= ": [" < "], " > ": [" >= "], " >= ": [" > "],
    " == ": [" != "], " != ": [" == "], " && ": [" || "], " || ": [" && "],
    "std::max": ["std::min"], "std::min": ["std::max"],
    "std::sin(": ["std::cos("], "std::cos(": ["std::sin("],
}
NUMBER = re.compile(r"(?<![\w.'])(?<!\de[-+])\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.'])")
SIGN = re.compile(r"(?<=[(,=?:] )-(?=[\w(])|(?<=\()-(?=[\w(])|(?<=return )-(?=[\w(])")
TERM = re.compile(r" [-+] [\w.:]+(?:\([\w., ]*\)|\[[\w., ]*\])*(?=[;),])")
# Lines without arithmetic of their own, sizes that somebody chose, and measured costs.
SKIPPED = re.compile(r"^\s*(#|//|using |namespace |template|static_assert|case |throw |"
                     r"constexpr (std::size_t|int|std::int64_t|std::uint\d+_t) |"
                     r"constexpr double ns_per_)|"
                     r"InvalidArgument|IoError|fmt::")


class Mutant:
    def __init__(self, line, before, after, what):
        self.line = line  # from 1
        self.before = before
        self.after = after
        self.what = what

    def __str__(self):
        return f"{self.line}: {self.what}: {self.after.strip()}"


def other_number(text):
    if text.isdigit():
        return str(int(text) + 1)
    value = float(text)
    return "1.0" if value == 0.0 else repr(1.5 * value)


def code_of(line):
    """The line with comments and strings blanked out, every character in its place."""
    blank = lambda match: " " * len(match.group())
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'', blank, line)
    return re.sub(r"//.*", blank, line)


def mutants_of_line(number, line):
    code = code_of(line)
    if SKIPPED.search(line):
        return
    edits = []
    for word, others in SWAPS.items():
        for match in re.finditer(re.escape(word), code):
            edits += [(match, other, f"{word.strip()} to {other.strip()}") for other in others]
    for match in NUMBER.finditer(code):
        edits.append((match, other_number(match.group()), f"{match.group()} to another number"))
    for match in SIGN.finditer(code):
        edits.append((match, "", "sign dropped"))
    for match in TERM.finditer(code):
        edits.append((match, "", "term dropped"))
    for match, other, what in sorted(edits, key=lambda edit: edit[0].start()):
        yield Mutant(number, line, line[:match.start()] + other + line[match.end():], what)


def mutants_of(text):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        found += mutants_of_line(number, line)
    return found


def spread(items, limit):
    """So many of them, evenly."""
    if limit is None or limit >= len(items):
        return items
    return [items[k * len(items) // limit] for k in range(limit)]


def equivalents(file):
    """(line, mutated line) of the mutants of a file that are listed as equivalent."""
    listed = set()
    for entry in (HERE / "equivalent.txt").read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in entry.splitlines() if line and not line.startswith("#")]
        if lines and lines[0] == file:
            listed.add((lines[1].strip(), lines[2].strip()))
    return listed


class Build:
    """How a mutant is compiled and linked."""

    def __init__(self, build, file):
        self.build = build
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mutants-", dir=build))
        self.source = self.folder / "overlay" / pathlib.Path(file).relative_to("src")
        self.source.parent.mkdir(parents=True, exist_ok=True)
        self.object = self.folder / "mutant.o"
        self.program = self.folder / "mutant_tests"
        kept, compiled = self.compile_command(file)
        kept[kept.index("-o") + 1] = str(self.object)
        kept[kept.index("-c") + 1] = str(compiled)
        # Files that include themselves by name (Highway) find the mutant.
        self.compiling = [kept[0], f"-I{self.folder / 'overlay'}", *kept[1:], "-O1", "-w"]
        self.linking = self.link_command(pathlib.Path(file).parts[1])

    def remove(self):
        shutil.rmtree(self.folder)

    def compile_command(self, file):
        """The words that compile FILE, and what they are to compile: the mutant, or neighbours of
        FILE with the mutant in its place."""
        original = str(ROOT / file)
        for entry in json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8")):
            words = [word for word in shlex.split(entry["command"])
                     if word not in ("-Werror", "-O2", "-O3")]
            if entry["file"] == original:
                return words, self.source
            if "/Unity/" not in entry["file"]:
                continue
            together = pathlib.Path(entry["file"]).read_text(encoding="utf-8")
            if f'"{original}"' in together:
                neighbours = self.folder / "together.cpp"
                neighbours.write_text(together.replace(original, str(self.source)),
                                      encoding="utf-8")
                return words, neighbours
        raise SystemExit(f"mutate.py: {file} is no source of {self.build}")

    def link_command(self, family):
        answer = subprocess.run(["ninja", "-C", str(self.build), "-t", "commands", "onset_tests"],
                                capture_output=True, text=True, check=True).stdout
        words = shlex.split(answer.splitlines()[-1].split("&&")[1])
        wanted = f"onset_tests.dir/unit/{family}"
        objects = [word for word in words if "onset_tests.dir/" in word and
                   (wanted + "/" in word or wanted + "_test" in word)]
        others = [word for word in words if "onset_tests.dir/" not in word]
        others[others.index("-o") + 1] = str(self.program)
        at = others.index("-o") + 2
        return others[:at] + [str(self.object)] + objects + others[at:]

    def make(self, text):
        """Whether the text compiles and links."""
        self.source.write_text(text, encoding="utf-8")
        return all(subprocess.run(words, cwd=self.build, capture_output=True,
                                  check=False).returncode == 0
                   for words in (self.compiling, self.linking))

    def run(self, filters, patience):
        """The first test that fails, "no end", or nothing; and the time it took."""
        began = time.monotonic()
        for each in filters:
            try:
                done = subprocess.run([str(self.program), f"--gtest_filter={each}",
                                       "--gtest_fail_fast", "--gtest_brief=1"],
                                      capture_output=True, text=True, timeout=patience,
                                      check=False, errors="replace", cwd=self.folder)
            except subprocess.TimeoutExpired:
                return "no end", time.monotonic() - began
            if done.returncode != 0:
                failed = re.search(r"\[  FAILED  \] (\S+)", done.stdout)
                return failed[1] if failed else "a crash", time.monotonic() - began
        return None, time.monotonic() - began


def suites_in(paths):
    """Filters of the suites in these files, without the long ones."""
    found = set()
    for path in paths:
        for kind, name in re.findall(r"^(TEST|TEST_F|TEST_P)\((\w+),", path.read_text(),
                                     re.MULTILINE):
            if not name.startswith("Long"):
                found.add(f"*/{name}.*" if kind == "TEST_P" else f"{name}.*")
    return found


def filters_for(file):
    """Filters of tests, the nearest to the file first, each without those before."""
    source = pathlib.Path(file).relative_to("src").with_suffix("")
    unit = ROOT / "tests" / "unit"
    rings = [[unit / f"{source}_test.cpp", *(unit / source).rglob("*_test.cpp")]]
    for folder in source.parents[:-1]:
        rings.append([unit / f"{folder}_test.cpp", *(unit / folder).rglob("*_test.cpp")])
    filters, seen = [], set()
    for ring in rings:
        fresh = suites_in(path for path in ring if path.exists()) - seen
        if fresh:
            filters.append(":".join(sorted(fresh)))
        seen |= fresh
    return filters


class Outcome:
    """What became of the mutants of a file."""

    def __init__(self):
        self.killed = self.equivalent = self.unbuilt = 0
        self.alive = []

    def report(self, file, count, seconds):
        tried = self.killed + len(self.alive)
        print(f"{file}: of {count} mutants {tried} tried, {self.killed} killed, "
              f"{len(self.alive)} live; {self.equivalent} equivalent, {self.unbuilt} do not "
              f"compile; the tests take {seconds:.0f} s")
        for mutant in self.alive:
            print(f"  lives: {file}:{mutant}")


def try_mutants(tools, text, chosen, known, filters):
    """Tries one after the other; also returns how long the tests of the original take."""
    if not tools.make(text):
        raise SystemExit("mutate.py: the file itself does not build; build the tests first")
    failed, seconds = tools.run(filters, 3600.0)
    if failed:
        raise SystemExit(f"mutate.py: {failed} fails without any mutant")
    patience = max(LEAST_PATIENCE, SLOWER * seconds)
    outcome = Outcome()
    lines = text.splitlines(keepends=True)
    for mutant in chosen:
        if (mutant.before.strip(), mutant.after.strip()) in known:
            outcome.equivalent += 1
            continue
        broken = [*lines[:mutant.line - 1], mutant.after + "\n", *lines[mutant.line:]]
        if not tools.make("".join(broken)):
            outcome.unbuilt += 1
            continue
        killer, _ = tools.run(filters, patience)
        if killer:
            outcome.killed += 1
        else:
            outcome.alive.append(mutant)
        print(f"  {'killed' if killer else 'LIVES '}  {mutant}{f'   [{killer}]' if killer else ''}",
              flush=True)
    return outcome, seconds


def mutate(build, file, filters, chosen_lines, limit):
    text = (ROOT / file).read_text(encoding="utf-8")
    everything = [mutant for mutant in mutants_of(text)
                  if chosen_lines is None or mutant.line in chosen_lines]
    tools = Build(build, file)
    try:
        outcome, seconds = try_mutants(tools, text, spread(everything, limit), equivalents(file),
                                       filters)
    finally:
        tools.remove()
    outcome.report(file, len(everything), seconds)
    return 1 if outcome.alive else 0


def self_test():
    lines = {
        "  return a + b * c;": ["return a - b * c;", "return a + b / c;"],
        "  for (int i = 0; i < n; ++i) sum += x[i];  // a + b":
            ["for (int i = 1; i < n; ++i) sum += x[i];  // a + b",
             "for (int i = 0; i <= n; ++i) sum += x[i];  // a + b",
             "for (int i = 0; i < n; ++i) sum -= x[i];  // a + b"],
        "  const double* p = f<int>(-x, \"1 + 2\");": ["const double* p = f<int>(x, \"1 + 2\");"],
        "  return x - 0.5;": ["return x + 0.5;", "return x;", "return x - 0.75;"],
        "  return x < 1e-6;": ["return x < 1.5e-06;", "return x <= 1e-6;"],
        "#include <a + b>": [],
        "  // a + b": [],
    }
    complaints = []
    for line, expected in lines.items():
        found = sorted(mutant.after.strip() for mutant in mutants_of(line))
        if found != sorted(expected):
            complaints.append(f"{line.strip()}: {found}")
    return complaints


def main():
    if sys.argv[1:] == ["--self-test"]:
        complaints = self_test()
        print("\n".join(complaints) or "each kind of mutant is made")
        return 1 if complaints else 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("file")
    tests = parser.add_mutually_exclusive_group()
    tests.add_argument("--tests")
    tests.add_argument("--near", action="store_true")
    parser.add_argument("--lines", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    file = pathlib.Path(given.file).resolve().relative_to(ROOT).as_posix()
    filters = [given.tests] if given.tests else filters_for(file)[:1 if given.near else None]
    return mutate(given.build, file, filters, given.lines, given.limit)


if __name__ == "__main__":
    sys.exit(main())
