"""Who waits for a locked store or for a pipe can be interrupted."""

import os
import signal
import sqlite3
import time
import unittest

from onset_command import SOON, onset, start
from study_files import ENDLESS_STUDY, QUICK_STUDY, StudyCase, stored_points

FIGURE = """title = "A figure"
[[run]]
id = "line"
command = "smi thresholds"
fixed = {layers = 1}
axes = {tokens = [2]}
[[panel]]
x = {label = "tokens"}
y = {label = "alpha"}
[[panel.series]]
run = "line"
x = "tokens"
y = "alpha"
"""


class Waiting(StudyCase):
    def lock(self, store):
        """Keeps everybody else out of a store, as other programs may."""
        connection = sqlite3.connect(store, isolation_level=None)
        self.addCleanup(connection.close)
        connection.execute("BEGIN EXCLUSIVE")

    def made_store(self, name="s.db"):
        store = self.path(name)
        self.sweep(self.study(QUICK_STUDY.replace("[2, 3, 5]", "[2]"), "made.toml"), store)
        return store

    def interrupted(self, process, wait=0.7):
        time.sleep(wait)
        self.assertIsNone(process.poll(), "it did not wait")
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=90)
        self.assertLess(time.monotonic() - asked, SOON)
        return process.returncode, err

    def test_a_sweep_that_cannot_open_its_store(self):
        store = self.made_store()
        self.lock(store)
        code, err = self.interrupted(start("sweep", self.study(QUICK_STUDY), "--store", store))
        self.assertEqual(code, 130)
        self.assertIn("interrupted: another program kept", err)

    def test_a_sweep_that_cannot_open_its_store_until_its_time_is_over(self):
        store = self.made_store()
        self.lock(store)
        began = time.monotonic()
        done, _ = self.sweep(self.study(QUICK_STUDY), store, "--max-hours", "2e-4")
        self.assertLess(time.monotonic() - began, 0.72 + SOON)
        self.assert_complaint(done, 3, "interrupted: another program kept", "s.db")

    def test_a_sweep_that_cannot_store_a_point(self):
        study = self.study(ENDLESS_STUDY.replace("[1, 2, 3]", '"0.01:3:0.01"'))
        store = self.path("s.db")
        process = start("sweep", study, "--store", store, "--threads", "1")
        while stored_points(store) < 3:
            time.sleep(0.01)
        self.lock(store)
        code, err = self.interrupted(process)
        self.assertEqual(code, 130, err)

    def test_a_figure_that_cannot_open_its_store(self):
        (self.folder / "out").mkdir()
        self.lock(self.made_store("out/own.db"))
        code, err = self.interrupted(
            start("figure", self.study(FIGURE, "own.toml"), "--out", self.path("out")))
        self.assertEqual(code, 130)
        self.assertIn("interrupted: another program kept", err)

    def test_commands_that_only_read_or_merge(self):
        store = self.made_store()
        self.lock(store)
        study = self.path("made.toml")
        for words in (["export", store], ["merge", self.path("out.db"), store],
                      ["sweep", study, "--store", store, "--status"]):
            code, _ = self.interrupted(start(*words))
            self.assertEqual(code, -signal.SIGINT, words)
        code, _ = self.interrupted(start("report", store, "--out", self.path("s.html")))
        self.assertEqual(code, 130)

    def test_a_study_that_comes_through_a_pipe_is_not_waited_for(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        done = onset("sweep", pipe, "--store", self.path("s.db"))
        self.assertEqual(done.returncode, 4, done.stderr)


if __name__ == "__main__":
    unittest.main()
