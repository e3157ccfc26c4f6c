"""Data folders that are larger than the machine: `--explain` and the check of memory read headers alone."""

import os
import tempfile
import unittest

import numpy as np

from onset_command import onset

# The shapes of X.npy; that of the second list needs more memory than any machine has.
SMALL = (1000, 2, 20)
HUGE = (10**14, 2, 20)

VERBS = {
    "aim amp": ["aim", "amp", "--data"],
    "smi amp": ["smi", "amp", "--data"],
    "mha learn": ["mha", "learn"],
    "mha baseline": ["mha", "baseline"],
}


def write_header(folder, shape):
    """An X.npy that says its shape and has no numbers."""
    with open(os.path.join(folder, "X.npy"), "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f8", "fortran_order": False, "shape": shape})


class LargeData(unittest.TestCase):
    def test_explaining_reads_headers_alone(self):
        for name, command in VERBS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_header(folder, SMALL)
                explained = onset(*command, folder, "--explain")
                self.assertEqual(explained.returncode, 0, explained.stderr)
                done = onset(*command, folder)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn("X.npy: is cut short", done.stderr)

    def test_memory_is_checked_before_the_arrays_are_read(self):
        for name, command in VERBS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_header(folder, HUGE)
                done = onset(*command, folder)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"{name}: needs about", done.stderr)


if __name__ == "__main__":
    unittest.main()
