#!/usr/bin/python3
"""Device trees that exceed each bound of boot and board (docs/HARDWARE.md, Bounds): parts beyond a bound are ignored, the rest works, and one
line names the ignored parts. The boards' own code runs as programs for this computer; the trees are made here."""

import copy
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from boards import module, names
from device_tree import make_tree, raspberry_pi_tree
from machine import BUILD, WORK, Tap

MIB, GIB = 1 << 20, 1 << 30
MOST_CORES, MOST_RAM, MOST_CUT = 8, 16, 128
tap = Tap()
# A board whose firmware answers no questions; its whole tree is made here.
BOARD = next(board for board in names() if module(board, "tree.py"))
TREE, cpu = module(BOARD, "tree.py").TREE, module(BOARD, "tree.py").cpu


def run(board, tree, *words, reserved=()):
    path = os.path.join(WORK, f"bounds-{board}.dtb")
    os.makedirs(WORK, exist_ok=True)
    with open(path, "wb") as f:
        f.write(make_tree(tree, reserved))
    done = subprocess.run([os.path.join(BUILD, "tests/boards", board), path, *words], capture_output=True, text=True, timeout=120,
                          check=False)
    return done.stdout + done.stderr


def left_out(out):
    return re.search(r"^left out: (.*)$", out, re.M).group(1) if "left out: " in out else out


def ram(out):
    return [(int(a, 16), int(n, 16)) for a, n in re.findall(r"^ram (\w+) (\w+)$", out, re.M)]


def cells(*numbers):
    return [half for n in numbers for half in (n >> 32, n & 0xffffffff)]


def changed(**changes):
    tree = copy.deepcopy(TREE)
    tree.update(changes)
    return tree


def with_harts(n):
    tree = changed()
    tree["cpus"].update({f"cpu@{hart:x}": cpu(hart) for hart in range(5, n + 1)})
    return tree


def with_memory(n):
    """A tree with n ranges of RAM and gaps between them; the image is in the first range."""
    tree = changed()
    del tree["memory@1000000000"]
    tree["memory@80000000"]["reg"] = cells(0x80000000, 16 * MIB, *(x for i in range(1, n) for x in (0x80000000 + 64 * MIB * i, (1 + i % 60) * MIB)))
    return tree


def with_reserved(n):
    tree = changed()
    tree["reserved-memory"] = {"#address-cells": 2, "#size-cells": 2, "ranges": [],
                               **{f"kept@{0x81000000 + i * MIB:x}": {"reg": cells(0x81000000 + i * MIB, 4096)} for i in range(n)}}
    return tree


if not os.path.exists(os.path.join(BUILD, "tests/boards/rpi4")):
    tap.skip("boards' code on this computer", "build/tests/boards is not built: make test-boards")
    tap.done()

# ---- cores ----

for n in (4, 8, 9, 12, 64):
    out = run(BOARD, with_harts(n), "hart=2")
    cores = [int(c, 16) for c in re.findall(r"^core (\w+)$", out, re.M)]
    want = ([2] + [h for h in range(1, n + 1) if h != 2])[:MOST_CORES]
    says = f"{n - MOST_CORES} {'core' if n == MOST_CORES + 1 else 'cores'} ({MOST_CORES} is the most)" if n > MOST_CORES else ""
    tap.ok(cores == want and left_out(out) == says, f"{n} harts: {len(want)} work, and the log has '{says}'", out)
out = run(BOARD, with_harts(12), "hart=b")
tap.ok(re.findall(r"^core (\w+)$", out, re.M)[0] == "b", "the core that booted is never left out", out)

# ---- RAM ----

