"""What others may put in the way: odd files, odd words, and machines with little room."""

import json
import os
import pathlib
import resource
import shutil
import socket
import sqlite3
import struct
import tempfile
import unittest

from onset_command import LONG, QUICK, onset
from study_files import QUICK_POINTS, QUICK_STUDY, StudyCase, stored_points

MEBIBYTE = 1 << 20
# Its result is drawn.
DRAWN = ["smi", "curve", "--layers", "1", "--alpha", "0.1,0.2", "--tol", "0.05"]
STUDY = """command = 'smi thresholds'
fixed = {layers = 1, tokens = 2}
axes = {skip = [0, 1]}
"""
FIGURE = """title = "A figure"
[[run]]
id = "line"
command = "smi thresholds"
fixed = {layers = 1, tol = 0.05}
axes = {tokens = [2, 3]}
[[panel]]
x = {label = "tokens"}
y = {label = "alpha"}
[[panel.series]]
run = "line"
x = "tokens"
y = "alpha"
[[panel.overlay]]
file = "a.csv"
x = "tokens"
y = "alpha"
"""
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
            # Below, the loader finds no room for the libraries (127), and between the two there is
            # none for what these make before the program starts.
            self.assertIn(done.returncode, (0, 4, 127), (mebibytes, done.stderr))
            if done.returncode == 4:
                self.assertIn("ulimit -v", done.stderr)


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


JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
JOURNAL_FIGURE = """title = "A figure"
[[run]]
id = "line"
command = "smi thresholds"
fixed = {layers = 1}
axes = {tokens = [2, 3]}
[[panel]]
x = {label = "tokens"}
y = {label = "alpha"}
[[panel.series]]
run = "line"
x = "tokens"
y = "alpha"
group = "kind"
"""


