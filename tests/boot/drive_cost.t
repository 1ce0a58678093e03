#!/usr/bin/python3
"""Counts the commands for a MiB from a drive, and the register writes for them. On a board each register write waits
for a bus. An emulator switches threads instead, so seconds would only say something about this computer.
docs/experiments/cards.md has the rates. For slow drives it counts the commands in flight at the same time."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, BUILD, RISCV64_ANY, WORK, Tap, card_arguments, nvme_arguments, usb_arguments

tap = Tap()
os.makedirs(WORK, exist_ok=True)
CARD = os.path.join(WORK, "drive-cost.img")
MIB = 1 << 20
READ = 8 * MIB  # bytes that the image reads, in two pieces
with open(CARD, "wb") as out:
    for i in range(READ // 4):
        out.write((i * 2654435761 & 0xffffffff).to_bytes(4, "little"))
# The events of QEMU's trace for commands of each controller, and patterns for the numbers of bytes.
TRACES = ["memory_region_ops_write", "virtio_blk_handle_read", "pci_nvme_read", "usb_msd_cmd_submit"]
COMMAND = re.compile(r"virtio_blk_handle_read .* nsectors (\d+)|pci_nvme_read .* count (\d+) |usb_msd_cmd_submit .*data-len (\d+)")
WRITTEN = re.compile(r"memory_region_ops_write .*name '(nvme|doorbell|runtime|operational|usb. port #\d+)'")
LEAST = 64 << 10  # the fewest bytes of a command of the measured read; smaller commands belong to the start
SLOW_USB = usb_arguments(CARD)
SLOW_USB[SLOW_USB.index("qemu-xhci")] += ",p3=0"  # no port for SuperSpeed: 480 Mbit/s
# The first quarter of the second piece cannot be read, once.
FAILING = (f"file.driver=blkdebug,file.image.driver=file,file.image.locking=off,file.image.filename={CARD},"
           "file.inject-error.0.event=read_aio,file.inject-error.0.errno=5,file.inject-error.0.once=on,"
           f"file.inject-error.0.sector={READ // 2 // 512 + 8}")
# Rows: name, drives, the bytes of each command that reads the READ bytes, the most register writes per MiB.
ROWS = [
    ("virtio-blk", card_arguments(CARD, ",file.locking=off"), [256 << 10] * 32, 0),  # the only register write goes to an eventfd, so
                                                                                     # the trace does not show it
    ("NVMe", nvme_arguments(CARD), [256 << 10] * 32, 8),
    ("USB", usb_arguments(CARD), [MIB] * 8, 3.1),
    ("USB at 480 Mbit/s", SLOW_USB, [256 << 10] * 32, 14),
    ("USB that failed", usb_arguments(CARD, FAILING), [MIB] * 5 + [256 << 10] * 16, None),
]

# With a throttle as many commands as possible are in flight. Rows: name, drives, this number, and the events of the trace that begin
# and end a command.
PACE = f"file.locking=off,file={CARD},throttling.bps-read=4000000"
IN_FLIGHT = [
    ("virtio-blk", card_arguments(CARD, ",file.locking=off,throttling.bps-read=4000000"), 12, "virtio_blk_handle_read",
     "virtio_blk_req_complete"),
    ("NVMe", nvme_arguments(CARD, PACE), 12, "pci_nvme_read", "pci_nvme_rw_complete_cb"),
]


def run(machine, label, drives, traces):
    """Run the image; return the finished process and the trace's lines."""
    log = os.path.join(WORK, f"drive-cost-{machine.board}-{label.replace(' ', '-').replace('/', '-')}.log")
    command = machine.command("once", 1, drives, os.path.join(BUILD, machine.board, "storage-bench.bin")) + ["-D", log]
    for trace in traces:
        command += ["-trace", trace]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    with open(log, encoding="utf-8", errors="replace") as f:
        lines = f.readlines()
    os.unlink(log)
    return done, lines


def most_in_flight(case):
    machine, (name, drives, _, begin, end) = case
    done, lines = run(machine, name + "-slow", drives, [begin, end])
    now = most = 0
    for line in lines:
        now += line.startswith(begin) or f" {begin} " in line
        now -= line.startswith(end) or f" {end} " in line
        most = max(most, now)
    return done.returncode, most, now


def count(case):
    """(checksum, bytes of each command, register writes from the first to the last command); after an error (None,
    the console's text, 0)."""
    machine, (name, drives, _, _) = case
    done, lines = run(machine, name, drives, TRACES)
    row = re.search(rb"^storage-bench: 0 (\d+) \d+ \d+ (\w+) ", done.stdout, re.M)
    if done.returncode != 0 or not row or int(row.group(1)) != READ:
        return None, done.stdout.decode("utf-8", "replace")[-2000:], 0
    commands, written, before = [], 0, 0
    for line in lines:
        found = COMMAND.search(line)
        if found and int(found[found.lastindex]) * (512 if found.lastindex == 1 else 1) >= LEAST:
            commands.append(int(found[found.lastindex]) * (512 if found.lastindex == 1 else 1))
            before = written
        written += bool(commands and WRITTEN.search(line))
    return row.group(2), commands, before


cases = [(machine, row) for machine in (ARM64, RISCV64_ANY) for row in ROWS]
slow = [(machine, row) for machine in (ARM64, RISCV64_ANY) for row in IN_FLIGHT]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(count, cases))
    in_flight = list(pool.map(most_in_flight, slow))
want = results[0][0]
for (machine, (name, _, expected, most)), (sum_, commands, written) in zip(cases, results):
    each = written / (sum(commands[:-1]) / MIB) if sum_ and len(commands) > 1 else 0
    fine = sum_ is not None and sum_ == want and commands == expected
    tap.ok(fine and (most is None or each <= most),
           f"{machine.board}: {name}: {len(expected)} commands for {READ // MIB} MiB" +
           ("" if most is None else f", {most} registers a MiB at the most ({each:.1f})"),
           f"{sum_} for {want}, commands {commands}, {each:.2f} registers a MiB")
for (machine, (name, _, expected, _, _)), (status, most, left) in zip(slow, in_flight):
    tap.ok(status == 0 and most == expected and left == 0, f"{machine.board}: {name}, slow: {expected} commands in flight at the most",
           f"status {status}, {most} in flight, {left} left")

tap.done()
