#!/usr/bin/python3
"""Pack an image: its head as it is, the rest in LZ4, or in LZMA if it has a network, which the head unpacks (boot/<isa>/unpack.S).

usage: pack_image.py LINKED.raw PACKED.bin MOST_BYTES

The head says at offset 64 (boot/asm.h, `packing`) how long it is, how much room there is, and which of the two it unpacks."""

import lzma
import os
import struct
import subprocess
import sys

PACKING = 64
LEGACY_MAGIC = 0x184C2102  # of the lz4 program's simplest frame: magic, bytes of a block, the block
LEGACY_BLOCK = 8 << 20


def lz4_block(data):
    """The one block of `data`, as small as the lz4 program makes it."""
    if len(data) > LEGACY_BLOCK:
        sys.exit(f"pack_image: {len(data)} bytes are more than one block of LZ4 takes")
    frame = subprocess.run(["lz4", "-l", "-12", "-c", "-q", "-"], input=data, check=True, stdout=subprocess.PIPE).stdout
    magic, size = struct.unpack_from("<II", frame)
    if magic != LEGACY_MAGIC or len(frame) != 8 + size:
        sys.exit("pack_image: lz4 -l has not written one block")
    return frame[8:]


def lzma_block(data):
    """LZMA without a header and with a mark at its end, as boot/unpack_lzma.h has it."""
    return lzma.compress(data, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 21,
                                                          "lc": 0, "lp": 2, "pb": 2}])


PACKERS = {b"LZ4B": lz4_block, b"LZMA": lzma_block}


def pack(image):
    packed, head, room, magic = struct.unpack_from("<III4s", image, PACKING)
    if magic not in PACKERS or packed != 0 or not PACKING < head < len(image):
        sys.exit("pack_image: this is not a linked image of ours")
    block = PACKERS[magic](image[head:])
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
