#!/usr/bin/python3
"""Pack an image: the head stays unchanged, and the rest becomes LZMA, which the head unpacks (boot/<isa>/unpack.S,
boot/unpack_lzma.c).

usage: pack_image.py LINKED.raw PACKED.bin MOST_BYTES

Offset 64 of the head (boot/asm.h, `packing`) gives the head's length, the available space, and the range that it
unpacks."""

import lzma
import os
import struct
import sys

PACKING = 64
MAGIC = {b"LZM2": 1, b"LZM4": 2}  # bits of a byte's address that choose a model (boot/unpack_lzma.h)


def lzma_block(data, bits):
    """LZMA without a header and with an end mark, as boot/unpack_lzma.h expects it."""
    return lzma.compress(data, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 21,
                                                          "mf": lzma.MF_BT2, "lc": 0, "lp": bits, "pb": bits}])


def pack(image):
    packed, head, room, magic = struct.unpack_from("<III4s", image, PACKING)
    if magic not in MAGIC or packed != 0 or not PACKING < head < len(image):
        sys.exit("pack_image: this is not a linked image of ours")
    block = lzma_block(image[head:], MAGIC[magic])
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
