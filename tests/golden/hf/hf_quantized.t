#!/usr/bin/python3
"""Folders with published kinds of quantized weights: gpt-oss in MXFP4, BitNet in bytes of four ternary weights or as floats that are rounded, any
family in F8 with tiles. They give the same bits as a GGUF of the same weights, or as a folder of floats."""

import array
import bisect
import json
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from gguf_files import LLAMA_NAMES, Gguf, gguf_name, set_params
from hf_files import f8_code, f8_value, folder, read_safetensors, safetensors, write_json
from hf_from_gguf import make_folder
from machine import ASSETS, HOST, WORK, Tap, run

GPT_OSS = os.path.join(ASSETS, "arch/gptoss_mxfp4.gguf")
IDS = "1 5 9 2 20 17 3 11"

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def logits(path, *options):
    """The bytes of all logits of the model packed with these options, and what was printed."""
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
    """Check that the error message contains all these words."""
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
        """The published form, with a quarter of the rows: each byte of row r has two bits of each of the rows r, r + n / 4, ... of the matrix."""
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
       f"logits are {away:.1g} NMSE from floats because products are rounded", console)

tensors = small.packed_tensors()
Q = "model.layers.1.self_attn.q_proj.weight"
for what, change, quantization, words in (
        ("no scale", {Q + "_scale": None}, AUTO, ["scales of the tensor attn_q of layer 1", "missing"]),
        ("a scale of 0", {Q + "_scale": ("BF16", (1,), bf16(0.0))}, AUTO, [Q, "single number"]),
        ("two scales", {Q + "_scale": ("BF16", (2,), bf16(1.0) * 2)}, AUTO, [Q, "single number"]),
        ("a row too few", {Q: ("U8", (5, 24), bytes(120))}, AUTO, [Q, "does not match"]),
        ("a scale of floats", {Q: ("F32", (24, 24), bytes(2304))}, {"quant_method": "bitnet"},
         ["attn_q of layer 1", "scale"]),
        ("bytes without a config", {}, None, ["is U8", "which is not quantized"]),
        ("bytes, and floats are rounded as it runs", {}, {**AUTO, "quantization_mode": "online"},
         ["is U8", "which is not quantized"]),
        ("some layers left out", {}, {**AUTO, "quantization_mode": "online",
                                      "modules_to_not_convert": ["q_proj"]},
         ["modules_to_not_convert", "cannot be packed"]),
        ("a norm of its own", {}, {**AUTO, "use_rms_norm": True}, ["use_rms_norm"]),
        ("another method", {}, {"quant_method": "awq"}, ["quantization_config", "awq"])):
    changed = {k: v for k, v in {**tensors, **change}.items() if v is not None}
    fine, console = refused(small.write("bitnet-bad", changed, quantization_config=quantization),
                            *words)
    tap.ok(fine, f"refused: {what}", console)


# ---- BitNet before it is packed: floats that the model rounds as it runs ------------------------

ONLINE = {**AUTO, "quantization_mode": "online"}


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def three_values(values):
    """Round a matrix of floats as Transformers does: around 0, by the mean of their magnitudes."""
    times = single(1 / max(single(math.fsum(map(abs, values)) / len(values)), 1e-5))
    return [max(-1, min(1, round(single(v * times)))) for v in values], single(1 / times)


def masters(model, dtype, form, seed):
    """{name: (dtype, shape, raw)}, and the same values as floats."""
    chosen, floats, rounded_floats = random.Random(seed), {}, {}
    for name, (rows, cols, _, scale) in model.matrices.items():
        values = [chosen.gauss(0, scale) for _ in range(rows * cols)]
        values[:3] = [0.0, 5 * scale, -5 * scale]
        if dtype == "BF16":
            raw = b"".join(bf16(v) for v in values)
            values = [rounded(v) for v in values]
        else:
            raw = struct.pack(f"<{len(values)}{form}", *values)
            values = struct.unpack(f"<{len(values)}{form}", raw)
        floats[name] = (dtype, (rows, cols), raw)
        three, scale = three_values(values)
        rounded_floats[name] = ("F32", (rows, cols),
                                array.array("f", [v * scale for v in three]).tobytes())
    return floats, rounded_floats


for dtype, form in (("F32", "f"), ("F16", "e"), ("BF16", "")):
    floats, exact = masters(small, dtype, form, dtype)
    theirs, said = logits(small.write("bitnet-exact", exact), "--type", "f32")
    ours, console = logits(small.write("bitnet-masters", floats, quantization_config=ONLINE),
                           "--type", "f32")
    tap.ok(ours is not None and ours == theirs, f"{dtype} that are rounded as the model runs: "
           "the bits of the rounded ones", said + console)
    ours, console = logits(small.write("bitnet-masters", floats, quantization_config=ONLINE))
    tap.ok(ours is not None and ours == theirs and "by the three values" in console,
           f"{dtype} in columns that TQ2_0 does not take: the same", console)
