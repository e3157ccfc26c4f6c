"""`onset smi text` on a small set of questions: tables, bad files, stopping, and the lack of LibTorch."""

import os
import pathlib
import signal
import tempfile
import time
import unittest

from onset_command import COMMAND, SOON, onset, one_object, start

QUESTIONS = pathlib.Path(__file__).parents[2] / "examples" / "questions"
FILES = ["--train", str(QUESTIONS / "train.label"), "--test", str(QUESTIONS / "test.label")]
# Small enough for seconds, large enough to learn: 48 questions are three steps an epoch.
SMALL = [*FILES, "--embedding", "16", "--width", "8", "--rate", "0.02", "--epochs", "15"]
PROGRAM = pathlib.Path(COMMAND).parent / "onset-text"
needs_program = unittest.skipUnless(PROGRAM.exists(), "built without LibTorch")


def text(*arguments, **options):
    return onset("smi", "text", *arguments, **options)


@needs_program
class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = text(*SMALL, "--runs", "3", "--record", "9", "--threads", "2", "--format", "json")
        cls.code, cls.result = done.returncode, one_object(done.stdout)
        cls.rows = cls.result["rows"]

    def test_prints_the_columns_of_the_contract(self):
        self.assertEqual(self.code, 0)
        names = [name for name in self.rows[0] if not name.endswith("_err")]
        self.assertEqual(names, ["run", "step", "similarity1", "similarity2", "loss", "accuracy"])
        self.assertEqual([row["step"] for row in self.rows if row["run"] == 2],
                         [0, 9, 18, 27, 36, 45])

    def test_similarity_ends_at_one_and_starts_below(self):
        for row in self.rows:
            for name in ("similarity1", "similarity2"):
                self.assertLessEqual(row[name], 1.0)
                if row["step"] == 45:
                    self.assertEqual(row[name], 1.0)
                if row["step"] == 0:
                    self.assertLess(row[name], 0.99)

    def test_the_questions_are_learned(self):
        summary = self.result["summary"]
        self.assertEqual((summary["finished_runs"], summary["classes"]), (3, 4))
        # Guessing gives a quarter.
        self.assertGreater(summary["accuracy"], 0.5)
        self.assertGreater(summary["accuracy_err"], 0.0)
        last = [row["loss"] for row in self.rows if row["step"] == 45]
        self.assertLess(max(last), 0.5 * self.rows[0]["loss"])

    def test_runs_differ_and_a_seed_gives_the_same_numbers_whatever_the_threads(self):
        first = [row for row in self.rows if row["run"] == 1]
        second = [row for row in self.rows if row["run"] == 2]
        self.assertNotEqual(first[0]["loss"], second[0]["loss"])
        again = one_object(text(*SMALL, "--runs", "3", "--record", "9", "--threads", "1",
                                "--format", "json").stdout)
        self.assertEqual(again["rows"], self.rows)

    def test_order_tells_when_each_layer_is_learned(self):
        done = text(*SMALL, "--runs", "3", "--record", "9", "--layers", "3", "--order",
                    "--format", "json")
        result = one_object(done.stdout)
        self.assertEqual([row["layer"] for row in result["rows"]], [1, 2, 3])
        for row in result["rows"]:
            self.assertTrue(0.0 <= row["steps"] <= 45.0)
            self.assertGreater(row["first_err"], 0.0)
        by_steps = sorted(result["rows"], key=lambda row: row["steps"])
        self.assertEqual(result["summary"]["learning_order"],
                         ",".join(str(row["layer"]) for row in by_steps))

    def test_a_rate_that_diverges_is_found_and_said(self):
        done = text(*FILES, "--rate", "50", "--runs", "2", "--format", "json")
        result = one_object(done.stdout)
        self.assertEqual((done.returncode, result["status"]), (3, "unconverged"))
        self.assertIn("--rate", result["reason"])
        self.assertEqual(result["summary"]["diverged_runs"], 2)
        self.assertNotIn("accuracy", result["summary"])
        self.assertIsNone(result["rows"][0]["similarity1"])

    def test_a_tolerance_asks_for_more_runs(self):
        done = text(*FILES, "--epochs", "1", "--runs", "2", "--tol", "1e-6", "--format", "json")
        self.assertEqual(done.returncode, 3)
        self.assertIn("--runs", one_object(done.stdout)["reason"])


