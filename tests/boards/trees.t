#!/usr/bin/python3
"""Each board's own code on the device tree published for that board (Debian's kernel packages; make setup-tests fetches them), with
the memory and reservations that its firmware writes into it, and with registers as that firmware leaves them: not zero, and with
interrupts on that nobody asked for. The results are held against the table below, and every address also against the tree."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from device_tree import address_of, cells_of, make_tree, read_tree
from machine import BUILD, ROOT, WORK, Tap

TREES = os.path.join(BUILD, "boards/trees")
MIB, GIB = 1 << 20, 1 << 30
IMAGE = 0x410000  # boot_tree.c: 3.5 MiB, and the stacks of boot/stacks.h
PI_3 = ["/soc/serial@7e201000", "/soc/mmc@7e300000", "/soc/mailbox@7e00b880", "/soc/watchdog@7e100000", "/soc/gpio@7e200000",
        "/soc/dma-controller@7e007000"]
PI_4 = ["/soc/serial@7e201000", "/emmc2bus/mmc@7e340000", "/scb/pcie@7d500000", "/soc/mailbox@7e00b880", "/soc/watchdog@7e100000",
        "/soc/gpio@7e200000", "/soc/interrupt-controller@40041000"]
PI_5 = ["/soc@107c000000/serial@7d001000", "/soc@107c000000/mmc@fff000", "/soc@107c000000/mailbox@7c013880",
        "/soc@107c000000/gpio@7d517c00", "/soc@107c000000/interrupt-controller@7fff9000"]
VISIONFIVE = ["/soc/serial@10000000", "/soc/interrupt-controller@c000000", "/soc/mmc@16010000", "/soc/mmc@16020000",
              "/soc/syscon@13030000", "/soc/clock-controller@13020000", "/soc/clock-controller@10230000", "/soc/syscon@10240000"]
ICICLE = ["/soc/serial@20100000", "/soc/interrupt-controller@c000000", "/soc/mmc@20008000"]
SPIN = ["release 1 e0", "release 2 e8", "release 3 f0"]
PSCI = ["psci smc 100", "psci smc 200", "psci smc 300"]

# Registers as a Pi's firmware leaves them: the PL011 on, at another rate, for Bluetooth, with interrupts enabled and pending; the row's
# pins at the small UART; its neighbours in use. As they must be: 115200 baud of 48 MHz, pins 14 and 15 at the PL011, 32 and 33 off it.
GPFSEL1, GPFSEL3, FR, IBRD, FBRD, LCR, CR, IMSC, RIS = 0x200004, 0x20000c, 0x201018, 0x201024, 0x201028, 0x20102c, 0x201030, 0x201038, 0x20103c
PI_LEFT = {GPFSEL1: 1 | 2 << 12 | 2 << 15 | 4 << 27, GPFSEL3: 0x3f | 7 << 6 | 7 << 9, FR: 0x90, IBRD: 1, FBRD: 40, LCR: 0x60, CR: 0xc301,
           IMSC: 0x7f0, RIS: 0x7e0}
PI_TAKEN = {GPFSEL1: 1 | 4 << 12 | 4 << 15 | 4 << 27, GPFSEL3: 0x3f, IBRD: 26, FBRD: 3, LCR: 0x70, CR: 0x301}


def at(base, registers):
    return {base + offset: value for offset, value in registers.items()}


def pi_5(divisor):
    uart = 0x107d001000
    left = {uart + 0x18: 0x90, uart + 0x24: divisor, uart + 0x28: 7 if divisor else 0, uart + 0x30: 0x301, uart + 0x38: 0x7f0}
    taken = {uart + 0x24: divisor or 23, uart + 0x28: 7 if divisor else 56, uart + 0x2c: 0x70, uart + 0x30: 0x301}
    return left, taken


def plic(base, contexts, context, line, uart):
    """The firmware's threshold is 7, and its lines are on for this context; another context's are not ours. base: of the PLIC."""
    enable, other = base + 0x2000 + 0x80 * context, base + 0x2000 + 0x80 * (context + 2 if context + 2 < contexts else context - 2)
    left = {enable: 0xffffffff, enable + 4: 0xffffffff, enable + 8: 0xffffffff, other: 5, base + 0x200000 + 0x1000 * context: 7,
            uart + 0x14: 0x60, uart + 4: 0x8f}
    taken = {enable + 4 * i: 1 << line % 32 if i == line // 32 else 0 for i in range(3)}
    return left, {**taken, other: 5, base + 0x200000 + 0x1000 * context: 0, base + 4 * line: 1, uart + 4: 1}


# board, tree, boot hart, nodes, how the other cores start, the words of boot_tree
BOARDS = [
    ("rpi3", "bcm2837-rpi-3-b", 0, PI_3, SPIN, "mailbox=3f00b880 revision=a02082", (at(0x3f000000, PI_LEFT), at(0x3f000000, PI_TAKEN))),
    ("rpi3", "bcm2837-rpi-3-b-plus", 0, PI_3, SPIN, "mailbox=3f00b880 revision=a020d3", (at(0x3f000000, PI_LEFT), at(0x3f000000, PI_TAKEN))),
    ("rpi3", "bcm2837-rpi-zero-2-w", 0, PI_3, SPIN, "mailbox=3f00b880 revision=902120", (at(0x3f000000, PI_LEFT), at(0x3f000000, PI_TAKEN))),
    ("rpi4", "bcm2711-rpi-4-b", 0, PI_4, SPIN, "mailbox=fe00b880 revision=b03111", (at(0xfe000000, PI_LEFT), at(0xfe000000, PI_TAKEN))),
    ("rpi4", "bcm2711-rpi-400", 0, PI_4, SPIN, "mailbox=fe00b880 revision=c03130", (at(0xfe000000, PI_LEFT), at(0xfe000000, PI_TAKEN))),
    ("rpi5", "bcm2712-rpi-5-b", 0, PI_5, PSCI, "mailbox=107c013880 revision=c04170", pi_5(0)),
    ("rpi5", "bcm2712-rpi-5-b", 0, PI_5, PSCI, "mailbox=107c013880 revision=c04170", pi_5(11)),
] + [
    ("visionfive2", f"jh7110-starfive-visionfive-2-{version}", hart, VISIONFIVE, [f"hart {n}" for n in range(1, 5) if n != hart], "",
     plic(0xc000000, 9, 2 * hart, 32, 0x10000000)) for version in ("v1.2a", "v1.3b") for hart in (1, 4)
] + [
    ("icicle", "mpfs-icicle-kit", hart, ICICLE, [f"hart {n}" for n in range(1, 5) if n != hart], "",
     plic(0xc000000, 9, 2 * hart, 91, 0x20100000)) for hart in (1, 3)
]

# Trees, what they are called, memory as the firmware writes it (address, bytes), what it reserves besides, and the free ranges,
# largest first: an image at 0x80000, 0x40200000 or 0x80200000 is taken out, and so is what a tree reserves.
PI_IMAGE = 0x80000 + IMAGE
MEMORY = [
    ("bcm2837-rpi-zero-2-w", "512 MB", [(0, 0x1c000000)], [], [(PI_IMAGE, 0x1c000000), (0x1000, 0x80000)]),
    ("bcm2837-rpi-3-b", "1 GB", [(0, 0x3b400000)], [], [(PI_IMAGE, 0x3b400000), (0x1000, 0x80000)]),
    ("bcm2711-rpi-4-b", "1 GB", [(0, 0x3b400000)], [], [(PI_IMAGE, 0x3b400000), (0x1000, 0x80000)]),
    ("bcm2711-rpi-4-b", "2 GB", [(0, 0x3b400000), (GIB, GIB)], [], [(GIB, 2 * GIB), (PI_IMAGE, 0x3b400000), (0x1000, 0x80000)]),
    ("bcm2711-rpi-400", "4 GB", [(0, 0x3b400000), (GIB, 0xbc000000)], [], [(GIB, 0xfc000000), (PI_IMAGE, 0x3b400000), (0x1000, 0x80000)]),
    ("bcm2711-rpi-4-b", "8 GB", [(0, 0x3b400000), (GIB, 0xbc000000), (4 * GIB, 2 * GIB), (6 * GIB, 2 * GIB)], [],
     [(4 * GIB, 8 * GIB), (GIB, 0xfc000000), (PI_IMAGE, 0x3b400000), (0x1000, 0x80000)]),
] + [
    ("bcm2712-rpi-5-b", f"{n} GB", [(0, 0x3fc00000), (GIB, (n - 1) * GIB)], [],
     sorted([(PI_IMAGE, 0x3fc00000), (GIB, n * GIB)], key=lambda r: r[0] - r[1])) for n in (2, 4, 8, 16)
] + [
    (f"jh7110-starfive-visionfive-2-{version}", f"{n} GB", [(GIB, n * GIB)], [(0x40000000, 0x40000), (0xfe000000 if n > 3 else 0xb0000000, 0x10000)],
     sorted([(0x40200000 + IMAGE, 0xfe000000 if n > 3 else 0xb0000000), (0xfe010000 if n > 3 else 0xb0010000, (n + 1) * GIB),
             (0x40040000, 0x40200000)], key=lambda r: r[0] - r[1])) for version in ("v1.2a", "v1.3b") for n in (2, 4, 8)
] + [
    ("mpfs-icicle-kit", "2 GB", [(0x80000000, GIB), (0x1040000000, GIB)], [],
     [(0x1040000000, 0x1080000000), (0x80200000 + IMAGE, 0xbfc00000), (0x80000000, 0x80200000)]),
]

tap = Tap()


def run(board, tree, words, hart=0):
    path = os.path.join(WORK, f"box-{board}.dtb")
    os.makedirs(WORK, exist_ok=True)
    with open(path, "wb") as f:
        f.write(tree)
    command = [os.path.join(BUILD, "tests/boards", board), path, f"hart={hart:x}", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout + done.stderr


def published(name):
    with open(os.path.join(TREES, name + ".dtb"), "rb") as f:
        return read_tree(f.read())


def with_memory(root, ranges):
    """The memory node as firmware writes it."""
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


def look_at_board(board, name, hart, nodes, starts, words, registers):
    root, reserved = published(name)
    ids = [cells_of(node["reg"])[-1] for path, node in root["cpus"].items() if path.startswith("cpu@")]
    workers = [n for n in ids if not (board in ("visionfive2", "icicle") and n == 0)]
    if board.startswith("rpi"):
        with_memory(root, [(0, 512 * MIB)])
    left, taken = registers
    asked = words.split() + [f"{k:x}={v:x}" for k, v in left.items()] + [f"{k:x}" for k in taken]
    out = run(board, make_tree(root, reserved), asked, hart)
    title = f"{board}, {name}, core {hart}"
    mapped = {int(a, 16) for a in re.findall(r"^device (\w+) ", out, re.M)}
    missing = [f"{path} at {address_of(root, path):x}" for path in nodes if address_of(root, path) not in mapped]
    tap.ok(f"board {board}\n" in out and not missing, f"{title}: its devices are where the tree has them", f"{missing}\n{out}")
    cores = [int(c, 16) for c in re.findall(r"^core (\w+)$", out, re.M)]
    tap.ok(cores == [hart] + [n for n in workers if n != hart], f"{title}: cores {cores}, the monitor's not among them", out)
    begun = re.findall(r"^(?:release|psci|hart) .*$", out, re.M)
    tap.ok(begun == starts and "refused" not in out, f"{title}: the others start by {starts[0].split()[0]}", out)
    found = {int(a, 16): int(v, 16) for a, v in re.findall(r"^register (\w+) (\w+)$", out, re.M)}
    wrong = [f"{k:x}: {found.get(k, 0):x}, not {v:x}" for k, v in taken.items() if found.get(k) != v]
    tap.ok(not wrong, f"{title}: {len(taken)} registers that its firmware left otherwise", f"{wrong}\n{out}")
    # Buses on which nothing answers read as ones: the board says what it has not found, and comes to its end.
    out = run(board, make_tree(root, reserved), ["fill=ffffffff"], hart)
    tap.ok(f"board {board}\n" in out and "panic" not in out, f"{title}: where no device answers, the start goes on", out)


def look_at_memory(name, size, ranges, kept, expected):
    board = next(b[0] for b in BOARDS if b[1] == name)
    root, reserved = published(name)
    with_memory(root, ranges)
    node = root.setdefault("reserved-memory", {"#address-cells": 2, "#size-cells": 2, "ranges": b""})
    for base, size_kept in kept:  # as OpenSBI and U-Boot write theirs
        node[f"mmode_resv@{base:x}"] = {"reg": [base >> 32, base & 0xffffffff, 0, size_kept], "no-map": b""}
    hart = 1 if board in ("visionfive2", "icicle") else 0
    out = run(board, make_tree(root, reserved), [], hart)
    total = sum(n for _, n in ranges)
    tap.ok(f"bytes {total:x}\n" in out and ranges_of(out) == expected, f"{name}, {size}: {total >> 20} MiB, free ranges as the maker has them",
           "\n".join(f"{a:x} {b:x}" for a, b in expected) + "\n" + out)


# EMMC2's range of memory: bus address of the cores' 0, and the end, as the tree has it and as the firmware writes it into the tree of a
# chip of stepping C0 (docs/HARDWARE.md, rpi4): RAM from 0 to 0xfc000000.
WINDOWS = [("as published, and for stepping B0", None, "c0000000 40000000"),
           ("as the firmware writes it for C0", [0, 0, 0, 0, 0xfc000000], "0 fc000000")]
# Pins of a Pi, by the nodes of its tree: the card's and the serial line's. GPFSEL0 has ten pins of three bits.
PINS = {"rpi3": ["emmc-gpio48", "uart0-gpio14"], "rpi4": ["uart0-gpio14"]}
BOARD_GPIO = {"rpi3": 0x3f200000, "rpi4": 0xfe200000}


def look_at_windows():
    for name in ("bcm2711-rpi-4-b", "bcm2711-rpi-400"):
        for title, cells, want in WINDOWS:
            root, reserved = published(name)
            with_memory(root, [(0, 512 * MIB)])
            if cells is not None:
                root["emmc2bus"]["dma-ranges"] = cells
            out = run("rpi4", make_tree(root, reserved), ["mailbox=fe00b880", "revision=b03111"])
            tap.ok(f"window emmc2bus {want}\n" in out, f"{name}: EMMC2's memory {title}: {want}", out)


def named_nodes(node, name):
    for key, child in node.items():
        if isinstance(child, dict):
            if key == name:
                yield child
            yield from named_nodes(child, name)


def look_at_pins():
    """Pins have the functions of the trees once the board has looked for its card."""
    for board, name, mailbox in (("rpi3", "bcm2837-rpi-3-b", "3f00b880"), ("rpi3", "bcm2837-rpi-zero-2-w", "3f00b880"),
                                 ("rpi4", "bcm2711-rpi-4-b", "fe00b880")):
        root, reserved = published(name)
        with_memory(root, [(0, 512 * MIB)])
        asked = [f"{BOARD_GPIO[board] + 4 * i:x}" for i in range(6)]
        revision = {"bcm2837-rpi-3-b": "a02082", "bcm2837-rpi-zero-2-w": "902120", "bcm2711-rpi-4-b": "b03111"}[name]
        out = run(board, make_tree(root, reserved), [f"mailbox={mailbox}", f"revision={revision}", *asked])
        found = {int(a, 16): int(v, 16) for a, v in re.findall(r"^register (\w+) (\w+)$", out, re.M)}
        wrong, n = [], 0
        for group in PINS[board]:
            for node in named_nodes(root, group):
                functions = cells_of(node["brcm,function"])
                for pin in cells_of(node["brcm,pins"]):
                    is_function = found.get(BOARD_GPIO[board] + 4 * (pin // 10), 0) >> 3 * (pin % 10) & 7
                    n += 1
                    wrong += [] if is_function == functions[0] else [f"pin {pin}: {is_function}, not {functions[0]}"]
        tap.ok(n > 0 and not wrong, f"{board}, {name}: {n} pins have the functions of the tree's {', '.join(PINS[board])}", f"{wrong}\n{out}")


def look_at_pcie():
    """The windows of the PCIe ports are those of the trees."""
    for board, name, nodes in (("rpi4", "bcm2711-rpi-4-b", {"BOARD_PCIE_WINDOW": ("/scb/pcie@7d500000", 3)}),
                               ("visionfive2", "jh7110-starfive-visionfive-2-v1.3b",
                                {"{ 0x30000000, 0x38000000, 0 }": ("/soc/pcie@940000000", 3),
                                 "{ 0x38000000, 0x40000000, 0 }": ("/soc/pcie@9c0000000", 3),
                                 "{ 0x900000000, 0x940000000, 0 }": ("/soc/pcie@940000000", 10),
                                 "{ 0x980000000, 0x9c0000000, 0 }": ("/soc/pcie@9c0000000", 10)})):
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


# RP1 as a Pi 5's firmware leaves it with enable_rp1_uart=1: the link up, a window to its peripherals and one to memory, its UART 0 on
# at 115200 of 50 MHz, with interrupts on that nobody takes; or held, as without pciex4_reset=0.
RP1_PORT, RP1_UART = 0x1000120000, 0x1f00030000
RP1_LEFT = {**at(RP1_PORT, {0x4068: 0xb0, 0x4070: 0xfff00000, 0x4080: 0x1f, 0x4084: 0x1f, 0x4034: 21, 0x4038: 0x10, 0x40b4: 1, 0x8000: 0x11de4}),
            **at(RP1_UART, {0x18: 0x90, 0x24: 27, 0x28: 8, 0x2c: 0x60, 0x30: 0x301, 0x38: 0x7f0})}


def look_at_second_line():
    """A Pi 5 on the row of 40 pins: the first line's UART10 and RP1's, both open."""
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


def look_at_deep_tree():
    """A tree deeper than is read: nobody gets it, and the firmware is asked."""
    root, reserved = published("bcm2711-rpi-4-b")
    with_memory(root, [(0, 512 * MIB)])
    deep = {"compatible": "x"}
    for level in range(20):
        deep = {f"level{level}": deep}
    out = run("rpi4", make_tree({**root, "deep": deep}, reserved), ["mailbox=fe00b880", "memory=3b400000", "revision=b03111"])
    tap.ok("board rpi4\n" in out and "bytes 7b400000\n" in out and "window" not in out, "rpi4: a tree 20 levels deep is left alone, and the firmware is asked", out)


def look_at_caches():
    """A VideoCore sees memory alone: each question is written back before it is asked, and each answer is fetched anew."""
    for board, name, words in (("rpi3", "bcm2837-rpi-3-b", "mailbox=3f00b880 revision=a02082"), ("rpi4", "bcm2711-rpi-4-b", "mailbox=fe00b880 revision=b03111"),
                               ("rpi5", "bcm2712-rpi-5-b", "mailbox=107c013880 revision=c04170")):
        root, reserved = published(name)
        with_memory(root, [(0, 512 * MIB)])
        out = run(board, make_tree(root, reserved), words.split())
        answers = re.search(r"^mailbox (\d+) answered, 0 stale$", out, re.M)
        tap.ok(answers and int(answers.group(1)) > 1, f"{board}: {answers and answers.group(1)} questions left the caches before they were asked", out)


# GIC-400 (IHI 0048, 4.3 and 4.4) as a firmware may leave it: 256 lines, all enabled, pending and active; a priority that it took and
# never ended; wake-ups of before. Registers that clear are memory here, so each must have been written with all its bits.
GICS = {"rpi4": ("bcm2711-rpi-4-b", "/soc/interrupt-controller@40041000", "/soc/serial@7e201000", "mailbox=fe00b880 revision=b03111"),
        "rpi5": ("bcm2712-rpi-5-b", "/soc@107c000000/interrupt-controller@7fff9000", "/soc@107c000000/serial@7d001000", "mailbox=107c013880 revision=c04170")}
ALL = 0xffffffff


def look_at_interrupts():
    for board, (name, gic, uart, words) in GICS.items():
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
        out = run(board, make_tree(root, reserved), words.split() + [f"{k:x}={v:x}" for k, v in left.items()] + [f"{k:x}" for k in (*taken, target)])
        found = {int(a, 16): int(v, 16) for a, v in re.findall(r"^register (\w+) (\w+)$", out, re.M)}
        wrong = [f"{k:x}: {found.get(k, 0):x}, not {v:x}" for k, v in taken.items() if found.get(k) != v]
        tap.ok(not wrong and found.get(target, 0) >> line % 4 * 8 & 0xff == 1,
               f"{board}: what its firmware left enabled, pending and active is cleared, and line {line} comes to core 0", f"{wrong}\n{out}")


def look_at_harts():
    """StarFive's tree of 2021.10 calls hart 0 okay, with an MMU that its S7 does not have; and harts that are not ours."""
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


if not os.path.exists(os.path.join(TREES, ".complete")):
    tap.skip("published device trees", f"none in {TREES}: make setup-tests fetches Debian's kernel packages for them")
    tap.done()
if not os.path.exists(os.path.join(BUILD, "tests/boards/rpi5")):
    tap.skip("boards' code on this computer", "build/tests/boards is not built: make test-boards")
    tap.done()
for row in BOARDS:
    look_at_board(*row)
for row in MEMORY:
    look_at_memory(*row)
look_at_windows()
look_at_pins()
look_at_pcie()
look_at_second_line()
look_at_deep_tree()
look_at_harts()
look_at_caches()
look_at_interrupts()
tap.done()
