#!/usr/bin/python3
"""Measures the packer's memory and time for a model of Llama 2 7B's shape, from a GGUF file in F16 and from a folder
in BF16 with weights in three files, and for a mixture of Qwen3-30B-A3B's shape. The weights are holes in the files:
13 and 61 GB of zeros that take no disk space, but must be read like real weights.
usage: pack_memory.py [--small] [--mixture]"""

import json
import math
import os
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import TYPES, Gguf, text
from machine import HOST, WORK

LARGE = {"dim": 4096, "hidden": 11008, "layers": 32, "heads": 32, "vocab": 32000}
SMALL = {"dim": 512, "hidden": 1536, "layers": 8, "heads": 8, "vocab": 2048}
MIXTURE = {"dim": 2048, "hidden": 768, "layers": 48, "heads": 32, "kv_heads": 4, "head_dim": 128, "vocab": 151936,
           "experts": 128, "used": 8}
SMALL_MIXTURE = {"dim": 256, "hidden": 256, "layers": 8, "heads": 4, "kv_heads": 2, "head_dim": 64, "vocab": 2048,
                 "experts": 16, "used": 2}
MIXED = ("q6_k", "--experts-type", "q3_k")


def shapes(m):
    """GGUF's name, Hugging Face's name, (rows, cols)"""
    d, h = m["dim"], m["hidden"]
    yield "token_embd", "model.embed_tokens", (m["vocab"], d)
    for i in range(m["layers"]):
        at, there = f"blk.{i}.", f"model.layers.{i}."
        yield at + "attn_norm", there + "input_layernorm", (d,)
        for short, name in (("q", "q"), ("k", "k"), ("v", "v"), ("output", "o")):
            yield at + "attn_" + short, f"{there}self_attn.{name}_proj", (d, d)
        yield at + "ffn_norm", there + "post_attention_layernorm", (d,)
        yield at + "ffn_gate", there + "mlp.gate_proj", (h, d)
        yield at + "ffn_up", there + "mlp.up_proj", (h, d)
        yield at + "ffn_down", there + "mlp.down_proj", (d, h)
    yield "output_norm", "model.norm", (d,)
    yield "output", "lm_head", (m["vocab"], d)


def mixture_shapes(m):
    """GGUF's name, None, the shape"""
    d, h, n = m["dim"], m["hidden"], m["experts"]
    queries, keys = m["heads"] * m["head_dim"], m["kv_heads"] * m["head_dim"]
    yield "token_embd", None, (m["vocab"], d)
    for i in range(m["layers"]):
        for name, shape in (("attn_norm", (d,)), ("attn_q", (queries, d)), ("attn_k", (keys, d)),
                            ("attn_v", (keys, d)), ("attn_q_norm", (m["head_dim"],)),
                            ("attn_k_norm", (m["head_dim"],)), ("attn_output", (d, queries)),
                            ("ffn_norm", (d,)), ("ffn_gate_inp", (n, d)), ("ffn_gate_exps", (n, h, d)),
                            ("ffn_up_exps", (n, h, d)), ("ffn_down_exps", (n, d, h))):
            yield f"blk.{i}.{name}", None, shape
    yield "output_norm", None, (d,)
    yield "output", None, (m["vocab"], d)


def elements(shape):
    return math.prod(shape)


