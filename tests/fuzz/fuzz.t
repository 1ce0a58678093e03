#!/usr/bin/python3
"""Runs every parser of data from outside with mutated inputs, FUZZ_SECONDS each: ASan and UBSan must find no fault. Seeds are made here, by scripts
or by the packer; nothing is downloaded."""

import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, ROOT, WORK, Tap

SECONDS = os.environ.get("FUZZ_SECONDS", "1")
SEED = os.environ.get("FUZZ_SEED")
tap = Tap()
os.makedirs(WORK, exist_ok=True)


def seeds_of(name):
    """Valid inputs to mutate, which the script writes to OUT and OUT-...; if there are none, the target starts from
    random bytes."""
    out = os.path.join(WORK, f"seed-{name}")
    script = os.path.join(ROOT, f"tests/fuzz/seeds/{name}_seed.py")
    if os.path.exists(script):
        subprocess.run([sys.executable, script, out], check=True, timeout=60)
        return sorted(glob.glob(out) + glob.glob(out + "-*"))
    return []


for target in sorted(glob.glob(os.path.join(ROOT, "tests/fuzz/*_fuzz.c"))):
    name = os.path.basename(target)[:-len("_fuzz.c")]
    command = [os.path.join(BUILD, "tests/fuzz", name), "--seconds", SECONDS]
    if name in ("http", "http_range") and not os.path.exists(command[0]):
        tap.skip(name, "node-llhttp or libwslay-dev is not installed")
        continue
    if name == "net" and not os.path.exists(command[0]):
        tap.skip(name, "lwIP's source or node-llhttp is not there: make setup-tests")
        continue
    command += ["--seed", SEED] if SEED else []
    command += seeds_of(name) + sorted(glob.glob(os.path.join(ROOT, "tests/fuzz/corpus", name, "*")))
    done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                          timeout=300 + 4 * float(SECONDS))
    lines = done.stdout.strip().split("\n")
    tap.note(f"{name}: {lines[0].lstrip('# ')}")
    ran = next((line for line in lines if line.startswith("ok ")), "")
    tap.ok(done.returncode == 0 and ran, f"{name}: {ran.split(': ')[-1] or 'a fault'}",
           done.stdout[-1500:] + done.stderr[-3000:])
tap.done()
