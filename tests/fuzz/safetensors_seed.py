#!/usr/bin/env python3
"""Write seeds for safetensors_fuzz: plain, fused and transposed tensors of all three types, with
their data; OUT-experts and OUT-delta for these. usage: safetensors_seed.py OUT"""
import json
import struct
import sys

WIDTHS = {"F32": 4, "F16": 2, "BF16": 2}
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
