"""How functions are called: the catalogue's parameters, arrays, messages, progress."""

import ast
import inspect
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy
import onset
import pytest

FUNCTIONS = [getattr(getattr(onset, name.split()[0]), name.split()[1].replace("-", "_")) for name in onset.verbs()]


def test_every_verb_is_a_function_with_its_signature_and_help():
    for function in FUNCTIONS:
        names = inspect.signature(function).parameters
        assert {"seed", "tol", "threads", "max_seconds", "explain", "progress"} <= set(names)
        assert "Columns" in function.__doc__
        assert "--" not in function.__doc__, function.__qualname__


def test_stubs_say_the_same_as_signatures():
    folder = pathlib.Path(onset.__file__).parent
    for function in FUNCTIONS:
        family = function.__module__.partition(".")[2]
        stub = ast.parse((folder / f"{family}.pyi").read_text())
        found = [node for node in stub.body if isinstance(node, ast.FunctionDef) and node.name == function.__name__]
        assert len(found) == 2  # with and without explain
        names = inspect.signature(function).parameters
        for node in found:
            assert [a.arg for a in node.args.args + node.args.kwonlyargs] == list(names)
            assert len(node.args.args) == sum(p.kind == p.POSITIONAL_OR_KEYWORD for p in names.values())


def test_type_checkers_see_what_is_wrong(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    right = tmp_path / "right.py"
    right.write_text("""import pathlib
import numpy
import onset
result = onset.smi.thresholds(layers=2, skip=[1.0])
alpha: float = result.rows[0]["alpha"].value
cost: float = onset.smi.curve(alpha=numpy.linspace(0.1, 1, 3), explain=True).core_seconds
onset.mha.learn(pathlib.Path("examples"), no_polish=True)
onset.mha.learn(X=numpy.ones((4, 2, 3)), Y=numpy.ones((4, 2, 3)))
onset.Study({"command": "smi thresholds"}).run(progress=lambda fraction, what: None)
""")
    wrong = {"onset.smi.thresholds(layres=2)": "No overload", "onset.smi.curve(alpha=1, branch='x')": "No overload",
             "onset.smi.thresholds(2)": "No overload", "result = 1 + onset.smi.thresholds()": "Unsupported operand"}
    (tmp_path / "wrong.py").write_text("import onset\n" + "\n".join(wrong) + "\n")
    environment = dict(os.environ, MYPYPATH=str(pathlib.Path(onset.__file__).parents[1]))
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir",
                          str(tmp_path / "cache"), str(right), str(tmp_path / "wrong.py")],
                         stdout=subprocess.PIPE, text=True, env=environment, check=False)
    errors = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert len(errors) == len(wrong), run.stdout
    for number, (line, said) in enumerate(wrong.items(), 2):
        assert any(f"wrong.py:{number}: error: {said}" in error for error in errors), line


def test_grids_may_be_texts_lists_or_arrays():
    results = [onset.smi.curve(layers=1, alpha=alpha)["Q11"].tolist()
               for alpha in ("0.2:0.4:0.2", [0.2, 0.4], (0.2, 0.4), numpy.array([0.2, 0.4]))]
    assert all(result == results[0] for result in results)


def test_misuse_names_the_nearest_word():
    with pytest.raises(ValueError, match="^layres: no such field.* did you mean 'layers'"):
        onset.smi.thresholds(layres=2)
    with pytest.raises(ValueError, match="^thread: no such field.* did you mean 'threads'"):
        onset.smi.thresholds(thread=2)
    with pytest.raises(onset.InvalidArgument, match="no such verb.*did you mean 'smi thresholds'"):
        onset.run("smi threshold")
    with pytest.raises(ValueError, match="^skip: "):
        onset.smi.thresholds(skip={})
    with pytest.raises(AttributeError, match="'onset.smi' has no attribute 'threshold'.*did you mean 'thresholds'"):
        onset.smi.threshold
    with pytest.raises(AttributeError, match="did you mean 'smi'"):
        onset.smy
    with pytest.raises(TypeError, match="without a name"):
        onset.smi.thresholds(2)


def test_messages_name_fields_as_python_does():
    with pytest.raises(ValueError, match="^hold_overlap: .*`hold_layer`") as caught:
        onset.smi.curve(alpha=[0.5], hold_overlap=0.5)
    assert "--" not in str(caught.value)


def test_limits_are_checked():
    for limit in [{"threads": 0}, {"threads": 5000}, {"max_seconds": 0.0}, {"max_seconds": -1}]:
        with pytest.raises(ValueError, match=f"{next(iter(limit))}.*allowed"):
            onset.run("smi thresholds", **limit)


