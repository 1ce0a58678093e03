#!/usr/bin/python3
"""Cards whose file system is damaged, cut, fragmented, full or has odd names, at virtio-blk and at a Raspberry Pi's own controller: readable parts
are read, for other parts a message gives the fault and the cure, and nothing hangs. tests/unit/storage/fat32_test.c tests single fields; card.t
tests failing sectors."""

import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import LONG as EVERYTHING
from machine import (ARM64, HOST, WORK, Machine, Reply, Tap, card_arguments, segments, make_card)

RPI4 = Machine("rpi4")
START = 2048 * 512  # the partition's first byte
WORDS = 'prompt="a" n=4 temp=0 ids'
LONG = "größe 模型 " + "x" * 238  # 255 UTF-16 units with .ingot, the longest possible name

tap = Tap()
os.makedirs(WORK, exist_ok=True)
folder = os.path.join(WORK, "card-files")
os.makedirs(folder, exist_ok=True)
MODEL = os.path.join(folder, "good.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
SEGMENTS = segments(MODEL)
STREAM = f" mem={2 * max(size for _, size in SEGMENTS[1:-1]) + 4 * 4096}"
with open(MODEL, "rb") as f:
    MODEL_BYTES = f.read()


def link(name):
    path = os.path.join(folder, name + ".ingot")
    if not os.path.exists(path):
        os.link(MODEL, path)
    return path


def card(name, *arguments):
    return make_card(f"card-files-{name}.img", "--power-of-two", *arguments)


class Volume:
    """The partition of a card's image, which tests damage."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "r+b")
        boot = self.read(0, 512)
        self.cluster_bytes = boot[13] * 512
        reserved, self.n_fats = struct.unpack_from("<HB", boot, 14)
        self.fat_bytes = struct.unpack_from("<I", boot, 36)[0] * 512
        self.fat = reserved * 512
        self.data = self.fat + self.n_fats * self.fat_bytes

    def read(self, at, count):
        self.file.seek(START + at)
        return self.file.read(count)

    def write(self, at, data):
        self.file.seek(START + at)
        self.file.write(data)

    def first_cluster(self, at):
        """The number of the cluster that has this byte of the volume."""
        return (at - self.data) // self.cluster_bytes + 2

    def cluster_of_model(self):
        at = self.read(0, 24 << 20).find(MODEL_BYTES[:4096])
        assert at > 0
        return self.first_cluster(at)

    def link(self, cluster, following):
        for copy in range(self.n_fats):
            self.write(self.fat + copy * self.fat_bytes + 4 * cluster,
                       struct.pack("<I", following))


def damaged(name, change):
    path = card(name, MODEL)
    volume = Volume(path)
    change(volume)
    volume.file.close()
    return path


def chain(step, following):
    """Change the model's chain at its cluster number `step`."""
    def change(volume):
        first = volume.cluster_of_model()
        volume.link(first + step, following(first))
    return change


def wipe_fat(volume):
    volume.write(volume.fat, bytes(volume.n_fats * volume.fat_bytes))


def garble_fat(volume):
    for copy in range(volume.n_fats):
        volume.write(volume.fat + copy * volume.fat_bytes + 512, b"\xa5" * 4096)


def wipe_folder(volume):
    """Overwrite the root folder's cluster with text."""
    volume.write(volume.data, b"no folder at all " * 30)


def wipe_first_fat(volume):
    volume.write(volume.fat + 512, bytes(volume.fat_bytes - 512))


def cut_before_model():
    filler = os.path.join(folder, "filler.bin")
    with open(filler, "wb") as out:
        out.truncate(40 << 20)
    path = card("cut", "--root", filler, MODEL)
    os.truncate(path, 32 << 20)  # half of 64 MiB, and also a power of two
    return path


def no_table():
    path = card("no-table", MODEL)
    with open(path, "r+b") as f:
        f.write(bytes(512))
    return path


def bare():
    """A card without partitions, as some phones format cards: the volume begins at sector 0."""
    path = card("bare", MODEL)
    with open(path, "rb") as f:
        f.seek(START)
        volume = f.read()
    with open(path, "wb") as f:
        f.write(volume.ljust(64 << 20, b"\0"))
    return path


def crowd():
    return [link(f"model-{i:03}") for i in range(200)]


def long_named():
    return card("long", "--root", f"{MODEL}:models/{LONG}.ingot")


MENDED = "write the card again"
# Rows: name, card, options, what the console must print, in which "ids:" means that a reply must come.
ROWS = [
    ("in pieces", card("pieces", "--fragment", MODEL), WORDS, ["ids:"]),
    ("in pieces, streamed", card("pieces", "--fragment", MODEL), WORDS + STREAM,
     ["ids:", ", streamed"]),
    ("beyond 4 GiB", card("far", "--start", "4200", MODEL), WORDS, ["ids:"]),
    ("a volume without a partition", bare(), WORDS, ["ids:"]),
    ("200 models, the last by name", card("crowd", *crowd()), WORDS + " model=model-199", ["ids:"]),
    ("200 models, one that is not there", card("crowd", *crowd()), WORDS + " model=model-200",
     ["error:", "model-200", "/models"]),
    ("a name of 255 characters", long_named(), WORDS, ["ids:"]),
    ("the same by name", long_named(), WORDS + f' model="{LONG}"', ["ids:"]),
    ("a name in UTF-8, in capitals", card("utf8", link("größe 模型")), WORDS +
     ' model="GRÖßE 模型"', ["ids:"]),
    ("a name in UTF-8, with .ingot", card("utf8", link("größe 模型")), WORDS +
     ' model="größe 模型.ingot"', ["ids:"]),
    ("no partition table", no_table(), WORDS, ["error:", "no FAT32 partition", "make card"]),
    ("a chain that ends early", damaged("short", chain(20, lambda first: 0x0fffffff)), WORDS,
     ["error:", "shorter", MENDED]),
    ("a chain in a circle", damaged("circle", chain(20, lambda first: first + 3)), WORDS,
     ["error:", "cyclic", MENDED]),
    ("a chain into nothing", damaged("nothing", chain(20, lambda first: 0)), WORDS,
     ["error:", "free", MENDED]),
    ("a chain that leaves", damaged("leaves", chain(20, lambda first: 0x0ff00000)), WORDS,
     ["error:", "leaves", MENDED]),
    ("both FATs wiped", damaged("wiped", wipe_fat), WORDS, ["error:", MENDED]),
    ("the first FAT wiped", damaged("first", wipe_first_fat), WORDS, ["error:", MENDED]),
    ("both FATs garbled", damaged("garbled", garble_fat), WORDS, ["error:", MENDED]),
    ("the root folder overwritten", damaged("root", wipe_folder), WORDS, ["error:", "models/"]),
    ("an image that ends before the model", cut_before_model(), WORDS,
     ["error:", "the card ends before the file does"]),
]


def drives(machine, path):
    if machine is ARM64:
        return card_arguments(path)
    return ["-drive", f"if=sd,format=raw,snapshot=on,file={path}"]


def boot(case):
    machine, (_, path, words, _) = case
    return machine.run(words, 2, drives(machine, path), timeout=120)


# The Raspberry Pi's own code is the same for all volumes, so it gets only every third case.
cases = [(ARM64, row) for row in ROWS] + [(RPI4, row) for row in (ROWS if EVERYTHING else ROWS[::3])]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    good_run = pool.submit(ARM64.run, WORDS, 2, card_arguments(card("plain", MODEL)), None, 120)
    results = list(pool.map(boot, cases))
good = Reply(good_run.result()[1])
tap.ok(good.ids and len(good.ids) == 4, "a good card's reply", good.console)
for (machine, (name, _, _, expected)), (status, console) in zip(cases, results):
    fine = (status == 0 and "power off" in console and "panic" not in console and
            "trap:" not in console and all(text in console for text in expected))
    tap.ok(fine, f"{machine.board}: {name}: " + ", ".join(expected), f"status {status}\n{console}")
    if "ids:" in expected:
        reply = Reply(console)
        tap.ok(reply.ids == good.ids and reply.hash == good.hash,
               f"{machine.board}: {name}: the reply of a good card", console)
tap.done()