floats, exact = masters(wide, "BF16", "", "wide")
theirs, said = logits(wide.write("bitnet-exact", exact), "--type", "tq2_0")
online = wide.write("bitnet-masters", floats, quantization_config=ONLINE)
ours, console = logits(online, "--type", "tq2_0")
tap.ok(ours is not None and ours == theirs, "in TQ2_0 the bits of the rounded ones", said + console)
ours, console = logits(online)
run_info = run([HOST, "info", os.path.join(WORK, "quantized.ingot")])[1]
tap.ok("are stored as tq2_0, by the three values" in console and "tq2_0" in run_info,
       "TQ2_0 is the type of the rounded weights", console + run_info)
plain, _ = logits(wide.write("bitnet-plain", floats), "--type", "tq2_0")
tap.ok(plain is not None and plain != theirs, "without quantization_config they are floats")
spoilt = dict(floats)
name = "model.layers.1.mlp.up_proj.weight"
spoilt[name] = (*floats[name][:2], b"\x80\x7f" + floats[name][2][2:])
fine, console = refused(wide.write("bitnet-bad", spoilt, quantization_config=ONLINE),
                        "ffn_up of layer 1", "not finite")
tap.ok(fine, "refused: a weight that is not finite", console)

# Floats with a scale: Transformers multiplies the product by the scale.
tensors = {name: ("F32", (rows, cols), array.array("f", values).tobytes())
           for name, (rows, cols, values, _) in small.matrices.items()}
for name, (_, _, _, scale) in small.matrices.items():
    tensors[name + "_scale"] = ("BF16", (1,), bf16(scale))
theirs, _ = logits(small.floats(), "--type", "f32")
ours, console = logits(small.write("bitnet-scaled", tensors, quantization_config=AUTO), "--type", "f32")
tap.ok(ours is not None and ours == theirs, "floats of three values beside their scales", console)


class FirstBitNet(BitNet):
    """The form of the first published models: norms have other names, the gate is SiLU, and there are as many key heads as query heads."""

    def __init__(self):
        super().__init__(24, 40)
        self.config = {**self.config, "architectures": ["BitnetForCausalLM"], "model_type": "llama",
                       "hidden_act": "silu", "num_key_value_heads": 4, "weight_bits": 1,
                       "input_bits": 8, "rope_theta": 10000.0}
        for name, (rows, cols, values, scale) in self.matrices.items():
            if "k_proj" in name or "v_proj" in name:
                self.matrices[name] = (24, cols, 2 * values, scale)

    def common(self):
        return {name.replace("attn_sub_norm", "inner_attn_ln").replace("ffn_sub_norm", "ffn_layernorm"):
                value for name, value in super().common().items()}

    def gguf(self, matrices):
        g = Gguf("bitnet")
        set_params(g, "bitnet", self.config)
        for name, (_, shape, raw) in {**super().common(), **matrices}.items():
            g.floats(gguf_name(name, LLAMA_NAMES), list(shape), array.array("f", raw))
        path = os.path.join(WORK, "bitnet-first.gguf")
        g.write(path)
        return path


first = FirstBitNet()
floats, exact = masters(first, "F16", "e", "first")
theirs, said = logits(first.gguf(exact), "--type", "f32")
ours, console = logits(first.write("bitnet-first", floats), "--type", "f32")
tap.ok(ours is not None and ours == theirs, "the first BitNet models: the bits of a GGUF of the "
       "rounded weights", said + console)
fine, console = refused(first.write("bitnet-bad", floats, weight_bits=8), "weight_bits")
tap.ok(fine, "refused: other bits", console)


# ---- experts in BF16 -----------------------------------------------------------------------------

# All experts share a type, so one expert that 16 bits cannot represent decides for all.
if os.path.exists(os.path.join(ASSETS, "arch/olmoe.gguf")):
    where = make_folder(os.path.join(ASSETS, "arch/olmoe.gguf"), "olmoe")
    path = os.path.join(where, "model.safetensors")
    floats = read_safetensors(path)
    for name, (_, shape, raw) in floats.items():
        if ".experts." in name:
            values = [rounded(v) for v in array.array("f", raw)]
            if ".experts.2.up_proj" in name:
                values[5] = rounded(1e-30)
                values[6] = rounded(70000.0)
            floats[name] = ("BF16", shape, b"".join(bf16(v) for v in values))
    safetensors(path, floats)
    theirs, said = logits(where, "--type", "f32")
    ours, console = logits(where)
    tap.ok(ours is not None and ours == theirs, "experts in BF16, of which fp16 holds the first alone: "
           "F32", said + console)
else:
    tap.skip("experts in BF16", "no arch (set INGOT_ASSETS)")


# ---- F8 with tiles ----------------------------------------------------------------------------

