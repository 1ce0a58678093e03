#!/usr/bin/python3
"""Compares the LEDs, serial lines and pictures in the pages about boards with the code and the published trees."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import published
from device_tree import cells_of, read_tree
from machine import BUILD, ROOT, Tap

tap = Tap()


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


# ---- a screen --------------------------------------------------------------------------------------

bringup = text_of("docs/BRINGUP.md")
tap.ok("open_screen" in text_of("board/drivers/soc/raspberry_pi.c") + text_of("board/rpi4/board.c"), "a Raspberry Pi has a display")
tap.ok(re.search(r"(?m)^## .*", bringup).group(0) == "## With a screen and a keyboard" and not re.search(r"(?i)there is no picture", bringup),
       "BRINGUP.md begins with the screen, and does not say that there is no picture")

page, board = text_of("board/rpi5/README.md"), text_of("board/rpi5/board.c")
said = re.search(r"\| LED \| pin (\d+) of the always-on GPIO; the LED is on when the pin is (low|high) \|", page)
pin = int(re.search(r"LED_PIN = (\d+)", board).group(1))
tap.ok(said and (int(said.group(1)), said.group(2) == "low") == (pin, "led_inverted = true" in board), f"rpi5's README has the LED where the code has it: pin {pin}",
       said and said.groups())
tree = os.path.join(BUILD, "boards/trees/bcm2712-rpi-5-b.dtb")
if not os.path.exists(tree):
    tap.skip("rpi5's page against its tree", f"no {tree}: make setup-tests fetches Debian's kernel packages for it")
else:
    with open(tree, "rb") as f:
        root, _ = read_tree(f.read())
    line = cells_of(root["soc@107c000000"]["serial@7d001000"]["interrupts"])[1]
    tap.ok(f"SPI {line} of the GIC-400" in page, f"rpi5's README names the interrupt of its line: SPI {line}", page)
words = text_of("board/rpi5/card/config.txt")
tap.ok("enable_rp1_uart=1" in words and "`enable_rp1_uart=1`" in page and "pins 8 and 10" in page and "pins=" in page,
       "rpi5's README tells of both lines and of the pins, as its card has them", page + words)

# ---- the card's mode, from which `ingot plan` takes its rate (4.3.10 and 3.6 of the Physical Layer Specification) --------------------

RATES = {"high speed": 25000, "DDR50": 50000, "SDR104": 100000}
for board in published():
    row = re.search(r"(?m)^\| card \| (.*) \|", text_of(f"board/{board}/README.md")).group(1)
    mode = next((mode for mode in ("SDR104", "DDR50") if mode in row), "high speed")
    facts = text_of(f"board/{board}/board.def")
    tap.ok(f'.card = "SD {mode}' in facts and f".card_kb = {RATES[mode]}," in facts, f"{board}'s board.def has the mode of its README: {mode}", row + facts)
tap.done()
