#!/usr/bin/python3
"""A model on a USB drive gives the same results as on virtio-blk, bit for bit. The drive is also written, reads fail once or permanently, and there
are devices that are not usable drives."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, HOST, LONG, RISCV64_ANY as RISCV64_V, WORK, Reply, Tap, card_arguments, make_card, segments,
                     usb_arguments, written_sectors)

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "usb-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
CARD = make_card("usb-card.img", "--size", "64", MODEL)
SEGMENTS = segments(MODEL)
STREAM = f" mem={2 * max(size for _, size in SEGMENTS[1:-1]) + 4 * 4096}"
WORDS = 'prompt="Once upon" n=6 temp=0 ids'
with open(MODEL, "rb") as f:
    HEADER = f.read(4096)
with open(CARD, "rb") as f:
    MODEL_AT = f.read(16 << 20).find(HEADER)
assert MODEL_AT > 0 and MODEL_AT % 512 == 0
LAYER = (MODEL_AT + SEGMENTS[2][0] + SEGMENTS[2][1] // 2) // 512


def failing(once):
    """The drive, with a block of layer 1 that cannot be read, once or permanently."""
    return (f"file.driver=blkdebug,file.image.driver=file,file.image.locking=off,"
            f"file.image.filename={CARD},file.inject-error.0.event=read_aio,"
            f"file.inject-error.0.errno=5,file.inject-error.0.once={once},"
            f"file.inject-error.0.sector={LAYER}")


UNITS = usb_arguments(CARD)[:2] + ["-drive", f"if=none,id=other,format=raw,cache=unsafe,file.locking=off,file={CARD}",
         "-device", "qemu-xhci", "-device", "usb-bot,id=bot", "-device", "scsi-hd,bus=bot.0,scsi-id=0,lun=0,drive=card",
         "-device", "scsi-hd,bus=bot.0,scsi-id=0,lun=1,drive=other"]
# Two drives come before the drive with the model: one without a file system, and one without a model.
EMPTY, RAW = make_card("usb-empty.img", "--size", "64"), os.path.join(WORK, "usb-raw.img")
with open(RAW, "wb") as f:
    f.truncate(1 << 20)
THREE = ["-device", "qemu-xhci,id=usb"]
for number, path in enumerate((RAW, EMPTY, CARD)):
    THREE += ["-drive", f"if=none,id=d{number},format=raw,cache=unsafe,file.locking=off,file={path}",
              "-device", f"usb-storage,drive=d{number},bus=usb.0,port={number + 1}"]
PORTS = [f", port {number}, " for number in (1, 2, 3)]
BIG = ",logical_block_size=4096,physical_block_size=4096"
KEYBOARD = ["-device", "qemu-xhci", "-device", "usb-kbd"]
# Rows: name, drives, options, what the console must print, whether a reply is expected.
USB, SAME = "storage: USB drive at", True
ROWS = [
    ("virtio-blk", card_arguments(CARD, ",file.locking=off"), WORDS, ["storage: virtio-blk"], SAME),
    ("resident", usb_arguments(CARD), WORDS, [USB, "resident"], SAME),
    ("streamed", usb_arguments(CARD), WORDS + STREAM, [USB, "streamed"], SAME),
    ("blocks of 4 KiB, resident", usb_arguments(CARD, device=BIG), WORDS, [USB], SAME),
    ("blocks of 4 KiB, streamed", usb_arguments(CARD, device=BIG), WORDS + STREAM, [USB, "streamed"], SAME),
    ("blocks of 2 KiB, streamed", usb_arguments(CARD, device=BIG.replace("4096", "2048")), WORDS + STREAM,
     [USB, "streamed"], SAME),
    ("fails once, resident", usb_arguments(CARD, failing("on")), WORDS, [USB], SAME),
    ("fails once, streamed", usb_arguments(CARD, failing("on")), WORDS + STREAM, [USB], SAME),
    ("fails for good, resident", usb_arguments(CARD, failing("off")), WORDS,
     [USB, "error:", "layer 1"], False),
    ("fails for good, streamed", usb_arguments(CARD, failing("off")), WORDS + STREAM,
     [USB, "error:", "layer 1"], False),
    ("several units, of which the first with a disk counts", UNITS, WORDS, [USB], SAME),
    ("three drives at one controller, resident", THREE, WORDS, [USB] + PORTS, SAME),
    ("three drives at one controller, streamed", THREE, WORDS + STREAM, [USB, "streamed"] + PORTS, SAME),
    ("a keyboard, and a card", KEYBOARD + card_arguments(CARD, ",file.locking=off"), WORDS,
     ["storage: virtio-blk"], SAME),
]


def boot(case):
    machine, (_, drives, words, _, _) = case
    return machine.run(words, 2, drives, timeout=120)


cases = [(ARM64, row) for row in ROWS]
# The drivers are the same on both machines, so each runs half of the rows.
cases += [(RISCV64_V, row) for row in (ROWS if LONG else ROWS[::2])]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(boot, cases))
want = Reply(results[0][1])
for (machine, (name, _, _, expected, same)), (status, console) in zip(cases, results):
    reply = Reply(console)
    fine = (status is not None and "power off" in console and "trap:" not in console and
            all(word in console for word in expected))
    if same:
        fine = fine and status == 0 and want.ids and (reply.ids, reply.hash) == (want.ids, want.hash)
    tap.ok(fine, f"{machine.board}: {name}: " + ("the ids of virtio-blk" if same else
                                                  ", ".join(expected)),
           f"status {status}\n{console}")

for machine in (ARM64, RISCV64_V):
    good, console = written_sectors(machine, usb_arguments)
    tap.ok(good, f"{machine.board}: a sector and 300 are written and read back", console)
    good, console = written_sectors(machine, lambda card: usb_arguments(card, device=BIG))
    tap.ok(good, f"{machine.board}: sectors are written and read back on blocks of 4 KiB", console)

tap.done()
