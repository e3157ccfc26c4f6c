"""The code that the documentation shows runs as it stands, and gives what is said beside it."""

import contextlib
import io
import pathlib
import re
import warnings

import onset
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Message passing at d = 60 scatters by some tenths around theory; a wrong recipe diverges or learns nothing.
FINITE_SIZE = 0.25


def run_page(name, monkeypatch, folder):
    """Executes all Python blocks of a page one after the other; the names that they leave."""
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks, f"{name} has no Python code"
    monkeypatch.chdir(folder)
    space = {}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        for block in blocks:
            exec(compile(block, name, "exec"), space)
    return space


def test_the_page_on_python_runs(monkeypatch, tmp_path):
    space = run_page("docs/python.md", monkeypatch, tmp_path)
    found = space["found"]
    assert found["diverged"][0] == 0 and abs(found["mse"][0] / found["mse_theory"][0] - 1) < FINITE_SIZE
    assert space["learned"].summary["verdict"] == "certified"
    assert space["study"].status()["ok"] == 6


def test_the_readme_runs(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    space = run_page("README.md", monkeypatch, tmp_path)
    assert space["result"].status == "ok"


def test_the_recipe_for_data_of_aim_gives_data_that_are_learned(monkeypatch, tmp_path):
    space = run_page("docs/aim-data.md", monkeypatch, tmp_path)
    found = onset.aim.amp(data=space["folder"], channel="softmax", tokens=2, rho=0.5)
    assert found["diverged"][0] == 0
    assert abs(found["mse"][0] / found["mse_theory"][0] - 1) < FINITE_SIZE


def test_the_recipe_for_data_of_smi_gives_data_that_are_learned(monkeypatch, tmp_path):
    space = run_page("docs/smi-amp.md", monkeypatch, tmp_path)
    found = onset.smi.amp(data=space["folder"], layers=1, tokens=2)
    assert found["escaped"][0] == "exact"  # alpha = 0.7 is far above exact recovery, at 0.5
    again = onset.smi.amp(layers=1, tokens=2, X=space["x"], Y=space["y"], truth=space["w"])
    assert again["cos1"].tolist() == found["cos1"].tolist()


def test_the_recipe_for_examples_of_mha_gives_a_certificate(monkeypatch, tmp_path):
    space = run_page("docs/mha.md", monkeypatch, tmp_path)
    assert onset.mha.learn(space["folder"]).summary["verdict"] == "certified"
