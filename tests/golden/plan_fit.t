#!/usr/bin/python3
"""`ingot plan --fit` computes the sizes of the packer's files exactly, also with experts, and recommends the right types."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import tiny
from machine import ASSETS, HOST, ROOT, WORK, Tap, run, segments
from widened import widened_folder

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
COMMON = ["f16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "iq4_nl", "q4_0", "fig4", "q3_k", "q2_k"]

# Sizes of all weights in llama.cpp's files in MiB, as its quantizer (v0.5.0, dry run) reports them for models of these shapes.
THEIRS = {
    "smollm2-135m": {"q8_0": 136.40, "q6_k": 130.27, "q5_k_m": 105.21, "q4_k_m": 98.87, "q3_k_m": 87.48, "q2_k": 82.41, "q4_0": 72.27},
    "gemma-3-270m": {"q8_0": 271.81, "q6_k": 263.64, "q5_k_m": 241.76, "q4_k_m": 235.16, "q3_k_m": 224.53, "q2_k": 219.87},
}

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "plan-fit.ingot")
OTHER = os.path.join(WORK, "plan-fit-other.ingot")


def pack(source, model, *words):
    return run([HOST, "pack", source, "-o", model, "-q", *words])


def fit(*words):
    """({name: bytes}, what to take, the text)"""
    _, said = run([HOST, "plan", MODEL, "--fit", *words])
    rows = re.findall(r"^  (\w+) +([\d.]+) (B|KiB|MiB)  ", said, re.M)
    return {name: float(n) * UNITS[unit] for name, n, unit in rows}, said.splitlines()[-1], said


def sizes_agree(what, source, names):
    pack(source, MODEL)
    rows, _, said = fit()
    wrong = []
    for name, size in rows.items():
        pack(source, OTHER, "--type", name)
        real = sum(n for _, n in segments(OTHER))
        if abs(size / real - 1) > 0.006:  # sizes are printed with three digits
            wrong.append(f"{name}: {size}, the file {real}")
    tap.ok(list(rows) == names and not wrong, f"{what}: {len(rows)} sizes are the packed files'",
           "\n".join(wrong) + said)


WIDE = os.path.join(WORK, "plan-fit-demo")
widened_folder(os.path.join(ROOT, "models/demo"), WIDE, 256)
sizes_agree("columns of 256", WIDE, COMMON)
sizes_agree("columns of 128 and 384", os.path.join(ROOT, "models/demo"), COMMON)
for name in ("olmoe", "lfm2moe", "gptoss_mxfp4", "gemma4"):
    gguf = os.path.join(ASSETS, f"arch/{name}.gguf")
    if os.path.exists(gguf):
        sizes_agree(name, gguf, COMMON)
    else:
        tap.skip(name, f"no {gguf} (set INGOT_ASSETS)")
if os.path.isdir(os.path.join(ASSETS, "hf/tiny")):
    bitnet = os.path.join(WORK, "plan-fit-bitnet.gguf")
    tiny("bitnet")[0].write(bitnet)
    sizes_agree("a model trained with three values", bitnet, COMMON[:8] + ["tq2_0"] + COMMON[8:])

# If columns are not a multiple of 256, files are not larger than llama.cpp's. (For q4_0 all matrices have the
# type; llama.cpp does this with --pure.)
for shape, sizes in THEIRS.items():
    for kind, size in sizes.items():
        status, said = run([HOST, "synth", "--shape", shape, "--type", kind, "--hollow", "-o", OTHER])
        ours = sum(n for _, n in segments(OTHER)) / (1 << 20) if status == 0 else 0
        tap.ok(0.97 < ours / size < 1.03, f"{shape} in {kind}: {ours:.2f} MiB of weights, llama.cpp {size:.2f}", said)

# Each limit is at least 100 KiB away from the sizes at which the advice changes.
for kind, words, wanted in (
        ("f32", [], "take --type f16: the best type that fits into memory"),
        ("q8_0", [], "keep the present type"),  # a larger type would not bring back what was lost
        ("q4_0", [], "keep the present type"),
        ("q5_k", [], "keep the present type"),  # it already fits into memory, so a smaller type would only lose precision
        ("q8_0", ["--ram", "6M"], "take --type q6_k: the best type that fits into memory"),
        ("q8_0", ["--ram", "5M"],
         "take --type q3_k: nothing larger fits; ingot pack --report tells what it loses"),
        ("q8_0", ["--ram", "3500K", "-c", "128"], "take --type iq4_nl: it reads the fewest bytes per token"),
        ("q3_k", ["--ram", "5M"], "keep the present type"),
        ("q3_k", ["--ram", "3500K", "-c", "128"], "keep the present type")):
    pack(WIDE, MODEL, "--type", kind)
    _, choice, said = fit(*words)
    plain, _, divided = choice.partition("; the same size loses less with ")
    tap.ok(plain == wanted and bool(divided) == (plain.startswith("take") and "f16" not in plain), f"{kind} {' '.join(words)}: {choice}", said)
    if divided:
        pack(WIDE, MODEL, "--type", plain.split()[2].rstrip(":"))
        limit = int(divided.rpartition(" ")[2])
        status, said = pack(WIDE, OTHER, *divided.split())
        tap.ok(status == 0 and os.path.getsize(MODEL) == limit >= os.path.getsize(OTHER), f"{divided}: {os.path.getsize(OTHER)} bytes", said)

# For a board, its RAM is the limit.
pack(WIDE, MODEL, "--type", "q8_0")
_, choice, said = fit("--board", "rpi4")
tap.ok(choice == "keep the present type" and "roofline" in said and "rpi4" in said, f"--board rpi4: {choice}", said)
_, choice, said = fit("--board", "zero2w")
tap.ok(choice == "keep the present type" and "rpi3" in said and "512.0 MiB of RAM" in said, "zero2w is the Pi 3's image with 512 MiB", said)
tap.done()
