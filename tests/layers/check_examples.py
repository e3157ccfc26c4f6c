"""Checks that docs/cpp.md shows every program of examples/ as it is.

Usage: check_examples.py SOURCE_ROOT | --self-test
"""

import pathlib
import sys
import tempfile


def check(root):
    """The programs that the page does not show word for word."""
    page = (root / "docs" / "cpp.md").read_text(encoding="utf-8")
    return [f"docs/cpp.md: does not show examples/{path.name} as it is"
            for path in sorted((root / "examples").glob("*.cpp"))
            if f"```cpp\n{path.read_text(encoding='utf-8')}```\n" not in page]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"docs/cpp.md": "```cpp\nint a;\n```\n", "examples/a.cpp": "int a;\n",
                           "examples/b.cpp": "int b;\n"}.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = check(root)
    return [] if len(found) == 1 and "b.cpp" in found[0] else [f"complains about {found}"]


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    complaints = self_test() if sys.argv[1] == "--self-test" else check(pathlib.Path(sys.argv[1]))
    print("\n".join(complaints) or "docs/cpp.md shows the examples as they are")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
