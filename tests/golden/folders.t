#!/usr/bin/python3
"""GGUF files of models/arch as the Hugging Face folders that they could have been converted from: the logits are again llama.cpp's."""

import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hf_from_gguf import FAMILIES, Model, make_folder
from machine import ASSETS, HOST, WORK, Tap, run

ARCH = os.path.join(ASSETS, "arch")
BOUND, RECURRENT_BOUND = 1e-8, 1e-7
CONTEXT = "256"  # the context of the references: for one model its short factors apply

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def logits(model, ids):
    out = os.path.join(WORK, "folders.logits")
    status, console = run([HOST, "logits", model, "--tokens", " ".join(map(str, ids)), "-n", "0",
                           "-o", out, "-q", "--ctx", CONTEXT, "--kv", "f32"])
    if status != 0:
        return [], console
    with open(out, "rb") as f:
        raw = f.read()
    return struct.unpack(f"<{len(raw) // 4}f", raw), console


def nmse(ours, rows):
    theirs = [x for row in rows for x in row]
    if len(ours) != len(theirs):
        return float("nan")
    return sum((a - b) ** 2 for a, b in zip(ours, theirs)) / sum(b * b for b in theirs)


def with_exceptions(folder):
    """Write the widths of Gemma 4's global layers as Transformers 5 does: as exceptions of these layers."""
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as f:
        config = json.load(f)
    text = config["text_config"]
    width = text.pop("global_head_dim")
    text["per_layer_config"] = {str(i): {"head_dim": width}
                                for i, kind in enumerate(text["layer_types"])
                                if kind == "full_attention"}
    with open(path, "w", encoding="utf-8") as f:
        json.dump(config, f)


def test_folder(name, change=None, how=""):
    path = os.path.join(ARCH, name + ".gguf")
    with open(path[:-5] + ".json", encoding="utf-8") as f:
        reference = json.load(f)
    model = os.path.join(WORK, "folders.ingot")
    folder = make_folder(path, name)
    if change is not None:
        change(folder)
    name += how
    status, console = run([HOST, "pack", folder, "--type", "f32", "-o", model])
    if not tap.ok(status == 0, f"{name}: packed", console):
        return
    ours, console = logits(model, reference["ids"])
    bound = RECURRENT_BOUND if Model(path).get("ssm.conv_kernel") else BOUND
    away = nmse(ours, reference["logits"])
    tap.ok(away < bound, f"{name}: NMSE {away:.2g} of the GGUF's reference, below {bound:g}", console)
    os.remove(model)


for name in sorted(FAMILIES):
    if os.path.exists(os.path.join(ARCH, name + ".gguf")):
        test_folder(name)
    else:
        tap.skip(name, f"no {name}.gguf in {ARCH} (set INGOT_ASSETS)")
if os.path.exists(os.path.join(ARCH, "gemma4.gguf")):
    test_folder("gemma4", with_exceptions, " as Transformers 5 writes it")
tap.done()
