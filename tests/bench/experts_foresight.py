#!/usr/bin/python3
"""Computes how much faster tokens would be if experts were known some layers before their router chooses them. Each
of nine rows has the time per token divided by the larger of missing bytes / rate and the time of computing. Nothing
is timed here: it uses the routers' real choices, and the times of tests/unit/stream/experts_schedule_test.c.

usage: experts_foresight.py

build/tests/bench/routes records what every router of the trained mixture chooses in four conversations. Predicted
experts are read after the experts that are missing now. All predictions are right, so no real prediction can do
better."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from experts import MODEL, ROUTES, Layer, read_routes
from figures import print_table
from machine import WORK

LINES = ["Tell me a story about a fox.", "What is 12 + 5?", "Tell me a story about a king.", "Who are you?"]
EXPERT_BYTES = 41472
BEFORE, EXPERT, HEAD = 11.3, 10.4, 36.9  # microseconds at 4 GB/s: a layer up to its experts, one expert, the head
AHEAD = (0, 1, 2, 4)                     # layers; a token passes 4


class Card:
    """A card that does one read after the other. The reads in `later` wait until the card has nothing else to do."""

    def __init__(self, rate):
        self.read, self.free, self.due, self.later = EXPERT_BYTES / rate, 0.0, {}, []

    def ask(self, what, now):
        self.free = max(self.free, now) + self.read
        self.due[what] = self.free

    def idle_until(self, now):
        while self.later and max(self.free, self.later[0][1]) < now:
            self.ask(*self.later.pop(0))


class Replay:
    def __init__(self, routes, n_slots, rate, ahead):
        self.routes, self.ahead, self.card = routes, ahead, Card(rate)
        self.layers = [Layer(n_slots) for _ in routes]
        self.now, self.asked = 0.0, set()

    def look_ahead(self, token, layer):
        for step in range(1, self.ahead + 1):
            later, there = divmod(token * len(self.layers) + layer + step, len(self.layers))
            if later == len(self.routes[0]) or self.routes[there][later][0] != 1:
                return
            for e in self.routes[there][later][1]:
                what = (later, there, e)
                if what not in self.asked and e not in self.layers[there].slots:
                    self.asked.add(what)
                    self.card.later.append((what, self.now))

    def layer(self, token, at):
        """Compute a layer for a token; returns the experts that the cache lacked."""
        n_tokens, counts = self.routes[at][token]
        there = self.layers[at].slots & set(counts)
        missing = [(token, at, e) for e in sorted(set(counts) - there)]
        self.now += BEFORE
        self.card.idle_until(self.now)
        self.card.later = [x for x in self.card.later if x[0][:2] != (token, at)]
        self.layers[at].ask(n_tokens, counts, "average", None)
        for what in missing:
            if what not in self.card.due:
                self.card.ask(what, self.now)
        self.look_ahead(token, at)
        self.now += EXPERT * len(there)
        for due in sorted(self.card.due[what] for what in missing):
            self.card.idle_until(self.now)
            self.now = max(self.now, due - self.card.read / 3) + EXPERT * 2 / 3  # two of three matrices, while the last one arrives
            self.now = max(self.now, due) + EXPERT / 3
        self.card.idle_until(self.now)
        return len(missing)

    def ratio(self):
        took = read = computed = 0.0
        for token, (n_tokens, _) in enumerate(self.routes[0]):
            begin = self.now
            missing = sum(self.layer(token, at) for at in sorted(self.routes))
            self.now += HEAD
            if n_tokens == 1:
                took += self.now - begin
                read += missing * self.card.read
                computed += HEAD + sum(BEFORE + EXPERT * len(self.routes[at][token][1]) for at in self.routes)
        return took / max(read, computed)


def main():
    path = os.path.join(WORK, "foresight.routes")
    os.makedirs(WORK, exist_ok=True)
    subprocess.run([ROUTES, "chat", MODEL, "--temp", "0", "--spec", "off", "-t", "1", "--mem", "1800K"],
                   input="".join(line + "\n/reset\n" for line in 2 * LINES).encode(), check=True,
                   capture_output=True, timeout=300, env={**os.environ, "ROUTES": path})
    routes = read_routes(path)
    print_table("Time of a token over the larger of reading and computing, experts predicted rightly",
                ["slots", "MB/s", "by the router", "1 layer ahead", "2", "4"],
                [[f"{n} of 16", rate, *(f"{Replay(routes, n, rate, ahead).ratio():.2f}" for ahead in AHEAD)]
                 for n in (4, 8, 12) for rate in (20, 80, 800)])


if __name__ == "__main__":
    main()
