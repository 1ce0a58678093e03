#!/usr/bin/python3
"""Write the glyphs of the screen, 8 x 16 pixels each, as C from a font of the distribution in PCF (Debian's
package xfonts-terminus; the format: libXfont2, src/bitmap/pcfread.c). usage: make_font.py FONT.pcf.gz > OUT"""

import gzip
import struct
import sys

WIDTH, HEIGHT = 8, 16
ACCELERATORS, METRICS, BITMAPS, ENCODINGS = 2, 4, 8, 32
COMPRESSED, MSB_BYTES, MSB_BITS = 0x100, 4, 8
REPLACEMENT = 0xfffd
# The chosen characters: Latin, Greek and Cyrillic letters, punctuation, signs, arrows, mathematics, boxes and blocks.
BLOCKS = [(0x20, 0x7e), (0xa0, 0x52f), (0x1e00, 0x1fff), (0x2000, 0x27bf), (REPLACEMENT, REPLACEMENT)]
NEEDED = [(0x20, 0x7e), (0xa0, 0x17f), (0x391, 0x3a1), (0x3b1, 0x3c9), (0x400, 0x45f), (0x2500, 0x2503),
          (0x250c, 0x254b), (0x2550, 0x256c), (0x2588, 0x2588),
          (REPLACEMENT, REPLACEMENT)]


def fail(problem):
    sys.exit(f"make_font.py: {sys.argv[1]}: {problem}")


class Font:
    def __init__(self, path):
        with gzip.open(path) as f:
            self.data = f.read()
        if self.data[:4] != b"\1fcp":
            fail("is not a PCF font")
        self.tables = {}
        for i in range(struct.unpack_from("<I", self.data, 4)[0]):
            kind, form, _, at = struct.unpack_from("<IIII", self.data, 8 + 16 * i)
            self.tables[kind] = (at, form)
        for kind in (ACCELERATORS, METRICS, BITMAPS, ENCODINGS):
            if kind not in self.tables:
                fail(f"has no table {kind}")

    def table(self, kind):
        """The start of the table's content, its format, and a reader of its numbers."""
        at, form = self.tables[kind]
        order = ">" if form & MSB_BYTES else "<"
        return at + 4, form, lambda fields, where: struct.unpack_from(order + fields, self.data, where)

    def metrics(self):
        """(left, right, width, ascent, descent) of every glyph."""
        at, form, read = self.table(METRICS)
        if form & COMPRESSED:
            count, = read("H", at)
            return [tuple(b - 0x80 for b in self.data[at + 2 + 5 * i:at + 7 + 5 * i]) for i in range(count)]
        count, = read("I", at)
        return [read("hhhhh", at + 4 + 12 * i) for i in range(count)]

    def ascent(self):
        at, _, read = self.table(ACCELERATORS)
        ascent, descent = read("ii", at + 8)
        if ascent + descent != HEIGHT:
            fail(f"its glyphs have {ascent + descent} rows, and {HEIGHT} are wanted")
        return ascent

    def glyphs(self):
        """{code point: 16 bytes}, one byte per row of pixels, the leftmost in the highest bit."""
        at, form, read = self.table(BITMAPS)
        count, = read("I", at)
        offsets, pad, start = read(f"{count}I", at + 4), 1 << (form & 3), at + 4 + 4 * count + 16
        if not form & MSB_BITS:
            fail("has its pixels from right to left")
        metrics, ascent = self.metrics(), self.ascent()
        where, _, read = self.table(ENCODINGS)
        low2, high2, low1, high1 = read("HHHH", where)
        found = {}
        for n in range((high2 - low2 + 1) * (high1 - low1 + 1)):
            index, = read("H", where + 10 + 2 * n)
            if index != 0xffff:
                code = (low1 + n // (high2 - low2 + 1)) << 8 | (low2 + n % (high2 - low2 + 1))
                found[code] = self.glyph(start + offsets[index], pad, metrics[index], ascent)
        return found

    def glyph(self, at, pad, metrics, ascent):
        left, right, width, up, down = metrics
        if width != WIDTH or left < 0 or right > WIDTH or up > ascent or down > HEIGHT - ascent:
            fail("has a glyph that does not fit into 8 x 16 pixels")
        step = (right - left + 8 * pad - 1) // (8 * pad) * pad
        rows = bytearray(HEIGHT)
        for i in range(up + down):
            rows[ascent - up + i] = self.data[at + i * step] >> left
        return bytes(rows)


def runs(codes):
    """(first, count) of neighbours."""
    first = None
    for i, code in enumerate(codes):
        first = code if first is None else first
        if i + 1 == len(codes) or codes[i + 1] != code + 1:
            yield first, code - first + 1
            first = None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    glyphs = Font(sys.argv[1]).glyphs()
    missing = [hex(c) for low, high in NEEDED for c in range(low, high + 1) if c not in glyphs]
    if missing:
        fail("has no glyph for " + " ".join(missing))
    codes = [c for low, high in BLOCKS for c in range(low, high + 1) if c in glyphs]
    print("/* toolchain/make_font.py writes this, from Terminus Font: Copyright (c) 2010-2014 Dimitar Toshkov\n"
          " * Zhekov, SIL Open Font License 1.1. A run of code points, and where its glyphs begin. */")
    print("static const struct glyph_run runs[] = {")
    at = 0
    for first, count in runs(codes):
        print(f"    {{ 0x{first:04x}, {count}, {at} }},")
        at += count
    print("};\n\nstatic const uint8_t glyphs[][GLYPH_ROWS] = {")
    for code in codes:
        print("    { " + ", ".join(f"0x{row:02x}" for row in glyphs[code]) + f" }}, /* U+{code:04X} */")
    print("};")


main()
