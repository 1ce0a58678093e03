#!/usr/bin/python3
"""Folders whose weights are quantized as their models are published: gpt-oss in MXFP4, BitNet in bytes of
four ternary weights. The same bits as from a GGUF of the same weights, or from a folder of floats."""

import array
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import LLAMA_NAMES, Gguf, gguf_name, set_params
from hf_files import folder, safetensors, write_json
from hf_from_gguf import make_folder
from machine import ASSETS, HOST, WORK, Tap, run

GPT_OSS = os.path.join(ASSETS, "arch/gptoss_mxfp4.gguf")
IDS = "1 5 9 2 20 17 3 11"

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def logits(path, *options):
    """The bytes of all logits of the model packed with these options, and what was said."""
    model, out = os.path.join(WORK, "quantized.ingot"), os.path.join(WORK, "quantized.logits")
    status, packed = run([HOST, "pack", path, "-o", model, *options])
    if status != 0:
        return None, packed
    status, console = run([HOST, "logits", model, "--tokens", IDS, "-n", "0", "-o", out, "-q"])
    if status != 0:
        return None, console
    with open(out, "rb") as f:
        return f.read(), packed


def refused(path, *words):
    """The sentence, if it has all words."""
    raw, console = logits(path)
    return raw is None and all(w in console for w in words), console


# ---- gpt-oss ------------------------------------------------------------------------------------

if os.path.exists(GPT_OSS):
    published = make_folder(GPT_OSS, "gptoss_mxfp4")
    for options in ((), ("--type", "mxfp4"), ("--type", "q8_0")):
        ours, console = logits(published, *options)
        theirs, _ = logits(GPT_OSS, *options)
        tap.ok(ours is not None and ours == theirs,
               f"gpt-oss: the GGUF's bits with {' '.join(options) or 'its own types'}", console)
    logits(published)
    info = run([HOST, "info", os.path.join(WORK, "quantized.ingot")])[1]
    tap.ok("expert_down        mxfp4" in info, "gpt-oss: experts are kept in MXFP4", info)
else:
    tap.skip("gpt-oss", f"no {GPT_OSS} (set INGOT_ASSETS)")


# ---- BitNet -------------------------------------------------------------------------------------

CONFIG = {"architectures": ["BitNetForCausalLM"], "model_type": "bitnet", "hidden_act": "relu2",
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "vocab_size": 32, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
          "rope_theta": 500000.0, "tie_word_embeddings": True}
AUTO = {"quant_method": "bitnet", "linear_class": "autobitlinear", "quantization_mode": "offline"}


def bf16(x):
    return struct.pack("<f", x)[2:]


def rounded(x):
    return struct.unpack("<f", b"\0\0" + bf16(x))[0]


