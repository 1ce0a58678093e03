#!/usr/bin/python3
"""A USB keyboard, on which QMP types: a whole chat, which the display shows cell by cell, editing keys, Ctrl-C, a layout with accents and AltGr, the
serial line at the same time, a drive at the same controller, hubs, and devices that are pulled and put back."""

import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from display import Display, Qmp, wrapped
from machine import LONG, ROOT, WORK, Tap, machine_of, make_card, segments, text_of, usb_arguments
from screen import Screen

tap = Tap()
os.makedirs(WORK, exist_ok=True)
DEMO = os.path.join(ROOT, "models/demo-q4_0.ingot")
KEYBOARD = ["-device", "usb-kbd,id=keys"]
ALONE = ["-initrd", DEMO, "-device", "qemu-xhci,id=usb"] + KEYBOARD
CARD = make_card("keyboard-card.img", "--size", "64", DEMO)
STREAM = f"mem={2 * max(size for _, size in segments(DEMO)[1:-1]) + 4 * 4096}"
SLOW = ",throttling.bps-total=4000000"  # so that a reply takes seconds
NAMES = {" ": "spc", ".": "dot", ",": "comma", "/": "slash", "-": "minus", "'": "apostrophe", ";": "semicolon"}
SEQUENCES = r"(?:\x1b(?:\[\??[0-9;]*[a-zA-Z]|[78])|\r)*"
PROMPT = re.compile(rf"\n{SEQUENCES}> ")
FIGURES = re.compile(rf"\d+ prompt \+ \d+ new tokens?, [^\]]*\].*\n{SEQUENCES}> ", re.S)


class Desk:
    """A person at the keyboard, who can also read and write the serial line."""

    def __init__(self, board, words, drives):
        self.qmp = Qmp(f"keyboard-{board}")
        command = machine_of(board).command("term=plain temp=0 n=20 " + words, 2, list(drives) + self.qmp.arguments())
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.raw = b""

    def read_until(self, found, seconds=180):
        late = time.monotonic() + seconds
        while not found(text_of(self.raw)) and time.monotonic() < late and self.process.poll() is None:
            self.raw += self.process.stdout.read() or b""
            time.sleep(0.02)
        return text_of(self.raw)

    def press(self, *chords):
        """Press keys by QEMU's names, such as "shift+a"; QEMU's keyboard buffers 16 events."""
        for chord in chords:
            keys = [{"type": "qcode", "data": key} for key in chord.split("+")]
            self.qmp.command(("send-key", {"keys": keys, "hold-time": 15}))
            time.sleep(0.05)

    def found(self, name):
        """Wait until the board has given the device an address; from then on no key is lost."""
        late = time.monotonic() + 60
        while time.monotonic() < late:
            devices = self.qmp.command(("human-monitor-command", {"command-line": "info usb"}))
            if re.search(rf"Device \d+\.[1-9]\d*, .*ID: {name}\s*$", devices, re.M):
                return
            time.sleep(0.05)

    def type(self, text):
        self.press(*(("shift+" if c.isupper() else "") + NAMES.get(c, c.lower()) for c in text))

    def reply(self, before):
        return self.read_until(lambda text: FIGURES.search(text, before))[before:]

    def ask(self, text):
        before = len(text_of(self.raw))
        self.type(text)
        self.press("ret")
        return self.reply(before)

    def end(self):
        self.process.kill()
        self.process.communicate()


def line_of(text):
    return text.split("\n")[0]


def test_chat(board):
    desk = Desk(board, "", ALONE + ["-device", "ramfb"])
    try:
        desk.read_until(PROMPT.search)
        for line in ("A fox and an owl", "tell me a story."):
            got = desk.ask(line)
            tap.ok(line_of(got) == line and FIGURES.search(got), f"{board}: the typed line {line!r} gets a reply", got)
        before = len(text_of(desk.raw))
        desk.process.stdin.write(b"and a boat\r")
        desk.process.stdin.flush()
        tap.ok(line_of(desk.reply(before)) == "and a boat", f"{board}: the serial line works in addition to the keyboard", text_of(desk.raw)[before:])
        console = text_of(desk.raw)
        tap.ok("screen and keyboard are connected" in console, f"{board}: the log names the keyboard", console)
        time.sleep(0.3)
        display = Display(desk.qmp.screendump(), 1)
        rows = wrapped(console[console.index("[", re.search(r"\[ +\d+\.\d+\] Ingot ", console).start()):],
                       display.columns)[-display.n_rows:]
        same = all(display.reads(row, text) for row, text in enumerate(rows))
        tap.ok(same and "tell me a story." in display.text(), f"{board}: the display shows the chat, cell by cell",
               display.text())
    finally:
        desk.end()


