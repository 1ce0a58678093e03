#!/usr/bin/python3
"""Drives of more than 2 TiB whose partition begins beyond sector 2^32, which READ(10) and WRITE(10) cannot reach. On USB and NVMe they give the
same tokens as a small drive, and a saved conversation is read back after the next start. The files are nearly empty: they take a few megabytes on
this computer's disk."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, RISCV64_ANY, ROOT, WORK, Tap, nvme_arguments, usb_arguments
from talk import Console, make_model

MIB, TIB = 1 << 20, 1 << 40
START = 2 * TIB + 64 * MIB  # sector 2^32 + 131,072
BYTES = START + 16 * MIB
MOST_ON_DISK = 32 * MIB
BIG = ",logical_block_size=4096,physical_block_size=4096"
LINES = ("Hello there", "Second")
tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = make_model("far-talk", 3)


def disk(name, *arguments):
    out = os.path.join(WORK, f"far-{name}.img")
    subprocess.run([sys.executable, os.path.join(ROOT, "tests/exfat.py"), out, f"models/talk.ingot={MODEL}",
                    f"saves/chat.sav=+{MIB}", *arguments], check=True, timeout=60)
    return out


def far_disk(name, *arguments):
    return disk(name, "--start", str(START), "--bytes", str(BYTES), *arguments)


def usb_4k(path):
    return usb_arguments(path, device=BIG)


def ids(text):
    found = re.search(r"^ids: .*", text, re.M)
    return found.group(0) if found else None


def talk(case):
    """Returns the log's lines about the drive, the answer to /save, and the ids of two turns; the second turn also
    after another start."""
    machine, _, drive, path = case
    with Console(machine, "temp=0 n=8 ids", drive(path)) as k:
        log = k.prompt()
        first = k.say(LINES[0])
        saved = k.say("/save")
        second = k.say(LINES[1])
    with Console(machine, "temp=0 n=8 ids", drive(path)) as k:
        k.prompt()
        loaded = k.say("/load")
        after = k.say(LINES[1])
    return log, saved, loaded, [ids(text) for text in (first, second, after)], first + saved + second + loaded + after


CASES = [(machine, name, drive, where) for machine in (ARM64, RISCV64_ANY) for name, drive, where in (
    ("a small USB drive", usb_arguments, disk), ("USB", usb_arguments, far_disk), ("NVMe", nvme_arguments, far_disk))]
CASES.append((ARM64, "USB, blocks of 4 KiB", usb_4k, far_disk))
made = []
try:
    for number, (machine, name, drive, where) in enumerate(CASES):
        path = where(str(number), *(("--block", "4096") if drive is usb_4k else ()))
        made.append(path)
        CASES[number] = machine, name, drive, path
    if max(os.stat(path).st_blocks * 512 for path in made) > MOST_ON_DISK:
        tap.skip("drives of 2 TiB", "this disk does not support sparse files")
        tap.done()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(talk, CASES))
finally:
    for path in made:
        os.unlink(path)
WANT = results[0][3]
tap.ok(all(WANT) and WANT[1] == WANT[2] != WANT[0], "a small USB drive: two turns get replies, and after /load the second gets the same", results[0])
for (machine, name, _, path), (log, saved, loaded, said, text) in list(zip(CASES, results))[1:]:
    is_far = "small" not in name
    tap.ok(said == WANT and ("2.00 TiB" in log or not is_far), f"{machine.board}: {name}: the same tokens", log + text)
    tap.ok("tokens are saved in saves/chat.sav" in saved and "go on" in loaded, f"{machine.board}: {name}: the conversation is saved, and read back", text)
tap.done()
