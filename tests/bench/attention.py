#!/usr/bin/python3
"""Counts a head's instructions per position for attention to 2,048 positions, on the emulated boards.

usage: attention.py [TYPES ...] values of kv=; default: f16, q8 and the types of integer weights"""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import COUNTED, ICOUNT, print_table, write_csv
from machine import BUILD, Machine
from tokens import MACHINES

TYPES = ["f16", "q8", "rot_q8", "rot_q8,rot_q4", "rot_q4"]
BLOCKS = [(1, 1), (3, 1), (4, 1), (8, 1), (3, 10)] # (heads that share keys, tokens), as in attention_main.c
POSITIONS = 2048


def machines():
    halves = [Machine("virt-riscv64", f"virt-riscv64 VLEN {n} Zvfh",
                      ["-cpu", f"rv64,v=true,vlen={n},zvfh=true"]) for n in (128, 256)]
    return MACHINES["virt-arm64"] + MACHINES["virt-riscv64"] + halves


def count(machine, types):
    """{(heads, tokens): instructions per position and query of a head}"""
    image = os.path.join(BUILD, machine.board, "attention-bench.bin")
    status, console = machine.run(types, 1, ICOUNT, image, 280)
    found = {(int(heads), int(tokens)): int(ticks) * 10**9 / int(hz) / int(seen)
             for heads, tokens, seen, ticks, hz in
             re.findall(r"^attention: (\d+) (\d+) (\d+) (\d+) (\d+)$", console, re.M)}
    if status != 0 or list(found) != BLOCKS:
        sys.exit(f"{machine.label}, {types}: status {status}\n{console[-2000:]}")
    return found


def block_name(block):
    heads, tokens = block
    queries = f"{heads} {'query' if heads == 1 else 'queries'} a key"
    return queries + (f", {tokens} tokens" if tokens > 1 else "")


def main():
    jobs = [(machine, types) for machine in machines() for types in sys.argv[1:] or TYPES]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda job: count(*job), jobs))
    rows, lines = [], []
    for (machine, types), counts in zip(jobs, found):
        rows.append([machine.label, types] + [f"{counts[block]:.1f}" for block in BLOCKS])
        lines += [(machine.label, f"attention {types}", block_name(block), f"{value:.2f}",
                   "instructions/position", COUNTED) for block, value in counts.items()]
    print_table(f"Instructions per position, query and head of 64, {POSITIONS} positions, {COUNTED}: "
                "no board's speed", ["machine", "keys, values"] + list(map(block_name, BLOCKS)), rows)
    write_csv("bench-attention.csv", lines)


if __name__ == "__main__":
    main()
