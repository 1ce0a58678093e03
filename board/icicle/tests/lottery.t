#!/usr/bin/python3
"""A firmware older than SBI's hart state management, such as HSS and U-Boot of 2020: all harts enter the image at once.
Tested on QEMU's virt machine with a firmware of 40 instructions that answers no call."""

import os
import re
import subprocess
import sys

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
from machine import BUILD, HOST, WORK, Tap, end, run

TRIES, HARTS = 4, 4
FIRMWARE = """
    .globl  _start
_start:                                 # QEMU: a0 is the hart, a1 the tree
    la      t0, answer
    csrw    mtvec, t0
    li      t0, -1                      # all of memory is S-mode's
    csrw    pmpaddr0, t0
    li      t0, 0x1f
    csrw    pmpcfg0, t0
    li      t0, 0xb1ff                  # traps are, too, but for calls
    csrw    medeleg, t0
    li      t0, 0x222
    csrw    mideleg, t0
    li      t0, 7                       # and the counters
    csrw    mcounteren, t0
    li      t0, 0x1800
    csrc    mstatus, t0
    li      t0, 0x800
    csrs    mstatus, t0
    li      t0, 0x80200000
    csrw    mepc, t0
    csrr    a0, mhartid
    mret
    .balign 4
answer:                                 # SBI: not supported
    csrw    mscratch, t0
    csrr    t0, mepc
    addi    t0, t0, 4
    csrw    mepc, t0
    csrr    t0, mscratch
    li      a0, -2
    li      a1, 0
    mret
"""
tap = Tap()
image = os.path.join(BUILD, "virt-riscv64/ingot.bin")
if not os.path.exists(image):
    tap.skip("all harts at once", "no image of virt-riscv64: make image BOARD=virt-riscv64")
    tap.done()
model, source, elf, raw = (os.path.join(WORK, f"lottery.{kind}") for kind in ("ingot", "S", "elf", "bin"))
os.makedirs(WORK, exist_ok=True)
with open(source, "w", encoding="utf-8") as f:
    f.write(FIRMWARE)
for command in ([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", model],
                ["riscv64-unknown-elf-gcc", "-march=rv64gc_zicsr", "-mabi=lp64d", "-nostdlib", "-Wl,-Ttext=0x80000000", "-o", elf, source],
                ["riscv64-unknown-elf-objcopy", "-O", "binary", elf, raw]):
    status, said = run(command)
    assert status == 0, said


def started():
    child = pexpect.spawn("qemu-system-riscv64",
                          ["-machine", "virt", "-smp", str(HARTS), "-m", "512M", "-nographic", "-no-reboot", "-bios", raw, "-kernel", image,
                           "-initrd", model, "-append", 'prompt="Once upon" n=4 temp=0 ids'], encoding="utf-8", codec_errors="replace", timeout=60)
    try:
        child.expect(["power off", pexpect.EOF])
    except pexpect.TIMEOUT:
        pass
    finally:
        console = (child.before or "") + (child.after if isinstance(child.after, str) else "")
        end(child)
    return console


consoles = [started() for _ in range(TRIES)]
good = [c for c in consoles if len(re.findall(r"Ingot .* on virt-riscv64: ", c)) == 1 and "ids: " in c and "power off" in c]
tap.ok(len(good) == TRIES, f"{HARTS} harts enter at once, {TRIES} times: one works, the others rest", "\n----\n".join(set(consoles) - set(good)))
tap.ok(good and all(re.search(r"cores: 1 of \d", c) for c in good), "the firmware starts no others", consoles[0])
tap.done()
