"""Computes CRC-32C (Castagnoli) by a table."""

TABLE = list(range(256))
for _ in range(8):
    TABLE = [n >> 1 ^ (0x82f63b78 if n & 1 else 0) for n in TABLE]


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc ^ 0xffffffff