F8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [16, 8]}
def f8_tensors(rows, cols, values, form):
    """Codes and scales of the matrix, and the floats that they represent."""
    high, wide = F8["weight_block_size"] if form != "whole" else (rows, cols)
    codes, scales, exact = bytearray(rows * cols), [], array.array("f", bytes(4 * rows * cols))
    for top in range(0, rows, high):
        for left in range(0, cols, wide):
            at = [r * cols + c for r in range(top, min(top + high, rows))
                  for c in range(left, min(left + wide, cols))]
            scale = rounded(max(abs(values[i]) for i in at) / 448 or 1.0)
            scales.append(scale)
            for i in at:
                codes[i] = f8_code(values[i] / scale)
                exact[i] = f8_value(codes[i]) * scale
    shape = (1,) if form == "whole" else (-(-rows // high), -(-cols // wide))
    raw = b"".join(bf16(s) for s in scales) if form == "BF16" else \
        array.array("f", scales).tobytes()
    return bytes(codes), (form if form == "BF16" else "F32", shape, raw), exact.tobytes()


def f8_twins(gguf, name, form, scales_first, spoil=None):
    """Folders of the same weights in F8 and as floats."""
    where = make_folder(os.path.join(ASSETS, "arch", gguf + ".gguf"), gguf)
    with open(os.path.join(where, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    packed, floats, scales = {}, {}, {}
    for tensor, (dtype, shape, raw) in read_safetensors(os.path.join(where, "model.safetensors")).items():
        packed[tensor] = floats[tensor] = (dtype, shape, raw)
        if len(shape) == 2 and tensor.endswith("_proj.weight"):
            codes, scale, exact = f8_tensors(*shape, array.array("f", raw), form)
            packed[tensor], floats[tensor] = ("F8_E4M3", shape, codes), ("F32", shape, exact)
            scales[tensor + "_scale_inv"] = scale
    if spoil is not None:
        spoil(packed, scales)
    quantization = {k: v for k, v in F8.items() if form != "whole" or k != "weight_block_size"}
    pair = []
    for end, tensors, more in (
            ("f8", {**scales, **packed} if scales_first else {**packed, **scales},
             {"quantization_config": quantization}), ("floats", floats, {})):
        pair.append(folder(f"{name}-{end}"))
        write_json(pair[-1], "config.json", {**config, **more})
        safetensors(os.path.join(pair[-1], "model.safetensors"), tensors)
    return pair


for gguf, form, scales_first in (("exaone4", "F32", False), ("phi3_short", "BF16", True),
                                 ("olmoe", "F32", True), ("deepseek2_v3", "BF16", False),
                                 ("qwen35_gqa", "F32", False), ("granite", "whole", False)):
    if not os.path.exists(os.path.join(ASSETS, "arch", gguf + ".gguf")):
        tap.skip(f"F8: {gguf}", "no such model (set INGOT_ASSETS)")
        continue
    packed, floats = f8_twins(gguf, "f8-" + gguf, form, scales_first)
    theirs, said = logits(floats, "--type", "f32")
    ours, console = logits(packed, "--type", "f32")
    tap.ok(ours is not None and ours == theirs,
           f"F8 of {gguf}, {form} scales: the bits of the same weights as floats", said + console)
    ours, console = logits(packed)
    tap.ok(ours is not None and "F8_E4M3 weights are stored as f16, with their scales" in console,
           f"F8 of {gguf}: its own type", console)
    near, far = (struct.unpack(f"<{len(x or b'') // 4}f", x or b"") for x in (ours, theirs))
    away = sum((a - b) ** 2 for a, b in zip(near, far)) / sum(b * b for b in far)
    tap.ok(len(near) == len(far) and 0 < away < 1e-4, f"F8 logits are {away:.1g} NMSE from floats", console)

K = "model.layers.1.self_attn.k_proj.weight"


def change(**changes):
    def spoil(packed, scales):
        for kind, value in changes.items():
            where, name = (scales, K + "_scale_inv") if kind == "scale" else (packed, K)
            where.pop(name)
            if value is not None:
                where[name] = value
    return spoil


if os.path.exists(os.path.join(ASSETS, "arch/smollm3.gguf")):
    for what, spoil, words in (
            ("no scales", change(scale=None), ["scales of the tensor attn_k of layer 1", "missing"]),
            ("too few scales", change(scale=("F32", (1, 1), bytes(4))), ["attn_k of layer 1", "shape"]),
            ("scales of F8", change(scale=("F8_E4M3", (4,), bytes(4))), [K + "_scale_inv", "F8"]),
            ("scales of I8", change(scale=("I8", (4,), bytes(4))), [K + "_scale_inv", "I8"]),
            ("a norm of F8", lambda packed, scales: packed.update(
                {"model.norm.weight": ("F8_E4M3", (64,), bytes(64))}), ["model.norm.weight", "F8_E4M3"])):
        fine, console = refused(f8_twins("smollm3", "f8-bad", "F32", False, spoil)[0], *words)
        tap.ok(fine, f"refused: {what}", console)
    for size in ([16], [0, 16], "16", [16, 70000]):
        F8["weight_block_size"] = [16, 8]
        bad = f8_twins("smollm3", "f8-bad", "F32", False)[0]
        with open(os.path.join(bad, "config.json"), encoding="utf-8") as f:
            config = json.load(f)
        config["quantization_config"]["weight_block_size"] = size
        write_json(bad, "config.json", config)
        fine, console = refused(bad, "scales" if size == "16" else "weight_block_size")
        tap.ok(fine, f"refused: tiles of {size}", console)
tap.done()
