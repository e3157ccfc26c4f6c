"""Completion for shells: the scripts are well-formed, and propose what the command would accept."""

import os
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

from onset_command import COMMAND, onset

ASK = """
source "$1"; shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_onset
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Bash(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.script = os.path.join(cls.folder.name, "onset.bash")
        with open(cls.script, "w", encoding="ascii") as file:
            file.write(onset("completion", "bash").stdout)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def proposed(self, *words):
        """What the Tab key offers at the end of the last word, in an empty folder."""
        run = subprocess.run(["bash", "-c", ASK, "ask", self.script, COMMAND, *words],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                             cwd=self.folder.name)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout.split()

    def test_the_script_has_no_syntax_errors(self):
        run = subprocess.run(["bash", "-n", self.script], stderr=subprocess.PIPE, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_the_first_word_is_a_family_or_a_command(self):
        self.assertLessEqual({"smi", "list", "figure", "completion", "man"},
                             set(self.proposed("")))

    def test_a_family_is_followed_by_its_verbs(self):
        self.assertEqual(self.proposed("smi", "thr"), ["thresholds"])

    def test_every_option_of_the_help_is_proposed(self):
        text = onset("smi", "curve", "--help").stdout
        options = {line.split()[0] for line in text.splitlines() if line.startswith("  --")}
        self.assertIn("--alpha", options)
        self.assertEqual(set(self.proposed("smi", "curve", "--")), options)

    def test_an_option_that_was_given_is_not_proposed_again(self):
        self.assertEqual(self.proposed("smi", "curve", "--layers", "1", "--layer"), [])

    def test_words_are_proposed_for_an_option_that_takes_one(self):
        self.assertEqual(self.proposed("smi", "curve", "--branch", ""),
                         ["uninformed", "informed", "optimal"])
        self.assertEqual(self.proposed("smi", "curve", "--format", "=", "j"), ["json", "jsonl"])

    def test_nothing_is_proposed_for_a_number(self):
        self.assertEqual(self.proposed("smi", "curve", "--layers", ""), [])

    def test_folders_are_proposed_for_a_folder(self):
        os.mkdir(os.path.join(self.folder.name, "runs"))
        self.assertEqual(self.proposed("smi", "curve", "--out", ""), ["runs"])

    def test_figures_are_proposed_by_name(self):
        self.assertIn("smi-1", self.proposed("figure", "smi"))
        self.assertEqual(self.proposed("figure", "lis"), ["list"])

    def test_a_name_of_a_figure_runs_nothing_and_is_offered_only_if_it_is_a_word(self):
        with tempfile.TemporaryDirectory() as data:
            os.mkdir(os.path.join(data, "figures"))
            for name in ("$(touch pwned)", "`touch pwned`", "a b", "a;b", "x$HOME", "*", "-n", "a\nb", "fine-1.2_x"):
                with open(os.path.join(data, "figures", name + ".toml"), "w", encoding="ascii") as file:
                    file.write("title = 'x'\n")
            with unittest.mock.patch.dict(os.environ, ONSET_DATA=data):
                files = set(os.listdir(self.folder.name))  # a figure file is proposed too
                self.assertEqual(set(self.proposed("figure", "")) - files, {"list", "fine-1.2_x"})
                self.assertEqual(self.proposed("figure", "$"), [])
                self.assertEqual(self.proposed("figure", "`"), [])
                self.assertEqual(onset("figure", "list", "--names").stdout, "fine-1.2_x\n")
            self.assertFalse(os.path.exists(os.path.join(self.folder.name, "pwned")))

    def test_what_another_program_lists_is_not_expanded(self):
        program = os.path.join(self.folder.name, "onset")
        with open(program, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nprintf '%s\\n' '$(touch pwned)' 'plain' 'a b'\n")
        os.chmod(program, 0o755)
        run = subprocess.run(["bash", "-c", ASK, "ask", self.script, program, "figure", ""],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                             cwd=self.folder.name)
        files = os.listdir(self.folder.name)
        os.remove(program)
        self.assertEqual(set(run.stdout.split("\n")) - {"", *files}, {"list", "plain"})
        self.assertNotIn("pwned", files)


class Zsh(unittest.TestCase):
    def test_the_script_names_every_option_of_a_verb(self):
        script = onset("completion", "zsh").stdout
        self.assertTrue(script.startswith("#compdef onset\n"))
        for word in ["'--alpha=[", "(uninformed informed optimal)", "'--quiet[", "_files -/"]:
            self.assertIn(word, script)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_the_script_has_no_syntax_errors(self):
        run = subprocess.run(["zsh", "-n"], input=onset("completion", "zsh").stdout,
                             stderr=subprocess.PIPE, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))


FISH_ASK = """
source $argv[1]
complete -C "onset $argv[2]" | string split -f1 \\t
"""


class Fish(unittest.TestCase):
    def test_the_script_names_every_option_of_a_verb(self):
        script = onset("completion", "fish").stdout
        for word in ["__onset_in smi curve' -l alpha -x", "-a 'uninformed informed optimal'", "-l quiet -d"]:
            self.assertIn(word, script)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_it_proposes_what_the_command_accepts(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "onset.fish")
            with open(script, "w", encoding="ascii") as file:
                file.write(onset("completion", "fish").stdout)
            environment = dict(os.environ, HOME=folder, PATH=os.path.dirname(COMMAND) + ":" + os.environ["PATH"])

            def proposed(line):
                run = subprocess.run(["fish", "-c", FISH_ASK, script, line], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, timeout=60, env=environment)
                self.assertEqual(run.stderr, "")
                return run.stdout.split()

            self.assertEqual(proposed("smi thr"), ["thresholds"])
            self.assertLessEqual({"smi", "figure", "man"}, set(proposed("")))
            self.assertEqual(proposed("smi curve --branch "), ["informed", "optimal", "uninformed"])
            self.assertIn("smi-1", proposed("figure "))


class Misuse(unittest.TestCase):
    def test_the_shell_must_be_named_and_known(self):
        for arguments, words in [(["completion"], ["bash, zsh, fish"]),
                                 (["completion", "bsh"], ["did you mean 'bash'"]),
                                 (["completion", "bash", "zsh"], ["zsh", "allowed"])]:
            run = onset(*arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            for word in words:
                self.assertIn(word, run.stderr)


if __name__ == "__main__":
    unittest.main()
