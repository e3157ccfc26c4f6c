"""What was wrong, what is allowed, the nearest valid word, exit code 2, nothing on stdout."""

import os
import resource
import tempfile
import unittest

from onset_command import onset

CURVE = ["smi", "curve", "--layers", "1", "--tokens", "2"]
THRESHOLDS = ["smi", "thresholds"]

# name: (arguments, words that the message must have)
CASES = {
    "an unknown option names the nearest one":
        (CURVE + ["--alhpa", "0.5"], ["--alhpa", "allowed", "did you mean '--alpha'"]),
    "an unknown verb names the nearest one":
        (["smi", "tresholds"], ["tresholds", "allowed", "curve", "did you mean 'thresholds'"]),
    "an unknown family names the nearest one":
        (["sim", "thresholds"], ["sim", "allowed", "list", "did you mean 'smi'"]),
    "an unknown command names the nearest one":
        (["docter"], ["docter", "allowed", "did you mean 'doctor'"]),
    "an unknown top option names the nearest one":
        (["--verson"], ["--verson", "allowed", "did you mean '--version'"]),
    "a family without a verb lists its verbs": (["smi"], ["smi", "thresholds", "curve"]),
    "an unknown format names the nearest one":
        (THRESHOLDS + ["--format", "josn"],
         ["--format", "josn", "table, json, jsonl or csv", "did you mean 'json'"]),
    "an evolution cannot start below chance":
        (["smi", "evolution", "--layers", "1", "--alpha", "0.4", "--dim", "100", "--start-overlap", "0.0001"],
         ["--start-overlap", "0.0001", "1/D", "0.01", "allowed"]),
    "an unknown branch names the nearest one":
        (CURVE + ["--alpha", "0.5", "--branch", "informd"],
         ["--branch", "informd", "uninformed, informed or optimal", "did you mean 'informed'"]),
    "other options that a message mentions are options too":
        (CURVE + ["--alpha", "0.5", "--hold-overlap", "0.5"],
         ["--hold-overlap: has no effect", "allowed: with --hold-layer"]),
    "steps that cannot be counted are refused by what makes them":
        (["ssi", "sgd", "--a", "1", "--omega", "0.6", "--dim", "1e12", "--rate", "1e-9"],
         ["--rate: 1e-09 with --dim 1000000000000 means", "steps", "at most 1e+19 steps"]),
    "text is not a number": (THRESHOLDS + ["--skip", "abc"], ["--skip", "'abc'", "number"]),
    "a number with trailing junk is not a number":
        (THRESHOLDS + ["--beta", "1x"], ["--beta", "'1x'", "number"]),
    "NaN is not a number that one can compute with":
        (THRESHOLDS + ["--beta", "nan"], ["--beta", "nan", "finite"]),
    "infinity is refused": (THRESHOLDS + ["--beta=-inf"], ["--beta", "-inf", "finite"]),
    "a number beyond a double is refused": (THRESHOLDS + ["--beta", "1e999"], ["--beta", "1e999"]),
    "a negative size is out of range":
        (THRESHOLDS + ["--layers", "-1"], ["--layers", "-1", "whole number"]),
    "a size of zero is out of range":
        (THRESHOLDS + ["--layers", "0"], ["--layers", "0", "whole number"]),
    "a huge size is out of range":
        (THRESHOLDS + ["--layers", "1000000"], ["--layers", "1000000", "whole number"]),
    "a seed beyond 64 bits is told the range":
        (["ssi", "sie", "--target", "z1", "--seed", str(2**63)], ["--seed", "0 to 9223372036854775807"]),
    "a size beyond 64 bits is refused":
        (THRESHOLDS + ["--layers", "9" * 30], ["--layers", "64 bits"]),
    "a size with a fraction is not whole":
        (THRESHOLDS + ["--layers", "2.5"], ["--layers", "2.5", "whole number"]),
    "a negative skip is out of range":
        (THRESHOLDS + ["--skip", "-0.5"], ["--skip", "-0.5", "out of range"]),
    "every item of a list is checked":
        (THRESHOLDS + ["--skip", "1,-2"], ["--skip", "-2", "out of range"]),
    "an empty item of a list is refused": (THRESHOLDS + ["--skip", "1,,2"], ["--skip", "empty"]),
    "an empty grid is refused": (CURVE + ["--alpha", ""], ["--alpha", "empty"]),
    "NaN in a grid is refused": (CURVE + ["--alpha", "0.1,nan"], ["--alpha", "nan", "finite"]),
    "a grid that runs the wrong way is empty":
        (CURVE + ["--alpha", "0.5:0.1:0.1"], ["--alpha", "0.5:0.1:0.1", "empty"]),
    "a grid with step 0 is refused": (CURVE + ["--alpha", "0:1:0"], ["--alpha", "step 0"]),
    "a grid with two parts is refused":
        (CURVE + ["--alpha", "0:1"], ["--alpha", "'0:1'", "start:stop:step"]),
    "a grid with too many points is refused":
        (CURVE + ["--alpha", "0:1:1e-12"], ["--alpha", "100000 points"]),
    "a logarithmic grid from 0 is refused":
        (CURVE + ["--alpha", "log:0:1:5"], ["--alpha", "above 0"]),
    "a required option is asked for": (CURVE, ["--alpha", "required", "start:stop:step"]),
    "a missing value at the end is asked for": (CURVE + ["--alpha"], ["--alpha", "missing"]),
    "an option is not the value of another":
        (CURVE + ["--alpha", "--branch", "informed"], ["--alpha", "missing"]),
    "a repeated option is ambiguous":
        (THRESHOLDS + ["--layers", "1", "--layers=2"], ["--layers", "twice"]),
    "a stray word belongs nowhere": (THRESHOLDS + ["foo"], ["'foo'", "--name value"]),
    "one hyphen is one too few":
        (THRESHOLDS + ["-layers", "1"], ["-layers", "did you mean '--layers'"]),
    "a negative seed is out of range": (THRESHOLDS + ["--seed", "-1"], ["--seed", "-1"]),
    "a tolerance of zero is out of range": (THRESHOLDS + ["--tol", "0"], ["--tol", "> 0"]),
    "a negative time limit is out of range":
        (THRESHOLDS + ["--max-seconds", "-1"], ["--max-seconds", "> 0"]),
    "no threads are too few": (THRESHOLDS + ["--threads", "0"], ["--threads", "whole number"]),
    "an empty folder name is refused": (THRESHOLDS + ["--out", ""], ["--out", "folder"]),
    "an unknown link names the nearest":
        (THRESHOLDS + ["--link", "sqare"], ["--link", "did you mean 'square'"]),
    "a link has no layers":
        (THRESHOLDS + ["--link", "square", "--layers", "3"], ["--layers", "--link"]),
    "a rank is whole": (THRESHOLDS + ["--rank", "1.5"], ["--rank", "whole"]),
    "ranks are one for all or one per layer":
        (THRESHOLDS + ["--rank", "1,1,1"], ["--rank", "one per layer"]),
    "negative noise is out of range":
        (THRESHOLDS + ["--noise", "-1"], ["--noise", "-1", "out of range"]),
    "a correlation is a number, a form or a file":
        (THRESHOLDS + ["--token-correlation", "foo"], ["--token-correlation", "'foo'", "ar1:R"]),
    "a form of correlation has a nearest one":
        (THRESHOLDS + ["--token-correlation", "ar2:0.5"], ["'ar2:0.5'", "did you mean 'ar1'"]),
    "a covariance is positive definite":
        (THRESHOLDS + ["--token-correlation", "1"], ["--token-correlation", "positive definite"]),
    "too many tokens for more than one layer":
        (THRESHOLDS + ["--tokens", "9"], ["--tokens", "9", "2 to 8"]),
    "a layer that is not there cannot be unlearned":
        (["smi", "curve", "--alpha", "0.3", "--unlearned", "5"], ["--unlearned", "1 to 2"]),
    "a layer that is not there cannot be held":
        (["smi", "curve", "--alpha", "0.3", "--hold-layer", "9"], ["--hold-layer", "1 to 2"]),
    "too many combinations of overlaps":
        (["smi", "potential", "--alpha", "0.3", "--path", "grid", "--points", "900"],
         ["--points", "10000"]),
    "an option of another verb is not taken for a short one":
        (["ssi", "sgd", "--time", "5"], ["--time", "no such option", "--steps"]),
    "commands check their options too":
        (["list", "--fromat", "json"], ["--fromat", "did you mean '--format'"]),
}


