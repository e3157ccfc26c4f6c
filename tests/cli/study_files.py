"""Studies and stores for the tests of sweep, export and merge."""

import hashlib
import json
import os
import pathlib
import sqlite3
import tempfile
import unittest

from onset_command import one_object, onset

# One layer: some hundredths of a second a point.
QUICK_STUDY = """
command = "smi thresholds"
seeds = [1, 2]
[fixed]
layers = 1
[axes]
tokens = [2, 3, 5]
beta = [1, 0.5]
"""
QUICK_POINTS = 12

# A point that is refused (the last layer has rank one or two) beside a good one.
REFUSED_STUDY = """
command = "smi thresholds"
[axes]
layers = [1]
rank = [1, 3]
"""

# The first point takes a moment, the others go on until they are stopped.
ENDLESS_STUDY = """
command = "smi thresholds"
[fixed]
tol = 1e-9
tokens = 2
[axes]
layers = [1, 2]
beta = [1, 2, 3]
"""


class StudyCase(unittest.TestCase):
    """Each test in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name):
        return str(self.folder / name)

    def study(self, text, name="study.toml"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def sweep(self, study, store, *options, **run_options):
        """Runs a sweep; returns the process and its row of counts (None when it printed none)."""
        done = onset("sweep", study, "--store", store, "--format", "json", *options, **run_options)
        row = one_object(done.stdout)["rows"][0] if done.stdout else None
        return done, row

    def export(self, store, *options):
        done = onset("export", store, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_complaint(self, done, code, *words):
        """One line on stderr that says all of it."""
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)


def stored_points(store):
    """How many points a store has, as any reader may ask at any moment."""
    if not os.path.exists(store):
        return 0
    connection = sqlite3.connect(f"file:{store}?mode=rw", uri=True, timeout=30)
    try:
        return connection.execute("SELECT count(*) FROM points").fetchone()[0]
    finally:
        connection.close()


def edit(store, sql, *values):
    """Changes a store behind Onset's back."""
    connection = sqlite3.connect(store)
    with connection:
        connection.execute(sql, values)
    connection.close()


COLUMNS = ("key, command, method, parameters, status, reason, result, summary, notes, version, "
           "simd, seconds, threads, host, finished")


def field(value):
    """A value as the checksum of a point takes it; Python writes no other digits of a number."""
    if isinstance(value, str):
        return f"{len(value.encode())}:{value}\n"
    return f"{value!r}\n"


def checksum_of(row):
    """Of a point's columns, in the order of COLUMNS."""
    return hashlib.sha256("".join(map(field, row)).encode()).hexdigest()


def edit_points(store, sql, *values):
    """The same for points, with checksums that fit again, as another run might have left them."""
    connection = sqlite3.connect(store)
    with connection:
        connection.execute(sql, values)
        for row in connection.execute(f"SELECT {COLUMNS} FROM points").fetchall():
            connection.execute("UPDATE points SET checksum = ? WHERE key = ?",
                               (checksum_of(row), row[0]))
    connection.close()


def change_first_alpha(store, value, whole=False):
    """The value alone, or the whole cell, of the first row of the first point."""
    connection = sqlite3.connect(store)
    key, result = connection.execute("SELECT key, result FROM points ORDER BY key").fetchone()
    connection.close()
    table = json.loads(result)
    column = [c["name"] for c in table["columns"]].index("alpha")
    table["rows"][0][column] = value if whole else [value, 0.0]
    edit_points(store, "UPDATE points SET result = ? WHERE key = ?", json.dumps(table), key)
