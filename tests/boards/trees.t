#!/usr/bin/python3
"""Runs each board's own code on the device tree published for that board (Debian's kernel packages; make setup-tests fetches them), with the
memory and reservations that its firmware writes into it, and with registers as that firmware leaves them: not zero, and with unexpected interrupts
on. The results are compared with the board's expected.py, and each address is also compared with the tree."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import expected, with_expected
from device_tree import address_of, cells_of, make_tree
from machine import ROOT, Tap
from board_trees import MIB, missing, published, ranges_of, run, tables_of, with_memory

tap = Tap()
MOST_TABLES = 32 + 4 * 16  # boot/mmu.c


def look_at_board(board, name, hart, nodes, starts, words, registers):
    root, reserved = published(name)
    ids = [cells_of(node["reg"])[-1] for path, node in root["cpus"].items() if path.startswith("cpu@")]
    workers = [n for n in ids if n != expected(board, "MONITOR")]
    if not any(name.startswith("memory@") and any(cells_of(node["reg"])) for name, node in root.items()):
        with_memory(root, [(0, 512 * MIB)])
    left, taken = registers
    asked = words.split() + [f"{k:x}={v:x}" for k, v in left.items()] + [f"{k:x}" for k in taken]
    out = run(board, make_tree(root, reserved), asked, hart)
    title = f"{board}, {name}, core {hart}"
    mapped = {int(a, 16) for a in re.findall(r"^device (\w+) ", out, re.M)}
    missing = [f"{path} at {address_of(root, path):x}" for path in nodes if address_of(root, path) not in mapped]
    tap.ok(f"board {board}\n" in out and not missing, f"{title}: devices have the addresses of the tree", f"{missing}\n{out}")
    cores = [int(c, 16) for c in re.findall(r"^core (\w+)$", out, re.M)]
    tap.ok(cores == [hart] + [n for n in workers if n != hart], f"{title}: cores {cores}, the monitor's not among them", out)
    begun = re.findall(r"^(?:release|psci|hart) .*$", out, re.M)
    tap.ok(begun == starts and "refused" not in out, f"{title}: the other cores start by {starts[0].split()[0]}", out)
    found = {int(a, 16): int(v, 16) for a, v in re.findall(r"^register (\w+) (\w+)$", out, re.M)}
    wrong = [f"{k:x}: {found.get(k, 0):x}, not {v:x}" for k, v in taken.items() if found.get(k) != v]
    tap.ok(not wrong, f"{title}: {len(taken)} registers that its firmware left in another state are set", f"{wrong}\n{out}")
    with open(os.path.join(ROOT, "board", board, "memory.h"), encoding="utf-8") as f:
        image = int(re.search(r"define BOARD_LOAD_ADDRESS (\w+)", f.read()).group(1), 16)
    tables = tables_of(out, image)
    tap.ok(0 < 2 * tables <= MOST_TABLES, f"{title}: {tables} page tables are used, of {MOST_TABLES}", out)
    # If a bus does not answer, registers read as ones: the board reports what it has not found, and finishes the start.
    out = run(board, make_tree(root, reserved), ["fill=ffffffff"], hart)
    tap.ok(f"board {board}\n" in out and "panic" not in out, f"{title}: the start continues if no device answers", out)


def look_at_memory(board, name, size, ranges, kept, free):
    root, reserved = published(name)
    with_memory(root, ranges)
    node = root.setdefault("reserved-memory", {"#address-cells": 2, "#size-cells": 2, "ranges": b""})
    for base, size_kept in kept:  # in the form that OpenSBI and U-Boot write
        node[f"mmode_resv@{base:x}"] = {"reg": [base >> 32, base & 0xffffffff, 0, size_kept], "no-map": b""}
    hart = 1 if expected(board, "MONITOR") == 0 else 0
    out = run(board, make_tree(root, reserved), [], hart)
    total = sum(n for _, n in ranges)
    tap.ok(f"bytes {total:x}\n" in out and ranges_of(out) == free, f"{name}, {size}: {total >> 20} MiB, free ranges are those of the board's maker",
           "\n".join(f"{a:x} {b:x}" for a, b in free) + "\n" + out)


def named_nodes(node, name):
    for key, child in node.items():
        if isinstance(child, dict):
            if key == name:
                yield child
            yield from named_nodes(child, name)


def words_of(board, name):
    return next(row[4] for row in expected(board, "TREES") if row[0] == name).split()


def look_at_pins(board, trees, groups, gpio):
    """After the board has looked for its card, the pins have the functions that the trees give them."""
    for name in trees:
        root, reserved = published(name)
        with_memory(root, [(0, 512 * MIB)])
        out = run(board, make_tree(root, reserved), words_of(board, name) + [f"{gpio + 4 * i:x}" for i in range(6)])
        found = {int(a, 16): int(v, 16) for a, v in re.findall(r"^register (\w+) (\w+)$", out, re.M)}
        wrong, n = [], 0
        for group in groups:
            for node in named_nodes(root, group):
                functions = cells_of(node["brcm,function"])
                for pin in cells_of(node["brcm,pins"]):
                    is_function = found.get(gpio + 4 * (pin // 10), 0) >> 3 * (pin % 10) & 7
                    n += 1
                    wrong += [] if is_function == functions[0] else [f"pin {pin}: {is_function}, not {functions[0]}"]
        tap.ok(n > 0 and not wrong, f"{board}, {name}: {n} pins have the functions of the tree's {', '.join(groups)}", f"{wrong}\n{out}")


def look_at_pcie(board, name, nodes):
    """The windows of the PCIe ports are those of the trees."""
    root, _ = published(name)
    text = ""
    for file in ("memory.h", "board.c"):
        with open(os.path.join(ROOT, "board", board, file), encoding="utf-8") as f:
            text += f.read()
    wrong = []
    for words, (path, at) in nodes.items():
        node = root
        for part in path[1:].split("/"):
            node = node[part]
        ranges = cells_of(node["ranges"])
        begin = ranges[at] << 32 | ranges[at + 1]
        number = re.search(words + r" (0x[0-9a-f]+)" if words.startswith("BOARD") else re.escape(words).replace("0x", "(0x", 1).replace(",", "),", 1), text)
        wrong += [] if number and int(number.group(1), 16) == begin else [f"{words}: the tree has {begin:x}"]
    tap.ok(not wrong, f"{board}, {name}: the windows of its PCIe ports are the tree's", wrong)


def look_at_caches(board, name):
    """A VideoCore does not see the caches: each question must be written back before it is asked, and each answer read from
    memory."""
    root, reserved = published(name)
    with_memory(root, [(0, 512 * MIB)])
    out = run(board, make_tree(root, reserved), words_of(board, name))
    answers = re.search(r"^mailbox (\d+) answered, 0 stale$", out, re.M)
    tap.ok(answers and int(answers.group(1)) > 1,
           f"{board}: {answers and answers.group(1)} questions were written back from the caches before they were asked", out)


ALL = 0xffffffff


def look_at_interrupts(board, name, gic, uart):
    """A GIC-400 (IHI 0048, 4.3 and 4.4) as a firmware may leave it: all 256 lines are enabled, pending and active, an interrupt was taken
    and never ended, and old wake-ups are pending. Here registers that clear bits are only memory, so our code must have written all bits of
    each."""
    root, reserved = published(name)
    with_memory(root, [(0, 512 * MIB)])
    base, node = address_of(root, gic), root
    for part in uart[1:].split("/"):
        node = node[part]
    line = cells_of(node["interrupts"])[1] + 32
    left = {base + 4: 7, **{base + at + 4 * i: ALL for at in (0x100, 0x200, 0x300) for i in range(8)}, base + 0x800: 1, base + 0x10d0: 0x80, base + 0x1004: 0}
    taken = {**{base + at + 4 * i: ALL for at in (0x180, 0x280, 0x380) for i in range(8)}, **{base + 0xf10 + 4 * i: ALL for i in range(4)},
             **{base + 0x10d0 + 4 * i: 0 for i in range(4)}, base + 0x1004: 0xff}
    target = base + 0x800 + line // 4 * 4
    out = run(board, make_tree(root, reserved), words_of(board, name) + [f"{k:x}={v:x}" for k, v in left.items()] + [f"{k:x}" for k in (*taken, target)])
    found = {int(a, 16): int(v, 16) for a, v in re.findall(r"^register (\w+) (\w+)$", out, re.M)}
    wrong = [f"{k:x}: {found.get(k, 0):x}, not {v:x}" for k, v in taken.items() if found.get(k) != v]
    tap.ok(not wrong and found.get(target, 0) >> line % 4 * 8 & 0xff == 1,
           f"{board}, {name}: what its firmware left enabled, pending and active is cleared, and line {line} comes to core 0", f"{wrong}\n{out}")


BOARDS = with_expected("TREES")
for why in {missing(board) for board in BOARDS} - {None}:
    tap.skip(*why)
    tap.done()
for board, rows in BOARDS.items():
    for row in rows:
        look_at_board(board, *row)
    for row in expected(board, "MEMORY"):
        look_at_memory(board, *row)
for board, row in with_expected("PINS").items():
    look_at_pins(board, *row)
for board, row in with_expected("PCIE").items():
    look_at_pcie(board, *row)
for board, rows in BOARDS.items():
    if "mailbox=" in rows[0][4]:
        look_at_caches(board, rows[0][0])
for board, row in with_expected("GIC").items():
    for each in row if isinstance(row, list) else [row]:
        look_at_interrupts(board, *each)
tap.done()
