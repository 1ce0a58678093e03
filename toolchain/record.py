#!/usr/bin/env python3
"""Record a session in QEMU as an animated SVG: `make recording` boots the image with a published model, types the lines below, and draws the output
with its times. Usage: record.py OUT TITLE LINE... -- QEMU WORDS...

All pauses are shortened by the same factor, which the picture states, because emulated time says nothing about a board."""

import os
import select
import subprocess
import sys
import time
from html import escape

COLUMNS, LINE_HEIGHT, CHAR = 100, 19, 8.43
SECONDS_SHOWN = 22  # length of the recording
SECONDS_MOST = 900  # time limit of the emulator
HOLD = 6  # seconds for which the last picture stays
TYPING = 0.05  # seconds per key
STYLE = {"log": "#8b949e", "prompt": "#e6edf3", "reply": "#79c0ff", "figures": "#8b949e"}


class Session:
    """Collects the machine's output, each piece with its time."""

    def __init__(self, words):
        self.machine = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0)
        self.began = time.monotonic()
        self.pieces = []
        self.text = ""

    def read_until(self, end):
        """Collect until the text ends with `end`; False if the machine ends or takes too long."""
        start = len(self.text)
        while not self.text[start:].endswith(end):
            left = SECONDS_MOST - (time.monotonic() - self.began)
            if left <= 0 or not select.select([self.machine.stdout], [], [], left)[0]:
                return False
            data = os.read(self.machine.stdout.fileno(), 4096)
            if not data:
                return False
            piece = data.decode("utf-8", "replace").replace("\r", "")
            self.pieces.append((time.monotonic() - self.began, piece))
            self.text += piece
        return True

    def type(self, line):
        self.machine.stdin.write(line.encode() + b"\n")


def record(words, lines):
    session = Session(words)
    try:
        for line in lines:
            if not session.read_until("\n> "):
                sys.exit(f"record: no prompt came:\n{session.text[-2000:]}")
            session.type(line)
        session.read_until("\n> ")
    finally:
        session.machine.kill()
        session.machine.wait()
    return session.pieces


def kind_of(line):
    if line.startswith("> "):
        return "prompt"
    if line.startswith("[    ") or line.startswith("[   "):
        return "log"
    return "figures" if line.startswith("[") or line.startswith("Type a line") else "reply"


def characters(pieces):
    """Each character with its time; typed text, which is echoed at once, gets the speed of typing."""
    late = 0.0
    line = ""
    for at, piece in pieces:
        for char in piece:
            if line.startswith("> ") and char != "\n":
                late += TYPING
            yield at + late, char
            line = "" if char == "\n" else line + char


def rows_of(pieces):
    """Rows of the picture: (kind, [(time, text)]), wrapped at the width, without lines of progress."""
    rows, line = [], []

    def close():
        text = "".join(char for _, char in line)
        if " layer " in text and "left" in text:
            return
        kind = kind_of(text)
        rest = line
        while len(rest) > COLUMNS:
            # Break at the last space that fits; a row without a space is cut.
            end = max((n + 1 for n in range(COLUMNS) if rest[n][1] == " "), default=COLUMNS)
            rows.append((kind, rest[:end]))
            rest = rest[end:]
        rows.append((kind, rest))

    for at, char in characters(pieces):
        if char == "\n":
            close()
            line = []
        elif char >= " ":
            line.append((at, char))
    close()
    return rows


def joined(row, gap):
    """Join neighbours that come within a moment of each other."""
    pieces = []
    for at, char in row:
        if pieces and at - pieces[-1][2] < gap:
            pieces[-1][1] += char
            pieces[-1][2] = at
        else:
            pieces.append([at, char, at])
    return [(at, text) for at, text, _ in pieces]


def draw(pieces, title, out):
    rows = rows_of(pieces)
    length = max(at for _, row in rows for at, _ in row)
    factor = max(1.0, length / SECONDS_SHOWN)
    width, height = round(COLUMNS * CHAR) + 40, LINE_HEIGHT * (len(rows) + 1) + 60
    whole = length / factor + HOLD
    body = []
    for n, (kind, row) in enumerate(rows):
        spans = []
        for at, text in joined(row, 0.03 * factor):
            share = 100 * at / factor / whole
            spans.append(f'<tspan class="t" style="animation-name:a{share * 100:.0f}">{escape(text)}</tspan>')
        weight = ' font-weight="bold"' if kind == "prompt" else ""
        body.append(f'<text xml:space="preserve" x="20" y="{50 + LINE_HEIGHT * (n + 1)}" fill="{STYLE[kind]}"{weight}>{"".join(spans)}</text>')
    moments = sorted({float(part.split('"')[0]) / 100 for line in body for part in line.split("animation-name:a")[1:]})
    frames = "".join(f"@keyframes a{m * 100:.0f}{{0%,{m:.2f}%{{opacity:0}}{min(m + 0.01, 100):.2f}%,100%{{opacity:1}}}}" for m in moments)
    note = f"{title}, {factor:.1f} times as fast as on this PC. Emulated time is not a board's time."
    with open(out, "w", encoding="utf-8") as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
                f'aria-label="{escape(title)}"><style>text{{font:14px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;'
                f"white-space:pre}}.t{{animation-duration:{whole:.1f}s;animation-iteration-count:infinite;animation-timing-function:step-end}}"
                f"@media (prefers-reduced-motion:reduce){{.t{{animation:none}}}}{frames}</style>"
                f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/><text x="20" y="30" fill="#8b949e" style="font-size:12px">{escape(note)}</text>\n'
                + "\n".join(body) + "\n</svg>\n")
    print(f"{out}: {length:.0f} s as {length / factor:.0f}, {os.path.getsize(out) >> 10} KiB")


def main():
    words = sys.argv[1:]
    cut = words.index("--")
    out, title, *lines = words[:cut]
    draw(record(words[cut + 1:], lines), title, out)


main()
