"""The Python module: the same numbers as the command, errors included."""

import inspect
import json
import os
import signal
import subprocess
import threading
import time
import unittest

import numpy
import onset

COMMAND = os.environ["ONSET_COMMAND"]


def command(*arguments):
    run = subprocess.run([COMMAND, *arguments, "--format", "json"], stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


class Module(unittest.TestCase):
    def test_gives_the_numbers_of_the_command(self):
        there = command("smi", "curve", "--layers", "1", "--alpha", "0.2,0.4")
        here = onset.smi.curve(layers=1, alpha=[0.2, 0.4])
        self.assertEqual(here.status, there["status"])
        self.assertEqual(here["Q11"].tolist(), [row["Q11"] for row in there["rows"]])
        self.assertEqual(here.error("Q11").tolist(), [row["Q11_err"] for row in there["rows"]])

    def test_grids_may_be_texts_lists_or_arrays(self):
        results = [onset.smi.curve(layers=1, alpha=alpha)["Q11"].tolist()
                   for alpha in ("0.2:0.4:0.2", [0.2, 0.4], (0.2, 0.4), numpy.array([0.2, 0.4]))]
        self.assertTrue(all(result == results[0] for result in results))

    def test_rows_have_estimates_and_columns_have_meanings(self):
        result = onset.smi.thresholds(layers=1, tokens=3)
        alpha = result.rows[0]["alpha"]
        self.assertAlmostEqual(alpha.value, 1 / 12, delta=9 * alpha.error + 1e-12)
        self.assertIn("sample ratio", result.columns["alpha"])
        self.assertEqual(result["layers"][0], "1")
        self.assertIn("rows of stage", repr(result))

    def test_every_verb_of_the_command_is_a_function_with_a_signature(self):
        for name in onset.verbs():
            family, verb = name.split()
            function = getattr(getattr(onset, family), verb.replace("-", "_"))
            self.assertIn("seed", inspect.signature(function).parameters)
            self.assertIn("Columns:", function.__doc__)

    def test_misuse_is_a_value_error_with_the_nearest_word(self):
        with self.assertRaisesRegex(ValueError, "^layres: no such field.* did you mean 'layers'"):
            onset.smi.thresholds(layres=2)
        with self.assertRaisesRegex(onset.InvalidArgument, "no such verb.*thresholds"):
            onset.run("smi threshold")
        with self.assertRaisesRegex(ValueError, "^skip: "):
            onset.smi.thresholds(skip={})
        with self.assertRaises(KeyError):
            onset.smi.thresholds(layers=1)["beta"]

    def test_messages_name_fields_as_python_does(self):
        with self.assertRaisesRegex(ValueError, "^hold_overlap: .*`hold_layer`") as caught:
            onset.smi.curve(alpha=[0.5], hold_overlap=0.5)
        self.assertNotIn("--", str(caught.exception))

    def test_limits_are_checked(self):
        for limit in [{"threads": 0}, {"threads": 5000}, {"max_seconds": 0.0}, {"max_seconds": -1}]:
            with self.assertRaisesRegex(ValueError, f"{next(iter(limit))}.*allowed"):
                onset.run("smi thresholds", **limit)

    def test_refusals_and_time_limits_are_results(self):
        refused = onset.smi.thresholds(layers=2, rank=[1, 2], noise=0.1)
        self.assertEqual(refused.status, "refused")
        self.assertTrue(refused.reason)
        late = onset.smi.thresholds(layers=2, tol=1e-9, max_seconds=0.2)
        self.assertEqual(late.status, "interrupted")

    def test_an_interrupt_ends_a_run_within_a_second_or_so(self):
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            onset.smi.thresholds(layers=2, tol=1e-9)
        self.assertLess(time.monotonic() - start, 20)


if __name__ == "__main__":
    unittest.main()
