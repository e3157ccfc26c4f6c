"""Runs the command for the tests; its path is in ONSET_COMMAND."""

import json
import os
import subprocess

COMMAND = os.environ["ONSET_COMMAND"]
QUICK = ["smi", "thresholds", "--layers", "1", "--tokens", "2"]
# Far beyond any budget of points, so that it is still running when it is stopped.
LONG = ["smi", "thresholds", "--layers", "2", "--tol", "1e-9"]
SOON = 2.0  # seconds; the promise is one, the rest is for busy test machines


def onset(*arguments, **options):
    """Runs to the end; .returncode, .stdout and .stderr are as the shell sees them."""
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([COMMAND, *arguments], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          text=True, timeout=120, **options)


def start(*arguments, **options):
    return subprocess.Popen([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, text=True, **options)


def hung_gnuplot(folder):
    """The environment with a gnuplot that never ends."""
    folder.mkdir()
    fake = folder / "gnuplot"
    fake.write_text("#!/bin/sh\nexec /bin/sleep 1000\n", encoding="utf-8")
    fake.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def children(pid):
    """Processes whose parent is `pid`."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    if int(file.read().rpartition(")")[2].split()[1]) == pid:
                        found.append(int(name))
            except OSError:  # it has ended meanwhile
                pass
    return found


def one_object(text):
    """The only JSON object in the text; anything before or after it is an error. NaN and Infinity,
    which Python would read and other readers would not, are errors too."""
    def refuse(word):
        raise ValueError(f"{word} is not JSON")
    return json.loads(text, parse_constant=refuse)
