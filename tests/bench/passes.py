#!/usr/bin/python3
"""Counts the instructions of the matrices in a pass over 2 to 8 tokens, as a multiple of those in a pass over one
token. Such a pass checks guesses.

usage: passes.py [TYPE ...]   numbers of enum ingot_type"""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import COUNTED, ICOUNT, print_table, write_csv
from machine import BUILD
from tokens import MACHINES

TYPES = [("q4_0", 3), ("q8_0", 2), ("q4_k", 4), ("q6_k", 5)] # enum ingot_type


def count(machine, number):
    """{tokens: instructions of a pass}"""
    image = os.path.join(BUILD, machine.board, "passes-bench.bin")
    status, console = machine.run(str(number), 1, ICOUNT, image, 280)
    found = {int(n): int(ticks) * 10**9 / int(hz)
             for n, ticks, hz in re.findall(r"^pass: (\d+) (\d+) (\d+)$", console, re.M)}
    if status != 0 or sorted(found) != list(range(1, 9)):
        sys.exit(f"{machine.label}, type {number}: status {status}\n{console[-2000:]}")
    return found


def main():
    kinds = [(word, int(word)) for word in sys.argv[1:]] or TYPES
    machines = MACHINES["virt-arm64"] + [m for m in MACHINES["virt-riscv64"] if "no V" in m.label]
    jobs = [(machine, kind) for machine in machines for kind in kinds]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda job: count(job[0], job[1][1]), jobs))
    rows, lines = [], []
    for (machine, (kind, _)), counts in zip(jobs, found):
        rows.append([machine.label, kind, f"{counts[1] / 1e6:.1f} M"] +
                    [f"{counts[n] / counts[1]:.2f}" for n in range(2, 9)])
        lines += [(machine.label, f"smol135 {kind}", f"matrices of {n} tokens", round(counts[n]),
                   "instructions/pass", COUNTED) for n in sorted(counts)]
    print_table(f"A pass over several tokens, in passes over one: matrices of smol135, {COUNTED}",
                ["machine", "type"] + [str(n) for n in range(1, 9)], rows)
    write_csv("bench-passes.csv", lines)


if __name__ == "__main__":
    main()
