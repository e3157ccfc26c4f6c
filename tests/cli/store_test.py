"""Stores that cannot be used get a message and stay as they are; export and merge."""

import hashlib
import json
import os
import pathlib
import resource
import sqlite3
import time
import unittest

import numpy

from onset_command import onset, start
from study_files import (ENDLESS_STUDY, REFUSED_STUDY, QUICK_POINTS, QUICK_STUDY, StudyCase,
                         change_first_alpha, checksum_of, edit, edit_points, stored_points)

STUDY_COLUMNS = "name, command, source, axes"
SMALL_STUDY = QUICK_STUDY.replace("[2, 3, 5]", "[2]")


def checksum(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def edit_studies(store, sql):
    """Changes the only study, with a checksum that fits again."""
    connection = sqlite3.connect(store)
    with connection:
        connection.execute(sql)
        fields = list(connection.execute(f"SELECT {STUDY_COLUMNS} FROM studies").fetchone())
        for row in connection.execute("SELECT key, axis_values FROM study_points ORDER BY position"):
            fields += row
        connection.execute("UPDATE studies SET checksum = ?", (checksum_of(fields),))
    connection.close()


class Damaged(StudyCase):
    def assert_untouched(self, store, *words):
        before = checksum(store)
        study = self.study(QUICK_STUDY)
        for done in (onset("sweep", study, "--store", store), onset("export", store),
                     onset("sweep", study, "--store", store, "--status"),
                     onset("merge", store, store)):
            self.assert_complaint(done, 4, os.path.basename(store), *words)
        self.assertEqual(checksum(store), before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["s.db", "study.toml"])

    def small_store(self):
        store = self.path("s.db")
        self.sweep(self.study(SMALL_STUDY), store)
        return store

    def test_the_journal_of_a_removed_store_does_not_get_into_a_new_one(self):
        study, store = self.study(QUICK_STUDY), self.path("s.db")
        self.sweep(study, store)
        journal = pathlib.Path(store + "-journal")
        connection = sqlite3.connect(store, isolation_level=None)
        connection.execute("PRAGMA cache_size = 1")  # so that changes go to the disk before their end
        connection.execute("BEGIN")
        connection.execute("UPDATE points SET result = hex(zeroblob(100000))")
        left_by_a_kill = journal.read_bytes()
        connection.execute("ROLLBACK")
        connection.close()
        os.remove(store)
        journal.write_bytes(left_by_a_kill)
        done, row = self.sweep(study, store)
        self.assertEqual((done.returncode, row and row["computed"]), (0, QUICK_POINTS), done.stderr)

    def test_a_file_that_is_no_store_is_left_alone(self):
        store = self.path("s.db")
        pathlib.Path(store).write_text("my thesis\n" * 100, encoding="utf-8")
        self.assert_untouched(store, "is not a store")

    def test_an_empty_file_is_no_store(self):
        pathlib.Path(self.path("s.db")).touch()
        self.assert_untouched(self.path("s.db"), "is not a store")

    def test_a_database_of_another_program_is_left_alone(self):
        edit(self.path("s.db"), "CREATE TABLE recipes (name TEXT)")
        self.assert_untouched(self.path("s.db"), "is not a store")

    def test_a_store_of_another_version_is_left_alone(self):
        store = self.small_store()
        edit(store, "PRAGMA user_version = 99")
        self.assert_untouched(store, "version 99", "version 2")

    def test_a_store_that_says_that_it_has_no_checksums_is_not_believed(self):
        store = self.small_store()
        for change in ("UPDATE points SET result = replace(result, '0.1', '0.2')",
                       "ALTER TABLE points DROP COLUMN checksum",
                       "ALTER TABLE studies DROP COLUMN checksum", "PRAGMA user_version = 1"):
            edit(store, change)
        self.assert_untouched(store, "version 1", "version 2")

    def test_a_store_whose_points_are_an_endless_view_is_left_alone(self):
        store = self.small_store()
        edit(store, "ALTER TABLE points RENAME TO hidden")
        edit(store, "CREATE VIEW points AS WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 "
                    "FROM t) SELECT hidden.* FROM hidden, t")
        self.assert_untouched(store, "the view 'points'")
        self.assert_complaint(onset("report", store, "--out", self.path("page.html")), 4, "view")

    def test_a_store_in_the_place_of_a_study_is_called_one(self):
        store = self.small_store()
        self.assert_complaint(onset("sweep", store), 2, store, "is a store, not a study")

    def test_a_store_in_other_letters_is_left_alone(self):
        store, other = self.small_store(), self.path("other.db")
        old, new = sqlite3.connect(store), sqlite3.connect(other)
        new.execute("PRAGMA encoding = 'UTF-16le'")
        new.executescript("\n".join(old.iterdump()))
        for name in ("application_id", "user_version"):
            value = old.execute(f"PRAGMA {name}").fetchone()[0]
            new.execute(f"PRAGMA {name} = {value}")
        new.close()
        old.close()
        os.replace(other, store)
        self.assert_untouched(store, "is not UTF-8")

    def test_a_truncated_store_is_left_alone(self):
        store = self.small_store()
        os.truncate(store, os.path.getsize(store) - 5000)
        self.assert_untouched(store, "damaged")

    def test_a_store_with_a_broken_page_is_not_written(self):
        store = self.small_store()
        with open(store, "r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * 4096)
        before = checksum(store)
        self.assert_complaint(onset("sweep", self.study(QUICK_STUDY), "--store", store), 4,
                              "damaged")
        self.assertEqual(checksum(store), before)


class Edited(StudyCase):
    def test_a_result_that_was_edited_is_named_by_all_who_read_it(self):
        store, study = self.path("s.db"), self.study(SMALL_STUDY)
        self.sweep(study, store)
        edit(store, "UPDATE points SET result = replace(result, '0.1', '0.2')")
        for done in (onset("export", store), onset("sweep", study, "--store", store),
                     onset("merge", self.path("out.db"), store),
                     onset("report", store, "--out", self.path("page.html"))):
            self.assert_complaint(done, 4, "s.db", "point '", "(smi thresholds)",
                                  "does not fit its checksum")

    def test_a_key_that_is_no_text_is_named(self):
        store, out = self.path("s.db"), self.path("out.db")
        self.sweep(self.study(SMALL_STUDY), store)
        edit(store, "UPDATE points SET key = x'ff' WHERE rowid = 1")
        self.assert_complaint(onset("merge", out, store), 4, "s.db", "damaged", "key")
        self.assertFalse(os.path.exists(out))

    def test_words_among_numbers_are_shown_and_not_drawn(self):
        store = self.path("s.db")
        self.sweep(self.study(QUICK_STUDY), store)
        change_first_alpha(store, "odd word", whole=True)
        page = pathlib.Path(self.path("page.html"))
        for done in (onset("export", store), onset("report", store, "--out", page)):
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("odd word", page.read_text(encoding="utf-8"))

    def test_axis_values_that_do_not_fit_are_named(self):
        store = self.path("s.db")
        self.sweep(self.study(SMALL_STUDY), store)
        edit_studies(store, "UPDATE study_points SET axis_values = '[]'")
        for done in (onset("export", store),
                     onset("report", store, "--out", self.path("page.html"))):
            self.assert_complaint(done, 4, "s.db", "study 'study'", "0 axis values for 3 axes")


class NoRoom(StudyCase):
    def test_a_folder_that_cannot_be_written_is_named(self):
        study = self.study(SMALL_STUDY)
        for store in ("/proc/s.db", self.path("none/s.db"), self.path("study.toml/s.db")):
            self.assert_complaint(onset("sweep", study, "--store", store), 4, store, "cannot")

    def test_a_full_disk_loses_nothing_that_was_stored(self):
        study, store = self.study(QUICK_STUDY), self.path("s.db")
        self.sweep(self.study(SMALL_STUDY, "small.toml"), store)
        stored = stored_points(store)
        # No file may grow beyond a little more than the store has now.
        limit = os.path.getsize(store) + 8000
        done, _ = self.sweep(study, store, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (limit, limit)))
        self.assert_complaint(done, 4, "s.db")
        self.assertGreaterEqual(stored_points(store), stored)
        self.assertLess(stored_points(store), QUICK_POINTS)
        done, row = self.sweep(study, store)
        self.assertEqual((done.returncode, row["ok"]), (0, QUICK_POINTS))
        fresh = self.path("fresh.db")
        self.sweep(study, fresh)
        self.assertEqual(self.export(store, "--study", "study"), self.export(fresh))

    def test_a_disk_that_was_full_from_the_beginning_leaves_nothing_behind(self):
        done, _ = self.sweep(self.study(SMALL_STUDY), self.path("s.db"),
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (99, 99)))
        self.assert_complaint(done, 4, "s.db")
        self.assertEqual(os.listdir(self.folder), ["study.toml"])


