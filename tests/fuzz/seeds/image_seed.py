#!/usr/bin/env python3
"""Write seeds for image_fuzz, OUT-...: header and sections of small models in the target's compact form, with every
kind of tokenizer, a template, factors of rotation, and a text at the end. usage: image_seed.py OUT"""
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from gguf_files import F32, I32, STRING, Gguf, text
from hf_files import random_model
from machine import HOST, WORK

HEAD = 488
SECTIONS = 216  # offset of the header's six entries of 24 bytes, each of which begins with offset and size
TEXT = "<|user|>\nab abab, 12 +3\u00e9 \u6c34</s>hell it's ".encode()
DIM, HIDDEN, HEADS = 32, 32, 2


def llama():
    g = Gguf("llama")
    for key, number in (("context_length", 64), ("embedding_length", DIM), ("block_count", 1),
                        ("feed_forward_length", HIDDEN), ("attention.head_count", HEADS)):
        g.u32("." + key, number)
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    return g


def weights(g, vocab):
    shapes = [("token_embd", vocab, DIM), ("output_norm", 0, DIM)]
    shapes += [(f"blk.0.{name}", rows, cols) for name, rows, cols in (
        ("attn_norm", 0, DIM), ("attn_q", DIM, DIM), ("attn_k", DIM, DIM), ("attn_v", DIM, DIM),
        ("attn_output", DIM, DIM), ("ffn_norm", 0, DIM), ("ffn_gate", HIDDEN, DIM),
        ("ffn_up", HIDDEN, DIM), ("ffn_down", DIM, HIDDEN))]
    for name, rows, cols in shapes:
        g.floats(name + ".weight", (rows, cols) if rows else (cols,), [1] * (max(rows, 1) * cols))


def by_score():
    g, tokens = llama(), ["<unk>", "<s>", "</s>", "<|user|>", "<|assistant|>", "<0x0A>", "\u2581",
                          "a", "b", "ab", "\u2581ab", "\u6c34"]
    g.string("tokenizer.ggml.model", "llama")
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t in tokens])
    g.array("tokenizer.ggml.scores", F32, [struct.pack("<f", -i) for i in range(len(tokens))])
    g.array("tokenizer.ggml.token_type", I32,
            [struct.pack("<i", k) for k in (2, 3, 3, 3, 4, 6, 1, 1, 1, 1, 1, 1)])
    g.string("tokenizer.chat_template",
             "{{ '<|user|>\n' + message['content'] + eos_token }}{{ '<|assistant|>\n' }}")
    weights(g, len(tokens))
    return g


def byte_level(pre):
    letters = [chr(c) for c in range(33, 127)] + ["\u0120", "\u010a", "\u00c3", "\u00a9"]
    merges = ["a b", "ab ab", "\u0120 a", "h e", "l l", "he ll", "1 2", "\u00c3 \u00a9"]
    tokens = letters + [m.replace(" ", "") for m in merges] + ["<s>", "</s>", "<|im_start|>",
                                                               "<|im_end|>"]
    g = llama()
    g.string("tokenizer.ggml.model", "gpt2")
    g.string("tokenizer.ggml.pre", pre)
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t in tokens])
    g.array("tokenizer.ggml.token_type", I32,
            [struct.pack("<i", k) for k in [1] * (len(tokens) - 4) + [3, 3, 4, 3]])
    g.array("tokenizer.ggml.merges", STRING, [text(m) for m in merges])
    for key, token in (("bos", "<s>"), ("eos", "</s>")):
        g.u32(f"tokenizer.ggml.{key}_token_id", tokens.index(token))
    g.string("tokenizer.chat_template", "{{ '<|im_start|>' + message['role'] + '\n' + "
             "message['content'] + '<|im_end|>' + '\n' }}")
    weights(g, len(tokens))
    return g


def compact(path):
    """The header and sections in the compact form, from which image_fuzz builds an image again."""
    with open(path, "rb") as f:
        raw = f.read()
    out = bytearray(raw[:HEAD])
    out[0] = 0
    for i in range(6):
        offset, size = struct.unpack_from("<QQ", raw, SECTIONS + 24 * i)
        out += raw[offset:offset + size]
    return bytes(out) + TEXT


os.makedirs(WORK, exist_ok=True)
models = {"score": by_score(), "words": byte_level("llama-bpe"), "digits": byte_level("smollm"),
          "deepseek": byte_level("deepseek-v3"), "tekken": byte_level("tekken")}
folders = {name: random_model(name, "fuzz-") for name in ("gemma3", "phi3", "gpt2")}
for name in list(models) + list(folders):
    packed = os.path.join(WORK, f"fuzz-seed-{os.getpid()}")
    if name in models:
        models[name].write(packed + ".gguf")
    subprocess.run([HOST, "pack", folders.get(name, packed + ".gguf"), "-o", packed + ".ingot",
                    "--type", "q8_0", "-q"], check=True, timeout=60)
    with open(f"{sys.argv[1]}-{name}", "wb") as out:
        out.write(compact(packed + ".ingot"))
    for ending in (".gguf", ".ingot"):
        if os.path.exists(packed + ending):
            os.unlink(packed + ending)
