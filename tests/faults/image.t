#!/usr/bin/python3
"""Bad cards, bad model files and bad boot arguments: the image answers each with an error message and reaches a prompt, with a model or without, for
a person and for a program, and obeys /off there; with prompt= it powers off. It never traps and never hangs."""

import json
import os
import re
import struct
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from crc32c import crc32c
from machine import (ARM64, HOST, RISCV64_ANY as RISCV64_V, WORK, Tap, card_arguments, segments, make_card, text_of)

tap = Tap()
os.makedirs(WORK, exist_ok=True)
GOOD = os.path.join(WORK, "faults-good.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", GOOD], check=True,
               capture_output=True, timeout=60)
with open(GOOD, "rb") as f:
    BYTES = f.read()


def variant(name, change, fix_header=False):
    """A card with a changed copy of the good model. With fix_header the header's CRC is corrected, so that the field itself must be
    refused."""
    data = bytearray(BYTES)
    data = change(data) or data
    if fix_header:
        data[12:16] = bytes(4)
        data[12:16] = struct.pack("<I", crc32c(bytes(data[:4096])))
    path = os.path.join(WORK, f"fault-{name}.ingot")
    with open(path, "wb") as out:
        out.write(data)
    return make_card(f"fault-{name}.img", path)


def flip(offset):
    def change(data):
        data[offset] ^= 0x10
    return change


def put(offset, fmt, *values):
    def change(data):
        struct.pack_into(fmt, data, offset, *values)
    return change


SECTION = {name: struct.unpack_from("<Q", BYTES, 216 + 24 * i)[0]
           for i, name in enumerate(["tokenizer", "chat", "rope", "layers", "segments",
                                    "tensors"])
           if name != "rope"}  # the section rope is empty here
SEGMENTS = segments(GOOD)
N = len(SEGMENTS)
PARAM = 88  # offset of struct ingot_params in the header

