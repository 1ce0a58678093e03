#!/usr/bin/python3
"""`make compare` names a missing package and skips the comparison, and refuses a busy computer. Its arithmetic: a divergence equals its
definition, and a ratio above 1 means that Ingot is better."""

import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "../bench")]
import compare
from machine import ROOT, Tap

tap = Tap()


def logs(*probabilities):
    return [math.log(p) for p in probabilities]


with tempfile.TemporaryDirectory() as folder:
    env = {**os.environ, "INGOT_BUILD": folder, "PIP_NO_INDEX": "1", "COMPARE_WITH": "xllamacpp"}
    env.pop("LLAMA_SERVER", None)
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tests/bench/compare.py")], env=env, capture_output=True, text=True, timeout=120, check=False)
    tap.ok(done.returncode == 0 and done.stdout.startswith("compare: skipped: pip "), "`make compare` is skipped without a network", done.stdout + done.stderr)


def refusal(share, anyway):
    """The message of check_at_rest if other programs take this share of the processors."""
    compare.Others.share = lambda self: share
    compare.time.sleep = lambda seconds: None
    os.environ["ANYWAY"] = anyway
    try:
        compare.check_at_rest()
    except SystemExit as end:
        return str(end.code)
    return ""


tap.ok("others use 63 % of this computer" in refusal(0.63, "") and refusal(0.63, "1") == "" and refusal(0.01, "") == "",
       "other programs at work are named, unless ANYWAY=1")
same = compare.divergence([logs(0.25, 0.75)], [logs(0.25, 0.75)])
other = compare.divergence([logs(0.25, 0.75), logs(0.5, 0.5)], [logs(0.5, 0.5), logs(0.5, 0.5)])
tap.ok(abs(same) < 1e-12 and abs(other - (0.25 * math.log(0.5) + 0.75 * math.log(1.5)) / 2) < 1e-12, f"divergences: {same}, {other}")
row = compare.row_of("m", 1, "tok/s", [[10.0, 20.0], [8.0, 24.0], [math.nan, 1.0]])
tap.ok(row == ["m", 1, "tok/s", "9", "20", "2.50"], f"the median of ratios: {row}")
row = compare.row_of("m", 1, "s", [[3.0, 2.0]], True)
tap.ok(row[3:] == ["3", "2", "1.50"], f"less is better: {row}")

ROWS = [["m", 1, "decode, tok/s", "9", "20", "2.50", "18", "2.25"], ["m", 1, "prefill of 64, tok/s", "9", "8", ".9", "7", "0.80"],
        ["m", "any", "KL from F32, nats", "1", "1", "1.00", "1", "1.00"], ["m", 2, "prefill of 512, tok/s", "9", "9", "1.00", "9", "1.01"]]
new = compare.section("2026-11-29", "a CPU", 2, "1.2", "peer 3", ["llama.cpp", "Ingot", "Ingot, AVX2"], ROWS)
tap.ok("| m | 1 | Ingot | 2.50 | .9 |  |" in new and "| m | 1 | Ingot, AVX2 | 2.25 | 0.80 |  |" in new and "| m | 2 | Ingot, AVX2 |  |  | 1.01 |" in new and
       "| any |" not in new and all(word in new for word in ("2026-11-29", "a CPU, 2 cores", "Ingot 1.2", "peer 3")), "README's section has each ratio, also those below 1", new)
readme = open(os.path.join(ROOT, "README.md"), encoding="utf-8").read()
once = compare.put_section(readme, new)
tap.ok(once.count(compare.HEADING) == 1 and compare.put_section(once, new) == once and once.replace(new, "") == compare.put_section(once, "") and
       once.index("\n## Models larger") < once.index(compare.HEADING) < once.index("\n## Status"), "README's section replaces the previous one", once)
tap.done()