class Usage(unittest.TestCase):
    def test_every_misuse_is_explained(self):
        for name, (arguments, words) in CASES.items():
            with self.subTest(name):
                done = onset(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertTrue(done.stderr.startswith("onset: "), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, "one line")
                for word in words + ["allowed"]:
                    self.assertIn(word, done.stderr)


class Memory(unittest.TestCase):
    def test_a_run_that_does_not_fit_is_refused_before_it_starts(self):
        small = 55_000_000  # bytes; enough to load the program, less than its verbs say they need
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (small, small))
        if onset("--version", preexec_fn=limit).returncode != 0:
            self.skipTest("this build needs more address space to start (sanitizers do)")
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "run")
            done = onset(*THRESHOLDS, "--layers", "12", "--out", out, preexec_fn=limit)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, r"smi thresholds: needs about \d+ MiB of memory .*"
                                          r"allowed: 52 MiB here")
            self.assertFalse(os.path.exists(out))


class Help(unittest.TestCase):
    def texts(self, *arguments):
        done = onset(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 100, line)
        return done.stdout

    def test_no_arguments_show_the_help(self):
        self.assertEqual(self.texts(), self.texts("--help"))

    def test_the_main_help_lists_verbs_commands_and_exit_codes(self):
        for word in ["smi thresholds", "smi curve", "list", "doctor", "Exit codes"]:
            self.assertIn(word, self.texts("--help"))

    def test_a_family_lists_its_verbs(self):
        self.assertIn("smi curve", self.texts("smi", "--help"))

    def test_a_verb_explains_its_options_columns_and_examples(self):
        text = self.texts("smi", "curve", "--help")
        for word in ["--alpha GRID", "Required", "N/D", "--branch", "Default: ", "--seed",
                     "--max-seconds", "Columns", "standard error", "Examples", "onset smi curve"]:
            self.assertIn(word, text)

    def test_help_wins_over_other_mistakes(self):
        self.assertIn("Usage", self.texts("smi", "curve", "--nonsense", "--help"))

    def test_the_version_is_one_line(self):
        self.assertRegex(self.texts("--version"), r"\Aonset \d+\.\d+\.\d+\n\Z")

    def test_doctor_says_what_is_there(self):
        for word in ["version", "compiler", "simd", "threads", "memory", "gnuplot", "libtorch", "mpi",
                     "python", "data"]:
            self.assertIn(word, self.texts("doctor"))


if __name__ == "__main__":
    unittest.main()
