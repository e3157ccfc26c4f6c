"""The manual page: whole, and readable by man."""

import re
import shutil
import subprocess
import unittest

from onset_command import onset


class Man(unittest.TestCase):
    def setUp(self):
        run = onset("man")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.page = run.stdout

    def test_the_sections_of_a_manual_page_are_there_in_order(self):
        self.assertRegex(self.page, r'(?m)^\.TH ONSET 1 "" "onset \d+\.\d+\.\d+"')
        self.assertEqual(re.findall(r"(?m)^\.SH (.*)$", self.page),
                         ["NAME", "SYNOPSIS", "DESCRIPTION", "VERBS", "OPTIONS OF EVERY VERB",
                          "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES"])

    def test_every_verb_command_and_option_is_there(self):
        for line in onset("--help").stdout.splitlines():
            if found := re.match(r"  ([a-z]+(?: [a-z]+)?)  ", line):
                self.assertIn(f'.SS "onset {found[1]}', self.page)
        for line in onset("smi", "curve", "--help").stdout.splitlines():
            if line.startswith("  --"):
                name = line.split()[0].replace("-", r"\-")
                self.assertIn(rf"\fB{name}\fR", self.page)

    def test_the_page_is_the_same_on_every_machine(self):
        self.assertEqual(self.page, onset("man", env={"SLURM_CPUS_PER_TASK": "1"}).stdout)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_sets_it_without_a_warning(self):
        run = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=self.page, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", run.stdout)
        for word in ["--alpha GRID", "start:stop:step", "onset smi curve --layers 2"]:
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
