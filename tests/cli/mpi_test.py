"""mpirun -n K onset sweep, or one command: the same bits, and a dead rank costs only the points in flight."""

import os
import shutil
import signal
import subprocess
import time
import unittest

from onset_command import COMMAND, children, one_object, onset
from study_files import (ENDLESS_STUDY, QUICK_POINTS, QUICK_STUDY, REFUSED_STUDY, StudyCase,
                         stored_points)

LAUNCH = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n"]
RANKS = 3
LONGER_STUDY = QUICK_STUDY.replace("[1, 2]", "10")
LONGER_POINTS = 60
# Open MPI keeps some memory until the end, which is no leak of ours.
ENVIRONMENT = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}


def rank_of(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        for entry in file.read().split(b"\0"):
            if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
                return int(entry.partition(b"=")[2])
    return None


@unittest.skipUnless(shutil.which("mpirun") and os.environ.get("ONSET_HAS_MPI") == "TRUE",
                     "built without MPI")
class Mpi(StudyCase):
    def launch(self, ranks, study, store, *options, launcher=LAUNCH):
        return subprocess.Popen(
            [*launcher, str(ranks), COMMAND, "sweep", study, "--store", store, "--format", "json",
             *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)

    def finish(self, process):
        out, err = process.communicate(timeout=120)
        return process.returncode, one_object(out)["rows"][0], err

    def test_ranks_do_not_change_a_byte(self):
        study = self.study(QUICK_STUDY)
        self.sweep(study, self.path("alone.db"))
        for ranks in (1, 2, RANKS):
            store = self.path(f"{ranks}.db")
            code, row, err = self.finish(self.launch(ranks, study, store))
            self.assertEqual((code, row["ok"]), (0, QUICK_POINTS), err)
            self.assertEqual(self.export(store), self.export(self.path("alone.db")))

    def test_a_killed_rank_costs_only_the_points_in_flight(self):
        study, store = self.study(LONGER_STUDY), self.path("s.db")
        process = self.launch(RANKS, study, store, "--threads", "1")
        while stored_points(store) < LONGER_POINTS // 4:
            time.sleep(0.01)
        worker = next(pid for pid in children(process.pid) if rank_of(pid) == RANKS - 1)
        os.kill(worker, signal.SIGKILL)
        process.communicate(timeout=60)
        stored = stored_points(store)
        self.assertGreaterEqual(stored, LONGER_POINTS // 4)
        self.assertLess(stored, LONGER_POINTS)
        code, row, err = self.finish(self.launch(RANKS, study, store))
        self.assertEqual((code, row["computed"]), (0, LONGER_POINTS - stored), err)
        self.sweep(study, self.path("alone.db"))
        self.assertEqual(self.export(store), self.export(self.path("alone.db")))

    def test_with_recovery_the_others_go_on_with_the_points_of_a_killed_rank(self):
        study, store = self.study(LONGER_STUDY), self.path("s.db")
        self.sweep(study, self.path("alone.db"))
        # Between processes of one machine, and as between machines.
        for transport in ([], ["--mca", "btl", "tcp,self"]):
            with self.subTest(transport):
                process = self.launch(RANKS, study, store, "--threads", "1", launcher=[
                    *LAUNCH[:-1], "--enable-recovery", *transport, LAUNCH[-1]])
                while stored_points(store) < LONGER_POINTS // 4:
                    time.sleep(0.01)
                worker = next(pid for pid in children(process.pid) if rank_of(pid) == RANKS - 1)
                os.kill(worker, signal.SIGKILL)
                _, row, err = self.finish(process)
                self.assertEqual((row["ok"], row["missing"]), (LONGER_POINTS, 0), err)
                self.assertIn(f"rank {RANKS - 1} has been silent", err)
                self.assertEqual(self.export(store), self.export(self.path("alone.db")))
                os.remove(store)

    def test_errors_are_said_once_and_end_all_ranks(self):
        process = self.launch(RANKS, self.study("command = 'smi nothing'"), self.path("s.db"))
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertEqual(err.count("there is no command 'smi nothing'"), 1, err)
        process = self.launch(RANKS, self.study(QUICK_STUDY), "/proc/s.db")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 4)

    def test_refused_points_come_back_with_their_reasons(self):
        code, row, err = self.finish(
            self.launch(RANKS, self.study(REFUSED_STUDY), self.path("s.db")))
        self.assertEqual((code, row["refused"], row["ok"]), (3, 1, 1))
        self.assertIn("of rank 3", err)

    def test_a_crash_in_any_rank_costs_its_point_only(self):
        study, store = self.study(ENDLESS_STUDY), self.path("s.db")
        process = self.launch(RANKS, study, store, "--threads", "1")
        while stored_points(store) < 3:
            time.sleep(0.01)
        while process.poll() is None and stored_points(store) < 6:
            for rank in children(process.pid):
                for worker in children(rank) if rank_of(rank) is not None else []:
                    os.kill(worker, signal.SIGSEGV)
            time.sleep(0.2)
        code, row, err = self.finish(process)
        self.assertEqual((code, row["ok"], row["failed"]), (3, 3, 3), err)
        self.assertIn("crashed (signal 11, SIGSEGV)", err)

    def test_the_time_for_a_point_reaches_all_ranks(self):
        code, row, err = self.finish(self.launch(RANKS, self.study(ENDLESS_STUDY),
                                                 self.path("s.db"), "--max-point-seconds", "0.5"))
        self.assertEqual((code, row["ok"], row["failed"]), (3, 3, 3), err)
        self.assertEqual(err.count("did not end within 0.5 s"), 3, err)

    def test_the_time_limit_reaches_all_ranks(self):
        study = self.study(QUICK_STUDY.replace("layers = 1", "layers = 2\ntol = 1e-9")
                           .replace("[2, 3, 5]", "[2]"))
        began = time.monotonic()
        code, row, err = self.finish(
            self.launch(RANKS, study, self.path("s.db"), "--max-hours", "3e-4"))
        self.assertEqual((code, row["missing"]), (3, 4), err)
        self.assertLess(time.monotonic() - began, 10.0)


# A few seconds of work, in loops that ranks share.
ONE_POINT = ["smi", "thresholds", "--layers", "2", "--tol", "0.02"]
LONG_POINT = ["smi", "thresholds", "--layers", "3", "--tol", "1e-5"]


@unittest.skipUnless(shutil.which("mpirun") and os.environ.get("ONSET_HAS_MPI") == "TRUE",
                     "built without MPI")
class OnePoint(unittest.TestCase):
    def launch(self, ranks, *arguments):
        return subprocess.Popen([*LAUNCH, str(ranks), COMMAND, *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)

    def test_ranks_share_a_point_and_do_not_change_a_bit(self):
        alone = onset(*ONE_POINT, "--format", "csv")
        for ranks in (2, RANKS):
            process = self.launch(ranks, *ONE_POINT, "--format", "csv", "--threads", "1")
            out, err = process.communicate(timeout=300)
            self.assertEqual((process.returncode, out), (alone.returncode, alone.stdout), err)
            self.assertNotIn("each rank computed all of it", err)

    def test_what_is_not_shared_is_said_and_right(self):
        call = ["aim", "thresholds", "--format", "csv"]
        process = self.launch(2, *call)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (0, onset(*call).stdout), err)
        self.assertIn("aim thresholds has no loops that processes share", err)

    def test_mistakes_are_said_once(self):
        process = self.launch(RANKS, "smi", "thresholds", "--layers", "0")
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertEqual(err.count("--layers"), 1, err)

    def test_the_time_limit_ends_all_ranks(self):
        began = time.monotonic()
        process = self.launch(RANKS, *LONG_POINT, "--max-seconds", "1", "--format", "json")
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, one_object(out)["status"]), (3, "interrupted"), err)
        self.assertLess(time.monotonic() - began, 30.0)

    def test_a_rank_that_dies_ends_the_run(self):
        process = self.launch(RANKS, *LONG_POINT)
        while len([pid for pid in children(process.pid) if rank_of(pid) is not None]) < RANKS:
            time.sleep(0.01)
        time.sleep(1.0)
        os.kill(next(pid for pid in children(process.pid) if rank_of(pid) == 1), signal.SIGKILL)
        out, _ = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(out, "")


if __name__ == "__main__":
    unittest.main()