for n in (4, 15, 16, 17, 40):
    tree = with_memory(n)
    out = run(BOARD, tree, "hart=1")
    # The image cuts the first range into two parts.
    sizes = sorted([(1 + i % 60) * MIB for i in range(1, n)] + [n_ for _, n_ in ram(out) if n_ in (2 * MIB, 16 * MIB - 2 * MIB - 0x410000)],
                   reverse=True)
    whole = sum((1 + i % 60) * MIB for i in range(1, n)) + 16 * MIB - 0x410000
    got = [n_ for _, n_ in ram(out)]
    lost = whole - sum(got)
    says = f"{n + 1 - MOST_RAM} {'range' if n == MOST_RAM else 'ranges'} of RAM ({MOST_RAM} is the most) of {lost} bytes" if n + 1 > MOST_RAM else ""
    tap.ok(len(got) == min(n + 1, MOST_RAM) and got == sorted(got, reverse=True) and left_out(out) == says and
           (lost == 0) == (says == ""), f"{n} nodes of RAM: the largest {len(got)}, and the log has '{says}'", out)
for n in (10, 100, 120, 140, 600):
    out = run(BOARD, with_reserved(n), "hart=1")
    say = left_out(out)
    pieces = n + 3 if n < 1008 else 0  # the lower part, the parts between reserved pieces, the rest, and the other range of RAM
    tap.ok(len(ram(out)) == min(MOST_RAM, pieces) and (re.search(r"ranges? of RAM \(16 is the most\) of ", say) is not None) == (pieces > MOST_RAM) and
           (re.search(r"ranges? of RAM between reserved ones of ", say) is not None) == (pieces > MOST_CUT), f"{n} reserved pieces in RAM: '{say}'", out)

# ---- a model that the loader has put into RAM ----

# U-Boot's fdt_initrd writes the range into /chosen and also reserves it; Raspberry Pi's firmware and QEMU do not reserve it.
MODEL, BYTES = 0x90000000, 300 * MIB
chosen = {**TREE["chosen"], "linux,initrd-start": cells(MODEL), "linux,initrd-end": cells(MODEL + BYTES)}
for title, pairs in (("", []), (", reserved by U-Boot", [(MODEL, BYTES)]), (", reserved in pages", [(MODEL - 4096, BYTES + 2 * 4096)])):
    out = run(BOARD, changed(chosen=chosen), "hart=1", reserved=pairs)
    tap.ok(f"initrd {MODEL:x} {BYTES:x}\n" in out and not any(a < MODEL + BYTES and MODEL < a + n for a, n in ram(out)),
           f"an initrd{title}: it is found, and no free RAM lies over it", out)
for title, at in (("over the image", 0x80200000), ("beyond RAM", 0xf0000000)):
    outside = {**chosen, "linux,initrd-start": cells(at), "linux,initrd-end": cells(at + MIB)}
    out = run(BOARD, changed(chosen=outside), "hart=1", reserved=[(at, MIB)])
    tap.ok("initrd" not in out and ram(out), f"an initrd {title} is not used", out)
kept = changed(chosen=chosen)
kept["reserved-memory"] = {"#address-cells": 2, "#size-cells": 2, "ranges": [], "kept@90000000": {"reg": cells(MODEL, MIB), "no-map": []}}
out = run(BOARD, kept, "hart=1")
tap.ok("initrd" not in out, "an initrd over memory that the firmware keeps is left out, too", out)

# ---- the tree itself ----

deep = {"compatible": "x"}
for level in range(20):
    deep = {f"level{level}": deep}
for title, more in (("nodes 20 levels deep", {"deep": deep}), ("3 MiB", {"large": b"\0" * (3 * MIB)})):
    tree = {**raspberry_pi_tree("raspberrypi,4-model-b"), **more}
    out = run("rpi4", tree, "mailbox=fe00b880", "memory=3b400000", "revision=b03111")
    tap.ok("1 device tree, too large or too deep" in left_out(out) and ram(out) and "board rpi4" in out,
           f"a tree with {title}: it is named, and the firmware is asked", out)
    out = run(BOARD, changed(**more), "hart=1")
    tap.ok("no valid device tree" in out, "without another source the start ends with an error message", out)
fine = {"compatible": "x"}
for level in range(10):
    fine = {f"level{level}": fine}
out = run(BOARD, changed(fine=fine, large=b"\0" * MIB), "hart=1")
tap.ok(left_out(out) == "" and f"board {BOARD}" in out, "a tree of 10 levels and 1 MiB is read", out)
tap.done()
