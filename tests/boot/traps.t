#!/usr/bin/python3
"""Every forbidden access of traps_main.c is reported and stops the machine, on both boards, on core 0 and on core 1, while the other cores work. The
backtrace is compared with the image's symbols, function by function. `traps.t virt-arm64 "write-code" "panic 1"` tests only this board and these
traps."""

import os
import re
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, Machine, Tap

SECONDS = 30
CORES = 4
REGISTERS = {
    "virt-arm64": [f"x{i}" for i in range(31)] + ["sp", "pstate", "esr", "elr", "far"],
    "virt-riscv64": ["ra", "sp", "gp", "tp", "scause", "sepc", "stval", "sstatus"] +
                    [f"t{i}" for i in range(7)] + [f"s{i}" for i in range(12)] +
                    [f"a{i}" for i in range(8)],
}
PLANTED = {
    "virt-arm64": {"x0": 0x1111, "x17": 0x2222, "x28": 0x3333},
    "virt-riscv64": {"ra": 0x4444, "a0": 0x1111, "s11": 0x2222, "t6": 0x3333},
}
UNMAPPED = 28 << 30
ARM_WRITE, RISCV_WRITE = "data access: write", "write: nothing writable is mapped there"
ARM_READ, RISCV_READ = "data access: read", "read: nothing readable is mapped there"

# Each row: name, symbol or address of the fault, first line of the report on arm64 and on riscv64; {} stands for the
# address.
TRAPS = [
    ("write-code", "text_start", ARM_WRITE + " at {}: not permitted there",
     RISCV_WRITE + " at {}"),
    ("write-rodata", "constant", ARM_WRITE + " at {}: not permitted there",
     RISCV_WRITE + " at {}"),
    ("execute-data", "data", "instruction fetch: execute at {}: not permitted there",
     "execute: nothing executable is mapped there at {}"),
    ("execute-rodata", "constant", "instruction fetch: execute at {}: not permitted there",
     "execute: nothing executable is mapped there at {}"),
    ("read-null", 8, ARM_READ + " at {}: nothing is mapped there", RISCV_READ + " at {}"),
    ("read-unmapped", UNMAPPED, ARM_READ + " at {}: nothing is mapped there",
     RISCV_READ + " at {}"),
    ("undefined", None, "undefined instruction", "illegal instruction"),
    ("breakpoint", None, "BRK instruction", "breakpoint"),
]
SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")

tap = Tap()


class Symbols:
    """The symbol table of a 64-bit ELF file."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.elf = f.read()
        at, = struct.unpack_from("<Q", self.elf, 40)
        count, = struct.unpack_from("<H", self.elf, 60)
        sections = [SECTION.unpack_from(self.elf, at + i * SECTION.size) for i in range(count)]
        table = next(s for s in sections if s[1] == 2)
        names = sections[table[6]][4]
        self.list = []
        for i in range(table[5] // SYMBOL.size):
            name, info, _, _, value, size = SYMBOL.unpack_from(self.elf, table[4] + i * SYMBOL.size)
            text = self.elf[names + name:self.elf.index(b"\0", names + name)].decode()
            self.list.append((text, info & 15, value, size))

    def address(self, name):
        return next(value for text, _, value, _ in self.list if text == name)

    def function(self, address):
        for text, kind, value, size in self.list:
            if kind == 2 and value <= address < value + size:
                return text.split(".")[0]
        return hex(address)


def backtrace(console, symbols):
    found = re.findall(r"^  (?:at          |called from )(0x[0-9a-f]+)$", console, re.M)
    return [symbols.function(int(address, 16)) for address in found]


def registers(console):
    return {name: int(value, 16)
            for name, value in re.findall(r"\b([a-z]+\d*) +(0x[0-9a-f]+)", console)}


class Bench:
    """A board with the image that traps; all its runs are started first, in parallel."""

    def __init__(self, board):
        self.board = board
        self.machine = Machine(board)
        self.kernel = os.path.join(BUILD, board, "traps.bin")
        self.symbols = Symbols(os.path.join(BUILD, board, "traps.elf"))
        self.runs = {}

    def start(self, pool, words):
        if words in WANTED or not WANTED:
            self.runs[words] = pool.submit(self.machine.run, words, CORES, (), self.kernel, SECONDS)

    def check(self, words, what, lines, callers, core=0):
        """Check that the lines come in this order, then the backtrace's functions from the innermost, then the end."""
        if words not in self.runs:
            return None
        status, console = self.runs[words].result()
        name = f"{self.board}, {words}"
        at = [console.find(line) for line in lines]
        tap.ok(-1 not in at and at == sorted(at), f"{name}: {what}", f"wanted {lines}\n{console}")
        if callers is not None:
            calls = backtrace(console, self.symbols)
            tap.ok(calls[:len(callers)] == callers and
                   f"backtrace of core {core}," in console,
                   f"{name}: backtrace of core {core}: {' < '.join(callers)}",
                   f"got {calls}\n{console}")
        tap.ok(status == 0 and console.count("power off") <= 1 and
               "nothing happened" not in console,
               f"{name}: the machine is off within {SECONDS} s", f"status {status}\n{console}")
        return console


def above(core):
    if core:
        return ["spring", "core_main", "core_start"]
    return ["spring", "image_main", "boot_start"]


