#!/usr/bin/python3
"""USB drives come and go while the board runs. They are named at the prompt with their models, below the typed line, and selected by name, even
if the board started without a model. Drives are told apart, pulled in the middle of a reply and put back, at hubs and at a second controller."""

import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, LONG, RISCV64_ANY, WORK, Tap, make_card, segments
from talk import Console, Monitor

tap = Tap()
os.makedirs(WORK, exist_ok=True)
SECONDS = 60
LINE = "Hello there"


def model(name, seed):
    out = os.path.join(WORK, f"hotplug-{name}.ingot")
    subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "--seed", str(seed), "-o", out], check=True,
                   capture_output=True, timeout=60)
    return out


MODELS = {name: model(name, seed) for seed, name in enumerate(("one", "two"), 1)}
CARDS = {name: make_card(f"hotplug-{name}.img", "--size", "64", path) for name, path in MODELS.items()}
MEMORY = 2 * max(size for _, size in segments(MODELS["one"])[1:-1]) + 4 * 4096
PACE = 2 << 20  # bytes per second: a reply takes two seconds


def ids(text):
    found = re.search(r"^ids: .*", text, re.M)
    return found.group(0) if found else None


class Board:
    """A board with USB controllers; QEMU has opened the files of the drives that are plugged in later."""

    def __init__(self, machine, controllers=1, words=""):
        path = os.path.join(WORK, f"hotplug-{machine.board}.qmp")
        if os.path.exists(path):
            os.unlink(path)
        drives = ["-object", f"throttle-group,id=pace,x-bps-read={PACE}"]
        for name, card in CARDS.items():
            drives += ["-blockdev", f"driver=throttle,node-name={name},throttle-group=pace,file.driver=raw,"
                       f"file.file.driver=file,file.file.locking=off,file.file.filename={card}"]
        for number in range(controllers):
            drives += ["-device", f"qemu-xhci,id=usb{number or ''}"]
        drives += ["-qmp", f"unix:{path},server=on,wait=off"]
        self.console = Console(machine, f"temp=0 n=16 ids spec=off mem={MEMORY} {words}", drives)
        self.first = self.console.prompt()
        self.monitor = Monitor(path)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.monitor.close()
        self.console.__exit__(*what)

    def plug(self, node, bus="usb.0", serial=None, **where):
        """QEMU keeps the file until the last read of the old drive has ended."""
        late = time.monotonic() + SECONDS
        while "return" not in (said := self.monitor.do("device_add", driver="usb-storage", id=f"stick-{node}", bus=bus,
                                                       drive=node, serial=serial or node, **where)):
            assert time.monotonic() < late, said
            time.sleep(0.2)

    def pull(self, node):
        assert "return" in self.monitor.do("device_del", id=f"stick-{node}")


def test_board(machine):
    name = machine.board
    with Board(machine) as b:
        k = b.console
        tap.ok("no model is loaded" in b.first, f"{name}: the board starts without a model", b.first)
        k.send("/mod")
        b.plug("one")
        said = k.prompt_with("/mod")
        tap.ok(re.search(r"storage: USB drive at 0x\w+, port \d+, 64.0 MiB\n.*  usb:hotplug-one.ingot, .*\n.*no model is loaded: /model",
                         said), f"{name}: a drive that is plugged in is named, with its models", said)
        said = k.say("els")
        tap.ok("usb:hotplug-one.ingot" in said, f"{name}: typed text stays, and /models lists the drive", said)
        said = k.say("/model usb:hotplug-one")
        unbroken = k.say(LINE)
        tap.ok("error" not in said and ids(unbroken) and "streamed" in unbroken, f"{name}: a model on the drive gives a reply", said + unbroken)

        b.pull("one")
        said = k.prompt()
        tap.ok(re.search(r"storage: USB drive at 0x\w+, port \d+: it was unplugged", said), f"{name}: a drive that is unplugged is named", said)
        k.say("/reset")
        said = k.say(LINE)
        tap.ok("error:" in said and not ids(said), f"{name}: the answer to the next line says that the drive is missing", said)
        b.plug("two")
        said = k.prompt()
        tap.ok("usb:hotplug-two.ingot" in said, f"{name}: another drive is named", said)
        k.say("/reset")
        said = k.say(LINE)
        tap.ok("error:" in said and not ids(said), f"{name}: the other drive is not taken for the first", said)
        said = k.change("usb:hotplug-two")
        other = k.say(LINE)
        tap.ok("error" not in said and ids(other) and ids(other) != ids(unbroken), f"{name}: its model loads by its name", said + other)

        b.plug("one")
        said = k.prompt()
        tap.ok("usb:hotplug-one.ingot" in said, f"{name}: the first drive is recognized in addition to the second", said)
        said = k.say("/models")
        tap.ok("usb:hotplug-one.ingot" in said and "usb:hotplug-two.ingot" in said, f"{name}: /models lists both", said)
        k.say("/reset")
        k.send(LINE + "\r")
        k.expect(LINE + r"[\r\n]+(?:\[[^\n]*\n)*[^\r\n\[]")  # the reply's first letter, after lines of progress
        b.pull("two")
        said = k.prompt()
        tap.ok(re.search("error: .*USB drive at 0x", said) and ids(other).startswith(ids(said)) and
               len(ids(said)) < len(ids(other)), f"{name}: a drive pulled in the middle of a reply is named, and the prompt is back", said)
        if "it was unplugged" not in said:
            said = k.prompt()
        tap.ok("it was unplugged" in said, f"{name}: the removal is reported at the prompt", said)
        b.plug("two")
        said = k.prompt()
        tap.ok("usb:hotplug-two.ingot" in said, f"{name}: a drive that is put back is reported", said)
        k.say("/reset")
        said = k.say(LINE)
        tap.ok(ids(said) == ids(other) and "error" not in said, f"{name}: the drive gives the same tokens again", said)


def test_hub(machine):
    """Plug in a hub that has a drive behind it; then use a drive at a second controller."""
    name = machine.board
    with Board(machine, 2) as b:
        k = b.console
        assert "return" in b.monitor.do("device_add", driver="usb-hub", id="hub", bus="usb.0", port="2")
        b.plug("one", port="2.3")
        said = k.prompt()
        tap.ok(re.search(r"USB drive at 0x\w+, port \d+\.3, .*\n.*usb:hotplug-one", said), f"{name}: a drive at a new hub is named", said)
        b.plug("two", bus="usb1.0")
        said = k.prompt()
        tap.ok("usb:hotplug-two.ingot" in said, f"{name}: a drive at a second controller is named", said)
        for model_name in MODELS:
            said = k.change(f"usb:hotplug-{model_name}") + k.say(LINE)
            tap.ok(ids(said) and "error" not in said, f"{name}: {model_name} answers", said)
        assert "return" in b.monitor.do("device_del", id="hub")
        said = k.prompt()
        tap.ok("it was unplugged" in said, f"{name}: a hub pulled with its drive is reported", said)
        said = k.say(LINE)
        tap.ok(ids(said) and "error" not in said, f"{name}: the other drive continues to work", said)


for machine in (ARM64, RISCV64_ANY):
    test_board(machine)
    if LONG or machine is ARM64:  # nothing of this depends on the board
        test_hub(machine)
tap.done()
