"""Checks that README.md and scripts/bootstrap.sh name everything that CMake requires, and the versions that it asks for.

Usage: check_needs.py SOURCE_ROOT | --self-test
"""

import pathlib
import re
import sys
import tempfile

# What CMake calls a part: (its name in README, its Debian package). None: it comes with the compiler.
PARTS = {
    "fmt": ("fmt", "libfmt-dev"),
    "hwy": ("Highway", "libhwy-dev"),
    "Threads": None,
    "Boost": ("Boost", "libboost-dev"),
    "Eigen3": ("Eigen", "libeigen3-dev"),
    "nlohmann_json": ("nlohmann-json", "nlohmann-json3-dev"),
    "SQLite3": ("SQLite", "libsqlite3-dev"),
    "LAPACK": ("OpenBLAS with LAPACK", "libopenblas-dev"),
    "toml++/toml.h": ("toml++", "libtomlplusplus-dev"),
    "ClpSimplex.hpp": ("Clp", "coinor-libclp-dev"),
    "Clp": ("Clp", "coinor-libclp-dev"),
    "CoinUtils": ("CoinUtils", "coinor-libclp-dev"),
    "Spectra/SymEigsSolver.h": ("Spectra", "libspectra-dev"),
}
REQUIRED = re.compile(r"find_(?:package\((\S+)|(?:path|library)\(\S+ (\S+))[^)]*\bREQUIRED\b")
CMAKE_VERSION = re.compile(r"cmake_minimum_required\(VERSION (\S+)\)")


def required(root):
    """The parts without which CMake stops."""
    for folder in ("src", "tool"):
        for match in REQUIRED.finditer((root / folder / "CMakeLists.txt").read_text()):
            yield match[1] or match[2]


def needs_paragraph(readme):
    """The paragraph of README that lists the needs."""
    found = re.search(r"^It needs .*?(?=^$)", readme, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def complaints(root):
    paragraph = " ".join(needs_paragraph((root / "README.md").read_text()).split())
    if not paragraph:
        yield "README.md has no paragraph that begins with 'It needs'"
    bootstrap = (root / "scripts/bootstrap.sh").read_text()
    core = re.search(r"core_packages=\((.*?)\)", bootstrap, re.DOTALL)[1].split()
    for name in sorted(set(required(root))):
        if name not in PARTS:
            yield f"CMake requires {name}, which is not in PARTS of check_needs.py: add it there and to README.md"
            continue
        if PARTS[name] is None:
            continue
        word, package = PARTS[name]
        if word not in paragraph:
            yield f"README.md does not say that it needs {word} (CMake: {name})"
        if package not in core:
            yield f"scripts/bootstrap.sh does not install {package} (CMake: {name})"
    version = CMAKE_VERSION.search((root / "CMakeLists.txt").read_text())[1]
    if f"CMake {version}" not in paragraph:
        yield f"README.md does not say that it needs CMake {version}"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"src/CMakeLists.txt": "find_package(fmt REQUIRED)\nfind_library(X Clp REQUIRED)\n",
                           "tool/CMakeLists.txt": "find_package(Other 3 REQUIRED)\n",
                           "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\n",
                           "scripts/bootstrap.sh": "core_packages=(libfmt-dev)\n",
                           "README.md": "It needs CMake 3.25 and\nfmt.\n\nClp\n"}.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        found = "\n".join(complaints(root))
        assert "Other" in found and "needs Clp" in found and "install coinor-libclp-dev" in found, found
        assert "fmt" not in found and "CMake 3.25" not in found, found


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test()
        sys.exit()
    problems = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(problems) or "README.md and scripts/bootstrap.sh name all that CMake requires")
    sys.exit(bool(problems))
