"""Figures from the shell: finding them, and what is said about bad ones."""

import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

from onset_command import QUICK, hung_gnuplot, onset, start

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

GOOD = """title = "A figure"
[[run]]
id = "line"
command = "smi thresholds"
fixed = {layers = 1, tol = 0.05}
axes = {tokens = [2, 3, 4]}
[[panel]]
x = {label = "tokens"}
y = {label = "alpha"}
[[panel.series]]
run = "line"
x = "tokens"
y = "alpha"
group = "kind"
"""


class Figures(unittest.TestCase):
    def test_the_list_names_each_figure_with_its_title(self):
        run = onset("figure", "list")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"smi-1 +\S")

    def test_an_unknown_figure_names_the_nearest_one(self):
        run = onset("figure", "smj-1")
        self.assertEqual(run.returncode, 2)
        self.assertIn("did you mean 'smi-1'?", run.stderr)

    def test_a_figure_without_a_name_is_misuse(self):
        self.assertEqual(onset("figure").returncode, 2)
        self.assertEqual(onset("figure", "--quick").returncode, 2)

    def test_a_figure_file_that_is_not_there_is_a_file_error(self):
        self.assertEqual(onset("figure", "no/such.toml").returncode, 4)

    def test_a_folder_of_overlays_that_is_not_there_is_named(self):
        run = onset("figure", "smi-1", "--overlay", "no/such/folder", "--dry-run")
        self.assertEqual(run.returncode, 4)
        self.assertIn("no/such/folder", run.stderr)

    def test_retry_is_refused_where_nothing_is_computed(self):
        for word in ("--dry-run", "--explain"):
            run = onset("figure", "smi-1", word, "--retry")
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertIn("--retry: has no effect", run.stderr)

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

    def test_a_wrong_parameter_is_told_with_its_place(self):
        message = self.refuse(BAD_PARAMETER)
        self.assertIn("bad.toml:5:22", message)
        self.assertIn("did you mean 'alpha'?", message)

    def test_an_unknown_run_is_told_with_the_nearest_one(self):
        message = self.refuse(GOOD.replace('run = "line"', 'run = "lime"', 1))
        self.assertIn("bad.toml:11:7: there is no run 'lime'; did you mean 'line'?", message)

    def test_a_value_of_the_wrong_type_is_told_with_what_is_wanted(self):
        message = self.refuse(GOOD.replace('label = "tokens"', "label = 3"))
        self.assertIn("bad.toml:8:14: 'label' must be a string", message)

    def test_an_unknown_kind_of_panel_is_told_with_those_there_are(self):
        message = self.refuse(GOOD.replace("[[panel]]", '[[panel]]\nkind = "maps"'))
        self.assertIn("bad.toml:8:8: 'kind' must be one of lines, map", message)

    def test_an_axis_that_is_one_value_is_told_where_it_belongs(self):
        message = self.refuse(GOOD.replace("tokens = [2, 3, 4]", "tokens = 2"))
        self.assertIn("bad.toml:6:", message)
        self.assertIn("[fixed]", message)


