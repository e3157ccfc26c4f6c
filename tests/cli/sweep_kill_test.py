"""A sweep that is killed at any moment loses only the points under way."""

import random
import time
import unittest

from onset_command import start
from study_files import StudyCase, stored_points

STUDY = """
command = "smi thresholds"
[fixed]
layers = 1
[axes]
tokens = [2, 3, 4]
beta = "0.02:2:0.02"
"""
POINTS = 300
# So many kills before the first point is stored, then so many spread over the run.
EARLY_KILLS = 3
LATER_KILLS = 12


class Killed(StudyCase):
    def kill_at(self, study, store, points, delay):
        """Kills a sweep soon after the store has so many points; false when it ended before."""
        process = start("sweep", study, "--store", store, "--threads", "2")
        try:
            while points > 0 and stored_points(store) < points and process.poll() is None:
                time.sleep(0.005)
            time.sleep(delay)
            ended = process.poll() is not None
        finally:
            process.kill()
            process.communicate(timeout=30)
        return not ended

    def test_export_is_bit_for_bit_that_of_an_uninterrupted_run(self):
        study = self.study(STUDY)
        whole, killed = self.path("whole.db"), self.path("killed.db")
        done, row = self.sweep(study, whole)
        self.assertEqual((done.returncode, row["ok"]), (0, POINTS), done.stderr)

        moments = random.Random(1)  # fixed, and yet anywhere within a point
        kills = 0
        for _ in range(EARLY_KILLS):
            kills += self.kill_at(study, killed, 0, moments.uniform(0.0, 0.04))
        early = stored_points(killed)
        last = early
        after_first = 0
        for k in range(LATER_KILLS):
            target = max(last, 1) if k == 0 else last + (POINTS - 3 - last) // (LATER_KILLS - k)
            if self.kill_at(study, killed, target, moments.uniform(0.0, 0.04)):
                kills += 1
                after_first += 1
            done, row = self.sweep(study, killed, "--status")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreaterEqual(row["ok"], last)  # what was stored stays stored
            last = row["ok"]
        self.assertGreaterEqual(kills, 10)
        self.assertGreaterEqual(2 * after_first, kills)
        self.assertGreater(last, POINTS // 2)

        done, row = self.sweep(study, killed)
        self.assertEqual((done.returncode, row["ok"], row["computed"]), (0, POINTS, POINTS - last))
        self.assertEqual(self.export(killed), self.export(whole))
        for name in ("whole.db.lock", "killed.db.lock", "killed.db-journal", "killed.db.new"):
            self.assertFalse((self.folder / name).exists(), name)


if __name__ == "__main__":
    unittest.main()