def test_keys(board):
    """term=vt: the editor's keys work. keyboard=de: z and y are exchanged."""
    desk = Desk(board, "term=vt keyboard=de", ALONE)
    try:
        desk.read_until(PROMPT.search)
        desk.process.stdin.write(b"\x1b[1;80R")
        desk.process.stdin.flush()
        before = len(text_of(desk.raw))
        desk.press("b", "o", "x", "left", "backspace", "a", "home", "delete", "m", "end", "s", "ret")
        desk.reply(before)
        seen = Screen(80)
        seen.feed(desk.raw)
        tap.ok("> maxs" in [seen.line(i) for i in range(len(seen.rows))],
               f"{board}: arrows, Home, End, Delete, Backspace edit the line", text_of(desk.raw)[before:])
        before = len(text_of(desk.raw))
        desk.press("up", "ret")
        tap.ok("maxs" in desk.reply(before), f"{board}: the arrow recalls the previous line", text_of(desk.raw)[before:])
        before = len(text_of(desk.raw))
        desk.press("y", "caps_lock", "y", "caps_lock", "equal", "e", "alt_r+q", "semicolon", "minus", "ret")
        tap.ok("zZ\u00e9@\u00f6\u00df" in desk.reply(before), f"{board}: keyboard=de has Caps Lock, accents and AltGr",
               text_of(desk.raw)[before:])
    finally:
        desk.end()


def test_drive(board):
    """While keys come, the drive streams each layer; Ctrl-C ends a reply."""
    desk = Desk(board, "n=0 " + STREAM, usb_arguments(CARD, f"file.locking=off,file={CARD}{SLOW}") + KEYBOARD)
    try:
        console = desk.read_until(PROMPT.search)
        tap.ok("USB drive at" in console and "streamed" in console, f"{board}: a drive works in addition to the keyboard", console)
        before = len(text_of(desk.raw))
        desk.type("tell me a story")
        desk.press("ret")
        desk.read_until(lambda text: len(text) > before + 40)
        desk.press("ctrl+c")
        got = desk.reply(before)
        tap.ok(line_of(got) == "tell me a story" and "stopped" in got and FIGURES.search(got), f"{board}: Ctrl-C ends a reply that streams", got)
    finally:
        desk.end()


def test_plug(board):
    desk = Desk(board, "", ALONE)
    try:
        desk.read_until(PROMPT.search)
        desk.type("a ")
        desk.read_until(lambda text: text.endswith("> a "))  # keys that the board has not fetched yet are lost with the keyboard
        desk.qmp.command(("device_del", {"id": "keys"}))
        time.sleep(1)
        desk.qmp.command(("device_add", {"driver": "usb-kbd", "bus": "usb.0", "id": "keys2"}))
        desk.found("keys2")
        before = len(text_of(desk.raw))
        got = desk.ask("cat")
        tap.ok("a cat" in text_of(desk.raw) and FIGURES.search(got), f"{board}: a keyboard that is pulled and put back works",
               text_of(desk.raw)[before - 100:])
    finally:
        desk.end()


def put_back(desk, seconds=20, **where):
    """QEMU keeps the file until the last read of the old drive has ended. Each drive has its own serial number, which contains the port."""
    late = time.monotonic() + seconds
    while True:
        try:
            desk.qmp.command(("device_add", {"driver": "usb-storage", "drive": "card", "bus": "usb.0", "id": "again", "serial": "1234", **where}))
            break
        except RuntimeError:
            if time.monotonic() > late:
                raise
            time.sleep(0.2)
    desk.found("again")


