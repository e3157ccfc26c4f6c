"""Checks that unit tests mirror the sources: whoever reads a file knows where its tests are.

tests/unit/PATH/NAME_test.cpp tests PATH/NAME.cpp or PATH/NAME.hpp, or all of the folder PATH/NAME,
under src/ or include/onset/.

Usage: check_mirror.py SOURCE_ROOT | --self-test
"""

import pathlib
import sys
import tempfile

SUFFIX = "_test.cpp"

# Tests that still lie elsewhere than what they test; a star stands for one name.
EXCEPTIONS = []


def is_tested(root, name):
    """Whether a path such as smi/limits/curve names a source, a header or a folder of them."""
    for base in (root / "src", root / "include" / "onset"):
        if (base / name).is_dir() or any((base / f"{name}{e}").is_file() for e in (".cpp", ".hpp")):
            return True
    return False


def check(root, exceptions):
    """All complaints: tests of nothing, and exceptions that are none."""
    unit = root / "tests" / "unit"
    complaints = []
    needed = set()
    for path in sorted(unit.rglob("*.cpp")):
        test = path.relative_to(unit)
        name = test.as_posix().removesuffix(SUFFIX)
        if name == test.as_posix():
            complaints.append(f"tests/unit/{test}: is not named ..{SUFFIX}")
        elif not is_tested(root, name):
            excused = {pattern for pattern in exceptions if test.match(pattern)}
            needed |= excused
            if not excused:
                complaints.append(
                    f"tests/unit/{test}: there is no {name}.cpp, {name}.hpp or folder {name}"
                )
    stale = [pattern for pattern in exceptions if pattern not in needed]
    return complaints + [f"tests/unit/{pattern}: no exception any more" for pattern in stale]


def self_test():
    files = [
        "src/smi/limits/curve.cpp",
        "include/onset/io/csv.hpp",
        "tests/unit/smi/limits/curve_test.cpp",  # a source
        "tests/unit/smi/limits_test.cpp",  # a folder
        "tests/unit/io/csv_test.cpp",  # a header
        "tests/unit/smi/curve_test.cpp",  # elsewhere than its source
        "tests/unit/smi/limits/odd.cpp",
        "tests/unit/old/odd_test.cpp",
        "tests/unit/old/deeper/odd_test.cpp",
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in files:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
        complaints = check(root, ["old/*", "gone/*"])
    expected = ["old/deeper/odd_test.cpp", "smi/curve_test.cpp", "smi/limits/odd.cpp", "gone/*"]
    found = [line.split(":")[0].removeprefix("tests/unit/") for line in complaints]
    return [] if found == expected else [f"complains about {found}, not about {expected}"]


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    root = pathlib.Path(sys.argv[1])
    if sys.argv[1] != "--self-test" and not (root / "tests" / "unit").is_dir():
        print(f"{root}: no source tree")
        return 2
    complaints = self_test() if sys.argv[1] == "--self-test" else check(root, EXCEPTIONS)
    print("\n".join(complaints) or "unit tests mirror the sources")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
