#!/usr/bin/env python3
"""Write seeds for batch_fuzz: files of requests with every field. usage: batch_seed.py OUT"""
import sys

SEEDS = [
    b'{"id":1,"prompt":"Hello","n":20,"temp":0}\n\n{"id":"two","prompt":"Say \\"a\\\\b\\"","adapter":"poet:0.5,tutor"}\n',
    b'{"prompt":"x","system":"Be brief.","think":"hide","stop":"User:","top_p":0.9,"top_k":7,"min_p":0.1,"repeat":1.1,"seed":3}',
    b' \t\r\n{"prompt":"\\u00e9","x_more":true,"system":""}\r\n',
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