class Writers(StudyCase):
    def test_a_second_writer_is_told_who_the_first_is_and_readers_look_on(self):
        study, store = self.study(ENDLESS_STUDY), self.path("s.db")
        first = start("sweep", study, "--store", store)
        try:
            while stored_points(store) < 3:
                time.sleep(0.05)
            self.assert_complaint(onset("sweep", study, "--store", store), 4,
                                  f"is being written by process {first.pid} on ")
            _, row = self.sweep(study, store, "--status")
            self.assertEqual(row["ok"], 3)
            self.assertEqual(len(self.export(store).splitlines()), 7)
        finally:
            first.kill()
            first.communicate(timeout=30)
        done, row = self.sweep(study, store, "--max-hours", "1e-5")
        self.assertEqual((done.returncode, row["ok"]), (3, 3))


    def test_a_store_is_locked_under_the_name_of_a_link_too(self):
        study, store, link = self.study(ENDLESS_STUDY), self.path("s.db"), self.path("link.db")
        os.symlink("s.db", link)
        self.assert_complaint(onset("sweep", study, "--store", link), 4, "link that leads nowhere")
        self.assertEqual(os.readlink(link), "s.db")
        own = self.path("own.db")
        self.sweep(self.study(SMALL_STUDY, "small.toml"), own)
        self.assert_complaint(onset("merge", link, own), 4, "link that leads nowhere")
        self.assertEqual(os.readlink(link), "s.db")
        first = start("sweep", study, "--store", store)
        try:
            while stored_points(store) < 3:
                time.sleep(0.05)
            self.assert_complaint(onset("sweep", study, "--store", link), 4,
                                  f"is being written by process {first.pid} on ")
        finally:
            first.kill()
            first.communicate(timeout=30)