def test_pulled_drive(board):
    """The drive is unplugged while a reply streams from it; a line is typed without it; then it is back."""
    card = ["-object", "throttle-group,id=slow,x-bps-total=4000000",
            "-blockdev", "driver=throttle,throttle-group=slow,node-name=card,file.driver=raw,file.file.driver=file,"
            f"file.file.filename={CARD},file.file.locking=off",
            "-device", "qemu-xhci,id=usb", "-device", "usb-storage,drive=card,id=stick,serial=1234"]
    desk = Desk(board, "n=0 " + STREAM, card + KEYBOARD)
    try:
        desk.read_until(PROMPT.search)
        before = len(text_of(desk.raw))
        desk.type("tell me a story")
        desk.press("ret")
        desk.read_until(lambda text: len(text) > before + 40)
        desk.qmp.command(("device_del", {"id": "stick"}))
        got = desk.read_until(lambda text: re.search(rf"error.*\n{SEQUENCES}> ", text[before:], re.S))[before:]
        tap.ok(re.search("error: .*demo.*USB drive at 0x", got), f"{board}: a drive that is pulled is named", got)
        put_back(desk)
        got = desk.ask("a fox")
        tap.ok(FIGURES.search(got) and "error" not in got, f"{board}: the drive works when it is put back", got)
    finally:
        desk.end()


def test_hub(board):
    """Drive and keyboard are behind one hub; the keyboard is pulled; another hub with another keyboard comes; the drive is
    pulled."""
    card = ["-blockdev", f"driver=raw,node-name=card,file.driver=file,file.filename={CARD},file.locking=off",
            "-device", "qemu-xhci,id=usb", "-device", "usb-hub,bus=usb.0,port=1,id=hub",
            "-device", "usb-kbd,bus=usb.0,port=1.2,id=keys", "-device", "usb-storage,bus=usb.0,port=1.3,drive=card,id=stick,serial=1234"]
    desk = Desk(board, STREAM, card)
    try:
        console = desk.read_until(PROMPT.search)
        tap.ok("USB drive at" in console and "streamed" in console, f"{board}: a drive works at a hub", console)
        got = desk.ask("a fox")
        tap.ok(line_of(got) == "a fox" and FIGURES.search(got), f"{board}: a keyboard at the same hub works", got)
        desk.type("an ")
        desk.qmp.command(("device_del", {"id": "keys"}))
        time.sleep(1)
        desk.qmp.command(("device_add", {"driver": "usb-kbd", "bus": "usb.0", "port": "1.4", "id": "keys2"}))
        desk.found("keys2")
        before = len(text_of(desk.raw))
        got = desk.ask("owl")
        tap.ok("an owl" in text_of(desk.raw)[before - 8:] and FIGURES.search(got), f"{board}: the keyboard works at another port of the hub", got)
        desk.qmp.command(("device_del", {"id": "keys2"}))
        time.sleep(1)
        desk.qmp.command(("device_add", {"driver": "usb-hub", "bus": "usb.0", "port": "2", "id": "hub2"}),
                         ("device_add", {"driver": "usb-kbd", "bus": "usb.0", "port": "2.1", "id": "keys3"}))
        desk.found("keys3")
        got = desk.ask("a boat")
        tap.ok(line_of(got) == "a boat" and FIGURES.search(got), f"{board}: a keyboard at a hub that is plugged in later works", got)
        desk.qmp.command(("device_del", {"id": "stick"}))
        time.sleep(1)
        before = len(text_of(desk.raw))
        desk.type("hello")
        desk.press("ret")
        got = desk.read_until(lambda text: re.search(rf"error.*\n{SEQUENCES}> ", text[before:], re.S))[before:]
        tap.ok(re.search("error: .*demo.*USB drive at 0x", got), f"{board}: a drive that is pulled from a hub is named", got)
        put_back(desk, port="1.1")
        got = desk.ask("a king")
        tap.ok(FIGURES.search(got) and "error" not in got, f"{board}: the drive works at another port of the hub", got)
        desk.qmp.command(("device_del", {"id": "hub2"}))
        time.sleep(1)
        before = len(text_of(desk.raw))
        desk.process.stdin.write(b"a cat\r")
        desk.process.stdin.flush()
        got = desk.reply(before)
        tap.ok(FIGURES.search(got) and "error" not in got, f"{board}: a hub that is pulled does not affect other devices", got)
    finally:
        desk.end()


for board in os.environ.get("INGOT_BOARDS", "virt-arm64 virt-riscv64").split():
    test_chat(board)
    test_keys(board)
    test_drive(board)
    if LONG or board == "virt-arm64":  # nothing of this depends on the board
        test_plug(board)
        test_pulled_drive(board)
        test_hub(board)
tap.done()
