#!/usr/bin/python3
"""Measures what a weight or element costs in every kernel: instructions counted in the image of kernels_main.c,
cycles of several cores by llvm-mca, and time on this computer."""

import os
import re
import subprocess
import sys
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import COUNTED, ICOUNT, print_table, write_csv
from machine import BUILD, RISCV64, Machine
import static_cycles

NATIVE = os.path.join(BUILD, "tests/bench/native_kernels")

def arm64(name, cpu):
    return name, Machine("virt-arm64", "virt-arm64 " + name, ["-cpu", cpu])


def riscv64(vlen):
    return f"VLEN {vlen}", Machine("virt-riscv64", f"virt-riscv64 VLEN {vlen}",
                                   ["-cpu", f"rv64,v=true,vlen={vlen},zvfh=true,zvknha=true"])


MACHINES = {"arm64": [arm64("cortex-a72", "cortex-a72"), arm64("cortex-a76", "cortex-a76"),
                      arm64("SVE 128", "max,sve128=on,sve256=off"),
                      arm64("SVE 256", "max,sve256=on")],
            "riscv64": [("no V", RISCV64), riscv64(128), riscv64(256)]}
# Each row: a name, the suffix of the symbol, the machine.
COLUMNS = {"arm64": [("ref", "ref", "cortex-a72"), ("neon", "neon", "cortex-a72"),
                     ("neon_crc", "neon_crc", "cortex-a72"), ("neon_sha2", "neon_sha2", "cortex-a72"),
                     ("neon_dotprod", "neon_dotprod", "cortex-a76"),
                     ("neon_i8mm", "neon_i8mm", "SVE 128"),
                     ("sve 128", "sve", "SVE 128"), ("sve 256", "sve", "SVE 256")],
           "riscv64": [("ref", "ref", "no V"), ("rv64gc", "rv64gc", "no V"),
                       ("rv64gc_zbc", "rv64gc_zbc", "no V"),
                       ("rv64gc_zbb", "rv64gc_zbb", "no V"), ("rv64gc_zbb_zbc", "rv64gc_zbb_zbc", "no V"),
                       ("rvv 128", "rvv", "VLEN 128"), ("rvv_zvfh 128", "rvv_zvfh", "VLEN 128"),
                       ("rvv_zvknha 128", "rvv_zvknha", "VLEN 128"),
                       ("rvv 256", "rvv", "VLEN 256"), ("rvv_zvfh 256", "rvv_zvfh", "VLEN 256")]}
SUFFIX = re.compile(r"^(\w+?)_(ref|neon|neon_crc|neon_sha2|neon_dotprod|neon_i8mm|sve|rv64gc|rv64gc_zbc|rv64gc_zbb|rv64gc_zbb_zbc|rvv|rvv_zvfh|rvv_zvknha|avx2|avx2_vnni|"
                    r"avx512|avx512_vnni)$")

Call = namedtuple("Call", "rows cols tokens bytes")


def items(call):
    return call.rows * call.cols * call.tokens


def shape(call):
    sizes = [call.rows, call.cols] if call.rows > 1 else [call.cols]
    return " x ".join(str(n) for n in sizes + [call.tokens] * (call.tokens > 1))


def parse(console):
    """[(symbol, Call, the numbers after it)]"""
    return [(symbol, Call(*(int(n) for n in numbers.split()[:4])),
             [float(n) for n in numbers.split()[4:]])
            for symbol, numbers in re.findall(r"^kernel: (\w+) ([\d. ]+)$", console, re.M)]


def count(machine, words):
    """[(symbol, Call, instructions per item)], call and return left out."""
    kernel = os.path.join(BUILD, machine.board, "kernels-bench.bin")
    status, console = machine.run(words, 1, ICOUNT, kernel, 280)
    found = parse(console)
    if status != 0 or not found or "panic:" in console:
        sys.exit(f"{machine.label}: status {status}\n{console[-2000:]}")
    return [(symbol, call, (ticks - empty) * 10**9 / hz / n / items(call))
            for symbol, call, (n, ticks, empty, hz) in found]


