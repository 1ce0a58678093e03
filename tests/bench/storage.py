#!/usr/bin/python3
"""What reading a card costs, on every way that an SD controller has for its data and on virtio-blk:
instructions of the driver for a MiB, and bytes a second of QEMU's guest time as a share of what
virtio-blk reads of the same file in the same run."""

import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import COUNTED, ICOUNT, print_table, text, write_csv
from machine import (ARM64, BUILD, RISCV64_V, SD_ADMA2, SD_ADMA2_64, SD_PIO, SD_SDMA, WORK,
                     sd_arguments)

WAYS = [("ADMA2", SD_ADMA2), ("64-bit ADMA2", SD_ADMA2_64), ("SDMA", SD_SDMA), ("PIO", SD_PIO)]
RATE = "QEMU's guest time, median of 3, 1 core; a ratio, no board's speed"
FILE_BYTES = 8 << 20
# Microseconds for a MiB at the fastest that a card of each kind delivers.
CARDS = [("25 MB/s", 1e6 * 2**20 / 25e6), ("104 MB/s", 1e6 * 2**20 / 104e6)]


def image():
    """Made-up contents, the same every time."""
    path = os.path.join(WORK, "bench-storage.img")
    os.makedirs(WORK, exist_ok=True)
    with open(path, "wb") as out:
        for i in range(FILE_BYTES // 4):
            out.write((i * 2654435761 & 0xffffffff).to_bytes(4, "little"))
    return path


def run(machine, card, capabilities, extra):
    """{device kind: [(MiB, seconds)]}; both devices read the same file."""
    virtio = ["-drive", f"if=none,id=v,format=raw,readonly=on,file.locking=off,file={card}",
              "-device", "virtio-blk-device,drive=v"]
    command = machine.command("", 1, virtio + sd_arguments(card, capabilities) + extra,
                              os.path.join(BUILD, machine.board, "storage-bench.bin"))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=280)
    console = done.stdout.decode("utf-8", "replace")
    rows = re.findall(r"^storage-bench: \d+ (\d+) (\d+) (\d+) (\w+) (virtio-blk|SD card)",
                      console, re.M)
    if done.returncode != 0 or len(rows) != 6 or len({crc for *_, crc, _ in rows}) != 1:
        sys.exit(f"{machine.label}: status {done.returncode}\n{console[-2000:]}")
    found = defaultdict(list)
    for size, ticks, hz, _, kind in rows:
        found[kind].append((int(size) / 2**20, int(ticks) / int(hz)))
    return found


def main():
    card = image()
    table, rows = [], []
    for machine in (ARM64, RISCV64_V):
        for name, capabilities in WAYS:
            timed = run(machine, card, capabilities, [])
            counted = run(machine, card, capabilities, ICOUNT)["SD card"]
            rate = {kind: statistics.median(mib / seconds for mib, seconds in passes)
                    for kind, passes in timed.items()}
            instructions = statistics.median(seconds * 1e9 / mib for mib, seconds in counted)
            share = rate["SD card"] / rate["virtio-blk"]
            # At 10^9 instructions a second, which every board here exceeds.
            kept = [100 * micros / (micros + instructions / 1000) for _, micros in CARDS]
            table.append([machine.board, name, text(instructions)] +
                         [f"{k:.2f} %" for k in kept] +
                         [text(rate["SD card"]), text(rate["virtio-blk"]), f"{100 * share:.1f} %"])
            rows += [(machine.board, name, "instructions a MiB", instructions, "", COUNTED),
                     (machine.board, name, "rate", rate["SD card"], "MiB/s", RATE),
                     (machine.board, name, "of virtio-blk", share, "", RATE)]
    print_table("Reading a card", ["machine", "way", "instructions a MiB"] +
                [f"of a card of {name}" for name, _ in CARDS] +
                ["QEMU MiB/s", "virtio-blk MiB/s", "share"], table)
    write_csv("bench-storage.csv", rows)


main()
