"""Data folders that are larger than the machine: `--explain` and the check of memory read headers alone."""

import os
import tempfile
import unittest

import numpy as np

from onset_command import onset

# The shape of X.npy, 2.9 TiB: more than the memory of a machine that runs tests, and no more than
# its file systems let a file without blocks claim.
HUGE = (10**10, 2, 20)

VERBS = {
    "aim amp": ["aim", "amp", "--data"],
    "smi amp": ["smi", "amp", "--data"],
    "mha learn": ["mha", "learn"],
    "mha baseline": ["mha", "baseline"],
}


def write_header(folder, numbers):
    """An X.npy that says its shape, followed by that many numbers for which no disk is used."""
    with open(os.path.join(folder, "X.npy"), "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f8", "fortran_order": False, "shape": HUGE})
        file.truncate(file.tell() + 8 * numbers)


class LargeData(unittest.TestCase):
    def test_explaining_reads_headers_alone(self):
        for name, command in VERBS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_header(folder, np.prod(HUGE))
                explained = onset(*command, folder, "--explain")
                self.assertEqual(explained.returncode, 0, explained.stderr)

    def test_memory_is_checked_before_the_arrays_are_read(self):
        for name, command in VERBS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_header(folder, np.prod(HUGE))
                done = onset(*command, folder)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"{name}: needs about", done.stderr)

    def test_a_file_without_its_numbers_is_cut_short_whatever_it_would_need(self):
        for name, command in VERBS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_header(folder, 20)
                for options in ([], ["--explain"]):
                    done = onset(*command, folder, *options)
                    self.assertEqual(done.returncode, 4, done.stderr)
                    self.assertIn("X.npy: is cut short", done.stderr)


if __name__ == "__main__":
    unittest.main()
