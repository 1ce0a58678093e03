"""A conversation that a stick carries from one machine with EFI to the next. A person types on the serial line, or on a keyboard
with a display."""

import os
import re
import subprocess
import time

from display import Display, Qmp
from efi import FIRMWARE, Started
from machine import HOST, ROOT, text_of
from talk import Console

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
LINES = ("a fox and an owl", "tell me a story", "and a boat", "what comes next", "and then")
# The machines whose firmware supports a display and a keyboard; U-Boot of Debian 12 has drivers for neither.
DESKS = {"OVMF": [], "AAVMF with ACPI": ["-device", "ramfb", "-device", "qemu-xhci", "-device", "usb-kbd"]}
QCODES = {" ": "spc", "/": "slash"}
REPLY = re.compile(r"^(.+)\n\[\d+ prompt \+ \d+ new tokens?, ", re.M)


def replies(text):
    """The last line of each reply."""
    return REPLY.findall(re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", text))


def wanted(n):
    """The replies to the first n lines on this computer, and its output."""
    done = subprocess.run([HOST, "chat", MODEL, "--temp", "0", "-n", "24"], input="\n".join(LINES[:n]).encode() + b"\n",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return replies(text_of(done.stdout)), text_of(done.stdout)


class Talker:
    """A person at a machine: on its keyboard if it has a display, else on the serial line."""

    def __init__(self, name, console, qmp, settings):
        self.name, self.console, self.qmp, self.settings = name, console, qmp, settings

    def settle(self):
        """Wait for the prompt, and make the settings that the stick does not have."""
        self.console.prompt()
        for setting in self.settings:
            self.console.say("/set " + setting)

    def say(self, line):
        if self.qmp is None:
            return self.console.say(line)
        for key in [QCODES.get(c, c) for c in line] + ["ret"]:
            self.qmp.command(("send-key", {"keys": [{"type": "qcode", "data": key}], "hold-time": 15}))
            time.sleep(0.1)
        return self.console.prompt()

    def shown(self):
        time.sleep(0.5)  # core 0 draws before it sleeps
        return Display(self.qmp.screendump()).text()


def take_turn(tap, what, talker, line, reply):
    """Say a line, check the reply, and save; returns the number of saved tokens."""
    said = talker.say(line)
    tap.ok(replies(said) == [reply], f"{what}: the reply to '{line}' is this computer's", said)
    if talker.qmp is not None:
        shown = talker.shown()
        tap.ok("> " + line in shown and reply[:20] in shown, f"{what}: the display shows what was typed on its keyboard, and the reply", shown)
    said = talker.say("/save")
    saved = re.search(r"(\d+) tokens are saved in saves/chat\.sav", said)
    tap.ok(saved, f"{what}: /save", said)
    return saved.group(1) if saved else "?"


def load(tap, what, talker, tokens):
    said = talker.say("/load")
    tap.ok(re.search(rf"\({tokens} tokens loaded from saves/chat\.sav, ", said), f"{what}: /load has the {tokens} tokens", said)


def converse(tap, what, stick, machines, settings=(), resets=False):
    """One machine after the other loads and continues the conversation that the previous machine saved; after a reset it loads what it saved
    itself."""
    want, text = wanted(len(machines))
    tap.ok(len(want) == len(machines), f"{what}: this computer's replies", text)
    tokens = None
    for number, name in enumerate(machines):
        qmp = Qmp(f"efi-talk-{number}") if name in DESKS else None
        more = DESKS[name] + qmp.arguments() if qmp else ()
        with Console(Started(name, stick, 2, more), "", (), reboots=resets) as console:
            talker = Talker(name, console, qmp, settings)
            talker.settle()
            if number > 0:
                load(tap, f"{what}, {name}", talker, tokens)
            tokens = take_turn(tap, f"{what}, {name}", talker, LINES[number], want[number])
            if resets:
                console.send("/reboot\r")
                talker.settle()
                load(tap, f"{what}, {name} after a reset", talker, tokens)


def missing(machines):
    return "; ".join(f"{name}: {FIRMWARE[name].missing()}" for name in machines if FIRMWARE[name].missing())
