#!/usr/bin/env python3
"""Write seeds for serve_fuzz: bodies with every field. usage: serve_seed.py OUT"""
import json
import sys

LIGHT = {"type": "object", "properties": {"light": {"enum": ["red", "blue"]}, "n": {"type": "integer", "maximum": 9}}, "required": ["light"]}
TOOLS = [{"type": "function", "function": {"name": "set_light", "description": "x", "strict": True, "parameters": LIGHT}}, {"type": "function", "function": {"name": "now"}},
         {"type": "function", "function": {"name": "tree", "parameters": {"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}}}}}}}]
CALL = {"id": "c1", "type": "function", "function": {"name": "set_light", "arguments": "{\"light\": \"red\"}"}}
SEEDS = [
    b"0" + json.dumps({"model": "demo", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"},
                       {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "\u00e9"}]}], "stream": True, "stream_options": {"include_usage": True},
                       "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "min_p": 0.1, "repeat": 1.1, "top_k": 7, "seed": 3, "stop": ["a", "b"], "n": 1,
                       "think": False, "tools": [], "tool_choice": "none", "user": "x", "x_note": None}).encode(),
    b"1" + json.dumps({"prompt": ["Once \\\\u0000 upon"], "stop": "x", "best_of": 1, "echo": False, "suffix": "", "grammar": "yes|no"}).encode(),
    b"0" + json.dumps({"messages": [{"role": "user", "content": "x"}], "response_format": {"type": "json_schema", "json_schema": {"name": "l", "schema": LIGHT}}}).encode(),
    b"0" + json.dumps({"messages": [{"role": "developer", "content": "x"}, {"role": "user", "content": "y"}, {"role": "user", "content": "z"}], "response_format": {"type": "json_object"}}).encode(),
    b"0" + json.dumps({"messages": [{"role": "system", "content": "x"}], "response_format": {"type": "json_schema", "json_schema": {"name": "l", "schema": {
        "type": "object", "properties": ["a", {}], "required": ["a"], "patternProperties": [{}]}}}}).encode(),
    b"1" + json.dumps({"prompt": "x", "grammar": "root ::= [a-z]+ | \"yes\""}).encode(),
    b"0" + json.dumps({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "c1", "content": "done"}],
                       "tools": TOOLS, "tool_choice": "auto", "parallel_tool_calls": False}).encode(),
    b"0" + json.dumps({"tool_choice": {"type": "function", "function": {"name": "now"}}, "tools": TOOLS, "messages": [{"role": "user", "content": "x"}]}).encode(),
    b"0" + json.dumps({"messages": [{"role": "user", "content": "x"}], "logit_bias": {"5": -100, "cat": 1.5}, "presence_penalty": -2, "frequency_penalty": 0.5, "repeat_last_n": -1,
                       "seed": 9007199254740993, "typical_p": 1, "metadata": {"a": "b"}, "prediction": {"content": "x"}, "stop": ["a", "", "b", "c", "d", "e"]}).encode(),
    b"1" + json.dumps({"prompt": [[1, 2], [3]], "logit_bias": [[5, 1], ["cat", False]], "echo": False, "best_of": 2, "n": 2, "seed": -5}).encode(),
    b"0" + json.dumps({"tool_choice": "required", "tools": TOOLS[2:], "messages": [{"role": "user", "content": "x"}]}).encode(),
    # Letters: the APIs of serve_dialect.h, one after the other.
    b"A" + json.dumps({"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}, {"type": "message", "role": "assistant", "content": "I look."},
                       {"type": "reasoning", "id": "r", "summary": []}, {"type": "function_call", "call_id": "c1", "name": "set_light", "arguments": "{}"},
                       {"type": "function_call_output", "call_id": "c1", "output": "on"}], "instructions": "Be brief.", "max_output_tokens": 9,
                       "text": {"format": {"type": "json_schema", "name": "l", "schema": LIGHT, "strict": True}, "verbosity": "low"}, "reasoning": {"effort": "low", "summary": "auto"},
                       "tools": [{"type": "function", **TOOLS[0]["function"]}], "tool_choice": "auto", "include": ["message.output_text.logprobs"], "top_logprobs": 2,
                       "stream": True, "metadata": {"a": "b"}, "store": False, "truncation": "auto", "previous_response_id": None, "top_k": 3}).encode(),
    b"B" + json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "now", "arguments": {"a": 1}}}]},
                       {"role": "tool", "tool_name": "now", "content": "y"}], "options": {"temperature": 1, "num_predict": -2, "num_ctx": 9, "stop": ["a"], "mirostat": 0, "top_k": 3, "seed": 4},
                       "tools": TOOLS[:2], "format": "json", "think": "low", "keep_alive": "5m"}).encode(),
    b"C" + json.dumps({"model": "m", "prompt": "x", "system": "y", "raw": False, "format": LIGHT, "stream": False, "options": {"repeat_penalty": 1.1}, "images": []}).encode(),
    b"C" + json.dumps({"model": "m", "prompt": "x", "raw": True}).encode(),
    b"C" + json.dumps({"model": "m", "prompt": ""}).encode(),
    b"D" + json.dumps({"model": "m", "input": ["a", "b"], "truncate": True, "dimensions": 3}).encode(),
    b"E" + json.dumps({"model": "m", "prompt": "a"}).encode(),
    b"F" + json.dumps({"model": "m", "max_tokens": 5, "system": [{"type": "text", "text": "y"}], "messages": [
        {"role": "user", "content": [{"type": "text", "text": "x"}]}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "h"}, {"type": "tool_use", "id": "c1", "name": "now", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "z"}]}, {"type": "text", "text": "w"}]}],
        "tools": [{"name": "now", "description": "d", "input_schema": LIGHT}], "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}, "stop_sequences": ["a"],
        "thinking": {"type": "enabled", "budget_tokens": 5}, "output_config": {"format": {"type": "json_schema", "schema": LIGHT}}}).encode(),
    b"3I look. <tool_call>\n{\"name\": \"set_light\", \"arguments\": {\"light\": \"r\\\"}d\", \"n\": [4]}}\n</tool_call>",
    b"3a <tool <t<tool_call>\n{\"name\": \"now\", \"arguments\": {",
]
for i, seed in enumerate(SEEDS):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