def count_all(machines):
    """[(column's machine, its label, symbol, Call, instructions per item)]; references once."""
    jobs = [(*machines[0], "ref")] + [(*machine, "count") for machine in machines]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda job: count(job[1], job[2]), jobs))
    return [(short, machine.label, *row) for (short, machine, _), rows in zip(jobs, found)
            for row in rows]


def show_counted(isa):
    lines, cells, sizes = [], {}, {}
    for short, label, symbol, call, value in count_all(MACHINES[isa]):
        op, suffix = SUFFIX.match(symbol).groups()
        cells[op, shape(call), suffix, short] = value
        sizes.setdefault(op, {})[shape(call)] = True
        lines.append((label, symbol, "kernel " + shape(call), f"{value:.4f}", "instructions/item",
                      COUNTED))
    rows = []
    for op, size in ((op, size) for op in sorted(sizes) for size in sizes[op]):
        found = [cells.get((op, size, suffix, short)) for _, suffix, short in COLUMNS[isa]]
        rows.append([op, size] + [f"{value:.3f}" if value else "" for value in found])
    print_table(f"{isa}: instructions per weight (gemm: and token) or element, {COUNTED}: "
                "no board's speed", ["op", "shape"] + [name for name, _, _ in COLUMNS[isa]], rows)
    return lines


def unit_of(symbol, call):
    """(the number of units by which the cycles are divided, and the unit's name)"""
    if not symbol.startswith(("gemv", "gemm")):
        return items(call), "element"
    cols = 256 if "kx8" in symbol else 32
    name = f"block of 8 x {cols}" + (" and token" if call.tokens > 1 else "")
    return items(call) / 8 / cols, name


def show_static():
    mca, *rest = static_cycles.tools()
    if mca is None:
        print(f"\nskipped: {rest[0]}")
        return []
    how = f"static, llvm-mca {rest[1]}"
    cores = [core for _, _, names in static_cycles.TRACED for core in names]
    speeds, costs, lines = [], [], []
    for symbol, call, instructions, found in static_cycles.measure(mca, rest[0], parse):
        n, unit = unit_of(symbol, call)
        costs.append([symbol, shape(call), unit, f"{instructions / n:.2f}"] +
                     [f"{found[core] / n:.2f}" if core in found else "" for core in cores])
        figures = [(core, f"{total / n:.3f}", "cycles/" + unit) for core, total in found.items()]
        if symbol.startswith("gemv"):
            speeds.append([symbol] + [f"{call.bytes / found[core]:.2f}" if core in found else ""
                                      for core in cores])
            figures += [(core, f"{call.bytes / total:.3f}", "bytes of weights/cycle")
                        for core, total in found.items()]
        lines += [(core, symbol, "kernel " + shape(call), value, name, how)
                  for core, value, name in figures]
    what = "whole call, every load in the first cache: a model, no measurement"
    print_table(f"Bytes of weights per cycle, {how}, {what}", ["gemv", *cores], sorted(speeds))
    print_table(f"Cycles, {how}, {what}", ["kernel", "shape", "per", "instructions", *cores],
                sorted(costs))
    return lines


def show_native():
    done = subprocess.run([NATIVE], check=True, capture_output=True, text=True, timeout=280)
    clock = "cycles" if "cycles: core" in done.stdout else "TSC cycles"
    rows, lines = [], []
    for symbol, call, (nanoseconds, cycles) in parse(done.stdout):
        n, unit = unit_of(symbol, call)
        rate = f"{call.bytes / nanoseconds:.1f}" if symbol.startswith("gemv") else ""
        rows.append([symbol, shape(call), unit, f"{nanoseconds / n:.3f}", f"{cycles / n:.2f}",
                     rate])
        lines += [("native", symbol, "kernel " + shape(call), f"{value / n:.4f}",
                   f"{name}/{unit}", "native, least of 15, noisy")
                  for name, value in (("nanoseconds", nanoseconds), (clock, cycles))]
    print_table("Native, the least of 15 turns, weights in the caches, noisy",
                ["kernel", "shape", "per", "ns", clock, "bytes/ns"],
                [row for row in sorted(rows) if not row[0].endswith("_ref")])
    return lines


if __name__ == "__main__":
    write_csv("bench-kernels.csv",
              show_counted("arm64") + show_counted("riscv64") + show_static() + show_native())
