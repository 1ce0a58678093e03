#!/usr/bin/python3
"""Work around a Cortex-A53's fault at the end of a page (erratum 843419), which ld 2.40 leaves in some places: its veneers for other errata move
later code by 4 bytes after ld has checked it. As in ld, an ADRP in the last two words of a page becomes an ADR with the same address. If an ADR
does not reach the address, the load or store that uses the ADRP's page moves to a veneer (image.ld.S has a few), and a jump there takes its place.

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
    """(ADRP, user) for each ADRP that may fail: its (address, word), and that of the first load or store that uses its page. code: the words of
    all instructions, in order."""
    for (at, word), (_, second), *two in zip(code, code[1:], code[2:], code[3:]):
        users = [u for u in two if uses_page(u[1], word & 31)]
        if at & 0xfff in (0xff8, 0xffc) and word >> 31 and word >> 24 & 31 == 16 and is_load_or_store(second) and users:
            yield (at, word), users[0]


def adr(at, adrp):
    """The ADR with the same result as an ADRP at this address; None if the page is too far away."""
    pages = (adrp >> 5 & 0x7ffff) << 2 | adrp >> 29 & 3
    pages -= (pages >> 20 & 1) << 21
    by = (at & ~0xfff) + (pages << 12) - at
    if not -REACH <= by < REACH:
        return None
    return 0x10000000 | (by & 3) << 29 | (by >> 2 & 0x7ffff) << 5 | adrp & 31


def jump(at, to):
    """The B from one address to another."""
    return 0x14000000 | (to - at) >> 2 & 0x3ffffff


def mend(adrp, user, veneers):
    """{address: word} of the words that take the place of those that fail. veneers: addresses of unused ones, of which the first may be taken."""
    near = adr(*adrp)
    if near is not None:
        return {adrp[0]: near}
    if not veneers:
        sys.exit(f"a53_pages.py: no veneer is left for {adrp[0]:#x}: image.ld.S needs more")
    at, word = user
    veneer = veneers.pop(0)
    return {at: jump(at, veneer), veneer: word, veneer + 4: jump(veneer + 4, at + 4)}


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
    code = [(int(a, 16), int(w, 16)) for a, w in re.findall(r"^\s*([0-9a-f]+):\s+([0-9a-f]{8})\s", text, re.M)]
    names = subprocess.run([cross + "nm", path], check=True, capture_output=True, text=True).stdout
    veneers = sorted(int(a, 16) for a in re.findall(r"^([0-9a-f]+) \w a53_veneer_\d+$", names, re.M))
    with open(path, "r+b") as f:
        elf = f.read()
        for adrp, user in wrong_pages(code):
            for at, word in mend(adrp, user, veneers).items():
                f.seek(file_offset(elf, at))
                f.write(struct.pack("<I", word))
            print(f"  A53     {path}: ADRP at {adrp[0]:#x} mended")


if __name__ == "__main__":
    main()
