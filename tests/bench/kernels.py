#!/usr/bin/python3
"""Instructions per weight or element of every kernel, reference against assembly, from the image of
kernels_main.c; and llvm-mca's cycles for the hot loops of arm64, where it is installed."""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import COUNTED, ICOUNT, print_table, write_csv
from machine import ARM64, BUILD, RISCV64_V, Machine

MACHINES = [("arm64", ARM64),
            ("riscv64 VLEN 128", RISCV64_V),
            ("riscv64 VLEN 256", Machine("virt-riscv64", None, ["-cpu", "rv64,v=true,vlen=256"]))]
SUFFIXES = ("ref", "neon", "rv64gc", "rvv")
CORES = ("cortex-a53", "cortex-a72")
MCA = next((name for name in ("llvm-mca", "llvm-mca-14") if shutil.which(name)), None)


def count(machine):
    """{symbol: (shape, instructions per item)}, call and return left out."""
    kernel = os.path.join(BUILD, machine.board, "kernels-bench.bin")
    status, console = machine.run("", 1, ICOUNT, kernel, 120)
    found = {}
    for symbol, *numbers in re.findall(r"^kernel: (\w+)" + r" (\d+)" * 7 + "$", console, re.M):
        rows, cols, items, calls, ticks, empty, hz = (int(n) for n in numbers)
        shape = f"{rows} x {cols}" if rows > 1 else str(cols)
        found[symbol] = (shape, (ticks - empty) * 10**9 / hz / calls / items)
    if status != 0 or not found:
        sys.exit(f"{machine.label}: status {status}\n{console[-2000:]}")
    return found


def split(symbol):
    op, _, suffix = symbol.rpartition("_")
    return op, suffix


def loops(disassembly, symbol):
    """Instructions of every innermost loop of a function."""
    body = re.search(rf"^[0-9a-f]+ <{symbol}>:\n((?:.+\n)+)", disassembly, re.M).group(1)
    code = [(int(at, 16), text.split("//")[0].strip()) for at, text in
            re.findall(r"^ *([0-9a-f]+):\t[0-9a-f]{8} \t(.*)$", body, re.M)]
    spans = []
    for i, (at, text) in enumerate(code):
        branch = re.match(r"(?:b|b\.\w+|cbn?z|tbn?z)\t(?:.*, )?([0-9a-f]+) <", text)
        target = int(branch.group(1), 16) if branch else at + 1
        start = next((j for j, (where, _) in enumerate(code) if where == target), None)
        if start is not None and start <= i:
            spans.append((start, i))
    inner = [s for s in spans if not any(o != s and s[0] <= o[0] and o[1] <= s[1] for o in spans)]
    return [[text for _, text in code[a:b + 1]] for a, b in inner]


def static_cycles(loop, core):
    """Of one iteration in a long run, every load hitting the first cache."""
    lines = [re.sub(r"[0-9a-f]+ <[^>]*>$", "1b", text) for text in loop]
    done = subprocess.run([MCA, "-mtriple=aarch64", f"-mcpu={core}", "-iterations=200"],
                          input="1:\n" + "\n".join(lines) + "\n", capture_output=True, text=True,
                          timeout=60)
    total = re.search(r"^Total Cycles:\s+(\d+)", done.stdout, re.M)
    return int(total.group(1)) / 200 if total else None


def show_counted():
    rows, lines = [], []
    for label, machine in MACHINES:
        found = count(machine)
        for op in sorted({split(symbol)[0] for symbol in found}):
            cells = [found.get(f"{op}_{suffix}") for suffix in SUFFIXES]
            best = min(cell[1] for cell in cells if cell)
            rows.append([op, cells[0][0], label] + [f"{c[1]:.3f}" if c else "" for c in cells] +
                        [f"{cells[0][1] / best:.1f}"])
        lines += [(label, symbol, "kernel " + shape, f"{value:.4f}", "instructions/item", COUNTED)
                  for symbol, (shape, value) in found.items()]
    rows.sort(key=lambda row: (row[0], row[2]))
    print_table(f"Instructions per weight or element, {COUNTED}: no board's speed",
                ["op", "shape", "machine", *SUFFIXES, "ref/best"], rows)
    return lines


def show_static():
    if MCA is None:
        print("\nskipped: static cycles, llvm-mca is not installed")
        return []
    print("\nskipped: static cycles of riscv64, llvm-mca has no model of a core with V")
    with open(os.path.join(BUILD, "virt-arm64/ingot.dis"), encoding="utf-8") as f:
        disassembly = f.read()
    how = subprocess.run([MCA, "--version"], capture_output=True, text=True).stdout
    how = "static, llvm-mca " + re.search(r"version (\S+)", how).group(1)
    rows, lines = [], []
    for symbol in sorted(set(re.findall(r"^[0-9a-f]+ <(\w+_neon)>:$", disassembly, re.M))):
        loop = max(loops(disassembly, symbol), key=len, default=None)
        if loop is None:
            rows.append([symbol, "no loop"] + [""] * len(CORES))
            continue
        cycles = [static_cycles(loop, core) for core in CORES]
        rows.append([symbol, len(loop)] + [f"{c:.1f}" if c else "unknown" for c in cycles])
        lines += [(core, symbol, f"longest inner loop, {len(loop)} instructions", f"{c:.1f}",
                   "cycles/iteration", how) for core, c in zip(CORES, cycles) if c]
    print_table(f"Cycles of one iteration of the longest inner loop, {how}: a model, no measurement",
                ["kernel", "instructions", *CORES], rows)
    return lines


if __name__ == "__main__":
    write_csv("bench-kernels.csv", show_counted() + show_static())
