"""Prints the share of lines that tests reached, by folder: coverage_table.py BUILD [--uncovered]."""

import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ("src", "include", "tool")
FILES_PER_CALL = 50


def reached_lines(build):
    """{file: {line: whether it was reached}} over all objects: a header is in many of them."""
    notes = sorted(build.rglob("*.gcno"))
    lines = collections.defaultdict(dict)
    for start in range(0, len(notes), FILES_PER_CALL):
        command = ["gcov", "--json-format", "--stdout", *map(str, notes[start : start + FILES_PER_CALL])]
        output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        for text in output.splitlines():
            report = json.loads(text)
            for file in report["files"]:
                path = (pathlib.Path(report["current_working_directory"]) / file["file"]).resolve()
                if not path.is_relative_to(ROOT) or path.relative_to(ROOT).parts[0] not in OURS:
                    continue
                seen = lines[path.relative_to(ROOT)]
                for line in file["lines"]:
                    number = line["line_number"]
                    seen[number] = seen.get(number, False) or line["count"] > 0
    return lines


def folder_of(path):
    """Two levels down: src/smi/limits, but src/core."""
    return "/".join(path.parts[:-1][:3])


def print_table(lines):
    folders = collections.defaultdict(lambda: [0, 0])
    for path, seen in lines.items():
        for key in (folder_of(path), "all"):
            folders[key][0] += sum(seen.values())
            folders[key][1] += len(seen)
    print(f"{'folder':40} {'lines':>7} {'reached':>8}")
    for folder in sorted(folders, key=lambda name: (name == "all", name)):
        reached, total = folders[folder]
        print(f"{folder:40} {total:7} {100 * reached / total:7.1f}%")


def ranges(numbers):
    """'3-5, 9' of 3, 4, 5, 9."""
    out = []
    for number in numbers:
        if out and out[-1][1] == number - 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def print_uncovered(lines):
    for path in sorted(lines):
        missed = sorted(number for number, reached in lines[path].items() if not reached)
        if missed:
            print(f"{path}: {ranges(missed)}")


def main():
    lines = reached_lines(pathlib.Path(sys.argv[1]))
    if "--uncovered" in sys.argv[2:]:
        print_uncovered(lines)
        print()
    print_table(lines)


main()
