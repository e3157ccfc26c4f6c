"""Checks that unit tests mirror the sources: whoever reads a file knows where its tests are.

tests/unit/PATH/NAME_test.cpp tests PATH/NAME.cpp or PATH/NAME.hpp, or all of the folder PATH/NAME,
under src/ or include/onset/. A source with several tests has a folder of them, PATH/NAME/.

Usage: check_mirror.py SOURCE_ROOT | --self-test
"""

import pathlib
import sys
import tempfile

SUFFIX = "_test.cpp"


def is_file(root, name):
    """Whether a path such as smi/limits/curve names a source or a header."""
    return any((base / f"{name}{end}").is_file()
               for base in (root / "src", root / "include" / "onset") for end in (".cpp", ".hpp"))


def is_folder(root, name):
    return any((base / name).is_dir() for base in (root / "src", root / "include" / "onset"))


def check(root):
    """All complaints: tests of nothing."""
    unit = root / "tests" / "unit"
    complaints = []
    for path in sorted(unit.rglob("*.cpp")):
        test = path.relative_to(unit)
        name = test.as_posix().removesuffix(SUFFIX)
        if name == test.as_posix():
            complaints.append(f"tests/unit/{test}: is not named ..{SUFFIX}")
        elif not (is_file(root, name) or is_folder(root, name)
                  or is_file(root, test.parent.as_posix())):
            complaints.append(
                f"tests/unit/{test}: there is no {name}.cpp, {name}.hpp or folder {name}"
            )
    return complaints


def self_test():
    files = [
        "src/smi/limits/curve.cpp",
        "include/onset/io/csv.hpp",
        "tests/unit/smi/limits/curve_test.cpp",  # a source
        "tests/unit/smi/limits/curve/noise_test.cpp",  # one of several of a source
        "tests/unit/smi/limits_test.cpp",  # a folder
        "tests/unit/io/csv_test.cpp",  # a header
        "tests/unit/smi/curve_test.cpp",  # elsewhere than its source
        "tests/unit/smi/limits/odd.cpp",
        "tests/unit/smi/limits/odd_test.cpp",  # beside its source's folder, of nothing in it
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in files:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
        complaints = check(root)
    expected = ["smi/curve_test.cpp", "smi/limits/odd.cpp", "smi/limits/odd_test.cpp"]
    found = [line.split(":")[0].removeprefix("tests/unit/") for line in complaints]
    return [] if found == expected else [f"complains about {found}, not about {expected}"]


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    root = pathlib.Path(sys.argv[1])
    complaints = self_test() if sys.argv[1] == "--self-test" else check(root)
    print("\n".join(complaints) or "unit tests mirror the sources")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
