#!/usr/bin/env python3
"""Write seeds for signature_fuzz, in files OUT-...: valid blocks of an adapter, of a model with few parts and of a model with many.
usage: signature_seed.py OUT"""
import struct
import sys

for i, n_parts in enumerate((3, 8, 200, 261)):
    block = b"INGOT\r\nS" + struct.pack("<IIQQII", 1, 1, 0, 0, n_parts, 65536) + bytes(8 + 16 + 64) + bytes(range(32)) * n_parts
    with open(f"{sys.argv[1]}-{i}", "wb") as out:
        out.write(struct.pack("<HHB", 300, n_parts, 0) + block)
