"""Figures from the shell: finding them, and what is said about bad ones."""

import os
import pathlib
import tempfile
import unittest

from onset_command import onset

BAD_KEY = """title = "A figure"
[[run]]
id = "line"
comand = "smi curve"
"""

BAD_PARAMETER = """title = "A figure"
[[run]]
id = "line"
command = "smi curve"
fixed = {layers = 2, alhpa = "0.1"}
[[panel]]
x = {label = "alpha"}
y = {label = "Q"}
[[panel.series]]
run = "line"
x = "alpha"
y = "Q11"
"""


class Figures(unittest.TestCase):
    def test_the_list_names_each_figure_with_its_title(self):
        run = onset("figure", "list")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"smi-1 +\S")

    def test_an_unknown_figure_names_the_nearest_one(self):
        run = onset("figure", "sim-1")
        self.assertEqual(run.returncode, 2)
        self.assertIn("did you mean 'smi-1'?", run.stderr)

    def test_a_figure_without_a_name_is_misuse(self):
        self.assertEqual(onset("figure").returncode, 2)
        self.assertEqual(onset("figure", "--quick").returncode, 2)

    def test_a_figure_file_that_is_not_there_is_a_file_error(self):
        self.assertEqual(onset("figure", "no/such.toml").returncode, 4)

    def test_help_names_the_options(self):
        run = onset("figure", "--help")
        self.assertEqual(run.returncode, 0)
        for option in ("--quick", "--out", "--overlay", "--threads", "--seed", "--quiet"):
            self.assertIn(option, run.stdout)


class BadFiles(unittest.TestCase):
    def refuse(self, text):
        """The message for a figure file with this text; nothing must be written."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "bad.toml")
            file.write_text(text, encoding="utf-8")
            run = onset("figure", str(file), "--out", str(pathlib.Path(folder, "out")))
            self.assertEqual(os.listdir(folder), ["bad.toml"])
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stdout, "")
        return run.stderr

    def test_an_unknown_key_is_told_with_its_place_and_the_nearest_one(self):
        message = self.refuse(BAD_KEY)
        self.assertIn("bad.toml:4:1: unknown key 'comand'; did you mean 'command'?", message)

    def test_a_wrong_parameter_is_told_with_the_place_of_its_run(self):
        message = self.refuse(BAD_PARAMETER)
        self.assertIn("bad.toml:2:1", message)
        self.assertIn("alpha", message)


class DataFolder(unittest.TestCase):
    def test_figures_are_found_where_onset_data_says(self):
        with tempfile.TemporaryDirectory() as folder:
            figures = pathlib.Path(folder, "figures")
            figures.mkdir()
            body = BAD_PARAMETER.replace("A figure", "Mine")
            (figures / "mine.toml").write_text(body, encoding="utf-8")
            run = onset("figure", "list", env={**os.environ, "ONSET_DATA": folder})
        self.assertRegex(run.stdout, r"mine +Mine")


if __name__ == "__main__":
    unittest.main()
