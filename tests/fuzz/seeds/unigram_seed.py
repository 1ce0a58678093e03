#!/usr/bin/env python3
"""Write a seed for unigram_fuzz: the flags, then text of the vocabulary's pieces in an order without repeated
patterns.
usage: unigram_seed.py OUT"""
import sys

state, text = 1, bytearray(b"\x0b")
for i in range(150):
    state = (state * 1103515245 + 12345) % 2**31
    text.append((state >> 16) % 0xa0 if state >> 8 & 15 else 0xa0 + (state >> 20) % 0x60)
open(sys.argv[1], "wb").write(text)
