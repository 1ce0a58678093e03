#!/usr/bin/env python3
"""Run libFuzzer targets one after the other, each with its seeds and its part of tests/fuzz/corpus.
usage: libfuzzer.py FOLDER TARGET ..."""

import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ROOT

SECONDS = int(os.environ.get("FUZZ_SECONDS", "600"))
folder, targets = os.path.abspath(sys.argv[1]), sys.argv[2:]
failed = 0


def seeds(name, corpus):
    script = os.path.join(ROOT, f"tests/fuzz/seeds/{name}_seed.py")
    if os.path.exists(script):
        subprocess.run([sys.executable, script, os.path.join(corpus, "seed")], check=True)


for name in targets:
    corpus = os.path.join(folder, f"corpus-{name}")
    os.makedirs(corpus, exist_ok=True)
    seeds(name, corpus)
    kept = os.path.join(ROOT, "tests/fuzz/corpus", name)
    done = subprocess.run([os.path.join(folder, name), f"-max_total_time={SECONDS}", "-timeout=20",
                           "-rss_limit_mb=4096", "-max_len=65536", "-print_final_stats=1",
                           f"-artifact_prefix={folder}/{name}-", corpus,
                           *glob.glob(kept)], capture_output=True, text=True, errors="replace")
    runs = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    cover = re.findall(r"cov: (\d+) ft: (\d+) corp: (\S+)", done.stderr)
    print(f"{name}: {runs.group(1) if runs else '?'} runs in {SECONDS} s, coverage and corpus "
          f"{cover[-1] if cover else '?'}: {'no fault' if done.returncode == 0 else 'A FAULT'}",
          flush=True)
    if done.returncode != 0:
        failed += 1
        print(done.stderr[-4000:])
sys.exit(failed != 0)
