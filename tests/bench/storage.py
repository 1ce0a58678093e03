#!/usr/bin/python3
"""What reading a card costs, on every way that an SD controller has for its data: instructions of
the driver for a MiB, how much of the time the controller is at work for us, and its rate as a share of
what virtio-blk reads of the same file, both behind the highest throttle at which that is 90 %.
Fails where a controller is idle for more than 1 % of a read or gets 90 % of virtio-blk at no throttle."""

import os
import re
import subprocess
import sys
from collections import namedtuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import COUNTED, ICOUNT, print_table, text, write_csv
from machine import (ARM64, BUILD, RISCV64_V, SD_ADMA2, SD_ADMA2_64, SD_PIO, SD_SDMA, WORK, Machine,
                     sd_arguments)

WAYS = [("ADMA2", SD_ADMA2), ("64-bit ADMA2", SD_ADMA2_64), ("SDMA", SD_SDMA), ("PIO", SD_PIO)]
SLOTS = [("rpi3", "BCM's DMA"), ("rpi4", "BCM's DMA"), ("icicle", "ADMA2"), ("versal", "ADMA2"),
         ("sifive_u", "SPI")]
BUSY = "of QEMU's guest time, from a command's start to its end, 1 core"
FREE = "QEMU's guest time, no throttle, 1 core; QEMU's card model, no board's speed"
RATE = "QEMU's guest time, both behind throttling.bps-read, 1 core; a ratio, no board's speed"
FILE_BYTES = 8 << 20
LEAST_BUSY, LEAST_SHARE = 0.99, 0.90
# The throttle, of what QEMU's card gives without one just before: the first that both keep up with.
FRACTIONS = [float(f) for f in os.environ.get("STORAGE_FRACTIONS", "0.9,0.8,0.6,0.4").split(",")]
# Microseconds for a MiB at the fastest that a card of each kind delivers.
CARDS = [("25 MB/s", 1e6 * 2**20 / 25e6), ("104 MB/s", 1e6 * 2**20 / 104e6)]
Pass = namedtuple("Pass", "seconds busy")


def image():
    """Made-up contents, the same every time."""
    path = os.path.join(WORK, "bench-storage.img")
    os.makedirs(WORK, exist_ok=True)
    with open(path, "wb") as out:
        for i in range(FILE_BYTES // 4):
            out.write((i * 2654435761 & 0xffffffff).to_bytes(4, "little"))
    return path


def virtio(card, throttle):
    return ["-drive", f"if=none,id=v,format=raw,readonly=on,file.locking=off,file={card}{throttle}",
            "-device", "virtio-blk-device,drive=v"]


def run(machine, drives):
    """{device kind: Pass}; each has read the same bytes, in commands of 64 KiB and more, to where
    they were wanted."""
    cores = 4 if machine.board in ("rpi3", "rpi4", "versal") else 1
    command = machine.command("once", cores, drives,
                              os.path.join(BUILD, machine.board, "storage-bench.bin"))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=280)
    console = done.stdout.decode("utf-8", "replace")
    rows = re.findall(r"^storage-bench: \d+ (\d+) (\d+) (\d+) (\w+) (virtio-blk|SD)(?: .*)?$"
                      r"(?:\s+^storage-busy: (\d+) \d+ (\d+) (\d+) (\d+))?", console, re.M)
    fine = all(int(row[0]) == FILE_BYTES and (row[4] != "SD" or (int(row[6]) >= FILE_BYTES and
               row[7:] == ("0", "0"))) for row in rows)
    if done.returncode != 0 or not rows or not fine or len({row[3] for row in rows}) != 1:
        sys.exit(f"{machine.label}: status {done.returncode}\n{console[-2000:]}")
    found = {}
    for _, ticks, hz, _, kind, busy, *_ in rows:
        found[kind] = Pass(int(ticks) / int(hz), int(busy) / int(ticks) if busy else None)
    return found


def throttled(machine, card, capabilities, bps):
    """MiB/s of the SD card and of virtio-blk, each behind a throttle of its own: the run of three
    whose share is the median."""
    bound = f",throttling.bps-read={int(bps)}"
    sd = sd_arguments(card, capabilities, f"file.locking=off,file={card}{bound}")
    runs = [rates(run(machine, virtio(card, bound) + sd)) for _ in range(3)]
    return sorted(runs, key=lambda pair: pair[0] / pair[1])[1]


def rates(found):
    return tuple(FILE_BYTES / found[kind].seconds / 2**20 for kind in ("SD", "virtio-blk"))


def against_virtio(machine, card, capabilities):
    """What both give without a throttle, the highest one at which the card keeps up, or the last
    that was tried, and what both give behind that; MiB/s."""
    for fraction in FRACTIONS:
        free = rates(run(machine, virtio(card, "") + sd_arguments(card, capabilities)))
        bound = fraction * free[0]
        found = throttled(machine, card, capabilities, bound * 2**20)
        if found[0] >= LEAST_SHARE * found[1]:
            break
    return free, fraction, bound, found


def main():
    card, failed = image(), []
    costs, shares, rows = [], [], []
    for machine in (ARM64, RISCV64_V):
        for name, capabilities in WAYS:
            sd = sd_arguments(card, capabilities)
            free = run(machine, sd)["SD"]
            both, fraction, bound, (mine, other) = against_virtio(machine, card, capabilities)
            counted = run(machine, sd + ICOUNT)["SD"].seconds
            instructions = counted * 1e9 / (FILE_BYTES / 2**20)
            # At 10^9 instructions a second, which every board here exceeds.
            kept = [100 * micros / (micros + instructions / 1000) for _, micros in CARDS]
            costs.append([machine.board, name, f"{100 * free.busy:.2f} %", text(instructions)] +
                         [f"{k:.2f} %" for k in kept])
            shares.append([machine.board, name, *map(text, both), f"{100 * both[0] / both[1]:.1f} %",
                           f"{bound:.2f}, {fraction} of the card's", f"{mine:.2f}", f"{other:.2f}",
                           f"{100 * mine / other:.1f} %"])
            rows += [(machine.board, name, "instructions a MiB", instructions, "", COUNTED),
                     (machine.board, name, "busy", free.busy, "", BUSY),
                     (machine.board, name, "of virtio-blk, free", both[0] / both[1], "", FREE),
                     (machine.board, name, f"of virtio-blk at {fraction}", mine / other, "", RATE)]
            bad = free.busy < LEAST_BUSY or mine / other < LEAST_SHARE
            failed += [(machine.board, name)] * bad
    for board, name in SLOTS:
        free = run(Machine(board), ["-drive", f"if=sd,format=raw,file={card}"])["SD"]
        costs.append([board, name, f"{100 * free.busy:.2f} %", "", "", ""])
        rows.append((board, name, "busy", free.busy, "", BUSY))
        failed += [(board, name)] * (free.busy < LEAST_BUSY)
    print_table("Reading a card", ["machine", "way", "at work", "instructions a MiB"] +
                [f"of a card of {name}" for name, _ in CARDS], costs)
    print_table("Against virtio-blk, MiB/s: QEMU's own rates, then both behind one throttle",
                ["machine", "way", "SD card", "virtio-blk", "share", "throttle", "SD card",
                 "virtio-blk", "share"], shares)
    write_csv("bench-storage.csv", rows)
    if failed:
        sys.exit("idle for more than 1 %, or below 90 % of virtio-blk: " +
                 ", ".join(" ".join(pair) for pair in failed))


main()
