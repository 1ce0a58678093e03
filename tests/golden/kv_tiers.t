#!/usr/bin/python3
"""Low-bit types, tiers by age, and sinks give the same ids and logits on every machine, with one core and four, in chunks of one token and of 128,
while tiles move between tiers and tokens are dropped from the middle."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, ASSETS, HOST, LONG, RISCV64_WIDE, ROOT, Reply, Tap, card_arguments, make_card, pack, run

STORIES = os.path.join(ASSETS, "llama2c/stories260K.bin")
TEXT = os.path.join(ASSETS, "text/tinystories-eval-64K.txt")
PROMPT_BYTES, TOKENS = (560, 40) if LONG else (430, 12) # about 260 tokens, or 200, which give tiles of every tier
# A story that is longer than its context; the hash covers only its first rows of logits, and the ids show the rest.
SINKS = {"kv": "f16", "overflow": "sinks", "ctx": 256 if LONG else 192, "n": 400 if LONG else 260, "temp": 0.9, "seed": 5}
BEGINNING = "Once upon a time"
CASES = {
    "tiers:64,64,kivi": {"kv": "tiers:64,64,kivi", "n": TOKENS},
    "tiers:64,0,f16,f16,rot_q4": {"kv": "tiers:64,0,f16,f16,rot_q4", "n": TOKENS},
    "ruv": {"kv": "ruv", "n": TOKENS},
    **{kv: {"kv": kv, "n": TOKENS} for kv in ("rot_q8", "rot_q4", "uniform_4b")},
    "sinks, f16": SINKS,
    "sinks, rot_q8": {**SINKS, "kv": "rot_q8"},
    "sinks, uniform_4b": {**SINKS, "kv": "uniform_4b"},
}

tap = Tap()
for path in (STORIES, TEXT):
    if not os.path.exists(path):
        tap.skip("tiers and sinks", "no " + path + " (set INGOT_ASSETS)")
        tap.done()
with open(TEXT, encoding="utf-8") as f:
    prompt = " ".join(f.read(PROMPT_BYTES).replace('"', "'").split())
model = pack(STORIES, "q8_0", "kv-tiers.ingot")
card = make_card("kv-tiers-card.img", model)


def said(words):
    return BEGINNING if "overflow" in words else prompt


def host(words, cores, chunk):
    options = [a for name, value in {"temp": 0, **words}.items() for a in (f"--{name}" if name != "n" else "-n", str(value))]
    return run([HOST, "run", model, "-p", said(words), "--ids", "--threads", str(cores),
                "--chunk", str(chunk)] + options)


def image(machine, words, cores):
    options = " ".join(f"{name}={value}" for name, value in words.items())
    return machine.run(f'prompt="{said(words)}" temp=0 ids cores={cores} model=kv-tiers {options}', cores,
                       card_arguments(card))


cells = {}
for i, (case, words) in enumerate(CASES.items()):
    cells[case, "host, 1 core, chunk 128"] = lambda w=words: host(w, 1, 128)
    cells[case, "host, 4 cores, chunk 1"] = lambda w=words: host(w, 4, 1)
    if LONG or i % 2 == 0: # without LONG each case runs on one machine; both machines get cases of tiers, types and sinks
        cells[case, "virt-arm64, 4 cores"] = lambda w=words: image(ARM64, w, 4)
    if LONG or i % 2 == 1:
        cells[case, "virt-riscv64, 1 core"] = lambda w=words: image(RISCV64_WIDE, w, 1)
with ThreadPoolExecutor(os.cpu_count()) as pool:
    replies = dict(zip(cells, pool.map(lambda cell: Reply(cell()[1]), cells.values())))
for (case, where), reply in replies.items():
    first = replies[case, "host, 1 core, chunk 128"]
    tap.ok(reply.ids is not None and len(reply.ids) > 10 and reply.ids == first.ids and
           reply.positions == first.positions > 10 and reply.hash == first.hash,
           f"{case}: {where}: {len(reply.ids or [])} ids, logits {reply.hash}", reply.console)
    if case.startswith("sinks"):
        tap.ok("tokens after the first 64 are dropped" in reply.console, "the reply says which tokens were dropped",
               reply.console)
hashes = {replies[case, "host, 1 core, chunk 128"].hash for case in CASES if case.startswith("tiers")}
tap.ok(len(hashes) == 2, "tiers have logits of their own", str(hashes))
demo = os.path.join(ROOT, "models/demo-q8_0.ingot")
for kv in ("turbo_4b", "qjl_1b", "tiers:64,64,f16,q8,uniform_2b", "turbo"):
    status, said = run([HOST, "run", demo, "-p", "Hi", "-n", "1", "-q", "--kv", kv])
    tap.ok(status != 0 and kv in said, f"{kv}: only a program for measurements has it", said)
tap.done()
