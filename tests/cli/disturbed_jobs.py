"""Commands that are killed or lack a disk, each with its undisturbed run and what must hold then.

Whatever lies under a final name must be whole at any moment. When a command has come to its end its
files are those of the undisturbed run, and none of its temporary files is left.
"""

import dataclasses
import json
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import time

from onset_command import COMMAND, onset
from study_files import COLUMNS, checksum_of

RANKS = 3
LONGEST_RUN = 600.0  # seconds; ranks that wait for one another are slow on a busy machine

STUDY = """
command = "smi thresholds"
seeds = [1, 2]
[fixed]
layers = 1
[axes]
tokens = TOKENS
"""

FIGURE = """title = "A figure"
[[run]]
id = "line"
command = "smi thresholds"
fixed = {layers = 1, tol = 0.05}
axes = {tokens = TOKENS}
[[panel]]
x = {label = "tokens"}
y = {label = "alpha"}
[[panel.series]]
run = "line"
x = "tokens"
y = "alpha"
group = "kind"
"""

RUN = ["smi", "curve", "--layers", "1", "--alpha", "0.1,0.2", "--tol", "0.05"]
GENERATE = ["mha", "generate", "--heads", "2", "--dim", "16", "--tokens", "4"]


@dataclasses.dataclass
class Size:
    """How much a command has to do."""

    tokens: str  # a grid, of twice as many points of a study
    samples: str


LARGE = Size("[2, 3, 4, 5, 6, 7, 8, 9, 10]", "20000")  # a second or so
SMALL = Size("[2]", "100")  # a few dozen changes of files

# What may lie beside the files only while a command is at work.
LEFTOVERS = (".onset-*", "*.lock", "*-journal", "*.new")
# How a picture ends that was written whole.
PICTURE_ENDS = {".svg": b"</svg>\n\n", ".pdf": b"%%EOF\n", ".png": b"IEND\xaeB`\x82"}
# Of a stored point, what may differ from one run to the next.
CIRCUMSTANCES = ("seconds", "threads", "host", "finished")

# Which run a file is of; both for one that is the same in both.
OLD, NEW = 1, 2


class Lost(AssertionError):
    """Something was lost, changed or left behind."""


def require(holds, text):
    if not holds:
        raise Lost(text)


def whole_points(store):
    """The points of a store by key, without their circumstances. Looks at a copy, so that undoing
    what a killed writer left half done stays the work of Onset."""
    if not store.exists():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, store.name)
        shutil.copy(store, copy)
        journal = store.with_name(store.name + "-journal")
        if journal.exists():
            shutil.copy(journal, folder)
        connection = sqlite3.connect(copy)
        try:
            answer = connection.execute("PRAGMA integrity_check").fetchall()
            require(answer == [("ok",)], f"{store}: {answer}")
            rows = connection.execute(f"SELECT {COLUMNS}, checksum FROM points").fetchall()
        finally:
            connection.close()
    names = COLUMNS.split(", ")
    points = {}
    for *row, checksum in rows:
        require(checksum == checksum_of(row), f"{store}: the checksum of {row[0]} does not fit")
        points[row[0]] = {name: value for name, value in zip(names, row)
                          if name not in CIRCUMSTANCES}
    return points


def is_failure(point):
    return point["status"] == "failed"


def leftovers(folder):
    return [path for pattern in LEFTOVERS for path in folder.rglob(pattern)]


def without_times(manifest):
    """The manifest of a run has the marks of its pictures, of which the PDF holds the time; it has
    them once they are drawn."""
    read = json.loads(manifest, object_pairs_hook=lambda pairs: dict(
        (name, value) for name, value in pairs if name != "seconds"))
    if "marks" in read:
        read.pop("pictures", None)
    return read


def same_content(mine, theirs):
    """Whether two files are the same but for when they were made."""
    ours, reference = mine.read_bytes(), theirs.read_bytes()
    if mine.name == "manifest.json":
        return without_times(ours) == without_times(reference)
    if mine.suffix == ".pdf":  # it holds the time
        return len(ours) == len(reference)
    return ours == reference


class Job:
    """A command in a folder of its own, its undisturbed run, and what must hold at any moment."""

    name = ""
    # Whether killing one of its processes, but not the program, leaves it its work.
    may_lose_a_child = False

    def __init__(self, folder, size):
        self.size = size
        self.folder = folder / self.name
        self.fresh = folder / (self.name + "-fresh")
        self.reference = folder / (self.name + "-undisturbed")
        self.fresh.mkdir()
        self.prepare(self.fresh)
        shutil.copytree(self.fresh, self.reference)
        self.seconds = self.run(self.reference)
        self.begin_anew()

    def prepare(self, folder):
        """Files that are there before the command runs."""

    def words(self, folder):
        raise NotImplementedError

    def run(self, folder):
        """Runs the command to its end; returns the time it took."""
        began = time.monotonic()
        done = subprocess.run(self.words(folder), capture_output=True, text=True,
                              timeout=LONGEST_RUN, check=False)
        require(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
        return time.monotonic() - began

    def begin_anew(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.fresh, self.folder)
        self.seen = set()

    def check(self):
        """What must hold whenever the command was killed."""

    def compare(self):
        """What must hold when it has come to its end."""
        self.compare_content()
        require(not leftovers(self.folder), f"left behind: {leftovers(self.folder)}")

    def compare_content(self):
        for path in self.reference.rglob("*"):
            mine = self.folder / path.relative_to(self.reference)
            if path.is_file() and path.suffix != ".db":
                require(mine.exists() and same_content(mine, path), f"{mine}: differs from {path}")

    def finish(self):
        """The next run, undisturbed, completes what is left."""
        self.run(self.folder)
        self.check()
        self.compare()


class StoreJob(Job):
    """One that fills a store."""

    store = "s.db"

    def check(self):
        points = whole_points(self.folder / self.store)
        expected = whole_points(self.reference / self.store)
        for key, point in points.items():
            require(key in expected and (is_failure(point) or point == expected[key]),
                    f"{self.store}: {point} is not as in the undisturbed run")
        kept = {key for key, point in points.items() if not is_failure(point)}
        require(self.seen <= kept, f"{self.store}: points were lost")
        self.seen = kept

    def compare_content(self):
        super().compare_content()
        require(whole_points(self.folder / self.store) == whole_points(self.reference / self.store),
                f"{self.store}: not all points of the undisturbed run")
        mine, theirs = (onset("export", str(folder / self.store)).stdout
                        for folder in (self.folder, self.reference))
        require(mine and mine == theirs, f"{self.store}: another export")


class Sweep(StoreJob):
    name = "sweep"
    may_lose_a_child = True

    def prepare(self, folder):
        (folder / "s.toml").write_text(STUDY.replace("TOKENS", self.size.tokens))

    def words(self, folder):
        # A point whose worker was killed has failed; the next run is asked to compute it again.
        return [COMMAND, "sweep", str(folder / "s.toml"), "--store", str(folder / self.store),
                "--threads", "2", "--retry"]


class Shard(Sweep):
    name = "shard"

    def words(self, folder):
        return [*super().words(folder), "--shard", "2/2"]


class Ranks(Sweep):
    name = "ranks"

    def words(self, folder):
        words = [word for word in super().words(folder) if word not in ("--threads", "2")]
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS), *words]


