#!/usr/bin/python3
"""A made-up model of every family, with odd sizes, gives the same ids and logits on every machine, resident and streamed."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hf_files import FAMILIES, random_model
from machine import (ARM64, HOST, LONG, RISCV64_WIDE, WORK, Reply, Tap, card_arguments, segments, make_card,
                     run)

PROMPT = "The cat sat on the mat and looked"
N = 24
KINDS = {"qwen2": "q8_0", "gemma2": "q4_0", "gpt2": "q8_0", "phi3": "f16"}  # the other models are F32
CELLS = [("host", "resident", 1), ("host", "streamed", 2), (ARM64, "resident", 2), (RISCV64_WIDE, "streamed", 2),
         *([(ARM64, "streamed", 1), (RISCV64_WIDE, "resident", 1)] if LONG else [])]

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def make(family):
    """(the .ingot, a limit for two layers)"""
    out = os.path.join(WORK, f"random-{family}.ingot")
    status, console = run([HOST, "pack", random_model(family), "-o", out,
                           *(["--type", KINDS[family]] if family in KINDS else [])])
    tap.ok(status == 0, f"{family}: packed", console)
    return out, 2 * max(size for _, size in segments(out)[1:-1]) + 2 * 4096


models = {family: make(family) for family in FAMILIES}
card = make_card("machines-card.img", *(path for path, _ in models.values()))


def cell(key):
    family, (machine, mode, cores) = key
    path, limit = models[family]
    if machine == "host":
        status, console = run([HOST, "run", path, "-p", PROMPT, "-n", str(N), "--temp", "0",
                               "--ids", "-t", str(cores), "--chunk", "16",
                               *(["--mem", str(limit)] if mode == "streamed" else [])])
    else:
        words = f'prompt="{PROMPT}" temp=0 n={N} ids cores={cores} model=random-{family}'
        words += f" mem={limit}" if mode == "streamed" else ""
        status, console = machine.run(words, cores, card_arguments(card))
    reply = Reply(console)
    reply.status = status
    return reply


keys = [(family, c) for family in FAMILIES for c in CELLS]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    replies = dict(zip(keys, pool.map(cell, keys)))
for family in FAMILIES:
    expected = replies[family, CELLS[0]]
    tap.note(f"{family:8} {expected.hash} {' '.join(map(str, expected.ids or []))}")
    # a made-up model may end its reply with BOS
    tap.ok(expected.ids and len(expected.ids) >= 8 and len(set(expected.ids)) > 2,
           f"{family}: tokens, not all the same", expected.console)
    for c in CELLS[1:]:
        reply = replies[family, c]
        name = "host" if c[0] == "host" else c[0].label
        tap.ok(reply.ids and reply.ids == expected.ids and reply.hash == expected.hash and
               reply.positions > 0 and (c[1] != "streamed" or "streamed" in reply.stats),
               f"{family}: {name}, {c[1]}: the same ids and logits", reply.console)
tap.ok(len({r.hash for r in (replies[f, CELLS[0]] for f in FAMILIES)}) == len(FAMILIES),
       "no two families compute the same")
tap.done()
