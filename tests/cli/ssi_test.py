"""The ssi verbs as a shell sees them: columns, messages, exit codes, the same bits for any threads."""

import json
import math
import tempfile
import unittest
from pathlib import Path

import numpy

from onset_command import one_object, onset

MIXTURE_SGD = ["ssi", "sgd", "--a", "1", "--omega", "0.55,0.7", "--dim", "50", "--rate", "0.5", "--runs", "100",
               "--steps", "8000"]


def run(*arguments):
    return one_object(onset(*arguments, "--format", "json").stdout)


def columns(result):
    return [name for name in result["rows"][0] if not name.endswith("_err")]


class Sie(unittest.TestCase):
    def test_the_row_and_its_meaning(self):
        result = run("ssi", "sie", "--target", "He2(z1)+He2(z2)", "--tokens", "2", "--positional")
        self.assertEqual(columns(result), ["sie", "sie_positional", "sie_descending", "s_eff", "sign", "R_ee", "R_mm",
                                           "verdict"])
        row = result["rows"][0]
        self.assertEqual([row["sie"], row["sie_positional"], row["sie_descending"], row["verdict"]],
                         [2, 2, 2, "present"])
        self.assertAlmostEqual(row["R_ee"], 1.038004107, places=8)
        self.assertIn("d log d", result["summary"]["meaning"])
        self.assertEqual(result["summary"]["reduction"], "trace")

    def test_a_mistake_shows_its_place(self):
        done = onset("ssi", "sie", "--target", "He2(z1)+", "--tokens", "2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--target: expected a number, a variable or a function at column 9", done.stderr)
        self.assertIn("\n  He2(z1)+\n          ^", done.stderr)

    def test_a_student_that_sees_nothing(self):
        result = run("ssi", "sie", "--target", "z1^2-z2^2", "--student", "tied")
        self.assertEqual((result["rows"][0]["sie"], result["rows"][0]["s_eff"]), (2, None))
        self.assertIn("never learned by this student", result["summary"]["meaning"])

    def test_a_student_that_jumps_is_not_learned_by_its_risk(self):
        for student in [["--student", "sign(z1)"], ["--student", "tied", "--activation", "step"]]:
            result = run("ssi", "sie", "--target", "tanh(z1)", *student)
            self.assertEqual((result["summary"]["samples"], result["status"]), ("never", "ok"))
            self.assertIn("never learned by this student: it jumps", result["summary"]["meaning"])
        done = onset("ssi", "sie", "--target", "tanh(z1)", "--student", "sign(z1)+z2", "--format", "json")
        self.assertEqual(done.returncode, 3)
        result = one_object(done.stdout)
        self.assertEqual((result["summary"]["samples"], result["status"]), ("unknown", "unconverged"))
        self.assertIn("the student jumps", result["reason"])

    def test_names_that_are_nearly_right(self):
        for arguments, words in [
                (["z1", "--student", "teid"], ["--student: no student 'teid'; allowed: attention, tied, untied",
                                               "did you mean 'tied'?"]),
                (["sofmax"], ["no target 'sofmax'", "did you mean 'softmax'?"]),
                (["H2sm"], ["did you mean 'H2sum'?"]),
                (["softmax+z1"], ["the named target 'softmax' stands alone at column 1"]),
                (["z1+H2sum"], ["'H2sum' stands alone; in an expression write sum(h2(z)) at column 4"]),
                (["z3"], ["variables are z1, z2"]),
                (["foo(z1)"], ["no function 'foo' at column 1; functions are", "softplus"]),
                (["é(z1)"], ["not 'é' at column 1"]),
                (["z1+é"], ["not 'é' at column 4", "\n  z1+é\n     ^"])]:
            done = onset("ssi", "sie", "--target", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            for word in words:
                self.assertIn(word, done.stderr)

    def test_a_constant_and_an_infinite_target(self):
        self.assertEqual(run("ssi", "sie", "--target", "3")["rows"][0]["verdict"], "absent")
        self.assertEqual(onset("ssi", "sie", "--target", "exp(z1^2)").returncode, 3)

    def test_a_tolerance_is_judged(self):
        arguments = ["ssi", "sie", "--target", "sum(abs(z))", "--tokens", "6"]
        self.assertEqual(onset(*arguments).returncode, 0)
        done = onset(*arguments, "--tol", "1e-9")
        self.assertEqual(done.returncode, 3)
        self.assertIn("above the tolerance 1e-09", done.stdout)
        self.assertEqual(onset("ssi", "sie", "--target", "abs(z1)+abs(z2)", "--tol", "1e-9").returncode, 0)

    def test_sizes_beyond_squares_are_refused(self):
        for target in ["1e-200*z1", "1e300*z1"]:
            done = onset("ssi", "sie", "--target", target)
            self.assertEqual((done.returncode, "--target" in done.stderr), (2, True))

    def test_what_does_not_fit_is_named(self):
        for arguments, option in [
                (["--student", "tied", "--reduction", "trace"], "--reduction"),
                (["--activation", "tanh"], "--activation"),
                (["--activation", "relu"], "--activation"),
                (["--student", "tied", "--positional"], "--positional"),
                (["--left", "1,0"], "--left"),
                (["--reduction", "projection", "--left", "1,0,0"], "--left"),
                (["--reduction", "none"], "--student")]:
            done = onset("ssi", "sie", "--target", "z1", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(option, done.stderr)


class Limits(unittest.TestCase):
    def test_loss_lists_its_minima(self):
        result = run("ssi", "loss", "--a", "1", "--omega", "0.67", "--points", "5")
        self.assertEqual(columns(result)[:3], ["e", "m", "risk"])
        self.assertTrue(all(row["e"]**2 + row["m"]**2 <= 1 + 1e-9 for row in result["rows"]))
        self.assertEqual(result["summary"]["minima"], 4)
        self.assertEqual(result["summary"]["minimum_1_type"], "semantic")

    def test_phase_and_its_curves(self):
        result = run("ssi", "phase", "--a", "1", "--omega", "0.6,0.7,0.8,1")
        self.assertEqual(columns(result), ["a", "omega", "global_type", "start_type", "minima", "e_min", "m_min",
                                           "risk_min", "region"])
        self.assertEqual([row["region"] for row in result["rows"]],
                         ["semantic of two, semantic start", "semantic of two, positional start",
                          "positional of two, positional start", "degenerate"])
        self.assertEqual([row["global_type"] for row in result["rows"]],
                         ["semantic", "semantic", "positional", "degenerate"])
        self.assertEqual([row["start_type"] for row in result["rows"]],
                         ["semantic", "positional", "positional", "positional"])
        curves = run("ssi", "phase", "--a", "0.5,1", "--curves")
        self.assertEqual(columns(curves), ["a", "positional_appears", "start_switches", "global_switches",
                                           "semantic_ends"])
        self.assertIsNone(curves["rows"][0]["start_switches"])
        self.assertAlmostEqual(curves["rows"][1]["start_switches"], 0.6409626179, places=8)
        self.assertEqual(onset("ssi", "phase", "--a", "1").returncode, 2)

    def test_flow_and_escape(self):
        result = run("ssi", "flow", "--target", "H2sum", "--tokens", "4", "--student", "tied", "--loss", "squared",
                     "--rate", "0.05", "--time", "10", "--points", "3")
        self.assertEqual(columns(result), ["time", "e", "m"])
        self.assertAlmostEqual(result["summary"]["largest_rate"], 0.2257, delta=0.01)
        self.assertGreater(result["summary"]["escape_steps"], 0)

    def test_a_rate_that_is_zero_is_said_to_be(self):
        result = run("ssi", "flow", "--target", "He4(z1)", "--student", "tied", "--activation", "He2", "--time", "1",
                     "--points", "2")
        self.assertEqual((result["summary"]["largest_rate"], result["summary"]["largest_rate_err"]), (0, 0))
        self.assertTrue(any("no linear growth" in note for note in result["notes"]))
        # Higher degrees, whose growth vanishes with m, leave nothing of themselves.
        for degree in (4, 6):
            result = run("ssi", "flow", "--target", f"H{degree}sum", "--student", "tied", "--activation", "cos(u)", "--time", "1",
                         "--points", "2")
            self.assertEqual((result["summary"]["largest_rate"], result["summary"]["largest_rate_err"]), (0, 0))

    def test_a_rate_without_a_limit_is_empty_and_said_to_be(self):
        # At degree 1 the drift at m = 0 is not 0, and the path grows, whatever the rate.
        for model in (["z1", "--student", "tied"], ["z1+z2", "--student", "z1+z2"],
                      ["tanh(z1)", "--student", "tanh(z1)+z2", "--start", "zero"]):
            result = run("ssi", "flow", "--target", *model, "--points", "2")
            self.assertGreater(abs(result["rows"][1]["m"]), abs(result["rows"][0]["m"]) + 0.1)
            self.assertIsNone(result["summary"]["largest_rate"])
            self.assertNotEqual(result["summary"]["drift_m"], 0)
            self.assertTrue(any("at every learning rate" in note and "degree 1" in note for note in result["notes"]))
        # At degree 3 no rate lets the smallest overlaps grow, yet this start does.
        result = run("ssi", "flow", "--target", "sum(h3(z))", "--student", "sum(h3(z))", "--rate", "0.001", "--dim", "100",
                     "--points", "2")
        self.assertGreater(result["rows"][1]["m"], 0.9)
        self.assertEqual(result["summary"]["largest_rate"], 0)
        self.assertTrue(any("size of the start" in note for note in result["notes"]))

    def test_where_the_risk_has_a_cone_it_has_no_slope(self):
        # The unsquared loss falls like sqrt(1 - m^2) towards a perfect fit.
        for encodings in (["--positional"], ["--encodings", "0,1,0.3; 0,0.2,-1"]):
            rows = run("ssi", "loss", "--target", "softmax", "--loss", "frobenius", "--points", "3", *encodings)["rows"]
            cones = [row for row in rows if abs(row["m"]) == 1]
            self.assertEqual(len(cones), 2)
            for row in rows:
                slopes = [row[name] for name in row if name.startswith("slope") and not name.endswith("_err")]
                self.assertEqual({slope is None for slope in slopes}, {abs(row["m"]) == 1}, row)
            self.assertEqual([row["risk"] for row in cones], [0, 0])

    def test_options_without_effect_are_refused(self):
        model = ["--a", "1", "--omega", "0.6"]
        for arguments, field, wanted in ((["flow", *model, "--runs", "7"], "--runs", "--method sde"),
                                         (["sgd", *model, "--points", "7"], "--points", "--trajectories")):
            refused = onset("ssi", *arguments)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f"{field}: 7 has no effect", refused.stderr)
            self.assertIn(wanted, refused.stderr)

    def test_kinks_that_couple_tokens_end_in_time(self):
        twins = ["ssi", "loss", "--target", "He3(z1)*relu(z2)", "--student", "He3(z1)*relu(z2)", "--points", "5"]
        rows = run(*twins)["rows"]
        m = 0.5
        k = (math.sqrt(1 - m * m) + m * (math.pi - math.acos(m))) / (2 * math.pi)
        self.assertAlmostEqual(rows[3]["risk"], 3 - 6 * m**3 * k, places=9)
        done = onset(*twins, "--max-seconds", "0.2", "--threads", "1", "--format", "json")
        self.assertEqual((done.returncode, one_object(done.stdout)["status"]), (3, "interrupted"))

    def test_a_start_that_has_no_meaning_is_named(self):
        done = onset("ssi", "flow", "--target", "H2sum", "--student", "tied", "--m0", "0.5", "--e0", "0.5")
        self.assertEqual((done.returncode, "--e0" in done.stderr), (2, True))

    def test_the_tolerance_of_a_refused_risk_is_that_of_a_series(self):
        done = onset("ssi", "loss", "--target", "H2sum", "--student", "untied", "--tokens", "4", "--format", "json")
        self.assertEqual(one_object(done.stdout)["parameters"]["tol"], 0.001)

    def test_an_untied_landscape_is_refused(self):
        done = onset("ssi", "loss", "--target", "H2sum", "--student", "untied", "--format", "json")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(one_object(done.stdout)["status"], "refused")


class Learners(unittest.TestCase):
    def test_sgd_is_the_same_for_any_threads_and_engine_names_are_checked(self):
        one = run(*MIXTURE_SGD, "--threads", "1")
        two = run(*MIXTURE_SGD, "--threads", "2")
        self.assertEqual(columns(one), ["omega", "p_semantic", "converged_fraction", "mean_steps"])
        self.assertEqual(one["rows"], two["rows"])
        self.assertGreater(one["rows"][0]["p_semantic"], one["rows"][1]["p_semantic"])
        self.assertEqual(onset(*MIXTURE_SGD, "--engine", "ful").returncode, 2)

    def test_every_run_is_kept_with_out(self):
        with tempfile.TemporaryDirectory() as folder:
            onset(*MIXTURE_SGD, "--out", folder, "--quiet")
            lines = (Path(folder) / "runs" / "1.csv").read_text().splitlines()
            self.assertEqual(lines[0], "run,e,m,first_passage,converged")
            self.assertEqual(len(lines), 101)
            json.loads((Path(folder) / "manifest.json").read_text())

    def test_sgd_of_a_target_at_a_trillion_dimensions(self):
        result = run("ssi", "sgd", "--target", "z1", "--student", "tied", "--tokens", "1", "--activation", "u",
                     "--dim", "1e12", "--steps", "1000", "--level", "0.5", "--runs", "64")
        self.assertEqual(columns(result), ["reached_fraction", "mean_steps", "e", "m"])
        row = result["rows"][0]
        self.assertEqual((row["reached_fraction"], row["mean_steps"]), (0, None))
        self.assertLess(row["m"], 1e-5)

    def test_models_are_described_in_one_way(self):
        self.assertEqual(onset("ssi", "sgd", "--target", "z1", "--omega", "0.5").returncode, 2)
        self.assertEqual(onset("ssi", "sgd", "--a", "1").returncode, 2)
        self.assertEqual(onset("ssi", "sgd").returncode, 2)
        self.assertIn("--tokens", onset("ssi", "sgd", "--a", "1", "--omega", "0.5", "--tokens", "3").stderr)

    def test_gain(self):
        result = run("ssi", "gain", "--tokens", "2,3", "--policy", "equal", "--dim", "200", "--rate", "0.2", "--level",
                     "0.3", "--runs", "64")
        self.assertEqual(columns(result)[:4], ["tokens", "steps_tied", "steps_untied", "gain"])
        self.assertAlmostEqual(result["summary"]["exponent_ode"], 1.0, delta=0.01)
        self.assertIn("exponent_err", result["summary"])


    def test_trajectories(self):
        result = run("ssi", "sgd", "--a", "1", "--omega", "0.6,0.7", "--dim", "100", "--rate", "0.5", "--steps", "1000",
                     "--runs", "4", "--trajectories", "2", "--points", "5")
        self.assertEqual(columns(result), ["omega", "run", "time", "e", "m"])
        self.assertEqual([row["time"] for row in result["rows"][:5]], [0, 1.25, 2.5, 3.75, 5])
        self.assertEqual([(row["omega"], row["run"]) for row in result["rows"][::5]],
                         [(0.6, 1), (0.6, 2), (0.7, 1), (0.7, 2)])
        for arguments, words in [(["--engine", "sde"], "--engine chain"), (["--runs", "1"], "--runs 1")]:
            done = onset("ssi", "sgd", "--a", "1", "--omega", "0.6", "--trajectories", "2", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)

    def test_batches_and_label_noise(self):
        row = run("ssi", "sgd", "--target", "z1", "--student", "tied", "--tokens", "1", "--activation", "u", "--dim", "100",
                  "--rate", "0.2", "--runs", "64", "--batch", "8", "--noise", "0.5")["rows"][0]
        self.assertEqual(row["reached_fraction"], 1)
        for arguments, words in [(["--engine", "sde", "--batch", "2"], "--batch"), (["--student", "untied", "--batch", "2"], "--engine full")]:
            done = onset("ssi", "sgd", "--target", "z1", "--tokens", "2", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)

    def test_scaling(self):
        result = run("ssi", "scaling", "--target", "H1sum", "--student", "tied", "--dim", "1000,4000,16000", "--runs", "64")
        self.assertEqual(columns(result), ["dim", "rate", "reached_fraction", "mean_steps", "steps_theory", "ratio"])
        summary = result["summary"]
        self.assertEqual((summary["order"], summary["law"], summary["exponent_law"]), (1, "d", 1))
        # Five standard errors: false alarms of 1e-6.
        self.assertLess(abs(summary["exponent"] - summary["exponent_theory"]), 5 * summary["exponent_err"])
        for row in result["rows"]:
            self.assertLess(abs(row["ratio"] - 1), 5 * row["ratio_err"])

    def test_scaling_takes_rates_that_depend_on_the_dimension(self):
        rows = run("ssi", "scaling", "--target", "H1sum", "--student", "tied", "--dim", "100,400", "--runs", "16",
                   "--rate", "0.5/sqrt(dim)")["rows"]
        self.assertEqual([row["rate"] for row in rows], [0.05, 0.025])

    def test_the_gain_of_a_target_that_is_seen_at_degree_one(self):
        """At equal rates it is the number of tokens; half of the largest rate is nothing, since there is no largest."""
        gain = ["ssi", "gain", "--target", "sum(z)", "--tokens", "2", "--dim", "100", "--runs", "16"]
        result = run(*gain, "--rate", "0.05")
        self.assertEqual((result["status"], result["rows"][0]["gain_ode"]), ("ok", 2))
        sure = 6  # errors of the mean of 16 runs: a false alarm in 10^5 or fewer, for a fixed seed
        self.assertLess(abs(result["rows"][0]["gain"] - 2), sure * result["rows"][0]["gain_err"])
        refused = run(*gain, "--policy", "optimal")
        self.assertEqual(refused["status"], "refused")
        self.assertIn("at every rate", refused["reason"])

    def test_the_cost_of_scaling_has_what_comes_before_its_runs(self):
        """Order and rate of the escape are those of `ssi sie`, whatever the runs."""
        model = ["--target", "z1^12", "--tokens", "64", "--positional"]
        def cost(*arguments):
            return one_object(onset("ssi", *arguments, "--explain", "--format", "json").stdout)["rows"][0]["core_seconds"]
        exponents = cost("sie", *model)
        self.assertGreater(exponents, 10 * cost("sie", "--target", "z1^12", "--tokens", "4", "--positional"))
        scaling = cost("scaling", *model, "--dim", "10,20", "--runs", "8", "--start", "overlapped", "--steps", "1")
        self.assertGreater(scaling, exponents)

    def test_scaling_says_what_is_wrong(self):
        for arguments, code, words in [
                (["--target", "H2sum", "--student", "tied", "--rate", "1/dmi"], 2, "no variable 'dmi'"),
                (["--target", "H2sum", "--student", "tied", "--rate", "1-dim"], 2, "allowed: a positive number"),
                (["--target", "H2sum", "--student", "tied", "--rate", "5", "--dim", "1000000"], 3, "--rate"),
                (["--target", "z1-z2", "--student", "tied"], 3, "never learned")]:
            done = onset("ssi", "scaling", *arguments)
            self.assertEqual(done.returncode, code, arguments)
            self.assertIn(words, done.stdout + done.stderr)


class Encodings(unittest.TestCase):
    TARGET = ["--target", "He2(z1)+He2(z2)"]
    RUNS = ["--dim", "30", "--rate", "0.1", "--runs", "64", "--steps", "500"]

    def test_opposite_ones_have_the_bits_of_positional(self):
        usual = run("ssi", "sgd", *self.TARGET, "--positional", *self.RUNS)
        given = run("ssi", "sgd", *self.TARGET, "--encodings", "0,1; 0,-1", *self.RUNS)
        self.assertEqual(usual["rows"], given["rows"])

    SEVERAL = ["--encodings", "0.5,1,0; 0,0,2"]

    def test_several_directions_have_an_overlap_each(self):
        self.assertIn("2 directions", run("ssi", "sgd", *self.TARGET, *self.SEVERAL, *self.RUNS)["notes"][0])
        loss = run("ssi", "loss", *self.TARGET, *self.SEVERAL, "--points", "3")
        self.assertEqual(columns(loss), ["e1", "e2", "m", "risk", "slope_e1", "slope_e2", "slope_m"])
        self.assertEqual(len(loss["rows"]), 7)  # of the 27 places of a cube those in the ball
        flow = run("ssi", "flow", *self.TARGET, *self.SEVERAL, "--points", "3", "--time", "2")
        self.assertEqual(columns(flow), ["time", "e", "m", "e1", "e2"])
        last = flow["rows"][-1]
        self.assertAlmostEqual(last["e"], math.hypot(last["e1"], last["e2"]), delta=last["e_err"])

    def test_what_several_directions_lack_is_refused(self):
        for arguments, code, word in [(["sie"], 3, "directions"), (["flow", "--method", "sde"], 3, "overlaps"),
                                      (["flow", "--e0", "0.1"], 2, "--e0"),
                                      (["loss", "--points", "401"], 2, "--points")]:
            done = onset("ssi", *arguments, *self.TARGET, *self.SEVERAL, "--format", "json")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(word, done.stderr)

    def test_an_array_is_as_good_as_what_is_typed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "encodings.npy")
            numpy.save(file, numpy.array([[0.5, 1.0, 0.0], [0.25, 0.0, 2.0]]))
            read = run("ssi", "sgd", *self.TARGET, "--encodings", file, *self.RUNS)
            typed = run("ssi", "sgd", *self.TARGET, "--encodings", "0.5,1,0; 0.25,0,2", *self.RUNS)
            self.assertEqual((read["rows"], read["parameters"]), (typed["rows"], typed["parameters"]))
            numpy.save(file, numpy.array([[0.5, 30.0], [0.25, 0.0]]))
            done = onset("ssi", "sgd", *self.TARGET, "--encodings", file)
            self.assertEqual(done.returncode, 4)
            self.assertIn("a component of 30; allowed: up to 10", done.stderr)
        self.assertEqual(onset("ssi", "sgd", *self.TARGET, "--encodings", "none.npy").returncode, 4)

    def test_mistakes_are_named(self):
        for text, word in [("0,1", "1 rows"), ("0,1;0", "numbers"), ("0,x;0,1", "'x'"), ("0,11;0,1", "11"),
                           ("", "empty")]:
            done = onset("ssi", "loss", *self.TARGET, "--encodings", text)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn("--encodings", done.stderr)
            self.assertIn(word, done.stderr)
        done = onset("ssi", "loss", *self.TARGET, "--encodings", "0,1;0,1", "--positional")
        self.assertEqual(done.returncode, 2)


