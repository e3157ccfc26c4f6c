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
REFUSED = 3
IO_ERROR = 4
# Sums of some 1e4 terms are added in another order, and a few iterations amplify that little.
ROUNDING = 1e-8

AMP = ["aim", "amp", "--dim", "24", "--alpha", "0.3", "--runs", "1", "--iterations", "6", "--precision", "double"]
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
        done = without_plugin(*AMP, "--device", "gpu")
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
        done = with_plugin(*AMP, "--device", "gpu", ONSET_REFERENCE_DEVICE_CALLS="7")
        self.assertEqual(done.returncode, IO_ERROR)
        self.assertIn("device: the calls that were allowed have been made", done.stderr)


if __name__ == "__main__":
    unittest.main()
