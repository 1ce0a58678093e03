#!/usr/bin/python3
"""Types whose nibbles are indices of a table: logits of files in IQ4_NL, IQ4_XS and MXFP4 are compared with those of their dequantized weights,
in decode and in prefill; the packer's messages about them; perplexity and error of the packer's own quantization."""

import json
import os
import re
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from gguf_files import Gguf
from machine import ASSETS, HOST, WORK, Tap, pack, run

tap = Tap()


def rows_of(path, vocab):
    with open(path, "rb") as f:
        raw = f.read()
    values = struct.unpack(f"<{len(raw) // 4}f", raw)
    return [values[i:i + vocab] for i in range(0, len(values), vocab)]


def nmse(ours, theirs):
    pairs = [(a, b) for x, y in zip(ours, theirs) for a, b in zip(x, y)]
    return sum((a - b) ** 2 for a, b in pairs) / sum(b * b for _, b in pairs)


def logits(model, ids, *more):
    out = model + ".logits"
    status, said = run([HOST, "logits", model, "--tokens", " ".join(map(str, ids)), "--no-bos", "-n",
                        "1", "-o", out, "-q", "--kv", "f32", *more])
    return rows_of(out, 512)[:len(ids)] if status == 0 else said


for name, to in (("iq4_nl", "iq4_nl"), ("iq4_xs", "iq4_xs"), ("mxfp4", "mxfp4")):
    gguf = os.path.join(ASSETS, f"arch/lowbit_{name}.gguf")
    if not os.path.exists(gguf):
        tap.skip(name, f"no {gguf}")
        continue
    with open(gguf[:-5] + ".json", encoding="utf-8") as f:
        reference = json.load(f)
    model = {kind: os.path.join(WORK, f"table-{name}-{kind}.ingot") for kind in ("f32", "own")}
    run([HOST, "pack", gguf, "-o", model["f32"], "--type", "f32", "-q"])
    _, words = run([HOST, "pack", gguf, "-o", model["own"]])
    tap.ok("stored as" not in words, f"{name}: is kept", words)
    _, info = run([HOST, "info", model["own"]])
    tap.ok(re.search(rf"\b{to}\b", info.split("\n", 1)[-1]), f"{name}: info names {to}", info)
    exact = reference["logits"]
    floats = logits(model["f32"], reference["ids"])
    tap.ok(nmse(floats, exact) < 1e-8, f"{name} as floats: NMSE {nmse(floats, exact):.2g}")
    ours = logits(model["own"], reference["ids"])
    theirs = reference["native_vs_exact"]["nmse"]
    tap.ok(nmse(ours, exact) < 1e-3 and nmse(ours, exact) < 1.3 * theirs,
           f"{name} with int8 activations: NMSE {nmse(ours, exact):.3g}, llama.cpp's own {theirs:.3g}")
    tap.ok(logits(model["own"], reference["ids"], "--chunk", "1") == ours and
           logits(model["own"], reference["ids"], "--isa", "ref") == ours,
           f"{name}: decode gives the bits of prefill, and so does the reference")


def scales(name, to, exponent):
    """A model of zeros except for one MXFP4 matrix of ones times 2^(exponent - 128)."""
    g = Gguf("llama")
    g.letters(12)
    for key, value in (("context_length", 64), ("embedding_length", 64), ("block_count", 1),
                       ("feed_forward_length", 64), ("attention.head_count", 4)):
        g.u32("." + key, value)
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    shapes = [("token_embd", (64, 12)), ("output_norm", (64,)), ("blk.0.attn_norm", (64,)),
              ("blk.0.ffn_norm", (64,))]
    shapes += [("blk.0." + n, (64, 64)) for n in ("attn_k", "attn_v", "attn_output", "ffn_gate",
                                                  "ffn_up", "ffn_down")]
    for tensor, dims in shapes:
        g.tensor(tensor + ".weight", dims, "F32", bytes(4 * dims[0] * (dims + (1,))[1]))
    g.tensor("blk.0.attn_q.weight", (64, 64), "MXFP4", (bytes([exponent]) + bytes([0x11] * 16)) * 128)
    path = os.path.join(WORK, "table-scales.gguf")
    g.write(path)
    status, words = run([HOST, "pack", path, "-o", path + ".ingot"])
    _, info = run([HOST, "info", path + ".ingot"])
    told = "MXFP4 weights are stored as f32," in words
    tap.ok(status == 0 and told == (to == "f32") and re.search(rf"\battn_q +{to}\b", info), f"{name}: {to}", words + info)


scales("the least scale that fp16 holds", "mxfp4", 104)
scales("half of it", "f32", 103)
scales("the largest", "mxfp4", 143)
scales("twice that", "f32", 144)

SOURCE = os.path.join(ASSETS, "gguf/stories260K.gguf")
FOLDER = os.path.join(ASSETS, "hf/TinyStories-656K")
TEXT = os.path.join(ASSETS, "text/tinystories-eval-64K.txt")


def perplexity(job):
    source, kind = job
    model = pack(source, kind, f"table-{os.path.basename(source)}-{kind}.ingot")
    status, out = run([HOST, "perplexity", model, "-f", TEXT, "-q", "-t", "1"], timeout=300)
    found = re.search(r"^perplexity ([\d.]+) ", out, re.M)
    return float(found.group(1)) if status == 0 and found else float("nan")


# The first model has 64 and 172 columns, where iq4_nl and q8_0 replace fig4; the second has 128 and 384 columns.
for source, name, most in ((SOURCE, "stories260K", {"iq4_nl": 1.08, "mxfp4": 1.2}),
                           (FOLDER, "TinyStories-656K",
                            {"iq4_nl": 1.15, "fig4": 1.15, "mxfp4": 1.2})):
    if not os.path.exists(source) or not os.path.exists(TEXT):
        tap.skip("perplexity of " + name, f"no {source} or {TEXT}")
        continue
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        kinds = ["f32", "q4_0", *most]
        figures = dict(zip(kinds, pool.map(perplexity, [(source, kind) for kind in kinds])))
    for kind in kinds:
        tap.note(f"{name} {kind:7} perplexity {figures[kind]:.4f}")
    for kind, bound in most.items():
        tap.ok(figures[kind] / figures["f32"] < bound,
               f"{name} {kind}: {100 * (figures[kind] / figures['f32'] - 1):.1f} % above F32",
               figures[kind])
tap.done()
