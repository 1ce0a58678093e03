#!/usr/bin/python3
"""Disks with a GPT and exFAT that are damaged or partly unreadable, on an NVMe drive and on a USB drive: if a copy of the damaged part exists, the
disk is read; other faults are named with the cure. tests/unit/storage/exfat_test.c tests single fields."""

import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, HOST, ROOT, WORK, Reply, Tap, card_arguments, nvme_arguments, segments,
                     usb_arguments)

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "bad-disks-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
WORDS = 'prompt="Once upon" n=4 temp=0 ids'
START, SECTOR = 1 << 20, 512
WHOLE = os.path.join(WORK, "bad-disks.img")
subprocess.run([sys.executable, os.path.join(ROOT, "tests/exfat.py"), WHOLE, "--pieces", f"models/tiny.ingot={MODEL}"],
               check=True, timeout=60)
with open(WHOLE, "rb") as f:
    BYTES = f.read()
NAME_AT = BYTES.find("tiny.ingot".encode("utf-16-le"))
SET_AT = NAME_AT - 66  # the first entry of its set, in the folder models
assert NAME_AT > 0 and BYTES[SET_AT] == 0x85
CLUSTER, = struct.unpack_from("<I", BYTES, SET_AT + 32 + 20)
LINK_AT = START + 32 * SECTOR + CLUSTER * 4
LAST = len(BYTES) - SECTOR
with open(MODEL, "rb") as f:
    CONTENTS = f.read()


def place_of(at):
    """The disk offset of the sector that has this byte of the model; the model's file is fragmented."""
    at -= at % SECTOR
    found = BYTES.find(CONTENTS[at:at + SECTOR])
    assert found > 0 and found % SECTOR == 0
    return found


HEADER_AT, LAYER_AT = place_of(0), place_of(segments(MODEL)[2][0] + segments(MODEL)[2][1] // 2)


def damaged(name, *places):
    """The disk, with flipped bits at these offsets."""
    data = bytearray(BYTES)
    for at in places:
        data[at] ^= 0xFF
    out = os.path.join(WORK, f"bad-disks-{name}.img")
    with open(out, "wb") as f:
        f.write(data)
    return card_arguments(out, ",file.locking=off")


def failing(device, at, once):
    """The disk, with a block that cannot be read, once or permanently."""
    return device(WHOLE, f"file.driver=blkdebug,file.image.driver=file,file.image.locking=off,"
                         f"file.image.filename={WHOLE},file.inject-error.0.event=read_aio,file.inject-error.0.errno=5,"
                         f"file.inject-error.0.once={once},file.inject-error.0.sector={at // SECTOR}")


READ, SAME = "cannot be read", None
ROWS = [
    ("whole", card_arguments(WHOLE, ",file.locking=off"), SAME),
    ("the GPT's header is damaged", damaged("header", 512 + 40), SAME),
    ("its table is damaged", damaged("table", 1024 + 40), SAME),
    ("both headers are", damaged("headers", 512 + 40, LAST + 40), "GPT: the header's checksum is wrong: partition"),
    ("the boot region is damaged", damaged("boot", START + 80), SAME),
    ("and its copy", damaged("boots", START + 80, START + 12 * SECTOR + 80), "exFAT: the checksum of the boot sectors"),
    ("the model's entry is damaged", damaged("entry", NAME_AT), "exFAT: an entry of the folder is damaged"),
    ("a link of the FAT is damaged", damaged("link", LINK_AT + 3), "cluster chain"),
]
for device, arguments in (("NVMe", nvme_arguments), ("USB", usb_arguments)):
    for what, at, said in (("the GPT's header", 512, SAME), ("the boot sector", START, READ), ("the folder", SET_AT, READ),
                           ("the FAT", LINK_AT, READ), ("the model's header", HEADER_AT, "header and tables"),
                           ("a layer", LAYER_AT, "layer 1")):
        ROWS += [(f"{device}: {what} cannot be read", failing(arguments, at, "off"), said),
                 (f"{device}: {what} cannot be read once", failing(arguments, at, "on"), SAME)]


def boot(row):
    return ARM64.run(WORDS, 1, row[1], timeout=120)


with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(boot, ROWS))
want = Reply(results[0][1])
for (name, _, said), (status, console) in zip(ROWS, results):
    reply = Reply(console)
    fine = status is not None and "power off" in console and "trap:" not in console
    if said is SAME:
        fine = fine and status == 0 and want.ids and (reply.ids, reply.hash) == (want.ids, want.hash)
    else:
        fine = fine and "error:" in console and said in console and not reply.ids
    tap.ok(fine, f"{name}: {'the same ids' if said is SAME else said}", f"status {status}\n{console}")
tap.done()
