#!/usr/bin/python3
"""The quantizer against llama.cpp's on TinyStories-656K: perplexity, with the text tokenized as
llama.cpp had it. Its Q4_0 keeps a tied output of 128 columns as Q8_0: --head q8_0."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ASSETS, HOST, WORK, Tap, run
from gguf_files import tinystories_656k

THEIRS = {"f32": 360.67, "q8_0": 361.17, "q4_0": 374.79}

tap = Tap()
os.makedirs(WORK, exist_ok=True)
TEXT = os.path.join(ASSETS, "text/tinystories-eval-64K.txt")
if not os.path.isdir(os.path.join(ASSETS, "hf/TinyStories-656K")) or not os.path.exists(TEXT):
    tap.skip("the quantizer", "no hf/TinyStories-656K (set INGOT_ASSETS)")
    tap.done()
GGUF = os.path.join(WORK, "tinystories-656k.gguf")
PACKED = os.path.join(WORK, "tinystories-656k.ingot")
tinystories_656k().write(GGUF)


def pack(*words):
    return run([HOST, "pack", GGUF, "-o", PACKED, "-q", *words], timeout=300)


def perplexity(*words):
    status, said = pack(*words)
    if status == 0:
        status, said = run([HOST, "perplexity", PACKED, "-f", TEXT, "-q"], timeout=300)
    found = re.search(r"^perplexity ([\d.]+) ", said, re.M)
    return float(found.group(1)) if status == 0 and found else float("nan")


floats = perplexity("--type", "f32")
tap.ok(abs(floats / THEIRS["f32"] - 1) < 0.005, f"F32: {floats:.2f}, llama.cpp {THEIRS['f32']}")
eight = perplexity("--type", "q8_0")
tap.ok(eight <= THEIRS["q8_0"], f"Q8_0: {eight:.2f}, llama.cpp {THEIRS['q8_0']}")
four = perplexity("--type", "q4_0", "--head", "q8_0")
tap.note(f"Q4_0 without calibration: {four:.2f}")
status, said = pack("--type", "q4_0", "--head", "q8_0", "--calibrate", TEXT, "--report")
found = re.search(r": ([\d.]+) before, ([\d.]+) after", said)
tap.ok(status == 0 and found, "a calibrated Q4_0 is packed and measured", said)
before, after = (float(x) for x in found.groups()) if found else (0, 0)
tap.ok(abs(before / floats - 1) < 0.001, f"before: {before:.2f}, as measured alone", said)
tap.ok(after <= THEIRS["q4_0"] and after < four,
       f"calibrated Q4_0: {after:.2f}, llama.cpp {THEIRS['q4_0']}")
losses = [float(x) for x in re.findall(r"q4_0 +(\S+)$", said, re.M)]
tap.ok(len(losses) == 14 and all(0 < x < 0.02 for x in losses),
       f"the report has an NMSE for each of 14 Q4_0 matrices, at most {max(losses or [1]):.3g}",
       said)
tap.done()
