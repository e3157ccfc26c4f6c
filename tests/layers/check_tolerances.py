"""Checks that no test has a bare number as its tolerance: a named one says its reason.

The third argument of EXPECT_NEAR and ASSERT_NEAR is the name of a constant, or an expression of
errors and constants; tests/support/tolerances.hpp has the common ones.

Usage: check_tolerances.py SOURCE_ROOT | --self-test
"""

import pathlib
import re
import sys

NEAR = re.compile(r"\b(?:EXPECT|ASSERT)_NEAR\(")
# A number, or a calculation with numbers alone.
NUMBER = re.compile(r"([-+*/(\s]*(\d+\.?\d*|\.\d+)(e[-+]?\d+)?[fFlL]?[)\s]*)+", re.IGNORECASE)
# A string, a character (but not the mark between digits), or one character.
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\])\'|.', re.DOTALL)


def arguments(text, start):
    """The arguments of the call whose first one begins at `start`."""
    found, depth, current = [], 0, ""
    for match in TOKEN.finditer(text, start):
        token = match.group()
        if token in ")]}":
            depth -= 1
            if depth < 0:
                return [*found, current]
        if token == "," and depth == 0:
            found.append(current)
            current = ""
            continue
        if token in "([{":
            depth += 1
        current += token
    return found


def bare_tolerances(text):
    """(line, tolerance) of every call with a bare number."""
    for match in NEAR.finditer(text):
        given = arguments(text, match.end())
        if len(given) >= 3 and NUMBER.fullmatch(",".join(given[2:])):
            yield text.count("\n", 0, match.start()) + 1, given[2].strip()


def check(root):
    complaints = []
    for path in sorted((root / "tests").rglob("*.?pp")):
        for line, tolerance in bare_tolerances(path.read_text(encoding="utf-8")):
            place = f"{path.relative_to(root)}:{line}"
            complaints.append(f"{place}: the tolerance {tolerance} has no name")
    return complaints


def self_test():
    text = """
EXPECT_NEAR(x, 1.0, 1e-12);
EXPECT_NEAR(f(a, "),"), g[{1, 2}], 0.05) << "x";
ASSERT_NEAR(x,
            1'000.0, (20));
EXPECT_NEAR(x, 1.0, 5 * 0.06 * (1.0 / 7.0));
EXPECT_NEAR(x, 1.0, rounding);
EXPECT_NEAR(x, 1.0, 5.0 * error);
EXPECT_NEAR(x, 1.0, tolerance::few_roundings);
"""
    found = list(bare_tolerances(text))
    expected = [(2, "1e-12"), (3, "0.05"), (4, "(20)"), (6, "5 * 0.06 * (1.0 / 7.0)")]
    return [] if found == expected else [f"finds {found}, not {expected}"]


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    complaints = self_test() if sys.argv[1] == "--self-test" else check(pathlib.Path(sys.argv[1]))
    print("\n".join(complaints) or "tolerances have names")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
