#!/usr/bin/python3
"""Mixtures whose experts lie beyond the first 4 GiB of their file, with little memory: ids and logits are the same, whatever is in the cache. The
files are mostly zeros, which take no room on the disk. INGOT_LONG: the shapes of OLMoE-1B-7B (7 GiB) and Qwen3-30B-A3B (16 GiB), which are opened,
planned and decoded within 1 GiB, and Qwen3-30B-A3B in Q8_0 (30 GiB) within 4 GiB; this takes some minutes."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import HOST, WORK, Reply, Tap, run, segments

SECONDS = 1500
MOST_ON_DISK = 2 << 30
# shape, type, GiB beyond which its last layer begins, new tokens, limits
SHAPES = [("experts-4g", "q8_0", 3.5, 2, ("96M", "224M"))]
if os.environ.get("INGOT_LONG"):
    SHAPES += [("olmoe-1b-7b", "q8_0", 6, 8, ("1G", "3G")),
               ("qwen3-30b-a3b", "q4_k", 15.5, 8, ("1G", "3G")),
               ("qwen3-30b-a3b", "q8_0", 28, 2, ("4G", "6G"))]
tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "large-experts.ingot")


def make(shape, kind):
    """Returns False if the disk does not support sparse files."""
    status, said = run([HOST, "synth", "--shape", shape, "--type", kind, "-o", MODEL], SECONDS)
    tap.ok(status == 0, f"{shape} in {kind}: made up", said)
    return status == 0 and os.stat(MODEL).st_blocks * 512 < MOST_ON_DISK


def reply(n, limit):
    return Reply(run([HOST, "run", MODEL, "-p", "a", "-n", str(n), "--temp", "0", "-c", "64",
                      "--mem", limit, "--spec", "off", "--ids"], SECONDS)[1])


def decode(shape, begins, n, limits):
    start, size = segments(MODEL)[-2]
    end = os.path.getsize(MODEL)
    tap.ok(start > begins * 2**30 and end > 2**32 - (1 << 28),
           f"{shape}: its last layer lies at {start / 2**30:.1f} GiB of {end / 2**30:.1f}")
    _, plan = run([HOST, "plan", MODEL, "--mem", limits[0], "-c", "64"], SECONDS)
    tap.ok("experts a layer" in plan, f"{shape}: planned with {limits[0]}", plan)
    replies = [reply(n, limit) for limit in limits]
    first = replies[0]
    tap.ok(first.ids and len(first.ids) == n and first.hash is not None and
           "in the cache" in first.stats, f"{shape}: {n} tokens within {limits[0]}", first.console)
    for limit, other in zip(limits[1:], replies[1:]):
        tap.ok(other.ids == first.ids and other.hash == first.hash and
               "in the cache" in other.stats, f"{shape}: the same within {limit}", other.console)


try:
    for shape, kind, begins, n, limits in SHAPES:
        if make(shape, kind):
            decode(shape, begins, n, limits)
        else:
            tap.skip(shape, "this disk holds no holes")
finally:
    if os.path.exists(MODEL):
        os.unlink(MODEL)
tap.done()
