#!/usr/bin/python3
"""Computes the gain from unequal shares of a cache of experts: the hits of single tokens if each layer's slots
followed its measured use, or if all layers shared one pool, compared with equal numbers of slots. It uses the
requests of experts.py; one half of the text determines the shares, the other half tests them.

usage: experts_shares.py"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../models/generator")]
import held_out
from experts import MODEL, USE_ONE, USE_TOKENS, Layer, converse, limit_for, slots_of
from figures import print_table
from machine import WORK


def halves(routes):
    n = len(routes[0]) // 2
    return [{layer: passes[:n] for layer, passes in routes.items()},
            {layer: passes[n:] for layer, passes in routes.items()}]


def kept(passes, n_slots):
    """(experts found, experts asked for) of single tokens"""
    layer, sums = Layer(n_slots), [0, 0]
    for n_tokens, counts in passes:
        n = layer.ask(n_tokens, counts, "average", None)
        if n_tokens == 1:
            sums[0] += n
            sums[1] += len(counts)
    return sums


def shares_of(curves, least, most, total):
    """Give the slots to layers: each step gives one layer the slots that add most hits per slot. One step may give several slots,
    because a curve may not be concave."""
    slots = dict.fromkeys(curves, least)
    while sum(slots.values()) < total:
        room = total - sum(slots.values())
        _, layer, step = max(((curves[i][n + step][0] - curves[i][n][0]) / step, i, step) for i, n in slots.items()
                             for step in range(1, min(room, most - n) + 1))
        slots[layer] += step
    return slots


def rate(curves, slots):
    sums = [sum(curves[i][n][k] for i, n in slots.items()) for k in (0, 1)]
    return f"{100 * sums[0] / sums[1]:.1f} %"


class Pool:
    """A pool for all layers, which drops the expert with the least average use, but keeps enough experts of each layer for a
    token."""

    def __init__(self, total, least):
        self.total, self.least, self.slots, self.use, self.of = total, least, set(), {}, {}

    def count_use(self, at, n_tokens, counts):
        for e in {e for layer, e in self.use if layer == at} | set(counts):
            share = counts.get(e, 0) * USE_ONE // n_tokens
            step = (share - self.use.get((at, e), 0)) * min(n_tokens, USE_TOKENS)
            self.use[at, e] = self.use.get((at, e), 0) + int(step / USE_TOKENS)

    def make_room(self, at, needed):
        free = [x for x in self.slots - needed if x[0] == at or self.of[x[0]] > self.least]
        worst = max(free or self.slots & needed, key=lambda x: (-self.use[x], x))
        self.slots.discard(worst)
        self.of[worst[0]] -= 1

    def ask(self, at, n_tokens, counts):
        needed = {(at, e) for e in counts}
        there = len(self.slots & needed)
        self.count_use(at, n_tokens, counts)
        for x in sorted(needed - self.slots):
            if len(self.slots) >= self.total:
                self.make_room(at, needed)
            self.slots.add(x)
            self.of[at] = self.of.get(at, 0) + 1
        return there


def pooled(routes, total, least):
    pool, sums = Pool(total, least), [0, 0]
    for i in range(len(routes[0])):
        for at in sorted(routes):
            n_tokens, counts = routes[at][i]
            n = pool.ask(at, n_tokens, counts)
            if n_tokens == 1:
                sums[0] += n
                sums[1] += len(counts)
    return f"{100 * sums[0] / sums[1]:.1f} %"


def main():
    os.makedirs(WORK, exist_ok=True)
    most = slots_of(MODEL, limit_for(MODEL, 1))[1]
    _, routes = converse(MODEL, limit_for(MODEL, most // 2), held_out.PROMPTS)
    least = min(len(counts) for n_tokens, counts in routes[0] if n_tokens == 1)
    texts, rows = halves(routes), []
    curves = [{i: {n: kept(p, n) for n in range(least, most + 1)} for i, p in text.items()} for text in texts]
    for n in range(most // 4, most, most // 8):
        for other, here in ((0, 1), (1, 0)):
            total = n * len(routes)
            counted = shares_of(curves[other], least, most, total)
            own = shares_of(curves[here], least, most, total)
            rows.append([f"{n} of {most}", rate(curves[here], dict.fromkeys(routes, n)), rate(curves[here], counted),
                         " ".join(map(str, counted.values())), rate(curves[here], own),
                         pooled(texts[here], total, least)])
    print_table("In the cache of what single tokens asked for", ["slots", "equal", "by use", "slots of each layer",
                                                                "as if the text were known", "one pool"], rows)


if __name__ == "__main__":
    main()
