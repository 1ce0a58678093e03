#!/usr/bin/python3
"""The boot option `selftest`: every row of kernels.inc that the CPU supports is checked in the image and in the Linux program. If a kernel is damaged
in a copy of the image, it is named and its reference is used instead; a damaged reference stops the machine."""

import os
import re
import resource
import struct
import subprocess
import sys

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, BUILD, HOST, LONG, RISCV64, RISCV64_V, ROOT, WORK, Machine, Reply, Tap,
                     card_arguments, ended, make_card, run, text_of)

SEED = 20240229
WORDS = f"selftest seed={SEED} prompt=Hello n=4 temp=0 ids baud=9600"
# QEMU's time limit: an idle computer needs less than 60 s, and a computer with shared cores twice as long.
IMAGE_CPU_SECONDS = 150
# Code that adds 1 to the caller's x27 or s11, and returns.
LOSE_REGISTER = {"virt-arm64": struct.pack("<II", 0x9100077b, 0xd65f03c0),
                 "virt-riscv64": struct.pack("<HH", 0x0d85, 0x8082)}
RETURN = {"virt-arm64": struct.pack("<I", 0xd65f03c0), "virt-riscv64": struct.pack("<H", 0x8082)}

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "selftest-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
CARD = make_card("selftest-card.img", MODEL)


def rows(isa, features):
    """The symbols in kernels.inc that need only `features`."""
    macro = {"arm64": "__aarch64__", "riscv64": "__riscv"}[isa]
    text = subprocess.run(["gcc", "-E", "-P", "-x", "c", "-U__x86_64__", "-U__aarch64__", f"-D{macro}", "-I", ROOT,
                           os.path.join(ROOT, "kernels/kernels.inc")], capture_output=True, text=True, check=True, timeout=60).stdout
    found = re.findall(r"\bKERNEL\(\w+,\s*(\w+),\s*([^)]*)\)", text)
    return [symbol for symbol, needs in found
            if set(re.findall(r"CPU_\w+", needs)) <= {"CPU_ANY", *features}]


def passed(console):
    return re.findall(r"selftest: (\w+) ok, [1-9]\d* cases$", console, re.M)


def damage(board, symbol, code):
    """A copy of the image in which the function begins with `code`; returns its path."""
    with open(os.path.join(BUILD, board, "ingot.dis"), encoding="utf-8") as f:
        functions = {name: int(at, 16) for at, name in re.findall(r"^([0-9a-f]+) <(.+)>:$",
                                                                 f.read(), re.M)}
    with open(os.path.join(BUILD, board, "ingot.raw"), "rb") as f:
        image = bytearray(f.read())
    at = functions[symbol] - min(functions.values())
    image[at:at + len(code)] = code
    path = os.path.join(WORK, f"selftest-{board}-{symbol}.bin")
    with open(path, "wb") as f:
        f.write(image)
    return path


def boot(machine, words=WORDS, kernel=None):
    """One core is enough: the self-test uses no others, and in QEMU waiting cores cost time."""
    return machine.run(words, 1, card_arguments(CARD), kernel, 600)


def stopped_after(machine, row, kernel=None):
    """Press Ctrl-C as soon as this row is printed; other boots, or kernels.t, check the remaining rows."""
    command = machine.command(WORDS, 1, card_arguments(CARD), kernel)
    k = pexpect.spawn(command[0], command[1:], timeout=300, echo=False)
    seen = b""
    for awaited, answer in ((row, "\x03"), (pexpect.EOF, None)):
        try:
            k.expect(awaited)
            seen += k.before + (k.after if answer else b"")
        except (pexpect.TIMEOUT, pexpect.EOF):
            seen += k.before or b""
            break
        if answer:
            k.send(answer)
    return ended(k), text_of(seen).replace("\r", "")


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check_all(machine, expected):
    before = cpu_seconds()
    status, console = boot(machine)
    took = cpu_seconds() - before
    tap.ok(status == 0 and expected and passed(console) == expected and
           f"selftest: all {len(expected)} kernels equal their references" in console,
           f"{machine.label}: all {len(expected)} rows of kernels.inc pass", console)
    tap.ok(f"selftest: seed={SEED}" in console, f"{machine.label}: the seed is printed", console)
    tap.ok("ready: entry to prompt" in console and took < IMAGE_CPU_SECONDS,
           f"{machine.label}: {took:.0f} s of QEMU's work, prompt included, under "
           f"{IMAGE_CPU_SECONDS}", console)
    tap.ok(f"warning: baud=9600 has no effect on {machine.board}" in console,
           f"{machine.label}: baud= where no rate can be set is answered", console)
    return Reply(console)


