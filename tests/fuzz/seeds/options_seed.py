#!/usr/bin/env python3
"""Write a seed for options_fuzz: a line of boot arguments as people write them, then each byte above 0x7f, which the target turns into a
piece of text. usage: options_seed.py OUT"""
import sys

LINE = (b'model=models/a.ingot prompt="Once \\"upon\\" a\\ntime" n=32 temp=0.8 top_p=0.95 '
        b'top_k=40 min_p=.05 repeat=1.1e0 seed=0x2a ctx=512 mem=64MiB cores=4 isa=neon '
        b'baud=115200 selftest ids root=/dev/x console=ttyS0,115200 8250.nr_uarts=1 tmep=1 '
        b'stop="User:\\n" stop=b think=hide quiet prompt=')
PIECES = bytes(0x80 + (i * 37) % 128 for i in range(256))
open(sys.argv[1], "wb").write(LINE + b"x" * 4090 + b" " + PIECES)
