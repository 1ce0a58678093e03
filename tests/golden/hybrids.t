#!/usr/bin/python3
"""Models with every kind of mixer, with experts, and with a table per layer give the same ids and logits on every machine, resident and streamed,
in chunks and token by token, and with guesses."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, ASSETS, HOST, LONG, RISCV64, RISCV64_WIDE, WORK, Reply, Tap, card_arguments,
                     make_card, run, segments)

PROMPT = "Once upon a time there was a time there was a"
N = 16
MODELS = {"qwen35_gqa": "q8_0", "lfm2moe": "q4_0", "granitehybrid_moe": "q8_0", "gemma4": "q4_0",
          "gptoss_mxfp4": None, "olmoe": "f32", "deepseek2_lite": "q8_0",
          "deepseek2_v3": "f32"}  # None: the types of the file
CACHED = ("lfm2moe", "olmoe", "deepseek2_lite", "deepseek2_v3")  # models whose experts are cached
# machine, mode, cores, additional arguments
CELLS = [("host", "resident", 1, ()), ("host", "streamed", 2, ("chunk=1",)),
         ("host", "resident", 2, ("spec=ngram",)), (ARM64, "resident", 4, ("spec=ngram",)),
         (RISCV64_WIDE, "streamed", 1, ()),
         *([(ARM64, "streamed", 1, ()), (RISCV64_WIDE, "resident", 1, ("chunk=1",)),
            (RISCV64_WIDE, "streamed", 4, ()), (RISCV64, "streamed", 2, ("spec=ngram",))] if LONG else [])]

tap = Tap()
os.makedirs(WORK, exist_ok=True)
found = [name for name in MODELS if os.path.exists(os.path.join(ASSETS, "arch", name + ".gguf"))]
if not found:
    tap.skip("models of hybrids and experts", os.path.join(ASSETS, "arch"))
    tap.done()


def make(name):
    """(path of the .ingot; a memory limit for two layers and everything that never streams)"""
    out = os.path.join(WORK, f"hybrid-{name}.ingot")
    status, console = run([HOST, "pack", os.path.join(ASSETS, "arch", name + ".gguf"), "-o", out,
                           *(["--type", MODELS[name]] if MODELS[name] else [])])
    tap.ok(status == 0, f"{name}: packed", console)
    layers = segments(out)[2 if name == "gemma4" else 1:-1]  # the table of gemma4 needs no memory
    return out, 2 * max(size for _, size in layers) + 2 * 4096


models = {name: make(name) for name in found}
card = make_card("hybrids-card.img", *(path for path, _ in models.values()))


def cell(key):
    name, (machine, mode, cores, words) = key
    path, limit = models[name]
    if machine == "host":
        options = [o for w in words for o in ("--" + w.split("=")[0], w.split("=")[1])]
        status, console = run([HOST, "run", path, "-p", PROMPT, "-n", str(N), "--temp", "0",
                               "--ids", "-t", str(cores), *options,
                               *(["--mem", str(limit)] if mode == "streamed" else [])])
    else:
        line = f'prompt="{PROMPT}" temp=0 n={N} ids cores={cores} model=hybrid-{name}'
        line += f" mem={limit}" if mode == "streamed" else ""
        status, console = machine.run(" ".join((line, *words)), cores, card_arguments(card))
    reply = Reply(console)
    reply.status = status
    return reply


keys = [(name, c) for name in found for c in CELLS]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    replies = dict(zip(keys, pool.map(cell, keys)))
for name in found:
    expected = replies[name, CELLS[0]]
    tap.note(f"{name:18} {expected.hash} {' '.join(map(str, expected.ids or []))}")
    tap.ok(expected.ids and len(expected.ids) >= 2, f"{name}: tokens", expected.console)
    for c in CELLS[1:]:
        reply = replies[name, c]
        label = "host" if c[0] == "host" else c[0].label
        tap.ok(reply.ids and reply.ids == expected.ids and reply.hash == expected.hash and
               (c[1] != "streamed" or "streamed" in reply.stats) and
               (c[1] != "streamed" or name not in CACHED or "in the cache" in reply.stats),
               f"{name}: {' '.join((label, c[1], str(c[2]), *c[3]))}: the same ids and logits",
               reply.console)
tap.ok(len({replies[n, CELLS[0]].hash for n in found}) == len(found), "no two compute the same")
tap.done()
