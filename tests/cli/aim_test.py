"""The verbs of aim as the shell sees them."""

import csv
import json
import os
import tempfile
import time
import unittest

from onset_command import onset, one_object


def rows(*arguments):
    done = onset("aim", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return one_object(done.stdout)["rows"]


class Remarks(unittest.TestCase):
    def test_few_samples_are_said_in_few_digits(self):
        for alpha, said in (("5e-324", "0.05"), ("1e-9", "0.05"), ("0.03", "0.6")):
            done = onset("aim", "amp", "--dim", "20", "--alpha", alpha, "--runs", "1",
                         "--format", "json")
            notes = one_object(done.stdout)["notes"]
            self.assertTrue(any(f": alpha d = {said} is below 5" in note for note in notes), notes)


class Limits(unittest.TestCase):
    def test_curve_has_the_columns_of_the_contract(self):
        for channel in ["softmax", "hardmax", "linear"]:
            for row in rows("curve", "--channel", channel, "--alpha", "0,1e-6,0.1,1000"):
                names = [name for name in row if not name.endswith("_err")]
                self.assertEqual(names, ["alpha", "q", "qhat", "mmse", "test", "test_plug_in", "free_entropy",
                                         "converged"])
                self.assertTrue(row["converged"])
                self.assertAlmostEqual(row["q"] + row["mmse"], 1.5, places=12)

    def test_perfect_recovery_is_exactly_zero_with_an_infinite_precision(self):
        last = rows("curve", "--alpha", "0.1875")[0]
        self.assertEqual((last["mmse"], last["mmse_err"], last["qhat"]), (0, 0, None))

    def test_errors_on_labels_that_are_not_computed_are_said(self):
        noise = ["--noise-variance", "0.1", "--noise-kind", "equal", "--alpha", "0.1"]
        for channel, said in (("softmax", True), ("linear", False)):
            result = one_object(onset("aim", "curve", "--channel", channel, *noise, "--format", "json").stdout)
            self.assertEqual(result["rows"][0]["test"] is None, said)
            self.assertEqual(any("test is empty" in note for note in result.get("notes", [])), said)

    def test_the_potential_is_largest_next_to_the_fixed_point(self):
        fixed = rows("curve", "--alpha", "0.1")[0]
        found = rows("potential", "--alpha", "0.1", "--points", "41")
        self.assertEqual([name for name in found[0] if not name.endswith("_err")],
                         ["alpha", "q", "mmse", "free_entropy", "slope", "maximum"])
        best = [row for row in found if row["maximum"] != "no"]
        self.assertEqual([row["maximum"] for row in best], ["global"])
        self.assertLess(abs(best[0]["q"] - fixed["q"]), 1 / 41)
        self.assertLess(best[0]["free_entropy"], fixed["free_entropy"])
        for row in found:
            self.assertEqual(row["slope"] > 0, row["q"] < fixed["q"])

    def test_above_perfect_recovery_the_potential_has_no_bound_and_says_so(self):
        result = one_object(onset("aim", "potential", "--alpha", "0.2", "--points", "5", "--format", "json").stdout)
        self.assertNotIn("global", [row["maximum"] for row in result["rows"]])
        self.assertTrue(any("without bound" in note for note in result["notes"]))
        done = onset("aim", "potential", "--channel", "hardmax", "--output", "density", "--alpha", "0.1")
        self.assertEqual(done.returncode, 3)

    def test_a_long_curve_is_quick(self):
        start = time.monotonic()
        self.assertEqual(len(rows("curve", "--alpha", "log:1e-4:0.3:256")), 256)
        self.assertLess(time.monotonic() - start, 30)  # 0.2 s on an idle machine

    def test_thresholds(self):
        kinds = {row["kind"]: row["alpha"] for row in rows("thresholds", "--rho", "0.5")}
        self.assertEqual(sorted(kinds), ["perfect", "recovery", "two-bands"])
        self.assertAlmostEqual(kinds["recovery"], 0.8443500 / 4, places=7)
        self.assertEqual(kinds["perfect"], 0.1875)
        weak = rows("thresholds", "--rho", "0", "--channel", "hardmax")
        self.assertEqual([row["kind"] for row in weak], ["weak"])
        self.assertAlmostEqual(weak[0]["alpha"], 0.4034106, places=7)

    def test_of_a_sum_of_layers_only_the_sum_becomes_known(self):
        layers = ["--prior", "wigner", "--layers", "3", "--labels", "sum"]
        done = onset("aim", "thresholds", *layers, "--format", "json")
        self.assertEqual(done.returncode, 0)
        result = one_object(done.stdout)
        self.assertEqual(result["rows"], [])
        self.assertTrue(any("0.25" in note and "sum" in note for note in result["notes"]))
        self.assertAlmostEqual(rows("curve", *layers, "--alpha", "0.25")[0]["mmse"], 2 / 3, places=9)

    def test_spectrum_has_mass_one_and_its_columns(self):
        done = onset("aim", "spectrum", "--rho", "0.1", "--delta", "0.2", "--format", "json")
        result = one_object(done.stdout)
        self.assertEqual(result["summary"]["bands"], 2)
        self.assertAlmostEqual(result["summary"]["mass"], 1.0, places=12)
        self.assertLessEqual({"x", "density", "denoiser"}, set(result["rows"][0]))

    def test_layers_that_do_not_close_are_refused_with_the_reason(self):
        done = onset("aim", "curve", "--layers", "2", "--alpha", "0.1", "--format", "json")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(one_object(done.stdout)["status"], "refused")
        self.assertIn("closed form", done.stderr)
        self.assertEqual(rows("curve", "--layers", "2", "--labels", "separate", "--alpha", "0.1"),
                         rows("curve", "--alpha", "0.1"))

    def test_two_gaussian_layers_behind_one_label_have_a_row_each(self):
        layers = ["--prior", "wigner", "--layers", "2", "--labels", "deep"]
        found = rows("curve", *layers, "--alpha", "0,0.5")
        self.assertEqual([(row["alpha"], row["layer"], row["mmse"]) for row in found],
                         [(0, 1, 1), (0, 2, 1), (0.5, 1, 0), (0.5, 2, 0)])
        self.assertEqual([row["alpha"] for row in rows("thresholds", *layers)], [0.5])
        for arguments, word in [(["--tokens", "3"], "integral"), (["--channel", "hardmax"], "softmax"),
                                (["--noise", "1"], "noise")]:
            done = onset("aim", "curve", *layers, *arguments, "--alpha", "0.1", "--format", "json")
            self.assertEqual(done.returncode, 3, arguments)
            self.assertIn(word, done.stderr)
        self.assertEqual(onset("aim", "potential", *layers, "--alpha", "0.1").returncode, 3)
        amp = rows("amp", *layers, "--dim", "12", "--alpha", "0.05", "--runs", "2", "--iterations", "300")
        self.assertEqual([row["layer"] for row in amp], [1, 2])
        self.assertEqual(onset("aim", "amp", "--prior", "wigner", "--alpha", "0.1").returncode, 3)
        self.assertEqual(onset("aim", "amp", *layers, "--data", ".").returncode, 2)

    def test_how_one_layer_is_labelled_makes_no_difference(self):
        one = [rows("curve", "--prior", "wigner", "--labels", labels, "--alpha", "0.1")
               for labels in ["deep", "separate", "sum"]]
        self.assertEqual(one[0], one[1])
        self.assertEqual(one[0], one[2])


class Training(unittest.TestCase):
    COLUMNS = ["alpha", "decay", "mse", "mmse", "train", "test", "test_clean", "objective", "overlap", "norm",
               "cosine", "trace", "penalty", "rank", "delta", "threshold", "scale", "chi", "replicon", "bistable",
               "status"]

    def test_rows_have_the_columns_of_the_contract(self):
        for arguments in (["--channel", "linear"], ["--loss", "fields"], ["--loss", "cross-entropy"],
                          ["--channel", "hardmax"]):
            row = rows("erm", *arguments, "--alpha", "0.3", "--decay", "0.05")[0]
            self.assertEqual([name for name in row if not name.endswith("_err")], self.COLUMNS)
            self.assertEqual(row["status"], "exact")
            self.assertEqual(row["mse"] is None, "hardmax" in arguments)
            self.assertLess(row["replicon"], 1)

    def test_rows_come_in_the_order_of_their_grids(self):
        found = rows("erm", "--channel", "linear", "--alpha", "0.1,0.2", "--decay", "0,0.5,0.1")
        self.assertEqual([(row["alpha"], row["decay"]) for row in found],
                         [(a, l) for a in (0.1, 0.2) for l in (0, 0.5, 0.1)])
        self.assertIsNone(found[0]["chi"])  # an interpolator

    def test_too_much_decay_leaves_nothing_and_says_so(self):
        largest = rows("thresholds", "--alpha", "0.2", "--loss", "fields")[-1]
        self.assertEqual(largest["kind"], "decay_max")
        row = rows("erm", "--loss", "fields", "--alpha", "0.2", "--decay", str(1.01 * largest["decay"]))[0]
        self.assertEqual((row["status"], row["mse"], row["norm"]), ("zero", 1.5, 0))

    def test_a_steep_softmax_is_seen_where_nothing_is_learned(self):
        # 1 - E sech^2(beta u/2), u normal of variance 3 (1 + rho), by quadrature of that line.
        row = rows("erm", "--alpha", "0.1", "--beta", "80", "--decay", "1e6")[0]
        self.assertAlmostEqual(row["test"], 0.990597, places=6)
        self.assertAlmostEqual(row["test_clean"], 0.990597, places=6)
        # Labels that are signs: closed forms of both conjugates, and one root.
        largest = rows("thresholds", "--alpha", "0.1", "--beta", "1e6")[-1]
        self.assertAlmostEqual(largest["decay"], 726387, delta=1)

    def test_no_objective_is_claimed_above_one_that_is_attained(self):
        # S = zeta S0 has objectives of 132.4 and 1323 [aim 110]; so small a decay is at the limit of what is resolved.
        for alpha, decay, attained in (("1e4", "1", 132.4), ("1e8", "0.01", 1323)):
            done = onset("aim", "erm", "--channel", "hardmax", "--alpha", alpha, "--decay", decay, "--format", "json")
            found = one_object(done.stdout)
            if found["rows"][0]["objective"] > attained:
                self.assertEqual(done.returncode, 3)
                self.assertIn("not the minimum", done.stdout + done.stderr)
            else:
                self.assertEqual(done.returncode, 0)

    def test_the_window_without_decay_is_in_the_summary(self):
        done = onset("aim", "erm", "--loss", "fields", "--alpha", "0.1", "--format", "json")
        result = one_object(done.stdout)
        self.assertEqual(result["rows"][0]["decay"], 0)
        self.assertAlmostEqual(result["summary"]["no_decay_from"], 0.2512 / 4, places=4)

    def test_cross_entropy_without_decay_is_an_interpolator_or_refused(self):
        soft = rows("erm", "--loss", "cross-entropy", "--alpha", "0.1", "--decay", "0")[0]
        square = rows("erm", "--loss", "square", "--alpha", "0.1", "--decay", "0")[0]
        self.assertEqual((soft["mse"], soft["status"]), (square["mse"], "exact"))
        self.assertGreater(soft["train"], 0.5)  # the entropy of its labels
        done = onset("aim", "erm", "--channel", "hardmax", "--alpha", "0.1", "--decay", "0", "--format", "json")
        self.assertEqual(done.returncode, 3)
        self.assertIn("can be separated at every alpha", one_object(done.stdout)["reason"])

    def test_narrow_students_are_refused_by_theory_and_shown_by_descent(self):
        model = ["--channel", "linear", "--noise-variance", "0.1", "--alpha", "0.1"]
        done = onset("aim", "erm", *model, "--decay", "0.05", "--width-ratio", "0.3", "--format", "json")
        self.assertEqual(done.returncode, 3)
        self.assertIn("rank 0.515", one_object(done.stdout)["reason"])
        done = onset("aim", "gd", *model, "--decay", "0.05", "--width", "3", "--dim", "10", "--starts", "2",
                     "--runs", "2", "--format", "json")
        result = one_object(done.stdout)
        self.assertTrue(any("cannot reach it" in note for note in result["notes"]), result["notes"])
        self.assertAlmostEqual(result["rows"][0]["mse_erm"], 0.3890233561, places=6)

    def test_the_law_of_the_trained_matrix_has_mass_one(self):
        done = onset("aim", "spectrum", "--learned", "--loss", "fields", "--alpha", "0.3", "--decay", "0.1",
                     "--points", "2001", "--format", "json")
        result = one_object(done.stdout)
        x = [row["x"] for row in result["rows"]]
        density = [row["density"] for row in result["rows"]]
        mass = sum(0.5 * (density[i] + density[i + 1]) * (x[i + 1] - x[i]) for i in range(len(x) - 1))
        self.assertAlmostEqual(mass + result["summary"]["atom"], 1, places=5)
        self.assertAlmostEqual(x[-1], result["summary"]["edge"], places=9)

    def test_what_cannot_be_meant_is_named(self):
        alpha = ["--alpha", "0.1"]
        for arguments, words in [
                (["erm", *alpha, "--decay", "-1"], ["--decay", "optimal"]),
                (["erm", *alpha, "--decay", "best"], ["--decay", "'best'", "optimal"]),
                (["erm", *alpha, "--loss", "squared"], ["--loss", "did you mean 'square'"]),
                (["erm", *alpha, "--channel", "linear", "--loss", "fields"], ["--loss", "allowed: square"]),
                (["erm", *alpha, "--channel", "hardmax", "--loss", "fields"], ["--loss", "cross-entropy"]),
                (["erm", *alpha, "--channel", "hardmax", "--optimise", "mse"], ["--optimise", "test"]),
                (["erm", *alpha, "--penalty", "ridge", "--width-ratio", "1"], ["--width-ratio", "trace"]),
                (["erm", "--alpha", "0"], ["--alpha"]),
                (["spectrum"], ["--delta", "--learned"]),
                (["spectrum", "--learned", "--decay", "1"], ["--alpha", "allowed"]),
                (["spectrum", "--learned", "--delta", "1", "--decay", "1", *alpha], ["--delta", "allowed"]),
                (["spectrum", "--delta", "1", *alpha], ["--alpha", "--learned"]),
                (["thresholds", "--rho", "0", *alpha], ["--alpha", "allowed"]),
                (["spectrum", "--delta", "1", "--loss", "fields"], ["--loss", "--learned", "allowed"]),
                (["thresholds", "--loss", "fields"], ["--loss", "--alpha", "allowed"]),
                (["erm", *alpha, "--decay", "0.1", "--optimise", "test"], ["--optimise", "optimal", "allowed"]),
                (["curve", *alpha, "--skip", "5"], ["--skip", "--layers", "allowed"]),
                (["amp", *alpha, "--dim", "20", "--skip", "3"], ["--skip", "--layers", "allowed"]),
                (["curve", *alpha, "--channel", "linear", "--beta", "7"], ["--beta", "linear", "allowed"]),
                (["curve", *alpha, "--channel", "hardmax", "--beta", "7"], ["--beta", "hardmax", "allowed"]),
                (["thresholds", "--channel", "hardmax", "--beta", "7"], ["--beta", "hardmax", "allowed"]),
                (["flow", "--time", "0.1", "--draws", "99"], ["--draws", "closed form", "allowed"]),
                (["flow", "--time", "0.1", "--size", "999"], ["--size", "closed form", "allowed"]),
                (["flow", "--spectrum", "0.1", "--draws", "99"], ["--draws", "closed form", "allowed"]),
                (["flow", "--time", "0.1", "--points", "99"], ["--points", "--spectrum", "allowed"]),
                (["flow", "--time", "0.1", "--smoothing", "0.5"], ["--smoothing", "--spectrum", "allowed"]),
                (["gd", *alpha, "--decay", "-1"], ["--decay"]), (["gd", *alpha, "--width", "0"], ["--width"])]:
            done = onset("aim", *arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            for word in words:
                self.assertIn(word, done.stderr)

    def test_a_kind_of_noise_without_noise_is_refused(self):
        for arguments in (["erm", "--alpha", "0.1"], ["curve", "--alpha", "0.1"], ["flow", "--time", "0.1"],
                          ["gd", "--alpha", "0.1"], ["sgd", "--time", "0.1"], ["amp", "--alpha", "0.1"],
                          ["thresholds"]):
            done = onset("aim", *arguments, "--noise-kind", "equal")
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            for word in ("--noise-kind", "--noise-variance", "allowed"):
                self.assertIn(word, done.stderr)
        # One point of a sweep over the noise may have none.
        zero = ["--noise-variance", "0", "--noise-kind", "equal"]
        self.assertEqual(onset("aim", "curve", "--alpha", "0.1", *zero).returncode, 0)

    def test_the_best_decay_of_few_hardmax_labels_is_none_and_that_is_said_soon(self):
        done = onset("aim", "erm", "--alpha", "0.05", "--channel", "hardmax", "--decay", "optimal", "--format", "json")
        self.assertEqual(done.returncode, 3)
        result = one_object(done.stdout)
        self.assertIn("a larger --alpha", result["reason"])
        # The search went down to decays of 1e-8, each of which took seconds: 92 s.
        self.assertLess(result["seconds"], 40)

    def test_what_is_refused_names_the_option_that_was_given(self):
        done = onset("aim", "sgd", "--noise-variance", "0.3", "--time", "0.1", "--format", "json")
        self.assertIn("--noise-variance", one_object(done.stdout)["reason"])

    def test_the_width_of_students_is_in_the_summary_where_it_is_given(self):
        done = onset("aim", "gd", "--dim", "16", "--alpha", "0.1", "--width", "16", "--runs", "2", "--starts", "2",
                     "--steps", "2", "--format", "json")
        summary = one_object(done.stdout)["summary"]
        self.assertEqual((summary["width"], summary["student_width"]), (8, 16))

    def test_what_the_equations_do_not_cover_is_refused(self):
        for arguments in (["--channel", "hardmax", "--decay", "0"], ["--tokens", "9", "--decay", "0.1"],
                          ["--channel", "hardmax", "--loss", "square"],
                          ["--noise-variance", "1", "--noise-kind", "equal", "--decay", "1"]):
            done = onset("aim", "erm", "--alpha", "0.1", *arguments, "--format", "json")
            self.assertEqual(done.returncode, 3, arguments)
            self.assertEqual(one_object(done.stdout)["status"], "refused")
            self.assertIn("possible", one_object(done.stdout)["reason"])


class BadInput(unittest.TestCase):
    def test_the_option_and_what_is_allowed_are_named(self):
        for arguments, option in [(["curve", "--tokens", "1", "--alpha", "0.1"], "--tokens"),
                                  (["curve", "--rho", "-1", "--alpha", "0.1"], "--rho"),
                                  (["curve", "--alpha", "0.1,nan"], "--alpha"),
                                  (["curve", "--channel", "hardmax", "--noise", "1", "--alpha", "0.1"], "--noise"),
                                  (["curve", "--channel", "linear", "--noise", "1", "--noise-variance", "2",
                                    "--alpha", "0.1"], "--noise-variance 2"),
                                  (["curve", "--output", "density", "--alpha", "1"], "--output"),
                                  (["amp", "--rho", "0", "--alpha", "0.1"], "--rho"),
                                  (["amp"], "--alpha"),
                                  (["generate"], "--out"),
                                  (["spectrum", "--delta", "0"], "--delta")]:
            done = onset("aim", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(option, done.stderr)
            self.assertIn("allowed", done.stderr)

    def test_sizes_beyond_memory_are_said_before_anything_starts(self):
        start = time.monotonic()
        for verb in ["amp", "gd"]:
            done = onset("aim", verb, "--dim", "20000", "--alpha", "1")
            self.assertEqual(done.returncode, 2)
            self.assertIn("memory", done.stderr)
        self.assertLess(time.monotonic() - start, 30)


class Learners(unittest.TestCase):
    def test_amp_reads_what_generate_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "data")
            for channel in ["softmax", "hardmax", "linear"]:
                model = ["--channel", channel, "--tokens", "2"]
                done = onset("aim", "generate", *model, "--dim", "30", "--alpha", "0.4", "--out", data)
                self.assertEqual(done.returncode, 0, done.stderr)
                stored = rows("amp", *model, "--data", data)
                drawn = rows("amp", *model, "--dim", "30", "--alpha", "0.4", "--runs", "1")
                self.assertEqual(stored, drawn)  # the same streams, so the same data

    def test_the_model_of_stored_data_comes_from_their_manifest(self):
        with tempfile.TemporaryDirectory() as folder:
            model = ["--channel", "softmax", "--tokens", "3", "--rho", "0.4", "--beta", "400"]
            onset("aim", "generate", *model, "--dim", "20", "--alpha", "0.4", "--out", folder)
            self.assertEqual(rows("amp", "--data", folder),
                             rows("amp", "--data", folder, *model, "--dim", "20", "--runs", "1"))
            self.assertEqual(rows("amp", "--data", folder, "--alpha", "0.2")[0]["alpha"], 0.2)
            for option, value in [("--rho", "0.5"), ("--channel", "linear"), ("--beta", "1"), ("--dim", "21"),
                                  ("--tokens", "2"), ("--noise", "1"), ("--runs", "2"), ("--alpha", "0.5")]:
                done = onset("aim", "amp", "--data", folder, option, value)
                self.assertEqual(done.returncode, 2, option)
                self.assertIn(option, done.stderr)
                self.assertIn("allowed", done.stderr)

    def test_wrong_data_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(onset("aim", "amp", "--data", folder).returncode, 4)
            onset("aim", "generate", "--dim", "10", "--out", folder)
            truth = os.path.join(folder, "truth", "S.npy")
            with open(truth, "r+b") as file:
                file.seek(-8, os.SEEK_END)
                file.write(b"\x00\x00\x00\x00\x00\x00\xf8\x7f")  # not a number
            done = onset("aim", "amp", "--data", folder)
            self.assertEqual(done.returncode, 4)
            self.assertIn("truth/S.npy", done.stderr)
            os.remove(truth)
            os.remove(os.path.join(folder, "manifest.json"))
            done = onset("aim", "amp", "--data", folder, "--tokens", "3")
            self.assertEqual(done.returncode, 4)
            self.assertIn("X.npy", done.stderr)
            self.assertIn("allowed: samples x 3 tokens x dimensions", done.stderr)

    def test_labels_that_no_sample_can_have_are_refused_with_their_file(self):
        with tempfile.TemporaryDirectory() as folder:
            onset("aim", "generate", "--channel", "hardmax", "--dim", "10", "--out", folder)
            with open(os.path.join(folder, "Y.npy"), "r+b") as file:
                file.seek(-1, os.SEEK_END)
                file.write(b"\x05")
            done = onset("aim", "amp", "--data", folder)
            self.assertEqual(done.returncode, 4)
            for word in ["Y.npy", "sample 9", "no column", "allowed: 0 to 1"]:
                self.assertIn(word, done.stderr)

    def test_a_manifest_is_held_to_what_the_options_allow(self):
        with tempfile.TemporaryDirectory() as folder:
            onset("aim", "generate", "--dim", "20", "--alpha", "0.4", "--rho", "1", "--out", folder)
            path = os.path.join(folder, "manifest.json")
            with open(path, encoding="utf-8") as file:
                manifest = json.load(file)
            for name, value in [("channel", "softmin"), ("noise-kind", "foo"), ("rho", None), ("rho", -1.0),
                                ("tokens", 2.5), ("beta", "warm"), ("dim", 1)]:
                changed = dict(manifest, parameters=dict(manifest["parameters"], **{name: value}))
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(changed, file)
                done = onset("aim", "amp", "--data", folder)
                self.assertEqual(done.returncode, 4, (name, value))
                for word in ["manifest.json", name, "allowed"]:
                    self.assertIn(word, done.stderr)
            whole = dict(manifest, parameters=dict(manifest["parameters"], rho=1))
            with open(path, "w", encoding="utf-8") as file:
                json.dump(whole, file)
            self.assertEqual(onset("aim", "amp", "--data", folder, "--explain").returncode, 0)

    def test_noise_of_an_earlier_version_was_a_variance_and_is_not_misread(self):
        with tempfile.TemporaryDirectory() as folder:
            onset("aim", "generate", "--channel", "linear", "--noise", "0.5", "--dim", "20", "--alpha", "0.4",
                  "--out", folder)
            path = os.path.join(folder, "manifest.json")
            with open(path, encoding="utf-8") as file:
                manifest = json.load(file)
            self.assertEqual(manifest["parameters"]["noise-variance"], 0.25)
            done = onset("aim", "amp", "--data", folder, "--format", "json", "--quiet")
            self.assertEqual(one_object(done.stdout)["parameters"]["noise-variance"], 0.25)
            self.assertEqual(onset("aim", "amp", "--data", folder, "--noise", "0.5").returncode, 0)
            self.assertEqual(onset("aim", "amp", "--data", folder, "--noise", "0.25").returncode, 2)
            del manifest["parameters"]["noise-variance"]
            for noise, code in [(0.25, 4), (0.0, 0)]:
                manifest["parameters"]["noise"] = noise
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(manifest, file)
                done = onset("aim", "amp", "--data", folder)
                self.assertEqual(done.returncode, code, done.stderr)
                if code == 4:
                    self.assertIn("was a variance in earlier versions", done.stderr)

    def test_stored_data_have_a_cost_whatever_their_type(self):
        with tempfile.TemporaryDirectory() as folder:
            onset("aim", "generate", "--dim", "20", "--alpha", "0.4", "--out", folder)
            done = onset("aim", "amp", "--data", folder, "--explain", "--format", "json")
            cost = one_object(done.stdout)["rows"][0]
            self.assertGreater(cost["core_seconds"], 0)
            self.assertGreater(cost["memory_bytes"], 3 * 8 * 160 * 2 * 20)
            # One byte for each entry in the file, eight in memory.
            head = b"{'descr': '|i1', 'fortran_order': False, 'shape': (160, 2, 20), }\n"
            with open(os.path.join(folder, "X.npy"), "wb") as file:
                file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + b"\x01" * 6400)
            done = onset("aim", "amp", "--data", folder, "--explain", "--format", "json")
            self.assertEqual(one_object(done.stdout)["rows"][0], cost)

    def test_estimates_count_what_stands_beside_the_students(self):
        """Core-seconds as they were measured; an estimate may be wrong by ten times."""
        for arguments, seconds in [
                (["sgd", "--tokens", "4", "--rho", "0.0491", "--beta", "0.6859", "--start", "gaussian", "--dim", "5",
                  "--runs", "2", "--rate", "0.009823", "--batch", "1", "--time", "0.8324,0,0"], 25),
                (["gd", "--tokens", "5", "--rho", "150.1", "--alpha", "0.9802", "--dim", "5", "--runs", "2",
                  "--starts", "3", "--steps", "2", "--rate", "100", "--decay", "0.002021"], 2.9),
                (["gd", "--rho", "1e5", "--dim", "20", "--alpha", "0.1", "--width", "20", "--starts", "2",
                  "--runs", "2", "--steps", "10"], 0.94),
                (["generate", "--channel", "hardmax", "--rho", "1e6", "--alpha", "1.078", "--dim", "20"], 13.8)]:
            done = onset("aim", *arguments, "--explain", "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            said = one_object(done.stdout)["rows"][0]["core_seconds"]
            self.assertGreater(said, seconds / 10, arguments)
            self.assertLess(said, seconds * 10, arguments)

    def test_one_run_has_no_known_error_and_more_have(self):
        for verb in [["amp", "--dim", "30", "--alpha", "0.3"],
                     ["gd", "--dim", "12", "--alpha", "0.2", "--steps", "300"]]:
            for runs, known in [("1", False), ("3", True)]:
                for name, value in rows(*verb, "--runs", runs)[0].items():
                    if name.endswith("_err") and not name.endswith("_theory_err"):
                        self.assertEqual(value is not None, known, (verb, name))

    def test_a_run_that_is_wrongly_sure_of_itself_is_said(self):
        # Next to perfect recovery (0.1875) at d = 40.
        done = onset("aim", "amp", "--dim", "40", "--alpha", "0.19", "--format", "json")
        result = one_object(done.stdout)
        row = result["rows"][0]
        self.assertGreater(row["mse"], 10 * row["variance"])
        self.assertTrue(any("surer" in note for note in result["notes"]))
        done = onset("aim", "amp", "--dim", "40", "--alpha", "0.1", "--format", "json")
        self.assertFalse(any("surer" in note for note in one_object(done.stdout)["notes"]))

    def test_large_runs_say_their_memory_before_they_start(self):
        done = onset("aim", "amp", "--dim", "1000", "--alpha", "0.04", "--max-seconds", "0.01")
        self.assertIn("GiB of memory", done.stderr)
        self.assertNotIn("GiB", onset("aim", "amp", "--dim", "20", "--alpha", "0.4").stderr)

    def test_probabilities_that_were_rounded_to_0_need_their_logarithms(self):
        with tempfile.TemporaryDirectory() as folder:
            done = onset("aim", "generate", "--dim", "20", "--alpha", "0.4", "--beta", "1000", "--out", folder)
            self.assertIn("logY.npy", done.stdout)
            self.assertEqual(onset("aim", "amp", "--data", folder).returncode, 0)
            os.remove(os.path.join(folder, "logY.npy"))
            done = onset("aim", "amp", "--data", folder)
            self.assertEqual(done.returncode, 4)
            self.assertIn("rounded to 0", done.stderr)

    def test_sizes_that_were_rounded_are_said(self):
        done = onset("aim", "amp", "--dim", "25", "--rho", "0.3", "--alpha", "0.4004", "--runs", "1",
                     "--format", "json")
        result = one_object(done.stdout)
        self.assertEqual(result["summary"]["width"], 8)
        self.assertEqual(result["summary"]["rho_used"], 0.32)
        self.assertTrue(any("n = 250" in note for note in result["notes"]))

    def test_runs_that_still_move_are_unconverged_and_leave_their_trajectory(self):
        with tempfile.TemporaryDirectory() as folder:
            done = onset("aim", "amp", "--dim", "20", "--alpha", "0.3", "--runs", "2", "--iterations", "5",
                         "--format", "json", "--out", folder)
            self.assertEqual(done.returncode, 3)
            result = one_object(done.stdout)
            self.assertEqual((result["status"], len(result["rows"])), ("unconverged", 1))
            self.assertIn("still moved", result["reason"])
            with open(os.path.join(folder, "trajectory.csv"), encoding="utf-8") as file:
                steps = list(csv.DictReader(file))
            self.assertEqual(len({(s["run"], s["iteration"]) for s in steps}), len(steps))
            self.assertLessEqual({"mse", "variance", "overlap", "self_overlap"}, set(steps[0]))

    def test_gd_compares_with_theory_and_hardmax_has_no_gradient(self):
        row = rows("gd", "--dim", "16", "--alpha", "0.1", "--starts", "3", "--steps", "300")[0]
        self.assertLess(row["mse_extrapolated"], row["mse_averaged"])
        self.assertLess(row["mse_averaged"], row["mse_single"])
        done = onset("aim", "gd", "--channel", "hardmax", "--alpha", "0.1")
        self.assertEqual(done.returncode, 3)

    def test_students_that_did_not_arrive_are_unconverged(self):
        for option, advice in [(["--rate", "100"], "--rate"), (["--steps", "1"], "--steps")]:
            done = onset("aim", "gd", "--dim", "12", "--alpha", "0.1", "--starts", "2", *option,
                         "--format", "json")
            self.assertEqual(done.returncode, 3)
            result = one_object(done.stdout)
            self.assertEqual((result["status"], len(result["rows"])), ("unconverged", 1))
            self.assertIn(advice, result["reason"])
            self.assertGreater(result["rows"][0]["loss"], 0.1)

    def test_threads_do_not_change_a_number(self):
        for verb in [["amp", "--dim", "30", "--alpha", "0.3"],
                     ["gd", "--dim", "12", "--alpha", "0.2", "--steps", "300"],
                     ["curve", "--channel", "hardmax", "--tokens", "3", "--alpha", "0.1,1"]]:
            self.assertEqual(rows(*verb, "--threads", "1"), rows(*verb, "--threads", "3"))


if __name__ == "__main__":
    unittest.main()
