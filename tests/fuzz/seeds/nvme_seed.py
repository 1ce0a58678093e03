#!/usr/bin/env python3
"""Write a seed for nvme_fuzz: a drive with blocks of 4 KiB and a cache, requests of all kinds, and right
answers to the first of them.
usage: nvme_seed.py OUT"""
import struct
import sys

pages = bytes([0, 0, 0x66, 0, 0x44, 0, 1, 0]) + struct.pack("<Q", 1 << 20)
formats = struct.pack("<HBB", 0, 12, 0) + bytes(60)


def answer(identity, status=1):
    return struct.pack("<IIHHHH", 0, 0, 0, 1, identity, status)


requests = b""
for slot in range(8):
    # 16 sectors that begin with the third: a part of a block, a whole block, a part of a block
    requests += bytes([16 + slot, 3 * slot, slot == 5])
    requests += answer(4 * slot + slot % 3)
open(sys.argv[1], "wb").write(pages + formats + requests + b"".join(
    answer(4 * (n % 8) + n % 3, 1 | (n == 9) << 1) for n in range(24)))
