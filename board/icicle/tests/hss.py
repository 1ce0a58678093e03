"""A model of HSS, the kit's first loader: how it checks card and payload, and what it puts into memory. It follows the sources that Microchip
publishes (hart-software-services at c8e60a91): services/boot/gpt.c, services/boot/hss_boot_service.c, init/hss_boot_init.c, include/hss_types.h;
payloads are those of its generator (tools/hss-payload-generator/generate_payload.c, test/uboot.yaml)."""

import struct
import zlib

SECTOR = 512
MAGIC, COMPRESSED = 0xb007c0de, 0xc08b8355
BOOT_TYPE = "21686148-6449-6E6F-744E-656564454649"
MOST_BYTES = 2 << 20  # mHSS_MAX_BOOT_IMAGE_SIZE
U54 = range(1, 5)
ENTRY = 0x80200000  # entry of all four harts in uboot.yaml
PRV_S = 1
ANCILLARY = 0x80  # BOOT_FLAG_ANCILLIARY_DATA, in a chunk's owner: a1 points to it

# The layout of struct HSS_BootImage with a 64-bit compiler: 40 bytes, four harts of 296 bytes, a name of 256, a length, a signature of
# 144.
HEAD, HART, CHUNK, ZERO_CHUNK = "<IIQI4xQQ", "<QBB6xQQQ256s", "<I4xQQQI4x", "<I4xQQ"
AT_CRC, AT_HARTS, AT_LENGTH, AT_SIGNATURE, HEAD_BYTES, HEAD_BYTES_0 = 16, 40, 1480, 1488, 1632, 1552


class Refused(Exception):
    """HSS starts nothing; the text is similar to HSS's log."""


def guid(raw):
    """A GUID as text; its first three parts are little-endian (UEFI 5.3.3)."""
    parts = [raw[3::-1], raw[5:3:-1], raw[7:5:-1], raw[8:10], raw[10:16]]
    return "-".join(p.hex() for p in parts).upper()


# ---- the card ---------------------------------------------------------------------------------------

