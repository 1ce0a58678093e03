#!/usr/bin/python3
"""Compares Falcon-H1 with its definition in double precision: as a folder, whose multipliers the packer applies, and as a GGUF, whose
multipliers the converter has applied; with and without a norm, with tied and separate output."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import falcon_h1
from machine import HOST, WORK, Tap, run

IDS = [1, 5, 36, 9, 9, 2, 20, 17, 3, 11, 0, 30, 4, 4, 25, 13, 6]
BOUND = 1e-8

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def packed_logits(path, *options):
    model, out = os.path.join(WORK, "falcon_h1.ingot"), os.path.join(WORK, "falcon_h1.logits")
    status, console = run([HOST, "pack", path, "-o", model, *options])
    if status == 0:
        status, console = run([HOST, "logits", model, "--tokens", " ".join(map(str, IDS)), "-n", "0",
                               "-o", out, "-q", "--kv", "f32"])
    if status != 0:
        return [], console
    with open(out, "rb") as f:
        raw = f.read()
    return struct.unpack(f"<{len(raw) // 4}f", raw), console


def check(what, path, expected, *options, bound=BOUND):
    ours, console = packed_logits(path, *options)
    away = float("nan")
    if len(ours) == len(expected):
        away = sum((a - b) ** 2 for a, b in zip(ours, expected)) / sum(b * b for b in expected)
    tap.ok(away < bound, f"{what}: NMSE {away:.2g} of the definition, below {bound:g}", console)


def refused(what, *words, **changes):
    ours, console = packed_logits(falcon_h1.Model(**changes).folder("falcon_h1-bad"))
    tap.ok(not ours and all(w in console for w in words), f"refused: {what}", console)


for what, changes in (("as Falcon-H1 0.5B", {}), ("with a norm", {"mamba_rms_norm": True}),
                      ("tied", {"tie_word_embeddings": True})):
    model = falcon_h1.Model(**changes)
    expected = [x for row in falcon_h1.logits(model, IDS) for x in row]
    check(f"a folder {what}", model.folder("falcon_h1"), expected, "--type", "f32")
    if "tie_word_embeddings" not in changes:
        check(f"a GGUF {what}", falcon_h1.gguf(model, "falcon_h1.gguf"), expected, "--type", "f32")

model = falcon_h1.Model()
expected = [x for row in falcon_h1.logits(model, IDS) for x in row]
check("in Q8_0 the multiplied weights are what is rounded", model.folder("falcon_h1"), expected,
      "--type", "q8_0", bound=5e-3)
refused("a norm before the gate", "mamba_norm_before_gate", mamba_rms_norm=True,
        mamba_norm_before_gate=True)
refused("four multipliers of five", "ssm_multipliers", ssm_multipliers=[1.0] * 4)
refused("a multiplier that is not a number", "mlp_multipliers", mlp_multipliers=[1.0, "x"])
refused("steps of time that are clamped", "time_step_limit", time_step_limit=[0.0, 0.5])
refused("biases of the projections", "projectors_bias", projectors_bias=True)
tap.done()
