#!/usr/bin/python3
"""Work around a Cortex-A53's fault at the end of a page (erratum 843419), which ld 2.40 leaves in some places: its veneers for other errata move
later code by 4 bytes after ld has checked it. An ADRP in the last two words of a page becomes an ADR with the same address, as ld would make it.

usage: a53_pages.py CROSS_COMPILE ELF"""

import re
import struct
import subprocess
import sys

REACH = 1 << 20  # bytes that ADR reaches, forwards and backwards


def is_load_or_store(word):
    return word >> 27 & 1 and not word >> 25 & 1


def uses_page(word, register):
    """True for a load or store with an unsigned offset from this register."""
    return word >> 24 & 0x3b == 0x39 and word >> 5 & 31 == register


def wrong_pages(code):
    """(address, word) of each ADRP that may fail; code: the words of all instructions, in order."""
    for (at, word), (_, second), *two in zip(code, code[1:], code[2:], code[3:]):
        if (at & 0xfff in (0xff8, 0xffc) and word >> 31 and word >> 24 & 31 == 16 and
                is_load_or_store(second) and any(uses_page(w, word & 31) for _, w in two)):
            yield at, word


def adr(at, adrp):
    """The ADR with the same result as an ADRP at this address; None if the page is too far away."""
    pages = (adrp >> 5 & 0x7ffff) << 2 | adrp >> 29 & 3
    pages -= (pages >> 20 & 1) << 21
    by = (at & ~0xfff) + (pages << 12) - at
    if not -REACH <= by < REACH:
        return None
    return 0x10000000 | (by & 3) << 29 | (by >> 2 & 0x7ffff) << 5 | adrp & 31


def file_offset(elf, address):
    """The file offset of this address, by the program headers of a 64-bit ELF."""
    start, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<2H", elf, 54)
    for i in range(count):
        kind, _, offset, begin, _, length = struct.unpack_from("<2I4Q", elf, start + i * size)
        if kind == 1 and begin <= address < begin + length:
            return offset + address - begin
    sys.exit(f"a53_pages.py: no part of the file has address {address:#x}")


def main():
    cross, path = sys.argv[1:]
    text = subprocess.run([cross + "objdump", "-d", path], check=True, capture_output=True, text=True).stdout
    code = [(int(a, 16), int(w, 16)) for a, w in
            re.findall(r"^\s*([0-9a-f]+):\s+([0-9a-f]{8})\s", text, re.M)]
    with open(path, "r+b") as f:
        elf = f.read()
        for at, word in wrong_pages(code):
            mended = adr(at, word)
            if mended is None:
                sys.exit(f"a53_pages.py: {at:#x} reaches further than ADR can: move the code before it by 8 bytes")
            f.seek(file_offset(elf, at))
            f.write(struct.pack("<I", mended))
            print(f"  A53     {path}: ADRP at {at:#x} made an ADR")


main()
