#!/usr/bin/python3
"""A model on an SD card gives the same results as on virtio-blk, bit for bit, in every way that a controller can move data. Commands are large, and
the driver needs so few instructions that no card waits for it."""

import os
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, BUILD, HOST, LONG, RISCV64_ANY, SD_ADMA2, SD_ADMA2_64, SD_PIO, SD_SDMA,
                     WORK, Reply, Tap, card_arguments, segments, make_card, sd_arguments,
                     written_sectors)

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "sd-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
CARD = make_card("sd-card.img", "--size", "64", MODEL)
# An SDHC card, whose addresses count sectors: the model's address in bytes would need more than 32 bits.
LARGE = make_card("sd-large.img", "--start", "4200", "--power-of-two", MODEL)
SEGMENTS = segments(MODEL)
STREAM = f" mem={2 * max(size for _, size in SEGMENTS[1:-1]) + 4 * 4096}"
WORDS = 'prompt="Once upon" n=6 temp=0 ids'

UHS = ",sd-spec-version=3,uhs=1"
UHS_CAPABILITIES = 0x2007 << 32 | SD_ADMA2_64  # SDR50 with tuning, SDR104, DDR50
WAYS = [("ADMA2", CARD, SD_ADMA2, ""), ("64-bit ADMA2", LARGE, SD_ADMA2_64, ""),
        ("SDMA", CARD, SD_SDMA, ""), ("PIO", CARD, SD_PIO, ""),
        ("a UHS-I controller", LARGE, UHS_CAPABILITIES, UHS)]
TRACE = ["-trace", "sdcard_normal_command"]


def ways(machine):
    """The driver is the same on both machines, so one machine runs all rows, and the other only the two rows that
    differ most."""
    return [way for way in WAYS if LONG or machine is ARM64 or way[0] in ("ADMA2", "PIO")]


def boot(case):
    machine, _, words, drives = case
    return machine.run(words, 2, drives, timeout=120)


cases = []
for machine in (ARM64, RISCV64_ANY):
    cases.append((machine, "virtio-blk", WORDS, card_arguments(CARD)))
    cases.append((machine, "virtio-blk, beyond 4 GiB", WORDS, card_arguments(LARGE)))
    for name, card, capabilities, more in ways(machine):
        drives = sd_arguments(card, capabilities, "", more)
        cases.append((machine, name, WORDS, drives + TRACE))
        if name in ("ADMA2", "PIO"):
            cases.append((machine, name + ", streamed", WORDS + STREAM, drives))
    cases.append((machine, "no card", WORDS, ["-device", "sdhci-pci"]))
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(boot, cases))

wanted = {machine.board: Reply(console) for (machine, name, _, _), (_, console)
          in zip(cases, results) if name == "virtio-blk"}
for (machine, name, _, _), (status, console) in zip(cases, results):
    if name == "no card":
        tap.ok("there is no card in the slot" in console and "power off" in console,
               f"{machine.board}: an empty slot gets an error message", console)
        continue
    reply = Reply(console)
    want = wanted[machine.board]
    storage = "virtio-blk at" if "virtio-blk" in name else "storage: SD card at"
    tap.ok(status == 0 and storage in console and want.ids and reply.ids == want.ids and
           reply.hash == want.hash, f"{machine.board}: {name}: the ids of virtio-blk", console)
    if "streamed" in name:
        tap.ok("streamed" in reply.stats, f"{machine.board}: {name}: and it is", reply.stats)
tap.ok(wanted["virt-arm64"].hash == wanted["virt-riscv64"].hash, "both machines agree")

# The file is contiguous, so each segment needs one command, and header and folders need a few more.
for (machine, name, _, _), (_, console) in zip(cases, results):
    if name in ("ADMA2", "PIO"):
        many = len(re.findall(r"READ_MULTIPLE_BLOCK", console))
        one = len(re.findall(r"READ_SINGLE_BLOCK", console))
        tap.ok(0 < many <= len(SEGMENTS) + 16 and one <= 8,
               f"{machine.board}: {name}: {many} commands for many blocks, {one} for one, and "
               f"{os.path.getsize(MODEL)} bytes of model", console[-1500:])


