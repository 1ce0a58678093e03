#!/usr/bin/python3
"""SD cards that fail: sectors whose reads fail once or always, an image that ends early, a card taken out while it streams and put back. Each
failure is named and retried if that helps, and the prompt comes back. QEMU's card returns old data for a failed read, which the checksums find."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, HOST, RISCV64_ANY as RISCV64_V, SD_ADMA2, SD_PIO, SD_SDMA, WORK, Reply, Tap, end,
                     segments, make_card, sd_arguments)
from talk import Monitor

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "card-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
CARD = make_card("card-good.img", "--size", "64", MODEL)
SEGMENTS = segments(MODEL)
STREAM = f" mem={2 * max(size for _, size in SEGMENTS[1:-1]) + 4 * 4096}"

with open(MODEL, "rb") as f:
    HEADER = f.read(4096)
with open(CARD, "rb") as f:
    MODEL_AT = f.read(16 << 20).find(HEADER)
assert MODEL_AT > 0 and MODEL_AT % 512 == 0


def sector(offset):
    """The card's sector that has this byte of the model."""
    return (MODEL_AT + offset) // 512


def failing(*faults):
    """The drive, with sectors whose reads fail once or always."""
    rules = "".join(f",file.inject-error.{i}.event=read_aio,file.inject-error.{i}.errno=5,"
                    f"file.inject-error.{i}.once={once},file.inject-error.{i}.sector={at}"
                    for i, (at, once) in enumerate(faults))
    return ("file.driver=blkdebug,file.image.driver=file,file.image.locking=off,"
            f"file.image.filename={CARD}{rules}")


def cut_card():
    """A card whose image ends before its partition and its model do."""
    filler = os.path.join(WORK, "card-filler.bin")
    with open(filler, "wb") as out:
        out.truncate(40 << 20)
    card = make_card("card-cut.img", "--size", "64", "--root", filler, MODEL)
    with open(card, "rb") as image:
        found = image.read().find(HEADER)
    assert found > 32 << 20
    os.truncate(card, 32 << 20)
    return card


LAYER = SEGMENTS[2][0] + SEGMENTS[2][1] // 2  # in layer 1
WORDS = 'prompt="a" n=4 temp=0 ids'
# Rows: name, the drive with its fault, options, what the console must print.
ROWS = [
    ("a sector fails once, resident", failing((sector(LAYER), "on")), WORDS, ["ids:"]),
    ("a sector fails once, streamed", failing((sector(LAYER), "on")), WORDS + STREAM, ["ids:"]),
    ("a sector fails for good, resident", failing((sector(LAYER), "off")), WORDS,
     ["error:", "layer 1", "checksum"]),
    ("a sector fails for good, streamed", failing((sector(LAYER), "off")), WORDS + STREAM,
     ["error:", "layer 1", "checksum"]),
    ("the header fails for good", failing((sector(0), "off")), WORDS, ["error:"]),
    ("the first sector fails for good", failing((0, "off")), WORDS,
     ["error:", "no FAT32 partition"]),
]


def boot(case):
    machine, (_, drive, words, _), way = case
    return machine.run(words, 2, sd_arguments(CARD, way, drive), timeout=120)


cases = [(ARM64, row, SD_ADMA2) for row in ROWS] + [(RISCV64_V, row, SD_SDMA) for row in ROWS[::2]]
cases += [(ARM64, ROWS[1], SD_PIO)]
cut = cut_card()
with ThreadPoolExecutor(os.cpu_count()) as pool:
    good_run = pool.submit(ARM64.run, WORDS, 2, sd_arguments(CARD), None, 120)
    cut_run = pool.submit(ARM64.run, WORDS, 2, sd_arguments(cut), None, 120)
    results = list(pool.map(boot, cases))
good = Reply(good_run.result()[1])
for (machine, (name, _, _, expected), _), (status, console) in zip(cases, results):
    fine = (status is not None and "power off" in console and "panic" not in console and
            "trap:" not in console and all(word in console for word in expected))
    injected = "read error on host side" in console
    tap.ok(fine and injected, f"{machine.board}: {name}: " + ", ".join(expected),
           f"status {status}\n{console}")
    if expected == ["ids:"]:
        reply = Reply(console)
        tap.ok(good.ids and reply.ids == good.ids and reply.hash == good.hash,
               f"{machine.board}: {name}: the reply and its logits are those of a good card", console)
