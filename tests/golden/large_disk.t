#!/usr/bin/python3
"""A model of 8 GiB, too large for a file on FAT32, on a disk that `ingot card` made with a GPT and exFAT: virt-arm64 streams it from an NVMe drive
and answers as the host does. The model is mostly zeros, which take no room on most disks. INGOT_LONG adds USB and virt-riscv64, on one core
and on four."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, HOST, LONG, RISCV64_ANY, WORK, Reply, Tap, make_disk, nvme_arguments, run, segments,
                     usb_arguments)

SECONDS = 300
MOST_ON_DISK = 2 << 30
MEMORY = 192 << 20  # experts are streamed
tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "large-disk.ingot")
DISK = os.path.join(WORK, "large-disk.img")
TOKENS = 2 if LONG else 1  # the first token needs all layers
CASES = [(ARM64, "NVMe", nvme_arguments, 2)]
if LONG:
    CASES = [(machine, name, drive, cores) for machine in (ARM64, RISCV64_ANY)
             for name, drive in (("NVMe", nvme_arguments), ("USB", usb_arguments)) for cores in (1, 4)]


def compare():
    reference = Reply(run([HOST, "run", MODEL, "-p", "a", "-n", str(TOKENS), "--temp", "0", "-c", "64", "--mem", str(MEMORY),
                           "--spec", "off", "--ids"], SECONDS)[1])
    tap.ok(reference.ids and len(reference.ids) == TOKENS and reference.hash, "the host", reference.console)
    for machine, name, drive, cores in CASES:
        status, console = machine.run(f"prompt=a n={TOKENS} temp=0 ctx=64 mem={MEMORY} spec=off ids", cores, drive(DISK),
                                      timeout=SECONDS)
        reply = Reply(console)
        tap.ok(status == 0 and reply.ids == reference.ids and reply.hash == reference.hash and
               "streamed" in reply.stats, f"{machine.board}, {name}, {cores} cores: the same ids and logits", console)


try:
    status, said = run([HOST, "synth", "--shape", "experts-4g", "--type", "f16", "-o", MODEL], SECONDS)
    tap.ok(status == 0, "made up", said)
    if os.stat(MODEL).st_blocks * 512 > MOST_ON_DISK:
        tap.skip("a model of 8 GiB", "this disk holds no holes")
        tap.done()
    start, _ = segments(MODEL)[-2]
    tap.ok(start > 6 << 30, f"its last layer lies at {start / 2**30:.1f} GiB of {os.path.getsize(MODEL) / 2**30:.1f}")
    make_disk("large-disk.img", MODEL, "--format", "exfat", "--table", "gpt")
    compare()
finally:
    for path in (MODEL, DISK):
        if os.path.exists(path):
            os.unlink(path)
tap.done()
