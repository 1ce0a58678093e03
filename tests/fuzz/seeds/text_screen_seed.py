#!/usr/bin/env python3
"""Write seeds for text_screen_fuzz: two bytes of size, then text and sequences. usage: text_screen_seed.py OUT"""
import sys

SEEDS = [
    b"\x02\x03one two three four five\r\nsix\tseven \x1b[3D\x1b[K\x1b[2J\x1b[5;7Hx\x1b[1;31;44my\x1b[0m\x1b7\x1b[999C\x1b8",
    b"\x05\x00a\x1b]0;t\x07\x1bPq\x1b\\ \x1b[?25l\x1b[38;5;9m\x1b[1;2;3;4;5;6;7;8;9;10m\x1b[99999999A\x9b6n",
    b"\x00\x05" + " bcdefgh\u65e5 abc\u65e5".encode(),
    b"\x00\x05" + "a bcdefg\u65e5\u672c \u00e9\u0301 \u251c\u2500 \U0001f600 abcdefg\u65e5".encode(),
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
