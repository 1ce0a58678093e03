#!/usr/bin/python3
"""Calculates the speed of boards that nobody has here: after each improvement, which bound limits a reply, and how far
the board is from this bound.

usage: bounds.py

An agent's turn has a prompt of 4,000 tokens, of which 100 are new, and a reply of 100 tokens. A token of the reply takes the time to read its
bytes or the time of the cores' work, whichever is longer. The whole prompt takes the longer of these two times as well. The cores' work is
counted in the kernels' static cycles (docs/experiments/where-it-stands.md), in which every load hits the first cache, so a real board is
slower. For attention only the bytes are counted. The bound is the board's maximum: its bus at the published rate, each core at its highest
rate of int8 multiply-adds. "Left" is the calculated time divided by the time at the bound."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import print_table

# Llama 3.2 1B: layers, width, hidden, width of keys and values, vocabulary.
LAYERS, DIM, HIDDEN, KV, VOCAB = 16, 2048, 8192, 512, 128256
PROMPT, NEW, REPLY = 4000, 100, 100
BLOCK = 8 * 32  # weights of a block, for which the tables have cycles

# Bytes per weight; a core's cycles per block and token, first for single tokens, then for many. Source:
# where-it-stands.md, "bytes of weights per cycle" and "Static cycles per block and token". The times of the X60's
# vector instructions are not published: each instruction counted at VLEN 256 is taken as two cycles, because most
# work on two registers.
BYTES = {"Q4_0": 18 / 32, "Q4_K": 144 / 256, "Q8_0": 34 / 32}
A76 = {"Q4_0": (144 / 6.58, 11.9), "Q4_K": (144 / 6.05, 115 / 8), "Q8_0": (272 / 20.32, 11.3)}
A55 = {"Q4_0": (144 / 1.52, 48), "Q4_K": (144 / 1.56, 405 / 8), "Q8_0": (272 / 2.64, 47)}
X60 = {"Q4_0": (BLOCK * .17, BLOCK * .058), "Q4_K": (BLOCK * .242, BLOCK * .128), "Q8_0": (BLOCK * .232, BLOCK * .094)}
# int8 multiply-adds of a core in a cycle: two dot products of 16 bytes (A76), one of 16 (A55), one of 32 (X60).
PEAK = {"A76": 32, "A55": 16, "X60": 32}
FOR_THREE = 2.16  # computing a pass over three tokens takes as long as this many passes over one: two-to-eight-tokens.md


class Board:
    """cores: (name, how many, GHz, cycles). bus: the published GB/s of the memory's pins; gives: the share of this rate that programs reach."""

    def __init__(self, name, cores, bus, gives):
        self.name, self.cores, self.bus, self.gives = name, cores, bus, gives

    def rate(self, kind, many, cores=None):
        """Blocks per second of the given cores (default: all) together."""
        return sum(n * ghz * 1e9 / cycles[kind][many] for _, n, ghz, cycles in cores or self.cores)

    def equal_parts(self, kind, many):
        """Blocks per second if all cores get equal parts; the slowest core decides, because it ends last."""
        each = [(ghz * 1e9 / cycles[kind][many], n) for _, n, ghz, cycles in self.cores]
        return min(rate for rate, _ in each) * sum(n for _, n in each)

    def peak(self):
        return sum(n * ghz * 1e9 * PEAK[name] for name, n, ghz, _ in self.cores)


# Pi 5: board/rpi5/board.def, and the published 11 GB/s that programs read; we assume that the other boards reach the same share of their
# bus. RK3588 (Rockchip's data sheet, 2.4 and 1.8 GHz, LPDDR4X-4224 of 64 bits); K1 (SpacemiT's data sheet, 1.6 GHz, VLEN 256, LPDDR4X-2666
# of 32 bits).
GIVEN = 11 / 17.068
BOARDS = [Board("Pi 5", [("A76", 4, 2.4, A76)], 17.068, GIVEN),
          Board("RK3588", [("A76", 4, 2.4, A76), ("A55", 4, 1.8, A55)], 33.8, GIVEN),
          Board("K1", [("X60", 8, 1.6, X60)], 10.66, GIVEN)]


def weights():
    """Weights of one layer, and of the head."""
    return 2 * DIM * DIM + 2 * DIM * KV + 3 * DIM * HIDDEN, VOCAB * DIM


def last_layer_saves():
    """The part of the last layer that only tokens with logits need, which is everything except keys and values."""
    return 1 - 2 * DIM * KV / weights()[0]


class Step:
    """An improvement; later steps keep its changes."""

    def __init__(self, name, **changes):
        self.name, self.changes = name, changes


STEPS = [Step("one core, Q8_0, keys and values of 16 bits", kind="Q8_0", kv=2, cores=1, parts=False, narrow=0, known=0, ahead=1.0),
         Step("all cores, equal parts", cores=0),
         Step("parts by speed", parts=True),
         Step("Q4_0 weights", kind="Q4_0"),
         Step("keys and values of 8 bits", kv=34 / 32),
         Step("the last layer only for tokens that are read", narrow=1),
         Step("the prompt's beginning kept", known=PROMPT - NEW),
         Step("guesses: 2 tokens a pass of 3", ahead=2.0)]


def seconds(board, now, tokens, many):
    """Returns the seconds of a pass over this number of tokens for memory and for cores, then those at the peak rates
    of bus and int8."""
    layer, head = weights()
    total = LAYERS * layer + head
    work = LAYERS * layer * tokens + head * (1 if many else tokens)
    if many and now["narrow"]:
        work -= layer * last_layer_saves() * (tokens - 1)
    moved = total * BYTES[now["kind"]] + (PROMPT + REPLY / 2) * LAYERS * 2 * KV * now["kv"]
    if now["cores"] == 1:
        _, _, ghz, cycles = board.cores[0]
        rate = ghz * 1e9 / cycles[now["kind"]][many]
    elif now["parts"]:
        rate = board.rate(now["kind"], many)
    else:
        rate = board.equal_parts(now["kind"], many)
    return (moved / (board.bus * board.gives * 1e9), work / BLOCK / rate), (moved / (board.bus * 1e9), work / board.peak())


def row(board, step, now):
    cells = [board.name, step.name]
    turn = 0.0
    for tokens, many, times in ((PROMPT - now["known"], True, 1), (1, False, REPLY)):
        took, best = seconds(board, now, tokens, many)
        if not many and now["ahead"] > 1: # a pass over a token and its guesses, by the loops for few tokens
            took = (took[0], took[1] * FOR_THREE)
            best = (best[0], best[1] * 3)
        per = max(took) / (1 if many else now["ahead"])
        bound = "memory" if took[0] > took[1] else "cores"
        left = max(took) / max(best)
        cells += [f"{per:.2f} s" if many else f"{1 / per:.1f} tok/s", f"{bound}, {left:.1f}"]
        turn += per * times
    return cells + [f"{turn:.0f} s"]


def main():
    rows = []
    for board in BOARDS:
        now = {}
        for step in STEPS:
            now.update(step.changes)
            rows.append(row(board, step, dict(now)))
    print_table("Llama 3.2 1B after a prompt of 4,000 tokens, on paper; left: times what the bus and the multipliers would take at their peaks",
                ["board", "change", "prompt", "bound of the prompt, factor left", "reply", "bound of the reply, factor left", "a turn"], rows)


if __name__ == "__main__":
    main()
