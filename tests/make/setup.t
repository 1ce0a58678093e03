#!/usr/bin/python3
"""toolchain/setup.sh on a computer where it cannot install packages: without apt-get, and for a user who is not root where there is no sudo. The
packages seem to be missing, and a program of the test stands for apt-get, so nothing is installed."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ROOT, WORK, Tap

tap = Tap()
HERE = os.path.join(WORK, "setup")


def setup(*words, **programs):
    """Run setup.sh with these programs (name=text of a script) and a few of this computer's."""
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    for name in ("dirname", "uname", "tr", "sed"):
        os.symlink(shutil.which(name), os.path.join(HERE, name))
    for name, text in {"dpkg_query": "exit 1", "id": "echo 1000", **programs}.items():
        path = os.path.join(HERE, name.replace("_", "-"))
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)
    done = subprocess.run([os.path.join(ROOT, "toolchain/setup.sh"), *words], env={"PATH": HERE}, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


# The first prompt needs its packages. Tests whose packages are missing are skipped, so setup-tests goes on.
for words, wanted in (((), 1), (("tests",), 0)):
    status, text = setup(*words)
    tap.ok(status == wanted and text.endswith("there is no apt-get here; docs/INSTALL.md says what to install by hand\n"),
           f"setup {' '.join(words)} without apt-get", [status, text])
    status, text = setup(*words, apt_get="echo called")
    run = " ".join(["toolchain/setup.sh", *words])
    tap.ok(status == wanted and text.endswith(f"sudo is missing: run {run} as root\n") and "called" not in text and "not found" not in text,
           f"setup {' '.join(words)} without root and sudo", [status, text])
shutil.rmtree(HERE)
tap.done()
