#!/usr/bin/env python3
"""Write seeds for shown_text_fuzz: sequences that terminals obey. usage: shown_text_seed.py OUT"""
import sys

SEEDS = [
    b"plain \x1b]52;c;cm0=\x07 \x1b[6n\x13\x11\x7f\r\n\t\x9b6n \xc2\x9b6n",
    "caf\u00e9 \u65e5\u672c \U0001f600 \u202eabc\u202c \u2066x\u2069 \u200e\u200f\u061c".encode(),
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
