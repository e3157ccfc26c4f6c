"""Learners on a device: the plug-in is found, gives the processor's numbers, and its faults are said.

Without a GPU the device is plain loops (reference_device.cpp). With one, give its plug-in:
ONSET_REFERENCE_DEVICE=build/release/lib/onset/onset-device.so.
"""

import csv
import os
import tempfile
import unittest

from onset_command import onset, one_object

PLUGIN = os.environ["ONSET_REFERENCE_DEVICE"]
USAGE = 2
REFUSED = 3
IO_ERROR = 4
# Sums of some 1e4 terms are added in another order, and a few iterations amplify that little.
ROUNDING = 1e-8

AMP = ["aim", "amp", "--dim", "24", "--alpha", "0.3", "--runs", "1", "--iterations", "6", "--precision", "double"]
THRESHOLDS = ["smi", "thresholds", "--layers", "3", "--stages", "2", "--tol", "0.1"]
CURVE = ["smi", "curve", "--skip", "0.5", "--alpha", "0.3", "--tol", "0.1"]
MESSAGES = ["smi", "amp", "--dim", "60", "--alpha", "0.8", "--runs", "2", "--nodes", "32", "--iterations", "5",
            "--restarts", "0"]
GD = ["aim", "gd", "--dim", "16", "--alpha", "0.4", "--runs", "2", "--starts", "3", "--steps", "12"]


def without_plugin(*arguments):
    return onset(*arguments, env={name: value for name, value in os.environ.items() if name != "ONSET_DEVICE_PLUGIN"})


def with_plugin(*arguments, plugin=PLUGIN, **environment):
    return onset(*arguments, env={**os.environ, "ONSET_DEVICE_PLUGIN": plugin, **environment})


