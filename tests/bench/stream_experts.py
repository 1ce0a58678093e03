#!/usr/bin/python3
"""Compares reading experts from a throttled card with what arithmetic predicts: time per token divided by max(missing bytes / rate, time of
computing), for three rates and three sizes of the cache, on the host.

usage: stream_experts.py [MODEL.ingot [TOKENS]]

A mixture computes a reply greedily (default: two layers of OLMoE-1B-7B's shape with 16 experts, of which a token uses 8). The cache has the smallest
possible number of slots, three quarters of all, or the number half way between. Runs with the cache and runs with everything in memory alternate,
and a run is compared with its neighbours in time, as in stream.py. The missing bytes are those that the program reports as read. A row is the
median of STREAM_RUNS=3. A router chooses only when its layer is reached, so missing experts can load only while experts in memory are computed: a
row's time is at least the larger of the two times, and at most their sum."""

import os
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from figures import print_table
from machine import HOST, WORK, run

SHAPE, TYPE = "olmoe-1b-7b-layers", "q4_0"
PROMPT, TOKENS, CONTEXT = "Tell me a story about a fox.", 9, 128
RATES = [20, 80, 800]  # MB/s
RUNS = int(os.environ.get("STREAM_RUNS", "3"))
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
HEAD = ["MB/s", "slots", "missing a token", "missing / rate, ms", "computing, ms", "a token, ms",
        "over the larger", "over the sum", "in the cache"]


def tell(model, tokens, *words):
    """(seconds per token, bytes that were read, percentage found in the cache)"""
    status, said = run([HOST, "run", model, "-p", PROMPT, "-n", str(tokens), "--temp", "0", "-t",
                        "1", "-c", str(CONTEXT), "--spec", "off", "--ticks", *words], 600)
    ticks = re.search(r"decode (\d+) of (\d+) per second", said)
    count = re.search(r"prompt \+ (\d+) new", said)
    if status != 0 or not ticks:
        sys.exit(f"{words}: no figures\n{said[-2000:]}")
    seconds = int(ticks.group(1)) / int(ticks.group(2)) / (int(count.group(1)) - 1)
    read = re.search(r"read ([\d.]+) (\w+) a (?:token|pass)", said)
    kept = re.search(r"experts: ([\d.]+) %", said)
    return (seconds, float(read.group(1)) * UNITS[read.group(2)] if read else 0.0,
            float(kept.group(1)) if kept else 100.0)


def slots_with(model, limit):
    """(slots, experts) of a layer in the plan; None if the plan caches no experts."""
    _, said = run([HOST, "plan", model, "--mem", str(limit), "-c", str(CONTEXT), "--mem-bw", "1G"])
    found = re.search(r"(\d+) of (\d+) experts a layer", said)
    return found and tuple(map(int, found.groups()))


def limit_for(model, n_slots):
    """The smallest limit with which the cache has this many slots per layer."""
    low, high = 0, os.path.getsize(model)
    while high - low > 1024:
        middle = (low + high) // 2
        slots = slots_with(model, middle)
        low, high = (low, middle) if slots and slots[0] >= n_slots else (middle, high)
    return high


def row(model, tokens, rate, limit):
    found, alone = [], [tell(model, tokens)[0]]
    for _ in range(RUNS):
        with_card = tell(model, tokens, "--mem", str(limit), "--card", f"{rate}M")
        alone.append(tell(model, tokens)[0])
        found.append((*with_card, (alone[-1] + alone[-2]) / 2))
    seconds, read, kept, computing = sorted(found)[len(found) // 2]
    missing = read / (rate * 1e6)
    larger = statistics.median(s / max(r / (rate * 1e6), c) for s, r, _, c in found)
    total = statistics.median(s / (r / (rate * 1e6) + c) for s, r, _, c in found)
    return [str(rate), "{} of {}".format(*slots_with(model, limit)), f"{read / 1e3:.1f} kB",
            f"{1e3 * missing:.2f}", f"{1e3 * computing:.2f}", f"{1e3 * seconds:.2f}",
            f"{larger:.2f}", f"{total:.2f}", f"{kept:.0f} %"]


def made_up():
    path = os.path.join(WORK, f"bench-{SHAPE}-{TYPE}.ingot")
    if not os.path.exists(path):
        run([HOST, "synth", "--shape", SHAPE, "--type", TYPE, "-o", path], 300)
    return path


def main(model=None, tokens=TOKENS):
    os.makedirs(WORK, exist_ok=True)
    model = model or made_up()
    least, most = slots_with(model, limit_for(model, 1))
    limits = [limit_for(model, n) for n in (least, (least + most * 3 // 4) // 2, most * 3 // 4)]
    print_table(f"Experts from a card, {os.path.basename(model)}, time of this computer against itself",
                HEAD, [row(model, int(tokens), rate, limit) for rate in RATES for limit in limits])


if __name__ == "__main__":
    main(*sys.argv[1:])
