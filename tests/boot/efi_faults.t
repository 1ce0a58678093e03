#!/usr/bin/python3
"""EFI firmware that lacks something or fails, in QEMU: each fault has only its own effect, one message reports it, and the prompt comes.
tests/boot/efi_faults.c sits between a real firmware and Ingot and returns failures as if the firmware had failed. The same file also tests firmware that maps code read-only
and data non-executable: a program that writes its code or executes its data is stopped there, and Ingot starts."""

import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from efi import FIRMWARE, Started, make_stick, put_program
from machine import BUILD, HOST, ROOT, Reply, Tap, end, run
from talk import Console

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
PROMPT = "Hello! Who are you?"
WORDS = "term=plain temp=0 n=24 ids diag"
MARK = b"INGOT-FAULT="
IDS = re.compile(r"^ids: ([\d ]+)$", re.M)
STREAMED = " mem=600K"
ANSWERS, REFUSES = "the model answers", "there is no model"
# Rows: firmware, fault, more boot options, the message, and whether the model answers at the prompt.
FAULTS = [
    ("U-Boot arm64", "none", "", r"cores: 2 of 2 at work", ANSWERS),
    ("U-Boot arm64", "read-once", "", r"ready: .* ms of loading.*, 1 retry\b", ANSWERS),
    ("U-Boot arm64", "read-always", "", r"error: .*the firmware reports an error of the device", REFUSES),
    ("U-Boot riscv64", "few-pages", "", r"warning: the firmware refuses \d+ MiB in one piece \(AllocatePages\): \d+ MiB are used", ANSWERS),
    ("U-Boot arm64", "no-uart", "", r"line: the firmware's console, without colours, because no device tree names a UART", ANSWERS),
    ("AAVMF with a tree", "no-uart", "", r"line: the firmware's serial port, because no device tree names a UART", ANSWERS),
    ("OVMF", "no-gop", "", r"screen: none, the firmware has no display \(GOP\)", ANSWERS),
    ("OVMF", "mp-none", "", r"only one core is used: the firmware has no MP services", ANSWERS),
    ("OVMF", "mp-count", "", r"only one core is used: the firmware's MP services fail \(GetNumberOfProcessors\)", ANSWERS),
    ("OVMF", "mp-start", "", r"cores: 1 of 2 at work", ANSWERS),
]
# The last column tells whether this firmware stops the program. OVMF and U-Boot of Debian 12 map all memory writable and
# executable.
RIGHTS = [("AAVMF with ACPI", "write-code", True), ("AAVMF with ACPI", "run-data", True), ("U-Boot arm64", "write-code", False)]

tap = Tap()


def stick_with(name, fault, more):
    """(a stick whose program has the fault, ""), or (None, the reason why it cannot be made)"""
    f = FIRMWARE[name]
    path = os.path.join(BUILD, f.board, "faults.efi")
    if f.missing() or not os.path.exists(path):
        return None, f.missing() or f"{path} is not there"
    stick = make_stick(f"efi-fault-{f.board}-{name.split()[-1]}-{fault}.img", WORDS + more, MODEL)
    with open(path, "rb") as file:
        program = bytearray(file.read())
    at = program.index(MARK) + len(MARK)
    program[at:at + 16] = fault.encode().ljust(16, b"\0")
    put_program(stick, f.board, bytes(program))
    return stick, ""


def ask(row):
    """(the text up to the prompt, the reply to a question), or the reason why the machine cannot run."""
    name, fault, more = row[:3]
    stick, why = stick_with(name, fault, more)
    if stick is None:
        return why
    try:
        with Console(Started(name, stick), "", ()) as k:
            return k.prompt(), k.say(PROMPT)
    except (pexpect.EOF, pexpect.TIMEOUT) as e:
        return "", f"no prompt: {e}"
    finally:
        os.remove(stick)


def take_out():
    """The medium is taken out while /save writes, and then a reply needs it: each time one message comes, and the prompt is back."""
    stick, why = stick_with("U-Boot arm64", "removed", STREAMED)
    if stick is None:
        tap.skip("U-Boot arm64, removed", why)
        return
    with Console(Started("U-Boot arm64", stick), "", ()) as k:
        k.prompt()
        first = IDS.findall(k.say(PROMPT))
        tap.ok(first == want, "U-Boot arm64, removed: the model streams", k.seen)
        said = k.say("/save")
        tap.ok("the card was taken out: put it back and ask again" in said,
               "the medium disappears while /save writes: one error message, and the prompt is back", said)
        said = k.say("And you?")
        tap.ok("the card was taken out: put it back and ask again" in said, "a reply that needs weights gives the same error message", said)
    os.remove(stick)


def meets_old_cpu():
    """On a PC that is too old, the error message stays long enough to be read, before the firmware clears the display."""
    f = FIRMWARE["OVMF"]
    if f.missing():
        tap.skip("OVMF, a CPU without AVX2", f.missing())
        return
    words = f.start(make_stick("efi-fault-old.img", WORDS, MODEL), more=["-cpu", "Nehalem"])
    p = pexpect.spawn(words[0], words[1:], timeout=120, encoding="utf-8", codec_errors="replace")
    try:
        p.expect("Ingot needs a CPU with AVX2, .* The firmware continues in 15 seconds")
        shown = time.monotonic()
        p.expect("failed to start .*: Unsupported")
        took = time.monotonic() - shown
    except (pexpect.EOF, pexpect.TIMEOUT):
        took = 0
    tap.ok(took > 14, f"OVMF, a CPU without AVX2: the error message stays for {took:.1f} s, and the firmware continues", p.before)
    end(p)


def runs(row):
    """(True if the program with this fault reaches its start, the console's text); (None, the reason) if it cannot
    run."""
    name, fault = row[:2]
    stick, why = stick_with(name, fault, ' prompt="Hello!"')
    if stick is None:
        return None, why
    try:
        _, console = FIRMWARE[name].run(stick, 1, timeout=40)
    finally:
        os.remove(stick)
    return "cores: 1 of 1 at work" in console, console


status, console = run([HOST, "run", MODEL, "-p", PROMPT, "--temp", "0", "-n", "24", "--ids", "-q"])
want = [" ".join(map(str, Reply(console).ids or ()))]
tap.ok(status == 0 and want[0], "this computer's reply", console)
with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(ask, FAULTS))
for (name, fault, _, sentence, then), result in zip(FAULTS, results):
    if isinstance(result, str):
        tap.skip(f"{name}, {fault}", result)
        continue
    before, reply = result
    tap.ok(len(re.findall(sentence, before + reply)) == 1, f"{name}, {fault}: one error message, and the prompt comes", before + reply)
    found = IDS.findall(reply)
    tap.ok(found == want if then == ANSWERS else not found and "no prompt" not in reply, f"{name}, {fault}: {then}", reply)
take_out()
meets_old_cpu()
with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(runs, RIGHTS))
for (name, fault, enforced), (started, console) in zip(RIGHTS, results):
    if started is None:
        tap.skip(f"{name}, {fault}", console)
        continue
    tap.ok(started != enforced, f"{name}, {fault}: a program that does so {'is stopped' if enforced else 'starts'}", console)
    if enforced:
        tap.ok(re.search(r"Synchronous Exception|Exception", console), f"{name}, {fault}: by an exception of the firmware's", console)
tap.done()
