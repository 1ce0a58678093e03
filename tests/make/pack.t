#!/usr/bin/python3
"""The packed image, which is flashed, equals the linked image after liblzma unpacks it here. It also tests what the packer refuses. Every suite
that boots an image tests that it unpacks itself."""

import lzma
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, ROOT, WORK, Tap

tap = Tap()
os.makedirs(WORK, exist_ok=True)
PACKING = 64


def content(board, name):
    with open(os.path.join(BUILD, board, name), "rb") as f:
        return f.read()


def pack(image, most=512 << 10):
    """Exit status, what was printed, and the packed file."""
    linked, to = (os.path.join(WORK, "pack." + ending) for ending in ("raw", "bin"))
    with open(linked, "wb") as f:
        f.write(image)
    if os.path.exists(to):
        os.remove(to)
    done = subprocess.run([sys.executable, os.path.join(ROOT, "toolchain/pack_image.py"), linked, to, str(most)],
                          capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr, os.path.exists(to)


def look(board, name):
    linked, packed = content(board, name + ".raw"), content(board, name + ".bin")
    size, head, room, magic = struct.unpack_from("<III4s", packed, PACKING)
    how, bits = {"virt-arm64": (b"LZM4", 2), "virt-riscv64": (b"LZM2", 1)}[board]
    tap.ok(magic == how and len(packed) == head + size and size <= room and len(packed) <= 512 << 10,
           f"{board}, {name}.bin: {size} bytes follow a head of {head} bytes and fit into the room of {room} bytes")
    tap.ok(packed[:PACKING] == linked[:PACKING] and packed[PACKING + 4:head] == linked[PACKING + 4:head],
           f"{board}, {name}.bin: header and head are those of the linked image")
    filters = [{"id": lzma.FILTER_LZMA1, "lc": 0, "lp": bits, "pb": bits, "dict_size": 1 << 21}]
    tap.ok(lzma.decompress(packed[head:], lzma.FORMAT_RAW, filters=filters) == linked[head:], f"{board}, {name}.bin: the rest unpacks to the linked image")


for board in ("virt-arm64", "virt-riscv64"):
    look(board, "ingot")
    if not os.path.exists(os.path.join(BUILD, board, "net.bin")):
        tap.skip(f"{board} with a network", "lwIP's source is not there: make setup-tests, then make test-images")
        continue
    look(board, "net")

image = content("virt-arm64", "ingot.raw")
NO_IMAGE = "this is not a linked image of ours"
for what, bad, most, sentence in (
        ("too large a file", image, 100000, "bytes of 100000 allowed (make size shows what grew)"),
        ("no room among the stacks", image[:PACKING + 8] + struct.pack("<I", 4096) + image[PACKING + 12:], 512 << 10,
         "the stacks have room for 4096 (boot/unpack.h)"),
        ("a packed image", content("virt-arm64", "ingot.bin"), 512 << 10, NO_IMAGE),
        ("a head longer than the file", image[:PACKING + 4] + struct.pack("<I", len(image)) + image[PACKING + 8:],
         512 << 10, NO_IMAGE),
        ("another file", bytes(1000), 512 << 10, NO_IMAGE)):
    status, printed, exists = pack(bad, most)
    tap.ok(status != 0 and sentence in printed and not exists, f"refused: {what}", printed)
tap.done()
