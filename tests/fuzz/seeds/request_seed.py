#!/usr/bin/env python3
"""Write seeds for request_fuzz. usage: request_seed.py OUT"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../clients/python"))
from ingot import crc8


SEEDS = [
    b'{"id":"a","prompt":"x","stop":["User:","\\n"],"temp":0.5,"logprobs":5,"conversation":"b"}\n{"cancel":"a"}\n',
    b'{"id":7,"ids":[1, 2,300],"seed":3,"top_k":40}\n{"id":8,"cancel":7}\n{"cancel":true}\n',
    b'{"prompt":"x","logit_bias":[[5,-100],[6,false], [7, 1.5e1]],"presence_penalty":-1,"repeat_last_n":-1}',
    b'{"hello":2,"check":true}\n{"resend":12}\n{"tokenize":"a"}{"embedding":"b","system":""}',
]
SEEDS.append(b"".join(line + b"*%02x\n" % crc8(line) for line in SEEDS[1].split(b"\n") if line))
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
