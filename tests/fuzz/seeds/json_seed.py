#!/usr/bin/env python3
"""Write seeds for json_fuzz: a request, an event, and the escapes. usage: json_seed.py OUT"""
import sys

SEEDS = [
    b'{"prompt":"Tell me a story.","system":"Be brief.","n":128,"temp":0.8,"top_p":0.95,'
    b'"top_k":40,"min_p":0.05,"repeat":1.1,"seed":18446744073709551615,"stop":"User:",'
    b'"reset":true}',
    b'{"event":"done","reason":"end","card_mb_per_s":null,"turns":false, "x" : -1.5e-3 }\r',
    b'{"\\u0041":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00 \xc3\xa9\xf0\x9f\x98\x80"}',
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
