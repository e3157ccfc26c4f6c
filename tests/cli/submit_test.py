"""onset submit: job scripts that a scheduler could run, run here by a small one."""

import os
import pathlib
import stat
import subprocess
import unittest

from onset_command import onset
from study_files import QUICK_POINTS, QUICK_STUDY, StudyCase

# Runs the tasks of an array one after the other, and prints what sbatch --parsable prints.
SCHEDULER = """#!/bin/bash
set -eu
script=${!#}
echo "$*" >> "$SCHEDULER_LOG"
array=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
for task in $(seq "${array:-1}"); do
  SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=1 bash "$script" > /dev/null
done
echo "4711;cluster"
"""


class Slurm(StudyCase):
    def submit(self, *options):
        return onset("submit", "slurm", *options, cwd=self.folder)

    def run_scripts(self, folder):
        tools = self.folder / "bin"
        tools.mkdir(exist_ok=True)
        scheduler = tools / "sbatch"
        scheduler.write_text(SCHEDULER, encoding="utf-8")
        scheduler.chmod(0o755)
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}",
                       "SCHEDULER_LOG": self.path("log")}
        return subprocess.run(["bash", str(folder / "submit.sh")], env=environment, cwd="/",
                              capture_output=True, text=True, timeout=120, check=False)

    def test_the_scripts_compute_merge_and_report_the_study(self):
        self.study(QUICK_STUDY)
        done = self.submit("study.toml", "--jobs", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.folder / "study-slurm"
        self.assertTrue((folder / "submit.sh").stat().st_mode & stat.S_IXUSR)
        ran = self.run_scripts(folder)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(len(list(folder.glob("shard-*.db"))), 3)
        self.assertIn("--dependency=afterany:4711 ", pathlib.Path(self.path("log")).read_text())
        self.assertTrue((self.folder / "study.html").exists())
        whole = self.path("whole.db")
        self.sweep(self.path("study.toml"), whole)
        self.assertEqual(self.export(self.path("study.db")), self.export(whole))
        _, row = self.sweep(self.path("study.toml"), self.path("study.db"), "--status")
        self.assertEqual(row["ok"], QUICK_POINTS)

    def test_names_that_a_shell_would_take_apart_stay_whole(self):
        name = "a b'$(touch pwned)`touch pwned`;#\\n.toml"
        self.study(QUICK_STUDY, name)
        done = self.submit(name, "--jobs", "2", "--store", "it's.db", "--folder", "my jobs")
        self.assertEqual(done.returncode, 0, done.stderr)
        ran = self.run_scripts(self.folder / "my jobs")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue((self.folder / "it's.db").exists())
        self.assertFalse((self.folder / "pwned").exists())

    def test_names_that_options_patterns_and_terminals_would_take_for_their_own(self):
        name = "e\x1b]0;title\x07.toml"
        self.study(QUICK_STUDY, name)
        folder = "-100%\x1b[31m"
        done = self.submit(name, "--jobs", "2", "--store=-s.db", f"--folder={folder}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(done.stdout) & set("\x1b\x07"), set())
        word = done.stdout.partition("to submit them: ")[2].strip()
        self.assertEqual(word, r"$'./-100%\x1b[31m/submit.sh'")
        ran = self.run_scripts(self.folder / folder)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("--output=./-100%%\x1b[31m/%A_%a.log ", pathlib.Path(self.path("log")).read_text())
        self.assertTrue((self.folder / "-s.db").exists())
        shown = self.submit(name, "--jobs", "2", f"--folder={folder}", "--dry-run")
        self.assertEqual(set(shown.stdout) & set("\x1b\x07"), set())

    def test_a_dry_run_shows_and_writes_nothing(self):
        self.study(QUICK_STUDY)
        done = self.submit("study.toml", "--jobs", "5", "--hours", "2.5", "--threads", "8",
                           "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("--array=1-5", "--time=02:30:00", "--cpus-per-task=8", "--max-hours 2.375"):
            self.assertIn(words, done.stdout)
        self.assertEqual(os.listdir(self.folder), ["study.toml"])

    def test_many_jobs_of_many_points_take_seconds(self):
        # One pass over the points for every job would take minutes, beyond the limit of onset().
        self.study('command = "aim thresholds"\nseeds = 20000\n')
        done = self.submit("study.toml", "--jobs", "100000", "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--array=1-100000", done.stdout)

    def test_scripts_that_were_edited_are_kept_beside_under_free_names(self):
        self.study(QUICK_STUDY)
        self.submit("study.toml", "--jobs", "2")
        script = self.folder / "study-slurm" / "points.sbatch"
        ours = script.read_text()
        names = ["points.sbatch~", "points.sbatch~2", "points.sbatch~3"]
        for count, name in enumerate(names, start=1):
            script.write_text(ours + f"# mine, {count}\n")
            done = self.submit("study.toml", "--jobs", "2")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, f"{name}\n")
            self.assertNotIn("merge.sbatch", done.stderr)
            self.assertEqual(script.read_text(), ours)
            self.assertTrue(script.stat().st_mode & stat.S_IXUSR)
        for count, name in enumerate(names, start=1):
            self.assertEqual((script.parent / name).read_text(), ours + f"# mine, {count}\n")
        # What nobody edited is not kept.
        self.assertEqual(self.submit("study.toml", "--jobs", "2").stderr, "")
        self.assertEqual(sorted(path.name for path in script.parent.glob("*~*")), names)

    def test_what_is_wrong_is_said(self):
        self.study(QUICK_STUDY)
        self.assert_complaint(self.submit("study.toml"), 2, "--jobs")
        self.assert_complaint(onset("submit", "pbs", "x.toml", "--jobs", "2"), 2, "slurm")
        self.assert_complaint(self.submit("nowhere.toml", "--jobs", "2"), 4, "nowhere.toml")
        for option in ("--folder", "--store"):
            self.assert_complaint(self.submit("study.toml", "--jobs", "2", option, ""), 2, option, "is empty")
        for hours in ("1e300", "inf", "8761"):
            self.assert_complaint(self.submit("study.toml", "--jobs", "2", "--hours", hours), 2, "8760")
        self.study('command = "mha generate"\n', "files.toml")
        self.assert_complaint(self.submit("files.toml", "--jobs", "2"), 2, "the files that it writes")

    def test_the_time_limit_of_endless_work_is_a_year(self):
        self.study('command = "smi amp"\n[fixed]\ndim = 100000\nruns = 10000\nalpha = "1:100:1"\n')
        done = self.submit("study.toml", "--jobs", "1", "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--time=8760:00:00", done.stdout)


if __name__ == "__main__":
    unittest.main()
