"""Builds wheels of Onset with CMake, for the interpreter that runs this; a backend of PEP 517 for pip.

It needs Python alone. The module goes into the build tree of build/release where that was made for this
interpreter (scripts/bootstrap.sh does), so that the library is compiled once, and into build/python-TAG otherwise.
ONSET_BUILD_DIR names another one.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "onset"


def _version():
    header = (ROOT / "include/onset/version.hpp").read_text(encoding="ascii")
    return ".".join(re.findall(r"#define ONSET_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[^0-9A-Za-z]", "_", sysconfig.get_platform())
    return f"{python}-{python}-{platform}"


def _interpreter():
    """The interpreter behind a virtual environment, which has the headers."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _build_folder():
    if "ONSET_BUILD_DIR" in os.environ:
        return pathlib.Path(os.environ["ONSET_BUILD_DIR"]).resolve()
    cache = ROOT / "build/release/CMakeCache.txt"
    if cache.exists():
        found = re.search(r"^_?Python_EXECUTABLE:\w+=(.+)$", cache.read_text(encoding="utf-8"), re.MULTILINE)
        if found and os.path.realpath(found[1]) == _interpreter():
            return ROOT / "build/release"
    return ROOT / f"build/python-{_tag()}"


def _run(*words):
    # pip hides the packages of the interpreter from what it starts; NumPy is among them.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        subprocess.run([str(word) for word in words], check=True, env=environment)
    except FileNotFoundError:
        sys.exit(f"{words[0]} was not found; on Debian, scripts/bootstrap.sh --python installs all that is needed")
    except subprocess.CalledProcessError:
        sys.exit("the build failed; its own message is above. On Debian, scripts/bootstrap.sh --python installs all "
                 "that is needed; elsewhere see README.md. The interpreter needs NumPy and its C headers")


def _stage(folder):
    """Builds the module and lays the package down in a folder."""
    build = _build_folder()
    if not (build / "CMakeCache.txt").exists():
        generator = ["-G", "Ninja"] if any((pathlib.Path(place) / "ninja").exists()
                                           for place in os.get_exec_path()) else []
        _run("cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DONSET_TESTS=OFF",
             "-DONSET_TEXT=OFF", "-DONSET_MPI=OFF", f"-DPython_EXECUTABLE={_interpreter()}")
    _run("cmake", "--build", build, "--target", "onset_python", "--parallel", os.cpu_count() or 1)
    # Installing speaks of the interpreter's own folder, which a wheel has not; so files are copied.
    package = folder / NAME
    package.mkdir()
    for file in sorted((build / "python" / NAME).iterdir()):
        if file.suffix in (".py", ".pyi", ".so") or file.name == "py.typed":
            (package / file.name).write_bytes(file.read_bytes())
    figures = package / "share/figures"
    figures.mkdir(parents=True)
    for file in sorted((ROOT / "figures").glob("*.toml")):
        (figures / file.name).write_bytes(file.read_bytes())


def _metadata():
    return f"""Metadata-Version: 2.1
Name: {NAME}
Version: {_version()}
Summary: Where attention models start to learn, how well they can, and which algorithms get there
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: all
Requires-Dist: pandas; extra == "all"
Requires-Dist: xarray; extra == "all"
Requires-Dist: matplotlib; extra == "all"
Requires-Dist: tqdm; extra == "all"
Description-Content-Type: text/markdown

""" + (ROOT / "README.md").read_text(encoding="utf-8")


def _information():
    """The files of the wheel that describe it."""
    return {"METADATA": _metadata().encode(),
            "WHEEL": f"Wheel-Version: 1.0\nGenerator: onset\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode(),
            "LICENSE": (ROOT / "LICENSE").read_bytes()}


def _digest(content):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    information = f"{NAME}-{_version()}.dist-info"
    name = f"{NAME}-{_version()}-{_tag()}.whl"
    with tempfile.TemporaryDirectory() as temporary:
        _stage(pathlib.Path(temporary))
        files = {str(path.relative_to(temporary)): path.read_bytes()
                 for path in sorted(pathlib.Path(temporary).rglob("*")) if path.is_file()}
    files |= {f"{information}/{entry}": content for entry, content in _information().items()}
    record = "".join(f"{path},{_digest(content)},{len(content)}\n" for path, content in files.items())
    files[f"{information}/RECORD"] = (record + f"{information}/RECORD,,\n").encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))  # the same content makes the same wheel
            entry.external_attr = (0o100755 if path.endswith(".so") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """All that git knows, as one archive."""
    name = f"{NAME}-{_version()}"
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(pathlib.Path(sdist_directory, f"{name}.tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in tracked.decode().split("\0"):
            if path and (ROOT / path).is_file():
                archive.add(ROOT / path, f"{name}/{path}")
        content = _metadata().encode()
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(content)
        with tempfile.TemporaryFile() as file:
            file.write(content)
            file.seek(0)
            archive.addfile(entry, file)
    return f"{name}.tar.gz"
