#!/usr/bin/env python3
"""Write a seed for safetensors_fuzz: plain, fused and transposed tensors of all three types, with
their data. usage: safetensors_seed.py OUT"""
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
header, at = {"__metadata__": {"format": "pt"}}, 0
for name, dtype, shape in TENSORS:
    size = WIDTHS[dtype]
    for n in shape:
        size *= n
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
    at += size
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<Q", len(text)) + text + bytes(range(256)) * (at // 256 + 1))
