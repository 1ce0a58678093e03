#!/usr/bin/python3
"""Models of every architecture as GGUF files with random weights (models/arch): logits equal those of llama.cpp in F32, or those of the weights
that blocks represent. With `pack --type f32` and `--kv f32` only the order of sums differs."""

import glob
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ASSETS, HOST, WORK, Tap, run

FOLDER = os.path.join(ASSETS, "arch")
WORST, WORST_RECURRENT = 1e-8, 1e-7
RECURRENT = ("qwen35", "qwen35moe", "granitehybrid", "falcon-h1", "nemotron_h")
REFUSED = ()
CONTEXT = "256"           # the context of the reference

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def architecture(path):
    """The first text after the key `general.architecture`, with which every file here begins."""
    with open(path, "rb") as f:
        raw = f.read(4096)
    at = raw.index(b"general.architecture") + len(b"general.architecture") + 4
    size = struct.unpack_from("<Q", raw, at)[0]
    return raw[at + 8:at + 8 + size].decode()


def logits(model, ids, *options):
    """(the bytes of the file or None, the output)"""
    out = os.path.join(WORK, "architecture.logits")
    status, console = run([HOST, "logits", model, "--tokens", " ".join(map(str, ids)), "-n", "0",
                           "-o", out, "-q", "--ctx", CONTEXT, "--kv", "f32", *options])
    if status != 0:
        return None, console
    with open(out, "rb") as f:
        return f.read(), console


def nmse(raw, expected):
    """NMSE of all positions together: the sum of squared differences divided by the sum of squares."""
    ours = struct.unpack(f"<{len(raw) // 4}f", raw)
    theirs = [x for row in expected for x in row]
    if len(ours) != len(theirs):
        return float("nan")
    return (sum((a - b) ** 2 for a, b in zip(ours, theirs)) / sum(b * b for b in theirs))


def with_limit(path, limit):
    """A copy of phi3_long whose long factors begin beyond `limit` tokens. For the reference, llama.cpp used the
    long factors because the run's context was longer than the file's limit; here, as in Transformers, the
    sequence itself must be longer."""
    key = b"phi3.rope.scaling.original_context_length"
    copy = os.path.join(WORK, "architecture-" + os.path.basename(path))
    with open(path, "rb") as f:
        raw = bytearray(f.read())
    struct.pack_into("<I", raw, raw.index(key) + len(key) + 4, limit)
    with open(copy, "wb") as f:
        f.write(raw)
    return copy


def test_model(name, path, reference):
    if name == "phi3_long":
        path = with_limit(path, len(reference["ids"]) - 1)
    model = os.path.join(WORK, f"architecture-{name}.ingot")
    status, console = run([HOST, "pack", path, "-o", model, "--type", "f32", "-q"])
    if not tap.ok(status == 0, f"{name}: packed", console):
        return
    status, console = run([HOST, "pack", path, "-o", model + ".f16", "--type", "f16", "-q"])
    status, console = (status, console) if status else run([HOST, "verify", model + ".f16"])
    tap.ok(status == 0, f"{name}: as F16 it is verified", console)
    os.remove(model + ".f16")
    raw, console = logits(model, reference["ids"], "-t", "1")
    if not tap.ok(raw is not None, f"{name}: computed", console):
        return
    worst = WORST_RECURRENT if architecture(path) in RECURRENT else WORST
    away = nmse(raw, reference["logits"])
    tap.ok(away < worst, f"{name}: {away:.2g} NMSE from the reference, {worst:g} at most")
    again, console = logits(model, reference["ids"], "-t", "3", "--chunk", "5")
    tap.ok(again == raw, f"{name}: the same bits with 3 threads in chunks of 5", console)
    os.remove(model)


def test_usual_magnitude(path):
    """If the file lacks Phi's factor of cosines and sines, the factor is computed from the growth of the context; the result equals the
    file's value."""
    key = b"phi3.rope.scaling.attn_factor"
    with open(path, "rb") as f:
        raw = f.read()
    images = []
    for model in (raw, raw.replace(key, b"else" + key[4:])):
        changed = os.path.join(WORK, "architecture-phi3.gguf")
        with open(changed, "wb") as f:
            f.write(model)
        run([HOST, "pack", changed, "-o", changed + ".ingot", "-q"])
        with open(changed + ".ingot", "rb") as f:
            images.append(f.read())
        os.remove(changed + ".ingot")
    tap.ok(key in raw and images[0] == images[1], "phi3: the usual factor of the rope's magnitude")


files = sorted(p for p in glob.glob(os.path.join(FOLDER, "*.gguf"))
               if not os.path.basename(p).startswith("lora_"))
for path in files:
    name = os.path.basename(path)[:-5]
    reference = path[:-5] + ".json"
    if architecture(path) in REFUSED:
        status, console = run([HOST, "pack", path, "-o", os.devnull, "-q"])
        tap.ok(status != 0 and f"'{architecture(path)}' is not supported" in console,
               f"{name}: refused by name", console)
    elif not os.path.exists(reference):
        tap.skip(name, f"no {reference}")
    else:
        with open(reference, encoding="utf-8") as f:
            test_model(name, path, json.load(f))
PHI3 = os.path.join(FOLDER, "phi3_short.gguf")
if os.path.exists(PHI3):
    test_usual_magnitude(PHI3)
if not files:
    tap.skip("models of every architecture", f"no {FOLDER} (set INGOT_ASSETS)")
tap.done()
