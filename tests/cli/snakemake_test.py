"""examples/snakemake: a study point by point under another program's control."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from onset_command import COMMAND, onset
from study_files import QUICK_STUDY, StudyCase, stored_points

SNAKEFILE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "snakemake" / "Snakefile"
# Linux takes 131072 bytes in one argument, and the name of a point has 43.
MANY_POINTS = 3200


@unittest.skipUnless(shutil.which("snakemake"), "snakemake is not installed")
class Snakemake(StudyCase):
    def run_example(self, *options):
        # A program that was installed by pip may shadow Debian's Python modules.
        environment = {**os.environ, "HOME": str(self.folder),
                       "PATH": f"{pathlib.Path(COMMAND).parent}:/usr/bin:/bin"}
        done = subprocess.run(["snakemake", "--cores", "2", "--snakefile", str(SNAKEFILE), *options,
                               "--config", "study=study.toml"],
                              cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=280, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_example_gives_the_bytes_of_a_sweep(self):
        study = self.study(QUICK_STUDY)
        self.run_example()
        whole = self.path("whole.db")
        self.sweep(study, whole)
        self.assertEqual(self.export(self.path("study.db")), self.export(whole))

    def test_thousands_of_points_are_merged(self):
        """Their names do not fit into one argument. Nothing but the merge is of interest here, so
        that one small store stands for every point."""
        part = self.path("part.db")
        self.sweep(self.study('command = "aim thresholds"\n', "small.toml"), part)
        study = self.study(f'command = "aim thresholds"\nseeds = {MANY_POINTS}\n')
        listed = onset("sweep", study, "--list", "--format", "jsonl")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        (self.folder / "points").mkdir()
        for line in listed.stdout.splitlines():
            shutil.copy(part, self.folder / "points" / f"{json.loads(line)['key']}.db")
        self.run_example("--rerun-triggers", "mtime")
        self.assertEqual(stored_points(self.path("study.db")), 1)


if __name__ == "__main__":
    unittest.main()
