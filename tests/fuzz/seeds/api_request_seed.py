#!/usr/bin/env python3
"""Write seeds for api_request_fuzz. usage: api_request_seed.py OUT"""
import json
import sys

SEEDS = [
    (0, {"model": "m", "messages": [{"role": "system", "content": "Be \"brief\"."}, {"role": "user", "content": "Hi \u00e9\n"}],
         "temperature": 0.5, "max_tokens": 5, "stream": True, "stream_options": {"include_usage": True}, "stop": ["a", "b"]}),
    (0, {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}], "seed": 3,
         "logit_bias": {"5": -100, "17": 1.5}, "response_format": {"type": "text"}, "n": 1, "user": None}),
    (1, {"prompt": "Once upon a time", "top_p": 0.9, "frequency_penalty": -1, "stop": "x", "echo": False}),
]
for i, (kind, seed) in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(bytes([kind, 0]) + json.dumps(seed).encode())
