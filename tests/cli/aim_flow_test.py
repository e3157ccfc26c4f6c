"""aim flow and aim sgd as the shell sees them."""

import re
import unittest

from onset_command import onset, one_object


def result(*arguments):
    done = onset("aim", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return one_object(done.stdout)


def names(row):
    return [name for name in row if not name.endswith("_err")]


class Columns(unittest.TestCase):
    def test_samples_are_counted_only_with_a_rate(self):
        plain = result("flow", "--time", "0,1")
        self.assertEqual(names(plain["rows"][0]),
                         ["time", "risk", "mse", "q", "p", "trace", "alignment"])
        self.assertLessEqual({"escape", "half", "max_rate"}, set(plain["summary"]))
        rated = result("flow", "--student", "direct", "--rate", "0.5", "--time", "0.02")["rows"][0]
        self.assertEqual(names(rated), ["time", "alpha", "risk", "mse", "q", "p", "trace", "alignment", "mmse"])
        self.assertAlmostEqual(rated["alpha"], 0.04, places=14)
        self.assertGreater(rated["mse"], rated["mmse"])

    def test_hardmax_has_a_disagreement_and_untied_students_an_antisymmetric_part(self):
        row = result("flow", "--channel", "hardmax", "--time", "0.4")["rows"][0]
        self.assertIn("disagreement", row)
        row = result("flow", "--student", "untied", "--start", "identity", "--time", "1")["rows"][0]
        self.assertEqual(row["p_anti"], 0)

    def test_the_help_explains_every_column_that_rows_may_have(self):
        options = ["--channel", "hardmax", "--student", "untied", "--start", "identity",
                   "--rate", "0.1", "--time", "0.02"]
        for verb, size in [("flow", ["--size", "16", "--draws", "2"]), ("sgd", ["--dim", "20"])]:
            text = onset("aim", verb, "--help").stdout
            for name in names(result(verb, *options, *size)["rows"][0]):
                self.assertRegex(text, rf"(?m)^  {name}( |$)", verb)

    def test_wider_students_that_start_with_the_same_trace_are_faster(self):
        # Width ratio; times at which the alignment is 1/2 and mse is 0.01, to the digits of an independent program.
        for width, escape, known in ((0.5, 0.3481, 6.2309), (1, 0.2556, 4.4141), (2, 0.1893, 4.0649)):
            found = result("flow", "--width-ratio", str(width), "--scale", str(0.2 / width**0.5), "--time", str(known))
            self.assertAlmostEqual(found["summary"]["escape"], escape, places=4)
            slope_times_half_a_digit = 5e-7
            self.assertLess(abs(found["rows"][0]["mse"] - 0.01), slope_times_half_a_digit)

    def test_the_estimate_knows_what_takes_long(self):
        # Seconds of one core of the machine they were measured on; the estimate is good to a factor of three.
        for options, seconds in ((["--rho", "1e-6", "--time", "0,1,10"], 42), (["--beta", "20", "--time", "0,0.1,1"], 11),
                                 (["--time", "0,1,10"], 0.6), (["--rho", "1e-4", "--loss", "cross-entropy", "--time", "0,10"], 8.9),
                                 (["--student", "direct", "--beta", "20", "--time", "0,1"], 7.4)):
            text = onset("aim", "flow", *options, "--explain").stdout
            estimate = float(re.search(r"Estimated cost: (\S+) core-seconds", text).group(1))
            self.assertLess(seconds / 3, estimate, options)
            self.assertLess(estimate, 3 * seconds, options)

    def test_a_time_that_is_not_reached_is_empty(self):
        done = onset("aim", "flow", "--time", "0.01")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nhalf: -\n", done.stdout)

    def test_rows_come_in_the_order_of_time_whatever_the_grid(self):
        times = [row["time"] for row in result("flow", "--time", "1,0.5,1,0")["rows"]]
        self.assertEqual(times, [0, 0.5, 1])

    def test_the_spectrum_has_rows_of_its_own(self):
        found = result("flow", "--spectrum", "0.4,1", "--points", "21")
        self.assertEqual(names(found["rows"][0]), ["time", "x", "density"])
        self.assertEqual(len(found["rows"]), 42)
        self.assertEqual(found["summary"]["atom"], 0.5)

    def test_the_simulation_has_the_limit_beside_it(self):
        found = result("sgd", "--student", "direct", "--dim", "16", "--runs", "3", "--rate", "1",
                       "--time", "0,0.2")
        row = found["rows"][1]
        for name in ["risk", "mse", "q", "p", "trace", "alignment"]:
            self.assertIn(name, row)
            self.assertIn(name + "_theory", row)
        self.assertGreater(row["mse_err"], 0)
        self.assertAlmostEqual(row["alpha"], row["time"], places=12)
        self.assertEqual(found["parameters"]["batch"], 1)

    def test_rates_that_a_finite_dimension_does_not_stand_are_said(self):
        model = ["sgd", "--student", "direct", "--channel", "linear", "--tokens", "1", "--dim", "12",
                 "--runs", "2", "--time", "0.1"]
        self.assertNotIn("notes", result(*model, "--rate", "1"))
        self.assertIn("stable up to a rate of 2 in large dimension", result(*model, "--rate", "1.8")["notes"][0])

    def test_one_of_rate_and_batch_gives_the_other(self):
        found = result("sgd", "--student", "direct", "--dim", "16", "--runs", "2", "--batch", "8",
                       "--time", "0.1")
        rate = found["parameters"]["rate"]
        self.assertAlmostEqual(found["summary"]["step_time"], rate * 8 / 256, places=12)


class Refusals(unittest.TestCase):
    def test_what_has_no_limit_is_refused_with_the_reason(self):
        for arguments, reason in [
                (["--channel", "hardmax", "--loss", "squared"], "cross-entropy"),
                (["--noise", "1"], "not worked out"),
                (["--start", "zero"], "stay there"),
                (["--beta", "1e5"], "standard deviation"),
                (["--rho", "1e5"], "standard deviation"),
                (["--scale", "1e5"], "at the start"),
                (["--tokens", "3", "--beta", "5"], "standard deviation"),
                (["--student", "untied", "--tokens", "3"], "two tokens"),
                (["--student", "untied", "--tokens", "3", "--start", "identity", "--rate", "0.1"], "two tokens"),
                (["--channel", "linear", "--rate", "0.8"], "beyond stability: from 0.707107"),
                (["--student", "direct", "--rate", "14"], "beyond stability: from 13.6423"),
                (["--tokens", "20", "--rate", "0.1"], "13 tokens")]:
            for verb in ["flow", "sgd"]:
                done = onset("aim", verb, *arguments, "--time", "1", "--format", "json")
                self.assertEqual(done.returncode, 3, (verb, arguments, done.stderr))
                self.assertEqual(one_object(done.stdout)["status"], "refused")
                self.assertIn(reason, done.stderr)

    def test_spectra_without_a_formula_are_refused(self):
        for arguments in [["--rate", "0.1"], ["--student", "untied"]]:
            done = onset("aim", "flow", *arguments, "--spectrum", "1", "--format", "json")
            self.assertEqual(done.returncode, 3, arguments)
            self.assertIn("no closed form", done.stderr)

    def test_three_tokens_untied_from_the_identity_are_fine(self):
        rows = result("flow", "--student", "untied", "--start", "identity", "--tokens", "3", "--loss",
                      "cross-entropy", "--time", "0.2")["rows"]
        self.assertLess(rows[0]["mse_err"], 1e-6)


class Extremes(unittest.TestCase):
    def test_a_long_time_has_a_first_step_that_is_short_enough(self):
        """A ten-thousandth of the last time is tried first, and leads to a student far beyond any integral."""
        rows = result("flow", "--student", "untied", "--start", "identity", "--loss", "cross-entropy",
                      "--decay", "0.1", "--time", "4000,20000")["rows"]
        self.assertAlmostEqual(rows[0]["mse"], rows[1]["mse"], places=9)  # it has settled long before

    def test_many_tokens_have_a_flow_without_noise(self):
        found = result("flow", "--tokens", "1000", "--loss", "cross-entropy", "--time", "0.001")
        self.assertNotIn("max_rate", found["summary"])

    def test_very_small_and_large_starts_and_times(self):
        for arguments in [["--scale", "1e-12", "--time", "3"], ["--width-ratio", "1e3", "--time", "0.1"],
                          ["--rho", "1e-6", "--time", "0.01"], ["--channel", "linear", "--time", "1e6"],
                          ["--channel", "hardmax", "--student", "direct", "--time", "1e4"]]:
            for row in result("flow", *arguments)["rows"]:
                self.assertGreaterEqual(row["mse"], 0)
                self.assertLessEqual(abs(row["alignment"]), 1 + 10 * row["alignment_err"])


class BadInput(unittest.TestCase):
    def test_the_option_and_what_is_allowed_are_named(self):
        for arguments, option in [([], "--time"),
                                  (["--time", "-1"], "--time"),
                                  (["--time", "nan"], "--time"),
                                  (["--time", "1", "--spectrum", "1"], "--spectrum"),
                                  (["--time", "1", "--rate", "0"], "--rate"),
                                  (["--time", "1", "--decay", "-1"], "--decay"),
                                  (["--time", "1", "--scale", "0"], "--scale"),
                                  (["--time", "1", "--student", "tide"], "tied"),
                                  (["--time", "1", "--loss", "square"], "squared"),
                                  (["--time", "1", "--start", "identity", "--width-ratio", "1"], "--width-ratio"),
                                  (["--time", "1", "--student", "direct", "--scale", "1"], "--scale"),
                                  (["--time", "1", "--channel", "linear", "--loss", "cross-entropy"], "--loss"),
                                  (["--time", "1", "--tokens", "1"], "--tokens")]:
            done = onset("aim", "flow", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(option, done.stderr)
            self.assertIn("allowed", done.stderr)

    def test_effective_parameters_settle_to_themselves(self):
        first = result("flow", "--time", "0.5", "--channel", "hardmax")
        given = []
        for name, value in first["parameters"].items():
            if value is None or name in ("seed", "noise", "noise-variance"):
                continue
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            given += ["--" + name, text]
        self.assertEqual(result("flow", *given)["rows"], first["rows"])


if __name__ == "__main__":
    unittest.main()
