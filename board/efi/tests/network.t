#!/usr/bin/python3
"""A machine with EFI on the network: the firmware's own driver (SimpleNetwork) carries the frames. The server's reply is the same as
at the serial line, which still works afterwards."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tests"))
from display import Qmp
from efi import FIRMWARE, Started, make_stick, put_program
from machine import BUILD, ROOT, Tap
from net_board import NetBoard, reply_of
from talk import Console

tap = Tap()
QUESTION, WORDS = "What is 7 plus 8?", "temp=0 n=24 ids quiet term=plain"
VIRTIO = "virtio-net-pci"
# U-Boot's driver of the e1000 leaves the checksum on received frames, so the longest frames have 1518 bytes.
MACHINES = (("AAVMF with ACPI", VIRTIO), ("U-Boot arm64", VIRTIO), ("U-Boot arm64", "e1000"), ("U-Boot riscv64", VIRTIO), ("OVMF", VIRTIO))
LONG = {"metadata": {"long": "x" * 4000}}  # fills frames


class Machine(NetBoard):
    """A machine with this firmware; its server answers on TCP port `port` of this computer."""

    def __init__(self, name, card):
        super().__init__()
        self.board, self.card = name, card

    def started(self, stick, more=()):
        return Started(self.board, stick, 1, [*more, "-netdev", f"user,id=lan,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:80",
                                              "-device", self.card + ",netdev=lan,romfile="])


def stick_of(name, words):
    board = FIRMWARE[name].board
    stick = make_stick(f"net-{board}.img", words, os.path.join(ROOT, "models/demo-q8_0.ingot"), board=board)
    with open(os.path.join(BUILD, board, "net.efi"), "rb") as f:
        put_program(stick, board, f.read())
    return stick


def check(name, card):
    machine, what = Machine(name, card), f"{name}, {card}"
    with Console(machine.started(stick_of(name, WORDS + " net=dhcp,open")), "", ()) as c:
        text = c.expect(r"network: http://10\.0\.2\.15 and http://ingot\.local|warning: there is no network[^\n]*")[0]
        if b"warning" in text:
            tap.ok(False, f"{what}: it has an address", c.seen)
            return
        c.prompt()
        said = reply_of(c.say(QUESTION))
        status, body = machine.ask("POST", "/v1/chat/completions",
                                   {"messages": [{"role": "user", "content": QUESTION}], "temperature": 0, "max_tokens": 24, **LONG})
        tap.ok("15" in said and status == 200 and json.loads(body)["choices"][0]["message"]["content"] == said,
               f"{what}: a long request is answered with what the line says",
               f"{status} {body} {said}")
        status, body = machine.ask("GET", "/health")
        tap.ok(status == 200 and "15" in c.say("/reset") + c.say(QUESTION), f"{what}: and the line goes on", c.seen)


def unplug_and_start(qmp):
    late = time.monotonic() + 20
    while True:
        try:
            qmp.command(("set_link", {"name": "first", "up": False}), ("cont", {}))
            return
        except OSError:  # QEMU does not listen yet
            if time.monotonic() > late:
                raise
            time.sleep(0.1)


def check_cables(name):
    """The first of two cards has no cable."""
    machine, qmp = Machine(name, VIRTIO), Qmp("efi-cables")
    first = ["-netdev", "user,id=other,restrict=on", "-device", VIRTIO + ",id=first,netdev=other,romfile="]
    with Console(machine.started(stick_of(name, WORDS + " net=10.0.2.15/24,open"), first + qmp.arguments() + ["-S"]), "", ()) as c:
        unplug_and_start(qmp)
        c.prompt()
        tap.ok(machine.ask("GET", "/health")[0] == 200, f"{name}, two cards: the card with a cable is used", c.seen)


for name, card in MACHINES:
    missing = FIRMWARE[name].missing()
    if missing:
        tap.skip(f"{name} on a network", missing)
    elif not os.path.exists(os.path.join(BUILD, FIRMWARE[name].board, "net.efi")):
        tap.skip(f"{name} on a network", "lwIP's source is not there: make setup-tests, then make test-images")
    else:
        check(name, card)
        if name == "OVMF":
            check_cables(name)

tap.done()
