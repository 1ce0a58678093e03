#!/usr/bin/python3
"""Measures reading a card in every way that an SD controller can transfer data: the driver's instructions per MiB;
the share of time in which the controller is busy; and its rate as a share of virtio-blk's for the same file, with
the highest throttle at which this share reaches 90 %. It fails if a controller is idle for more than 1 % of a read,
or if there is no throttle at which it reaches 90 % of virtio-blk's rate.

NVMe and USB drives read a larger file, with throttles of 80 and 400 MB/s and without, all by io_uring. With a throttle they
must reach 90 % of virtio-blk's rate; without, NVMe 70 % and USB 60 %. `storage.py drives` measures only these; a board's name
and "free" (no throttle) as further arguments make this measurement shorter."""

import os
import re
import subprocess
import sys
from collections import namedtuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from figures import COUNTED, ICOUNT, print_table, text, write_csv
from boards import makes, with_expected
from machine import (ARM64, BUILD, RISCV64_V, SD_ADMA2, SD_ADMA2_64, SD_PIO, SD_SDMA, WORK, Machine,
                     nvme_arguments, reads_by, sd_arguments, usb_arguments)

WAYS = [("ADMA2", SD_ADMA2), ("64-bit ADMA2", SD_ADMA2_64), ("SDMA", SD_SDMA), ("PIO", SD_PIO)]
SLOTS = list(with_expected("CARD_DATA").items())
BUSY = "of QEMU's guest time, from a command's start to its end, 1 core"
FREE = "QEMU's guest time, no throttle, 1 core; QEMU's card model, no board's speed"
RATE = "QEMU's guest time, both behind throttling.bps-read, 1 core; a ratio, no board's speed"
FILE_BYTES = 8 << 20
LEAST_BUSY, LEAST_SHARE = 0.99, 0.90
# Throttles, as shares of the rate that the card has just reached without a throttle. The first throttle with which
# the card keeps up is used.
FRACTIONS = [float(f) for f in os.environ.get("STORAGE_FRACTIONS", "0.9,0.8,0.6,0.4").split(",")]
# The microseconds in which the fastest card of each kind delivers a MiB.
CARDS = [("25 MB/s", 1e6 * 2**20 / 25e6), ("104 MB/s", 1e6 * 2**20 / 104e6)]
Pass = namedtuple("Pass", "seconds busy")
# The last two numbers of a row: the smallest allowed share of virtio-blk's rate with a throttle, and without one.
DRIVES = [("NVMe", nvme_arguments, 0.90, 0.70), ("USB", usb_arguments, 0.90, 0.60)]
THROTTLES = [80, 400]  # MB/s
# QEMU lets the bytes of a tenth of a second pass at once, which hardly matters in a long read.
SECONDS = 2
# With each command QEMU allocates the memory through which a USB drive's data pass. If the C library maps this memory
# anew, each of its pages faults and is cleared. Whether this happens depends on a machine's heap, so these settings
# prevent it for both machines.
HEAP = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=4194304:glibc.malloc.trim_threshold=67108864"}
RUNS = int(os.environ.get("STORAGE_RUNS", "3"))
DRIVE_FREE = "this computer's time, QEMU's devices, no throttle, page cache, 1 core; no board's speed"
DRIVE_RATE = "this computer's time, QEMU's devices, throttling.bps-read, 1 core; no board's speed"


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
    """{kind of device: Pass}. Every device must have read the same bytes, in commands of 64 KiB and more, directly into
    the reader's memory."""
    cores = 4 if makes(machine.board, "QEMU_SMP") == "4" else 1
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
    """MiB/s of the SD card and of virtio-blk, each with its own throttle: of three runs, those of the run with the
    median share."""
    bound = f",throttling.bps-read={int(bps)}"
    sd = sd_arguments(card, capabilities, f"file.locking=off,file={card}{bound}")
    runs = [rates(run(machine, virtio(card, bound) + sd)) for _ in range(3)]
    return sorted(runs, key=lambda pair: pair[0] / pair[1])[1]


def rates(found):
    return tuple(FILE_BYTES / found[kind].seconds / 2**20 for kind in ("SD", "virtio-blk"))


def against_virtio(machine, card, capabilities):
    """Rates in MiB/s of card and virtio-blk without a throttle; the highest throttle with which the card keeps up, or
    the last that was tried; and the rates of both with this throttle."""
    for fraction in FRACTIONS:
        free = rates(run(machine, virtio(card, "") + sd_arguments(card, capabilities)))
        bound = fraction * free[0]
        found = throttled(machine, card, capabilities, bound * 2**20)
        if found[0] >= LEAST_SHARE * found[1]:
            break
    return free, fraction, bound, found


