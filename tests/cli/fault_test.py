"""A full disk and a failing one at every write: exit code 4, a message, nothing half written.

The library that ONSET_FAULT_LIBRARY names (faults.cpp) lets the K-th change of a file go wrong.
Each command is walked through K = 1, 2, 3, .. until it ends before the K-th change. After every
fault whatever lies under a final name must be whole, and the next run must end as if nothing had
been.

Every ONSET_FAULT_STRIDE-th K is tried (1: all of them, as scripts/torture.sh does).
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import disturbed_jobs
from disturbed_jobs import LONGEST_RUN, SMALL, Lost, require

LIBRARY = os.environ["ONSET_FAULT_LIBRARY"]
STRIDE = int(os.environ.get("ONSET_FAULT_STRIDE", "17"))

REASONS = ("No space left on device", "disk is full", "Input/output error", "disk I/O error")


def is_harmless(call, path):
    """Whether a call may fail without a word: where the content is as safe as before."""
    name = pathlib.Path(path).name
    if call in ("fsync", "fdatasync"):
        return pathlib.Path(path).is_dir()  # which not every file system can
    if name.endswith(".lock"):  # what it says is for people, and one without holder does no harm
        return call != "open"
    if call == "remove":  # what a run before left, or the next one would remove
        return name != "manifest.json" and not name.endswith(".db-journal")
    return call == "unlink" and name.startswith(".onset-")


class Walk:
    """All faults of one kind in one command."""

    def __init__(self, job, kind):
        self.job = job
        self.kind = kind
        self.log = job.folder.with_name("faults.log")
        self.refused = 0
        self.unnoticed = 0

    def run_with_fault(self, k):
        """The command with its K-th change gone wrong; its exit code, message and failed calls, or
        nothing when there is no K-th change."""
        self.log.unlink(missing_ok=True)
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "ONSET_FAULT": f"{self.kind}:{k}",
                       "ONSET_FAULT_FOLDER": str(self.job.folder),
                       "ONSET_FAULT_LOG": str(self.log)}
        done = subprocess.run(self.job.words(self.job.folder), capture_output=True, text=True,
                              timeout=LONGEST_RUN, check=False, env=environment)
        if not self.log.exists():
            return None
        lines = [line.split(" ", 2) for line in self.log.read_text().splitlines()]
        return done, [(call, path) for what, call, path in lines if what == "failed"]

    def go(self, first):
        k = first
        while (outcome := self.run_with_fault(k)) is not None:
            done, failed = outcome
            try:
                self.judge(done, failed)
                self.job.check()
                if done.returncode == 0:
                    self.job.compare_content()
                self.job.finish()
            except Lost as loss:
                raise Lost(f"{self.job.name}, {self.kind}:{k} {failed[:1]}: {loss}") from loss
            self.job.begin_anew()
            k += STRIDE
        require(k > first, f"{self.job.name}: no change of a file was seen")

    def judge(self, done, failed):
        """What the command says of a fault."""
        if self.kind == "kill":
            require(done.returncode == -signal.SIGKILL, f"exit code {done.returncode}")
        elif done.returncode == 0 and all(is_harmless(*call) for call in failed):
            self.unnoticed += 1
        else:
            self.refused += 1
            said = done.stderr.splitlines()
            require(failed and done.returncode == 4 and len(said) == 1
                    and any(reason in said[0] for reason in REASONS)
                    and str(self.job.folder) in said[0],
                    f"exit code {done.returncode}, said: {done.stderr}")


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="onset-faults-"))
        cls.jobs = disturbed_jobs.make_jobs(cls.folder, SMALL)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def walk(self, kind):
        print()
        for number, job in enumerate(self.jobs):
            walk = Walk(job, kind)
            # Jobs begin at different calls, so that a stride leaves out others in each.
            walk.go(1 + number % STRIDE)
            print(f"{kind:<8}{job.name:<10}{walk.refused:>4} refused{walk.unnoticed:>5} of no "
                  "matter")

    def test_a_full_disk(self):
        self.walk("full")

    def test_a_disk_that_fails_once(self):
        self.walk("error")

    def test_writes_that_take_half(self):
        self.walk("short")

    def test_kills_at_a_write(self):
        self.walk("kill")


if __name__ == "__main__":
    unittest.main()
