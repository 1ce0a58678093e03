#!/usr/bin/python3
"""One stick, three machines, one conversation: it begins under U-Boot on arm64, goes on on riscv64 and ends on a PC, where a
person types on the keyboard and reads the display. /save and /load carry it, and each reply is what the same chat gives on
this computer, token by token."""

import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from display import Display, Qmp
from efi import FIRMWARE, make_stick
from machine import HOST, ROOT, Tap, text_of
from talk import Console

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
MACHINES = ("U-Boot arm64", "U-Boot riscv64", "OVMF")
LINES = ("a fox and an owl", "tell me a story", "and a boat")
IDS = re.compile(r"^ids: ([\d ]+)$", re.M)
QCODES = {" ": "spc", "/": "slash"}

tap = Tap()


class Started:
    """A machine as talk.Console wants it."""

    def __init__(self, name, stick, more):
        self.board, self.words = name, FIRMWARE[name].start(stick, 2, more)

    def command(self, _words, _cores, _drives):
        return self.words


def wanted():
    """The ids of each reply of the whole chat on this computer."""
    done = subprocess.run([HOST, "chat", MODEL, "--temp", "0", "-n", "24", "--ids", "-q"], input="\n".join(LINES).encode() + b"\n",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return IDS.findall(text_of(done.stdout)), text_of(done.stdout)


def type_keys(qmp, text):
    for key in [QCODES.get(c, c) for c in text] + ["ret"]:
        qmp.command(("send-key", {"keys": [{"type": "qcode", "data": key}], "hold-time": 15}))
        time.sleep(0.1)


def say(console, qmp, line):
    """By the keyboard where there is a monitor, else by the line."""
    if qmp is None:
        return console.say(line)
    type_keys(qmp, line)
    return console.prompt()


def talk(name, stick, number, want):
    qmp = Qmp("efi-stick") if name == "OVMF" else None
    with Console(Started(name, stick, qmp.arguments() if qmp else ()), "", ()) as k:
        k.prompt()
        if number > 0:
            tap.ok(re.search(r"saves/chat\.sav.* tokens|\d+ tokens", say(k, qmp, "/load")), f"{name}: /load", k.seen)
        found = IDS.findall(say(k, qmp, LINES[number]))
        tap.ok(found == want[number:number + 1], f"{name}: turn {number + 1} is this computer's", k.seen)
        if qmp is not None:
            time.sleep(0.5)  # core 0 draws before it sleeps
            shown = Display(qmp.screendump()).text()
            tap.ok("> " + LINES[number] in shown and found and f"ids: {found[0][:20]}" in shown,
                   f"{name}: the display shows what was typed and the reply", shown)
        tap.ok("tokens are saved in saves/chat.sav" in say(k, qmp, "/save"), f"{name}: /save", k.seen)


missing = [f"{name}: {FIRMWARE[name].missing()}" for name in MACHINES if FIRMWARE[name].missing()]
if missing:
    tap.skip("one stick for three machines", "; ".join(missing))
    tap.done()
    sys.exit()
ids, console_text = wanted()
tap.ok(len(ids) == len(LINES), "this computer: three replies", console_text)
one = make_stick("efi-three.img", "term=plain temp=0 n=24 ids", MODEL)
for number, name in enumerate(MACHINES):
    talk(name, one, number, ids)
tap.done()
