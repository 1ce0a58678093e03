#!/usr/bin/env python3
"""Write seeds for serve_fuzz: bodies with every field. usage: serve_seed.py OUT"""
import json
import sys

LIGHT = {"type": "object", "properties": {"light": {"enum": ["red", "blue"]}, "n": {"type": "integer", "maximum": 9}}, "required": ["light"]}
SEEDS = [
    b"0" + json.dumps({"model": "demo", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"},
                       {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "\u00e9"}]}], "stream": True, "stream_options": {"include_usage": True},
                       "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "min_p": 0.1, "repeat": 1.1, "top_k": 7, "seed": 3, "stop": ["a", "b"], "n": 1,
                       "think": False, "tools": [], "tool_choice": "none", "user": "x", "x_note": None}).encode(),
    b"1" + json.dumps({"prompt": ["Once \\\\u0000 upon"], "stop": "x", "best_of": 1, "echo": False, "suffix": "", "grammar": "yes|no"}).encode(),
    b"0" + json.dumps({"messages": [{"role": "user", "content": "x"}], "response_format": {"type": "json_schema", "json_schema": {"name": "l", "schema": LIGHT}}}).encode(),
    b"0" + json.dumps({"messages": [{"role": "developer", "content": "x"}, {"role": "user", "content": "y"}, {"role": "user", "content": "z"}], "response_format": {"type": "json_object"}}).encode(),
    b"1" + json.dumps({"prompt": "x", "grammar": "root ::= [a-z]+ | \"yes\""}).encode(),
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
