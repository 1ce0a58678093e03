#!/usr/bin/python3
"""Weights of one and two bits: the logits of arch/'s files are compared with those of their dequantized weights, and have the same bits on every
ISA and with every chunk size; also tested are the types that replace them for unsupported columns and scales."""

import json
import os
import random
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import Gguf
from machine import ASSETS, HOST, WORK, Tap, run

tap = Tap()
os.makedirs(WORK, exist_ok=True)
OUT = os.path.join(WORK, "ternary.logits")
MODEL = os.path.join(WORK, "ternary.ingot")


def logits(path, ids, *words):
    status, said = run([HOST, "logits", path, "--tokens", " ".join(map(str, ids)), "-n", "0",
                        "--no-bos", "-o", OUT, "-q", *words])
    if status != 0:
        return None, said
    with open(OUT, "rb") as f:
        raw = f.read()
    return struct.unpack(f"<{len(raw) // 4}f", raw), said


def nmse(ours, theirs):
    return sum((a - b) ** 2 for a, b in zip(ours, theirs)) / sum(b * b for b in theirs)


def isas():
    found = [name for name in ("ref", "neon", "dotprod", "rv64gc", "rvv", "avx2", "avxvnni", "avx512",
                              "vnni") if run([HOST, "logits", MODEL, "--tokens", "1", "-n", "0", "-o", OUT, "-q", "--isa",
                     name])[0] == 0]
    return found


for name, kind, exact in (("q1_0", "q1_0", 1e-8), ("q2_0", "q2_0", 1e-8), ("tq1_0", "tq1_0", 1e-8),
                          ("tq2_0", "tq2_0", 1e-8)):
    gguf = os.path.join(ASSETS, f"arch/lowbit_{name}.gguf")
    if not os.path.exists(gguf):
        tap.skip(name, f"no {gguf} (set INGOT_ASSETS)")
        continue
    with open(gguf[:-4] + "json", encoding="utf-8") as f:
        reference = json.load(f)
    ids = reference["ids"]
    rows = [x for row in reference["logits"] for x in row]
    run([HOST, "pack", gguf, "-o", MODEL, "-q", "--type", "f32"])
    floats, said = logits(MODEL, ids, "--kv", "f32")
    ok = floats is not None and len(floats) == len(rows)
    tap.ok(ok and nmse(floats, rows) < exact,
           f"{name} as floats: NMSE {nmse(floats, rows) if ok else 'none':.2g} of {exact:g}", said)
    status, said = run([HOST, "pack", gguf, "-o", MODEL])
    tap.ok(status == 0 and (f"stored as {kind}" in said) == (name != kind),
           f"{name} is packed as {kind}" + (", which is said" if name != kind else ""), said)
    ours, said = logits(MODEL, ids, "--kv", "f32")
    theirs = reference["native_vs_exact"]["nmse"]
    ok = ours is not None and len(ours) == len(rows)
    tap.ok(ok and nmse(ours, rows) < max(1e-3, 1.3 * theirs),
           f"{name} with int8 activations: NMSE {nmse(ours, rows) if ok else 'none':.3g}, "
           f"llama.cpp's own {theirs:.3g}", said)
    same = [logits(MODEL, ids, "--kv", "f32", "--isa", isa, "--chunk", chunk)[0] == ours
            for isa in isas() for chunk in ("1", "5", "128")]
    tap.ok(len(same) >= 6 and all(same),
           f"{name}: the same bits on {len(same) // 3} ISAs, in chunks of 1, 5 and 128")


# ---- one layer, whose attn_q has the type in question ------------------------------------------

def halves(*values):
    return struct.pack(f"<{len(values)}e", *values)


def model(kind, columns, block, raw):
    """A model of floats, except attn_q, which has blocks of `block` columns; raw(i) makes the bytes of block i."""
    g = Gguf("llama")
    g.letters(16)
    for key, value in (("context_length", 64), ("embedding_length", columns), ("block_count", 1),
                       ("feed_forward_length", 64), ("attention.head_count", 2)):
        g.u32("." + key, value)
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    draw = random.Random(3)
    for name, dims in ((("token_embd", (columns, 16)), ("output_norm", (columns,)),
                        ("blk.0.attn_norm", (columns,)), ("blk.0.ffn_norm", (columns,)),
                        ("blk.0.attn_q", (columns, columns)), ("blk.0.attn_k", (columns, columns)),
                        ("blk.0.attn_v", (columns, columns)),
                        ("blk.0.attn_output", (columns, columns)),
                        ("blk.0.ffn_gate", (columns, 64)), ("blk.0.ffn_up", (columns, 64)),
                        ("blk.0.ffn_down", (64, columns)))):
        n = dims[0] * (dims[1] if len(dims) > 1 else 1)
        if name == "blk.0.attn_q":
            g.tensor(name + ".weight", dims, kind, b"".join(raw(i) for i in range(n // block)))
        else:
            g.floats(name + ".weight", dims[::-1], [draw.uniform(-.3, .3) for _ in range(n)])
    path = os.path.join(WORK, "ternary.gguf")
    g.write(path)
    return path


def noise(i, n):
    return random.Random(i).randbytes(n)


def two(n):
    """Blocks of n elements of two bits, with scales that depend on the block's number."""
    return lambda i: halves(.01 * (1 + i % 7)) + noise(i, n // 4)


def floats_of(path, *words):
    run([HOST, "pack", path, "-o", MODEL, "-q", *words])
    return logits(MODEL, [3, 7, 1, 9, 12], "--kv", "f32")


for kind, columns, block, raw, to, bound in (
        ("Q2_0", 320, 64, two(64), "q4_0", 1e-3),
        ("Q1_0", 384, 128, lambda i: halves(.02) + noise(i, 16), "q4_0", 1e-3),
        ("Q2_0", 256, 128, two(128), "q2_0", 1e-3),      # the form of a fork
        ("Q2_0", 384, 128, two(128), "q4_0", 1e-3)):
    path = model(kind, columns, block, raw)
    status, said = run([HOST, "pack", path, "-o", MODEL])
    exact, problem = floats_of(path, "--type", "f32")
    ours, _ = floats_of(path)
    both = ours is not None and exact is not None
    told = f"{kind} weights are stored as {to}, which has the same values in more bits" in said
    kept = re.search(rf"\battn_q +{to}\b", run([HOST, "info", MODEL])[1])
    tap.ok(both and told == (to == "q4_0") and kept and 0 < nmse(ours, exact) < bound,
           f"{kind} of {block} elements a scale and {columns} columns is {to}: NMSE "
           f"{nmse(ours, exact) if both else 'none':.2g} by int8 activations", said + problem)
# The same weights with a scale for each 64 elements: two neighbours have equal scales.
wide, said = floats_of(model("Q2_0", 256, 128, two(128)))
narrow, _ = floats_of(model("Q2_0", 256, 64, lambda i: halves(.01 * (1 + i // 2 % 7)) +
                            noise(i // 2, 32)[i % 2 * 16:][:16]))
tap.ok(wide is not None and wide == narrow,
       "Q2_0 of 128 elements a scale, told by its size, is that of 64 with each scale twice", said)
tap.done()