status, console = cut_run.result()
tap.ok("error:" in console and "the card ends before the file does" in console and
       "power off" in console,
       "an image that ends early is named", console)


# ---- the card is taken out -------------------------------------------------------------------


def talk(machine, way, name):
    path = os.path.join(WORK, f"qmp-{os.getpid()}-{name}")
    card = make_card(f"card-out-{name}.img", "--size", "64", MODEL)
    command = machine.command("temp=0 n=200 ctx=256" + STREAM, 2, sd_arguments(card, way) +
                              ["-qmp", f"unix:{path},server=on,wait=off"])
    console = pexpect.spawn(command[0], command[1:], timeout=120, echo=False)

    def check(what, fine):
        tap.ok(fine, f"{machine.board}: {name}: {what}",
               console.before.decode("utf-8", "replace")[-2000:])

    def prompt():
        console.expect(r"(?:^|\n)> $")

    monitor = None
    try:
        prompt()
        monitor = Monitor(path)
        console.send("Hello\r")
        console.expect(r"\S+\s*\S")  # the reply has begun
        answer = monitor.do("eject", device="card", force=True)
        check("the card is taken out during a reply", "return" in answer)
        console.expect(r"error: [^\r\n]*taken out[^\r\n]*\r+\n")
        check("which is named", True)
        prompt()
        console.send("Again\r")
        console.expect(r"error: [^\r\n]*taken out[^\r\n]*\r+\n")
        prompt()
        check("and named again, and the prompt is back", True)
        answer = monitor.do("blockdev-change-medium", device="card", filename=card, format="raw",
                            force=True)
        check("the card is put back", "return" in answer)
        console.send("/set n 20\r")
        prompt()
        console.send("Once more\r")
        console.expect(r"\[\d+ prompt \+ \d+ new tokens?, [^\]]*\]")
        check("the next reply is whole", re.search(rb"error:", console.before) is None)
        prompt()
    except (pexpect.TIMEOUT, pexpect.EOF, OSError) as late:
        check(f"went on ({type(late).__name__})", False)
    finally:
        if monitor is not None:
            monitor.close()
        end(console)
        if os.path.exists(path):
            os.unlink(path)


def program(machine, way):
    """A program sends /model while the card is out: the model stays."""
    path = os.path.join(WORK, f"qmp-{os.getpid()}-program")
    card = make_card(f"card-out-program-{machine.board}.img", "--size", "64", MODEL)
    command = machine.command("mode=json temp=0 n=4 ctx=256" + STREAM, 2, sd_arguments(card, way) +
                              ["-qmp", f"unix:{path},server=on,wait=off"])
    console = pexpect.spawn(command[0], command[1:], timeout=60, echo=False)

    def events(last):
        console.expect(r'\{"event":"%s"[^\n]*\}\r*\n' % last)
        text = (console.before + console.after).decode("utf-8", "replace")
        return [json.loads(line) for line in text.split("\n") if line.startswith("{")]

    def ask(what, expected, **request):
        console.send(json.dumps(request) + "\n")
        told = [e for e in events("done") if e["event"] not in ("log", "progress")]
        kinds = [e["event"] for e in told]
        tap.ok(set(expected) == set(kinds) and
               ("error" not in kinds or "taken out" in told[0]["text"]),
               f"{machine.board}, a program: {what}: {', '.join(expected)}", told)

    monitor = None
    try:
        events("ready")
        monitor = Monitor(path)
        monitor.do("eject", device="card", force=True)
        ask("/model without a card", ["error", "done"], command="/model card-tiny")
        ask("a prompt without a card", ["error", "done"], prompt="a")
        ask("a command without a card", ["text", "done"], command="/help")
        monitor.do("blockdev-change-medium", device="card", filename=card, format="raw", force=True)
        ask("/model, and the card is back", ["ready", "done"], command="/model card-tiny")
        ask("a prompt, and the card is back", ["token", "done"], prompt="a")
    except (pexpect.TIMEOUT, pexpect.EOF, OSError) as late:
        tap.ok(False, f"{machine.board}, a program: went on ({type(late).__name__})",
               console.before)
    finally:
        if monitor is not None:
            monitor.close()
        end(console)
        if os.path.exists(path):
            os.unlink(path)


talk(ARM64, SD_ADMA2, "adma2")
talk(RISCV64_V, SD_PIO, "pio")
program(ARM64, SD_ADMA2)
program(RISCV64_V, SD_PIO)
tap.done()