class Drawn(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write(self, text):
        file = self.path / "own.toml"
        file.write_text(text, encoding="utf-8")
        return str(file)

    def figure(self, text, out, *more, **options):
        return onset("figure", self.write(text), "--out", str(self.path / out), *more, **options)

    def test_a_users_own_file_is_drawn_as_svg_pdf_and_png(self):
        run = self.figure(GOOD, "out")
        self.assertEqual(run.returncode, 0, run.stderr)
        names = [pathlib.Path(line).name for line in run.stdout.splitlines()]
        self.assertEqual(names, ["own.svg", "own.pdf", "own.png"])
        for name in [*names, "own.gp", "own.db", "line.csv", "manifest.json"]:
            self.assertGreater((self.path / "out" / name).stat().st_size, 0, name)
        pdf = (self.path / "out" / "own.pdf").read_bytes()
        self.assertIn(b"/FontFile", pdf)  # the font travels with it

    def test_data_and_script_are_the_same_for_any_number_of_threads(self):
        for out, threads in (("one", "1"), ("three", "3")):
            run = onset("figure", self.write(GOOD), "--out", str(self.path / out),
                        "--threads", threads)
            self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("line.csv", "own.gp", "own.svg"):
            self.assertEqual((self.path / "one" / name).read_bytes(),
                             (self.path / "three" / name).read_bytes(), name)

    def test_a_column_that_is_not_there_is_told_with_the_place_of_its_series(self):
        run = self.figure(GOOD.replace('y = "alpha"', 'y = "alhpa"'), "out")
        self.assertEqual(run.returncode, 2)
        self.assertIn("own.toml:10:1: run 'line'", run.stderr)
        self.assertIn("'alpha'", run.stderr)

    def test_without_gnuplot_the_data_is_there_and_the_message_names_the_package(self):
        run = self.figure(GOOD, "out", env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(run.returncode, 4)
        self.assertIn("gnuplot-nox", run.stderr)
        self.assertTrue((self.path / "out" / "line.csv").exists())

    def test_refused_points_are_said_and_the_others_drawn(self):
        text = GOOD.replace("tokens = [2, 3, 4]", "tokens = [2, 3], rank = [1, 3]")
        run = self.figure(text, "out")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("2 points, the first at tokens = 2, rank = 3: refused", run.stderr)
        self.assertTrue((self.path / "out" / "own.png").exists())

    def test_a_killed_figure_goes_on_where_it_was_and_ends_the_same(self):
        text = GOOD.replace("[2, 3, 4]", '"2:14:1"')
        whole = self.figure(text, "whole")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        process = start("figure", self.write(text), "--out", str(self.path / "out"),
                        "--threads", "1")
        self.wait_for_a_point(process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kept = self.finished()
        self.assertGreaterEqual(len(kept), 1)
        again = self.figure(text, "out")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertLessEqual(kept.items(), self.finished().items())
        for name in ("line.csv", "own.gp"):
            self.assertEqual((self.path / "whole" / name).read_bytes(),
                             (self.path / "out" / name).read_bytes())
        done = self.finished()
        self.assertEqual(self.figure(text, "out").returncode, 0)
        self.assertEqual(self.finished(), done)  # nothing was computed again

    def test_an_interrupted_figure_ends_with_130_and_draws_nothing(self):
        text = GOOD.replace("layers = 1, tol = 0.05", "layers = 2, tol = 1e-9")
        text = text.replace("tokens = [2, 3, 4]", "tokens = [2]")
        process = start("figure", self.write(text), "--out", str(self.path / "out"))
        while process.poll() is None and not (self.path / "out" / "own.db").exists():
            time.sleep(0.01)
        time.sleep(0.5)  # into the computation
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("interrupted: run 'line': 0 of 1 points are done", errors)
        self.assertFalse((self.path / "out" / "own.svg").exists())
        manifest = (self.path / "out" / "manifest.json").read_text(encoding="utf-8")
        self.assertIn('"status": "interrupted"', manifest)

    def test_no_text_of_a_figure_file_runs_a_command(self):
        pwned = self.path / "pwned"
        command = f"/usr/bin/touch {pwned}"
        for text in (f'x\\nsystem(\\"{command}\\")\\n#', f"`{command}`", f"';system('{command}');'"):
            body = GOOD.replace('label = "tokens"', f'label = "{text}"')
            body = body.replace("[[panel]]", f'[[panel]]\ntitle = "{text}"')
            body = body.replace('group = "kind"', f'label = "{text}"')
            run = self.figure(body, "out")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertFalse(pwned.exists(), text)

    def test_no_text_of_a_figure_file_is_markup_of_the_picture(self):
        label = '{/Font\\"><script>alert(1)</script> x} </text><script>alert(2)</script> & ]]>'
        body = GOOD.replace('label = "tokens"', f'label = "{label}"')
        run = self.figure(body, "out")
        self.assertEqual(run.returncode, 0, run.stderr)
        picture = xml.etree.ElementTree.parse(self.path / "out" / "own.svg")
        tags = {element.tag.rpartition("}")[2] for element in picture.iter()}
        self.assertNotIn("script", tags)
        self.assertIn("text", tags)

    def test_the_time_limit_holds_for_a_gnuplot_that_hangs(self):
        begin = time.monotonic()
        run = self.figure(GOOD, "out", "--max-seconds", "4", env=hung_gnuplot(self.path / "programs"))
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("the drawing is not done", run.stderr)
        self.assertTrue((self.path / "out" / "line.csv").exists())

    def test_ctrl_c_ends_a_gnuplot_that_hangs(self):
        process = start("figure", self.write(GOOD), "--out", str(self.path / "out"),
                        env=hung_gnuplot(self.path / "programs"))
        while process.poll() is None and not (self.path / "out" / "own.gp").exists():
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)

    def test_a_run_that_gave_nothing_leaves_its_frame_and_says_why(self):
        text = GOOD.replace("tokens = [2, 3, 4]", "tokens = [2, 3], rank = [3]")
        run = self.figure(text, "out")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("run 'line': 2 points, the first at tokens = 2", run.stderr)
        self.assertIn("panel 1 is empty: nothing to draw in run line", run.stderr)
        for name in ("own.svg", "own.pdf", "own.png"):
            self.assertGreater((self.path / "out" / name).stat().st_size, 0)

    def test_points_of_another_store_are_not_computed_again(self):
        study = self.path / "filled.toml"
        study.write_text('command = "smi thresholds"\nfixed = {layers = 1, tol = 0.05}\n'
                         "axes = {tokens = [2, 3]}\nseeds = [1]\n", encoding="utf-8")
        store = self.path / "filled.db"
        done = onset("sweep", str(study), "--store", str(store))
        self.assertEqual(done.returncode, 0, done.stderr)
        before = store.read_bytes()
        run = self.figure(GOOD, "out", "--store", str(store))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(store.read_bytes(), before)
        query = "SELECT key, finished, seconds FROM points"
        with sqlite3.connect(store) as filled, sqlite3.connect(self.path / "out" / "own.db") as own:
            given, drawn = set(filled.execute(query)), set(own.execute(query))
        self.assertEqual((len(given), len(drawn)), (2, 3))
        self.assertTrue(given < drawn)
        missing = self.figure(GOOD, "out", "--store", str(self.path / "none.db"))
        self.assertEqual(missing.returncode, 4)

    def test_a_picture_that_is_a_link_is_not_followed(self):
        (self.path / "out").mkdir()
        (self.path / "victim").write_text("precious", encoding="utf-8")
        (self.path / "out" / "own.svg").symlink_to(self.path / "victim")
        run = self.figure(GOOD, "out")
        self.assertEqual(run.returncode, 4)
        self.assertIn("own.svg: is a symbolic link", run.stderr)
        self.assertEqual((self.path / "victim").read_text(encoding="utf-8"), "precious")

    @unittest.skipUnless(os.geteuid() == 0, "only root mounts")
    def test_a_full_disk_leaves_no_cut_picture(self):
        out = self.path / "out"
        out.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", out], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no mount here")
        try:
            run = self.figure(GOOD, "out")
            self.assertEqual(run.returncode, 4, run.stderr)
            self.assertIn("No space left", run.stderr)
            for name, end in ((".svg", b"</svg>\n\n"), (".pdf", b"%%EOF\n"), (".png", b"IEND\xaeB`\x82")):
                for picture in out.glob("*" + name):
                    self.assertTrue(picture.read_bytes().endswith(end), picture)
            self.assertEqual(list(out.glob("*.tmp")), [])
        finally:
            subprocess.run(["umount", out], check=True)

    def finished(self):
        """When each point of the store was finished, by its key."""
        file = self.path / "out" / "own.db"  # which must not be made here
        store = sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True, timeout=10)
        try:
            return dict(store.execute("SELECT key, finished || seconds FROM points"))
        finally:
            store.close()

    def wait_for_a_point(self, process):
        end = time.monotonic() + 60
        while time.monotonic() < end and process.poll() is None:
            try:
                if self.finished():
                    return
            except sqlite3.Error:
                pass  # not there yet
            time.sleep(0.01)


