#!/usr/bin/python3
"""Disks with a GPT and exFAT, made by tests/exfat.py and by `ingot card`, give the same results as a card with FAT32, bit for bit, from virtio-blk,
NVMe and USB: also fragmented, with blocks of 4 KiB, and beyond 4 GiB. After a conversation was saved in place, fsck.exfat finds no fault."""

import os
import re
import shutil
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, HOST, LONG, RISCV64_ANY as RISCV64_V, ROOT, WORK, Reply, Tap, card_arguments, make_card, make_disk,
                     nvme_arguments, segments, usb_arguments)
from talk import Console, make_model, own_copy

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "disks-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
SEGMENTS = segments(MODEL)
STREAM = f" mem={2 * max(size for _, size in SEGMENTS[1:-1]) + 4 * 4096}"
WORDS = 'prompt="Once upon" n=6 temp=0 ids'
BIG = ",logical_block_size=4096,physical_block_size=4096"
MIB = 1 << 20


def disk(name, *arguments):
    out = os.path.join(WORK, f"disks-{name}.img")
    subprocess.run([sys.executable, os.path.join(ROOT, "tests/exfat.py"), out, *arguments], check=True, timeout=60)
    return out


def virtio(path):
    return card_arguments(path, ",file.locking=off")


def nvme4k(path):
    return nvme_arguments(path, "", BIG)


FILE = f"models/tiny.ingot={MODEL}"
CARD = make_card("disks-card.img", "--size", "64", MODEL)
GPT, MBR = disk("gpt", FILE), disk("mbr", "--table", "mbr", FILE)
PIECES, BLOCKS = disk("pieces", "--pieces", "--cluster", "512", FILE), disk("4k", "--block", "4096", FILE)
FAR = disk("far", "--size", "6000", "--cluster", "131072", "models/front.bin=+5000000000", FILE)
OWN = make_disk("disks-own.img", MODEL, "--format", "exfat", "--table", "gpt")
BEHIND = {table: make_disk(f"disks-behind-{table}.img", MODEL, "--format", "exfat", "--table", table, loader=True)
          for table in ("mbr", "gpt")}
FAT_GPT = make_disk("disks-fat-gpt.img", MODEL, "--table", "gpt")
ROWS = [
    ("FAT32, no GPT, virtio-blk", virtio(CARD), ""),
    ("GPT, virtio-blk", virtio(GPT), ""),
    ("GPT, NVMe", nvme_arguments(GPT), STREAM),
    ("GPT, USB", usb_arguments(GPT), ""),
    ("MBR, virtio-blk", virtio(MBR), STREAM),
    ("in pieces, NVMe", nvme_arguments(PIECES), ""),
    ("in pieces, USB", usb_arguments(PIECES), STREAM),
    ("blocks of 4 KiB, NVMe", nvme4k(BLOCKS), ""),
    ("made for blocks of 4 KiB, in one of 512", nvme_arguments(BLOCKS), ""),
    ("beyond 4 GiB of a disk, virtio-blk", virtio(FAR), STREAM),
    ("beyond 4 GiB of a disk, NVMe", nvme_arguments(FAR), ""),
    ("beyond 4 GiB of a disk, USB", usb_arguments(FAR), ""),
    ("ingot card, exFAT by GPT, NVMe", nvme_arguments(OWN), ""),
    ("ingot card, exFAT by GPT, blocks of 4 KiB", nvme4k(OWN), STREAM),
    ("ingot card, exFAT behind what a loader reads, MBR, virtio-blk", virtio(BEHIND["mbr"]), ""),
    ("ingot card, exFAT behind what a loader reads, GPT, USB", usb_arguments(BEHIND["gpt"]), STREAM),
    ("ingot card, FAT32 by GPT, virtio-blk", virtio(FAT_GPT), ""),
]


def boot(case):
    machine, (_, drives, words) = case
    return machine.run(WORDS + words, 2, drives, timeout=120)


cases = [(ARM64, row) for row in ROWS]
# The drivers are the same on both machines, so half of the rows are enough for the second machine.
cases += [(RISCV64_V, row) for row in (ROWS if LONG else ROWS[::2])]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(boot, cases))
want = Reply(results[0][1])
for (machine, (name, _, words)), (status, console) in zip(cases, results):
    reply = Reply(console)
    fine = status == 0 and want.ids and (reply.ids, reply.hash) == (want.ids, want.hash)
    tap.ok(fine, f"{machine.board}: {name}{', streamed' if words else ''}: the ids of FAT32", console)

