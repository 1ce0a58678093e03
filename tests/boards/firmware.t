#!/usr/bin/python3
"""Each board starts in the state that its firmware leaves (FIRMWARE of the board's expected.py): controllers of cards and DMA that the
firmware has used, interrupts that it has left on, and an SBI that starts only certain harts. The board's own code runs as a program for this
computer."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import with_expected
from device_tree import cells_of, make_tree
from machine import Tap
from board_trees import MIB, missing, published, run, with_memory

tap = Tap()


def registers_of(out):
    return {int(a, 16): int(v, 16) for a, v in re.findall(r"^register (\w+) (\w+)$", out, re.M)}


def look(board, name, title, hart, words, registers, lines):
    root, reserved = published(name)
    if not any(n.startswith("memory@") and any(cells_of(node["reg"])) for n, node in root.items()):
        with_memory(root, [(0, 512 * MIB)])
    left, taken = registers
    out = run(board, make_tree(root, reserved), words.split() + [f"{k:x}={v:x}" for k, v in left.items()] + [f"{k:x}" for k in taken], hart)
    found = registers_of(out)
    wrong = [f"{k:x}: {found.get(k, 0):x}, not {v:x}" for k, v in taken.items() if found.get(k) != v]
    said = re.findall(r"^((?:hart|refused|release|psci|reset|old|power) .*)$", out, re.M)
    tap.ok(said == lines, f"{board}, {title}: {', '.join(lines)}", out)
    tap.ok(not wrong and "storage SD card at" in out,
           f"{board}, {title}: {len(taken)} registers that the firmware left in another state are set", f"{wrong}\n{out}")


BOARDS = with_expected("FIRMWARE")
for why in {missing(board) for board in BOARDS} - {None}:
    tap.skip(*why)
    tap.done()
for board, rows in BOARDS.items():
    for row in rows:
        look(board, *row)
tap.done()
