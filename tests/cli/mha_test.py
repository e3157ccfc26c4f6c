"""The mha family from the shell: examples in and out of NumPy, verdicts, exit codes, bad files."""

import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import numpy as np

from onset_command import one_object, onset

SMALL = ["--heads", "2", "--dim", "8", "--tokens", "2", "--scale", "3"]


def forward(x, theta, w):
    """The layer, written again in NumPy."""
    x = x.astype(float)
    out = np.zeros_like(x)
    for t, v in zip(theta, w):
        logits = x @ t @ x.transpose(0, 2, 1)
        p = np.exp(logits - logits.max(axis=2, keepdims=True))
        p /= p.sum(axis=2, keepdims=True)
        out += p @ x @ v
    return out


def with_examples(npy, examples):
    """The bytes of an NPY file whose header claims that many examples."""
    length = int.from_bytes(npy[8:12], "little")
    header = re.sub(rb"\(\d+,", b"(%d," % examples, npy[12:12 + length]).rstrip() + b"\n"
    return npy[:8] + len(header).to_bytes(4, "little") + header + npy[12 + length:]


class Learning(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.examples = cls.root / "examples"
        cls.model = cls.root / "model"
        run = onset("mha", "generate", *SMALL, "--samples", "20000", "--out", str(cls.examples))
        assert run.returncode == 0, run.stderr
        cls.learned = onset("mha", "learn", str(cls.examples), "--out", str(cls.model), "--format",
                            "json")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_numpy_reads_what_generate_writes(self):
        x = np.load(self.examples / "X.npy")
        y = np.load(self.examples / "Y.npy")
        theta = np.load(self.examples / "truth" / "theta.npy")
        w = np.load(self.examples / "truth" / "w.npy")
        self.assertEqual((x.dtype, x.shape), (np.int8, (20000, 2, 8)))
        self.assertEqual((y.dtype, y.shape), (np.float64, (20000, 2, 8)))
        self.assertEqual(theta.shape, (2, 8, 8))
        self.assertEqual(set(np.unique(x)), {-1, 1})
        np.testing.assert_allclose(y, forward(x, theta, w), atol=1e-12)

    def test_a_generic_layer_is_certified(self):
        self.assertEqual(self.learned.returncode, 0, self.learned.stderr)
        result = one_object(self.learned.stdout)
        self.assertEqual(result["summary"]["verdict"], "certified")
        self.assertEqual(result["summary"]["heads"], 2)
        self.assertEqual({row["phase"] for row in result["rows"]}, set(range(1, 7)))
        for name in ["theta.npy", "w.npy", "geometry/theta.npy", "geometry/w.npy",
                     "certificate.json"]:
            self.assertTrue((self.model / name).is_file(), name)

    def test_numpy_sees_the_same_layer(self):
        x = np.load(self.examples / "X.npy")[:200]
        y = np.load(self.examples / "Y.npy")[:200]
        found = forward(x, np.load(self.model / "theta.npy"), np.load(self.model / "w.npy"))
        np.testing.assert_allclose(found, y, atol=1e-9)

    def test_verify_passes_and_notices_changes(self):
        run = onset("mha", "verify", str(self.examples), "--model", str(self.model), "--format",
                    "json")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertTrue(all(row["passed"] for row in one_object(run.stdout)["rows"]))
        self.assertEqual(one_object(run.stdout)["summary"]["verdict"], "certified")
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder)
            (other / "geometry").mkdir()
            honest = json.loads((self.model / "certificate.json").read_text())
            layers = ["theta.npy", "w.npy", "geometry/theta.npy", "geometry/w.npy"]
            for name in layers:
                np.save(other / name, np.load(self.model / name))
            for word, code, change in [
                ("singular gap", 3, lambda c: c["evidence"].update(gap=99)),
                ("same examples", 3, lambda c: c["examples"].update(count=5)),
                ("residual, held out", 3, lambda c: c["residual"].update(held_out=1e-11)),
                ("wrong tuple", 3, lambda c: c["rejected"].update(bound=9.0)),
                ("residual.all", 4, lambda c: c["residual"].update(all=-4e-15)),
                ("held_out", 4, lambda c: c["held_out"].insert(0, c["held_out"][0])),
                ("held out, wrongly", 3, lambda c: c["held_out"].pop()),
                ("slabs[0][1]", 4, lambda c: c["slabs"][0].__setitem__(1, 0.5)),
                ("rejected.rows", 4, lambda c: c["rejected"].update(rows=[], multipliers=[])),
                ("singular gap, counted", 3, lambda c: c["counted"].update(gap=99)),
                ("labels not given", 3, lambda c: c["evidence"].update(disagreeing=1)),
                ("same verdict", 3, lambda c: c.update(verdict="recovered", reason="modesty")),
                ("heads", 4, lambda c: c.update(heads=3)),
                ("extra", 4, lambda c: c.update(extra=1)),
            ]:
                claims = json.loads(json.dumps(honest))
                change(claims)
                (other / "certificate.json").write_text(json.dumps(claims))
                run = onset("mha", "verify", str(self.examples), "--model", str(other))
                self.assertEqual(run.returncode, code, word + run.stdout + run.stderr)
                self.assertIn(word, run.stdout if code == 3 else run.stderr)
                if code == 4:
                    self.assertIn("certificate.json", run.stderr)
            (other / "certificate.json").write_text(json.dumps(honest))
            for name in layers:
                np.save(other / name, np.load(self.model / name) * (1 + 1e-6))
                run = onset("mha", "verify", str(self.examples), "--model", str(other))
                self.assertEqual(run.returncode, 3, name)
                self.assertIn("does not hold", run.stdout)
                np.save(other / name, np.load(self.model / name))

    def test_a_verdict_that_is_changed_by_hand_is_not_believed(self):
        with tempfile.TemporaryDirectory() as folder:
            examples, model = pathlib.Path(folder, "examples"), pathlib.Path(folder, "model")
            examples.mkdir()
            y = np.load(self.examples / "Y.npy")
            y[5000, 0, 3] += 1e-7
            np.save(examples / "X.npy", np.load(self.examples / "X.npy"))
            np.save(examples / "Y.npy", y)
            run = onset("mha", "learn", str(examples), "--out", str(model), "--format", "json")
            self.assertEqual(one_object(run.stdout)["summary"]["verdict"], "recovered")
            path = model / "certificate.json"
            claims = json.loads(path.read_text())
            for verdict, reason, verified in [(claims["verdict"], claims["reason"], True),
                                              ("certified", "", False)]:
                path.write_text(json.dumps(claims | {"verdict": verdict, "reason": reason}))
                run = onset("mha", "verify", str(examples), "--model", str(model), "--format",
                            "json")
                summary = one_object(run.stdout)["summary"]
                self.assertEqual(run.returncode, 3)
                self.assertEqual((summary["found"], summary["verified"]), ("recovered", verified))
            self.assertIn("labels not given", summary["reason"])
            self.assertIn("claimed certified, found recovered", summary["reason"])

    def test_slabs_that_are_left_out_make_no_certificate(self):
        """Fewer slabs have a larger gap here; every number that verify prints is put into the file."""
        with tempfile.TemporaryDirectory() as folder:
            examples, model = pathlib.Path(folder, "examples"), pathlib.Path(folder, "model")
            onset("mha", "generate", "--heads", "2", "--dim", "6", "--tokens", "3", "--samples", "30000", "--out",
                  str(examples))
            run = onset("mha", "learn", str(examples), "--out", str(model), "--format", "json")
            self.assertEqual(one_object(run.stdout)["summary"]["verdict"], "recovered")
            path = model / "certificate.json"
            honest = path.read_text()
            verify = ["mha", "verify", str(examples), "--model", str(model), "--format", "json"]
            self.assertTrue(one_object(onset(*verify).stdout)["summary"]["verified"])
            for kept in [slice(None, -80), slice(80, None), slice(None, None, 2)]:
                claims = json.loads(honest) | {"verdict": "certified", "reason": ""}
                claims["slabs"] = claims["counted"]["slabs"] = claims["slabs"][kept]
                for _ in range(2):
                    path.write_text(json.dumps(claims))
                    run = onset(*verify)
                    result = one_object(run.stdout)
                    rows = {row["check"]: row["value"] for row in result["rows"]}
                    claims["counted"]["gap"] = rows["singular gap, counted"]
                    claims["evidence"].update(gap=rows["singular gap"],
                                              slabs_proved=int(rows["posterior slabs proved"]))
                self.assertEqual((run.returncode, result["summary"]["found"], result["summary"]["verified"]),
                                 (3, "refused", False))
                self.assertIn("slabs left out, counted", result["summary"]["reason"])
                self.assertIn("posterior slabs left out", result["summary"]["reason"])
                self.assertEqual(rows["posterior slabs left out"], 288 - len(claims["slabs"]))

    def test_a_name_that_is_there_twice_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "model")
            shutil.copytree(self.model, model)
            path = model / "certificate.json"
            honest = path.read_text().rstrip()
            for name, text in [("verdict", honest[:-1] + ', "verdict": "certified"}'),
                               ("gap", honest.replace('"gap":', '"gap": 99, "gap":', 1))]:
                path.write_text(text)
                run = onset("mha", "verify", str(self.examples), "--model", str(model))
                self.assertEqual((run.returncode, run.stdout), (4, ""))
                self.assertIn(f"certificate.json: has '{name}' twice", run.stderr)

    def test_evaluate_compares_with_the_truth(self):
        run = onset("mha", "evaluate", str(self.examples), "--model", str(self.model), "--truth",
                    str(self.examples / "truth"), "--format", "json")
        self.assertEqual(run.returncode, 0, run.stderr)
        row = one_object(run.stdout)["rows"][0]
        self.assertEqual((row["heads_found"], row["verdict"]), (2, "certified"))
        self.assertLess(row["geometry_theta"], 0.05)
        self.assertLess(row["theta"], 1e-9)
        self.assertLess(row["function"], 1e-9)
        self.assertIn("function_err", row)

    def test_results_do_not_depend_on_threads(self):
        run = onset("mha", "learn", str(self.examples), "--threads", "1", "--format", "json")
        one, other = one_object(run.stdout), one_object(self.learned.stdout)
        self.assertEqual((one["rows"], one["summary"]), (other["rows"], other["summary"]))

    def test_examples_that_numpy_wrote_are_learned(self):
        random = np.random.default_rng(5)
        x = random.choice(np.array([-1, 1], dtype=np.int8), size=(6000, 2, 6))
        theta = random.normal(size=(1, 6, 6)) * 2 / 6
        w = random.normal(size=(1, 6, 6)) / 6 ** 0.5
        with tempfile.TemporaryDirectory() as folder:
            np.save(os.path.join(folder, "X.npy"), np.asfortranarray(x))
            np.save(os.path.join(folder, "Y.npy"), forward(x, theta, w))
            model = os.path.join(folder, "model")
            run = onset("mha", "learn", folder, "--no-polish", "--out", model)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            np.testing.assert_allclose(np.load(os.path.join(model, "theta.npy")), theta, atol=1e-9)

    def test_a_refusal_has_a_reason_an_exit_code_and_no_parameters(self):
        with tempfile.TemporaryDirectory() as folder:
            examples, model = os.path.join(folder, "e"), os.path.join(folder, "m")
            onset("mha", "generate", *SMALL, "--degenerate", "cancelling", "--samples", "5000",
                  "--out", examples)
            run = onset("mha", "learn", examples, "--out", model, "--format", "json")
            self.assertEqual(run.returncode, 3)
            result = one_object(run.stdout)
            self.assertEqual((result["status"], result["summary"]["verdict"]),
                             ("refused", "refused"))
            self.assertIn("cancelling", result["summary"]["reason"])
            self.assertFalse(os.path.exists(os.path.join(model, "theta.npy")))
            with open(os.path.join(model, "certificate.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["verdict"], "refused")
            run = onset("mha", "evaluate", examples, "--model", model, "--truth",
                        os.path.join(examples, "truth"), "--format", "json")
            row = one_object(run.stdout)["rows"][0]
            self.assertEqual(run.returncode, 3)
            self.assertEqual((row["heads_found"], row["theta"], row["verdict"]),
                             (0, None, "refused"))

    def test_relative_to_a_theta_of_zero_there_is_no_error(self):
        with tempfile.TemporaryDirectory() as folder:
            examples, model = os.path.join(folder, "examples"), os.path.join(folder, "model")
            onset("mha", "generate", "--heads", "1", "--dim", "4", "--tokens", "3", "--scale", "0", "--samples", "5000",
                  "--seed", "3", "--out", examples)
            onset("mha", "learn", examples, "--out", model)
            run = onset("mha", "evaluate", examples, "--model", model, "--truth", os.path.join(examples, "truth"),
                        "--format", "json")
            self.assertEqual(run.returncode, 0, run.stderr)
            result = one_object(run.stdout)
            row = result["rows"][0]
            self.assertEqual((row["geometry_theta"], row["theta"]), (None, None))
            self.assertLess(row["w"], 1e-12)
            self.assertIn("theta = 0", " ".join(result["notes"]))

    def test_inspect_foretells_how_many_examples_are_needed(self):
        run = onset("mha", "inspect", str(self.examples / "truth"), "--format", "json")
        self.assertEqual(run.returncode, 0, run.stderr)
        result = one_object(run.stdout)
        self.assertEqual(list(result["rows"][0]), ["condition", "value", "value_err", "bound", "holds"])
        # 20000 examples of this layer are certified; the number foretold is good to a factor of two.
        self.assertLess(2 * result["summary"]["examples"], 20000)
        self.assertGreater(result["summary"]["examples_err"], 0)
        found = one_object(onset("mha", "inspect", str(self.model), "--format", "json").stdout)
        self.assertAlmostEqual(found["rows"][2]["value"], result["rows"][2]["value"], places=9)

    def test_inspect_names_what_is_degenerate(self):
        with tempfile.TemporaryDirectory() as folder:
            onset("mha", "generate", *SMALL, "--degenerate", "proportional", "--samples", "10", "--out", folder)
            run = onset("mha", "inspect", os.path.join(folder, "truth"))
            self.assertEqual(run.returncode, 3)
            self.assertIn("sine between projections, smallest, independence of projected keys", run.stdout)
            self.assertEqual(onset("mha", "inspect", os.path.join(folder, "nowhere")).returncode, 4)

    def test_a_refusal_for_too_few_examples_says_how_many_are_wanted(self):
        run = onset("mha", "trial", "--heads", "2", "--dim", "8", "--tokens", "3", "--samples", "1500", "--format", "json")
        self.assertRegex(one_object(run.stdout)["summary"]["reason"], r"about \d+00 random ones would show them")

    def test_a_refused_run_leaves_no_model_of_an_earlier_one(self):
        with tempfile.TemporaryDirectory() as folder:
            onset("mha", "learn", str(self.examples), "--out", folder)
            self.assertTrue(os.path.exists(os.path.join(folder, "geometry", "w.npy")))
            run = onset("mha", "learn", str(self.examples), "--heads", "1", "--out", folder)
            self.assertEqual(run.returncode, 3)
            self.assertEqual(sorted(os.listdir(folder)),
                             ["certificate.json", "manifest.json", "result.csv"])

    def test_the_baseline_reports_starts_and_times(self):
        run = onset("mha", "baseline", str(self.examples), "--starts", "2", "--adam-steps", "50",
                    "--format", "json")
        self.assertEqual(run.returncode, 0, run.stderr)
        result = one_object(run.stdout)
        self.assertEqual([row["method"] for row in result["rows"]], ["lm", "lm", "adam", "adam"])
        self.assertGreater(result["summary"]["lm_seconds"], 0)
        self.assertEqual(result["summary"]["verdict"], "recovered")
        self.assertIn("certifies nothing", result["summary"]["reason"])
        run = onset("mha", "baseline", str(self.examples), "--starts", "1", "--adam-steps", "0",
                    "--heads", "1", "--format", "json")
        self.assertEqual(run.returncode, 3)
        self.assertEqual(one_object(run.stdout)["summary"]["verdict"], "refused")

    def test_a_run_that_is_stopped_keeps_the_phases_that_it_finished(self):
        for seconds in ["2", "8", "32"]:  # a slow machine takes longer for the first phase
            run = onset("mha", "trial", "--heads", "3", "--dim", "14", "--samples", "100000",
                        "--max-seconds", seconds, "--format", "json")
            result = one_object(run.stdout)
            self.assertEqual((run.returncode, result["status"]), (3, "interrupted"))
            if result["rows"]:
                break
        self.assertEqual(result["rows"][0]["phase"], 1)

    def test_one_token_is_refused_by_learner_and_baseline_alike(self):
        with tempfile.TemporaryDirectory() as folder:
            onset("mha", "generate", "--tokens", "1", "--samples", "300", "--out", folder)
            for verb in ["learn", "baseline"]:
                run = onset("mha", verb, folder, "--format", "json")
                result = one_object(run.stdout)
                self.assertEqual((run.returncode, result["status"]), (3, "refused"))
                self.assertEqual(result["summary"]["verdict"], "refused")
                self.assertIn("one token", result["summary"]["reason"])

    def test_a_trial_needs_no_files(self):
        run = onset("mha", "trial", *SMALL, "--samples", "20000", "--format", "json")
        self.assertEqual(run.returncode, 0, run.stderr)
        hull = [row for row in one_object(run.stdout)["rows"] if row["phase"] == 4][0]
        self.assertLess(hull["hull_error"], 0.05)
        self.assertNotEqual(hull["gap"], float(f"{hull['gap']:.4g}"), "a rounded number")

    def test_a_refusal_before_the_first_phase_is_a_row_too(self):
        with tempfile.TemporaryDirectory() as folder:
            study = pathlib.Path(folder, "refused.toml")
            study.write_text('command = "mha trial"\nfixed = {dim = 3, samples = 2000}\n[axes]\nheads = [1, 2]\n',
                             encoding="utf-8")
            store = str(study.with_suffix(".db"))
            self.assertEqual(onset("sweep", str(study), "--store", store).returncode, 0)
            rows = one_object(onset("export", store, "--format", "json").stdout)["rows"]
        self.assertEqual([(row["heads"], row["phase"], row["verdict"]) for row in rows],
                         [(1, 0, "refused"), (2, 0, "refused")])
        for row in rows:
            self.assertIn("too few examples", row["reason"])

    def test_the_reason_stands_in_the_last_row(self):
        result = one_object(onset("mha", "trial", "--degenerate", "cancelling", "--samples", "3000", "--format",
                                  "json").stdout)
        *others, last = result["rows"]
        self.assertEqual(last["reason"], result["summary"]["reason"])
        self.assertEqual({row["reason"] for row in others}, {None} if others else set())

    def test_every_setting_ends_in_an_answer_or_a_reason(self):
        """Settings that once ended by a signal, and their neighbours."""
        for setting in ["--tokens 7 --samples 1000", "--scale 1000 --heads 1 --samples 500",
                        "--dim 2 --samples 10", "--dim 2 --heads 2 --samples 3000",
                        "--dim 3 --tokens 3 --heads 5 --samples 2000",
                        "--dim 4 --tokens 5 --heads 1 --samples 1000 --scale 0.001",
                        "--dim 5 --tokens 6 --heads 1 --samples 700 --scale 30",
                        "--dim 7 --tokens 8 --heads 2 --samples 300 --scale 200",
                        "--dim 12 --tokens 4 --heads 3 --samples 500 --scale 100"]:
            run = onset("mha", "trial", *setting.split(), "--max-seconds", "5", "--format", "json")
            self.assertIn(run.returncode, (0, 3), setting + run.stderr)
            self.assertNotIn("nan", run.stdout.lower(), setting)
            result = one_object(run.stdout)
            if result["status"] == "ok" and result["summary"]["verdict"] != "certified":
                self.assertTrue(result["summary"]["reason"], setting)

    def test_the_error_of_a_sum_that_cancels_is_empty(self):
        run = onset("mha", "trial", "--degenerate", "cancelling", "--samples", "3000", "--format",
                    "json")
        rows = one_object(run.stdout)["rows"]
        self.assertEqual({row["projection_error"] for row in rows}, {None})


class GaussianInputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.examples = pathlib.Path(cls.folder.name, "examples")
        cls.model = pathlib.Path(cls.folder.name, "model")
        run = onset("mha", "generate", "--heads", "2", "--dim", "6", "--scale", "2", "--samples", "15000", "--inputs",
                    "gaussian", "--out", str(cls.examples))
        assert run.returncode == 0, run.stderr
        cls.learned = onset("mha", "learn", str(cls.examples), "--out", str(cls.model), "--format", "json")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_manifest_says_what_the_inputs_are(self):
        x = np.load(self.examples / "X.npy")
        self.assertEqual((x.dtype, x.shape), (np.float64, (15000, 2, 6)))
        layer = [np.load(self.examples / "truth" / name) for name in ["theta.npy", "w.npy"]]
        np.testing.assert_allclose(np.load(self.examples / "Y.npy"), forward(x, *layer), atol=1e-12)
        self.assertEqual(self.learned.returncode, 0, self.learned.stdout + self.learned.stderr)
        result = one_object(self.learned.stdout)
        self.assertEqual((result["summary"]["verdict"], result["parameters"]["inputs"]), ("certified", "gaussian"))

    def test_what_was_learned_remembers_it(self):
        run = onset("mha", "verify", str(self.examples), "--model", str(self.model))
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        run = onset("mha", "evaluate", str(self.examples), "--model", str(self.model), "--truth",
                    str(self.examples / "truth"), "--format", "json")
        row = one_object(run.stdout)["rows"][0]
        self.assertLess(row["theta"], 1e-9)
        self.assertLess(row["function"], 1e-9)

    def test_reals_without_a_manifest_must_be_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ["X.npy", "Y.npy"]:
                np.save(os.path.join(folder, name), np.load(self.examples / name))
            run = onset("mha", "learn", folder)
            self.assertEqual((run.returncode, run.stdout), (4, ""))
            self.assertIn("1 and -1, or real numbers with --inputs gaussian", run.stderr)
            run = onset("mha", "learn", folder, "--inputs", "gaussian", "--format", "json")
            self.assertEqual(one_object(run.stdout)["rows"], one_object(self.learned.stdout)["rows"])
            run = onset("mha", "learn", folder, "--inputs", "gausian")
            self.assertEqual(run.returncode, 2)
            self.assertIn("gaussian", run.stderr)


class BadFiles(unittest.TestCase):
    """Each case changes one thing about good files; the message names the file and the fault."""

    def complaint(self, x=None, y=None):
        good = np.ones((100, 2, 4), dtype=np.int8)
        with tempfile.TemporaryDirectory() as folder:
            np.save(os.path.join(folder, "X.npy"), good if x is None else x)
            if not isinstance(y, str):
                np.save(os.path.join(folder, "Y.npy"), good.astype(float) if y is None else y)
            run = onset("mha", "learn", folder)
        self.assertEqual((run.returncode, run.stdout), (4, ""), run.stderr)
        return run.stderr

    def test_faults_are_named(self):
        zero = np.ones((100, 2, 4), dtype=np.int8)
        zero[3, 1, 2] = 0
        nan = np.ones((100, 2, 4))
        nan[7, 0, 1] = np.nan
        for words, x, y in [
            (["X.npy", "int8"], np.ones((100, 2, 4), dtype=np.uint8), None),
            (["X.npy", "int8"], np.ones((100, 2, 4), dtype=bool), None),
            (["X.npy", "[0, 0, 0] is 1.5", "1 and -1"], zero + 0.5, None),
            (["X.npy", "shape"], np.ones((100, 8), dtype=np.int8), None),
            (["X.npy", "shape"], np.ones((0, 2, 4), dtype=np.int8), None),
            (["X.npy", "[3, 1, 2]", "1 and -1"], zero, None),
            (["X.npy", "up to 64"], np.ones((10, 2, 80), dtype=np.int8), np.ones((10, 2, 80))),
            (["Y.npy", "99 x 2 x 4", "100 examples x 2 tokens x 4 dim"], None,
             np.ones((99, 2, 4))),
            (["Y.npy", "[7, 0, 1]", "finite"], None, nan),
            (["Y.npy", "little-endian"], None, np.ones((100, 2, 4), dtype=">f8")),
            (["Y.npy"], None, "missing"),
        ]:
            message = self.complaint(x, y)
            for word in words:
                self.assertIn(word, message)

    def test_signs_of_any_type_are_signs(self):
        with tempfile.TemporaryDirectory() as folder:
            examples = pathlib.Path(folder)
            onset("mha", "generate", *SMALL, "--samples", "3000", "--out", folder)
            x = np.load(examples / "X.npy")
            rows = []
            for kind in [np.int8, np.int64, np.float32, np.float64]:
                np.save(examples / "X.npy", x.astype(kind))
                run = onset("mha", "learn", folder, "--no-polish", "--format", "json")
                rows.append(one_object(run.stdout)["rows"])
            self.assertEqual(rows, [rows[0]] * 4)

    def test_arrays_that_contradict_the_manifest_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            examples = pathlib.Path(folder)
            onset("mha", "generate", *SMALL, "--samples", "300", "--out", folder)
            for name in ["X.npy", "Y.npy"]:
                np.save(examples / name, np.load(examples / name)[:200])
            run = onset("mha", "learn", folder)
            self.assertEqual((run.returncode, run.stdout), (4, ""))
            self.assertIn("X.npy: has the shape 200 x 2 x 8, but manifest.json beside it says "
                          "300 samples", run.stderr)
            (examples / "manifest.json").unlink()
            self.assertEqual(onset("mha", "learn", folder).returncode, 3)

    def test_inputs_that_the_manifest_does_not_say_in_our_words_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            onset("mha", "generate", *SMALL, "--samples", "100", "--out", folder)
            path = pathlib.Path(folder, "manifest.json")
            manifest = json.loads(path.read_text(encoding="utf-8"))
            for inputs, shown in [("gausian", "'gausian'"), (5, "'5'")]:
                manifest["parameters"]["inputs"] = inputs
                path.write_text(json.dumps(manifest), encoding="utf-8")
                run = onset("mha", "learn", folder)
                self.assertEqual((run.returncode, run.stdout), (4, ""))
                self.assertIn(f"manifest.json: has the value {shown} of 'inputs'; allowed: boolean "
                              "or gaussian", run.stderr)
                self.assertEqual("did you mean 'gaussian'?" in run.stderr, inputs == "gausian")
            manifest["parameters"]["inputs"] = {}
            path.write_text(json.dumps(manifest), encoding="utf-8")
            run = onset("mha", "learn", folder)
            self.assertEqual(run.returncode, 4)
            self.assertIn("manifest.json: has an object as the value of 'inputs'", run.stderr)

    def test_a_shape_that_the_file_does_not_hold_is_about_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            onset("mha", "generate", *SMALL, "--samples", "100", "--out", folder)
            pathlib.Path(folder, "manifest.json").unlink()
            path = pathlib.Path(folder, "X.npy")
            whole = path.read_bytes()
            for examples, words in [(9223372036854775807, "no memory holds"), (10 ** 12, "is cut short"),
                                    (50, "has more bytes than its shape says")]:
                path.write_bytes(with_examples(whole, examples))
                run = onset("mha", "learn", folder)
                self.assertEqual((run.returncode, run.stdout), (4, ""), run.stderr)
                self.assertRegex(run.stderr, f"X.npy: .*{words}")

    def test_a_long_field_of_a_certificate_is_not_repeated(self):
        with tempfile.TemporaryDirectory() as folder:
            onset("mha", "generate", *SMALL, "--samples", "100", "--out", folder)
            for text in ['{"schema": 6, "verdict": "%s"}' % ("x" * 5000),
                         '{"schema": "%s"}' % ("x" * 5000)]:
                pathlib.Path(folder, "certificate.json").write_text(text, encoding="ascii")
                run = onset("mha", "verify", folder, "--model", folder)
                self.assertEqual(run.returncode, 4, run.stderr)
                self.assertLess(len(run.stderr), 500)
                self.assertIn("xx .. (", run.stderr)

    def test_a_folder_that_is_not_there_and_a_broken_certificate(self):
        self.assertEqual(onset("mha", "learn", "no/such/folder").returncode, 4)
        with tempfile.TemporaryDirectory() as folder:
            onset("mha", "generate", *SMALL, "--samples", "100", "--out", folder)
            pathlib.Path(folder, "certificate.json").write_text("{}", encoding="ascii")
            run = onset("mha", "verify", folder, "--model", folder)
            self.assertEqual(run.returncode, 4)
            self.assertIn("certificate.json", run.stderr)

    def test_usage_is_checked_before_anything_is_read(self):
        for arguments, word in [(["learn"], "examples"), (["generate", "--dim", "8"], "--out"),
                                (["learn", "x", "--heads", "9"], "--heads"),
                                (["generate", "--degenerate", "parity", "--heads", "3", "--out",
                                  "x"], "--heads"),
                                (["trial", "--degree", "0.5"], "--degree: has no effect"),
                                (["trial", "--degenerate", "parity", "--degree", "1"],
                                 "--degree: has no effect"),
                                (["trial", "--degenerate", "parity", "--coherence", "0.1"],
                                 "--coherence: has no effect"),
                                (["trial", "--degenerate", "cancelling", "--heads", "1"],
                                 "--heads"),
                                (["compare", "--degenerate", "parity", "--inputs", "gaussian"],
                                 "--inputs: a parity is one of bits")]:
            run = onset("mha", *arguments)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(word, run.stderr)


if __name__ == "__main__":
    unittest.main()
