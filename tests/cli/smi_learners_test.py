"""smi generate, amp, sgd and potential as a user runs them."""

import csv
import json
import os
import pathlib
import tempfile
import unittest

import numpy

from onset_command import one_object, onset


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class Learners(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, *parts):
        return os.path.join(self.folder.name, *parts)

    def json(self, *arguments, code=0):
        result = onset(*arguments, "--format", "json")
        self.assertEqual(result.returncode, code, result.stderr)
        return one_object(result.stdout)

    def generate(self, *arguments):
        result = onset("smi", "generate", *arguments, "--out", self.path("data"))
        self.assertEqual(result.returncode, 0, result.stderr)

    def rewrite_manifest(self, method, **parameters):
        """As an earlier version wrote it."""
        manifest = pathlib.Path(self.path("data", "manifest.json"))
        content = json.loads(manifest.read_text())
        content["method"] = method
        content["parameters"] |= parameters
        manifest.write_text(json.dumps(content))

    def test_data_of_ones_own_give_what_drawn_data_give(self):
        model = ["--layers", "1", "--seed", "4"]
        self.generate(*model, "--dim", "120", "--alpha", "0.8")
        for name in ["X.npy", "Y.npy", "H.npy", "truth/w.npy"]:
            self.assertTrue(os.path.exists(self.path("data", name)), name)
        drawn = self.json("smi", "amp", *model, "--dim", "120", "--alpha", "0.8", "--runs", "1")
        given = self.json("smi", "amp", *model, "--data", self.path("data"), "--runs", "1")
        self.assertEqual(given["summary"]["dim"], 120)
        os.remove(self.path("data", "H.npy"))
        from_matrices = self.json("smi", "amp", *model, "--data", self.path("data"), "--runs", "1")
        for other in [given, from_matrices]:
            self.assertEqual(other["rows"][0]["alpha"], 0.8)
            for column in ["Q11", "M11", "cos1"]:
                self.assertAlmostEqual(drawn["rows"][0][column], other["rows"][0][column], places=4)

    def test_correlated_tokens_are_whitened(self):
        model = ["--layers", "1", "--token-correlation", "0.6"]
        self.generate(*model, "--dim", "80", "--alpha", "1.5")
        result = self.json("smi", "amp", *model, "--data", self.path("data"), "--runs", "1")
        self.assertGreater(result["rows"][0]["cos1"], 0.999)

    def test_without_a_teacher_there_are_norms_and_weights_only(self):
        self.generate("--link", "square", "--dim", "60", "--samples", "150")
        os.remove(self.path("data", "truth", "w.npy"))
        result = self.json("smi", "amp", "--link", "square", "--data", self.path("data"),
                           "--runs", "1", "--out", self.path("out"))
        row = result["rows"][0]
        self.assertEqual(row["alpha"], 2.5)
        self.assertIsNone(row["M11"])
        self.assertIsNone(row["error_bayes"])
        self.assertGreater(row["Q11"], 0.5)
        self.assertTrue(os.path.exists(self.path("out", "weights.npy")))

    def test_amp_has_the_columns_of_its_contract_and_trajectories(self):
        result = self.json("smi", "amp", "--dim", "60", "--alpha", "0.3,1.5", "--runs", "2",
                           "--nodes", "32", "--out", self.path("out"))
        names = [n for n in result["rows"][0] if not n.endswith("_err")]
        self.assertEqual(names, ["alpha", "Q11", "Q22", "M11", "M22", "cos1", "cos2",
                                 "error_plugin", "error_bayes", "diverged", "escaped", "runs",
                                 "fraction"])
        self.assertIn("Q11_err", result["rows"][0])
        steps = rows(self.path("out", "trajectories.csv"))
        self.assertEqual({s["run"] for s in steps}, {"1", "2"})
        self.assertEqual(steps[0]["iteration"], "1")
        self.assertEqual(len(rows(self.path("out", "runs.csv"))), 4)

    def test_amp_never_averages_runs_that_learned_with_runs_that_did_not(self):
        # Below D = 100 some runs of one layer stay at the size of the start and some learn it.
        result = self.json("smi", "amp", "--layers", "1", "--dim", "60", "--alpha", "0.15,0.3,0.9",
                           "--runs", "8", "--start", "0.001", "--out", self.path("out"))
        runs = rows(self.path("out", "runs.csv"))
        kinds = set()
        for alpha in (0.15, 0.3, 0.9):
            at = [row for row in result["rows"] if row["alpha"] == alpha]
            self.assertEqual(len({row["escaped"] for row in at}), len(at))
            self.assertEqual(sum(row["runs"] for row in at), 8 - at[0]["diverged"])
            self.assertAlmostEqual(sum(row["fraction"] for row in at), 1.0)
            for row in at:
                kinds.add(row["escaped"])
                self.assertGreater(row["fraction_err"], 0.05)
                own = [run for run in runs if float(run["alpha"]) == alpha
                       and run["escaped"] == row["escaped"]
                       and run["end"] not in ("diverged", "false recovery")]
                self.assertEqual(len(own), row["runs"])
                if row["escaped"] == "none":  # held at the size of the start, exactly
                    self.assertAlmostEqual(row["Q11"], 1e-6, delta=1e-18)
                    self.assertIn(row["Q11_err"], (0, None))
        self.assertEqual(kinds, {"none", "1", "exact"})

    def test_amp_does_not_depend_on_threads(self):
        arguments = ["smi", "amp", "--layers", "1", "--dim", "100", "--alpha", "0.8", "--runs", "2"]
        one = self.json(*arguments, "--threads", "1")
        two = self.json(*arguments, "--threads", "2")
        self.assertEqual(one["rows"], two["rows"])

    def test_bad_input_is_named(self):
        for arguments, words in [
            (["amp"], ["--alpha", "missing"]),
            (["amp", "--alpha", "1", "--nodes", "100"], ["--nodes", "power of two"]),
            (["generate", "--dim", "10", "--out", self.path("x")], ["--samples", "does not say"]),
            (["sgd", "--rate", "-1"], ["--rate"]),
            (["sgd", "--engine", "chian"], ["--engine", "chain"]),
            (["sgd", "--engine", "chain", "--dim", "5"], ["--dim", "3 for every", "at least 6"]),
            (["sgd", "--engine", "chain", "--alpha", "2"], ["--alpha", "belongs to --engine batch"]),
            (["sgd", "--engine", "online", "--reuse", "2"], ["--reuse", "belongs to --engine batch"]),
            (["sgd", "--engine", "flow", "--runs", "2"], ["--runs", "allowed: 1"]),
            (["sgd", "--engine", "flow", "--layers", "7"], ["--layers", "up to 6"]),
            (["sgd", "--dim", "40", "--alpha", "0.001"], ["--alpha", "no sample"]),
            (["sgd", "--time", "0.01"], ["--time", "shorter than a step", "0.0264"]),
            (["sgd", "--engine", "chain", "--time", "0.0001"], ["--time", "shorter than a step", "0.001"]),
        ]:
            result = onset("smi", *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            for word in words:
                self.assertIn(word, result.stderr)

    def test_several_runs_on_one_data_set_are_refused(self):
        self.generate("--layers", "1", "--dim", "20", "--samples", "30")
        model = ["smi", "amp", "--layers", "1", "--data", self.path("data")]
        self.assertEqual(self.json(*model)["parameters"]["runs"], 1)
        result = onset(*model, "--runs", "3")
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn("--runs: 3 runs on one data set", result.stderr)

    def test_what_a_manifest_says_wrongly_is_a_mistake_of_the_file(self):
        self.generate("--layers", "1", "--dim", "20", "--samples", "30")
        secret = self.path("secret")
        pathlib.Path(secret).write_text("1,0\n0,1\n", encoding="utf-8")
        for name, value in (("weights", {}), ("token-correlation", secret), ("link", "x+"),
                            ("skip", [1, 2, 3, 4]), ("beta", -1)):
            self.generate("--layers", "1", "--dim", "20", "--samples", "30")
            self.rewrite_manifest(method=99, **{name: value})
            result = onset("smi", "amp", "--data", self.path("data"))
            self.assertEqual(result.returncode, 4, (name, result.stderr))
            self.assertIn("manifest.json", result.stderr)
            self.assertIn(f"'{name}'", result.stderr)

    def test_files_that_do_not_fit_are_named(self):
        self.generate("--layers", "1", "--dim", "20", "--samples", "30")
        other = ["smi", "amp", "--layers", "1", "--tokens", "3", "--data", self.path("data")]
        result = onset(*other)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--tokens: 3 contradicts manifest.json", result.stderr)
        os.remove(self.path("data", "manifest.json"))
        result = onset(*other)
        self.assertEqual(result.returncode, 4)
        self.assertIn("X.npy", result.stderr)
        self.assertIn("3 tokens", result.stderr)
        result = onset("smi", "amp", "--layers", "1", "--data", self.path("nowhere"))
        self.assertEqual(result.returncode, 4)
        result = onset("smi", "amp", "--layers", "1", "--data", self.path("data"), "--alpha", "3")
        self.assertEqual(result.returncode, 2)

    def test_a_folder_says_itself_what_model_it_is_of(self):
        for model, said in [(["--layers", "1", "--tokens", "3", "--beta", "0.5"],
                             {"layers": 1, "tokens": 3, "beta": 0.5, "link": "none"}),
                            (["--link", "square"], {"link": "square", "layers": 2})]:
            self.generate(*model, "--dim", "40", "--alpha", "1.5")
            whole = self.json("smi", "amp", *model, "--data", self.path("data"))
            short = self.json("smi", "amp", "--data", self.path("data"))
            self.assertEqual(whole["rows"], short["rows"])
            self.assertEqual(whole["parameters"], short["parameters"])
            self.assertEqual(short["parameters"] | said, short["parameters"])
            self.assertEqual(short["parameters"]["alpha"], [1.5])

    def test_samples_of_a_typed_link_have_the_tokens_that_it_reads_or_that_are_asked_for(self):
        tokens = lambda: numpy.load(self.path("data", "X.npy")).shape[1]
        for words, expected in [([], 3), (["--tokens", "4"], 4)]:
            self.generate("--link", "z1_1+z1_3", *words, "--dim", "20", "--alpha", "2")
            self.assertEqual(tokens(), expected)
        for words, expected in [([], 1), (["--tokens", "2"], 2)]:
            self.generate("--link", "z1^3", *words, "--dim", "20", "--alpha", "2")
            self.assertEqual(tokens(), expected)
            self.json("smi", "amp", "--data", self.path("data"))
        for verb in ["thresholds", "exponent"]:
            result = onset("smi", verb, "--link", "z1_1+z1_3", "--tokens", "2")
            self.assertEqual(result.returncode, 2)
            self.assertIn("--tokens: 2 is less than the token 3 that the link reads", result.stderr)
        for verb in [["exponent"], ["thresholds"], ["spectral", "--alpha", "1"]]:
            result = onset("smi", *verb, "--link", "square", "--tokens", "3")
            self.assertEqual(result.returncode, 2)
            self.assertIn("--tokens: describes deep attention", result.stderr)

    def test_the_default_of_tokens_in_an_older_manifest_means_those_of_the_link(self):
        self.generate("--link", "z1^3", "--dim", "20", "--alpha", "2")
        self.rewrite_manifest(method=2, tokens=2)
        self.json("smi", "amp", "--data", self.path("data"))

    def test_inputs_of_another_law_are_named(self):
        self.generate("--layers", "1", "--dim", "50", "--samples", "100")
        x = numpy.load(self.path("data", "X.npy"))
        for wrong, said in [(3 * x, "token 1 have the mean square 9"),
                            (x * [[[1.0], [0.5]]], "token 2 have the mean square 0.2"),
                            (x[:, [0, 0]], "tokens 1 and 2 have the mean product 1")]:
            numpy.save(self.path("data", "X.npy"), wrong)
            result = onset("smi", "amp", "--data", self.path("data"))
            self.assertEqual(result.returncode, 4)
            self.assertIn("X.npy", result.stderr)
            self.assertIn(said, result.stderr)

    def test_matrices_that_no_model_makes_are_named_with_their_fault(self):
        self.generate("--dim", "20", "--alpha", "1")
        os.remove(self.path("data", "H.npy"))
        good = numpy.load(self.path("data", "Y.npy"))
        for matrix, said in [([[0.3, 1.2], [0.6, 0.4]], "outside"),
                             ([[0.3, 0.9], [0.6, 0.4]], "sum to 1"),
                             ([[1.0, 0.0], [0.6, 0.4]], "rounded"),
                             ([[0.3, 0.7], [0.6, 0.4]], "none of this model")]:
            wrong = good.copy()
            wrong[7] = matrix
            numpy.save(self.path("data", "Y.npy"), wrong)
            result = onset("smi", "amp", "--data", self.path("data"))
            self.assertEqual(result.returncode, 4)
            self.assertIn("sample 7", result.stderr)
            self.assertIn(said, result.stderr)

    def test_labels_that_a_link_cannot_have_are_named(self):
        for link, label, said in [("relu", -0.5, "0 or more"), ("sign", 0.3, "-1, 1"),
                                  ("square", -1.0, "none of this link")]:
            self.generate("--link", link, "--dim", "20", "--alpha", "2")
            y = numpy.load(self.path("data", "Y.npy"))
            y[5] = label
            numpy.save(self.path("data", "Y.npy"), y)
            result = onset("smi", "amp", "--link", link, "--data", self.path("data"))
            self.assertEqual(result.returncode, 4)
            self.assertIn("sample 5", result.stderr)
            self.assertIn(said, result.stderr)

    def test_a_last_layer_of_rank_three_is_refused_with_the_reason(self):
        result = self.json("smi", "amp", "--layers", "1", "--tokens", "4", "--rank", "3", "--alpha",
                           "1", "--dim", "20", code=3)
        self.assertEqual(result["status"], "refused")
        self.assertEqual(result["rows"], [])

    def test_data_of_rank_two_are_read_up_to_a_rotation(self):
        self.generate("--layers", "1", "--tokens", "3", "--rank", "2", "--dim", "60", "--alpha", "1")
        row = self.json("smi", "amp", "--data", self.path("data"))["rows"][0]
        self.assertEqual(row["escaped"], "exact")
        self.assertGreater(row["cos1"], 0.9999)
        self.assertAlmostEqual(row["Q1_12"], row["M1_12"], places=4)
        self.assertAlmostEqual(row["Q1_22"], row["M1_22"], places=4)

    def test_a_planted_start_has_no_size(self):
        result = onset("smi", "amp", "--init", "planted", "--start", "0.1", "--alpha", "1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--start-overlap", result.stderr)

    def test_sizes_beyond_memory_are_said_before_starting(self):
        result = onset("smi", "amp", "--dim", "1000000", "--alpha", "100")
        self.assertEqual(result.returncode, 2)
        self.assertIn("memory", result.stderr)

    def test_the_largest_value_at_the_end_of_a_table_is_no_maximum(self):
        # Of one layer of three tokens the overlap is 0.9894 at alpha = 0.33, and 0.4375 at 0.2.
        for alpha, word in (("0.33", "edge"), ("0.2", "global")):
            found = self.json("smi", "potential", "--layers", "1", "--tokens", "3", "--alpha", alpha, "--points", "10",
                              "--tol", "0.02")["rows"]
            largest = max(found, key=lambda row: row["free_entropy"])
            self.assertEqual(largest["maximum"], word)

    def test_sgd_rows_are_runs_over_time(self):
        for engine, time in [("batch", "4"), ("online", "2"), ("chain", "2")]:
            result = self.json("smi", "sgd", "--engine", engine, "--dim", "30", "--time", time,
                               "--records", "4", "--runs", "2", "--rate", "0.5")
            names = [n for n in result["rows"][0] if not n.endswith("_err")]
            self.assertEqual(names, ["run", "time", "cos1", "cos2"])
            self.assertEqual(len(result["rows"]), 10)
            self.assertEqual([r["run"] for r in result["rows"]], [1] * 5 + [2] * 5)
            self.assertEqual(result["rows"][4]["time"], float(time))
            self.assertNotEqual(result["rows"][0]["cos1"], result["rows"][5]["cos1"])

    def test_a_folder_may_be_read_again_after_message_passing_wrote_into_it(self):
        self.generate("--layers", "1", "--dim", "60", "--alpha", "0.8")
        data = self.path("data")
        for _ in range(2):
            result = onset("smi", "amp", "--data", data, "--out", data, "--iterations", "5")
            self.assertIn(result.returncode, (0, 3), result.stderr)

    def test_other_ways_to_write_the_same_model_do_not_contradict_the_manifest(self):
        self.generate("--dim", "40", "--alpha", "1", "--token-correlation", "0.3")
        for words in (["--skip", "1,1"], ["--skip", "1,0.5"], ["--rank", "1,1"],
                      ["--token-correlation", "equi:0.3"]):
            result = onset("smi", "amp", "--data", self.path("data"), *words, "--explain")
            self.assertEqual(result.returncode, 0, result.stderr)
        result = onset("smi", "amp", "--data", self.path("data"), "--skip", "0.5", "--explain")
        self.assertEqual(result.returncode, 2)
        self.assertIn("contradicts manifest.json", result.stderr)

    def test_labels_that_an_earlier_version_filed_otherwise_are_not_misread(self):
        self.generate("--link", "square", "--dim", "40", "--alpha", "2")
        self.rewrite_manifest(method=1)
        result = onset("smi", "amp", "--data", self.path("data"))
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("earlier version", result.stderr)

    def test_labels_of_links_are_filed_as_the_documentation_says(self):
        formulas = {
            "linear": lambda z: z[0],
            "square": lambda z: z[0] ** 2,
            "he4": lambda z: z[0] ** 4 - 6 * z[0] ** 2 + 3,
            "sign": lambda z: numpy.sign(z[0]),
            "relu": lambda z: numpy.maximum(z[0], 0),
            "product": lambda z: z[0] * z[1],
            "parity3": lambda z: numpy.sign(z[0] * z[1] * z[2]),
            "norm": lambda z: z[0] ** 2 + z[1] ** 2,
            "committee": lambda z: numpy.sign(z[0] + z[1]) + numpy.sign(z[0] - z[1]),
            "staircase": lambda z: z[0] ** 2 + numpy.sign(z[0] * z[1] * z[2]),
        }
        for link, formula in formulas.items():
            self.generate("--link", link, "--dim", "50", "--samples", "20")
            x, y, w = (numpy.load(self.path("data", name)) for name in
                       ("X.npy", "Y.npy", "truth/w.npy"))
            fields = w @ x[:, 0, :].T / numpy.sqrt(50)
            # Sums of 50 products of size 1, and powers of them up to the fourth.
            rounding = 1e-12 * (1 + numpy.abs(fields).max() ** 4)
            numpy.testing.assert_allclose(y[:, 0], formula(fields), atol=rounding, err_msg=link)

    def test_labels_of_ones_own_are_those_of_the_documentation(self):
        random = numpy.random.default_rng(3)
        w, x = random.standard_normal(200), random.standard_normal((400, 1, 200))
        os.makedirs(self.path("own"))
        numpy.save(self.path("own", "X.npy"), x)
        numpy.save(self.path("own", "Y.npy"), (x[:, 0] @ w / numpy.sqrt(200))[:, None] ** 2)
        folder = self.path("out")
        self.json("smi", "amp", "--link", "square", "--data", self.path("own"), "--out", folder)
        found = numpy.load(os.path.join(folder, "weights.npy"))[0]
        cosine = abs(found @ w) / numpy.linalg.norm(found) / numpy.linalg.norm(w)
        self.assertGreater(cosine, 0.999)  # exact recovery: alpha = 2 is well above 1.13
        numpy.save(self.path("own", "Y.npy"), -numpy.ones((400, 1)))
        result = onset("smi", "amp", "--link", "square", "--data", self.path("own"))
        self.assertEqual(result.returncode, 4)
        self.assertIn("none of this link", result.stderr)

    def test_spectral_methods_take_data_of_ones_own(self):
        for model, dim, alpha in [(["--link", "square"], "200", "1.2"), (["--link", "z1^2+0.5*e1"], "100", "2"),
                                  (["--layers", "1"], "150", "0.5")]:
            self.generate(*model, "--dim", dim, "--alpha", alpha)
            for method in ["symmetric", "lamp"]:
                common = ["smi", "spectral", "--method", method]
                drawn = self.json(*common, *model, "--dim", dim, "--alpha", alpha, "--runs", "1")["rows"]
                given = self.json(*common, "--data", self.path("data"))["rows"]
                self.assertEqual(len(drawn), len(given))
                for a, b in zip(drawn, given):
                    for column in ["overlap", "eigenvalue1", "overlap_found"]:
                        # The same matrix; H.npy and squares of roots round, and so does the solver.
                        self.assertAlmostEqual(a[column], b[column], places=5, msg=(model, method, column))
                self.assertGreater(given[0]["overlap_found"], 0.01)

    def test_spectral_methods_know_no_overlap_without_a_teacher(self):
        self.generate("--link", "square", "--dim", "60", "--alpha", "2")
        os.remove(self.path("data", "truth", "w.npy"))
        row = self.json("smi", "spectral", "--data", self.path("data"), "--alpha", "1.5")["rows"][0]
        self.assertEqual(row["alpha"], 1.5)
        self.assertIsNone(row["overlap_found"])
        self.assertGreater(row["eigenvalue1"], 0.5)

    def test_spectral_methods_name_what_is_wrong_with_a_folder(self):
        self.generate("--link", "square", "--dim", "40", "--alpha", "2")
        data = self.path("data")
        spectral = ["smi", "spectral", "--data", data]
        for words, said in [(["--dim", "40"], "--dim"), (["--runs", "3"], "--runs"),
                            (["--alpha", "5"], "--alpha"), (["--link", "z1^4"], "contradicts manifest.json"),
                            (["--method", "lmap"], "lamp")]:
            result = onset(*spectral, *words)
            self.assertEqual(result.returncode, 2, (words, result.stderr))
            self.assertIn(said, result.stderr)
        result = onset("smi", "spectral", "--link", "square", "--data", self.path("nowhere"))
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("nowhere", result.stderr)
        x, y = (numpy.load(os.path.join(data, name)) for name in ("X.npy", "Y.npy"))
        for name, wrong, said in [("X.npy", 3 * x, "have the mean square"), ("X.npy", x[:, 0], "X.npy"),
                                  ("X.npy", numpy.where(x == x[3, 0, 7], numpy.nan, x), "X.npy"),
                                  ("Y.npy", y[:5], "Y.npy"), ("Y.npy", -y, "sample 0")]:
            numpy.save(os.path.join(data, "X.npy"), x)
            numpy.save(os.path.join(data, "Y.npy"), y)
            numpy.save(os.path.join(data, name), wrong)
            result = onset(*spectral)
            self.assertEqual(result.returncode, 4, (name, said, result.stderr))
            self.assertIn(said, result.stderr)
        numpy.save(os.path.join(data, "X.npy"), x)
        numpy.save(os.path.join(data, "Y.npy"), y)
        self.assertEqual(onset(*spectral).returncode, 0)

    def test_message_passing_from_a_spectral_start_ends_where_state_evolution_does(self):
        model = ["--layers", "1", "--alpha", "0.4"]
        curve = self.json("smi", "curve", *model)["rows"][0]
        run = self.json("smi", "amp", *model, "--init", "spectral", "--dim", "800", "--runs", "8",
                        "--out", self.path("out"))
        row = run["rows"][0]
        self.assertEqual(row["runs"], 8)
        # Student's law of 7 degrees of freedom: 12 errors have a probability of 6e-6.
        error = 12 * 2 * row["cos1"] * row["cos1_err"] + 6 * curve["Q11_err"]
        self.assertLess(abs(row["cos1"] ** 2 - curve["Q11"]), error)
        self.assertLess(row["cos1_err"], 0.03)
        # The start is where smi spectral says that the eigenvectors are.
        limit = self.json("smi", "spectral", *model)["rows"][0]["overlap"]
        first = [step for step in rows(self.path("out", "trajectories.csv")) if step["iteration"] == "0"]
        self.assertEqual(len(first), 8)
        self.assertAlmostEqual(float(first[0]["V1"]), 1 - limit, places=6)
        found = [float(step["cos1"]) ** 2 for step in first]
        self.assertLess(abs(numpy.mean(found) - limit), 12 * numpy.std(found, ddof=1) / numpy.sqrt(8))

    def test_spectral_starts_that_are_not_there_are_said(self):
        low = self.json("smi", "amp", "--link", "square", "--alpha", "0.4", "--dim", "60", "--runs", "2",
                        "--init", "spectral")
        self.assertTrue(any("at random" in note for note in low["notes"]), low["notes"])
        result = onset("smi", "amp", "--link", "committee", "--alpha", "1", "--init", "spectral")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("its expression", result.stdout + result.stderr)

    def test_a_learning_rate_that_diverges_is_exit_3(self):
        result = self.json("smi", "sgd", "--engine", "chain", "--dim", "50", "--rate", "10000",
                           "--time", "10", code=3)
        self.assertEqual(result["status"], "unconverged")
        self.assertEqual(result["summary"]["diverged"], 1)

    def test_directions_without_a_gradient_are_named(self):
        result = self.json("smi", "sgd", "--link", "sign(z1)*z2", "--engine", "chain", "--dim", "300", "--time", "1")
        self.assertTrue(any("by jumps alone with direction 1" in note for note in result["notes"]), result["notes"])

    def test_gradient_descent_learns_links(self):
        result = self.json("smi", "sgd", "--link", "z1+z1*z2", "--engine", "chain", "--dim", "300", "--rate", "0.1",
                           "--time", "60", "--records", "6", "--init", "0.3")
        last = result["rows"][-1]
        self.assertGreater(last["cos1"], 0.95)
        self.assertGreater(last["cos2"], 0.95)
        for words, said in [(["--link", "sign(z1)"], "discrete"), (["--link", "z1*e1"], "noise fields at 0"),
                            (["--link", "sign(z1+0.3*e1)"], "without noise"),
                            (["--link", "attention"], "several outputs")]:
            refused = onset("smi", "sgd", *words)
            self.assertEqual(refused.returncode, 3, refused.stderr)
            self.assertIn(said, refused.stdout + refused.stderr)
        for words, said in [(["--link", "z1^2", "--layers", "3"], "--layers"), (["--link", "squar"], "square"),
                            (["--link", "z1^2", "--engine", "chain", "--dim", "2"], "3 for every direction")]:
            wrong = onset("smi", "sgd", *words)
            self.assertEqual(wrong.returncode, 2, wrong.stderr)
            self.assertIn(said, wrong.stderr)

    def test_gradient_descent_takes_noisy_labels(self):
        common = ["smi", "sgd", "--engine", "chain", "--dim", "300", "--rate", "0.05", "--time", "40", "--records", "4"]
        typed = self.json(*common, "--link", "z1+z2^2+0.5*e1")
        given = self.json(*common, "--link", "z1+z2^2", "--noise", "0.5")
        self.assertEqual([row["cos1"] for row in typed["rows"]], [row["cos1"] for row in given["rows"]])
        self.assertGreater(given["rows"][-1]["cos1"], 0.8)
        self.assertGreater(given["summary"]["noisy_loss"], given["summary"]["loss"] + 0.1)
        wrong = onset("smi", "sgd", "--noise", "0.5")
        self.assertEqual(wrong.returncode, 2, wrong.stderr)
        self.assertIn("--link", wrong.stderr)

    def test_levels_say_which_layer_is_learned_first(self):
        result = self.json("smi", "sgd", "--engine", "chain", "--dim", "300", "--rate", "0.4",
                           "--time", "200", "--runs", "6", "--level", "0.5")
        first = {r["layer"]: r["first"] for r in result["rows"]}
        self.assertEqual(first[2], 1.0)
        self.assertEqual(result["summary"]["learned_first"], 2)

    def test_levels_of_the_limit_have_times_with_errors(self):
        result = self.json("smi", "sgd", "--engine", "flow", "--dim", "1000", "--time", "15",
                           "--records", "15", "--level", "0.5")
        first, last = result["rows"]
        self.assertIsNone(first["time"])
        self.assertEqual((first["reached"], last["reached"], last["first"]), (0.0, 1.0, 1.0))
        self.assertTrue(0.0 < last["time_err"] < last["time"] < 15.0)

    def test_the_limit_says_that_it_diverges(self):
        result = self.json("smi", "sgd", "--engine", "flow", "--rate", "500", "--time", "20",
                           "--records", "5", code=3)
        self.assertIn("learning rate", result["reason"])


if __name__ == "__main__":
    unittest.main()
