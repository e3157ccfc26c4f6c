"""Commands killed at random moments, again and again: nothing that was finished is lost or changed.

ONSET_KILLS says how many SIGKILLs there are (20 unless set; scripts/torture.sh asks for 1000) and
ONSET_KILL_SEED what is killed and when.

Every job runs one command over and over in a folder of its own. A kill takes the program alone, one
of the processes that it started (a worker, a rank, gnuplot), or all of them at once. After every
kill whatever lies under a final name must be whole. A job that comes to its end is compared with an
undisturbed run, must have left no temporary file, and begins anew.
"""

import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import disturbed_jobs
from disturbed_jobs import LARGE, LONGEST_RUN, Lost, require

KILLS = int(os.environ.get("ONSET_KILLS", "20"))
SEED = int(os.environ.get("ONSET_KILL_SEED", "1"))
HAS_MPI = shutil.which("mpirun") is not None and os.environ.get("ONSET_HAS_MPI") == "TRUE"
# Processes of a killed command end by themselves within this many seconds, workers within one and
# ranks whose mpirun was killed within a few; the rest is for a busy machine.
LONGEST_END = 30.0


def session(leader):
    """Processes of the session that `leader` began, without the ones that have ended."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                stat = pathlib.Path(f"/proc/{name}/stat").read_text(errors="replace")
            except OSError:  # it has ended meanwhile
                continue
            fields = stat.rpartition(")")[2].split()
            if int(fields[3]) == leader and fields[0] not in "ZX":
                found.append(int(name))
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


class Tormentor:
    """Starts a job again and again and kills something each time."""

    def __init__(self, job, moments):
        self.job = job
        self.moments = moments
        self.kills = collections.Counter()
        self.completed = 0

    def disturb(self):
        """False when the command was over before anything could be killed."""
        process = subprocess.Popen(self.job.words(self.job.folder), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        # Early moments are likelier, so that most runs go on from what an earlier one left.
        time.sleep(1.1 * self.job.seconds * self.moments.random() ** 2)
        victim = self.kill_some_of(process)
        self.end(process)
        if victim is None:
            require(process.returncode == 0, f"exit code {process.returncode}")
        self.job.check()
        if victim is None:
            self.completed += 1
            self.job.compare()
            self.job.begin_anew()
        else:
            self.kills[victim] += 1
        return victim is not None

    def kill_some_of(self, process):
        """What was killed; nothing when all had ended."""
        others = [pid for pid in session(process.pid) if pid != process.pid]
        victim = self.moments.choice(
            ["program", "all", "child"] if self.job.may_lose_a_child else ["program", "all"])
        if process.poll() is not None:
            return None
        if victim == "child" and others:
            return victim if kill(self.moments.choice(others)) else None
        hit = kill(process.pid)
        if victim == "all":
            for pid in others:
                kill(pid)
        return (victim if others else "program") if hit else None

    def end(self, process):
        """Waits until nothing of the command is left."""
        try:
            process.communicate(timeout=LONGEST_RUN)
            deadline = time.monotonic() + LONGEST_END
            while session(process.pid):
                require(time.monotonic() < deadline, f"still runs: {session(process.pid)}")
                time.sleep(0.005)
        finally:
            for pid in session(process.pid):
                kill(pid)


class Torture(unittest.TestCase):
    def test_nothing_finished_is_lost_or_changed(self):
        moments = random.Random(SEED)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="onset-torture-"))
        jobs = disturbed_jobs.make_jobs(folder, LARGE)
        jobs.append(disturbed_jobs.Shard(folder, LARGE))
        if HAS_MPI:
            jobs.append(disturbed_jobs.Ranks(folder, LARGE))
        tormentors = [Tormentor(job, moments) for job in jobs]
        kills, job = 0, None
        try:
            while kills < KILLS:
                tormentor = tormentors[kills % len(jobs)]  # one that was over is tried again
                job = tormentor.job
                kills += tormentor.disturb()
            for job in jobs:
                job.finish()
        except Lost as loss:
            self.fail(f"{job.name}, after {kills} kills (seed {SEED}; see {job.folder}): {loss}")
        shutil.rmtree(folder)
        print(f"\n{'job':<10}{'program':>9}{'child':>7}{'all':>5}{'completed':>11}")
        for tormentor in tormentors:
            count = tormentor.kills
            print(f"{tormentor.job.name:<10}{count['program']:>9}{count['child']:>7}"
                  f"{count['all']:>5}{tormentor.completed:>11}")


if __name__ == "__main__":
    unittest.main()
