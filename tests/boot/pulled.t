#!/usr/bin/python3
"""An NVMe drive is pulled out of its slot while a model streams from it, and put back: a message says so, the prompt comes back, and the next line is
answered as if nothing had happened. If another drive is put into the slot, it is recognized as another."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, LONG, RISCV64_ANY, WORK, Tap, make_card, segments
from slot import Slot
from talk import Console

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "pulled-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True, capture_output=True, timeout=60)
CARD = make_card("pulled.img", "--size", "64", MODEL)
MEMORY = 2 * max(size for _, size in segments(MODEL)[1:-1]) + 4 * 4096
PACE = 2 << 20  # bytes a second: a reply takes two seconds
NODE = ["-object", f"throttle-group,id=pace,x-bps-read={PACE}", "-blockdev", "driver=throttle,node-name=node,throttle-group=pace,"
        f"file.driver=raw,file.file.driver=file,file.file.locking=off,file.file.filename={CARD}"]
LINE = "Hello there"


def ids(text):
    found = re.search(r"^ids: .*", text, re.M)
    return found.group(0) if found else None


for machine in (ARM64, RISCV64_ANY) if LONG else (ARM64,):  # slots and their driver are the same on both
    slot = Slot(machine, "pulled")
    with Console(machine, f"temp=0 n=16 ids spec=off mem={MEMORY}", slot.arguments(NODE)) as k:
        k.prompt()
        unbroken = k.say(LINE)
        tap.ok(ids(unbroken) and "streamed" in unbroken, f"{machine.board}: a reply from a drive in a slot", unbroken)
        k.say("/reset")
        k.send(LINE + "\r")
        k.expect(LINE + r"[\r\n]+(?:\[[^\n]*\n)*[^\r\n\[]")  # its first letter, after lines of progress
        slot.pull()
        said = k.prompt(60)
        tap.ok(re.search("error: .*(?:layer|embedding|head).*NVMe drive at 0x", said) and ids(unbroken).startswith(ids(said)) and
               len(ids(said)) < len(ids(unbroken)),
               f"{machine.board}: a drive pulled in the middle of a reply is named, and the prompt is back", said)
        said = k.say(LINE)
        tap.ok("error:" in said and not ids(said), f"{machine.board}: the answer to the next line names the missing drive again", said)
        slot.put_back("other")
        k.say("/reset")
        said = k.say(LINE)
        tap.ok("error:" in said and not ids(said), f"{machine.board}: another drive in its place is not read", said)
        slot.pull()
        slot.put_back()
        k.say("/reset")
        said = k.say(LINE)
        tap.ok(ids(said) == ids(unbroken) and "error:" not in said, f"{machine.board}: the drive that is put back gives the same tokens", said)
tap.done()
