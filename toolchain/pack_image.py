#!/usr/bin/python3
"""Pack an image: the head stays unchanged. In the code after it, distances become offsets (boot/unpack_code.h); then the rest
becomes LZMA. The head unpacks it (boot/<isa>/unpack.S, boot/unpack_lzma.c, boot/<isa>/unpack_code.c).

usage: pack_image.py LINKED.raw PACKED.bin MOST_BYTES

Offset 64 of the head (boot/asm.h, `packing`) gives the head's length, the available space, and the end of the code."""

import lzma
import os
import struct
import sys

PACKING = 64


def pack_arm64(code, at):
    """BL and ADRP in code, whose first byte has the offset `at` in the image."""
    words = list(struct.unpack(f"<{len(code) // 4}I", code))
    for i, word in enumerate(words):
        offset = at + 4 * i
        if word >> 26 == 0x25:
            words[i] = 0x25 << 26 | (word + offset // 4) & 0x3ffffff
        elif word & 0x9f000000 == 0x90000000:
            pages = (word >> 29 & 3 | word >> 3 & 0x1ffffc) + (offset >> 12)
            words[i] = word & 0x9f00001f | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5
    return struct.pack(f"<{len(words)}I", *words)


def pack_jal(word, offset):
    distance = word & 0xff000 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3ff) << 1 | (word >> 31) << 20
    half = (distance + offset) % (1 << 21) // 2
    return word & 0xfff | half >> 16 << 12 | (half >> 8 & 0xff) << 16 | (half & 0xff) << 24


def pack_riscv64(code, at):
    """JAL, and AUIPC with the 4 bytes after it. The steps from one instruction to the next are those of the unpacker, so whatever
    stands between instructions is restored."""
    packed, i = bytearray(code), 0
    while i + 8 <= len(packed):
        word, second = struct.unpack_from("<II", packed, i)
        step = 4 if word & 3 == 3 else 2
        if word & 0x7f == 0x6f:
            struct.pack_into("<I", packed, i, pack_jal(word, at + i))
        elif word & 0x7f == 0x17:
            low = second >> 20
            target = (word & ~0xfff) + low - (low & 0x800) * 2 + at + i
            struct.pack_into("<I", packed, i, word & 0xfff | (second & 0xfffff) << 12)
            struct.pack_into(">I", packed, i + 4, target % (1 << 32))
            step = 8
        i += step
    return bytes(packed)


# For each ISA: the bits of a byte's address that choose a model (boot/unpack_lzma.h), and how code is packed.
MAGIC = {b"LZM2": (1, pack_riscv64), b"LZM4": (2, pack_arm64)}


def lzma_block(data, bits):
    """LZMA without a header and with an end mark, as boot/unpack_lzma.h expects it."""
    return lzma.compress(data, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 21,
                                                          "mf": lzma.MF_BT2, "lc": 0, "lp": bits, "pb": bits}])


def pack(image):
    packed, head, room, magic, code = struct.unpack_from("<III4sI", image, PACKING)
    if magic not in MAGIC or packed != 0 or not PACKING < head < code <= len(image):
        sys.exit("pack_image: this is not a linked image of ours")
    bits, pack_code = MAGIC[magic]
    block = lzma_block(pack_code(image[head:code], head) + image[code:], bits)
    if len(block) > room:
        sys.exit(f"pack_image: {len(block)} bytes packed, and the stacks have room for {room} (boot/unpack.h)")
    return image[:PACKING] + struct.pack("<I", len(block)) + image[PACKING + 4:head] + block


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    linked, to, most = sys.argv[1], sys.argv[2], int(sys.argv[3], 0)
    with open(linked, "rb") as f:
        image = pack(f.read())
    if len(image) > most:
        sys.exit(f"pack_image: {to} would have {len(image)} bytes of {most} allowed (make size shows what grew)")
    with open(to + ".part", "wb") as f:
        f.write(image)
    os.replace(to + ".part", to)


if __name__ == "__main__":
    main()
