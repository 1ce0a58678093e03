#!/usr/bin/python3
"""A USB drive has faults in the middle of a reply: reads stall, are short, babble, have errors on the wire or another command's status, or the drive
is silent. After a single fault the reply is right. After a permanent fault a message names the drive, the prompt is back, and the next line is
answered once the cause is removed. tests/usb_drive.py simulates the drive: QEMU's own is never silent. INGOT_LONG adds permanent silence, in the data
and in all commands."""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, LONG, RISCV64_ANY, WORK, Tap, make_card, run, segments
from talk import Console
from usb_drive import UsbDrive

FAULTS = ("stall", "short", "babble", "wire", "tag")
LINE = "hello there"
LOOKS = 0.7  # seconds; the board looks at its ports four times per second
tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "wire.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True, capture_output=True, timeout=60)
CARD = make_card("wire.img", "--size", "64", MODEL)
WORDS = f"temp=0 n=4 ids spec=off mem={2 * max(size for _, size in segments(MODEL)[1:-1]) + 4 * 4096}"
PORT = r"USB drive at 0x\w+, port \d+"


def ids(text):
    found = re.search(r"^ids: .*", text, re.M)
    return found.group(0) if found else None


class Board:
    def __init__(self, machine):
        self.name, self.told = machine.board, []
        path = os.path.join(WORK, f"wire-{machine.board}.sock")
        if os.path.exists(path):
            os.unlink(path)
        self.drive = UsbDrive(path, CARD)
        self.console = Console(machine, WORDS, UsbDrive.arguments(path))

    def ok(self, good, what, detail=""):
        self.told.append((good, f"{self.name}: {what}", detail))

    def start(self):
        """WANT: the reply without faults."""
        self.console.prompt()
        self.drive.plug()
        said = self.console.prompt()
        self.ok(re.search(f"storage: {PORT}, 64.0 MiB\n.*  usb:wire.ingot", said), "the drive is found, and named", said)
        self.drive.fail("babble")
        said = self.console.say("/model usb:wire")
        self.ok(re.search(f"error: {PORT}: .*a transfer failed", said), "a fault before a model is open is named", said)
        self.drive.fail(None)
        time.sleep(LOOKS)
        said = self.console.say("/model usb:wire") + self.console.say(LINE)
        self.want = ids(said)
        self.ok(self.want and "streamed" in said and "error" not in said and "unplugged" not in said,
                "a reply from the drive that is still plugged in is right", said)

    def ask(self, fault, times=None):
        self.console.say("/reset")
        self.drive.fail(fault, times)
        return self.console.say(LINE)

    def right(self, said, what):
        self.ok(ids(said) == self.want and "error" not in said, f"{what}: the right tokens", said)

    def once(self, fault):
        said = self.ask(fault, 1)
        self.right(said, f"{fault}, once")
        self.ok(self.drive.times == 0, f"{fault}, once: the fault occurred", said)

    def for_good(self, fault, words):
        said = self.ask(fault)
        self.ok(re.search(f"error: .*{PORT}.*{words}", said) and not ids(said), f"{fault}, permanently: the drive is named, and the prompt is back", said)
        self.drive.fail(None)


def play(machine):
    board = Board(machine)
    with board.console:
        board.start()
        for fault in FAULTS:
            board.once(fault)
            board.for_good(fault, "a transfer failed")
        board.once("silent")
        if LONG:
            board.for_good("silent", "did not answer")
            board.right(board.ask(None), "silent, and back")
            board.for_good("mute", "(a transfer failed|did not answer)")
        board.right(board.ask(None), "and then")
    return board.told


if run(["qemu-system-aarch64", "-device", "usb-redir,help"], 30)[0] != 0:
    tap.skip("a USB drive played by a program", "this QEMU has no usb-redir")
    tap.done()
with ThreadPoolExecutor(2) as pool:
    for told in pool.map(play, (ARM64, RISCV64_ANY)):
        for row in told:
            tap.ok(*row)
tap.done()