class Phases(unittest.TestCase):
    def test_more_tokens_have_errors_and_say_what_they_cannot_tell(self):
        curves = run("ssi", "phase", "--tokens", "4", "--a", "1.2", "--curves")["rows"][0]
        self.assertGreater(curves["start_switches_err"], 0.0)
        at = curves["start_switches"]
        done = onset("ssi", "phase", "--tokens", "4", "--a", "1.2", "--omega", f"0.3,{at},0.95", "--format", "json")
        self.assertEqual(done.returncode, 3)
        rows = one_object(done.stdout)["rows"]
        self.assertEqual([row["start_type"] for row in rows], ["semantic", "unresolved", "positional"])
        self.assertEqual([row["global_type"] for row in rows][::2], ["semantic", "positional"])


class Edges(unittest.TestCase):
    def test_a_refused_gain_has_no_exponents(self):
        done = onset("ssi", "gain", "--activation", "sign", "--runs", "4", "--format", "json")
        self.assertEqual(done.returncode, 3)
        self.assertNotIn("exponent", one_object(done.stdout)["summary"])

    def test_numbers_that_are_not_whole_are_usage_errors(self):
        for arguments, option in [
                (["flow", "--a", "1", "--omega", "0.6", "--dim", "1000.5"], "--dim"),
                (["sgd", "--a", "1", "--omega", "0.6", "--steps", "2.5"], "--steps"),
                (["gain", "--steps", "2.5"], "--steps"),
                (["flow", "--a", "1", "--omega", "0.6", "--method", "sde", "--m0", "0.3"], "--m0")]:
            done = onset("ssi", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(option, done.stderr)

    def test_a_run_that_gets_nowhere_says_so(self):
        result = onset("ssi", "sgd", "--target", "H2sum", "--student", "tied", "--steps", "5", "--runs", "4",
                       "--format", "json")
        self.assertEqual(result.returncode, 3)
        row = one_object(result.stdout)["rows"][0]
        self.assertEqual([row["reached_fraction"], row["mean_steps"], row["mean_steps_err"]], [0, None, None])

    def test_of_one_run_no_error_is_known(self):
        row = run("ssi", "sgd", "--a", "1", "--omega", "0.6", "--dim", "50", "--rate", "0.5", "--runs", "1")["rows"][0]
        self.assertGreater(row["mean_steps"], 0)
        self.assertIsNone(row["mean_steps_err"])

    def test_an_infinite_risk_is_refused(self):
        done = onset("ssi", "loss", "--target", "exp(z1^2)", "--points", "3")
        self.assertEqual(done.returncode, 3)
        self.assertIn("refused", done.stdout)


if __name__ == "__main__":
    unittest.main()
