#!/usr/bin/python3
"""Display and serial line together: on every board with a display the screendump after a chat over the line, read back cell by cell, equals the
text on the line. Also colours, a panic, screen=off, and the display's cost per token."""

import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from display import BLACK, CYAN, DARK, GREY, Display, Qmp, wrapped, write_png
from machine import BUILD, LONG, ROOT, WORK, Machine, Tap, machine_of, make_card, run, text_of
from screen import Screen

tap = Tap()
os.makedirs(WORK, exist_ok=True)
DEMO = os.path.join(ROOT, "models/demo-q4_0.ingot")
INITRD = ["-initrd", DEMO]
RAMFB = ["-device", "ramfb"]
SD = ["-drive", "if=sd,format=raw,snapshot=on,file=" + make_card("screen-card.img", "--power-of-two", DEMO)]
BOARDS = [("virt-arm64", RAMFB + INITRD, 800, 600), ("virt-riscv64", RAMFB + INITRD, 800, 600),
          ("rpi3", SD, 640, 480), ("rpi4", SD + ["-global", "bcm2835-fb.xres=1024", "-global", "bcm2835-fb.yres=768"], 1024, 768)]
SEQUENCES = r"(?:\x1b(?:\[\??[0-9;]*[a-zA-Z]|[78])|\r)*"
PROMPT = re.compile(rf"\n{SEQUENCES}> ")
FIGURES = re.compile(rf"\d+ prompt \+ \d+ new tokens?, [^\]]*\].*\n{SEQUENCES}> ", re.S)


