"""Studies, stores and figures."""

import os
import subprocess

import onset
import pytest

WIDTHS = {"name": "widths", "command": "aim thresholds", "fixed": {"channel": "softmax"},
          "axes": {"tokens": [2, 3], "rho": [0.1, 0.5, 1.0]}}


def test_a_dictionary_is_a_study_that_resumes(tmp_path):
    study = onset.Study(WIDTHS, store=tmp_path / "w.db")
    assert study.status()["missing"] == 6 and "0 of 6 points" in repr(study)
    assert study.run()["computed"] == 6
    assert study.run()["computed"] == 0
    assert study.status() == {"points": 6, "ok": 6, "unconverged": 0, "refused": 0, "failed": 0, "missing": 0,
                              "computed": 0}
    alpha = onset.aim.thresholds(channel="softmax", tokens=3, rho=0.5)["alpha"][0]
    row = next(row for row in study.table() if row["tokens"] == 3 and row["rho"] == 0.5)
    assert row["alpha"].value == alpha


def test_a_store_is_the_command_s_own(tmp_path):
    file = tmp_path / "widths.toml"
    file.write_text('command = "aim thresholds"\n[fixed]\nchannel = "softmax"\n[axes]\nrho = [0.1, 0.5]\n')
    study = onset.Study(file, store=tmp_path / "w.db")
    study.run()
    store = onset.open(tmp_path / "w.db")
    assert store.studies == ["widths"] and store.status()["ok"] == 2
    there = subprocess.run([os.environ["ONSET_COMMAND"], "export", str(tmp_path / "w.db")], text=True,
                           stdout=subprocess.PIPE, check=True).stdout.splitlines()
    assert len(there) - 1 == len(store.table())
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = store.to_pandas()
    assert there[0].split(",") == list(frame.columns)
    assert frame.equals(study.to_pandas())


def test_mistakes_in_studies_are_named():
    with pytest.raises(ValueError, match="did you mean 'command'"):
        onset.Study({"comand": "aim thresholds"})
    with pytest.raises(ValueError, match="rho"):
        onset.Study({"command": "aim thresholds", "axes": {"rhoo": [0.1]}})
    with pytest.raises(ValueError, match="cannot be part of a study"):
        onset.Study({"command": "aim thresholds", "fixed": {"rho": object()}})
    with pytest.raises(OSError):
        onset.open("/nonexistent/store.db")


def test_a_figure_is_computed_drawn_and_kept(tmp_path):
    assert "smi-1" in onset.figures()
    file = tmp_path / "mine.toml"
    file.write_text("""title = "Width"
caption = "Counting thresholds."
[[run]]
id = "widths"
command = "aim thresholds"
fixed = {channel = "softmax", tokens = 2}
axes = {rho = [0.1, 0.5, 1.0]}
[[panel]]
x = {label = "{/Symbol r}"}
y = {label = "alpha_{perfect}"}
[[panel.series]]
run = "widths"
x = "rho"
y = "alpha"
filter = {kind = "perfect"}
""")
    figure = onset.figure(file, out=tmp_path / "out")
    assert len(figure.data["widths"]) >= 3 and (tmp_path / "out" / "widths.csv").exists()
    assert (tmp_path / "out" / "mine.svg").exists()
    with pytest.raises(ValueError, match="did you mean.*onset.figures\\(\\) names"):
        onset.figure("smi1")
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    axes = figure.plot().axes[0]
    assert axes.get_lines()[0].get_xdata().tolist() == [0.1, 0.5, 1.0]
    assert axes.get_xlabel() == "\u03c1"
