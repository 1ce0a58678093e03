#!/usr/bin/python3
"""Measures how often the cache has the experts that the trained mixture needs, in conversations on which it was not trained,
with the program's own rule and with other rules for the same requests.

usage: experts.py [MODEL.ingot] [--exchanges N]

The requests are real: build/tests/bench/routes is the Linux program that records every router's choice. All rules see the same
requests and begin with an empty cache. `average` is the rule of runtime/stream/stream_experts.c, computed here too: its figure
must be close to the program's own, which differs only because the program frees slots in another order in a prompt's chunk.
`best` knows the future: no rule that reads only requested experts is better."""

import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../models/generator"), HERE]
import held_out
from figures import print_table
from machine import BUILD, ROOT, WORK

ROUTES = os.path.join(BUILD, "tests/bench/routes")
MODEL = os.path.join(ROOT, "models/mixture-q4_0.ingot")
USE_ONE, USE_TOKENS = 1 << 16, 32  # as in stream_experts.c
NEVER = 1 << 60
NEAR = 0.03
SECONDS = 600


class Layer:
    """A layer's cache under a rule: `slots` is the set of its experts, `now` counts passes."""

    def __init__(self, n_slots):
        self.n_slots, self.slots, self.now = n_slots, set(), 0
        self.use, self.last, self.rng = {}, {}, random.Random(1)

    def ask(self, n_tokens, counts, rule, after):
        """Use the experts of counts {expert: tokens}; returns those that were in the cache, in ascending order."""
        for e in set(self.use) | set(counts):
            share = counts.get(e, 0) * USE_ONE // n_tokens
            step = (share - self.use.get(e, 0)) * min(n_tokens, USE_TOKENS)
            self.use[e] = self.use.get(e, 0) + int(step / USE_TOKENS)  # truncated towards 0, as in C
        kept, needed = len(self.slots & set(counts)), set(counts)
        for e in sorted(counts):
            if e not in self.slots:
                self.make_room(needed, rule, after)
                self.slots.add(e)
            self.last[e] = self.now
            if len(counts) > self.n_slots:
                needed.discard(e)  # if a chunk's experts do not all fit, an expert may be dropped once it is used
        self.now += 1
        return kept

    def make_room(self, needed, rule, after):
        if len(self.slots) < self.n_slots:
            return
        free = sorted(self.slots - needed) or [max(self.slots & needed)]
        worst = {"average": lambda e: (-self.use.get(e, 0), e),
                 "lru": lambda e: (-self.last[e], e),
                 "best": lambda e: (after(e, self.now), e)}
        self.slots.discard(self.rng.choice(free) if rule == "random" else max(free, key=worst[rule]))


def after_of(passes):
    """Returns a function that gives the number of the next pass after `now` in which an expert is requested."""
    asked = {}
    for i, (_, counts) in enumerate(passes):
        for e in counts:
            asked.setdefault(e, []).append(i)
    at = dict.fromkeys(asked, 0)

    def after(e, now):
        times = asked[e]
        while at[e] < len(times) and times[at[e]] <= now:
            at[e] += 1
        return times[at[e]] if at[e] < len(times) else NEVER
    return after


def play(routes, n_slots, rule):
    """(experts found, experts asked for) of single tokens, and of all passes."""
    single, all_ = [0, 0], [0, 0]
    for passes in routes.values():
        layer, after = Layer(n_slots), after_of(passes)
        for n_tokens, counts in passes:
            kept = layer.ask(n_tokens, counts, rule, after)
            for sum_ in (single, all_) if n_tokens == 1 else (all_,):
                sum_[0] += kept
                sum_[1] += len(counts)
    return single, all_


def read_routes(path):
    """{layer: [(tokens, {expert: tokens that take it})]}"""
    out = {}
    with open(path, encoding="ascii") as f:
        for line in f:
            layer, n_tokens, *chosen = line.split()
            counts = dict(map(int, c.split(":")) for c in chosen)
            out.setdefault(int(layer), []).append((int(n_tokens), counts))
    return out


def slots_of(model, limit):
    """(slots, experts) of a layer in the plan; None if there is no plan, or if it caches no experts."""
    said = subprocess.run([ROUTES, "plan", model, "--mem", str(limit), "--mem-bw", "1G"],
                          capture_output=True, text=True, timeout=SECONDS).stdout
    found = re.search(r"(\d+) of (\d+) experts a layer", said)
    return found and tuple(map(int, found.groups()))


def limit_for(model, n_slots):
    """The smallest mem= that gives this number of slots."""
    low, high = 0, os.path.getsize(model)
    while high - low > 1024:
        middle = (low + high) // 2
        slots = slots_of(model, middle)
        low, high = (low, middle) if slots and slots[0] >= n_slots else (middle, high)
    return high


def converse(model, limit, exchanges):
    """Run all conversations once; returns the program's own count of experts that it read, and the routes."""
    path = os.path.join(WORK, "experts.routes")
    typed, left = "", exchanges
    for _, talk in held_out.conversations():
        if left > 0:
            typed += "".join(e.user + "\n" for e in talk if "{" not in e.pattern) + "/reset\n"
            left -= len(talk)
    done = subprocess.run([ROUTES, "chat", model, "--temp", "0", "--spec", "off", "-t", "1",
                           "--mem", str(limit)],
                          input=typed.encode(), capture_output=True, timeout=SECONDS,
                          env={**os.environ, "ROUTES": path})
    said = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
    found = re.findall(r"experts: ([\d.]+) % in the cache, (\d+) read", said)
    if done.returncode != 0 or not found:
        sys.exit(f"no figures\n{said[-2000:]}")
    return sum(int(read) for _, read in found), read_routes(path)


def percent(sums):
    return f"{100 * sums[0] / max(1, sums[1]):.1f} %"


def main(arguments):
    exchanges = held_out.PROMPTS
    if "--exchanges" in arguments:
        at = arguments.index("--exchanges")
        exchanges = int(arguments[at + 1])
        del arguments[at:at + 2]
    model = arguments[0] if arguments else MODEL
    os.makedirs(WORK, exist_ok=True)
    experts = slots_of(model, limit_for(model, 1))[1]
    rows, wrong = [], 0
    for n_slots in (experts // 4, experts // 2, experts * 3 // 4):
        read, routes = converse(model, limit_for(model, n_slots), exchanges)
        played = {r: play(routes, n_slots, r) for r in ("average", "lru", "random", "best")}
        all_ = played["average"][1]
        wrong += abs(all_[1] - all_[0] - read) > NEAR * read
        rows.append([f"{n_slots} of {experts}", read, all_[1] - all_[0], all_[1],
                     *(f"{percent(single)}, {percent(every)}" for single, every in played.values())])
    tokens = sum(n for n, _ in routes[0])
    print_table(f"{os.path.basename(model)}, {tokens} tokens: in the cache of what single tokens "
                "asked for, and of all", ["slots", "read, by the program", "read, computed", "asked",
                                          "average", "LRU", "random", "best"], rows)
    for layer, passes in sorted(routes.items()):
        sums = {}
        for _, counts in passes:
            for e, n in counts.items():
                sums[e] = sums.get(e, 0) + n
        total = sum(sums.values())
        print(f"layer {layer}, use in percent:",
              *(f"{100 * n / total:.0f}" for n in sorted(sums.values(), reverse=True)))
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