def check_trap(bench, row, core):
    name, where, arm64, riscv64 = row
    words = name + (" 1" if core else "")
    text = arm64 if bench.board == "virt-arm64" else riscv64
    address = bench.symbols.address(where) if isinstance(where, str) else where
    lines = ["trap: " + (text if address is None else text.format(hex(address))) + "\n",
             f"  core {core}  ", "power off\n"]
    function = "trap_" + name.replace("-", "_")
    callers = [function] + above(core)
    if name.startswith("execute-"):
        callers.insert(0, hex(address))
    console = bench.check(words, "cause, address and core", lines, callers, core)
    if console is None:
        return
    values = registers(console)
    tap.ok(all(register in values for register in REGISTERS[bench.board]),
           f"{bench.board}, {words}: every register is printed with its name", console)
    if name == "undefined":
        wrong = [r for r, value in PLANTED[bench.board].items() if values.get(r) != value]
        tap.ok(not wrong, f"{bench.board}, {words}: registers have the values that the trap's code set",
               f"{wrong}\n{console}")


def check_canary(bench):
    for core, words in ((0, "stack-smash"), (1, "stack-smash 1")):
        console = bench.check(words, "who wrote beyond an array is named",
                              ["panic: the function at 0x", " wrote beyond an array on its stack\n",
                               "power off\n"], ["__stack_chk_fail"], core)
        found = re.search(r"the function at (0x[0-9a-f]+)", console or "")
        if console:
            tap.ok(found and bench.symbols.function(int(found[1], 16) - 4) == "smash",
                   f"{bench.board}, {words}: and it was smash", console)
    if "canary" in bench.runs and "canary 1" in bench.runs:
        drawn = [re.findall(r"the canary is 0x([0-9a-f]+)\n", bench.runs[w].result()[1])
                 for w in ("canary", "canary 1")]
        tap.ok(all(len(w) == 1 and len(w[0]) > 8 and w[0].endswith("00") for w in drawn) and
               drawn[0] != drawn[1], f"{bench.board}: every boot has another canary", drawn)


def check_rest(bench):
    arm = bench.board == "virt-arm64"
    for core, name, function in ((0, "stack-overflow", "descend"), (1, "stack-overflow", "descend"),
                                 (0, "stack-leap", "leap"), (1, "stack-leap", "leap")):
        bench.check(name + (" 1" if core else ""), "the guard is named",
                    [f"trap: {ARM_WRITE if arm else RISCV_WRITE} at ",
                     f" (stack overflow: the guard of core {core})\n",
                     f"  core {core}  ", "power off\n"],
                    [function, function] if name == "stack-overflow" or core == 0 else [function],
                    core)
    for core, words in ((0, "trap-stack"), (1, "trap-stack 1")):
        bench.check(words, "the guard of the trap stack is not mapped",
                    [f"trap: {ARM_WRITE if arm else RISCV_WRITE} at ",
                     f" (stack overflow: the guard of core {core})\n",
                     f"  core {core}  ", "power off\n"],
                    ["trap_trap_stack"] + above(core), core)
    check_canary(bench)
    for core, words in ((0, "assert"), (1, "assert 1")):
        bench.check(words, "file, line, function, expression",
                    ["panic: tests/boot/traps_main.c:", ": trap_assert: assertion failed: "
                     "hidden(1) == 2\n", "power off\n"],
                    ["__assert_func", "trap_assert"] + above(core), core)
    for core, words in ((0, "panic"), (1, "panic 1")):
        bench.check(words, "the message, formatted",
                    ["panic: as asked: -3 of 4, 0xabc, 0x123456789abcdef, z%\n", "power off\n"],
                    ["trap_panic"] + above(core), core)
    for core, words in ((0, "in-panic"), (1, "in-panic 1")):
        bench.check(words, "a trap inside a panic is one more line",
                    ["panic: one ", "\npanic: another trap inside this report\n"], None, core)
    for core, words in ((0, "in-trap"), (1, "in-trap 1")):
        bench.check(words, "a trap inside a trap's report is one more line",
                    ["trap: ", "  core 50000  ", "\npanic: another trap inside this report\n"],
                    None)
    for words, first in (("panic all", "panic: as asked"), ("read-null all", "trap: ")):
        console = bench.check(words, "the first of four cores reports",
                              [first, "backtrace of core ", "power off\n"], None)
        if console is None:
            continue
        tap.ok(console.count(first) == 1 and console.count("backtrace of core ") == 1 and
               "another trap" not in console,
               f"{bench.board}, {words}: the other cores print nothing", console)
    bench.check("malloc", "newlib's malloc gives NULL", ["malloc: NULL and ENOMEM\n"], None)


NAMES = [row[0] for row in TRAPS] + ["stack-overflow", "stack-leap", "stack-smash", "canary",
                                     "trap-stack", "assert", "panic",
                                   "in-panic", "in-trap"]
BOARDS = [board for board in REGISTERS if board in sys.argv] or list(REGISTERS)
WANTED = [word for word in sys.argv[1:] if word not in REGISTERS]
benches = [Bench(board) for board in BOARDS]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    for bench in benches:
        for words in NAMES + [name + " 1" for name in NAMES] + ["panic all", "read-null all",
                                                                      "malloc"]:
            bench.start(pool, words)
    for bench in benches:
        for core in (0, 1):
            for row in TRAPS:
                check_trap(bench, row, core)
        check_rest(bench)
tap.done()
