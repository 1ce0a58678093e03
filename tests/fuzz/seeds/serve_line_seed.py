#!/usr/bin/env python3
"""Write seeds for serve_line_fuzz. usage: serve_line_seed.py OUT"""
import sys

SEEDS = [
    b'{"id":"a","prompt":"Hi","temp":0.5,"n":9,"stop":["x"]}\n{"id":2,"prompt":"And?","reset":true,"system":"Be brief."}\n{"cancel":"a"}',
    b'{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"},{"role":"user","content":"z"}],"seed":3,"x_own":[1]}\n{"raw":"Once","n":0,"stop":""}',
    b'{"prompt":"x","raw":"y"}\n{"tmp":1,"prompt":"x"}\n[]\n{"hello":2}\n{"id":[1],"prompt":"x","grammar":"yes|no"}',
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
