#!/usr/bin/env python3
"""Write seeds for usb_storage_fuzz: a drive that answers correctly, a drive that reaches beyond sector 2^32, each fault in a read, and drives that
answer one of the first commands with bytes of the input. usage: usb_storage_seed.py OUT"""
import struct
import sys

OWN, REFUSED = 0x10, 0x20
OPENING = ["inquiry", "ready", "capacity", "mode"]
FAR_OPENING = ["inquiry", "ready", "capacity", "long capacity", "mode"]
ANSWERS = {
    "inquiry": bytes([0, 0x80, 6, 2, 31]) + bytes(31),
    "capacity": struct.pack(">II", 127, 512),
    "long capacity": struct.pack(">QI", 0x100000000 + 63, 512) + bytes(20),
    "mode": bytes([3, 0, 0x80, 0]),
}
NO_MEDIUM = bytes([0x70, 0, 2, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x3a]) + bytes(5)


def write(name, data):
    with open(sys.argv[1] + name, "wb") as f:
        f.write(data)


def requests(fault):
    return b"".join(bytes([n, 9 * n, n == 3]) for n in range(5)) + bytes([fault]) + bytes(40)


write("", bytes(5) + requests(0) + requests(0))
write("-far", bytes([3]) + bytes(5) + requests(0))
for fault in range(1, 12):
    write(f"-fault{fault}", bytes(5) + requests(fault))
for far, names in ((0, OPENING), (3, FAR_OPENING)):
    for name in names:
        moods = b"".join(bytes([OWN]) + ANSWERS[n] if n == name and n in ANSWERS else bytes(1) for n in names)
        write(f"-own-{far}-{name.replace(' ', '-')}", bytes([far]) + moods + requests(0))
write("-none", bytes([0, 0, REFUSED, OWN]) + NO_MEDIUM)
write("-units", bytes([4, 1]))
