#!/usr/bin/python3
"""The demo mixture, whose routers were trained: it says the same, with the same logits, whatever is in the
cache of its experts, on the host and on both virt machines; and in conversations half of its
experts are there four times of five."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, RISCV64_V, ROOT, Reply, Tap, card_arguments, make_card, run

MODEL = os.path.join(ROOT, "models/mixture-q4_0.ingot")
PROMPT = "Hello! Who are you?"
TEXT = "I am called Ingot. I am a small model that tells stories and adds small numbers."
# Another hash means other arithmetic, or another mixture: only the second may change this line.
HASH, POSITIONS = "b00ace5b67163d63", 21
MOST_BYTES = 6 << 20
LIMITS = ["850K", "1M", "1400K", "1800K", "2400K", "3M"]  # 2 to 15 slots of 16
HALF, AT_LEAST = "1800K", 78  # percent; the whole examination has 80: tests/bench/experts.py
STORIES = ["Tell me a story about a fox.", "What is 3 + 4?", "Tell me a story about a king.",
           "Hello!", "Tell me a story about a boat."]

tap = Tap()
tap.ok(os.path.getsize(MODEL) <= MOST_BYTES, f"{os.path.getsize(MODEL)} bytes")
card = make_card("mixture.img", MODEL)


def on_host(*words):
    return run([HOST, "run", MODEL, "-p", PROMPT, "--temp", "0", "--ids", *words])


def boot(machine, words):
    return machine.run(f'prompt="{PROMPT}" temp=0 ids {words}', 4, drives=card_arguments(card))


cells = {"host, resident": lambda: on_host("-t", "1")}
for limit in LIMITS:
    cells[f"host, {limit}, streamed"] = lambda limit=limit: on_host("--mem", limit, "-t", "1")
cells.update({
    "host, 4 threads, one token at a time, streamed":
        lambda: on_host("--mem", "1M", "-t", "4", "--chunk", "1", "--spec", "off"),
    "virt-arm64, resident": lambda: boot(ARM64, "cores=4"),
    "virt-arm64, 2 slots, streamed": lambda: boot(ARM64, "cores=4 mem=850K"),
    "virt-arm64, half, streamed": lambda: boot(ARM64, f"cores=1 mem={HALF}"),
    "virt-riscv64, half, streamed": lambda: boot(RISCV64_V, f"cores=4 chunk=1 mem={HALF}"),
})
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = dict(zip(cells, pool.map(lambda cell: cell(), cells.values())))
slots = set()
for name, (status, console) in results.items():
    reply = Reply(console)
    tap.ok(status == 0 and TEXT in console and reply.hash == HASH and reply.positions == POSITIONS,
           f"{name}: says who it is, logits {reply.hash}", console)
    residency = name.rpartition(", ")[2]
    tap.ok(f", {residency}" in reply.stats and
           ("in the cache" in reply.stats) == (residency == "streamed"),
           f"{name}: is {residency}", reply.stats)
    slots.update(re.findall(r"(\d+) of 16 experts a layer", console))
tap.ok(len(slots) >= 6 and "8" in slots, f"caches of {' '.join(sorted(slots, key=int))} slots")

_, console = run([HOST, "chat", MODEL, "--temp", "0", "-t", "1", "--spec", "off", "--mem", HALF],
                 stdin="".join(s + "\n" for s in STORIES).encode())
found = [(float(kept), int(read))
         for kept, read in re.findall(r"experts: ([\d.]+) % in the cache, (\d+) read", console)]
asked = sum(read / (1 - kept / 100) for kept, read in found if kept < 100)
share = 100 - 100 * sum(read for _, read in found) / max(1, asked)
tap.ok(len(found) == len(STORIES) and share >= AT_LEAST,
       f"half of the experts: {share:.1f} % were in the cache", console)

_, console = run([HOST, "chat", MODEL, "--temp", "0", "-t", "1", "--spec", "off", "--mem", HALF,
                  "--card", "10M"], stdin=f"{STORIES[0]}\n/stats\n".encode())
closing = re.search(r"read .* in all at ([\d.]+) MB/s.* (\d+) read \(([^)]*)\), (\d+) waited for", console)
told = re.search(r"^experts: .* (\d+) read \(([^)]*)\), (\d+) waited for", console, re.M)
layers = re.findall(r"^  layer (\d+) +([\d.]+) % of (\d+) in the cache", console, re.M)
read = sum(round(int(n) * (1 - float(share) / 100)) for _, share, n in layers)
tap.ok(closing and told and closing.groups()[1:] == told.groups() and len(layers) == 4 and
       abs(read - int(told.group(1))) <= 4, "/stats tells the same, layer by layer", console)
tap.ok(closing and 8 <= float(closing.group(1)) <= 11, "and how fast the card gave them", console)
tap.done()
