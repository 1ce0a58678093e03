#!/usr/bin/env python3
"""Write seeds for messages_fuzz. usage: messages_seed.py OUT"""
import json
import sys

SEEDS = [
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi \u00e9\n"}],
    [{"role": "user", "content": "a"}, {"content": "b", "role": "assistant", "x_more": [1, {"y": []}]}, {"role": "user", "content": ""}],
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "w", encoding="utf-8") as f:
        json.dump(seed, f)
