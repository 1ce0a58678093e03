#!/usr/bin/python3
"""Two boards with the same name on one network: the second one says so, and what to do. Its line works, and with name= it has a name of its own."""

import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, BUILD, RISCV64_ANY, ROOT, WORK, Tap, card_arguments, make_card
from talk import Console

tap = Tap()
QUESTION = "What is 7 plus 8?"
os.makedirs(WORK, exist_ok=True)


class Board:
    """A machine at one end of a cable of two UDP ports of this computer."""

    def __init__(self, machine, number, ports):
        self.board, self.machine, self.number, (self.port, self.other) = machine.board, machine, number, ports
        self.image = os.path.join(BUILD, machine.board, "net.bin")

    def command(self, words, cores=1, drives=()):
        ends = f"local.type=inet,local.host=127.0.0.1,local.port={self.port},remote.type=inet,remote.host=127.0.0.1,remote.port={self.other}"
        network = ["-netdev", "dgram,id=lan," + ends, "-device", f"virtio-net-device,netdev=lan,mac=52:54:00:12:34:{self.number:02x}"]
        return self.machine.command(f"{words} net=10.0.2.{self.number}/24,open", cores, list(drives) + network, self.image)


def ports():
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    found = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return found


def check(first, second, card):
    """The second board starts when the first board has its name."""
    words = "temp=0 n=24 quiet term=plain"
    with Console(first, words, card) as a:
        a.expect(r"network: http://10\.0\.2\.\d+ and http://ingot\.local")
        a.prompt()
        a.ask(QUESTION)
        with Console(second, words, card) as b:
            b.expect(r"network: http://10\.0\.2\.\d+ and http://ingot\.local")
            b.expect(r"warning: another machine is ingot\.local: name= gives this board another name")
            tap.ok("15" in b.ask(QUESTION), f"{second.board}: a board whose name another one has says so, and its line answers", b.seen)
        with Console(second, words + " name=kitchen", card) as b:
            b.expect(r"network: http://10\.0\.2\.\d+ and http://kitchen\.local")
            b.ask(QUESTION)
            said = b.ask(QUESTION)
            tap.ok("15" in said and "another machine" not in b.seen, f"{second.board}: with name= it has a name of its own", b.seen)
        said = a.ask(QUESTION)
        tap.ok("15" in said and "another machine" not in a.seen, f"{first.board}: the first board keeps its name", a.seen)


near, far = ports()
boards = Board(ARM64, 15, (near, far)), Board(RISCV64_ANY, 16, (far, near))
if all(os.path.exists(b.image) for b in boards):
    card = card_arguments(make_card("net-name.img", os.path.join(ROOT, "models/demo-q8_0.ingot")))
    check(boards[0], boards[1], card)
    check(boards[1], boards[0], card)
else:
    tap.skip("two boards with the same name", "lwIP's source is not there: make setup-tests, then make test-images")
tap.done()
