"""onset sweep: what is computed, what is not computed again, and how it ends."""

import json
import os
import pathlib
import pty
import signal
import subprocess
import time
import unittest

from onset_command import COMMAND, SOON, one_object, onset, start
from study_files import (ENDLESS_STUDY, REFUSED_STUDY, QUICK_POINTS, QUICK_STUDY, StudyCase,
                         stored_points)



class SameBits(StudyCase):
    def test_threads_and_shards_do_not_change_a_byte(self):
        study = self.study(QUICK_STUDY)
        exports = {}
        for threads in ("1", "2", "8"):
            store = self.path(f"threads{threads}.db")
            done, row = self.sweep(study, store, "--threads", threads)
            self.assertEqual((done.returncode, row["ok"]), (0, QUICK_POINTS), done.stderr)
            exports[threads] = self.export(store)
        shards = [self.path(f"shard{i}.db") for i in (1, 2, 3)]
        for i, store in enumerate(shards, start=1):
            done, row = self.sweep(study, store, "--shard", f"{i}/3")
            self.assertEqual((done.returncode, row["points"]), (0, QUICK_POINTS // 3))
        merged = self.path("merged.db")
        self.assertEqual(onset("merge", merged, *shards).returncode, 0)
        exports["merged"] = self.export(merged)
        self.assertEqual(len(set(exports.values())), 1)
        self.assertEqual(exports["1"].splitlines()[0],
                         "tokens,beta,seed,stage,layers,kind,alpha,alpha_err,jump,jump_err,leap")

    def test_jobs_numbered_from_0_cover_the_study_too(self):
        study, store = self.study(QUICK_STUDY), self.path("s.db")
        for i in (0, 1, 2):
            self.sweep(study, store, "--shard", f"{i}/3")
        _, row = self.sweep(study, store, "--status")
        self.assertEqual((row["ok"], row["missing"]), (QUICK_POINTS, 0))


class OnePointAtATime(StudyCase):
    """What a workflow program does: it asks for the points and runs each by its key."""

    def listed(self, study, *options):
        done = onset("sweep", study, "--list", "--format", "jsonl", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_points_run_by_their_keys_give_the_bytes_of_the_whole_study(self):
        study = self.study(QUICK_STUDY)
        points = self.listed(study)
        self.assertEqual([point["point"] for point in points], list(range(1, QUICK_POINTS + 1)))
        self.assertEqual({point["state"] for point in points}, {"missing"})
        stores = []
        for point in points:
            stores.append(self.path(point["key"] + ".db"))
            done, row = self.sweep(study, stores[-1], "--point", point["key"])
            self.assertEqual((done.returncode, row["points"], row["ok"]), (0, 1, 1), done.stderr)
        merged, whole = self.path("merged.db"), self.path("whole.db")
        self.assertEqual(onset("merge", merged, *stores).returncode, 0)
        self.sweep(study, whole)
        self.assertEqual(self.export(merged), self.export(whole))
        self.assertEqual({point["state"] for point in self.listed(study, "--store", merged)}, {"ok"})

    def test_several_keys_and_wrong_ones(self):
        study = self.study(QUICK_STUDY)
        keys = [point["key"] for point in self.listed(study)]
        _, row = self.sweep(study, self.path("two.db"), "--point", ",".join(keys[3:5]))
        self.assertEqual((row["points"], row["ok"]), (2, 2))
        refused = onset("sweep", study, "--point", "nonsense", "--store", self.path("none.db"))
        self.assert_complaint(refused, 2, "--point", "nonsense")
        self.assertFalse(os.path.exists(self.path("none.db")))
        self.assert_complaint(onset("sweep", study, "--list", "--status"), 2, "--status")


class OnlyWhatIsMissing(StudyCase):
    def computed(self, text, *options):
        done, row = self.sweep(self.study(text), self.path("s.db"), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return row["computed"]

    def test_the_same_study_again_computes_nothing(self):
        self.assertEqual(self.computed(QUICK_STUDY), QUICK_POINTS)
        self.assertEqual(self.computed(QUICK_STUDY), 0)
        self.assertEqual(self.computed(QUICK_STUDY, "--threads", "3"), 0)

    def test_a_longer_axis_computes_only_its_new_points(self):
        self.computed(QUICK_STUDY)
        self.assertEqual(self.computed(QUICK_STUDY.replace("[2, 3, 5]", "[2, 7, 3, 5]")), 4)
        rows = self.export(self.path("s.db")).splitlines()[1:]
        self.assertEqual([row.split(",")[0] for row in rows[::8]], ["2", "7", "3", "5"])

    def test_seed_and_tolerance_make_new_points_and_spelling_does_not(self):
        self.computed(QUICK_STUDY)
        self.assertEqual(self.computed(QUICK_STUDY.replace("seeds = [1, 2]", "seeds = [2, 3]")), 6)
        self.assertEqual(
            self.computed(QUICK_STUDY.replace("layers = 1", "layers = 1\ntol = 1e-3")), 12)
        self.assertEqual(
            self.computed(QUICK_STUDY.replace("[1, 0.5]", '"0.5:1:0.5"')), 0)


class Files(StudyCase):
    def test_a_file_with_other_content_makes_new_points(self):
        matrix = pathlib.Path(self.path("matrix.txt"))
        study = self.study(f"""
command = "smi thresholds"
[fixed]
layers = 1
token-correlation = "{matrix}"
""")
        for content, computed in (("1 0.5\n0.5 1\n", 1), ("1 0.5\n0.5 1\n", 0), ("1 0.2\n0.2 1\n", 1)):
            matrix.write_text(content, encoding="utf-8")
            self.assertEqual(self.sweep(study, self.path("s.db"))[1]["computed"], computed)


class Endings(StudyCase):
    def test_a_refused_point_is_kept_with_its_reason_and_retried_only_when_asked(self):
        study, store = self.study(REFUSED_STUDY), self.path("s.db")
        done, row = self.sweep(study, store)
        self.assertEqual(done.returncode, 3)
        self.assertEqual((row["ok"], row["refused"], row["computed"]), (1, 1, 2))
        self.assertIn("layers = 1, rank = 3", done.stderr)
        self.assertIn("of rank 3", done.stderr)
        done, row = self.sweep(study, store)
        self.assertEqual((done.returncode, row["computed"]), (3, 0))
        done, row = self.sweep(study, store, "--retry")
        self.assertEqual((done.returncode, row["computed"]), (3, 1))

    def test_an_interrupt_ends_it_within_a_second_and_the_rest_is_resumed(self):
        study, store = self.study(ENDLESS_STUDY), self.path("s.db")
        process = start("sweep", study, "--store", store, "--threads", "1", "--format", "json")
        while stored_points(store) < 3:
            time.sleep(0.05)
        time.sleep(0.3)
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - asked, SOON)
        self.assertEqual(process.returncode, 130)
        result = one_object(out)
        self.assertEqual((result["status"], result["rows"][0]["missing"]), ("interrupted", 3))
        self.assertIn("run the same command again to go on", err)
        _, row = self.sweep(study, store, "--status")
        self.assertEqual((row["ok"], row["missing"]), (3, 3))

    def test_the_time_limit_stops_it_cleanly(self):
        began = time.monotonic()
        done, row = self.sweep(self.study(ENDLESS_STUDY), self.path("s.db"), "--max-hours", "5e-4")
        self.assertLess(time.monotonic() - began, 1.8 + SOON)
        self.assertEqual((done.returncode, row["missing"]), (3, 3))
        self.assertIn("--max-hours", done.stderr)


class Looking(StudyCase):
    def test_a_dry_run_lists_the_points_and_leaves_no_file(self):
        done = onset("sweep", self.study(QUICK_STUDY), "--store", self.path("s.db"), "--dry-run",
                     "--format", "json")
        result = one_object(done.stdout)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(result["rows"]), QUICK_POINTS)
        self.assertEqual(list(result["rows"][1]),
                         ["point", "tokens", "beta", "seed", "state", "core_seconds"])
        self.assertEqual(result["rows"][1]["seed"], 2)
        self.assertEqual(result["summary"]["to_compute"], QUICK_POINTS)
        self.assertGreater(result["summary"]["core_seconds_to_compute"], 0.0)
        self.assertEqual(os.listdir(self.folder), ["study.toml"])

    def test_the_status_only_reads(self):
        study, store = self.study(QUICK_STUDY), self.path("s.db")
        done, row = self.sweep(study, store, "--status")
        self.assertEqual((done.returncode, row["missing"]), (0, QUICK_POINTS))
        self.assertFalse(os.path.exists(store))

    def test_a_store_that_cannot_be_reached_is_not_called_missing(self):
        study = self.study(QUICK_STUDY)
        os.symlink("nowhere.db", self.path("lost.db"))
        os.symlink("itself.db", self.path("itself.db"))
        for name in ("lost.db", "itself.db", "itself.db/s.db", "study.toml/s.db"):
            for option in ("--status", "--list", "--dry-run"):
                self.assert_complaint(onset("sweep", study, "--store", self.path(name), option), 4,
                                      name, "cannot be")
        self.assertEqual(sorted(os.listdir(self.folder)), ["itself.db", "lost.db", "study.toml"])

    @unittest.skipIf(os.geteuid() == 0, "nothing is closed to root")
    def test_a_store_in_a_closed_folder_is_not_called_missing(self):
        closed = self.path("closed")
        os.mkdir(closed, 0)
        self.assert_complaint(onset("sweep", self.study(QUICK_STUDY), "--store", closed + "/s.db", "--status"),
                              4, "closed/s.db", "cannot be reached")

    def test_the_store_is_named_after_the_study(self):
        self.study(QUICK_STUDY.replace("[2, 3, 5]", "[2]"), "mine.toml")
        done = onset("sweep", "mine.toml", "--quiet", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.folder)), ["mine.db", "mine.toml"])

    def test_a_terminal_sees_points_done_and_running(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [COMMAND, "sweep", self.study(ENDLESS_STUDY), "--store", self.path("s.db"),
             "--max-hours", "5e-4"], stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        text = b""
        try:
            while chunk := os.read(ours, 4096):
                text += chunk
        except OSError:  # how a pty says that nobody writes any more
            pass
        process.wait(timeout=30)
        os.close(ours)
        self.assertRegex(text.decode(), r"3/6 points, \d+ running, \d+ \w+ left")


class BadStudies(StudyCase):
    def complaint(self, text, *words):
        done = onset("sweep", self.study(text, "bad.toml"), "--store", self.path("s.db"))
        self.assert_complaint(done, 2, *words)
        self.assertFalse(os.path.exists(self.path("s.db")))

    def test_mistakes_are_told_with_their_place_and_the_nearest_word(self):
        self.complaint("command = 'smi thresholds'\n[axs]\ntokens = [2]",
                       "bad.toml:2:2: unknown key 'axs'; did you mean 'axes'?")
        self.complaint("command = 'smi threshold'", "bad.toml:1:1", "'smi thresholds'")
        self.complaint("command = 'smi thresholds'\n[fixed]\nlayrs = 1",
                       "bad.toml:3:1", "did you mean 'layers'?")
        self.complaint("command = 'smi thresholds'\n[axes]\ntokens = [2, 3, 999]",
                       "bad.toml:3:17: tokens: 999 is out of range")
        self.complaint("command = 'smi curve'", "alpha", "required")
        self.complaint("command = 'smi thresholds'\nseeds = 2\n[fixed]\nseed = 1",
                       "bad.toml:2:1", "'seed' is in [fixed] as well")
        self.complaint("command = = 1", "bad.toml:1:11")

    def test_usage_is_checked(self):
        self.assert_complaint(onset("sweep"), 2, "study file is missing")
        self.assert_complaint(onset("sweep", self.path("none.toml")), 4, "cannot be opened")
        self.assert_complaint(onset("sweep", self.study(QUICK_STUDY), "--shard", "4/3"), 2, "i/n")

    def test_options_without_effect_are_refused(self):
        study = self.study(QUICK_STUDY)
        for options, words in [(["--status", "--retry"], ["--retry", "no effect"]),
                               (["--list", "--retry"], ["--retry", "no effect"]),
                               (["--dry-run", "--max-hours", "1"], ["--max-hours", "no effect"]),
                               (["--list", "--max-point-seconds", "3"], ["--max-point-seconds", "no effect"]),
                               (["--point", "abc", "--shard", "1/2"], ["--point", "--shard", "one of them"])]:
            self.assert_complaint(onset("sweep", study, "--store", self.path("s.db"), *options), 2, *words)


if __name__ == "__main__":
    unittest.main()