def bench_image(machine):
    return os.path.join(BUILD, machine.board, "storage-bench.bin")


# Read 8 MiB as the loader does, on a clock that counts instructions (-icount), so that a transfer of the emulated controller takes no time. The
# emulator logs DMA.
def read_counted(machine, capabilities):
    status, console = machine.run("", 1, sd_arguments(CARD, capabilities) +
                                  ["-icount", "shift=0", "-trace", "sdhci_adma_loop"],
                                  bench_image(machine), timeout=600)
    return console if status == 0 else ""


# Instructions that the driver needs for a MiB. The fastest card, SDR104, takes 10 ms for a MiB.
def instructions(console):
    rows = re.findall(r"^storage-bench: \d+ (\d+) (\d+) (\d+) \w+ SD card", console, re.M)
    return [int(ticks) * 10**9 / int(hz) / (int(size) / 2**20) for size, ticks, hz in rows]


def large_and_in_place(console):
    """True if every pass uses commands of 64 KiB and more, whose data go directly to the reader's memory."""
    rows = re.findall(r"^storage-busy: \d+ (\d+) (\d+) (\d+) (\d+) SD card", console, re.M)
    return len(rows) == 3 and all(
        int(n) * 65536 <= int(size) == 8 << 20 and (small, elsewhere) == ("0", "0")
        for n, size, small, elsewhere in rows)


def dma_fills(console):
    """True if QEMU's log shows that each piece of the file is written once and completely to the reader's buffer."""
    base, size = (int(x, 16) for x in re.search(r"^storage-buffer: (\w+) (\w+)", console, re.M).groups())
    rows = re.findall(r"sdhci_adma_loop addr=0x(\w+), len=(\d+), attr=0x(\w+)", console)
    pieces = [(int(at, 16) - base, int(n) or 65536) for at, n, attr in rows
              if int(attr, 16) & 0x30 == 0x20 and base <= int(at, 16) < base + size]
    reads = 3 * (8 << 20) // size
    wanted = sum(n for at, n in pieces)
    in_order = all(b[0] == (a[0] + a[1]) % size for a, b in zip(pieces, pieces[1:]))
    elsewhere = sum(int(n) or 65536 for at, n, attr in rows
                    if int(attr, 16) & 0x30 == 0x20) - wanted
    return wanted == reads * size and in_order and elsewhere < 4096, elsewhere


def writes(machine, name, capabilities):
    good, console = written_sectors(machine, lambda card: sd_arguments(card, capabilities))
    tap.ok(good, f"{machine.board}: {name}: writes", console)


for machine in (ARM64, RISCV64_ANY):
    for name, _, capabilities, more in ways(machine):
        if not more:
            writes(machine, name, capabilities)

for machine in (ARM64, RISCV64_ANY) if LONG else (ARM64,):
    for name, capabilities, most in (("ADMA2", SD_ADMA2, 50000), ("SDMA", SD_SDMA, 50000),
                                     ("PIO", SD_PIO, 4000000)):
        if name != "ADMA2" and not LONG:
            continue  # the count takes minutes
        console = read_counted(machine, capabilities)
        tap.ok(large_and_in_place(console), f"{machine.board}: {name}: commands of 64 KiB and more, "
               "with data sent directly to the reader", console[-1500:])
        if name == "ADMA2":
            good, elsewhere = dma_fills(console)
            tap.ok(good, f"{machine.board}: {name}: the emulator sees the file go there and nowhere "
                   f"else, but for {elsewhere} bytes of registers", console[-1500:])
        counts = instructions(console)
        middle = statistics.median(counts) if counts else 0
        tap.ok(counts and 0 < middle < most,
               f"{machine.board}: {name}: {middle:.0f} instructions a MiB, fewer than {most}",
               counts)
tap.done()
