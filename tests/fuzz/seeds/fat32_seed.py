#!/usr/bin/env python3
"""Write a seed for fat32_fuzz: a FAT32 volume after an MBR, 48 sectors in all, so that most mutations hit relevant bytes. usage: fat32_seed.py OUT"""
import struct
import sys

SECTOR, START, RESERVED, CLUSTERS = 512, 1, 2, 44
END = 0x0FFFFFFF


def mbr(sectors):
    entry = struct.pack("<B3sB3sII", 0, b"\xfe\xff\xff", 0x0C, b"\xfe\xff\xff", START, sectors)
    return bytes(446) + entry + bytes(48) + b"\x55\xaa"


def boot_sector(sectors):
    bpb = struct.pack("<3s8sHBHBHHBHHHIIIHHIHH12s", b"\xeb\x58\x90", b"SEED    ", SECTOR, 1,
                      RESERVED, 1, 0, 0, 0xF8, 0, 0, 0, START, sectors, 1, 0, 0, 2, 1, 0, bytes(12))
    return bpb.ljust(510, b"\0") + b"\x55\xaa"


def short_entry(name, attributes, cluster, size):
    return struct.pack("<11sBBBHHHHHHHI", name, attributes, 0, 0, 0, 0, 0, cluster >> 16, 0, 0,
                       cluster & 0xFFFF, size)


def long_entries(text, name):
    checksum = 0
    for byte in name:
        checksum = ((checksum << 7 | checksum >> 1) + byte) & 0xFF
    units = text.encode("utf-16-le") + b"\0\0"
    units += b"\xff" * (-len(units) % 26)
    pieces = [units[i:i + 26] for i in range(0, len(units), 26)]
    out = b""
    for number in range(len(pieces), 0, -1):
        p = pieces[number - 1]
        last = 0x40 if number == len(pieces) else 0
        out += bytes([number | last]) + p[:10] + b"\x0f\0" + bytes([checksum]) + p[10:22]
        out += b"\0\0" + p[22:]
    return out


def main():
    # Cluster 2: the root; 3 and 8: models; 4 to 7: one file; 10, 12, 11, 20: another, in pieces.
    chains = [[2], [3, 8], [4, 5, 6, 7], [10, 12, 11, 20]]
    fat = [0x0FFFFFF8, END] + [0] * 126
    for chain in chains:
        for here, after in zip(chain, chain[1:] + [END]):
            fat[here] = after
    clusters = [bytes([n]) * SECTOR for n in range(CLUSTERS)]
    root = short_entry(b"SEED       ", 8, 0, 0) + short_entry(b"MODELS     ", 16, 3, 0)
    big = b"GRE~1   ING"
    models = short_entry(b".          ", 16, 3, 0) + short_entry(b"..         ", 16, 0, 0)
    models += short_entry(b"\xe5LD     ING", 32, 0, 0) * 10
    models += long_entries("small.ingot", b"SMALL~1 ING") + short_entry(b"SMALL~1 ING", 32, 4, 1999)
    models += long_entries("Größe 模型 with a long name.ingot", big) + short_entry(big, 32, 10, 2048)
    models = models.ljust(2 * SECTOR, b"\0")
    clusters[0] = root.ljust(SECTOR, b"\0")
    clusters[1], clusters[6] = models[:SECTOR], models[SECTOR:]
    volume = boot_sector(RESERVED + 1 + CLUSTERS) + bytes(SECTOR)
    volume += struct.pack("<128I", *fat) + b"".join(clusters)
    with open(sys.argv[1], "wb") as f:
        f.write(mbr(len(volume) // SECTOR) + volume)


main()