class Merge(StoreJob):
    name = "merge"

    def __init__(self, folder, size, shards):
        self.shards = [str(path) for path in shards]
        super().__init__(folder, size)

    def words(self, folder):
        return [COMMAND, "merge", str(folder / self.store), *self.shards]

    def check(self):
        super().check()
        everything = len(whole_points(self.reference / self.store))
        require(len(self.seen) in (0, everything), f"half a merge: {len(self.seen)} points")


class Figure(StoreJob):
    name = "figure"
    store = "own.db"
    may_lose_a_child = True

    def prepare(self, folder):
        (folder / "own.toml").write_text(FIGURE.replace("TOKENS", self.size.tokens))

    def words(self, folder):
        return [COMMAND, "figure", str(folder / "own.toml"), "--out", str(folder), "--threads", "2",
                "--retry"]

    def check(self):
        super().check()
        for picture in self.folder.iterdir():
            end = PICTURE_ENDS.get(picture.suffix, b"")
            require(picture.name.startswith(".") or picture.read_bytes().endswith(end),
                    f"half a picture: {picture}")


class Files(Job):
    """One that replaces the files of an older run: whatever is there is old or new, and of the run
    that the manifest is of."""

    options = ()
    older = ()

    def prepare(self, folder):
        done = subprocess.run(self.words_with(folder, self.older), capture_output=True, check=False)
        require(done.returncode == 0, f"{self.name}: {done.stderr}")

    def words_with(self, folder, options):
        raise NotImplementedError

    def words(self, folder):
        return self.words_with(folder, self.options)

    def check(self):
        at = {}
        for path in self.fresh.rglob("*"):
            mine = self.folder / path.relative_to(self.fresh)
            if path.is_file() and mine.exists():
                at[mine.name] = OLD * same_content(mine, path) | NEW * same_content(
                    mine, self.reference / path.relative_to(self.fresh))
                require(at[mine.name], f"{mine}: neither the older file nor the newer one")
        of = at.pop("manifest.json", OLD | NEW)
        for name, age in at.items():
            require(age & of, f"{name} is not the manifest's")


class RunOut(Files):
    name = "run"
    options, older = ("--seed", "1", "--beta", "1"), ("--seed", "2", "--beta", "1.5")

    def words_with(self, folder, options):
        return [COMMAND, *RUN, "--out", str(folder), *options]


class Generate(Files):
    name = "generate"
    options, older = ("--seed", "1"), ("--seed", "2")

    def words_with(self, folder, options):
        return [COMMAND, *GENERATE, "--samples", self.size.samples, "--out", str(folder), *options]


class Page(Files):
    """Reports and exports, which replace one file."""

    def __init__(self, folder, size, store, older_store):
        self.options, self.older = (store,), (older_store,)
        super().__init__(folder, size)

    def words_with(self, folder, options):
        return [COMMAND, *self.command, str(options[0]), "--out", str(folder / "out")]


class Report(Page):
    name = "report"
    command = ("report",)


class Export(Page):
    name = "export"
    command = ("export", "--format", "npy")


def make_stores(folder, size):
    """A finished store, its shards, and one of another study."""
    study, other = folder / "whole.toml", folder / "other.toml"
    study.write_text(STUDY.replace("TOKENS", size.tokens))
    other.write_text(STUDY.replace("TOKENS", "[12]"))
    whole, another = folder / "whole.db", folder / "other.db"
    shards = [folder / f"shard-{k}.db" for k in (1, 2)]
    for toml, store, options in ((study, whole, ()), (other, another, ()),
                                 *((study, shard, ("--shard", f"{k}/2"))
                                   for k, shard in enumerate(shards, 1))):
        done = onset("sweep", str(toml), "--store", str(store), *options)
        require(done.returncode == 0, done.stderr)
    return whole, another, shards


def make_jobs(folder, size):
    whole, another, shards = make_stores(folder, size)
    return [Sweep(folder, size), Merge(folder, size, shards), Report(folder, size, whole, another),
            Export(folder, size, whole, another), Figure(folder, size), RunOut(folder, size),
            Generate(folder, size)]