class FigureOfAResult(unittest.TestCase):
    CURVE = ["smi", "curve", "--layers", "1", "--alpha", "0.1,0.2", "--tol", "0.05", "--format", "csv"]

    def test_a_verb_with_a_grid_draws_its_result_into_its_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            run = onset(*self.CURVE, "--out", folder)
            self.assertEqual(run.returncode, 0, run.stderr)
            for name in ("result.csv", "figure.svg", "figure.pdf", "figure.png"):
                self.assertTrue(pathlib.Path(folder, name).exists(), name)

    def test_a_table_without_a_grid_has_no_figure(self):
        with tempfile.TemporaryDirectory() as folder:
            run = onset(*QUICK, "--out", folder)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(sorted(os.listdir(folder)), ["manifest.json", "result.csv"])

    def test_a_drawing_that_is_stopped_ends_as_interrupted(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            environment = hung_gnuplot(folder / "programs")
            out = folder / "out"
            run = onset(*self.CURVE, "--out", str(out), "--max-seconds", "4", env=environment)
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertIn("no figure: the drawing was stopped at the time limit", run.stderr)
            self.assertTrue((out / "result.csv").exists())
            process = start(*self.CURVE, "--out", str(out), "--quiet", env=environment)
            rows = process.stdout.readline()  # they are shown before the drawing
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, (rows, errors))
            # The reason for the exit code is said even then.
            self.assertEqual(errors, "onset: no figure: the drawing was stopped on request\n")

    def test_without_gnuplot_there_is_a_remark_and_everything_else(self):
        with tempfile.TemporaryDirectory() as folder:
            run = onset(*self.CURVE, "--out", folder, env={**os.environ, "PATH": "/nowhere"})
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("no figure: gnuplot: not found", run.stderr)
            self.assertTrue(pathlib.Path(folder, "result.csv").exists())


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
