#!/usr/bin/python3
"""The Raspberry Pi 4's own code on its published trees: EMMC2's memory on both steppings, and a tree that nobody can read."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../../tests"), os.path.join(HERE, "../../../tests/boards")]
from device_tree import make_tree
from machine import Tap
from board_trees import MIB, missing, published, run, with_memory

tap = Tap()
if missing("rpi4"):
    tap.skip(*missing("rpi4"))
    tap.done()

# EMMC2's range of memory: bus address of the cores' 0, and the end, as the tree has it and as the firmware writes it into the tree of a
# chip of stepping C0 (docs/HARDWARE.md, rpi4): RAM from 0 to 0xfc000000.
WINDOWS = [("as published, and for stepping B0", None, "c0000000 40000000"),
           ("as the firmware writes it for C0", [0, 0, 0, 0, 0xfc000000], "0 fc000000")]


def look_at_windows():
    for name in ("bcm2711-rpi-4-b", "bcm2711-rpi-400"):
        for title, cells, want in WINDOWS:
            root, reserved = published(name)
            with_memory(root, [(0, 512 * MIB)])
            if cells is not None:
                root["emmc2bus"]["dma-ranges"] = cells
            out = run("rpi4", make_tree(root, reserved), ["mailbox=fe00b880", "revision=b03111"])
            tap.ok(f"window emmc2bus {want}\n" in out, f"{name}: EMMC2's memory {title}: {want}", out)


def look_at_deep_tree():
    """A tree deeper than is read: nobody gets it, and the firmware is asked."""
    root, reserved = published("bcm2711-rpi-4-b")
    with_memory(root, [(0, 512 * MIB)])
    deep = {"compatible": "x"}
    for level in range(20):
        deep = {f"level{level}": deep}
    out = run("rpi4", make_tree({**root, "deep": deep}, reserved), ["mailbox=fe00b880", "memory=3b400000", "revision=b03111"])
    tap.ok("board rpi4\n" in out and "bytes 7b400000\n" in out and "window" not in out, "rpi4: a tree 20 levels deep is left alone, and the firmware is asked", out)


look_at_windows()
look_at_deep_tree()
tap.done()
