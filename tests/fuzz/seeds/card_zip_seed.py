#!/usr/bin/env python3
"""Write seeds for card_zip_fuzz: archives, stored, deflated and with 64-bit fields, and a single deflated stream.
usage: card_zip_seed.py OUT"""
import sys
import zipfile
import zlib

OUT = sys.argv[1]
TEXT = b"firmware of a board, again and again: " * 9 + bytes(range(256))
for number, (method, large) in enumerate([(zipfile.ZIP_STORED, False), (zipfile.ZIP_DEFLATED, False), (zipfile.ZIP_DEFLATED, True)]):
    with zipfile.ZipFile(OUT + (f"-{number}" if number else ""), "w", method) as z:
        for name in ("firmware-master/boot/", "firmware-master/boot/start4.elf", "firmware-master/boot/overlays/x.dtbo"):
            with z.open(name, "w", force_zip64=large) as f:
                f.write(b"" if name.endswith("/") else TEXT)
for number, strategy in enumerate([zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY]):
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, 9, strategy)
    with open(f"{OUT}-{number + 3}", "wb") as out:
        out.write(deflate.compress(TEXT * 3) + deflate.flush())
