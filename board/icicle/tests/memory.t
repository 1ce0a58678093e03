#!/usr/bin/python3
"""Device trees that do not fit the Icicle's design, because they are older or HSS's own: they show RAM twice, or lack
harts."""

import copy
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../../tests"), os.path.join(HERE, "../../../tests/boards")]
from device_tree import make_tree
from machine import Tap
from board_trees import GIB, missing, published, run, with_memory

LOW, OLD_HIGH, HIGH, FLUSH = 0x80000000, 0x1000000000, 0x1040000000, 0x2010200
tap = Tap()
if missing("icicle"):
    tap.skip(*missing("icicle"))
    tap.done()
ROOT, RESERVED = published("mpfs-icicle-kit")


def look(ranges, words=(), hart=1, change=None):
    root = copy.deepcopy(ROOT)
    with_memory(root, ranges)
    if change is not None:
        change(root)
    return run("icicle", make_tree(root, RESERVED), [*words, f"{FLUSH:x}"], hart)


def ram(out):
    return [(int(a, 16), int(n, 16)) for a, n in re.findall(r"^ram (\w+) (\w+)$", out, re.M)]


# ---- RAM ----

for title, high in (("before 2022.10", OLD_HIGH), ("since then", HIGH)):
    out = look([(LOW, GIB), (high, GIB)])
    tap.ok(ram(out)[0] == (high, GIB) and f"bytes {2 * GIB:x}\n" in out and "left out: \n" in out and "register 2010200 0\n" not in out,
           f"a tree of {title}: RAM beyond 4 GiB is other RAM, and both are used", out)
    out = look([(LOW, GIB), (high, GIB)], ["twins"])
    tap.ok(ram(out) and not [r for r in ram(out) if r[0] >= 4 * GIB] and f"bytes {GIB:x}\n" in out and
           f"left out: 1 range of RAM that is a copy of another range of {GIB} bytes\n" in out,
           f"a tree of {title}: the same RAM once more is left out, by name", out)


def without_cache(root):
    del root["soc"]["cache-controller@2010000"]


out = look([(LOW, GIB), (HIGH, GIB)], ["twins"], change=without_cache)
tap.ok(ram(out)[0] == (HIGH, GIB) and "register 2010200 0\n" in out, "a tree without the caches' controller: RAM is not tried", out)

# ---- harts ----


def one_hart(root):
    for n in [n for n in root["cpus"] if n.startswith("cpu@") and n != "cpu@1"]:
        del root["cpus"][n]
    root["cpus"].pop("cpu-map", None)


def second_is_off(root):
    root["cpus"]["cpu@2"]["status"] = "disabled"


for title, words, change, cores, starts in (
        ("HSS's own, with hart 1 alone", ["domain=1e"], one_hart, ["1", "2", "3", "4"], ["2", "3", "4"]),
        ("the same, where another program has hart 3", ["domain=16"], one_hart, ["1", "2", "4"], ["2", "4"]),
        ("the same, of a firmware without harts", ["sbi=old"], one_hart, ["1"], []),
        ("U-Boot's, with hart 2 disabled", ["domain=1e"], second_is_off, ["1", "3", "4"], ["3", "4"])):
    out = look([(LOW, GIB), (HIGH, GIB)], words, change=change)
    tap.ok(re.findall(r"^core (\w+)$", out, re.M) == cores and re.findall(r"^hart (\w+)$", out, re.M) == starts,
           f"a tree of {title}: cores {', '.join(cores)}", out)
tap.done()
