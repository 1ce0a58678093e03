#!/usr/bin/python3
"""Models of every family, as Hugging Face folders: logits against Transformers' own.

Transformers rounds no keys and values: the comparison is with kv=f32."""

import json
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ASSETS, HOST, WORK, Tap, run

TINY = os.path.join(ASSETS, "hf/tiny")
TOLERANCE = 1e-4

tap = Tap()
if not os.path.exists(TINY):
    tap.skip("the families", f"no {TINY} (set INGOT_ASSETS)")
    tap.done()


def load(name):
    with open(os.path.join(TINY, name)) as f:
        return json.load(f)


def gpt2_config():
    """The fixture has its sizes beside the logits, in short names."""
    short = load("tiny_gpt2_logits.json")["config"]
    return {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": short["n_embd"],
            "n_head": short["n_head"], "n_layer": short["n_layer"], "n_positions": short["n_ctx"],
            "vocab_size": short["vocab"]}


def make_folder(family, sharded=False):
    """The fixture's files under the names that a published model has."""
    folder = os.path.join(WORK, f"hf-{family}{'-sharded' if sharded else ''}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    config = gpt2_config() if family == "gpt2" else load(f"tiny_{family}_config.json")
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config, f)
    if not sharded:
        shutil.copy(os.path.join(TINY, f"tiny_{family}.safetensors"),
                    os.path.join(folder, "model.safetensors"))
        return folder
    index = load(f"tiny_{family}.safetensors.index.json")
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
        json.dump(index, f)
    for name in set(index["weight_map"].values()):
        shutil.copy(os.path.join(TINY, name), folder)
    return folder


def logits(model, tokens, vocab, *options):
    out = os.path.join(WORK, "families.logits")
    status, console = run([HOST, "logits", model, "--tokens", " ".join(map(str, tokens)), "-o",
                           out, "-q", "--kv", "f32", *options])
    if status != 0:
        return None, console
    with open(out, "rb") as f:
        raw = f.read()
    values = struct.unpack(f"<{len(raw) // 4}f", raw)
    return [values[i:i + vocab] for i in range(0, len(values), vocab)], console


def largest_difference(model, reference, *options):
    worst = 0.0
    for tokens, expected in zip(reference["sequences"], reference["logits"]):
        rows, console = logits(model, tokens, len(expected[0]), *options)
        if rows is None or len(rows) != len(expected):
            return float("nan"), console
        worst = max([worst] + [abs(a - b) for x, y in zip(rows, expected) for a, b in zip(x, y)])
    return worst, ""


FIXTURES = [("llama", False), ("llama", True), ("qwen2", False), ("qwen3", False),
            ("gemma2", False), ("gemma3", False), ("phi3", False), ("gpt2", False)]
for family, sharded in FIXTURES:
    name = family + (" in two files" if sharded else "")
    folder = make_folder(family, sharded)
    model = folder + ".ingot"
    status, console = run([HOST, "pack", folder, "-o", model])
    if not tap.ok(status == 0, f"{name}: packed", console):
        continue
    worst, console = largest_difference(model, load(f"tiny_{family}_logits.json"))
    tap.ok(worst <= TOLERANCE, f"{name}: logits within {TOLERANCE:g} of Transformers' (largest "
           f"difference {worst:.2g})", console)
tap.done()
