#!/usr/bin/python3
"""Published models on both virt machines, in tests that take minutes (`make test-long`): Gemma 3 270M has the ids and logits that it has on this
computer, and so does SmolLM2-135M with keys and values that spill to the card."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, BUILD, HOST, LONG, RISCV64_WIDE, WORK, Reply, Tap, card_arguments, make_card, run
from talk import own_copy

FOLDER = os.path.join(BUILD, "models/published")
SECONDS, N = 1800, 6
CONTEXT = 1024
STORY = "It rained for a week, and then it snowed. " * 14  # about 150 tokens, which take three pages of keys and values
SPILL = "112M"  # mem=: the weights of SmolLM2, and keys and values of some layers
tap = Tap()


def model(name, rows):
    """The packed file, which is made from a GGUF in the same folder if needed; None if both are missing, and then the rows
    are skipped."""
    stem = os.path.join(FOLDER, name)
    if not LONG:
        why = "it takes minutes: make test-long"
    elif os.path.exists(stem + ".ingot"):
        return stem + ".ingot"
    elif os.path.exists(stem + ".gguf"):
        out = os.path.join(WORK, f"real-long-{name}.ingot")
        return out if run([HOST, "pack", stem + ".gguf", "-o", out, "-q"], timeout=600)[0] == 0 else None
    else:
        why = f"{name} is not there: make model NAME={name} brings it"
    for row in rows:
        tap.skip(row, why)
    return None


def same(one, other):
    return bool(one.ids) and one.ids == other.ids and one.hash == other.hash


def gemma():
    machines = (ARM64, RISCV64_WIDE)
    path = model("gemma3-270m", [f"{m.board}: Gemma 3 270M" for m in machines])
    if path is None:
        return
    prompt = "The capital of France is"
    base = Reply(run([HOST, "run", path, "-p", prompt, "--temp", "0", "-n", str(N), "--ids", "-q"])[1])
    card = make_card("real-long-gemma.img", path)
    for machine in machines:
        status, console = machine.run(f'prompt="{prompt}" temp=0 n={N} ids cores=2', 2, card_arguments(card), timeout=SECONDS)
        reply = Reply(console)
        tap.ok(status == 0 and same(reply, base), f"{machine.board}: Gemma 3 270M, ids {reply.ids}, logits {reply.hash}", console)
    os.remove(card)


def spill():
    machines = (ARM64, RISCV64_WIDE)
    path = model("smollm2-135m", [f"{m.board}: SmolLM2, keys and values on the card" for m in machines])
    if path is None:
        return
    base = Reply(run([HOST, "run", path, "-p", STORY, "--temp", "0", "-n", str(N), "-c", str(CONTEXT), "--ids", "--spec", "off", "-q"])[1])
    card = make_card("real-long-spill.img", "--power-of-two", "--kv", "64", path)
    for machine in machines:
        own = own_copy(card, f"real-long-{machine.board}.img")
        drive = ["-drive", f"if=none,id=card,format=raw,cache=unsafe,file={own}", "-device", "virtio-blk-device,drive=card"]
        status, console = machine.run(f'prompt="{STORY}" temp=0 n={N} ids spec=off ctx={CONTEXT} kv=card mem={SPILL} cores=2', 2, drive, timeout=SECONDS)
        reply = Reply(console)
        layers = re.search(r"; (\d+) of 30 layers on the card", console)
        figures = re.search(r"keys and values: read ([^,]*), wrote ([^,\]]*)", reply.stats)
        tap.ok(status == 0 and same(reply, base), f"{machine.board}: SmolLM2 with kv=card, ids {reply.ids}, logits {reply.hash}", console)
        tap.ok(layers and int(layers.group(1)) > 0 and figures and figures.group(1) != "0 B" and figures.group(2) != "0 B",
               f"{machine.board}: {layers.group(0) if layers else 'no spill'}, read {figures.group(1) if figures else 'nothing'}", console)
        os.remove(own)
    os.remove(card)


os.makedirs(WORK, exist_ok=True)
gemma()
spill()
tap.done()