def forged_journal(store, named=None):
    """A journal that SQLite undoes: it puts the first page of a store back as it is, and then
    removes the file that it names. See https://www.sqlite.org/fileformat.html."""
    content = pathlib.Path(store).read_bytes()
    size, nonce = struct.unpack(">H", content[16:18])[0], 12345
    page = content[:size]
    checksum = nonce + sum(page[size - 200:0:-200])
    header = JOURNAL_MAGIC + struct.pack(">5I", 1, nonce, len(content) // size, 512, size)
    journal = header.ljust(512, b"\0") + struct.pack(">I", 1) + page + struct.pack(">I", checksum)
    if named is not None:
        name = os.fsencode(named)
        journal += (struct.pack(">I", (1 << 30) // size + 1) + name
                    + struct.pack(">II", len(name), sum(name)) + JOURNAL_MAGIC)
    return journal


class OddJournals(StudyCase):
    """SQLite undoes what the journal beside a store says, whoever wrote that."""

    def setUp(self):
        super().setUp()
        self.store, self.study_file = self.path("s.db"), self.study(QUICK_STUDY)
        self.sweep(self.study_file, self.store)
        self.journal = pathlib.Path(self.store + "-journal")
        self.figure_file = self.study(JOURNAL_FIGURE, "fig.toml")
        self.precious = pathlib.Path(self.path("precious.txt"))
        self.precious.write_text("precious", encoding="utf-8")

    def commands(self):
        yield ["export", self.store]
        yield ["sweep", self.study_file, "--store", self.store]
        yield ["sweep", self.study_file, "--store", self.store, "--status"]
        yield ["report", self.store, "--out", self.path("page.html")]
        yield ["merge", self.path("out.db"), self.store]
        yield ["merge", self.store, self.store]
        yield ["figure", self.figure_file, "--store", self.store, "--out", self.path("pictures")]

    def assert_refused(self, *words):
        before = pathlib.Path(self.store).read_bytes()
        for command in self.commands():
            # One that waits for a pipe would wait for ever, and ends by the timeout of onset().
            self.assert_complaint(onset(*command), 4, "s.db-journal", *words)
        self.assertEqual(pathlib.Path(self.store).read_bytes(), before)
        self.assertEqual(self.precious.read_text(encoding="utf-8"), "precious")
        self.assertTrue(os.path.lexists(self.journal))

    def test_a_journal_that_names_a_file_does_not_remove_it(self):
        for name in (self.precious, self.path("none")):
            self.journal.write_bytes(forged_journal(self.store, name))
            self.assert_refused("names another file")

    def test_a_journal_that_names_a_pipe_does_not_wait_for_it(self):
        os.mkfifo(self.path("pipe"))
        self.journal.write_bytes(forged_journal(self.store, self.path("pipe")))
        self.assert_refused("names another file")

    def test_the_same_journal_without_a_name_is_undone(self):
        self.journal.write_bytes(forged_journal(self.store))
        before = pathlib.Path(self.store).read_bytes()
        self.assertTrue(self.export(self.store))
        self.assertFalse(self.journal.exists())
        self.assertEqual(pathlib.Path(self.store).read_bytes(), before)

    def test_something_else_in_the_place_of_the_journal_is_left_alone(self):
        def thesis():
            self.journal.write_text("my thesis", encoding="utf-8")

        def bound_socket():
            with socket.socket(socket.AF_UNIX) as place:
                place.bind(str(self.journal))

        for make in (thesis, bound_socket, self.journal.mkdir,
                     lambda: os.mkfifo(self.journal), lambda: os.link(self.precious, self.journal),
                     lambda: os.symlink(self.precious, self.journal),
                     lambda: os.symlink("nowhere", self.journal)):
            make()
            kind = self.journal.lstat().st_mode
            self.assert_refused("is none")
            # The same where the store is yet to be made.
            kept = pathlib.Path(self.path("kept"))
            os.rename(self.store, kept)
            done = onset("sweep", self.study_file, "--store", self.store)
            self.assert_complaint(done, 4, "s.db-journal", "is none")
            self.assertFalse(os.path.exists(self.store))
            self.assertEqual(self.journal.lstat().st_mode, kind)
            os.rename(kept, self.store)
            (os.rmdir if self.journal.is_dir() and not self.journal.is_symlink() else os.remove)(
                self.journal)

    @unittest.skipIf(os.geteuid() == 0, "nothing is closed to root")
    def test_a_journal_that_cannot_be_read_is_not_removed(self):
        os.remove(self.store)
        self.journal.touch(mode=0)
        done = onset("sweep", self.study_file, "--store", self.store)
        self.assert_complaint(done, 4, "s.db-journal", "cannot be read")
        self.assertTrue(self.journal.exists())

    def test_files_that_no_store_has_are_not_touched(self):
        """A write-ahead log and its shared memory, and the name under which stores were made."""
        for make in (lambda path: path.write_bytes(b"precious"), os.mkfifo, os.mkdir):
            others = [pathlib.Path(self.path("new.db" + end)) for end in ("-wal", "-shm", ".new")]
            for path in others:
                make(path)
            kinds = [path.lstat().st_mode for path in others]
            store = self.path("new.db")
            done, row = self.sweep(self.study_file, store)
            self.assertEqual((done.returncode, row and row["ok"]), (0, QUICK_POINTS), done.stderr)
            self.assertEqual(len(self.export(store).splitlines()), 2 * QUICK_POINTS + 1)
            self.assertEqual([path.lstat().st_mode for path in others], kinds)
            for path in others:
                if path.is_file():
                    self.assertEqual(path.read_bytes(), b"precious")
                (os.rmdir if path.is_dir() else os.remove)(path)
            os.remove(store)

    def test_a_store_that_another_program_gave_a_write_ahead_log_is_left_alone(self):
        connection = sqlite3.connect(self.store)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
        done = onset("export", self.store)
        self.assert_complaint(done, 4, "s.db", "write-ahead log", "journal_mode = DELETE")
        connection = sqlite3.connect(self.store)
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.close()
        self.assertTrue(self.export(self.store))
        self.assertEqual(stored_points(self.store), QUICK_POINTS)


def as_somebody_else():
    """The superuser may search every folder, so that he must not be the one who asks."""
    if os.geteuid() == 0:
        os.setuid(65534)


class OddPaths(unittest.TestCase):
    """What cannot be reached is an error that names the path and the reason."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.chmod(self.folder, 0o755)

    def refused(self, reason, *command, **options):
        done = onset(*command, **options)
        self.assertEqual((done.returncode, done.stdout), (4, ""), (command, done.stderr))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, reason)
        return done.stderr

    def readers(self, data):
        figure = self.folder / "g.toml"
        figure.write_text(FIGURE, encoding="ascii")
        for words in (["smi", "amp", "--data", data], ["smi", "amp", "--data", data, "--explain"],
                      ["aim", "amp", "--data", data], ["aim", "amp", "--data", data, "--explain"],
                      ["figure", str(figure), "--overlay", data, "--explain"]):
            yield words

    def test_a_folder_that_cannot_be_reached(self):
        loop, hidden = self.folder / "loop", self.folder / "hidden"
        loop.symlink_to("loop")
        (hidden / "data").mkdir(parents=True)
        hidden.chmod(0)
        self.addCleanup(hidden.chmod, 0o755)
        for data, reason in ((self.folder / ("x" * 300), "x: .*name too long|x/.*name too long"),
                             (loop, "loop.*symbolic links"),
                             (hidden / "data", "hidden/data.*Permission denied")):
            for words in self.readers(str(data)):
                with self.subTest(words):
                    self.refused(reason, *words, preexec_fn=as_somebody_else)

    def test_files_of_data_that_are_links_to_themselves(self):
        made = onset("smi", "generate", "--layers", "1", "--dim", "20", "--alpha", "5", "--out",
                     str(self.folder / "d"))
        self.assertEqual(made.returncode, 0, made.stderr)
        for name in ("truth/w.npy", "truth", "H.npy", "manifest.json"):
            data = self.folder / "d"
            path = data / name
            if path.is_dir():
                shutil.rmtree(path)
            elif path.exists():
                path.unlink()
            path.symlink_to(path.name)
            with self.subTest(name):
                self.refused(f"{name}.*symbolic links", "smi", "amp", "--data", str(data), "--layers", "1")
                path.unlink()

    def test_an_overlay_with_a_name_of_any_length(self):
        figure = self.folder / "g.toml"
        figure.write_text(FIGURE.replace("a.csv", "x" * 3000), encoding="ascii")
        self.refused("x: cannot be reached: File name too long", "figure", str(figure), "--overlay",
                     str(self.folder), "--out", str(self.folder / "out"), "--quiet")

    def test_a_folder_that_was_removed(self):
        study = self.folder / "s.toml"
        study.write_text(STUDY, encoding="ascii")
        for words in (["submit", "slurm", str(study), "--jobs", "2"], ["serve"]):
            gone = self.folder / "gone"
            gone.mkdir()
            self.refused("working folder", *words, cwd=gone, preexec_fn=gone.rmdir)


class OddRunFolders(unittest.TestCase):
    """A folder for results that others prepared: what is theirs stays, and what is in the way is
    said before anything is computed."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def out(self, *words, **options):
        return onset(*DRAWN, "--out", str(self.folder), *words, **options)

    def test_a_manifest_removes_no_files_of_others(self):
        theirs = {name: self.folder / name for name in ("thesis.tex", "figure.png", "sub/key")}
        for path in theirs.values():
            path.parent.mkdir(exist_ok=True)
            path.write_text("x\n", encoding="ascii")
        (self.folder / "manifest.json").write_text(json.dumps(
            {"files": ["thesis.tex", "sub/key"], "command": "smi curve"}), encoding="ascii")
        # Without gnuplot, which replaces figure.png.
        done = self.out(env={**os.environ, "PATH": ""})
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in theirs.values():
            self.assertEqual(path.read_text(encoding="ascii"), "x\n", path)
        self.assertNotIn("thesis", (self.folder / "manifest.json").read_text(encoding="ascii"))

    def test_what_is_in_the_way_is_said_before_the_run(self):
        for name in ("manifest.json", "result.csv", "figure.svg"):
            for make in (lambda path: path.symlink_to(path.name), os.mkfifo,
                         lambda path: path.symlink_to("elsewhere")):
                path = self.folder / name
                make(path)
                done = onset(*LONG, "--out", str(self.folder))
                path.unlink()
                self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
                self.assertIn(f"{path}: is a ", done.stderr)

    def test_a_manifest_that_is_none_of_ours_stays(self):
        path = self.folder / "manifest.json"
        for text in ('{"files":[],"command":5}', '{"name": "a web page"}', "[1]", "{"):
            path.write_text(text, encoding="ascii")
            done = onset(*LONG, "--out", str(self.folder))
            self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
            self.assertIn(f"{path}: is no manifest of Onset", done.stderr)
            self.assertEqual(path.read_text(encoding="ascii"), text)

    def test_what_was_drawn_is_known_to_the_next_run(self):
        self.assertEqual(self.out().returncode, 0)
        self.assertTrue((self.folder / "figure.svg").exists())
        done = self.out(env={**os.environ, "PATH": ""})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.folder / "figure.svg").exists())

    def test_every_file_of_a_run_is_known_to_the_next_one(self):
        data = str(self.folder / "examples")
        model = str(self.folder / "model")
        for words in (["mha", "generate", "--heads", "1", "--dim", "4", "--tokens", "2", "--samples",
                       "400", "--out", data],
                      ["mha", "learn", data, "--out", model],
                      ["mha", "baseline", data, "--starts", "1", "--out", str(self.folder / "fit")],
                      ["smi", "generate", "--dim", "20", "--alpha", "1", "--out", str(self.folder / "s")],
                      ["aim", "generate", "--channel", "softmax", "--dim", "10", "--alpha", "0.5", "--out",
                       str(self.folder / "a")]):
            done = onset(*words)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            with open(os.path.join(words[-1], "manifest.json"), encoding="utf-8") as file:
                manifest = json.load(file)
            self.assertEqual(manifest["files"], ["result.csv", *manifest["marks"]])

    def test_the_store_of_a_figure_is_no_link_in_its_folder(self):
        figure = self.folder / "g.toml"
        figure.write_text(FIGURE, encoding="ascii")
        out = self.folder / "w"
        first = onset("figure", str(figure), "--out", str(out), "--quiet")
        self.assertEqual(first.returncode, 0, first.stderr)
        own = self.folder / "own.db"
        (out / "g.db").rename(own)
        before = own.read_bytes()
        (out / "g.db").symlink_to("../own.db")
        done = onset("figure", str(figure), "--out", str(out), "--seed", "2", "--quiet")
        self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
        self.assertIn(f"{out / 'g.db'}: is a symbolic link", done.stderr)
        self.assertEqual(own.read_bytes(), before)
        # One that the user names is read wherever it is.
        named = onset("figure", str(figure), "--out", str(self.folder / "v"), "--store", str(out / "g.db"), "--quiet")
        self.assertEqual(named.returncode, 0, named.stderr)

    def test_any_name_of_a_folder_is_a_name(self):
        for name in ("$(touch pwned)", "`touch pwned`;", "x' y\"", "a\nb", "\x1b[31m", "--out", "%s%n", "\u202e"):
            out = os.path.join(str(self.folder), name)
            done = onset(*DRAWN, "--out", out, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(os.path.exists(os.path.join(out, "figure.svg")), name)
            blocked = onset(*QUICK, "--out", os.path.join(out, "result.csv"), cwd=self.folder)
            self.assertEqual((blocked.returncode, blocked.stderr.count("\n")), (4, 1), blocked.stderr)
            self.assertFalse(set(blocked.stderr) & set("\x1b\u202e"))
        self.assertFalse((self.folder / "pwned").exists())


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
