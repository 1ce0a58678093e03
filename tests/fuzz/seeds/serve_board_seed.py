#!/usr/bin/env python3
"""Write seeds for serve_board_fuzz: a board's events, and bodies with every field. usage: serve_board_seed.py OUT"""
import json
import sys

EVENTS = [{"event": "ready", "protocol": 1, "model": "demo-q8_0.ingot", "line_limit_bytes": 8191},
          {"event": "ready", "model": "a", "defaults": {"temp": 0.25, "top_p": 1, "min_p": -1, "repeat": 1e99, "top_k": 40, "repeat_last_n": 1048576, "x": 2}},
          {"event": "token", "id": 4, "token": 58, "text": "7 \u00e9"}, {"event": "token", "id": 4, "token": 9, "logprob": -0.5, "top_logprobs": [{"token": 9, "logprob": -0.5, "text": "a"}, {"token": 7, "logprob": None, "text": "\u00e9"}], "text": "a"},
          {"event": "error", "id": 3, "name": "line", "column": 9, "text": "too long"},
          {"event": "usage", "id": 4, "finish_reason": "stop", "prompt_tokens": 43, "cached_tokens": 24, "completion_tokens": 8},
          {"event": "done", "id": 4, "reason": "end", "decode_passes": 8, "decode_tokens_per_s": 49.5, "first_token_ms": 222.655, "card_mb_per_s": None, "temperature_c": 48.3, "context_tokens": 24},
          {"event": "model", "id": 5, "bytes": 1282048, "loaded": True, "model": "demo-q8_0.ingot"},
          {"event": "plan", "id": 5, "residency": "streamed", "layers": 4, "layers_streamed": 4, "slots": 2, "memory_bytes": 531386368},
          {"event": "stats", "id": 5, "temperature_c": 48.3, "memory": [{"name": "meta\u202e", "used_bytes": 81920, "bytes": 81920}]}]
BODIES = [b"1" + json.dumps({"messages": [{"role": "system", "content": "Be \x7f brief."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"},
                                          {"role": "user", "content": "a\n\u00e9"}], "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "min_p": 0.1, "repeat": 1.1,
                             "top_k": 7, "seed": 3, "stop": ["a", "b\n"], "think": False}).encode(),
          b"2" + json.dumps({"prompt": "Once upon", "stop": "x"}).encode(), b"\xfe" + json.dumps({"model": "a"}).encode(), b"\xfe" + json.dumps({"model": "b"}).encode()]
for i, seed in enumerate([b"0" + json.dumps(e).encode() for e in EVENTS] + BODIES):
    with open(sys.argv[1] + (f"-{i}" if i else ""), "wb") as f:
        f.write(seed)
