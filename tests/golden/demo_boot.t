#!/usr/bin/python3
"""The demo model gives its recorded reply on the virt machines, with the hash of all logits that is recorded here: one boot each, resident on one
machine and streamed on the other."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, RISCV64_V, ROOT, Reply, Tap, card_arguments, make_card, run

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
PROMPT = "Hello! Who are you?"
TEXT = "I am Ingot, a very small language model that runs on this board."
# A different hash means different arithmetic or a different demo model; only a new model may change this line.
HASH, POSITIONS = "ee3816407064281c", 16
STREAMED = "600K"  # mem=: half of the weights

tap = Tap()
card = make_card("demo-boot.img", MODEL)


def boot(machine, words):
    return machine.run(f'prompt="{PROMPT}" temp=0 ids {words}', 2, drives=card_arguments(card))


cells = {
    "host": lambda: run([HOST, "run", MODEL, "-p", PROMPT, "--temp", "0", "--ids", "-q"]),
    "virt-arm64, resident": lambda: boot(ARM64, "cores=2"),
    "virt-riscv64, streamed": lambda: boot(RISCV64_V, f"cores=2 mem={STREAMED}"),
}
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = dict(zip(cells, pool.map(lambda cell: cell(), cells.values())))
for name, (status, console) in results.items():
    reply = Reply(console)
    tap.ok(status == 0 and TEXT in console, f"{name}: says who it is", console)
    tap.ok(reply.hash == HASH and reply.positions == POSITIONS, f"{name}: logits {reply.hash}", console)
    residency = name.rpartition(", ")[2]
    if residency != name:
        tap.ok(f", {residency}" in reply.stats, f"{name}: is {residency}", reply.stats)
tap.done()
