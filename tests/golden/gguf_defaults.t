#!/usr/bin/python3
"""Values that a GGUF file may omit: the logits are those of the file with the usual value written out, and differ from those with another value."""

import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import F32, I32, STRING, Gguf, read_gguf, text, tiny
from machine import ASSETS, HOST, WORK, Tap, run

ARCH = os.path.join(ASSETS, "arch")
PATH = os.path.join(WORK, "gguf-defaults.gguf")

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def logits(model, n=20):
    """(the logits or None, what was printed)"""
    out = os.path.join(WORK, "gguf-defaults.logits")
    model.write(PATH)
    status, console = run([HOST, "logits", PATH, "--tokens", " ".join(str(1 + i % 10) for i in range(n)),
                           "-n", "0", "-o", out, "-q", "--kv", "f32", "-t", "1", "--ctx", str(n + 44)])
    if status != 0:
        return None, console
    with open(out, "rb") as f:
        return f.read(), console


def usual(name, model, key, value, other):
    model.drop(key)
    omitted, console = logits(model)
    model.f32(key, value)
    given, _ = logits(model)
    model.f32(key, other)
    changed, _ = logits(model)
    model.drop(key)
    tap.ok(omitted is not None and omitted == given and omitted != changed,
           f"{name}: {key} is {value:g} if it is missing", console)


def tiny_of(family):
    model = tiny(family)[0]
    model.u32(".context_length", 8192)
    return model


def repeated(model, n):
    """Give the model n layers, by repeating its own."""
    layers = max(int(t[0].split(".")[1]) for t in model.tensors if t[0].startswith("blk.")) + 1
    own = [t for t in model.tensors if t[0].startswith("blk.")]
    model.tensors = [t for t in model.tensors if not t[0].startswith("blk.")]
    for i in range(n):
        for name, dims, kind, raw in own:
            _, layer, rest = name.split(".", 2)
            if int(layer) == i % layers:
                model.tensors.append([f"blk.{i}.{rest}", dims, kind, raw])
    model.u32(".block_count", n)


# ---- the rope -----------------------------------------------------------------------------------

def test_yarn():
    model = read_gguf(os.path.join(ARCH, "llama_hd.gguf"))
    model.string(".rope.scaling.type", "yarn")
    model.f32(".rope.scaling.factor", 4.0)
    model.u32(".rope.scaling.original_context_length", 512)
    usual("yarn", model, ".rope.scaling.yarn_beta_fast", 32.0, 16.0)
    usual("yarn", model, ".rope.scaling.yarn_beta_slow", 1.0, 4.0)


def test_linear():
    model = tiny_of("llama")
    plain, _ = logits(model)
    model.string(".rope.scaling.type", "linear")
    model.f32(".rope.scaling.factor", 4.0)
    new, _ = logits(model)
    model.drop(".rope.scaling.factor")
    model.f32(".rope.scale_linear", 4.0)
    old, console = logits(model)
    tap.ok(old is not None and old == new and old != plain, "rope.scale_linear is the old name of a factor",
           console)


# ---- scales and windows -------------------------------------------------------------------------

