"""The Debian packages and the wheel, laid down in empty folders and used from there.

Usage: packages_test.py BUILD SOURCE [unittest options]
"""

import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PYTHON = "/usr/bin/python3"


def output(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **options).stdout


def clean_environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ONSET"))}
    return {**kept, **more}


@unittest.skipUnless(shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps"), "dpkg-dev is not installed")
class DebianPackages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name) / "root"
        output("cpack", "-G", "DEB", "-B", cls.folder.name, "--config", BUILD / "CPackConfig.cmake", cwd=BUILD)
        cls.packages = {os.path.basename(path).partition("_")[0]: path
                        for path in glob.glob(os.path.join(cls.folder.name, "*.deb"))}
        for package in cls.packages.values():
            output("dpkg-deb", "-x", package, cls.root)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def field(self, package, name):
        return output("dpkg-deb", "-f", self.packages[package], name).strip()

    def test_there_are_three_and_they_say_what_they_need(self):
        self.assertEqual(sorted(self.packages), ["libonset-dev", "onset", "python3-onset"])
        self.assertIn("libopenblas0", self.field("onset", "Depends"))
        self.assertIn("gnuplot", self.field("onset", "Recommends"))
        self.assertIn("python3-numpy", self.field("python3-onset", "Depends"))
        self.assertIn("libhwy-dev", self.field("libonset-dev", "Depends"))

    @unittest.skipUnless(shutil.which("apt-get"), "there is no apt")
    def test_apt_would_install_them(self):
        said = output("apt-get", "-s", "install", "--no-install-recommends", *self.packages.values())
        self.assertIn("Inst onset ", said)

    def test_the_command_runs_and_finds_its_figures(self):
        onset = self.root / "usr/bin/onset"
        self.assertIn("weak", output(onset, "smi", "thresholds", "--link", "square", env=clean_environment()))
        self.assertIn("smi-1", output(onset, "figure", "list", env=clean_environment()))

    def test_man_page_completion_and_docs_are_there(self):
        for path in ["man/man1/onset.1", "bash-completion/completions/onset", "zsh/vendor-completions/_onset",
                     "fish/vendor_completions.d/onset.fish", "doc/onset/docs/python.md",
                     "doc/onset/docs/notebooks/first-threshold.ipynb", "doc/onset/LICENSE"]:
            self.assertTrue((self.root / "usr/share" / path).stat().st_size > 500, path)

    def test_the_module_is_imported_from_there(self):
        found = glob.glob(str(self.root / "usr/lib/python3*/dist-packages"))
        self.assertEqual(len(found), 1)
        said = output(PYTHON, "-B", "-c", "import onset; print(onset.__file__, onset.smi.thresholds(link='square')"
                      ".status, 'smi-1' in onset.figures())", env=clean_environment(PYTHONPATH=found[0]))
        self.assertTrue(said.startswith(found[0]) and said.endswith(" ok True\n"), said)


@unittest.skipUnless("ONSET_DEBIAN_ROOT" in os.environ and os.geteuid() == 0 and shutil.which("mmdebstrap"),
                     "a clean Debian root takes minutes, root and mmdebstrap: ONSET_CHECKS=packages scripts/test.sh")
class CleanDebianRoot(unittest.TestCase):
    """Debian as it comes, plus our packages and what they ask for, installed by apt."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        folder.chmod(0o755)
        output("cpack", "-G", "DEB", "-B", folder, "--config", BUILD / "CPackConfig.cmake", cwd=BUILD)
        (folder / "Packages").write_text(output("dpkg-scanpackages", "--multiversion", ".", cwd=folder), encoding="utf-8")
        debian = output("sh", "-c", ". /etc/os-release && echo $VERSION_CODENAME").strip()
        mirror = output("apt-get", "indextargets", "--format", "$(REPO_URI)", f"Codename: {debian}", "Component: main").split()[0]
        cls.root = folder / "root"
        output("mmdebstrap", "--variant=apt", "--include=onset,libonset-dev,python3-onset,g++,cmake,make", debian, cls.root,
               f"deb {mirror} {debian} main", f"deb [trusted=yes] copy:{folder} ./")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def inside(self, *words):
        """Runs a command there, with a /proc of its own that goes away with it."""
        return output("unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', self.root,
                      "env", "-i", "PATH=/usr/bin:/bin", "HOME=/root", *words)

    def test_the_command_answers(self):
        self.assertIn("0.5", self.inside("onset", "smi", "thresholds", "--link", "square"))
        self.assertIn("smi-1", self.inside("onset", "figure", "list"))
        self.assertIn("gnuplot", self.inside("onset", "doctor"))

    def test_the_module_answers(self):
        said = self.inside("python3", "-c", "import onset; print(onset.smi.thresholds(link='square').status)")
        self.assertEqual(said, "ok\n")

    def test_a_program_is_built_against_the_library(self):
        shutil.copytree(SOURCE / "tests/install/consumer", self.root / "root/consumer")
        self.inside("cmake", "-S", "/root/consumer", "-B", "/root/built")
        self.inside("cmake", "--build", "/root/built", "--target", "consumer")
        self.inside("/root/built/consumer")


class Wheel(unittest.TestCase):
    def test_pip_installs_it_without_a_network(self):
        with tempfile.TemporaryDirectory() as folder:
            try:
                output(PYTHON, "-m", "venv", "--system-site-packages", f"{folder}/venv")
            except subprocess.CalledProcessError:
                self.skipTest("python3-venv is not installed")
            python = f"{folder}/venv/bin/python"
            output(python, "-m", "pip", "install", "--no-index", "--quiet", SOURCE,
                   env=clean_environment(ONSET_BUILD_DIR=str(BUILD)))
            said = output(python, "-c", "import onset; print(onset.__file__, onset.smi.thresholds(link='square')"
                          ".status, 'smi-1' in onset.figures())", cwd=folder, env=clean_environment())
            self.assertTrue(said.startswith(f"{folder}/venv/lib") and said.endswith(" ok True\n"), said)
            listed = output(python, "-m", "pip", "show", "--files", "onset", env=clean_environment())
            self.assertIn("onset/smi.pyi", listed)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
