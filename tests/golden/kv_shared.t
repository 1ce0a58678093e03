#!/usr/bin/python3
"""Keys and values on a card, for models in which some layers read the keys of earlier layers (Gemma 4): only layers
with their own keys spill, and ids and logits equal those with everything in memory. These models also have a table
per layer, whose rows have checksums."""

import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gemma4_assistant import assistant_of, noise
from gguf_files import ARRAY, I32, Gguf
from machine import ASSETS, HOST, WORK, Reply, Tap, run, segments
from widened import read_gguf

SOURCE = os.path.join(ASSETS, "arch/gemma4.gguf")
# The first three of six layers (local, local, global) keep keys and values; the other layers read those of the last
# two of the three.
OWN, TIMES, ALL, PER_LAYER = 3, 3, 6, 8
SPILL = OWN * TIMES - 2
CONTEXT, TILE = 1024, 64
LONG = "It rained for a week, and then it snowed. " * 7

tap = Tap()
os.makedirs(WORK, exist_ok=True)
if not os.path.exists(SOURCE):
    tap.skip("shared keys on a card", f"no {SOURCE} (set INGOT_ASSETS)")
    tap.done()


def deeper(g):
    """A model with the layers that have their own keys repeated TIMES times, then the layers that
    share keys."""
    order = list(range(OWN)) * TIMES + list(range(OWN, ALL))
    out = Gguf(g.architecture)
    out.values = list(g.values)
    out.add("gemma4.block_count", 4, struct.pack("<I", len(order)))
    out.array("gemma4.feed_forward_length", I32,
              [struct.pack("<i", 32 if i < OWN else 64) for i in order])
    out.array("gemma4.attention.sliding_window_pattern", 7, [bytes([i % 3 != 2]) for i in order])
    for name, dims, kind, raw in g.tensors:
        if name.startswith("per_layer_token_embd"): # each row contains parts for all layers
            step, rest = 4 * PER_LAYER, 4 * PER_LAYER * ALL
            raw = b"".join(raw[at + step * i:][:step] for at in range(0, len(raw), rest) for i in order)
            dims = [PER_LAYER * len(order), dims[1]]
        elif name.startswith("per_layer_model_proj"):
            step = len(raw) // ALL
            raw = b"".join(raw[step * i:][:step] for i in order)
            dims = [dims[0], PER_LAYER * len(order)]
        if not name.startswith("blk."):
            out.tensor(name, dims, kind, raw)
    tensors = {name: rest for name, *rest in g.tensors}
    for number, i in enumerate(order):
        for name, rest in tensors.items():
            if name.startswith(f"blk.{i}."):
                out.tensor(name.replace(f"blk.{i}.", f"blk.{number}."), *rest)
    return out


GGUF, MODEL = (os.path.join(WORK, "kv-shared." + end) for end in ("gguf", "ingot"))
FILE = os.path.join(WORK, "kv-shared.kv")
g = read_gguf(SOURCE)
g.architecture = "gemma4"
deeper(g).write(GGUF)
status, said = run([HOST, "pack", GGUF, "-o", MODEL, "-q"])
tap.ok(status == 0, "a model of nine layers that keep and three that read", said)
DRAFT = os.path.join(WORK, "kv-shared-draft")
assistant_of(g, noise(5)).write(DRAFT + ".gguf")
status, said = run([HOST, "pack", DRAFT + ".gguf", "-o", DRAFT + ".ingot", "-q"])
tap.ok(status == 0, "an assistant, which cannot read keys on the card", said)


def generate(kv, mem=None, cores=1, more=()):
    words = ["--kv", kv, "-t", str(cores), "-c", str(CONTEXT), "--kv-file", FILE, *more]
    status, console = run([HOST, "run", MODEL, "-p", LONG, "-n", "90", "--temp", "0", "--ids", *words,
                           *(["--mem", str(mem)] if mem else [])])
    r = Reply(console)
    r.status = status
    return r


def spilled(r):
    plan = re.search(r"; (\d+) of (\d+) layers on the card", r.console)
    return tuple(int(n) for n in plan.groups()) if plan else (0, 0)
with open(FILE, "wb") as f:
    f.truncate(8 << 20)
WEIGHTS = sum(n for _, n in segments(MODEL))
base = generate("f16")
tap.ok(base.status == 0 and len(base.ids) == 90, "90 tokens in memory", base.console)
ROOM = WEIGHTS + (256 << 10)  # keys and values need memory too: 786 KiB if all of them stay in memory
for what, mem, cores, more in (("resident", ROOM, 1, []), ("four cores", ROOM, 4, []),
                               ("chunks of 16", ROOM, 1, ["--chunk", "16"]),
                               ("guesses", ROOM, 1, ["--spec", "ngram"]),
                               ("an assistant", ROOM + (64 << 10), 1, ["--spec", "ngram", "--draft", DRAFT + ".ingot"]),
                               ("streamed", WEIGHTS, 1, [])):
    r = generate("card", mem, cores, more)
    guessed = re.search(r"\d+ of \d+ guesses", r.stats)
    if what == "an assistant":
        tap.ok(guessed and guessed[0] == by_text, f"it is left out, and the text guesses: {guessed and guessed[0]}", r.console)
    by_text = guessed and guessed[0]
    n, of = spilled(r)
    tap.ok(r.status == 0 and (r.ids, r.hash) == (base.ids, base.hash) and n >= 3 and of == SPILL and
           ("streamed" in r.stats) == (what == "streamed"),
           f"kv=card, {what}: as in memory, {n} of {of} layers on the card", r.console)
run([HOST, "pack", SOURCE, "-o", MODEL, "-q"])
base, r = generate("f16"), generate("card")
tap.ok(r.status == 0 and (r.ids, r.hash) == (base.ids, base.hash) and spilled(r) == (0, 0),
       "of a model with one layer that may spill, all stay", r.console)
offset, n = segments(MODEL)[1]  # the table per layer
with open(MODEL, "r+b") as f:
    f.seek(offset)
    raw = bytearray(f.read(n))
    raw[::16] = bytes(byte ^ 1 for byte in raw[::16])
    f.seek(offset)
    f.write(raw)
r = generate("f16")
tap.ok(r.status != 0 and "per-layer table: the checksum does not match" in r.console,
       "a table that is damaged is refused by name", r.console)
tap.done()
