"""What a verb returns: the command's numbers, as Python people use them."""

import warnings

import numpy
import onset
import pytest


@pytest.fixture(scope="module")
def curve():
    return onset.smi.curve(layers=1, alpha=[0.2, 0.4, 0.6])


def test_the_numbers_are_those_of_the_command(command):
    there = command("smi", "curve", "--layers", "1", "--alpha", "0.2,0.4")
    here = onset.smi.curve(layers=1, alpha=[0.2, 0.4])
    assert here.status == there["status"]
    assert here["Q11"].tolist() == [row["Q11"] for row in there["rows"]]
    assert here.error("Q11").tolist() == [row["Q11_err"] for row in there["rows"]]


def test_columns_have_meanings_values_and_errors(curve):
    assert "sample ratio" in curve.columns["alpha"]
    assert curve["converged"].dtype == bool
    assert isinstance(curve.rows[0]["Q11"], onset.Estimate)
    with pytest.raises(ValueError, match="converged: this column has no errors; those that have: Q11"):
        curve.error("converged")
    with pytest.raises(KeyError, match="no column 'Q1'.*did you mean 'Q11'"):
        curve["Q1"]


def test_an_error_is_nan_where_the_value_is(curve):
    assert numpy.isnan(curve["free_entropy"][-1])  # exact recovery, where it is infinite
    assert numpy.isnan(curve.error("free_entropy")[-1])
    hard = onset.smi.thresholds(link="parity3")
    assert numpy.isnan(hard["alpha"][0]) and numpy.isnan(hard.error("alpha")[0])


def test_printing_shows_the_table_of_the_command(curve):
    text = str(curve)
    assert text.splitlines()[0].split()[:3] == ["alpha", "branch", "Q11"]
    assert str(curve.rows[0]["Q11"]) in text
    assert repr(curve).startswith("<onset.Result: 3 rows of alpha, branch, Q11")


def test_a_data_frame_has_values_and_errors(curve):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = curve.to_pandas()
    assert list(frame.columns[:4]) == ["alpha", "branch", "Q11", "Q11_err"]
    assert "converged_err" not in frame
    assert frame["Q11"].tolist() == curve["Q11"].tolist()
    assert frame.attrs["status"] == "ok" and frame.attrs["parameters"]["layers"] == 1


def test_a_dataset_lies_over_the_grid(curve):
    pytest.importorskip("xarray", reason="xarray is not installed")
    dataset = curve.to_xarray()
    assert dataset["Q11"].sel(alpha=0.4).item() == curve["Q11"][1]
    assert dataset["error_bayes"].attrs["units"] == "squared Frobenius norm"
    plane = onset.ssi.phase(a=[0.0, 1.0, 2.0], omega=[0.25, 0.75]).to_xarray()
    assert plane["risk_min"].dims == ("a", "omega") and plane["risk_min"].shape == (3, 2)
    rows = onset.ssi.phase(a=[0.0, 1.0, 2.0], omega=[0.25, 0.75])
    at = rows["a"].tolist().index(1.0)
    assert plane["risk_min"].sel(a=1.0, omega=rows["omega"][at]).item() == rows["risk_min"][at]
    assert onset.smi.thresholds(link="square").to_xarray().sizes["stage"] == 3


def test_a_notebook_shows_errors_and_long_tables_in_part(curve):
    html = curve._repr_html_()
    assert f"<td class=\"number\">{curve.rows[0]['Q11']}</td>" in html
    assert "status" not in html.partition("</style>")[2]
    long = onset.aim.spectrum(rho=0.5, delta=0.1)
    assert len(long) > 40 and "more rows" in long._repr_html_()


def test_words_of_others_cannot_become_markup():
    link = onset.Link(lambda z: z, lambda y, w, v: (0 * y, 0 * y, 1 + 0 * y), name="<script>")
    with pytest.warns(onset.Unconverged):
        refused = onset.smi.thresholds(layers=2, rank=[1, 2], noise=0.1)
    refused.reason = "<script>"
    assert "<script>" not in refused._repr_html_() and "&lt;script&gt;" in refused._repr_html_()
    assert "<script>" in repr(link)


def test_a_plot_has_the_curves_of_the_figure(curve):
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    figure = curve.plot()
    first = figure.axes[0]
    assert first.get_xlabel() == "sample ratio alpha = N/D"
    assert first.get_lines()[0].get_xydata().tolist() == [[0.2, curve["Q11"][0]], [0.4, curve["Q11"][1]],
                                                         [0.6, curve["Q11"][2]]]
    assert first.get_lines()[0].get_color() == "#0072B2"
    with pytest.raises(ValueError, match="nothing to draw"):
        onset.smi.thresholds(link="square").plot()


def test_saving_writes_what_the_command_writes(curve, tmp_path, command):
    curve.save(tmp_path / "here")
    command("smi", "curve", "--layers", "1", "--alpha", "0.2,0.4,0.6", "--out", str(tmp_path / "there"))
    for name in ("result.csv", "figure.svg"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def test_what_is_not_ok_warns_and_can_be_made_an_error():
    with pytest.warns(onset.Unconverged, match="refused") as caught:
        refused = onset.smi.thresholds(layers=2, rank=[1, 2], noise=0.1)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert refused.status == "refused" and refused.reason
    assert "refused" in refused._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error", onset.Unconverged)
        with pytest.raises(onset.Unconverged) as error:
            onset.smi.thresholds(layers=2, rank=[1, 2], noise=0.1)
    assert error.value.result.status == "refused"


def test_a_time_limit_is_called_one():
    with pytest.warns(onset.Unconverged, match="the time limit of 0.2 s .`max_seconds`. was reached"):
        late = onset.smi.thresholds(layers=2, tol=1e-9, max_seconds=0.2)
    assert late.status == "interrupted"