def test_scale(family, layers):
    """Gemma's largest models scale scores by the width divided by the heads, without saying so."""
    model = tiny_of(family)
    repeated(model, layers)
    heads = next(struct.unpack("<I", raw)[0] for key, _, raw in model.values if key.endswith(".head_count"))
    width = next(struct.unpack("<I", raw)[0] for key, _, raw in model.values if key.endswith(".embedding_length"))
    usual(f"{family}, {layers} layers", model, ".attention.scale", 1 / math.sqrt(width // heads), 0.01)


def test_gemma2_window():
    """The window shows only in texts longer than its 4096 tokens."""
    model = tiny_of("gemma2")
    model.drop(".attention.sliding_window")
    omitted, console = logits(model, 4100)
    model.u32(".attention.sliding_window", 4096)
    given, _ = logits(model, 4100)
    model.u32(".attention.sliding_window", 8192)
    none, _ = logits(model, 4100)
    tap.ok(omitted is not None and omitted == given and omitted != none,
           "gemma2: the window has 4096 tokens if it is missing", console)


def test_minicpm():
    model = read_gguf(os.path.join(ARCH, "minicpm.gguf"))
    get = {key: raw for key, _, raw in model.values}
    layers, width = (struct.unpack("<I", get["minicpm." + key])[0] for key in ("block_count", "embedding_length"))
    usual("minicpm", model, ".embedding_scale", 12.0, 6.0)
    usual("minicpm", model, ".residual_scale", 1.4 / math.sqrt(layers), 1.0)
    usual("minicpm", model, ".logit_scale", width / 256.0, 3.0)


def test_end_of_message():
    """The end of a message ends a reply, too."""
    model = tiny_of("llama")
    model.u32("tokenizer.ggml.eos_token_id", 3)
    model.u32("tokenizer.ggml.eom_token_id", 5)
    model.write(PATH)
    _, said = run([HOST, "info", PATH])
    stops = [line for line in said.splitlines() if line.startswith("stops at")]
    tap.ok(len(stops) == 1 and stops[0].split()[2::2] == ["3", "5"], "replies stop at eom_token_id", said[:600])


def test_output_bias():
    """A Llama's bias of the attention's output is found by its tensor."""
    plain, _ = logits(tiny_of("llama"))
    for value, equal in ((0.0, True), (0.5, False)):
        biased = tiny_of("llama")
        for name, dims, _, _ in list(biased.tensors):
            if name.endswith("attn_output.weight"):
                biased.floats(name.replace("weight", "bias"), (dims[1],), [value] * dims[1])
        ours, console = logits(biased)
        tap.ok(ours is not None and (ours == plain) == equal, f"llama: an output bias of {value:g}", console)


if os.path.isdir(ARCH) and os.path.isdir(os.path.join(ASSETS, "hf/tiny")):
    test_yarn()
    test_linear()
    test_scale("gemma2", 46)
    test_scale("gemma3", 62)
    test_gemma2_window()
    test_minicpm()
    test_output_bias()
    test_end_of_message()
else:
    tap.skip("values that GGUF files omit", "no models (set INGOT_ASSETS)")


# ---- BOS and EOS --------------------------------------------------------------------------------

def ids(change, words="a"):
    """The ids of a text, in a vocabulary of four pieces."""
    g = Gguf("llama")
    pieces, types = ["<unk>", "<s>", "</s>", "\u2581", "a", "\u2581a"], [2, 3, 3, 1, 1, 1]
    g.string("tokenizer.ggml.model", "llama")
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t in pieces])
    g.array("tokenizer.ggml.scores", F32, [struct.pack("<f", -i) for i in range(len(pieces))])
    g.array("tokenizer.ggml.token_type", I32, [struct.pack("<i", k) for k in types])
    g.u32("tokenizer.ggml.bos_token_id", 1)
    g.u32("tokenizer.ggml.eos_token_id", 2)
    change(g)
    g.write(PATH)
    return run([HOST, "tokenize", PATH, "-p", words, "--ids"])[1].split()


def t5(g, *more):
    g.string("tokenizer.ggml.model", "t5")
    for key in more:
        g.flag("tokenizer.ggml." + key, False)


for name, change, wanted in (
        ("SentencePiece begins with BOS", lambda g: None, "1 5"),
        ("SentencePiece without BOS", lambda g: g.flag("tokenizer.ggml.add_bos_token", False), "5"),
        ("SentencePiece with EOS", lambda g: g.flag("tokenizer.ggml.add_eos_token", True), "1 5 2"),
        ("Unigram ends with EOS", t5, "5 2"),
        ("Unigram without EOS", lambda g: t5(g, "add_eos_token"), "5")):
    got = ids(change)
    tap.ok(got == wanted.split(), f"{name}: {wanted}", got)
tap.done()
