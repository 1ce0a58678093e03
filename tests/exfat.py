#!/usr/bin/env python3
"""Make a disk with an exFAT volume, in a GPT, in an MBR or without a table. It needs
no root, and shares no code with Ingot, which reads the disk. The file is sparse.
fsck.exfat and sgdisk find no fault in its disks (tests/boot/disks.t).

usage: exfat.py OUT [--table gpt|mbr|none] [--block BYTES] [--sector BYTES] [--cluster BYTES] [--pieces]
                [--size MIB | --bytes BYTES] [--start BYTES] [PATH=FILE | PATH=+BYTES]...
--block: the sector size of the disk, which the partition table uses. --sector: the sector size of the volume. --pieces: files are fragmented,
as chains in the FAT. +BYTES: a file of this many zeros, which takes no space on this computer's disk."""
import argparse
import os
import struct
import zlib

BASIC_DATA = bytes.fromhex("a2a0d0ebe5b9334487c068b6b72699c7")
MIB = 1 << 20
END = 0xFFFFFFFF


def up(unit):
    upper = chr(unit).upper() if not 0xD800 <= unit < 0xE000 else ""
    return ord(upper) if len(upper) == 1 and ord(upper) < 0x10000 else unit


def upcase_table():
    """Runs of characters that equal their own upper case are written as (FFFF, count)."""
    out, unit = [], 0
    while unit < 0x10000:
        run = unit
        while run < 0x10000 and up(run) == run and run - unit < 0xFFFF:
            run += 1
        if run - unit > 2:
            out += [0xFFFF, run - unit]
            unit = run
        else:
            out.append(up(unit))
            unit += 1
    return struct.pack("<%dH" % len(out), *out)


def sum32(data, start=0, skip=()):
    for i, byte in enumerate(data):
        if i not in skip:
            start = ((start << 31 | start >> 1) + byte) & 0xFFFFFFFF
    return start


def sum16(data, skip=()):
    total = 0
    for i, byte in enumerate(data):
        if i not in skip:
            total = ((total << 15 | total >> 1) + byte) & 0xFFFF
    return total


def entry_set(name, attributes, cluster, size, contiguous):
    units = name.encode("utf-16-le")
    folded = b"".join(struct.pack("<H", up(u)) for (u,) in struct.iter_unpack("<H", units))
    pieces = [units[i:i + 30] for i in range(0, len(units), 30)]
    stamp = 45 << 25 | 1 << 21 | 1 << 16
    out = struct.pack("<BBHHHIIIBBBBB7s", 0x85, len(pieces) + 1, 0, attributes, 0, stamp, stamp, stamp, 0, 0,
                      0x80, 0x80, 0x80, bytes(7))
    out += struct.pack("<BBBBHHQIIQ", 0xC0, 1 | (2 if contiguous else 0), 0, len(units) // 2, sum16(folded), 0,
                       size, 0, cluster, size)
    for piece in pieces:
        out += b"\xC1\0" + piece.ljust(30, b"\0")
    return out[:2] + struct.pack("<H", sum16(out, (2, 3))) + out[4:]


