#!/usr/bin/env python3
"""Write a seed for tokenizer_fuzz: the number of parts, then text in the alphabet that the target's vocabulary
merges, in an order without repeated patterns. usage: tokenizer_seed.py OUT"""
import sys

state, text = 1, bytearray(b"\x00")
for i in range(400):
    state = (state * 1103515245 + 12345) % 2**31
    text.append(0xA1 + (state >> 16) % 0x5F if state >> 8 & 7 else (state >> 20) % 256)
open(sys.argv[1], "wb").write(text)
