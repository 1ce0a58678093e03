#!/usr/bin/env python3
"""Write a seed for keyboard_fuzz: a German keyboard, an accent and its letter, a held key.
usage: keyboard_seed.py OUT"""
import sys

out = bytes([2])
for modifiers, key in [(0, 0x2e), (0, 0), (0, 4), (0, 0), (0x40, 0x14), (2, 5), (1, 6)]:
    out += bytes([9, 10, modifiers, 0, key, 0, 0, 0, 0, 0, 0])
with open(sys.argv[1], "wb") as f:
    f.write(out)
