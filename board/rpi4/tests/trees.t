#!/usr/bin/python3
"""The Raspberry Pi 4's own code with its published trees: the memory that EMMC2 reaches on both steppings, and a tree that is
too deep to read."""

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

# The memory that EMMC2 reaches (bus address of the cores' address 0, end): as published, and as the firmware changes the tree for a
# chip of stepping C0 (docs/HARDWARE.md, rpi4), whose EMMC2 reaches RAM from 0 to 0xfc000000.
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
    """A tree with too many levels is not used: the firmware is asked instead."""
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
