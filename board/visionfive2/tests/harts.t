#!/usr/bin/python3
"""The VisionFive 2's own code leaves out the harts that we cannot use, whatever a tree says."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../../tests"), os.path.join(HERE, "../../../tests/boards")]
from device_tree import make_tree
from machine import Tap
from board_trees import missing, published, run

tap = Tap()
if missing("visionfive2"):
    tap.skip(*missing("visionfive2"))
    tap.done()


def look_at_harts():
    """StarFive's tree of 2021.10 calls hart 0 okay and gives it an MMU, which its S7 does not have; of the others, one is
    disabled and one has 32 bits."""
    root, reserved = published("jh7110-starfive-visionfive-2-v1.3b")
    cpus = root["cpus"]
    cpus["cpu@0"].update({"status": "okay", "mmu-type": "riscv,sv39", "riscv,isa": "rv64imac", "riscv,isa-extensions": b"i\0m\0a\0c\0"})
    cpus["cpu@2"]["status"] = "disabled"
    cpus["cpu@3"].update({"riscv,isa-base": "rv32i"})
    out = run("visionfive2", make_tree(root, reserved), [], 1)
    cores = re.findall(r"^core (\w+)$", out, re.M)
    tap.ok(cores == ["1", "4"], "visionfive2: hart 0 called okay, one disabled, one of 32 bits: two are left", out)
    cpus["cpu@0"].update({"riscv,isa": "rv64imafdc", "riscv,isa-extensions": b"i\0m\0a\0f\0d\0c\0"})
    out = run("visionfive2", make_tree(root, reserved), [], 1)
    starts = re.findall(r"^hart (\w+)$", out, re.M)
    tap.ok(starts == ["4"], "visionfive2: hart 0 is never started, whatever its tree says of it", out)


look_at_harts()
tap.done()
