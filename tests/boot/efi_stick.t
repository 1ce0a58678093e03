#!/usr/bin/python3
"""A conversation moves on one stick through five firmwares: it begins under U-Boot on arm64, continues on riscv64, on a PC and under EDK2 on arm64
with ACPI, where a person types on the keyboard and reads the display, and ends under EDK2 with a device tree. /save and /load carry it to the next
machine and across a reset of each machine, and each reply equals that of the same chat on this computer."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from efi import make_stick
from efi_talk import MODEL, converse, missing
from machine import Tap

MACHINES = ("U-Boot arm64", "U-Boot riscv64", "OVMF", "AAVMF with ACPI", "AAVMF with a tree")

tap = Tap()
if missing(MACHINES):
    tap.skip("one stick for five firmwares", missing(MACHINES))
else:
    # The stick has the size that a release uses (toolchain/release.sh).
    converse(tap, "one stick", make_stick("efi-stick.img", "term=plain temp=0 n=24", MODEL, options=["--power-of-two"]), MACHINES, resets=True)
tap.done()
