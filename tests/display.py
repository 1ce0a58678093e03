"""Reads a display's contents back: compares QEMU's screendump, cell by cell, with the table of glyphs in the image."""

import json
import os
import re
import socket
import struct
import zlib

from machine import BUILD, WORK

COLUMNS, ROWS = 8, 16  # pixels of a cell
PALETTE = [0x000000, 0xc03030, 0x30a030, 0xb08020, 0x4060d0, 0xb040b0, 0x30a8b0, 0xc8c8c8,
           0x787878, 0xff6060, 0x60e060, 0xf0e060, 0x80a0ff, 0xf080f0, 0x70f0f8, 0xffffff]
BLACK, RED, CYAN, GREY, DARK, LIGHT_RED, WHITE = 0, 1, 6, 7, 8, 9, 15
UNKNOWN = "\0"


def read_glyphs():
    """{a glyph's 16 bytes: the characters with this glyph}"""
    with open(os.path.join(BUILD, "gen/font_8x16.inc"), encoding="utf-8") as f:
        rows = re.findall(r"\{ ((?:0x[0-9a-f]{2}(?:, )?){16}) \}, /\* U\+([0-9A-F]+) \*/", f.read())
    found = {}
    for values, code in rows:
        found.setdefault(bytes(int(v, 16) for v in values.split(", ")), []).append(chr(int(code, 16)))
    return found


class Qmp:
    """A machine's monitor, through the socket that arguments() names."""

    def __init__(self, name):
        self.path = os.path.join(WORK, f"{name}.qmp")
        self.name = name

    def arguments(self):
        return ["-qmp", f"unix:{self.path},server=on,wait=off"]

    def command(self, *commands):
        """Run commands (name, arguments), in order; returns the last result."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(self.path)
            f = s.makefile("rw")
            f.readline()
            for name, arguments in (("qmp_capabilities", {}), *commands):
                f.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
                f.flush()
                answer = json.loads(f.readline())
                while "event" in answer:
                    answer = json.loads(f.readline())
                if "error" in answer:
                    raise RuntimeError(str(answer))
            return answer["return"]

    def screendump(self):
        """The display as (width, height, RGB bytes)."""
        image = os.path.join(WORK, f"{self.name}.ppm")
        if os.path.exists(image):
            os.remove(image)
        self.command(("screendump", {"filename": image}))
        return read_ppm(image)


def write_png(path, dump, rows):
    """The upper rows of cells as a picture with a palette of at most 16 colours."""
    width, _, data = dump
    height = rows * ROWS
    pixels = [data[at:at + 3] for at in range(0, 3 * width * height, 3)]
    colours = sorted(set(pixels))
    number = {colour: i for i, colour in enumerate(colours)}
    lines = b"".join(b"\0" + bytes(number[pixels[at + x]] << 4 | number[pixels[at + x + 1]] for x in range(0, width, 2))
                     for at in range(0, width * height, width))

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 4, 3, 0, 0, 0)) +
                chunk(b"PLTE", b"".join(colours)) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def read_ppm(path):
    with open(path, "rb") as f:
        data = f.read()
    head = re.match(rb"P6\s+(\d+)\s+(\d+)\s+255\s", data)
    width, height = int(head[1]), int(head[2])
    return width, height, data[head.end():head.end() + 3 * width * height]


class Display:
    """The cells of a screendump: characters, and colours as numbers in the palette."""

    glyphs = None

    def __init__(self, dump, scale=1):
        self.width, self.height, self.data = dump
        self.scale = scale
        self.columns = self.width // (COLUMNS * scale)
        self.n_rows = self.height // (ROWS * scale)
        Display.glyphs = Display.glyphs or read_glyphs()
        cells = [[self.read_cell(r, c) for c in range(self.columns)] for r in range(self.n_rows)]
        self.chars = [[cell[0] for cell in row] for row in cells]
        self.fronts = [[cell[1] for cell in row] for row in cells]
        self.backs = [[cell[2] for cell in row] for row in cells]

    def pixel(self, x, y):
        at = 3 * (y * self.width + x)
        return self.data[at] << 16 | self.data[at + 1] << 8 | self.data[at + 2]

    def read_cell(self, row, column):
        """(characters with this glyph, foreground, background); a cell of a single colour is a blank."""
        s, x0, y0 = self.scale, column * COLUMNS * self.scale, row * ROWS * self.scale
        colours = [[self.pixel(x0 + x * s, y0 + y * s) for x in range(COLUMNS)] for y in range(ROWS)]
        for y in range(ROWS * s if s > 1 else 0):  # an enlarged pixel has one colour
            for x in range(COLUMNS * s):
                if self.pixel(x0 + x, y0 + y) != colours[y // s][x // s]:
                    return UNKNOWN, None, None
        seen = sorted({c for line in colours for c in line})
        if len(seen) > 2:
            return UNKNOWN, None, None
        # Either colour may be the glyph's, because the cursor's cell has the colours exchanged.
        for back, front in ((seen[0], seen[-1]), (seen[-1], seen[0])):
            bits = bytes(sum((c == front and c != back) << (7 - i) for i, c in enumerate(line)) for line in colours)
            if bits in self.glyphs:
                return self.glyphs[bits], colour_of(front), colour_of(back)
        return UNKNOWN, None, None

    def reads(self, row, text):
        """True if a row shows the text, and blanks after it."""
        cells = self.chars[row]
        return all(want in found for want, found in zip(text.ljust(self.columns), cells))

    def text(self):
        return "\n".join("".join(c[0] for c in row).rstrip() for row in self.chars)

    def find(self, text):
        """(row, column) of the text's last occurrence, or None."""
        for row in range(self.n_rows - 1, -1, -1):
            column = "".join(c[0] for c in self.chars[row]).rfind(text)
            if column >= 0:
                return row, column
        return None

    def front_of(self, text):
        """The colour of a whole text at its last occurrence, or None."""
        at = self.find(text)
        colours = {self.fronts[at[0]][at[1] + i] for i, c in enumerate(text) if c != " "} if at else set()
        return colours.pop() if len(colours) == 1 else None


def colour_of(rgb):
    """A colour's number in the palette; with 16 bits per pixel a channel differs by less than 8."""
    for number, colour in enumerate(PALETTE):
        if all(abs((rgb >> shift & 255) - (colour >> shift & 255)) < 8 for shift in (0, 8, 16)):
            return number
    return None


def wrapped(text, columns):
    """The rows of a plain text on the screen, which breaks rows between words."""
    rows = []
    for line in text.split("\n"):
        while len(line) > columns:
            at = line.rfind(" ", 0, columns + 1)
            if at <= 0:
                rows.append(line[:columns])
                line = line[columns:]
            else:
                rows.append(line[:at])
                line = line[at + 1:] if at < columns else line[at:].lstrip(" ")
        rows.append(line.rstrip())
    return rows