# ---- drives ----------------------------------------------------------------------------------


def long_image(bytes_):
    """The made-up contents, repeated: a hole in the file would be cheaper to read than a page."""
    path = os.path.join(WORK, f"bench-drives-{bytes_ >> 20}.img")
    with open(image(), "rb") as first, open(path, "wb") as out:
        contents = first.read()
        for at in range(0, bytes_, FILE_BYTES):
            out.write(contents[:bytes_ - at])
    return path


def rate(machine, drives, bytes_):
    """MB/s of a pass over the whole device, and the checksum of the data."""
    command = machine.command("whole", 1, drives, os.path.join(BUILD, machine.board, "storage-bench.bin"))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=280, env=os.environ | HEAP)
    console = done.stdout.decode("utf-8", "replace")
    row = re.search(r"^storage-bench: 0 (\d+) (\d+) (\d+) (\w+) ", console, re.M)
    if done.returncode != 0 or not row or int(row.group(1)) != bytes_:
        sys.exit(f"{machine.label}: status {done.returncode}\n{console[-2000:]}")
    return bytes_ * int(row.group(3)) / int(row.group(2)) / 1e6, row.group(4)


def drive_share(machine, arguments, path, bytes_, throttle):
    """MB/s of a drive and of virtio-blk, read alternately: the pair of runs with the median share. Without a throttle QEMU
    only copies memory, so other work of the computer affects the rates. QEMU reads for both in the same way (reads_by), and
    not by threads: handing each read to a thread and back would be the main cost of a drive with one command at a time."""
    pace = reads_by() + (f",throttling.bps-read={throttle * 1000000}" if throttle else "")
    pairs = []
    for _ in range(RUNS if throttle else 2 * RUNS + 1):
        mine, sum_ = rate(machine, arguments(path, f"file.locking=off,file={path}{pace}"), bytes_)
        other, sum_of_virtio = rate(machine, virtio(path, pace), bytes_)
        if sum_ != sum_of_virtio:
            sys.exit(f"{machine.label}: {sum_} read, not {sum_of_virtio}")
        pairs.append((mine, other))
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]


def drives(rows, words=()):
    """Measures NVMe and USB drives; returns those that are too slow."""
    table, failed = [], []
    boards = [m for m in (ARM64, RISCV64_V) if m.board in words] or [ARM64, RISCV64_V]
    for machine in boards:
        for name, arguments, least_paced, least_free in DRIVES:
            for throttle in [0] if "free" in words else THROTTLES + [0]:
                bytes_ = (throttle or 400) * SECONDS * 1000000 >> 23 << 23
                mine, other = drive_share(machine, arguments, long_image(bytes_), bytes_, throttle)
                share = mine / other
                table.append([machine.board, name, f"{throttle} MB/s" if throttle else "none", f"{mine:.1f}",
                              f"{other:.1f}", f"{100 * share:.1f} %"])
                rows.append((machine.board, name, f"of virtio-blk at {throttle or 'no throttle'}", share, "",
                             DRIVE_RATE if throttle else DRIVE_FREE))
                if share < (least_paced if throttle else least_free):
                    failed.append((machine.board, name, str(throttle)))
    print_table("Drives against virtio-blk, MB/s, emulated", ["machine", "drive", "throttle", "drive", "virtio-blk", "share"],
                table)
    return failed


def main():
    if sys.argv[1:2] == ["drives"]:
        rows = []
        failed = drives(rows, sys.argv[2:])
        write_csv("bench-drives.csv", rows)
        sys.exit("too slow beside virtio-blk: " + ", ".join(" ".join(f) for f in failed) if failed else 0)
    card, failed = image(), []
    costs, shares, rows = [], [], []
    for machine in (ARM64, RISCV64_V):
        for name, capabilities in WAYS:
            sd = sd_arguments(card, capabilities)
            free = run(machine, sd)["SD"]
            both, fraction, bound, (mine, other) = against_virtio(machine, card, capabilities)
            counted = run(machine, sd + ICOUNT)["SD"].seconds
            instructions = counted * 1e9 / (FILE_BYTES / 2**20)
            # This assumes 10^9 instructions per second, which every board here exceeds.
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
    failed += drives(rows)
    write_csv("bench-storage.csv", rows)
    if failed:
        sys.exit("idle for more than 1 %, or too slow beside virtio-blk: " +
                 ", ".join(" ".join(pair) for pair in failed))


main()
