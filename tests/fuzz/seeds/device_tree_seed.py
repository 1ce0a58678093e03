#!/usr/bin/env python3
"""Write a seed for device_tree_fuzz: a small tree with everything that the reader looks for.
usage: device_tree_seed.py OUT"""
import struct
import sys

strings = b""


def pad(data):
    return data + b"\0" * (-len(data) % 4)


def prop(name, value):
    global strings
    if isinstance(value, int):
        value = [value]
    if isinstance(value, list):
        value = b"".join(struct.pack(">I", v) for v in value)
    at = len(strings)
    strings += name.encode() + b"\0"
    return struct.pack(">III", 3, len(value), at) + pad(value)


def node(name, *inside):
    return struct.pack(">I", 1) + pad(name.encode() + b"\0") + b"".join(inside) + struct.pack(">I", 2)


def cpu(i):
    return node(f"cpu@{i}", prop("device_type", b"cpu\0"), prop("reg", i), prop("status", b"okay\0"),
                prop("riscv,isa-extensions", b"i\0m\0v\0"))


tree = node(
    "", prop("#address-cells", 2), prop("#size-cells", 2),
    node("aliases", prop("serial0", b"/soc/serial@0\0")),
    node("chosen", prop("bootargs", b"n=32\0"), prop("stdout-path", b"serial0:115200\0"),
         prop("linux,initrd-start", 0x48000000), prop("linux,initrd-end", [0, 0x48100000])),
    node("memory@40000000", prop("device_type", b"memory\0"), prop("reg", [0, 1 << 30, 0, 1 << 28])),
    node("cpus", prop("#address-cells", 1), prop("#size-cells", 0),
         prop("timebase-frequency", 10000000), cpu(0), cpu(3)),
    node("soc", prop("#address-cells", 1), prop("#size-cells", 1),
         prop("ranges", [0x7e000000, 0, 0xfe000000, 0x1000000]),
         node("serial@0", prop("compatible", b"x\0arm,pl011\0"), prop("reg", [0x7e201000, 0x200]))),
) + struct.pack(">I", 9)
reservations = struct.pack(">QQQQ", 0x80000000, 0x1000, 0, 0)
structure_at = 40 + len(reservations)
strings_at = structure_at + len(tree)
total = strings_at + len(strings)
header = struct.pack(">10I", 0xd00dfeed, total, structure_at, strings_at, 40, 17, 16, 0,
                     len(strings), len(tree))
open(sys.argv[1], "wb").write(header + reservations + tree + strings)
