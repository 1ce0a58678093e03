#!/usr/bin/env python3
"""Write a seed for bpe_fuzz: text of pieces that the target's vocabulary merges, in an order without repeated
patterns. usage: bpe_seed.py OUT"""
import sys

state, text = 3, bytearray()
for i in range(300):
    state = (state * 1103515245 + 12345) % 2**31
    text.append(0xA1 + (state >> 16) % 0x5F if state >> 8 & 7 else (state >> 20) % 256)
with open(sys.argv[1], "wb") as f:
    f.write(text)
