#!/usr/bin/python3
"""The memory has room for the layers, but not for the head, the model's largest part. The memory that the layers leave keeps a part of the head, so
a token reads only the rest, as predicted. Ids and logits equal those of the model in memory."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, WORK, Reply, Tap, card_arguments, make_card, run, segments

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "head.ingot")
subprocess.run([HOST, "synth", "--shape", "s15m", "--type", "q8_0", "-o", MODEL], check=True, capture_output=True, timeout=60)
SIZES = [size for _, size in segments(MODEL)]
TOTAL, LAYER = sum(SIZES), max(SIZES[1:-1])
STEP = 512 // 32 * 8 * 306 + 4 * 4096  # rounding may add a tile of rows of 288 q8_0 weights, and pages, also for rows of the embedding
N = 6
OPTIONS = ["-p", "a story", "-n", str(N), "--temp", "0", "-c", "64", "--chunk", "4", "--ids", "--spec", "off"]


def kib(text, pattern):
    found = re.search(pattern + r"([\d.]+) ([KM])iB", text)
    return float(found.group(1)) * (1024 if found.group(2) == "M" else 1) if found else 0.0


def reply(memory, threads, pace):
    status, console = run([HOST, "run", MODEL, *OPTIONS, "-t", str(threads), "--mem", str(memory), "--card", pace])
    return Reply(console) if status == 0 else Reply("")


def same(got):
    return got.ids == whole.ids and got.hash == whole.hash


whole = Reply(run([HOST, "run", MODEL, *OPTIONS, "-t", "1"])[1])
tap.ok(whole.ids and len(whole.ids) == N and "resident" in whole.console, f"in memory: {whole.hash}", whole.console)
seen, last = set(), float("inf")
for i in range(7, 40, 3):
    limit = TOTAL * i // 40
    most = (TOTAL - limit + 2 * LAYER + STEP) / 1024 * 1.005  # KiB that do not fit, and two slots
    for _ in range(3):  # the plan depends on the card's measured rate, which a busy computer lowers
        got = reply(limit, 1 + i % 2, "200M")
        if kib(got.console, r"read ") <= min(last, most):
            break
    layers = re.search(r"pinned (\d) of 6 layers", got.console)
    part = re.search(r", (\d+) % of the head", got.console)
    read, planned = kib(got.console, r"read "), kib(got.console, r"\(planned ")
    what = f"{limit >> 10} KiB: {layers and layers.group(1)} layers, {part.group(1) if part else '?'} % of the head, {read:.0f} KiB a token"
    tap.ok(same(got), f"{what}: the same ids and logits", got.console)
    tap.ok(read and read == planned and read <= last, f"{what}: as planned, and no more than with less memory", got.console)
    if part:
        tap.ok(read <= most, f"{what}: a token reads only what does not fit in addition to two slots", got.console)
        seen.add("all layers" if layers.group(1) == "6" else "some layers")
    last = read
tap.ok(seen == {"all layers", "some layers"}, "a part of the head is resident with all layers, and with some layers", seen)
console = ARM64.run(f'prompt="a story" temp=0 n={N} ctx=64 ids cores=2 spec=off mem={TOTAL * 6 // 10}', 2,
                    card_arguments(make_card("head-card.img", MODEL)))[1]
tap.ok(same(Reply(console)) and re.search(r"pinned \d of 6 layers, \d+ % of the head", console), "virt-arm64: the same, with a part of the head", console)
tap.done()
