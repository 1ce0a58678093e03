#!/usr/bin/env python3
"""Write seeds for safetensors_fuzz: OUT has plain, fused and transposed tensors of all three types, with their data;
OUT-experts and OUT-delta have tensors of these kinds; OUT-mxfp4, OUT-ternary, OUT-rounded and OUT-f8 have quantized
tensors; these last three and OUT-beside are whole models. usage: safetensors_seed.py OUT"""
import json
import struct
import sys

WIDTHS = {"F32": 4, "F16": 2, "BF16": 2, "U8": 1, "F8_E4M3": 1}
TENSORS = [("model.embed_tokens.weight", "F32", [11, 8]), ("model.norm.weight", "BF16", [8]),
           ("model.layers.0.self_attn.qkv_proj.weight", "F16", [24, 8]),
           ("model.layers.0.mlp.gate_up_proj.weight", "BF16", [24, 8]),
           ("model.layers.1.mlp.down_proj.weight", "F32", [8, 12]),
           ("transformer.h.1.attn.c_attn.weight", "F16", [8, 24]),
           ("transformer.h.1.attn.c_attn.bias", "F32", [24]),
           ("transformer.h.0.attn.bias", "F32", [1, 1, 4, 4])]
EXPERTS = [("model.layers.0.mlp.experts.1.gate_proj.weight", "F32", [12, 8]),
           ("model.layers.0.mlp.experts.0.gate_proj.weight", "F16", [12, 8]),
           ("model.layers.0.mlp.gate.weight", "BF16", [2, 8]),
           ("model.layers.0.mlp.experts.gate_up_proj", "BF16", [2, 8, 24]),
           ("model.layers.0.mlp.experts.gate_up_proj_bias", "F32", [2, 24]),
           ("model.layers.1.mlp.experts.down_proj", "F32", [2, 12, 8])]
DELTA = [("model.layers.0.linear_attn.A_log", "F32", [2]),
         ("model.layers.0.linear_attn.conv1d.weight", "BF16", [24, 1, 4]),
         ("model.layers.1.self_attn.q_proj.weight", "F16", [16, 8]),
         ("mtp.layers.0.mlp.up_proj.weight", "F32", [2])]
MXFP4 = [("model.layers.0.mlp.experts.gate_up_proj_blocks", "U8", [2, 64, 1, 16]),
         ("model.layers.0.mlp.experts.gate_up_proj_scales", "U8", [2, 64, 1]),
         ("model.layers.0.mlp.experts.down_proj_scales", "U8", [2, 32, 1]),
         ("model.layers.0.mlp.experts.down_proj_blocks", "U8", [2, 32, 1, 16])]
NORMS = ("input_layernorm", "post_attention_layernorm", "self_attn.attn_sub_norm")
ATTENTION = [(f"self_attn.{name}_proj", 8, 8) for name in "qkvo"]


def ternary():
    out = TENSORS[:2]
    for i in range(2):
        at = f"model.layers.{i}."
        out += [(f"{at}{name}.weight", "F32", [8]) for name in NORMS]
        out.append((at + "mlp.ffn_sub_norm.weight", "F32", [12]))
        for name, rows, cols in ATTENTION + [("mlp.gate_proj", 12, 8), ("mlp.up_proj", 12, 8),
                                             ("mlp.down_proj", 8, 12)]:
            out += [(f"{at}{name}.weight_scale", "BF16", [1]),
                    (f"{at}{name}.weight", "U8", [rows // 4, cols])]
    return out


def rounded():
    """The ternary model's tensors as floats, which the model rounds."""
    return [(name, "BF16" if kind == "U8" else kind, [4 * shape[0], shape[1]] if kind == "U8" else shape)
            for name, kind, shape in ternary() if not name.endswith("_scale")]


def f8():
    """Tensors in F8, with a scale for each tile of three rows and five columns."""
    out = TENSORS[:2]
    for name, kind, shape in rounded():
        if len(shape) == 2 and ".layers." in name:
            out += [(name, "F8_E4M3", shape),
                    (name + "_scale_inv", "F32", [-(-shape[0] // 3), -(-shape[1] // 5)])]
        elif ".layers." in name and "sub_norm" not in name:
            out.append((name, kind, shape))
    return out


def beside():
    out = [TENSORS[0], ("model.final_layernorm.weight", "F32", [8])]
    for i in range(2):
        at = f"model.layers.{i}."
        out += [(f"{at}{name}.weight", "BF16", [rows, cols]) for name, rows, cols in ATTENTION + [
            ("feed_forward.gate_proj", 12, 8), ("feed_forward.up_proj", 12, 8),
            ("feed_forward.down_proj", 8, 12), ("mamba.in_proj", 34, 8), ("mamba.out_proj", 8, 8)]]
        out += [(f"{at}{name}.weight", "F32", [8]) for name in ("input_layernorm",
                                                                "pre_ff_layernorm")]
        out += [(f"{at}mamba.{name}", "F32", [2]) for name in ("A_log", "D", "dt_bias")]
        out += [(at + "mamba.conv1d.weight", "F32", [24, 1, 4]),
                (at + "mamba.conv1d.bias", "F32", [24])]
    return out


def write(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, dtype, shape in tensors:
        size = WIDTHS[dtype]
        for n in shape:
            size *= n
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + bytes(range(256)) * (at // 256 + 1))


write(sys.argv[1], TENSORS)
write(sys.argv[1] + "-experts", EXPERTS)
write(sys.argv[1] + "-delta", DELTA)
write(sys.argv[1] + "-mxfp4", MXFP4)
write(sys.argv[1] + "-ternary", ternary())
write(sys.argv[1] + "-rounded", rounded())
write(sys.argv[1] + "-f8", f8())
write(sys.argv[1] + "-beside", beside())