# A model and a disk for a conversation that is saved in place.
TALKING = make_model("disks-talk", 3)
SAVES = disk("saves", f"models/talk.ingot={TALKING}", f"saves/chat.sav=+{MIB}")
OWN_SAVES = make_disk("disks-own-saves.img", TALKING, "--format", "exfat", "--save", "1", loader=True)


def ids(text):
    found = re.search(r"^ids: .*", text, re.M)
    return found.group(0) if found else text


def volume_is_whole(path):
    """True if fsck.exfat finds no fault in the last partition, or in the only partition of a disk of the tests."""
    if shutil.which("fsck.exfat") is None:
        return True
    part = path + ".part"
    with open(path, "rb") as f, open(part, "wb") as out:
        kind, start, n = struct.unpack_from("<B3xII", f.read(512), 446 + 16 + 4)
        f.seek(start * 512 if kind else MIB)
        out.write(f.read(n * 512) if kind else f.read()[:-33 * 4096])
    return subprocess.run(["fsck.exfat", "-n", part], capture_output=True, timeout=60).returncode == 0


for machine, drive, disk_with in ((ARM64, nvme_arguments, SAVES), (RISCV64_V, usb_arguments, SAVES),
                                  (ARM64, usb_arguments, OWN_SAVES)):
    path = own_copy(disk_with, f"disks-saves-{machine.board}.img")
    with Console(machine, "temp=0 n=8 ids", drive(path)) as k:
        k.prompt()
        k.stats("Hello there")
        tap.ok("tokens are saved in saves/chat.sav" in k.say("/save"), f"{machine.board}: /save", k.seen)
        unbroken = k.stats("Second")
    tap.ok(volume_is_whole(path), f"{machine.board}: fsck.exfat finds the volume whole")
    with Console(machine, "temp=0 n=8 ids", drive(path)) as k:
        k.prompt()
        tap.ok("go on" in k.say("/load"), f"{machine.board}: /load after the next start", k.seen)
        after = k.stats("Second")
        tap.ok(after[:2] == unbroken[:2] and ids(after[2]) == ids(unbroken[2]),
               f"{machine.board}: the conversation goes on with the same tokens", unbroken[2] + after[2])

# Several devices at once: each has a model of its own, and all have a common one.
OTHER = os.path.join(WORK, "disks-other.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q4_0", "-o", OTHER], check=True, capture_output=True,
               timeout=60)
BOTH = [disk("nvme", f"models/same.ingot={MODEL}"),
        disk("usb", f"models/same.ingot={OTHER}", f"models/own.ingot={OTHER}")]


def one_more(name, path, device):
    return ["-drive", f"if=none,id={name},format=raw,cache=unsafe,file.locking=off,file={path}", "-device",
            f"{device},drive={name}"]


SEVERAL = (virtio(CARD) + one_more("fast", BOTH[0], "nvme,serial=fast") + ["-device", "qemu-xhci"] +
           one_more("stick", BOTH[1], "usb-storage"))
CHOICES = [
    ("", MODEL, "an NVMe drive comes first"),
    (" model=same", MODEL, "a name that two have is the NVMe drive's"),
    (" model=own", OTHER, "a name that only the USB drive has"),
    (" model=usb:same", OTHER, "the USB drive's"),
    (" model=card:disks-tiny", MODEL, "the card's"),
]
for machine in (ARM64, RISCV64_V):
    alone = {path: Reply(machine.run(WORDS, 1, virtio(make_card("disks-alone.img", "--size", "64", path)),
                                     timeout=120)[1]) for path in (MODEL, OTHER)}
    tap.ok(alone[MODEL].hash and alone[OTHER].hash and alone[MODEL].hash != alone[OTHER].hash,
           f"{machine.board}: two models differ")
    for words, path, name in CHOICES if LONG or machine is ARM64 else CHOICES[3:4]:
        status, console = machine.run(WORDS + words, 1, SEVERAL, timeout=120)
        tap.ok(status == 0 and Reply(console).hash == alone[path].hash, f"{machine.board}: {name}", console)
    _, console = machine.run(WORDS + " model=usb:same", 1, virtio(CARD), timeout=120)
    tap.ok("there is no USB drive: attach one, or leave out usb:" in console, f"{machine.board}: no USB drive",
           console)
    with Console(machine, "temp=0 n=8 ids", SEVERAL) as k:
        k.prompt()
        said = k.say("/models")
        tap.ok([w.split()[0] for w in said.split("\n") if ".ingot" in w] ==
               ["nvme:same.ingot", "usb:own.ingot", "usb:same.ingot", "card:disks-tiny.ingot"],
               f"{machine.board}: /models shows where each is", said)
os.remove(FAR)
tap.done()