class Volume:
    def __init__(self, out, start, sectors, sector, cluster):
        self.out, self.start, self.sector, self.cluster, self.sectors = out, start, sector, cluster, sectors
        self.fat_at = 32
        per = cluster // sector
        self.fat_sectors = -(-(sectors // per + 2) * 4 // sector)
        self.heap = -(-(self.fat_at + self.fat_sectors) // per) * per
        self.count = (sectors - self.heap) // per
        self.fat = {0: 0xFFFFFFF8, 1: END}
        self.next, self.used = 2, set()

    def write(self, cluster, data, at=0):
        self.out.seek(self.start + self.heap * self.sector + (cluster - 2) * self.cluster + at)
        self.out.write(data)

    def take(self, size, pieces=False):
        """Allocate clusters for this many bytes; with `pieces` every second cluster stays free."""
        n = max(1, -(-size // self.cluster))
        step = 2 if pieces else 1
        if self.next + n * step > self.count + 2:
            raise SystemExit("exfat.py: the files do not fit: --size")
        got = [self.next + i * step for i in range(n)]
        self.next = got[-1] + 1
        if pieces:  # and the last two clusters change places
            got[-2:] = reversed(got[-2:])
        self.used.update(got)
        return got

    def chain(self, clusters):
        for here, after in zip(clusters, clusters[1:] + [END]):
            self.fat[here] = after

    def put_file(self, source, pieces):
        size = int(source[1:]) if source[0] == "+" else os.path.getsize(source)
        if size == 0:
            return 0, 0, False
        clusters = self.take(size, pieces)
        if pieces:
            self.chain(clusters)
        if source[0] != "+":
            with open(source, "rb") as f:
                for c in clusters:
                    self.write(c, f.read(self.cluster))
        return clusters[0], size, not pieces

    def put_folder(self, tree, pieces, head=b"", chained=False):
        """Write a folder's files and folders, and return the folder's entries."""
        data = head
        for name, value in tree.items():
            if isinstance(value, dict):
                data += entry_set(name, 0x10, *self.put_folder(value, pieces, chained=pieces))
            else:
                data += entry_set(name, 0x20, *self.put_file(value, pieces))
        clusters = self.take(len(data), chained)
        if chained:
            self.chain(clusters)
        data = data.ljust(len(clusters) * self.cluster, b"\0")
        for i, c in enumerate(clusters):
            self.write(c, data[i * self.cluster:(i + 1) * self.cluster])
        return clusters[0], len(data), not chained

    def finish(self, tree, pieces):
        table = upcase_table()
        bitmap_bytes = (self.count + 7) // 8
        bitmap, upcase = self.take(bitmap_bytes), self.take(len(table))
        self.chain(bitmap)
        self.chain(upcase)
        for i, c in enumerate(upcase):
            self.write(c, table[i * self.cluster:(i + 1) * self.cluster])
        head = struct.pack("<BB22s8s", 0x83, 4, "DISK".encode("utf-16-le").ljust(22, b"\0"), bytes(8))
        head += struct.pack("<BB18sIQ", 0x81, 0, bytes(18), bitmap[0], bitmap_bytes)
        head += struct.pack("<BB2sI12sIQ", 0x82, 0, bytes(2), sum32(table), bytes(12), upcase[0], len(table))
        root, _, _ = self.put_folder(tree, pieces, head, chained=True)
        bits = bytearray(bitmap_bytes)
        for c in self.used:
            bits[(c - 2) // 8] |= 1 << (c - 2) % 8
        for i, c in enumerate(bitmap):
            self.write(c, bytes(bits[i * self.cluster:(i + 1) * self.cluster]))
        for c, value in self.fat.items():
            self.out.seek(self.start + self.fat_at * self.sector + c * 4)
            self.out.write(struct.pack("<I", value))
        self.put_boot(root)

    def put_boot(self, root):
        shift = self.sector.bit_length() - 1
        boot = struct.pack("<3s8s53sQQIIIIIIHHBBBBB7s", b"\xEB\x76\x90", b"EXFAT   ", bytes(53),
                           self.start // self.sector, self.sectors, self.fat_at, self.fat_sectors, self.heap,
                           self.count, root, 0x1234ABCD, 0x0100, 0, shift,
                           (self.cluster // self.sector).bit_length() - 1, 1, 0x80, 0xFF, bytes(7))
        boot = boot.ljust(510, b"\xF4") + b"\x55\xAA"
        boot = boot.ljust(self.sector, b"\0")
        boot += (bytes(self.sector - 4) + b"\0\0\x55\xAA") * 8 + bytes(2 * self.sector)
        boot += struct.pack("<I", sum32(boot, 0, (106, 107, 112))) * (self.sector // 4)
        self.out.seek(self.start)
        self.out.write(boot * 2)


def put_gpt(out, size, block, start, end):
    lbas = size // block
    table_blocks = -(-128 * 128 // block)
    entry = BASIC_DATA + bytes(range(16)) + struct.pack("<QQQ", start // block, end // block - 1, 0)
    entry += "models".encode("utf-16-le").ljust(72, b"\0")
    table = entry.ljust(128 * 128, b"\0")
    for mine, other, entries in ((1, lbas - 1, 2), (lbas - 1, 1, lbas - 1 - table_blocks)):
        def header(crc):
            return struct.pack("<8sIIIIQQQQ16sQIII", b"EFI PART", 0x10000, 92, crc, 0, mine, other,
                               2 + table_blocks, lbas - 2 - table_blocks, bytes(range(16, 32)), entries, 128, 128,
                               zlib.crc32(table))
        out.seek(mine * block)
        out.write(header(zlib.crc32(header(0))))
        out.seek(entries * block)
        out.write(table)
    put_mbr(out, 0xEE, 1, min(lbas - 1, 0xFFFFFFFF))


def put_mbr(out, kind, start, n):
    out.seek(446)
    out.write(struct.pack("<B3sB3sII", 0, b"\0\2\0", kind, b"\xFF\xFF\xFF", start, n))
    out.seek(510)
    out.write(b"\x55\xAA")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--table", choices=("gpt", "mbr", "none"), default="gpt")
    parser.add_argument("--block", type=int, default=512)
    parser.add_argument("--sector", type=int)
    parser.add_argument("--cluster", type=int, default=4096)
    parser.add_argument("--pieces", action="store_true")
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--bytes", type=int)
    parser.add_argument("--start", type=int)
    a = parser.parse_intermixed_args()
    size = a.bytes or a.size * MIB
    sector = a.sector or a.block
    start = (a.start or MIB) if a.table != "none" else 0
    end = size - (33 * (a.block if a.bytes else 4096) if a.table == "gpt" else 0)
    tree = {}
    for item in a.files:
        path, source = item.split("=", 1)
        folder = tree
        *parts, name = path.split("/")
        for part in parts:
            folder = folder.setdefault(part, {})
        folder[name] = source
    with open(a.out, "wb") as out:
        out.truncate(size)
        Volume(out, start, (end - start) // sector, sector, a.cluster).finish(tree, a.pieces)
        if a.table == "gpt":
            put_gpt(out, size, a.block, start, end)
        elif a.table == "mbr":
            put_mbr(out, 0x07, start // a.block, (end - start) // a.block)


if __name__ == "__main__":
    main()