class OnADevice(unittest.TestCase):
    def assert_close(self, ours, theirs):
        self.assertEqual(ours.keys(), theirs.keys())
        for name, value in ours.items():
            try:
                value, other = float(value), float(theirs[name])
            except (TypeError, ValueError):
                self.assertEqual(value, theirs[name], name)
                continue
            self.assertLess(abs(value - other), ROUNDING * (1 + abs(value)), name)

    def trajectory(self, device, *options):
        with tempfile.TemporaryDirectory() as folder:
            done = with_plugin(*AMP, *options, "--device", device, "--out", folder)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            with open(os.path.join(folder, "trajectory.csv"), encoding="utf-8") as file:
                return list(csv.DictReader(line for line in file if not line.startswith("#")))

    def test_message_passing_has_the_numbers_of_the_processor(self):
        for options in (["--channel", "softmax"], ["--channel", "softmax", "--tokens", "3"],
                        ["--channel", "linear", "--tokens", "4", "--noise", "0.3"], ["--channel", "hardmax"],
                        ["--variances", "plain", "--rho", "0.2"]):
            with self.subTest(options):
                ours, theirs = self.trajectory("cpu", *options), self.trajectory("gpu", *options)
                self.assertEqual(len(ours), len(theirs))
                self.assertGreater(len(ours), 2)
                for one, other in zip(ours, theirs):
                    self.assert_close(one, other)

    def test_descent_has_the_numbers_of_the_processor(self):
        for options in ([], ["--tokens", "3"], ["--decay", "0.1", "--width", "5"], ["--channel", "linear"]):
            with self.subTest(options):
                def rows(device):
                    done = with_plugin(*GD, *options, "--device", device, "--format", "json")
                    return one_object(done.stdout)["rows"]
                for one, other in zip(rows("cpu"), rows("gpu"), strict=True):
                    self.assert_close(one, other)

    def rows(self, device, *arguments):
        done = with_plugin(*arguments, "--device", device, "--format", "json")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        answer = one_object(done.stdout)
        self.assertEqual(answer["parameters"]["device"], device)
        self.assertTrue(answer["rows"])
        return answer["rows"]

    def test_thresholds_and_curves_have_the_numbers_of_the_processor(self):
        for arguments in (THRESHOLDS, CURVE):
            with self.subTest(arguments):
                for one, other in zip(self.rows("cpu", *arguments), self.rows("gpu", *arguments), strict=True):
                    self.assert_close(one, other)

    def test_message_passing_of_two_tokens_has_the_numbers_of_the_processor(self):
        for options in ([], ["--layers", "3", "--skip", "0.5"], ["--layers", "5", "--beta", "2"],
                        ["--init", "spectral"], ["--init", "planted", "--start-overlap", "0.3"]):
            with self.subTest(options):
                rows = [self.rows(device, *MESSAGES, *options, "--trajectories") for device in ("cpu", "gpu")]
                for one, other in zip(*rows, strict=True):
                    # Rounding chooses the sign of an eigenvector, and that the samples behind the errors.
                    signed = ("error_plugin", "error_bayes") if "spectral" in options else ()
                    self.assert_close(*({name: value for name, value in row.items() if not (signed and name.startswith(signed))}
                                        for row in (one, other)))

    def test_messages_have_the_same_bits_from_run_to_run_and_for_any_number_of_threads(self):
        first = with_plugin(*MESSAGES, "--device", "gpu", "--format", "csv", "--threads", "1").stdout
        self.assertIn("cos2", first)
        self.assertEqual(first, with_plugin(*MESSAGES, "--device", "gpu", "--format", "csv", "--threads", "3").stdout)

    def test_own_data_of_attention_go_to_the_device(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "data")
            made = onset("smi", "generate", "--dim", "50", "--alpha", "0.9", "--out", data)
            self.assertEqual(made.returncode, 0, made.stderr)
            arguments = ["smi", "amp", "--data", data, "--iterations", "6", "--nodes", "32"]
            for one, other in zip(self.rows("cpu", *arguments), self.rows("gpu", *arguments), strict=True):
                self.assert_close(one, other)

    def test_posteriors_have_the_same_bits_from_run_to_run_and_for_any_number_of_threads(self):
        first = with_plugin(*CURVE, "--device", "gpu", "--format", "csv", "--threads", "1").stdout
        self.assertIn("alpha", first)
        self.assertEqual(first, with_plugin(*CURVE, "--device", "gpu", "--format", "csv", "--threads", "3").stdout)

    def test_models_without_posteriors_there_stay_on_the_processor(self):
        for options in (["--tokens", "3"], ["--layers", "9"], ["--noise", "0.1"], ["--link", "square"], ["--link", "z1*z2"]):
            with self.subTest(options):
                for verb in (["thresholds"], ["amp", "--dim", "20", "--alpha", "1"]):
                    done = with_plugin("smi", *verb, *options, "--device", "gpu")
                    self.assertEqual(done.returncode, USAGE)
                    self.assertIn("two tokens and 2 to 8 layers", done.stderr)
        one_layer = one_object(with_plugin("smi", "thresholds", "--layers", "1", "--device", "auto", "--format", "json").stdout)
        self.assertEqual(one_layer["parameters"]["device"], "cpu")

    def test_own_data_go_to_the_device(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "data")
            made = onset("aim", "generate", "--dim", "20", "--alpha", "0.4", "--out", data)
            self.assertEqual(made.returncode, 0, made.stderr)
            answers = [one_object(with_plugin("aim", "amp", "--data", data, "--iterations", "5", "--device", device,
                                              "--precision", "double", "--format", "json").stdout) for device in ("cpu", "gpu")]
            self.assert_close(answers[0]["rows"][0], answers[1]["rows"][0])

    def test_the_same_bits_from_run_to_run(self):
        first = with_plugin(*AMP, "--device", "gpu", "--format", "csv").stdout
        self.assertIn("mse", first)
        self.assertEqual(first, with_plugin(*AMP, "--device", "gpu", "--format", "csv").stdout)

    def test_auto_takes_what_is_there_and_says_it(self):
        found = one_object(with_plugin(*AMP, "--device", "auto", "--format", "json").stdout)
        self.assertEqual(found["parameters"]["device"], "gpu")
        none = one_object(without_plugin(*AMP, "--device", "auto", "--format", "json").stdout)
        self.assertEqual(none["parameters"]["device"], "cpu")

    def test_the_doctor_names_it(self):
        self.assertIn(PLUGIN, with_plugin("doctor").stdout)
        self.assertIn("no device plug-in is installed", without_plugin("doctor").stdout)


class Faults(unittest.TestCase):
    def test_without_a_device_it_is_refused_with_the_reason(self):
        for arguments in (AMP, THRESHOLDS, MESSAGES):
            done = without_plugin(*arguments, "--device", "gpu")
            self.assertEqual(done.returncode, REFUSED)
            self.assertIn("there is no device to run on: no device plug-in is installed", done.stdout)

    def test_what_is_no_plugin_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            text = os.path.join(folder, "plugin.so")
            with open(text, "w", encoding="utf-8") as file:
                file.write("no library")
            for plugin, why in ((text, "cannot be loaded"), (os.path.join(folder, "none.so"), "cannot be loaded"),
                                (os.environ["ONSET_FAULT_LIBRARY"], "is no device plug-in")):
                done = with_plugin(*AMP, "--device", "gpu", plugin=plugin)
                self.assertEqual(done.returncode, REFUSED)
                self.assertIn(why, done.stdout)

    @unittest.skipIf("reference" not in PLUGIN, "a real device does not fail on request")
    def test_a_device_that_fails_is_a_file_error_with_its_words(self):
        for arguments in (AMP, THRESHOLDS, MESSAGES):
            done = with_plugin(*arguments, "--device", "gpu", ONSET_REFERENCE_DEVICE_CALLS="7")
            self.assertEqual(done.returncode, IO_ERROR)
            self.assertIn("device: the calls that were allowed have been made", done.stderr)


if __name__ == "__main__":
    unittest.main()
