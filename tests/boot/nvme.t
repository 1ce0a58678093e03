#!/usr/bin/python3
"""A model on an NVMe drive gives the same results as on virtio-blk, bit for bit: with blocks of 512 and 4096 bytes, with small transfers,
behind bridges, and preferred to a card. The drive is also written, and reads fail once or permanently."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import (ARM64, HOST, LONG, RISCV64_ANY as RISCV64_V, WORK, Reply, Tap, card_arguments, make_card,
                     nvme_arguments, segments, written_sectors)
from talk import Console, make_model, own_copy

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "nvme-tiny.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
CARD = make_card("nvme-card.img", "--size", "64", MODEL)
SEGMENTS = segments(MODEL)
STREAM = f" mem={2 * max(size for _, size in SEGMENTS[1:-1]) + 4 * 4096}"
WORDS = 'prompt="Once upon" n=6 temp=0 ids'
BIG = ",logical_block_size=4096,physical_block_size=4096"
SMALL = ",mdts=1"  # transfers of 8 KiB
with open(MODEL, "rb") as f:
    HEADER = f.read(4096)
with open(CARD, "rb") as f:
    MODEL_AT = f.read(16 << 20).find(HEADER)
assert MODEL_AT > 0 and MODEL_AT % 512 == 0
LAYER = (MODEL_AT + SEGMENTS[2][0] + SEGMENTS[2][1] // 2) // 512


def failing(once, block=512):
    """QEMU's options for the drive: a block of layer 1 cannot be read, once or permanently."""
    at = LAYER * 512 // block * block // 512
    return (f"file.driver=blkdebug,file.image.driver=file,file.image.locking=off,"
            f"file.image.filename={CARD},file.inject-error.0.event=read_aio,"
            f"file.inject-error.0.errno=5,file.inject-error.0.once={once},"
            f"file.inject-error.0.sector={at}")


# Rows: name, drives, options, what the console must print, whether a reply is expected.
NVME, SAME = "storage: NVMe drive at", True
ROWS = [
    ("virtio-blk", card_arguments(CARD, ",file.locking=off"), WORDS, ["storage: virtio-blk"], SAME),
    ("resident", nvme_arguments(CARD), WORDS, [NVME, "resident"], SAME),
    ("streamed", nvme_arguments(CARD), WORDS + STREAM, [NVME, "streamed"], SAME),
    ("blocks of 4 KiB, resident", nvme_arguments(CARD, "", BIG), WORDS, [NVME], SAME),
    ("blocks of 4 KiB in small transfers, streamed", nvme_arguments(CARD, "", BIG + SMALL),
     WORDS + STREAM, [NVME, "streamed"], SAME),
    ("behind a switch", nvme_arguments(CARD, bridges=2), WORDS, [NVME], SAME),
    ("fails once, resident", nvme_arguments(CARD, failing("on")), WORDS, [NVME], SAME),
    ("fails once, streamed", nvme_arguments(CARD, failing("on")), WORDS + STREAM, [NVME], SAME),
    ("fails once, blocks of 4 KiB", nvme_arguments(CARD, failing("on", 4096), BIG), WORDS + STREAM,
     [NVME], SAME),
    ("fails for good, resident", nvme_arguments(CARD, failing("off")), WORDS,
     [NVME, "error:", "layer 1"], False),
    ("fails for good, streamed", nvme_arguments(CARD, failing("off")), WORDS + STREAM,
     [NVME, "error:", "layer 1"], False),
    ("blocks with metadata", nvme_arguments(CARD)[:2] + ["-device", "nvme,serial=ingot", "-device",
     "nvme-ns,drive=card,ms=8"], WORDS,
     ["NVMe drive at 0x", "stores metadata with each block"], False),
]
COUNTED = ["-trace", "pci_nvme_read", "-trace", "pci_nvme_map_prp"]


def boot(case):
    machine, (_, drives, words, _, _) = case
    return machine.run(words, 2, drives, timeout=120)


cases = [(ARM64, row) for row in ROWS]
# The drivers are the same on both machines, so each runs half of the rows.
cases += [(RISCV64_V, row) for row in (ROWS if LONG else ROWS[::2])]
both = [*card_arguments(CARD, ",file.locking=off")[:-1], "virtio-blk-device,drive=card", "-drive",
        f"if=none,id=fast,format=raw,cache=unsafe,file.locking=off,file={CARD}", "-device",
        "nvme,serial=fast,drive=fast"]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    ordered = pool.submit(ARM64.run, WORDS, 1, both, None, 120)
    counted = pool.submit(ARM64.run, WORDS, 1, nvme_arguments(CARD) + COUNTED, None, 120)
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
_, console = ordered.result()
found = re.findall(r"storage: (NVMe drive|virtio-blk) at", console)
tap.ok(found == ["NVMe drive", "virtio-blk"] and Reply(console).hash == want.hash,
       "an NVMe drive is preferred to a card", console)
reads = [int(n) for n in re.findall(r"pci_nvme_read .* nlb (\d+)", counted.result()[1])]
tap.ok(reads and max(reads) >= 64 and len(reads) <= len(SEGMENTS) + 32,
       f"{len(reads)} commands for {os.path.getsize(MODEL)} bytes, of up to {max(reads, default=0)} blocks",
       counted.result()[1][-1500:])

# Test writes with the drive's cache, which is flushed, and writes to blocks that a request covers only partly.
for machine in (ARM64, RISCV64_V):
    for name, controller in (("512 bytes", ""), ("4 KiB", BIG)):
        good, console = written_sectors(
            machine, lambda path, c=controller: nvme_arguments(path, "", c) + ["-trace", "pci_nvme_flush*"])
        tap.ok(good, f"{machine.board}: blocks of {name}: a sector and 300 are written and read back",
               console)
        tap.ok(console.count("pci_nvme_flush_ns") >= 2, f"{machine.board}: {name}: the drive's cache is flushed", console)

# A conversation that is saved on the drive, and continues after the next start.
TALKING = make_model("nvme-talk", 3)
SAVES = make_card("nvme-saves.img", "--save", "1", TALKING)


def ids(text):
    found = re.search(r"^ids: .*", text, re.M)
    return found.group(0) if found else text


for machine, controller in ((ARM64, BIG), (RISCV64_V, "")):
    drives = nvme_arguments(own_copy(SAVES, f"nvme-saves-{machine.board}.img"), "", controller)
    with Console(machine, "temp=0 n=8 ids", drives) as k:
        k.prompt()
        k.stats("Hello there")
        tap.ok("tokens are saved in saves/chat.sav" in k.say("/save"), f"{machine.board}: /save", k.seen)
        unbroken = k.stats("Second")
    with Console(machine, "temp=0 n=8 ids", drives) as k:
        k.prompt()
        tap.ok("go on" in k.say("/load"), f"{machine.board}: /load after the next start", k.seen)
        after = k.stats("Second")
        tap.ok(after[:2] == unbroken[:2] and ids(after[2]) == ids(unbroken[2]),
               f"{machine.board}: the conversation goes on with the same tokens", unbroken[2] + after[2])

tap.done()
