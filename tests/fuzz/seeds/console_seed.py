#!/usr/bin/env python3
"""Write a seed for console_fuzz: lines with every kind of editing, ends of line, escape
sequences, valid and broken UTF-8, and lines around the buffer's 24 bytes.
usage: console_seed.py OUT"""
import sys

LINES = [b"hello\n", b"hello\r\n", b"\r\r\n\n", b"ab\x7f\x08c\n", b"one two\x17x\x15y\n",
         b"\x1b[A\x1b[1;5Ca\x1bOPb\x1b[3~\x1bxc\n", "äß€😀中".encode() + b"\x08\x08z\n",
         b"\xff\xe2\x82\xe2\x82\xac\xc2\x9b\xed\xa0\x80\n", b"\xe2\x82\n", b"\xe2\x82\x08\xac\n",
         b"tab\there\x00\x07\n", b"abc\x01x\x05y\x02\x06\x0b\n", b"ab\x1b[D\x1b[Hcd\x1b[Fe\x1bbf\n",
         b"\x1b[200~two\rlines\x1b[201~!\n", b"\x1b[A\x1b[A\x1b[B?\n", b"x\x0cy\x1b[1;12Rzzzzzzzzzzzz\x10\x0e\n"]
LINES += [b"x" * n + b"\n" for n in (22, 23, 24, 25, 60)]
LINES += [b"x" * n + "€\n".encode() for n in (20, 21, 22)] + [b"y" * 40 + b"\x15ok\n", b"end"]
open(sys.argv[1], "wb").write(b"".join(LINES))