class Talk:
    """A person at the line, who reads all output."""

    def __init__(self, board, words, drives, more=(), kernel=None):
        self.qmp = Qmp(f"screen-{board}")
        command = machine_of(board).command(words, 4, list(drives) + self.qmp.arguments() + list(more), kernel)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.raw = b""

    def read_until(self, found, seconds=180):
        late = time.monotonic() + seconds
        while not found(text_of(self.raw)) and time.monotonic() < late:
            self.raw += self.process.stdout.read() or b""
            time.sleep(0.02)
        return text_of(self.raw)

    def send(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def ask(self, line):
        """Send a line, and wait for its reply and the next prompt."""
        before = len(text_of(self.raw))
        self.send(line + "\r")
        return self.read_until(lambda text: FIGURES.search(text, before))

    def display(self, scale=1):
        time.sleep(0.3)  # core 0 draws before it sleeps
        return Display(self.qmp.screendump(), scale)

    def end(self):
        self.process.kill()
        self.process.communicate()


def equal(display, rows):
    """(True if the display shows as many of the last rows as fit, else False; its text, with the first row that
    differs)"""
    shown = rows[-display.n_rows:]
    shown += [""] * (display.n_rows - len(shown))
    for row, text in enumerate(shown):
        if not display.reads(row, text):
            return False, f"{display.text()}\nrow {row} is not {text!r}"
    return True, display.text()


def since_start(console):
    """The console's text without the firmware's output."""
    return console[console.index("[", re.search(r"\[ +\d+\.\d+\] Ingot ", console).start()):]


def prompted(text):
    return PROMPT.search(text)


def test_chat(board, drives, width, height):
    talk = Talk(board, "term=plain temp=0 n=60", drives)
    try:
        console = talk.read_until(prompted)
        tap.ok(f"screen: {width // 8} x {height // 16} characters" in console, f"{board}: the log names the screen", console)
        console = talk.ask("a fox and an owl")
        before = len(console)
        talk.send("/help all\r")  # screenfuls of text that no model computes
        talk.read_until(lambda text: PROMPT.search(text, before))
        console = talk.ask("tell me a story of a boat")
        display = talk.display()
        tap.ok((display.width, display.height) == (width, height), f"{board}: {display.width} x {display.height} pixels")
        rows = wrapped(since_start(console), display.columns)
        good, detail = equal(display, rows)
        tap.ok(good and len(rows) > display.n_rows, f"{board}: every cell has the glyph of the text on the line", detail)
        at = display.find("> ")
        tap.ok(at and display.backs[at[0]][2] not in (BLACK, None) and display.backs[at[0]][3] == BLACK,
               f"{board}: the cursor is after the prompt", detail)
        reply = console[:console.rfind("\n[")].split("\n")[-1].split(" ")
        tap.ok(display.front_of(" ".join(reply[:3])) == CYAN, f"{board}: a reply has its colour", reply)
        tap.ok(display.front_of("new tokens") in (DARK, GREY), f"{board}: the figures have their colour", display.front_of("new tokens"))
        console = talk.ask("\u0416\u03a9\u00e9")
        good, detail = equal(talk.display(), wrapped(since_start(console), display.columns))
        tap.ok(good and "\u0416\u03a9\u00e9" in console, f"{board}: Cyrillic, Greek and Latin letters are shown", detail)
    finally:
        talk.end()


def test_terminal(board, drives):
    """The terminal on the line has fewer columns than the display: both show the same text."""
    talk = Talk(board, "term=vt temp=0 n=60", drives)
    try:
        talk.read_until(prompted)
        talk.send("\x1b[1;60R")
        for line in ("a fox and an owl", "a boat\x1b[D\x1b[D\x1b[Dbig red b\x7f"):
            talk.ask(line)
        display = talk.display()
        seen = Screen(display.columns)
        seen.feed(talk.raw)
        whole = []  # whole lines: the terminal breaks them at its last column, the display between words
        for i in range(len(seen.rows)):
            whole += [seen.line(i)] if i not in seen.soft else [whole.pop() + seen.line(i)]
        said = [row for row in whole[whole.index(next(r for r in whole if r.startswith("> "))):] if row[:1] != "["]
        tap.ok(30 < max(map(len, said)) < 60, f"{board}: a terminal of 60 columns is supported", said)
        good, detail = equal(display, wrapped(since_start("\n".join(whole)), display.columns))
        tap.ok(good, f"{board}: the display shows the same as the terminal", detail)
    finally:
        talk.end()


def test_panic(board, drives):
    talk = Talk(board, "screen read-null", drives, ["-no-shutdown"], os.path.join(BUILD, board, "traps.bin"))
    try:
        console = talk.read_until(lambda text: "power off" in text)
        display = talk.display()
        good, detail = equal(display, wrapped(console[console.index("\ntrap:"):], display.columns))
        tap.ok(good and re.search("trap: .*(at 0x8: nothing|nothing readable is mapped there at 0x8)", detail) and "called from" in detail,
               f"{board}: a panic is on the screen", detail)
    finally:
        talk.end()


def test_off(board, drives):
    talk = Talk(board, "screen=off term=plain temp=0", drives)
    try:
        console = talk.read_until(prompted)
        width, height, data = talk.qmp.screendump()
        tap.ok("screen:" not in console and "Ingot" not in Display((width, height, data)).text(),
               f"{board}: screen=off leaves the display unused", console)
    finally:
        talk.end()


def decode_ticks(board, drives, words):
    command = Machine(board).command(words, 1, drives) + ["-icount", "shift=0"]
    _, console = run(command, 120)
    found = re.search(r"ticks: prefill \d+ decode (\d+)", console)
    return int(found[1]) if found else 0


def test_cost(board, drives):
    """The display's cost in instructions, with a model of only 1.1 M parameters, because larger models compute more per token. Several
    screenfuls are printed first, so that the rows of the reply scroll."""
    words = 'prompt="tell me a story of a boat" temp=0 n=80 cores=1 ticks diag verbose screen='
    off, on = (decode_ticks(board, drives, words + word) for word in ("off", "on"))
    share = 100 * (on / off - 1) if off and on else 100
    tap.ok(-1 < share < 2, f"{board}: the display takes {share:.2f} % of a token", f"{off} {on}")


def draw_picture(path):
    """docs/screen.png: INGOT_PICTURE=docs/screen.png tests/boot/screen.t"""
    talk = Talk("virt-arm64", "term=plain temp=0", RAMFB + INITRD)
    try:
        talk.read_until(prompted)
        for line in ("Hello!", "Tell me a story about a fox.", "What is 7 plus 8?"):
            talk.ask(line)
        at = talk.display().find("> ")
        write_png(path, talk.qmp.screendump(), at[0] + 1)
    finally:
        talk.end()


if os.environ.get("INGOT_PICTURE"):
    draw_picture(os.environ["INGOT_PICTURE"])
for board, drives, width, height in BOARDS:
    test_chat(board, drives, width, height)
    if LONG or RAMFB[1] in drives:  # the terminal's width does not depend on the board
        test_terminal(board, drives)
    test_panic(board, drives)
    test_off(board, drives)
    if board == "virt-arm64" or LONG and RAMFB[1] in drives:  # with riscv64's vectors the count takes half a minute
        test_cost(board, drives)
tap.done()
