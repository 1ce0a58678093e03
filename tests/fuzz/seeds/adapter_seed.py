#!/usr/bin/env python3
"""Write seeds for adapter_fuzz, OUT-...: for each type a flag, the header's numbers, pairs and bytes of data.
usage: adapter_seed.py OUT"""
import struct
import sys

MAGIC = b"INGOT\r\nA"
F32, F16, Q8_0 = 0, 1, 2
EMBEDDING, ATTN_Q, FFN_DOWN, NO_LAYER = 0, 9, 44, 0xffff


def seed(kind, pairs):
    head = MAGIC + struct.pack("<IIQ", 1, 0, 0) + b"name".ljust(64, b"\0") + b"base".ljust(64, b"\0")
    head += struct.pack("<IIIIIIIIIIQ", 1, 64, 2, 100, kind, len(pairs), 0, 0, 0, 0, 0)
    body = b"".join(struct.pack("<HHIIIfIQQ", role, layer, rank, rows, cols, 0.5, 0, 0, 0)
                    for role, layer, rank, rows, cols in pairs)
    return b"\0" + head + body + bytes(range(0, 60))


for i, (kind, pairs) in enumerate(((F16, [(EMBEDDING, NO_LAYER, 4, 64, 100)]), (F32, [(EMBEDDING, NO_LAYER, 3, 64, 100)]),
                                   (Q8_0, [(EMBEDDING, NO_LAYER, 8, 64, 100)]),
                                   (F16, [(ATTN_Q, 0, 4, 64, 64), (FFN_DOWN, 0, 8, 64, 48), (ATTN_Q, 1, 4, 64, 64)]))):
    with open(f"{sys.argv[1]}-{i}", "wb") as out:
        out.write(seed(kind, pairs))
