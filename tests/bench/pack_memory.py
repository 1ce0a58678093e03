#!/usr/bin/python3
"""Memory and time that the packer takes for a model of Llama 2 7B's shape, from a GGUF file in F16
and from a folder in BF16 whose weights lie in three files. The weights are holes in the files, that
is zeros: 13 GB that take no room, and as many bytes to read as real ones.
usage: pack_memory.py [--small]"""

import json
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


def shapes(m):
    """name of GGUF, name of Hugging Face, (rows, cols)"""
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


def elements(shape):
    return shape[0] * (shape[1] if len(shape) > 1 else 1)


def write_gguf(m, path):
    g = Gguf("llama")
    g.letters(0)
    g.array("tokenizer.ggml.tokens", 8, [text(f"t{i}") for i in range(m["vocab"])])
    g.array("tokenizer.ggml.scores", 6, [struct.pack("<f", 0)] * m["vocab"])
    g.array("tokenizer.ggml.token_type", 5, [struct.pack("<i", 1)] * m["vocab"])
    for key, value in (("context_length", 4096), ("embedding_length", m["dim"]),
                       ("block_count", m["layers"]), ("feed_forward_length", m["hidden"]),
                       ("attention.head_count", m["heads"])):
        g.u32("." + key, value)
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    values = b"".join(text(k) + struct.pack("<I", kind) + raw for k, kind, raw in g.values)
    table, at, n = b"", 0, 0
    for name, _, shape in shapes(m):
        kind, width = ("F32", 4) if len(shape) == 1 else ("F16", 2)
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


def peak(source, kind, out):
    """(exit status, kilobytes at most, seconds, what was said) of the packer"""
    start = time.monotonic()
    child = subprocess.Popen([HOST, "pack", source, "-o", out, "--type", kind, "-q"],
                             stderr=subprocess.PIPE)
    said = child.stderr.read().decode(errors="replace")
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_maxrss, time.monotonic() - start, said


def measure(m, kind):
    """(what, bytes of weights, the packer's peak) of both kinds of input."""
    os.makedirs(WORK, exist_ok=True)
    out = os.path.join(WORK, "pack-memory.ingot")
    for what, name, write in (("GGUF, F16", "pack-memory.gguf", write_gguf),
                              ("folder, BF16", "pack-memory", write_folder)):
        source = os.path.join(WORK, name)
        total = write(m, source)
        yield (what, total, *peak(source, kind, out))
        for path in (out, source):
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.unlink(path)


if __name__ == "__main__":
    failed = False
    for words in measure(SMALL if "--small" in sys.argv else LARGE, "q4_k_m"):
        what, total, status, kilobytes, seconds, said = words
        print(f"{what}, {total / 1e9:.1f} GB to q4_k_m: at most {kilobytes / 1024:.0f} MiB of "
              f"memory, {seconds:.0f} s {said}", flush=True)
        failed = failed or status != 0 or kilobytes > 1e6
    sys.exit(failed)
