"""What people see on a terminal of 80 columns."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import time
import unittest

from onset_command import COMMAND, onset

CURVE = ["smi", "curve", "--link", "square", "--alpha", "0.4:1:0.2"]
BAR = re.compile(r"\[(#*) *\] +(\d+)%")


def on_terminal(*arguments, width=80):
    """Runs on a terminal; (exit code, what was shown, seconds until the first letter)."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    begin = time.monotonic()
    first = None
    with subprocess.Popen([COMMAND, *arguments], stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            first = first if first is not None else time.monotonic() - begin
            shown += part
    os.close(master)
    return process.returncode, shown.decode().replace("\r\n", "\n"), first


def lines_of(shown):
    """What is left on the screen: bars are overwritten."""
    return [line.rpartition("\r")[2].replace("\x1b[K", "") for line in shown.split("\n")]


class Tables(unittest.TestCase):
    def test_a_table_fits_and_names_what_it_leaves_out(self):
        code, shown, _ = on_terminal(*CURVE)
        self.assertEqual(code, 0)
        lines = lines_of(shown)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertRegex(lines[0], r"alpha +branch +Q11 .*converged")
        self.assertIn("Not shown: ", shown)
        self.assertIn("--columns all", shown)

    def test_columns_may_be_chosen(self):
        _, shown, _ = on_terminal(*CURVE, "--columns", "Q11,alpha")
        self.assertEqual(lines_of(shown)[0].split(), ["Q11", "alpha"])
        self.assertNotIn("Not shown", shown)
        _, shown, _ = on_terminal(*CURVE, "--columns", "all")
        self.assertIn("residual", lines_of(shown)[0])

    def test_a_wrong_column_costs_no_rows(self):
        run = onset(*CURVE, "--columns", "Q12")
        self.assertEqual(run.returncode, 2)
        self.assertIn("uninformed", run.stdout)
        self.assertIn("--columns: there is no Q12; allowed: all, alpha", run.stderr)
        self.assertIn("did you mean 'Q11'", run.stderr)

    def test_a_word_that_is_no_column_is_refused_before_the_run(self):
        run = onset("smi", "thresholds", "--layers", "8", "--columns", "alpha,kidn")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("--columns: there is no 'kidn'; allowed: all, stage", run.stderr)
        self.assertIn("did you mean 'kind'", run.stderr)

    def test_pipes_get_all_columns_and_rows(self):
        self.assertIn("residual", onset(*CURVE).stdout)
        self.assertGreater(len(onset("ssi", "loss", "--a", "1", "--omega", "0.3").stdout.splitlines()), 1000)

    def test_long_results_show_head_and_tail(self):
        _, shown, _ = on_terminal("ssi", "loss", "--a", "1", "--omega", "0.3")
        lines = lines_of(shown)
        self.assertLess(len(lines), 70)
        self.assertIn("..", lines)
        self.assertRegex(shown, r"45 of \d+ rows; --format csv has all")

    def test_parentheses_are_explained_where_there_are_some(self):
        self.assertNotIn("In parentheses", on_terminal(*CURVE, "--columns", "alpha,converged")[1])
        self.assertIn("In parentheses", on_terminal(*CURVE)[1])
        self.assertNotIn("In parentheses", onset("list").stdout)

    def test_numbers_of_a_column_are_written_alike(self):
        column = [line.split()[-2] for line in onset(*CURVE).stdout.splitlines()[2:6]]
        numbers = [text for text in column if text != "0"]
        self.assertEqual(len({"e" in text for text in numbers}), 1, column)

    def test_long_texts_are_broken(self):
        for command in ("list", "doctor"):
            lines = lines_of(on_terminal(command)[1])
            self.assertLessEqual(max(map(len, lines)), 80)


class Progress(unittest.TestCase):
    def test_the_bar_comes_soon_and_never_goes_back(self):
        _, shown, first = on_terminal("smi", "thresholds", "--layers", "2", "--tol", "1e-9", "--max-seconds", "3")
        # It is due after 0.3 s; a busy machine may start programs late.
        self.assertLess(first, 2.0)
        filled = [len(bar) for bar, _ in BAR.findall(shown)]
        self.assertGreater(len(filled), 5)
        self.assertEqual(filled, sorted(filled))

    def test_nothing_of_it_stays_on_the_screen(self):
        _, shown, _ = on_terminal("smi", "curve", "--layers", "1", "--alpha", "0.1:0.5:0.1")
        self.assertNotIn("#", "".join(lines_of(shown)))


class Help(unittest.TestCase):
    def test_help_is_a_word_too(self):
        self.assertEqual(onset("help").stdout, onset("--help").stdout)
        self.assertEqual(onset("help", "smi", "curve").stdout, onset("smi", "curve", "--help").stdout)
        self.assertEqual(onset("help", "figure").stdout, onset("figure", "--help").stdout)

    def test_a_verb_without_its_family_is_recognised(self):
        run = onset("exponent")
        self.assertEqual(run.returncode, 2)
        self.assertIn("did you mean 'smi exponent'?", run.stderr)
        self.assertIn("did you mean 'smi thresholds' or 'aim thresholds'?", onset("thresholds").stderr)

    def test_list_has_verbs_and_commands(self):
        listed = onset("list").stdout
        for word in ("smi thresholds", "figure", "sweep", "doctor"):
            self.assertRegex(listed, rf"(?m)^{word} ")


class Folders(unittest.TestCase):
    def test_no_figure_of_another_command_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            onset(*CURVE, "--out", folder)
            self.assertTrue(os.path.exists(os.path.join(folder, "figure.svg")))
            onset("smi", "thresholds", "--link", "square", "--out", folder)
            self.assertFalse(os.path.exists(os.path.join(folder, "figure.svg")))


if __name__ == "__main__":
    unittest.main()