class Stopping(unittest.TestCase):
    """Stand-ins for the program say what it would say and then take for ever."""

    def interrupted(self, script):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            program.write_text("#!/bin/sh\n" + script + "exec sleep 600\n", encoding="utf-8")
            program.chmod(0o755)
            process = start("smi", "text", *FILES, "--runs", "2", "--format", "json",
                            env={**os.environ, "ONSET_TEXT": str(program)})
            child = self.sleeping_child(process)
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - asked, SOON)
        self.assertFalse(os.path.exists(f"/proc/{child}"), "the program outlived the command")
        result = one_object(out)
        self.assertEqual((process.returncode, result["status"]), (130, "interrupted"))
        return result

    def sleeping_child(self, process):
        """The number of the child once it has said everything."""
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        for _ in range(200):
            for child in children.read_text(encoding="utf-8").split():
                if pathlib.Path(f"/proc/{child}/comm").read_text(encoding="utf-8") == "sleep\n":
                    time.sleep(0.3)  # its lines have to be read
                    return child
            time.sleep(0.1)
        self.fail("no program was started")

    def test_an_interrupt_ends_the_program_too_and_keeps_its_rows(self):
        result = self.interrupted("echo row 0 0 1.5 0.1 4\necho row 0 100 1.25 0.1 12\n")
        self.assertEqual([row["step"] for row in result["rows"]], [0, 100])
        self.assertEqual(result["rows"][1]["loss"], 1.25)
        self.assertEqual(result["rows"][1]["accuracy"], 0.75)
        self.assertIsNone(result["rows"][1]["similarity1"])
        self.assertEqual(result["summary"]["finished_runs"], 0)

    def test_runs_that_were_finished_by_then_keep_their_similarities(self):
        result = self.interrupted("echo row 1 0 1.5 0.1 4\necho row 1 9 1.2 0.1 12\n"
                                  "echo similarity 1 0 0.25 0.5\necho similarity 1 9 1 1\n"
                                  "echo finished 1 9\n")
        self.assertEqual([(row["run"], row["similarity2"]) for row in result["rows"]],
                         [(2, 0.5), (2, 1.0)])
        self.assertEqual(result["summary"]["accuracy"], 0.75)


class Failing(unittest.TestCase):
    def test_what_a_program_said_before_it_was_killed_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            program.write_text("#!/bin/sh\necho row 0 0 1.5 0.1 4\nkill -9 $$\n", encoding="utf-8")
            program.chmod(0o755)
            done = text(*FILES, "--format", "json", env={**os.environ, "ONSET_TEXT": str(program)})
        result = one_object(done.stdout)
        self.assertEqual((done.returncode, result["status"]), (3, "unconverged"))
        self.assertIn("by signal 9", result["reason"])
        self.assertEqual(len(result["rows"]), 1)


class WithoutTheProgram(unittest.TestCase):
    def test_it_is_said_how_to_get_it(self):
        done = text(*FILES, env={**os.environ, "ONSET_TEXT": "/nowhere/onset-text"})
        self.assertEqual(done.returncode, 4)
        self.assertIn("libtorch-dev", done.stderr)
        self.assertEqual(done.stdout, "")


class BadInput(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.good = self.file("good.label", b"A:x one two\nB:y three\n")

    def file(self, name, content):
        path = pathlib.Path(self.folder.name, name)
        path.write_bytes(content)
        return str(path)

    def refused(self, code, *arguments):
        done = text(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1)
        return done.stderr

    def test_a_malformed_line_is_named(self):
        bad = self.file("bad.label", b"A:x one\n\nno label here\n")
        for files in (["--train", bad, "--test", self.good], ["--train", self.good, "--test", bad]):
            message = self.refused(4, *files)
            self.assertIn(f"{bad}:3: ", message)
            self.assertIn("allowed: COARSE:fine text", message)

    def test_a_file_that_is_missing_or_empty_is_named(self):
        self.assertIn("none.label", self.refused(4, "--train", "none.label", "--test", self.good))
        empty = self.file("empty.label", b"\n")
        self.assertIn("has no question", self.refused(4, "--train", self.good, "--test", empty))

    def test_classes_without_training_questions_are_named(self):
        other = self.file("other.label", b"A:x one\nC:z two\n")
        message = self.refused(4, "--train", self.good, "--test", other)
        self.assertIn(f"{other}:2: class C has no question", message)
        fine = self.file("fine.label", b"A:z one\n")
        message = self.refused(4, "--train", self.good, "--test", fine, "--labels", "fine")
        self.assertIn("class A:z", message)

    def test_one_class_is_too_few(self):
        single = self.file("single.label", b"A:x one\nA:y two\n")
        self.assertIn("two classes or more",
                      self.refused(4, "--train", single, "--test", single))

    def test_sizes_beyond_memory_are_refused_before_anything_starts(self):
        message = self.refused(2, *FILES, "--embedding", "1000000", "--width", "1000000")
        self.assertIn("of memory", message)
        message = self.refused(2, *FILES, "--record", "1", "--epochs", "1000000")
        self.assertIn("of memory", message)

    def test_numbers_out_of_range_are_usage_errors(self):
        for option, value in (("--rate", "0"), ("--batch", "0"), ("--layers", "0"),
                              ("--level", "1.5"), ("--labels", "medium")):
            self.assertIn(option, self.refused(2, *FILES, option, value))

    def test_files_of_another_fingerprint_are_refused(self):
        self.assertIn("--fingerprint", self.refused(2, *FILES, "--fingerprint", "0123456789abcdef"))

    def test_explain_estimates_without_the_program(self):
        done = text(*FILES, "--explain", env={**os.environ, "ONSET_TEXT": "/nowhere/onset-text"})
        self.assertEqual(done.returncode, 0)
        self.assertIn("Nothing was computed", done.stdout)


if __name__ == "__main__":
    unittest.main()
