#!/usr/bin/python3
"""Parallel sequences on boards: /bench with together= prints for each sequence the same tokens and logits as for that sequence alone, on the
host, arm64 and riscv64, resident and streamed, with any number of cores."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, ASSETS, HOST, LONG, Machine, RISCV64, RISCV64_WIDE, Tap, card_arguments, make_card, pack, run, segments
from talk import Console

STORIES = os.path.join(ASSETS, "llama2c/stories260K.bin")
tap = Tap()
if not os.path.exists(STORIES):
    tap.skip("parallel sequences on boards", "no " + STORIES + " (set INGOT_ASSETS)")
    tap.done()
model = pack(STORIES, "q8_0", "together.ingot")
card = make_card("together-card.img", model)
limit = 2 * max(size for _, size in segments(model)[1:-1]) + 2 * 4096
LINE = r"(\d) parallel sequences: ([\d.]+) tok/s in (\d+) passes; one at a time: ([\d.]+) tok/s in (\d+); each 16 tokens after 16"


def sequences(text):
    return re.findall(r"^sequence \d: ([\d ]+); logits ([0-9a-f]{16})$", text.replace("\r", ""), re.M)


def cell(key):
    machine, n, cores, mode = key
    if machine == "host":
        return run([HOST, "bench", model, "--together", str(n), "--ids", "-c", "256", "-t", str(cores),
                    *(["--mem", str(limit)] if mode == "streamed" else [])])[1]
    words = f"together={n} ids ctx=256 cores={cores} model=together verbose" + (f" mem={limit}" if mode == "streamed" else "")
    with Console(machine, words, card_arguments(card), cores) as k:
        start = k.prompt()
        return start + k.say("/bench", 100)


CELLS = [("host", 4, 1, "resident"), ("host", 4, 3, "streamed"), ("host", 8, 2, "resident"), ("host", 2, 1, "streamed"),
         (ARM64, 4, 4, "resident"), (ARM64, 8, 2, "streamed"),
         (RISCV64_WIDE, 4, 1, "resident"), (RISCV64_WIDE, 4, 4, "streamed"), (RISCV64, 2, 2, "resident")]
if LONG:
    CELLS += [(m, n, c, mode) for m in (ARM64, RISCV64_WIDE, RISCV64) for n in (2, 8) for c in (1, 4) for mode in ("resident", "streamed")]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    texts = list(pool.map(cell, CELLS))
want = sequences(run([HOST, "bench", model, "--together", "8", "--ids", "-c", "256", "--isa", "ref"])[1])
tap.ok(len(want) == 8 == len(set(want)), "eight sequences have different tokens", want)
for (machine, n, cores, mode), text in zip(CELLS, texts):
    found, name = re.search(LINE, text), machine if machine == "host" else machine.label
    tap.ok(found and int(found[1]) == n and sequences(text) == want[:n] and "error" not in text and
           (f"plan: {mode}" in text or name == "host"),
           f"{name}, {n} of them, {cores} core{'s' * (cores > 1)}, {mode}: tokens and logits of each alone", text[-1500:])
    tap.ok(found and int(found[3]) == 16 and int(found[5]) == 16 * n, "... in the number of passes that one of them takes", found and found[0])

# If a sequence does not fit into memory, a message says so, and the board still replies.
with Console(Machine("virt-arm64", extra=["-m", "9M"]), "together=8 ctx=512 model=together", card_arguments(card), 1) as k:
    start = k.prompt()
    tap.ok("warning: together=8 cannot be used" in start and "one sequence is used" in start and "ready" in start and
           "decode of 16" in k.say("/bench"), "together=8 with little memory is refused, and the board replies", start)
with Console(ARM64, "together=1 ctx=256 model=together", card_arguments(card), 1) as k:
    k.prompt()
    tap.ok("parallel" not in k.say("/bench"), "/bench of one sequence prints no figures of several", k.seen)
tap.done()
