"""A point that crashes, is killed or never ends costs its study that point and no more."""

import os
import pathlib
import signal
import time
import unittest

from onset_command import children, one_object, start
from study_files import ENDLESS_STUDY, StudyCase, stored_points

QUICK_POINTS = 3  # of the endless study; the other three never end
# The points would never end by themselves: any limit tells that they were stopped, and this one holds
# on a loaded machine too.
PATIENCE = 60.0
# The address sanitizer would make an exit code of the signal.
ENVIRONMENT = os.environ | {"ASAN_OPTIONS": "handle_segv=0"}

ENDLESS_FIGURE = """title = "A figure"
[[run]]
id = "line"
command = "smi thresholds"
fixed = {tokens = 2, tol = 1e-9}
axes = {layers = [1, 2]}
[[panel]]
x = {label = "layers"}
y = {label = "alpha"}
[[panel.series]]
run = "line"
x = "axis_layers"
y = "alpha"
"""


def is_running(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"  # ended, and nobody has asked how


class Case(StudyCase):
    def begin(self, **start_options):
        """A sweep of the endless study whose quick points are done, and the worker at its first
        endless one."""
        store = self.path("s.db")
        process = start("sweep", self.study(ENDLESS_STUDY), "--store", store, "--threads", "1",
                        "--format", "json", env=ENVIRONMENT, **start_options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.wait_for(process, lambda: stored_points(store) >= QUICK_POINTS)
        time.sleep(0.3)
        return process, self.worker_of(process)

    def wait_for(self, process, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertIsNone(process.poll(), "it ended by itself")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def worker_of(self, process, but=()):
        self.wait_for(process, lambda: set(children(process.pid)) - set(but))
        return (set(children(process.pid)) - set(but)).pop()

    def end(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        return process.returncode, one_object(out)["rows"][0], err


class Crash(Case):
    def test_crashed_and_killed_points_have_failed_and_the_study_goes_on(self):
        process, worker = self.begin()
        seen = []
        for sent in (signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT):
            worker = self.worker_of(process, but=seen)
            seen.append(worker)
            os.kill(worker, sent)
        code, row, err = self.end(process)
        self.assertEqual((code, row["ok"], row["failed"], row["missing"]), (3, 3, 3, 0), err)
        self.assertIn("layers = 2, beta = 1: the computation crashed (signal 11, SIGSEGV)", err)
        self.assertIn("layers = 2, beta = 2: the computation was killed (signal 9), most likely "
                      "for memory", err)
        self.assertIn("layers = 2, beta = 3: the computation crashed (signal 6, SIGABRT)", err)

        # The next run does not die of them again, nor try them again unless it is asked to.
        done, row = self.sweep(self.path("study.toml"), self.path("s.db"))
        self.assertEqual((done.returncode, row["failed"], row["computed"]), (3, 3, 0))
        done, row = self.sweep(self.path("study.toml"), self.path("s.db"), "--retry",
                               "--max-hours", "2e-4")
        self.assertEqual((done.returncode, row["missing"]), (3, 3))

    def test_a_figure_survives_a_crash_too(self):
        figure, out = self.study(ENDLESS_FIGURE, "own.toml"), self.folder / "out"
        process = start("figure", figure, "--out", str(out), "--threads", "1",
                        env=ENVIRONMENT)
        self.addCleanup(process.kill)
        self.wait_for(process, lambda: (out / "own.db").exists() and stored_points(out / "own.db"))
        time.sleep(0.3)
        os.kill(self.worker_of(process), signal.SIGSEGV)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 3, err)
        self.assertIn("layers = 2: failed: the computation crashed (signal 11, SIGSEGV)", err)
        self.assertTrue((out / "own.svg").exists())


class Hang(Case):
    def test_a_point_that_takes_too_long_has_failed_and_the_others_go_on(self):
        done, row = self.sweep(self.study(ENDLESS_STUDY), self.path("s.db"),
                               "--max-point-seconds", "3")
        self.assertEqual((done.returncode, row["ok"], row["failed"]), (3, 3, 3), done.stderr)
        self.assertIn("did not end within 3 s (--max-point-seconds)", done.stderr)

    def test_the_reason_has_the_last_progress_of_the_point(self):
        done, _ = self.sweep(self.study(ENDLESS_STUDY.replace("[1, 2, 3]", "[1]")),
                             self.path("s.db"), "--max-point-seconds", "2")
        self.assertRegex(done.stderr, r"--max-point-seconds\); its last progress: \d+ %, \w+")

    def test_a_time_for_points_must_be_positive(self):
        done, _ = self.sweep(self.study(ENDLESS_STUDY), self.path("s.db"),
                             "--max-point-seconds", "0")
        self.assert_complaint(done, 2, "--max-point-seconds")

    def test_a_point_that_does_not_heed_an_interrupt_is_killed(self):
        process, worker = self.begin()
        os.kill(worker, signal.SIGSTOP)  # deaf to everything but SIGKILL
        process.send_signal(signal.SIGINT)
        code, row, err = self.end(process)
        self.assertEqual((code, row["missing"], row["failed"]), (130, 3, 0), err)
        self.assertFalse(is_running(worker))


class Together(Case):
    def test_workers_end_when_the_sweep_is_killed(self):
        process, worker = self.begin()
        process.kill()
        process.wait()
        deadline = time.monotonic() + PATIENCE
        while is_running(worker) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(is_running(worker))

    def test_a_request_to_all_processes_at_once_is_no_failure_of_a_point(self):
        for sent in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process, _ = self.begin(start_new_session=True)
            os.killpg(process.pid, sent)
            code, row, err = self.end(process)
            self.assertEqual((code, row["missing"], row["failed"]), (130, 3, 0), err)


if __name__ == "__main__":
    unittest.main()
