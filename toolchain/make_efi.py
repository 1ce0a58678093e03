#!/usr/bin/python3
"""Make a PE32+ program for EFI from a linked ELF file: NAME.elf becomes NAME.efi; the ELF file loses the parts that only this step needs.

usage: make_efi.py CROSS_COMPILE NAME.elf

The ELF file is linked with --emit-relocs by linker/efi.ld.S: its sections are .text, .rodata, and .data, followed by .bss and .stacks. Each
section becomes one of the PE file, with its own rights, on its own pages, for firmware that maps code read-only and data non-executable.
64-bit absolute addresses become base relocations; any other kind of absolute address is an error. Source: Microsoft, PE Format; UEFI 2.10,
2.1.1."""

import os
import struct
import subprocess
import sys

PAGE, FILE_ALIGN, HEADERS = 0x1000, 0x200, 0x400
MACHINES = {183: 0xaa64, 243: 0x5064, 62: 0x8664}
# Relocations by machine: 64-bit absolute addresses, and kinds that do not change when the whole image moves. A kind in neither list is an absolute
# address that cannot be moved.
ABSOLUTE = {183: {257}, 243: {2}, 62: {1}}
RELATIVE = {
    183: {0, *range(260, 313), 315},  # PREL, ADR, LO12, branches and similar kinds, relative to the page or the PC
    243: {0, *range(16, 26), *range(28, 32), *range(33, 41), 43, 44, 45, *range(51, 61)},
    62: {0, 2, 4, 24},
}
# An instruction that reads an absolute address from a table of the linker (x86-64: GOTPCREL, GOTPCRELX, REX_GOTPCRELX).
# The linker lists the instruction, not the entry of the table, which moves with the image.
TABLED = {183: set(), 243: set(), 62: {9, 41, 42}}
NOBITS, RELA, ALLOC, WRITE, EXECUTE = 8, 4, 2, 1, 4


class Elf:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        header = struct.unpack_from("<16sHHIQQQIHHHHHH", self.data)
        self.machine, self.entry, at, n, names = header[2], header[4], header[6], header[12], header[13]
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + 64 * i) for i in range(n)]
        strings = self.sections[names][4]
        self.names = [self.data[strings + s[0]:self.data.index(b"\0", strings + s[0])].decode() for s in self.sections]

    def bytes_of(self, section):
        return b"" if section[1] == NOBITS else self.data[section[4]:section[4] + section[5]]

    def symbol(self, wanted):
        for section in self.sections:
            if section[1] != 2:
                continue
            strings = self.sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], 24):
                name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self.data, at)
                end = self.data.index(b"\0", strings + name)
                if self.data[strings + name:end].decode() == wanted:
                    return value
        sys.exit(f"make_efi: the file has no symbol {wanted}")

    def moved(self):
        """Addresses of the 64-bit values that move with the image."""
        found = set()
        for section in self.sections:
            if section[1] != RELA or not self.sections[section[7]][2] & ALLOC:
                continue
            for at in range(section[4], section[4] + section[5], 24):
                where, info, addend = struct.unpack_from("<QQq", self.data, at)
                kind = info & 0xffffffff
                if kind in ABSOLUTE[self.machine]:
                    if self.is_address(section, info >> 32):
                        found.add(where)
                elif kind in TABLED[self.machine]:
                    if self.is_address(section, info >> 32):
                        found.add(self.entry_of(self.sections[section[7]], where))
                elif kind not in RELATIVE[self.machine]:
                    sys.exit(f"make_efi: at {where:#x} there is a relocation of kind {kind}, which a program that can be loaded anywhere cannot have")
        return found

    def entry_of(self, section, where):
        """The table entry that the instruction reads: 32 bits relative to the instruction's end, which is 4 bytes further."""
        return where + 4 + struct.unpack_from("<i", self.data, section[4] + where - section[3])[0]

    def is_address(self, section, symbol):
        """True if the symbol is an address in the image, and not a number or an undefined weak name."""
        table = self.sections[section[6]]
        _, _, _, where, _, _ = struct.unpack_from("<IBBHQQ", self.data, table[4] + 24 * symbol)
        return where not in (0, 0xfff1)


def up(value, to):
    return (value + to - 1) // to * to


def gather(elf, base):
    """[name, address from base, bytes, size in memory, characteristics] of .text, .rodata and .data."""
    rows = [[b".text", 0, b"", 0, 0x60000020], [b".rodata", 0, b"", 0, 0x40000040], [b".data", 0, b"", 0, 0xc0000040]]
    for section, name in zip(elf.sections, elf.names):
        _, kind, flags, address, _, size = section[:6]
        if not flags & ALLOC or size == 0 or kind == RELA:
            continue
        row = rows[0 if flags & EXECUTE else 2 if flags & WRITE or kind == NOBITS else 1]
        if row[3] == 0:
            row[1] = address - base
        row[3] = address - base + size - row[1]
        if kind != NOBITS:
            row[2] = row[2].ljust(address - base - row[1], b"\0") + elf.bytes_of(section)
    return [row for row in rows if row[3]]


def blocks(addresses, base):
    """The .reloc section: a block of 16-bit words for each page; DIR64 is 10."""
    pages = {}
    for address in sorted(addresses):
        pages.setdefault((address - base) // PAGE, []).append(10 << 12 | (address - base) % PAGE)
    out = b""
    for page, words in pages.items():
        words += [0] * (len(words) % 2)
        out += struct.pack(f"<II{len(words)}H", page * PAGE, 8 + 2 * len(words), *words)
    return out or struct.pack("<IIHH", 0, 12, 0, 0)


def make(elf):
    base = elf.symbol("image_start")
    rows = gather(elf, base)
    reloc = blocks(elf.moved(), base)
    rows.append([b".reloc", up(rows[-1][1] + rows[-1][3], PAGE), reloc, len(reloc), 0x42000040])
    total = up(rows[-1][1] + rows[-1][3], PAGE)
    table, at, body = b"", HEADERS, b""
    for name, address, data, size, rights in rows:
        data = data.ljust(up(len(data), FILE_ALIGN), b"\0")
        table += struct.pack("<8sIIIIIIHHI", name, size, address, len(data), at, 0, 0, 0, 0, rights)
        body += data
        at += len(data)
    code, initialized = rows[0], sum(len(row[2]) for row in rows[1:])
    optional = struct.pack("<HBBIIIIIQIIHHHHHHIIIIHHQQQQII", 0x20b, 0, 0, len(code[2]), initialized, 0,
                           elf.entry - base, code[1], base, PAGE, FILE_ALIGN, 0, 0, 1, 0, 1, 0, 0, total, HEADERS, 0,
                           10, 0x140, 0, 0, 0, 0, 0, 16)
    directories = b"".join(struct.pack("<II", *((rows[-1][1], len(reloc)) if i == 5 else (0, 0))) for i in range(16))
    coff = struct.pack("<HHIIIHH", MACHINES[elf.machine], len(rows), 0, 0, 0, len(optional) + len(directories), 0x22e)
    stub = b"MZ".ljust(0x3c, b"\0") + struct.pack("<I", 0x40)
    return (stub + b"PE\0\0" + coff + optional + directories + table).ljust(HEADERS, b"\0") + body


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    cross, path = sys.argv[1:]
    image = make(Elf(path))
    with open(os.path.splitext(path)[0] + ".efi", "wb") as f:
        f.write(image)
    # Remove labels that the linker kept for relocations, because other tools would take them for functions.
    for goes in (["--remove-relocations=.*"], ["-w", "-N", ".L*"]):
        subprocess.run([cross + "objcopy", *goes, path], check=True)


main()
