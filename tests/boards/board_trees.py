"""For suites that run boards' code on this computer: the trees of Debian's kernels, and registers of devices that several boards
have."""

import os
import re
import subprocess

from device_tree import cells_of, read_tree
from machine import BUILD, WORK

TREES = os.path.join(BUILD, "boards/trees")
MIB, GIB = 1 << 20, 1 << 30
IMAGE = 0x410000  # bytes of the image in boot_tree.c: 3.5 MiB, and the stacks of boot/stacks.h
PSCI = ["psci smc 100", "psci smc 200", "psci smc 300"]


def at(base, registers):
    return {base + offset: value for offset, value in registers.items()}


def plic(base, contexts, context, line, uart):
    """A PLIC as firmware left it (threshold 7, lines of this context enabled), and as it must become. Lines of another context do
    not change. base: the PLIC's address."""
    enable, other = base + 0x2000 + 0x80 * context, base + 0x2000 + 0x80 * (context + 2 if context + 2 < contexts else context - 2)
    left = {enable: 0xffffffff, enable + 4: 0xffffffff, enable + 8: 0xffffffff, other: 5, base + 0x200000 + 0x1000 * context: 7,
            uart + 0x14: 0x60, uart + 4: 0x8f}
    taken = {enable + 4 * i: 1 << line % 32 if i == line // 32 else 0 for i in range(3)}
    return left, {**taken, other: 5, base + 0x200000 + 0x1000 * context: 0, base + 4 * line: 1, uart + 4: 1}


def sdhci(base):
    """An SD host controller (4.20, 2.2) with which a firmware has read its files: four lines at high speed, all interrupts enabled and
    signalled, two of them pending. Its resets end by themselves, its clock becomes stable, and no card answers, so a command times out."""
    left = at(base, {0x24: 0x1ff0000, 0x28: 0xf26, 0x2c: 0xe0207, 0x30: 0x8001, 0x34: 0x27f003b, 0x38: 0x27f003b, 0xfc: 0x10020000})
    # As our driver must set it: power at 3.3 V, one line, the slowest timing, the highest divider for 400 kHz, no signalled
    # interrupt.
    return f"act={base + 0x2c:x}/7000000/2 act={base + 0x30:x}/ffffffff/18000", left, at(base, {0x28: 0xf00, 0x34: 0x7ff103b, 0x38: 0})


def run(board, tree, words, hart=0):
    # Several suites run at the same time, so each has a file of its own.
    path = os.path.join(WORK, f"box-{board}-{os.getpid()}.dtb")
    os.makedirs(WORK, exist_ok=True)
    with open(path, "wb") as f:
        f.write(tree)
    command = [os.path.join(BUILD, "tests/boards", board), path, f"hart={hart:x}", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    os.unlink(path)
    return done.stdout + done.stderr


def published(name):
    with open(os.path.join(TREES, name + ".dtb"), "rb") as f:
        return read_tree(f.read())


def with_memory(root, ranges):
    """Write the tree's memory node as firmware does."""
    cells = []
    widths = [cells_of(root[k])[0] for k in ("#address-cells", "#size-cells")]
    for pair in ranges:
        for value, width in zip(pair, widths):
            cells += [value >> 32 & 0xffffffff, value & 0xffffffff][-width:]
    for name in [n for n in root if n.startswith("memory@")]:
        del root[name]
    root["memory@0"] = {"device_type": "memory", "reg": cells}


def ranges_of(out):
    return [(int(a, 16), int(a, 16) + int(n, 16)) for a, n in re.findall(r"^ram (\w+) (\w+)$", out, re.M)]


def tables_of(out, image):
    """The number of page tables below the root that boot/mmu.c needs for the board's mappings and RAM, with pages of 4 KiB, and blocks of 2 MiB and
    1 GiB if they fit. image: the image's first address; each of the image's pages is mapped separately."""
    pieces = [(int(a, 16), int(n, 16), 1 << 12) for a, n in re.findall(r"^device (\w+) (\w+)$", out, re.M)]
    pieces += [(a, b - a, 1 << 12) for a, b in ranges_of(out)]
    tables = set()
    for start, size, page in pieces + [(image, IMAGE, 1 << 12)]:
        at, end = start & -page, start + size + page - 1 & -page
        whole = (start, size) != (image, IMAGE)
        while at < end:
            block = next(b for b in ((1 << 30, 1 << 21, page) if whole else (page,)) if at % b == 0 and at + b <= end)
            tables |= {(level, at >> level) for level in (39, 30, 21) if 1 << level > block}
            at += block
    return len(tables)


def missing(board):
    """None, or what is missing for the board's suite, and the reason."""
    if not os.path.exists(os.path.join(TREES, ".complete.2")):
        return "published device trees", f"none in {TREES}: make setup-tests fetches Debian's kernel packages for them"
    if not os.path.exists(os.path.join(BUILD, "tests/boards", board)):
        return "boards' code on this computer", "build/tests/boards is not built: make test-boards"
    return None
