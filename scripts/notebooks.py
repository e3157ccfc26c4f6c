"""Executes the notebooks of docs/notebooks.

Usage: notebooks.py [--quick | --check-stored] [--command ONSET] [--python FOLDER] [NOTEBOOK..]

Without an option they run at full size and are stored with what they print and draw (part of scripts/docs.sh; some
minutes). With --quick they run at reduced size, which their first cell reads from ONSET_NOTEBOOK, and nothing is
stored: an error of any cell is an error. With --check-stored nothing runs; every cell must have been executed in its
turn without an error, and nothing may tell of the machine that did it.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/notebooks"
MOST_SECONDS = 900  # of one cell
PATHS = re.compile(r"/(?:home|tmp|root|work|usr|var)/\w")


def execute(path, folder):
    """The notebook with the output of every cell; what cells say on stderr (bars, warnings) is left out."""
    import nbclient
    import nbformat

    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=MOST_SECONDS, kernel_name="python3", record_timing=False,
                            resources={"metadata": {"path": folder}}).execute()
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.metadata = {}
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    # The interpreter's version is a matter of the machine.
    book.metadata.language_info = {"name": "python"}
    return book


def prepare(options, folder):
    """The environment of kernels: this module, this command, nobody's settings."""
    paths = [str(pathlib.Path(options.python).resolve()), os.environ.get("PYTHONPATH", "")]
    os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, paths)),
                      PATH=f"{pathlib.Path(options.command).resolve().parent}{os.pathsep}{os.environ['PATH']}",
                      IPYTHONDIR=f"{folder}/ipython", JUPYTER_RUNTIME_DIR=f"{folder}/jupyter",
                      PYDEVD_DISABLE_FILE_VALIDATION="1")  # else the kernel warns about its debugger
    os.environ.pop("MPLBACKEND", None)  # cells show their figures
    if options.quick:
        os.environ["ONSET_NOTEBOOK"] = "quick"


def run(path, options):
    with tempfile.TemporaryDirectory() as folder:
        prepare(options, folder)
        work = pathlib.Path(folder, "work")
        work.mkdir()
        book = execute(path, str(work))
    if not options.quick:
        import nbformat

        nbformat.write(book, path)
    print(f"{path.name}: {sum(cell.cell_type == 'code' for cell in book.cells)} cells were executed")


def stored_faults(path):
    """What is wrong with a notebook as it is stored."""
    import json

    text = path.read_text(encoding="utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    counts = [cell["execution_count"] for cell in cells]
    if counts != list(range(1, len(cells) + 1)):
        yield f"{path.name}: cells were not executed in their order: {counts}"
    outputs = [output for cell in cells for output in cell["outputs"]]
    if any(output["output_type"] == "error" for output in outputs):
        yield f"{path.name}: a cell ended with an error"
    for cell in cells:
        draws = any(word in line for line in cell["source"] for word in (".plot()", "plt.subplots(", ".plot.line("))
        if draws and not any("image/png" in output.get("data", {}) for output in cell["outputs"]):
            yield f"{path.name}: cell {cell['execution_count']} shows no picture"
    # A picture is base64, in which a slash means nothing.
    for line in text.splitlines():
        found = PATHS.search(line) if '"image/png"' not in line else None
        if found:
            yield f"{path.name}: tells of a machine: {line.strip()[:100]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check-stored", action="store_true")
    parser.add_argument("--command", default=ROOT / "build/release/bin/onset")
    parser.add_argument("--python", default=ROOT / "build/release/python")
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    notebooks = options.notebooks or sorted(FOLDER.glob("*.ipynb"))
    if options.check_stored:
        faults = [fault for path in notebooks for fault in stored_faults(path)]
        sys.exit("\n".join(faults) if faults else 0)
    for path in notebooks:
        run(path, options)


if __name__ == "__main__":
    main()