class BitNet:
    """norms: floats by name; matrices: (rows, cols, ternary values, scale) by name."""

    def __init__(self, dim, hidden, whole_scales=False):
        chosen = random.Random(f"bitnet {dim}")
        self.config = {**CONFIG, "hidden_size": dim, "intermediate_size": hidden}
        self.embedding = [chosen.gauss(0, 0.5) for _ in range(32 * dim)]
        self.norms, self.matrices = {"model.norm.weight": [1.0] * dim}, {}
        for i in range(2):
            at = f"model.layers.{i}."
            for name, n in (("input_layernorm", dim), ("post_attention_layernorm", dim),
                            ("self_attn.attn_sub_norm", dim), ("mlp.ffn_sub_norm", hidden)):
                self.norms[f"{at}{name}.weight"] = [1 + chosen.gauss(0, 0.2) for _ in range(n)]
            for name, rows, cols in (("self_attn.q_proj", dim, dim), ("self_attn.k_proj", dim // 2, dim),
                                     ("self_attn.v_proj", dim // 2, dim),
                                     ("self_attn.o_proj", dim, dim), ("mlp.gate_proj", hidden, dim),
                                     ("mlp.up_proj", hidden, dim), ("mlp.down_proj", dim, hidden)):
                scale = 0.5 ** chosen.randrange(1, 4) if whole_scales else \
                    rounded(chosen.uniform(0.05, 0.3))
                values = [chosen.choice((-1, 0, 1)) for _ in range(rows * cols)]
                self.matrices[f"{at}{name}.weight"] = (rows, cols, values, scale)

    def common(self):
        out = {"model.embed_tokens.weight":
               ("F32", (32, self.config["hidden_size"]), array.array("f", self.embedding).tobytes())}
        for name, values in self.norms.items():
            out[name] = ("F32", (len(values),), array.array("f", values).tobytes())
        return out

    def write(self, name, tensors, **config):
        where = folder(name)
        write_json(where, "config.json", {**self.config, **config})
        safetensors(os.path.join(where, "model.safetensors"), {**self.common(), **tensors})
        return where

    def floats(self):
        return self.write("bitnet-floats", {
            name: ("F32", (rows, cols), array.array("f", [v * scale for v in values]).tobytes())
            for name, (rows, cols, values, scale) in self.matrices.items()})

    def packed_tensors(self, divides=False):
        """As published: row r of a quarter of the rows has rows r, r + n / 4, ... in its bytes' bits."""
        tensors = {}
        for name, (rows, cols, values, scale) in self.matrices.items():
            size = rows // 4 * cols
            raw = bytes(sum((values[part * size + i] + 1) << 2 * part for part in range(4))
                        for i in range(size))
            tensors[name] = ("U8", (rows // 4, cols), raw)
            tensors[name + "_scale"] = ("BF16", (1,), bf16(1 / scale if divides else scale))
        return tensors

    def packed(self, divides=False, quantization=AUTO):
        return self.write("bitnet-packed", self.packed_tensors(divides),
                          quantization_config=quantization)

    def gguf(self):
        """The matrices as TQ2_0."""
        g = Gguf("bitnet-b1.58")
        set_params(g, "bitnet", self.config)
        for name, (_, shape, raw) in self.common().items():
            g.floats(gguf_name(name, LLAMA_NAMES), list(shape), array.array("f", raw))
        for name, (rows, cols, values, scale) in self.matrices.items():
            raw = bytearray()
            for at in range(0, rows * cols, 256):
                for half in (at, at + 128):
                    raw += bytes(sum((values[half + i + 32 * j] + 1) << 2 * j for j in range(4))
                                 for i in range(32))
                raw += struct.pack("<e", scale)
            g.tensor(gguf_name(name, LLAMA_NAMES), [cols, rows], "TQ2_0", bytes(raw))
        path = os.path.join(WORK, "bitnet.gguf")
        g.write(path)
        return path


small, even, wide = BitNet(24, 40), BitNet(24, 40, True), BitNet(256, 512)
floats, said = logits(small.floats(), "--type", "f32")
packed, console = logits(small.packed(), "--type", "f32")
tap.ok(packed is not None and packed == floats, "BitNet: the bits of the same weights as floats",
       said + console)
packed, console = logits(small.packed())
tap.ok(packed is not None and packed == floats and "stored as f16, which" in console,
       "columns that TQ2_0 does not take: the same bits as F16", console)
floats, _ = logits(even.floats(), "--type", "f32")
divided, console = logits(even.packed(True, {"quant_method": "bitnet"}), "--type", "f32")
tap.ok(divided is not None and divided == floats, "the older class of layers divides by the scale",
       console)
theirs, said = logits(wide.gguf())
packed, console = logits(wide.packed())
tap.ok(packed is not None and packed == theirs and "stored as tq2_0" in console,
       "BitNet in TQ2_0: the bits of a GGUF of the same weights", said + console)
ours = struct.unpack(f"<{len(packed or b'') // 4}f", packed or b"")
floats, _ = logits(wide.floats(), "--type", "f32")
exact = struct.unpack(f"<{len(floats) // 4}f", floats)
away = sum((a - b) ** 2 for a, b in zip(ours, exact)) / sum(b * b for b in exact)
tap.ok(len(ours) == len(exact) and away < 4e-3,
       f"and {away:.1g} NMSE from floats, by the rounding of what they multiply", console)

tensors = small.packed_tensors()
Q = "model.layers.1.self_attn.q_proj.weight"
for what, change, quantization, words in (
        ("no scale", {Q + "_scale": None}, AUTO, ["scales of the tensor attn_q of layer 1", "missing"]),
        ("a scale of 0", {Q + "_scale": ("BF16", (1,), bf16(0.0))}, AUTO, [Q, "one number"]),
        ("two scales", {Q + "_scale": ("BF16", (2,), bf16(1.0) * 2)}, AUTO, [Q, "one number"]),
        ("a row too few", {Q: ("U8", (5, 24), bytes(120))}, AUTO, [Q, "dtype or shape"]),
        ("a scale of floats", {Q: ("F32", (24, 24), bytes(2304))}, AUTO, ["attn_q of layer 1", "scale"]),
        ("bytes without a config", {}, None, ["is U8", "before it was quantized"]),
        ("floats rounded as it runs", {}, {**AUTO, "quantization_mode": "online"},
         ["quantization_config", "folder in which they are packed"]),
        ("a norm of its own", {}, {**AUTO, "use_rms_norm": True}, ["use_rms_norm"]),
        ("another method", {}, {"quant_method": "awq"}, ["quantization_config", "awq"])):
    changed = {k: v for k, v in {**tensors, **change}.items() if v is not None}
    fine, console = refused(small.write("bitnet-bad", changed, quantization_config=quantization),
                            *words)
    tap.ok(fine, f"refused: {what}", console)
tap.done()
