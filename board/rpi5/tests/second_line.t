#!/usr/bin/python3
"""The Raspberry Pi 5's own code: RP1's UART 0 as a second line, and the supply of its USB sockets."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../../tests"), os.path.join(HERE, "../../../tests/boards")]
from device_tree import make_tree
from machine import Tap
from board_trees import at, missing, published, run

tap = Tap()
if missing("rpi5"):
    tap.skip(*missing("rpi5"))
    tap.done()

# RP1 as a Pi 5's firmware leaves it with enable_rp1_uart=1: the link is up, with windows to its peripherals and to memory; UART 0 is
# on at 115200 baud from 50 MHz, with interrupts on that no code takes.
RP1_PORT, RP1_UART = 0x1000120000, 0x1f00030000
RP1_LEFT = {**at(RP1_PORT, {0x4068: 0xb0, 0x4070: 0xfff00000, 0x4080: 0x1f, 0x4084: 0x1f, 0x4034: 21, 0x4038: 0x10, 0x40b4: 1, 0x8000: 0x11de4}),
            **at(RP1_UART, {0x18: 0x90, 0x24: 27, 0x28: 8, 0x2c: 0x60, 0x30: 0x301, 0x38: 0x7f0})}



def look_at_second_line():
    """On the 40 pins of a Pi 5, RP1's UART 0 becomes a second line beside UART10, if the firmware has set it."""
    root, reserved = published("bcm2712-rpi-5-b")
    for title, changes, want in (("on at 115200", {}, (0x1b, 8, 0x70, 0x301, 0)), ("on without a divisor", {RP1_UART + 0x24: 0, RP1_UART + 0x28: 0}, (0x1b, 8, 0x70, 0x301, 0)),
                                 ("off", {RP1_UART + 0x30: 0}, None), ("not reached", {RP1_PORT + 0x4068: 0x80}, None)):
        left = {**RP1_LEFT, **changes}
        asked = [f"{RP1_UART + offset:x}" for offset in (0x24, 0x28, 0x2c, 0x30, 0x38)]
        out = run("rpi5", make_tree(root, reserved), ["mailbox=107c013880", "revision=c04170", *[f"{k:x}={v:x}" for k, v in left.items()], *asked])
        found = tuple(int(v, 16) for _, v in re.findall(r"^register (1f0003\w+) (\w+)$", out, re.M))
        before = tuple(left[RP1_UART + offset] for offset in (0x24, 0x28, 0x2c, 0x30, 0x38))
        good = found == want if want is not None else found in (before, (0,) * 5)
        tap.ok("board rpi5\n" in out and good, f"rpi5: RP1's UART 0, {title}: {'taken' if want else 'left alone'}", f"{[hex(v) for v in found]}\n{out}")


def look_at_sockets():
    """The supply of the USB sockets: GPIO 42 and 43 get the function that the tree gives them, unless they already
    have a function."""
    root, reserved = published("bcm2712-rpi-5-b")
    controls, pads = (0x1f000d8044, 0x1f000d804c), (0x1f000f8024, 0x1f000f8028)
    for title, function, pad, want in (("without a function", 0x1f, 0x96, (2, 2, 0x56, 0x56)), ("as a firmware has them", 2, 0x56, (2, 2, 0x56, 0x56)),
                                       ("that somebody drives", 5, 0x96, (5, 5, 0x96, 0x96))):
        left = {**RP1_LEFT, **{at: function for at in controls}, **{at: pad for at in pads}}
        out = run("rpi5", make_tree(root, reserved), ["mailbox=107c013880", "revision=c04170", *[f"{k:x}={v:x}" for k, v in left.items()],
                                                      *[f"{at:x}" for at in controls + pads]])
        found = tuple(int(v, 16) for _, v in re.findall(r"^register (1f000[df]8\w+) (\w+)$", out, re.M))
        tap.ok("board rpi5\n" in out and found == want, f"rpi5: the supply's lines {title}", f"{[hex(v) for v in found]}\n{out}")


look_at_second_line()
look_at_sockets()
tap.done()