def partition(card):
    """The first sector of the boot partition; 0 if there is none, for whatever reason: HSS then reads from the card's
    first sector."""
    header = card[SECTOR:2 * SECTOR]
    revision, size, crc, current = struct.unpack_from("<IIIxxxxQ", header, 8)
    start, n, entry_bytes, entries_crc = struct.unpack_from("<QIII", header, 72)
    if header[:8] != b"EFI PART" or revision != 0x10000 or not 92 <= size <= SECTOR:
        return 0
    if zlib.crc32(header[:16] + bytes(4) + header[20:size]) != crc or current != 1 or start != 2 or n > 128 or entry_bytes > 128:
        return 0
    starts = [(2 + i * entry_bytes // SECTOR) * SECTOR + i * entry_bytes % SECTOR for i in range(n)]
    entries = [card[at:at + entry_bytes] for at in starts]
    if zlib.crc32(b"".join(entries)) != entries_crc:
        return 0
    return next((struct.unpack_from("<Q", e, 32)[0] for e in entries if guid(e[:16]) == BOOT_TYPE), 0)


def image_of(card):
    """The payload as HSS copies it into memory: its header gives the size."""
    at = partition(card) * SECTOR
    head = card[at:at + HEAD_BYTES]
    if len(head) < HEAD_BYTES or int.from_bytes(head[:4], "little") not in (MAGIC, COMPRESSED):
        raise Refused(f"magic is {head[3::-1].hex()} vs expected b007c0de or c08b8355")
    length = struct.unpack_from("<Q", head, AT_LENGTH)[0]
    if length > MOST_BYTES:  # a compressed payload ends here too, because it has packed bytes there
        raise Refused(f"bootImageLength {length:#x} exceeds maximum {MOST_BYTES:#x}")
    return card[at:at + length]


# ---- the payload ------------------------------------------------------------------------------------

def header_crc(image, version):
    head = bytearray(image[:HEAD_BYTES])
    head[AT_CRC:AT_CRC + 4] = bytes(4)
    head[AT_SIGNATURE:] = bytes(HEAD_BYTES - AT_SIGNATURE)
    return zlib.crc32(head[:HEAD_BYTES_0 if version == 0 else HEAD_BYTES])


def rows(image, at, form):
    """The rows of a table, which ends with a row of size 0."""
    while True:
        row = struct.unpack_from(form, image, at)
        if row[3 if form == CHUNK else 2] == 0:
            return
        yield row
        at += struct.calcsize(form)


def load(card):
    """The start by HSS: {hart: (entry, mode)}, {address: bytes in memory}, and {hart: a1} of the harts with data of
    their own."""
    image = image_of(card)
    if len(image) < HEAD_BYTES:  # HSS would look at old contents of memory
        raise Refused("Boot Image magic invalid, ignoring")
    magic, version, _, crc, chunks, zero_chunks = struct.unpack_from(HEAD, image, 0)
    if magic != MAGIC:
        raise Refused("Boot Image magic invalid, ignoring")  # the packed bytes overlap the place where they would be
                                                             # unpacked
    if header_crc(image, version) != crc:
        raise Refused("Boot image failed CRC")
    starts, memory, second = {}, {}, {}
    harts = {h: struct.unpack_from(HART, image, AT_HARTS + (h - 1) * struct.calcsize(HART)) for h in U54}
    for hart, (entry, mode, _, n, first, last, _) in harts.items():
        if n == 0 or entry == 0:
            continue
        for peer, of in harts.items():
            if of[0] == entry:
                starts[peer] = (entry, mode)
        for owner, execute, size in rows(image, zero_chunks, ZERO_CHUNK):
            if owner == hart:
                memory[execute] = bytes(size)
        for i, (owner, load_at, execute, size, _) in enumerate(rows(image, chunks + first * struct.calcsize(CHUNK), CHUNK)):
            if i > last or owner & ~ANCILLARY != hart:
                continue
            memory[execute] = image[load_at:load_at + size]
            if owner & ANCILLARY:
                second.setdefault(hart, execute)
    return starts, memory, second


def make_payload(program, tree=b"", version=1, name=b"PolarFire-SoC-HSS::U-Boot"):
    """Make a payload as the generator does: a binary at ENTRY for all four harts, which the first hart owns, then a
    tree."""
    pieces = [(1, ENTRY, program)] + ([(1 | ANCILLARY, ENTRY + len(program), tree)] if tree else [])
    chunks_at = HEAD_BYTES
    zero_at = chunks_at + (len(pieces) + 1) * struct.calcsize(CHUNK)
    head_bytes = zero_at + struct.calcsize(ZERO_CHUNK)
    table, blobs = b"", b""
    for owner, execute, data in pieces:
        table += struct.pack(CHUNK, owner, head_bytes + len(blobs), execute, len(data), zlib.crc32(data))
        blobs += data + bytes(-len(data) % 8)
    harts = b"".join(struct.pack(HART, ENTRY, PRV_S, 0, len(pieces) if h == 1 else 0, 0, len(pieces) - 1 if h == 1 else 0, b"u-boot") for h in U54)
    head = bytearray(struct.pack(HEAD, MAGIC, version, head_bytes, 0, chunks_at, zero_at) + harts + name.ljust(256, b"\0") +
                     struct.pack("<Q", head_bytes + len(blobs)) + bytes(HEAD_BYTES - AT_SIGNATURE))
    head[AT_CRC:AT_CRC + 4] = struct.pack("<I", header_crc(head, version))
    return bytes(head) + table + bytes(struct.calcsize(CHUNK) + struct.calcsize(ZERO_CHUNK)) + blobs


def make_compressed(payload):
    """struct HSS_CompressedImage: magic, version 2 (deflate), lengths and sums, 64 bytes of room, then the packed bytes."""
    packed = zlib.compress(payload)
    head = struct.pack("<IIQIIIxxxxQQ64x", COMPRESSED, 2, 112, 0, zlib.crc32(packed), zlib.crc32(payload), len(packed), len(payload))
    return head[:AT_CRC] + struct.pack("<I", zlib.crc32(head)) + head[AT_CRC + 4:] + packed