class Export(StudyCase):
    def test_the_formats_have_the_same_rows(self):
        store = self.path("s.db")
        self.sweep(self.study(QUICK_STUDY), store)
        table = json.loads(self.export(store, "--format", "json"))
        lines = self.export(store, "--format", "csv").splitlines()
        out = self.path("s.npy")
        self.export(store, "--format", "npy", "--out", out)
        array = numpy.load(out)
        self.assertEqual(list(array.dtype.names), lines[0].split(","))
        self.assertEqual(list(table["rows"][0]), lines[0].split(","))
        self.assertEqual(len(array), len(lines) - 1)
        for line, row, record in zip(lines[1:], table["rows"], array):
            self.assertEqual(float(line.split(",")[6]), row["alpha"])
            self.assertEqual(record["alpha"], row["alpha"])
            self.assertEqual((record["tokens"], record["kind"]), (row["tokens"], row["kind"]))

    def test_times_and_hosts_are_there_only_when_asked_for(self):
        store = self.path("s.db")
        self.sweep(self.study(SMALL_STUDY), store)
        header = self.export(store).splitlines()[0]
        self.assertEqual(self.export(store, "--timing").splitlines()[0],
                         header + ",seconds,threads,host,finished")

    def test_points_without_rows_are_counted_on_stderr(self):
        store = self.path("s.db")
        self.sweep(self.study(REFUSED_STUDY), store)
        done = onset("export", store)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 3))
        self.assertIn("of 2 points 0 are missing, 1 failed", done.stderr)
        # `layers` is a column of the verb with another meaning, so the axis has a name of its own.
        self.assertTrue(done.stdout.startswith("axis_layers,rank,stage,layers,"), done.stdout)

    def test_of_several_studies_one_must_be_named(self):
        store = self.path("s.db")
        self.sweep(self.study(SMALL_STUDY, "one.toml"), store)
        self.sweep(self.study(QUICK_STUDY, "two.toml"), store)
        self.assert_complaint(onset("export", store), 2, "one, two")
        self.assert_complaint(onset("export", store, "--study", "tow"), 2, "did you mean 'two'?")
        self.assertEqual(len(self.export(store, "--study", "one").splitlines()), 9)


class Merge(StudyCase):
    def setUp(self):
        super().setUp()
        self.a, self.b, self.out = self.path("a.db"), self.path("b.db"), self.path("out.db")
        study = self.study(SMALL_STUDY)
        self.sweep(study, self.a)
        self.sweep(study, self.b)

    def test_empty_names_are_refused_and_one_is_not_several(self):
        store = self.path("s.db")
        self.sweep(self.study(SMALL_STUDY), store)
        self.assert_complaint(onset("merge", "", store), 2, "is empty")
        self.assert_complaint(onset("merge", store, ""), 2, "is empty")
        self.assertIn("of 1 study\n", onset("merge", self.path("out.db"), store).stdout)

    def test_equal_results_are_no_conflict(self):
        done = onset("merge", self.out, self.a, self.b)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.export(self.out), self.export(self.a))

    def test_different_results_are_refused_with_the_point_and_both_values(self):
        change_first_alpha(self.b, 0.25)
        self.assert_complaint(onset("merge", self.out, self.a, self.b), 4, "b.db", "tokens = 2",
                              "alpha: [0.16666666666666669,", "] and [0.25,0.0]")
        self.assertFalse(os.path.exists(self.out))
        before = checksum(self.a)
        self.assertEqual(onset("merge", self.a, self.b).returncode, 4)
        self.assertEqual(checksum(self.a), before)

    def test_a_finished_point_takes_the_place_of_a_failed_one(self):
        edit_points(self.a, "UPDATE points SET status = 'failed', reason = 'no luck'")
        self.assertEqual(onset("merge", self.a, self.b).returncode, 0)
        self.assertEqual(self.export(self.a), self.export(self.b))
        _, row = self.sweep(self.path("study.toml"), self.a, "--status")
        self.assertEqual((row["ok"], row["failed"]), (4, 0))


if __name__ == "__main__":
    unittest.main()