# Rows: name, card (None: no drive), boot options, what the console must print.
rows = [
    ("no card", None, "", ["no card, flash or initrd found", "make card"]),
    ("empty card", make_card("fault-empty.img", "--size", "40"), "", ["models/"]),
    ("no file system", "blank", "", ["no FAT32 partition", "make card"]),
    ("no such model", make_card("fault-good.img", GOOD), "model=nothing", ["nothing", "models/"]),
    ("cut short", variant("short", lambda d: d[:len(d) // 2]), "", ["cut short", "copy it again"]),
    ("cut in the header", variant("tiny", lambda d: d[:700]), "", ["700 bytes, less than a header", "copy it again"]),
    ("not an ingot", variant("magic", flip(0)), "", ["not an .ingot file", "ingot pack"]),
    ("flipped header", variant("header", flip(100)), "", ["header"]),
    ("unknown version", variant("version", put(8, "<I", 99), True), "", ["version"]),
    ("packed for the version before", variant("old", put(8, "<I", 2), True), "",
     ["version is 2", "pack the model again"]),
    ("dim overflows", variant("dim", put(PARAM + 4, "<I", 0xffffffff), True), "", ["dim"]),
    ("layers overflow", variant("many-layers", put(PARAM + 8, "<I", 0x80000001), True), "",
     ["n_layers"]),
    ("file size overflows", variant("size", put(16, "<Q", 1 << 63), True), "", ["cut short"]),
    ("too big for RAM", make_card("fault-good.img", GOOD), "mem=64K", ["raise mem="]),
    ("context too long", make_card("fault-good.img", GOOD), "ctx=99999999", ["ctx="]),
] + [(words, make_card("fault-good.img", GOOD), words, expected + ["ready: "]) for words, expected in [
    ("temp=hot", ["warning: temp=hot cannot be used: temp takes a number from 0", "default is used"]),
    ("term=vt100", ["warning: term=vt100", "auto, plain or vt"]),
    ("mode=jsonn", ["warning: mode=jsonn", "chat or json"]),
    ("modle=x", ["'modle'", "did you mean model="]),
    ("mem=1K", ["warning: mem=1K cannot be used: ", "the weights need at least", "raise mem="]),
    ("ctx=1000000", ["warning: ctx=1000000", "the default is used"]),
    ("draft=none", ["warning: draft=none", "no draft is used"]),
    ("kv=card,q8", ["warning: kv=card", "ingot.kv"]),
    ('system="never closed', ["warning: the closing quote of system="]),
    ("n=1 " * 2100, ["warning: the boot arguments have 8400 bytes, and the limit is 8191"])]]
rows[3] = ("no such model", make_card("fault-good.img", GOOD), "model=nothing",
           ["error: the card has no model nothing", "  faults-good.ingot, ",
            "no model is loaded: /model NAME loads one"])
# A program gets the same messages in events, and then the event `ready`.
rows += [(f"{name}, to a program", card, words + " mode=json",
          [word.removeprefix("error: ") for word in expected])
         for name, card, words, expected in (rows[0], rows[3], rows[4], rows[6], rows[7])]
rows += [(f"flipped {name}", variant(name, flip(at + 3)), "", [name])
         for name, at in SECTION.items()]
for index, (offset, size) in enumerate(SEGMENTS):
    part = "embedding" if index == 0 else "head" if index == N - 1 else f"layer {index - 1}"
    card = variant(f"segment{index}", flip(offset + size // 3))
    rows.append((f"flipped {part}, resident", card, 'prompt="a" n=1', [part, "checksum"]))
    rows.append((f"flipped {part}, streamed", card, 'prompt="a" n=1 mem=STREAM',
                 [part, "checksum"]))

blank = os.path.join(WORK, "fault-blank.img")
with open(blank, "wb") as out:
    out.truncate(1 << 20)
STREAM = 2 * max(size for _, size in SEGMENTS[1:-1]) + 4 * 4096


def boot(case):
    (name, card, words, expected), machine = case
    card = blank if card == "blank" else card
    drives = card_arguments(card) if card else []
    if "mode=json" in words.split():
        return program(machine.command(words, 2, drives))
    return machine.run(words.replace("STREAM", str(STREAM)), 2, drives, timeout=60,
                       stdin=b"\n/off\n")


def program(command):
    """Run the command, and send a program's requests when the board is ready; returns the result as machine.run
    does."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as child:
        watch = threading.Timer(60, child.kill)
        watch.start()
        out = b""
        for line in child.stdout:
            out += line
            if b'"event":"ready"' in line:
                child.stdin.write(b'{"prompt":"a","id":7}\n{"reset":true}\n{"command":"/off"}\n')
                child.stdin.flush()
        status = child.wait()
        watch.cancel()
    return status, text_of(out)


def came_to_prompt(words, console):
    """True if a person gets a prompt, or if a program gets `ready` without a model and answers to its requests."""
    if "mode=json" not in words.split():
        return "prompt=" in words or re.search(r"^> ", console, re.M)
    events = [json.loads(line) for line in console.splitlines() if line.startswith("{")]
    ready = [e for e in events if e["event"] == "ready"]
    answer = [e for e in events if e.get("id") == 7]
    return (len(ready) == 1 and ready[0]["model"] is None and
            [e["event"] for e in answer] == ["error", "done"] and
            [e["reason"] for e in events if e["event"] == "done"] == ["error", "command", "command"]
            and any(e["event"] == "error" for e in events[:events.index(ready[0])]))


cases = [(row, ARM64) for row in rows]
cases += [(row, RISCV64_V) for i, row in enumerate(rows) if i % 3 == 0 or "mode=json" in row[2].split()]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(boot, cases))
for ((name, _, words, expected), machine), (status, console) in zip(cases, results):
    good = (status is not None and "trap:" not in console and "panic" not in console and
            all(word in console for word in expected) and "power off" in console and
            came_to_prompt(words, console))
    tap.ok(good, f"{machine.board}: {name[:40]}: says " + ", ".join(f"'{w}'" for w in expected),
           f"status {status}\n{console}")

# Cases in which the image only warns, and continues.
good_card = card_arguments(make_card("fault-good.img", GOOD))
for words, expected in [
        ("colour=red prompt=a n=2 temp=0", ["warning", "colour"]),
        ('prompt="' + "word " * 700 + '" n=2 temp=0 ctx=64', ["room for", "64"]),
        ('prompt="' + "word " * 2000 + '"', ["the boot arguments have", "correct prompt="]),
        ("isa=sse9 prompt=a n=2", ["isa=sse9"]),
        ("temp=hot prompt=a n=2 ids", ["temp=hot", "ids: "]),
        ("mem=1K prompt=a n=2 ids", ["mem=1K", "ids: "]),
        ("n=2 prompt=\"never closed", ["closing quote of prompt=", "correct prompt="]),
        ("cores=7 prompt=a n=2", ["cores=7"])]:
    status, console = ARM64.run(words, 2, good_card, timeout=60)
    tap.ok(status is not None and "power off" in console and
           all(word in console for word in expected),
           f"boot words {words[:40]!r} are answered", console)
tap.done()