def check_some(machine, expected):
    """Check that the first twelfth of the rows passes, and stop there."""
    status, console = stopped_after(machine, rf"selftest: {expected[len(expected) // 12]} ok, \d+ cases")
    done = passed(console)
    tap.ok(status is not None and len(done) > len(expected) // 12 and done == expected[:len(done)] and
           ", of which 0 FAILED" in console and "stopped by Ctrl-C" in console,
           f"{machine.label}: the first {len(done)} of {len(expected)} rows pass, and Ctrl-C", console)


def check_damage(machine, symbol, expected, healthy):
    kernel = damage(machine.board, symbol, RETURN[machine.board])
    status, console = boot(machine, kernel=kernel)
    reply = Reply(console)
    tap.ok(re.findall(r"selftest: (\w+) FAILED, \d+ cases: .*wrong value", console) == [symbol] and
           passed(console) == [row for row in expected if row != symbol] and
           f"selftest: 1 of {len(expected)} kernels FAILED" in console,
           f"{machine.label}: a damaged {symbol} is named, all other rows of kernels.inc pass",
           console)
    tap.ok(status == 0 and reply.hash is not None and
           (reply.ids, reply.hash) == (healthy.ids, healthy.hash),
           f"{machine.label}: its reference takes over, with the same logits", console)
    _, console = boot(machine, WORDS.replace("selftest ", ""), kernel)
    tap.ok(Reply(console).hash not in (None, healthy.hash),
           f"{machine.label}: without the self-test the logits of that image differ", console)


def check_reference(machine):
    symbol = "max_f32_ref"
    kernel = damage(machine.board, symbol, LOSE_REGISTER[machine.board])
    status, console = boot(machine, kernel=kernel) if LONG else stopped_after(machine, f"{symbol} FAILED", kernel)
    tap.ok(f"selftest: {symbol} FAILED" in console and "callee-saved register lost" in console and
           "error: the self-test failed on this machine" in console and
           status is not None and Reply(console).ids is None and "power off" in console,
           f"{machine.label}: a damaged reference stops the machine", console)


NEON = ["CPU_ARM64_NEON", "CPU_ARM64_CRC", "CPU_ARM64_SHA2"]
SVE = NEON + ["CPU_ARM64_DOTPROD", "CPU_ARM64_I8MM", "CPU_ARM64_SVE"]
RVV = ["CPU_RV64_GC", "CPU_RV64_ZBC", "CPU_RV64_ZBB", "CPU_RV64_V"]
MACHINES = [(ARM64, rows("arm64", NEON), "add_f32_neon"),
            (RISCV64_V, rows("riscv64", RVV), "add_f32_rvv" if LONG else None),
            (RISCV64, rows("riscv64", RVV[:3]), None),
            (Machine("virt-arm64", "virt-arm64 neoverse-v1", ["-cpu", "neoverse-v1"]),
             rows("arm64", SVE), None),
            (Machine("virt-riscv64", "virt-riscv64 Zvfh, Zvknha",
                     ["-cpu", "rv64,v=true,vlen=256,zvfh=true,zvknha=true"]),
             rows("riscv64", RVV + ["CPU_RV64_ZVFH", "CPU_RV64_ZVKNHA"]), None)]
REFERENCES = [symbol for symbol in rows("arm64", []) if symbol.endswith("_ref")]
first = None
for machine, expected, damaged in MACHINES if LONG else MACHINES[:2]: # kernels.t has those CPUs
    # The damaged image checks all other rows again; without LONG only one image does so.
    if not LONG and not damaged:
        check_some(machine, expected)
        continue
    reply = (check_all(machine, expected) if LONG else
             Reply(boot(machine, WORDS.replace("selftest ", ""))[1]))
    first = first or reply
    tap.ok(reply.hash is not None and reply.hash == first.hash,
           f"{machine.label}: the arena serves the model afterwards", reply.console)
    if damaged:
        check_damage(machine, damaged, expected, first)
for machine in (ARM64, RISCV64) if LONG else (ARM64,):
    check_reference(machine)

status, text = run([HOST, "run", MODEL, "-p", "Hello", "-n", "4", "--temp", "0", "--ids",
                    "--selftest", "--seed", str(SEED)], 90)
count = re.search(r"selftest: all (\d+) kernels equal their references", text)
tap.ok(status == 0 and count and len(passed(text)) == int(count.group(1)) and
       set(passed(text)) >= set(REFERENCES) and Reply(text).hash == first.hash,
       "the Linux program: --selftest passes, same logits", text)
tap.done()