def write_gguf(m, path):
    mixture = "experts" in m
    g = Gguf("qwen3moe" if mixture else "llama")
    g.letters(0)
    g.array("tokenizer.ggml.tokens", 8, [text(f"t{i}") for i in range(m["vocab"])])
    g.array("tokenizer.ggml.scores", 6, [struct.pack("<f", 0)] * m["vocab"])
    g.array("tokenizer.ggml.token_type", 5, [struct.pack("<i", 1)] * m["vocab"])
    for key, value in (("context_length", 4096), ("embedding_length", m["dim"]),
                       ("block_count", m["layers"]), ("feed_forward_length", m["hidden"]),
                       ("attention.head_count", m["heads"])):
        g.u32("." + key, value)
    for key, value in (("attention.head_count_kv", "kv_heads"), ("attention.key_length", "head_dim"),
                       ("attention.value_length", "head_dim"), ("expert_count", "experts"),
                       ("expert_used_count", "used"), ("expert_feed_forward_length", "hidden")):
        if mixture:
            g.u32("." + key, m[value])
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    values = b"".join(text(k) + struct.pack("<I", kind) + raw for k, kind, raw in g.values)
    table, at, n = b"", 0, 0
    for name, _, shape in mixture_shapes(m) if mixture else shapes(m):
        exact = len(shape) == 1 or name.endswith("ffn_gate_inp")
        kind, width = ("F32", 4) if exact else ("F16", 2)
        table += text(name + ".weight") + struct.pack("<I", len(shape))
        table += b"".join(struct.pack("<Q", x) for x in shape[::-1])
        table += struct.pack("<IQ", TYPES[kind], at)
        at, n = at + elements(shape) * width, n + 1
    with open(path, "wb") as f:
        f.write(struct.pack("<4sIQQ", b"GGUF", 3, n, len(g.values)) + values + table)
        f.truncate((f.tell() + 31) // 32 * 32 + at)
    return at


def write_folder(m, path):
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama",
              "hidden_size": m["dim"], "intermediate_size": m["hidden"],
              "num_hidden_layers": m["layers"], "num_attention_heads": m["heads"],
              "num_key_value_heads": m["heads"], "vocab_size": m["vocab"], "rms_norm_eps": 1e-5,
              "max_position_embeddings": 4096, "tie_word_embeddings": False}
    with open(os.path.join(path, "config.json"), "w") as f:
        json.dump(config, f)
    files, names = [{}, {}, {}], {}
    everything = list(shapes(m))
    for i, (_, name, shape) in enumerate(everything):
        files[i * 3 // len(everything)][name + ".weight"] = shape
    total = 0
    for i, tensors in enumerate(files):
        file, at, header = f"model-{i + 1:05}-of-00003.safetensors", 0, {}
        for name, shape in tensors.items():
            size = 2 * elements(shape)
            header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
            names[name] = file
            at += size
        raw = json.dumps(header).encode()
        with open(os.path.join(path, file), "wb") as f:
            f.write(struct.pack("<Q", len(raw)) + raw)
            f.truncate(8 + len(raw) + at)
        total += at
    with open(os.path.join(path, "model.safetensors.index.json"), "w") as f:
        json.dump({"weight_map": names}, f)
    return total


def peak(source, out, kind, *options):
    """(exit status, most kilobytes, seconds, output) of the packer"""
    start = time.monotonic()
    child = subprocess.Popen([HOST, "pack", source, "-o", out, "--type", kind, *options, "-q"],
                             stderr=subprocess.PIPE)
    said = child.stderr.read().decode(errors="replace")
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_maxrss, time.monotonic() - start, said


def measure(m, *kind):
    """A row for each kind of input: its name, the bytes of its weights, the packer's peak."""
    os.makedirs(WORK, exist_ok=True)
    out = os.path.join(WORK, "pack-memory.ingot")
    inputs = (("GGUF, F16", "pack-memory.gguf", write_gguf), ("folder, BF16", "pack-memory", write_folder))
    if "experts" in m:
        inputs = (("mixture, GGUF, F16", "pack-memory.gguf", write_gguf),)
    for what, name, write in inputs:
        source = os.path.join(WORK, name)
        total = write(m, source)
        yield (what, total, *peak(source, out, *kind))
        for path in (out, source):
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.unlink(path)


if __name__ == "__main__":
    failed, small = False, "--small" in sys.argv
    jobs = [(SMALL_MIXTURE if small else MIXTURE, MIXED)]
    if "--mixture" not in sys.argv:
        jobs.insert(0, (SMALL if small else LARGE, ("q4_k_m",)))
    for model, types in jobs:
        for what, total, status, kilobytes, seconds, said in measure(model, *types):
            print(f"{what}, {total / 1e9:.1f} GB to {' '.join(types)}: at most {kilobytes / 1024:.0f} MiB of "
                  f"memory, {seconds:.0f} s {said}", flush=True)
            failed = failed or status != 0 or kilobytes > 1e6
    sys.exit(failed)
