#!/usr/bin/env python3
"""Write a seed for record_ring_fuzz: three records, whose checksums the target corrects.
usage: record_ring_seed.py OUT"""
import struct
import sys

out = b"\1"
for sequence, size in ((1, 20), (2, 700), (3, 480)):
    record = b"INGOTREC" + struct.pack("<IIQII", 1, 0, sequence, size, 0) + b"x" * size
    out += record + bytes(-len(record) % 512)
open(sys.argv[1], "wb").write(out)
