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
    (0, {"messages": [{"role": "user", "content": "a"},
                      {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                      {"role": "tool", "tool_call_id": "1", "content": "r"}],
         "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"enum": [1, "b", None]}}}}}],
         "tool_choice": "none"}),
    (0, {"messages": [{"role": "user", "content": "a"}], "tool_choice": "required", "parallel_tool_calls": True,
         "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "required": ["a"], "properties": {
             "a": {"type": "string", "format": "date"}, "b": {"type": "array", "prefixItems": [{"type": "integer", "minimum": 0, "maximum": 3}]}}}}}]}),
    (0, {"messages": [{"role": "user", "content": "a"}], "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {
        "$ref": "#/$defs/t", "$defs": {"t": {"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": {"$ref": "#/$defs/t"}}]}}}}}}),
    (0, {"messages": [{"role": "system", "content": "a"}], "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {
        "properties": ["a", {}], "required": ["a"], "anyOf": [["a"], {"properties": [[]]}]}}}}),
    (1, {"prompt": [1, 2, 3], "seed": 18446744073709551615, "logit_bias": [[1, False], ["a", 1e1]]}),
]
for i, (kind, seed) in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(bytes([kind, 0]) + json.dumps(seed).encode())
