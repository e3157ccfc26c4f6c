"""What the tests share: the command, whose numbers the module must give."""

import json
import os
import subprocess

import pytest


@pytest.fixture
def command():
    """Runs the command; returns what it printed as JSON."""
    def run(*arguments):
        done = subprocess.run([os.environ["ONSET_COMMAND"], *arguments, "--format", "json"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        return json.loads(done.stdout)

    return run
