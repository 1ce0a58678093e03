#!/usr/bin/env python3
"""Write seeds for transfer_fuzz: whole transfers of a small file, in frames and by YMODEM. usage: transfer_seed.py OUT"""
import struct
import sys

TABLE = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
    TABLE.append(i)


def crc32c(data):
    value = 0xffffffff
    for byte in data:
        value = value >> 8 ^ TABLE[(value ^ byte) & 255]
    return value ^ 0xffffffff


def frame(kind, number, data=b""):
    body = kind + struct.pack("<Q", number) + data
    body += struct.pack("<I", crc32c(body))
    return b"~" + b"".join(bytes([0x7d, b ^ 0x20]) if b in b"\x7d\x7e\x03\x11\x13" else bytes([b]) for b in body) + b"~"


def crc16(data):
    value = 0
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ (0x1021 if value & 0x8000 else 0)) & 0xffff
    return value


def block(number, data):
    return (b"\1" if len(data) == 128 else b"\2") + bytes([number, 255 - number]) + data + struct.pack(">H", crc16(data))


size = 139 * 512 - 100
data = bytes(i * 7 & 255 for i in range(size))
frames = frame(b"p", 0) + frame(b"q", 0, struct.pack("<Q", 65536)) + frame(b"s", 0)
frames += b"".join(frame(b"d", at, data[at:at + 2048]) for at in range(0, size, 2048)) + frame(b"e", size, struct.pack("<I", crc32c(data)))
ymodem = block(0, b"a.ingot\x003000 0 0".ljust(128, b"\0")) + block(1, data[:1024]) + block(2, data[:1024]) + block(3, data[:1024]) + b"\4\4" + block(0, bytes(128))
with open(sys.argv[1], "wb") as f:
    f.write(frames)
with open(sys.argv[1] + "-ymodem", "wb") as f:
    f.write(ymodem)
with open(sys.argv[1] + "-short", "wb") as f:
    f.write(frame(b"s", 65536) + frame(b"d", 65536, data[:300]) + frame(b"x", 0))