def test_explain_says_the_cost_and_runs_nothing():
    start = time.monotonic()
    explanation = onset.smi.curve(layers=4, alpha="0.1:1:0.01", explain=True)
    assert time.monotonic() - start < 5 < explanation.core_seconds
    assert "Nothing was computed" in str(explanation) and explanation.parameters["layers"] == 4
    assert max(map(len, str(explanation).splitlines())) <= 80 and "skip                1\n" in str(explanation)


def test_progress_is_told_and_never_goes_back():
    told = []
    onset.mha.trial(progress=lambda fraction, what: told.append((fraction, what)))
    fractions = [fraction for fraction, _ in told]
    assert told and fractions == sorted(fractions) and all(0 <= fraction <= 1 for fraction in fractions)
    assert all(isinstance(what, str) for _, what in told)

    def refuse(fraction, what):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        onset.mha.trial(progress=refuse)


def test_a_bar_is_shown_when_asked_for(capfd):
    with pytest.warns(onset.Unconverged):
        onset.smi.thresholds(layers=2, tol=1e-9, max_seconds=2, progress=True)
    assert "smi thresholds" in capfd.readouterr().err
    onset.smi.thresholds(layers=1)
    assert capfd.readouterr().err == ""


def test_an_interrupt_ends_a_run_soon():
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        onset.smi.thresholds(layers=2, tol=1e-9)
    assert time.monotonic() - start < 20


def test_data_may_be_a_folder_a_result_or_arrays(tmp_path):
    data = onset.smi.generate(link="square", dim=120, alpha=2.0, seed=3)
    data.save(tmp_path / "data")
    x, y, w = data.artifacts["X.npy"], data.artifacts["Y.npy"], data.artifacts["truth/w.npy"]
    found = [onset.smi.amp(data=tmp_path / "data"), onset.smi.amp(data=data),
             onset.smi.amp(link="square", X=x, Y=y, truth=w), onset.smi.amp(link="square", X=x[:, 0, :], Y=y[:, 0], truth=w)]
    assert all(result["M11"].tolist() == found[0]["M11"].tolist() for result in found)
    assert found[2].parameters["data"] == "<arrays>"


def test_wrong_arrays_are_named_without_the_files_behind_them():
    x = numpy.random.default_rng(1).normal(size=(240, 1, 120))
    with pytest.raises(ValueError, match="^Y: required"):
        onset.smi.amp(link="square", X=x)
    with pytest.raises(ValueError, match="^Y: has 3 samples, but X has 240"):
        onset.smi.amp(link="square", X=x, Y=[1, 2, 3])
    with pytest.raises(OSError, match="^X: the inputs of token 1 have the mean square"):
        onset.smi.amp(link="square", X=3 * x, Y=numpy.ones(240))
    with pytest.raises(ValueError, match="^data: is given beside X and Y"):
        onset.smi.amp(link="square", X=x, Y=numpy.ones(240), data="folder")


def test_data_that_are_missing_are_asked_for():
    with pytest.raises(ValueError, match="^examples: required, but not given; allowed: a folder, a result, or arrays X and Y$"):
        onset.mha.learn()
    with pytest.raises(ValueError, match="^model: required, but not given; allowed: a folder, a result$"):
        onset.mha.verify("examples")


def test_a_layer_is_learned_from_arrays_of_any_sign_type(tmp_path):
    layer = onset.mha.generate(heads=2, dim=8, tokens=2, scale=2.0, samples=30000)
    x, y = layer.artifacts["X.npy"], layer.artifacts["Y.npy"]
    learned = onset.mha.learn(X=x.astype(numpy.int64), Y=y)
    assert learned.summary["verdict"] == "certified"
    layer.save(tmp_path)
    positional = onset.mha.learn(tmp_path)
    assert positional.artifacts["theta.npy"].tolist() == learned.artifacts["theta.npy"].tolist()
    verified = onset.mha.verify(X=x, Y=y, model=learned)
    assert verified.status == "ok"
    with pytest.raises(ValueError, match="^X: has numbers that are neither 1 nor -1"):
        onset.mha.learn(X=numpy.zeros((10, 2, 8)), Y=numpy.zeros((10, 2, 8)))


def test_a_layer_is_learned_from_real_arrays():
    layer = onset.mha.generate(heads=1, dim=5, tokens=2, scale=2.0, samples=1000, inputs="gaussian")
    x, y = layer.artifacts["X.npy"], layer.artifacts["Y.npy"]
    learned = onset.mha.learn(X=x, Y=y, inputs="gaussian")
    assert learned.summary["verdict"] == "certified"
    assert onset.mha.verify(X=x, Y=y, model=learned).status == "ok"
