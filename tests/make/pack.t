#!/usr/bin/python3
"""The packed image, which is flashed, equals the linked image after liblzma and the image's own unpack_code() unpack it here. It also tests
what the packer refuses, and random code. Every suite that boots an image tests that it unpacks itself."""

import ctypes
import lzma
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, ROOT, WORK, Tap
sys.path.insert(0, os.path.join(ROOT, "toolchain"))
import pack_image

tap = Tap()
os.makedirs(WORK, exist_ok=True)
PACKING, PAGE = 64, 4096


def unpacker(isa):
    """unpack_code() of the ISA, as a function from code and its offset in the image's first page to code."""
    library = os.path.join(WORK, f"unpack_code_{isa}.so")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-Wall", "-Werror", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-shared",
                    "-fPIC", "-I", ROOT, "-o", library, os.path.join(ROOT, f"boot/{isa}/unpack_code.c")], check=True, timeout=60)
    function = ctypes.CDLL(library).unpack_code
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_void_p], None

    def unpack(code, at):
        room = ctypes.create_string_buffer(len(code) + 2 * PAGE)
        start = -(-ctypes.addressof(room) // PAGE) * PAGE + at
        ctypes.memmove(start, code, len(code))
        function(start, start + len(code))
        return ctypes.string_at(start, len(code))
    return unpack


UNPACK = {isa: unpacker(isa) for isa in ("arm64", "riscv64")}


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
    size, head, room, magic, code = struct.unpack_from("<III4sI", packed, PACKING)
    how, bits = {"virt-arm64": (b"LZM4", 2), "virt-riscv64": (b"LZM2", 1)}[board]
    tap.ok(magic == how and len(packed) == head + size and size <= room and len(packed) <= 512 << 10,
           f"{board}, {name}.bin: {size} bytes follow a head of {head} bytes and fit into the room of {room} bytes")
    tap.ok(packed[:PACKING] == linked[:PACKING] and packed[PACKING + 4:head] == linked[PACKING + 4:head],
           f"{board}, {name}.bin: header and head are those of the linked image")
    filters = [{"id": lzma.FILTER_LZMA1, "lc": 0, "lp": bits, "pb": bits, "dict_size": 1 << 21}]
    rest = lzma.decompress(packed[head:], lzma.FORMAT_RAW, filters=filters)
    restored = UNPACK[board.removeprefix("virt-")](rest[:code - head], head)
    tap.ok(restored + rest[code - head:] == linked[head:], f"{board}, {name}.bin: the rest unpacks to the linked image")
    tap.ok(restored != rest[:code - head] and 0 < len(linked) - code < len(linked) // 2, f"{board}, {name}.bin: distances in code were replaced")


for board in ("virt-arm64", "virt-riscv64"):
    look(board, "ingot")
    if not os.path.exists(os.path.join(BUILD, board, "net.bin")):
        tap.skip(f"{board} with a network", "lwIP's source is not there: make setup-tests, then make test-images")
        continue
    look(board, "net")

# Code of few kinds of instructions with random distances, and data between them, up to the last byte.
rng = random.Random(20261130)
for isa, pack_code, opcodes in (("arm64", pack_image.pack_arm64, (0x94000000, 0x90000000, 0xf0000000, 0x10000000, 0)),
                                ("riscv64", pack_image.pack_riscv64, (0x6f, 0xef, 0x17, 0x97, 0x13, 1, 0))):
    wrong, changed = [], 0
    for length in [*range(0, 96, 4), 40000]:
        words = (rng.getrandbits(32) & ~0xff | opcode & 0xff if isa == "riscv64" else rng.getrandbits(26) | opcode
                 for opcode in rng.choices(opcodes, k=length // 4))
        code, at = struct.pack(f"<{length // 4}I", *words), rng.randrange(0, PAGE, 4)
        packed = pack_code(code, at)
        wrong += [length] if UNPACK[isa](packed, at) != code or len(packed) != length else []
        changed += packed != code
    tap.ok(not wrong and changed > 15, f"{isa}: random code of 0 to 40000 bytes is restored", wrong)

image = content("virt-arm64", "ingot.raw")
NO_IMAGE = "this is not a linked image of ours"
for what, bad, most, sentence in (
        ("too large a file", image, 100000, "bytes of 100000 allowed (make size shows what grew)"),
        ("no room among the stacks", image[:PACKING + 8] + struct.pack("<I", 4096) + image[PACKING + 12:], 512 << 10,
         "the stacks have room for 4096 (boot/unpack.h)"),
        ("a packed image", content("virt-arm64", "ingot.bin"), 512 << 10, NO_IMAGE),
        ("code that ends behind the file", image[:PACKING + 16] + struct.pack("<I", len(image) + 4) + image[PACKING + 20:], 512 << 10, NO_IMAGE),
        ("code that ends in the head", image[:PACKING + 16] + struct.pack("<I", PACKING) + image[PACKING + 20:], 512 << 10, NO_IMAGE),
        ("a head longer than the file", image[:PACKING + 4] + struct.pack("<I", len(image)) + image[PACKING + 8:],
         512 << 10, NO_IMAGE),
        ("another file", bytes(1000), 512 << 10, NO_IMAGE)):
    status, printed, exists = pack(bad, most)
    tap.ok(status != 0 and sentence in printed and not exists, f"refused: {what}", printed)
tap.done()
