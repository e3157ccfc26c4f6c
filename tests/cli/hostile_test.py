"""What others may put in the way: odd files, odd words, and machines with little room."""

import os
import resource
import tempfile
import unittest

from onset_command import QUICK, onset

MEBIBYTE = 1 << 20
PRODUCTS = ["aim", "amp", "--dim", "30", "--alpha", "0.5", "--runs", "1", "--iterations", "3"]


def with_memory(mebibytes):
    limit = mebibytes * MEBIBYTE
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}


@unittest.skipIf(os.environ.get("ONSET_SANITIZED"), "a sanitizer needs the address space itself")
class LittleMemory(unittest.TestCase):
    """OpenBLAS waits for ever where it gets no buffer; Onset must not."""

    def test_commands_without_products_work(self):
        self.assertEqual(onset("--version", **with_memory(150)).returncode, 0)

    def test_products_without_room_for_a_buffer_say_so(self):
        for mebibytes in (100, 150):
            done = onset(*PRODUCTS, "--threads", "2", **with_memory(mebibytes))
            self.assertEqual(done.returncode, 4, (mebibytes, done.stderr))
            self.assertIn("ulimit -v", done.stderr)

    def test_with_room_for_one_buffer_the_numbers_are_the_same(self):
        plenty = onset(*PRODUCTS, "--threads", "4", "--format", "csv")
        little = onset(*PRODUCTS, "--threads", "4", "--format", "csv", **with_memory(400))
        self.assertEqual(little.returncode, plenty.returncode, little.stderr)
        self.assertEqual(little.stdout, plenty.stdout)

    def test_learning_ends_wherever_memory_does(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "examples")
            made = onset("mha", "generate", "--heads", "2", "--dim", "6", "--tokens", "3", "--samples", "30000", "--out", data)
            self.assertEqual(made.returncode, 0, made.stderr)
            for mebibytes in range(200, 321, 20):
                for threads in "124":
                    # A call that waits for a buffer heeds nothing, and the timeout ends the test.
                    done = onset("mha", "learn", data, "--max-seconds", "0.3", "--threads", threads, "--out",
                                 os.path.join(folder, "model"), **with_memory(mebibytes))
                    at = (mebibytes, threads, done.returncode, done.stderr)
                    self.assertIn(done.returncode, (0, 3, 4, 130), at)
                    if done.returncode == 4:
                        self.assertIn("ulimit -v", done.stderr, at)

    def test_where_the_program_starts_it_works(self):
        for mebibytes in range(60, 151, 2):
            done = onset("--version", **with_memory(mebibytes))
            # Below, the loader finds no room for the libraries (127).
            self.assertIn(done.returncode, (0, 127), (mebibytes, done.stderr))


class OddFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pipe = os.path.join(folder.name, "pipe")
        self.folder = folder.name
        os.mkfifo(self.pipe)

    def test_a_pipe_is_refused_wherever_a_file_is_read(self):
        os.mkfifo(os.path.join(self.folder, "X.npy"))
        for code, command in ((4, ["sweep", self.pipe]),
                              (4, ["export", self.pipe]),
                              (4, ["merge", os.path.join(self.folder, "out.db"), self.pipe]),
                              (4, ["smi", "text", "--train", self.pipe, "--test", self.pipe]),
                              (4, ["smi", "amp", "--layers", "1", "--data", self.folder]),
                              (4, ["aim", "amp", "--data", self.folder]),
                              (2, [*QUICK, "--token-correlation", self.pipe])):
            done = onset(*command)
            self.assertEqual(done.returncode, code, (command, done.stderr))
            self.assertIn("is a pipe", done.stderr)

    def test_a_study_of_endless_size_is_refused(self):
        study = os.path.join(self.folder, "s.toml")
        with open(study, "wb") as file:
            file.truncate(65 * MEBIBYTE)
        done = onset("sweep", study)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("has more than", done.stderr)


class OddWords(unittest.TestCase):
    def commands(self, word):
        yield [word]
        yield ["smi", word]
        yield [*QUICK, word]
        yield [*QUICK, "--" + word]
        yield [*QUICK, "--beta", word]
        yield [*QUICK, "--link", word]
        yield [*QUICK, "--token-correlation", word]
        yield ["sweep", word]
        yield ["export", word]

    def test_no_message_has_characters_that_a_terminal_obeys(self):
        for command in self.commands("x\x1b]0;title\x07\x1b[2J\x9b\u202e\nonset: all is well"):
            done = onset(*command)
            self.assertIn(done.returncode, (2, 4), command)
            self.assertFalse(set(done.stderr) & set("\x1b\x07\x9b\u202e"), (command, done.stderr))
            self.assertFalse(done.stderr.startswith("onset: all") or "\nonset: all" in done.stderr)
            self.assertIn("\\x1b", done.stderr)

    def test_explain_shows_names_on_their_line(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "x\x1b[31m\nonset: all is well")
            made = onset("mha", "generate", "--heads", "1", "--dim", "4", "--tokens", "2", "--samples", "50", "--out", data)
            self.assertEqual(made.returncode, 0, made.stderr)
            done = onset("mha", "baseline", data, "--explain")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("\x1b", done.stdout)
            self.assertNotIn("\nonset: all", done.stdout)
            self.assertIn("\\x1b[31m", done.stdout)

    def test_a_long_value_is_not_repeated(self):
        for command in self.commands("x" * 100_000):
            done = onset(*command)
            self.assertIn(done.returncode, (2, 4), command)
            self.assertLess(len(done.stderr), 5000, command)


if __name__ == "__main__":
    unittest.main()
