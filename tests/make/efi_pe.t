#!/usr/bin/python3
"""The EFI programs run on firmware that maps code read-only and data non-executable: the header says, as such firmware requires, that the
program supports this, and a loader as strict as possible finds nothing that would fault."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from efi import PROGRAMS
from machine import BUILD, Tap

PAGE = 4096
MACHINES = {"efi-arm64": 0xaa64, "efi-riscv64": 0x5064, "efi-x86_64": 0x8664}
NX_COMPAT, DYNAMIC_BASE = 0x100, 0x40            # DllCharacteristics
EXECUTE, READ, WRITE = 1 << 29, 1 << 30, 1 << 31  # characteristics of a section
WANT = {".text": READ | EXECUTE, ".rodata": READ, ".data": READ | WRITE, ".reloc": READ}
SUBSYSTEM, PE32_PLUS, DIR64 = 10, 0x20b, 10
SOMEWHERE = 0x7654321000


class Pe:
    """The header according to UEFI 2.10, 2.1.1 and Microsoft's PE Format."""

    def __init__(self, data):
        self.data = data
        at = struct.unpack_from("<I", data, 0x3c)[0]
        self.signature = data[:2] + data[at:at + 4]
        self.machine, n, _, _, _, optional, self.flags = struct.unpack_from("<HHIIIHH", data, at + 4)
        o = at + 24
        self.magic, self.entry, self.base = (struct.unpack_from(f, data, o + i)[0] for f, i in (("<H", 0), ("<I", 16), ("<Q", 24)))
        self.align, self.file_align = struct.unpack_from("<II", data, o + 32)
        self.size, self.headers = struct.unpack_from("<II", data, o + 56)
        self.subsystem, self.dll = struct.unpack_from("<HH", data, o + 68)
        self.reloc = struct.unpack_from("<II", data, o + 112 + 8 * 5)
        self.sections = [self.section(o + optional + 40 * i) for i in range(n)]

    def section(self, at):
        name, size, address, raw, start = struct.unpack_from("<8sIIII", self.data, at)
        return name.rstrip(b"\0").decode(), address, size, start, raw, struct.unpack_from("<I", self.data, at + 36)[0]

    def rights(self):
        return {name: flags & (READ | WRITE | EXECUTE) for name, _, _, _, _, flags in self.sections}


class Loader:
    """Memory as pages, each with the rights of its section; a page outside all sections has no rights."""

    def __init__(self, pe):
        self.pe, self.memory, self.pages, self.faults = pe, bytearray(pe.size), {}, []
        for name, address, size, start, raw, flags in pe.sections:
            self.memory[address:address + min(raw, size)] = pe.data[start:start + min(raw, size)]
            for page in range(address // PAGE, (address + size + PAGE - 1) // PAGE):
                if page in self.pages:
                    self.faults.append(f"page {page:#x} is in two sections")
                self.pages[page] = flags

    def relocate(self, base):
        """Apply .reloc; returns the number of values that moved."""
        at, end, n = self.pe.reloc[0], sum(self.pe.reloc), 0
        while at < end:
            page, size = struct.unpack_from("<II", self.memory, at)
            for i in range(8, size, 2):
                word = struct.unpack_from("<H", self.memory, at + i)[0]
                if word >> 12 == DIR64:
                    self.move(page + (word & 0xfff), base)
                    n += 1
                elif word >> 12:
                    self.faults.append(f"a relocation of kind {word >> 12}")
            at += size
        return n

    def move(self, at, base):
        value = struct.unpack_from("<Q", self.memory, at)[0]
        if self.pages.get(at // PAGE, EXECUTE) & EXECUTE:
            self.faults.append(f"{at:#x} is code, and is to be written")
        if not self.pe.base <= value <= self.pe.base + self.pe.size:
            self.faults.append(f"{at:#x} does not point into the image")
        # Add as a loader does, modulo 2^64, because the value may be any number if the place contains code.
        struct.pack_into("<Q", self.memory, at, (value - self.pe.base + base) % (1 << 64))

    def runs(self, at):
        return self.pages.get(at // PAGE, 0) & (READ | EXECUTE | WRITE) == READ | EXECUTE


def look(tap, board, data):
    pe = Pe(data)
    tap.ok(pe.signature == b"MZPE\0\0" and pe.magic == PE32_PLUS and pe.machine == MACHINES[board] and pe.subsystem == SUBSYSTEM,
           f"{board}: a PE32+ program for EFI of its machine", vars(pe).keys())
    tap.ok(pe.dll & NX_COMPAT and pe.dll & DYNAMIC_BASE, f"{board}: NX_COMPAT and DYNAMIC_BASE are set", hex(pe.dll))
    tap.ok(pe.align == PAGE and all(address % PAGE == 0 for _, address, *_ in pe.sections) and pe.size % PAGE == 0,
           f"{board}: each section has its own pages", pe.sections)
    tap.ok(pe.rights() == WANT, f"{board}: code is not writable, data not executable", pe.rights())
    loader = Loader(pe)
    n = loader.relocate(SOMEWHERE)
    tap.ok(n > 0 and not loader.faults, f"{board}: a strict loader moves {n} addresses, none of them in code", loader.faults[:5])
    tap.ok(loader.runs(pe.entry), f"{board}: the entry lies in code", hex(pe.entry))


def broken(data, at, value):
    return data[:at] + struct.pack("<I", value) + data[at + 4:]


tap = Tap()
for board in sorted(PROGRAMS):
    path = os.path.join(BUILD, board, "ingot.bin")
    if not os.path.exists(path):
        tap.skip(board, f"{path} is not there: make image BOARD={board}")
        continue
    with open(path, "rb") as f:
        image = f.read()
    look(tap, board, image)
    # The loader detects what a strict firmware would: a relocation in code.
    found = Pe(image)
    start = next(s[3] for s in found.sections if s[0] == ".reloc")
    strict = Loader(Pe(broken(image, start, found.entry // PAGE * PAGE)))
    strict.relocate(SOMEWHERE)
    tap.ok(any("is code" in fault for fault in strict.faults), f"{board}: the strict loader detects a relocation in code", strict.faults[:3])
tap.done()
