"""examples/snakemake: a study point by point under another program's control."""

import os
import pathlib
import shutil
import subprocess
import unittest

from onset_command import COMMAND
from study_files import QUICK_STUDY, StudyCase

SNAKEFILE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "snakemake" / "Snakefile"


@unittest.skipUnless(shutil.which("snakemake"), "snakemake is not installed")
class Snakemake(StudyCase):
    def test_the_example_gives_the_bytes_of_a_sweep(self):
        study = self.study(QUICK_STUDY)
        # A program that was installed by pip may shadow Debian's Python modules.
        environment = {**os.environ, "HOME": str(self.folder),
                       "PATH": f"{pathlib.Path(COMMAND).parent}:/usr/bin:/bin"}
        done = subprocess.run(["snakemake", "--cores", "2", "--snakefile", str(SNAKEFILE),
                               "--config", "study=study.toml"],
                              cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=280, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        whole = self.path("whole.db")
        self.sweep(study, whole)
        self.assertEqual(self.export(self.path("study.db")), self.export(whole))


if __name__ == "__main__":
    unittest.main()
