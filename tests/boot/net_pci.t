#!/usr/bin/python3
"""A board on QEMU's network, with network card and drive on PCI Express: it answers while its drive works, and time=ntp sets its date; without net=
it sends no frame."""

import json
import os
import re
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, BUILD, RISCV64_ANY, ROOT, WORK, Tap, make_card, nvme_arguments
from net_board import NetBoard, reply_of
from talk import Console

tap = Tap()
QUESTION, WAIT = "What is 7 plus 8?", 60
DATE, TO_1970 = 1935990489, 2208988800  # 8 May 2031, 07:08:09 UTC
# On riscv64 the card is on the root bus, where QEMU also gives it the registers from before virtio 1; on arm64 it is behind a port,
# without these registers.
CARDS = {ARM64: ["-device", "pcie-root-port,id=lanport,chassis=9", "-device", "virtio-net-pci,netdev=lan,bus=lanport,romfile="],
         RISCV64_ANY: ["-device", "virtio-net-pci,netdev=lan,romfile="]}


class TimeServer:
    """An SNTP server on loopback, which the board reaches as 10.0.2.2. Before each right answer it sends three invalid
    answers."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port, self.asked = self.socket.getsockname()[1], []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            question, client = self.socket.recvfrom(2048)
            self.asked.append(question)
            now = struct.pack(">II", DATE + TO_1970, 0)
            good = struct.pack(">BBBBII4s", 0x24, 1, 6, 0xEC, 0, 0, b"TEST") + now + question[40:48] + now + now
            for answer in (b"", good[:24] + bytes(8) + good[32:], b"\xe4" + good[1:24] + os.urandom(8) + good[32:], good):
                self.socket.sendto(answer, client)


class Pci(NetBoard):
    def __init__(self, machine):
        super().__init__()
        self.machine, self.board = machine, machine.board
        self.dump = os.path.join(WORK, f"net-pci-{self.board}.pcap")
        self.image = os.path.join(BUILD, self.board, "net.bin")

    def command(self, words, cores=1, drives=()):
        network = ["-netdev", f"user,id=lan,ipv6=off,hostfwd=tcp:127.0.0.1:{self.port}-:80", *CARDS[self.machine],
                   "-object", f"filter-dump,id=dump,netdev=lan,file={self.dump}"]
        return self.machine.command(words, cores, list(drives) + network, self.image)


def check(machine):
    board, net, server = machine.board, Pci(machine), TimeServer()
    drive = nvme_arguments(make_card("net-pci.img", os.path.join(ROOT, "models/demo-q8_0.ingot")))
    words = "temp=0 n=24 ids quiet term=plain"
    with Console(net, words + " time=ntp", drive) as c:
        text = c.prompt()
        time.sleep(0.5)
        tap.ok(os.path.getsize(net.dump) == 24 and "time= has no effect without net=" in text, f"{board}: without net= no frame leaves the board", text)
    with Console(net, words + f" learn=on net=dhcp,open time=ntp,10.0.2.2:{server.port}", drive) as c:
        text = c.expect(r"network: http://10\.0\.2\.15 and http://ingot\.local")
        c.expect(r"network: the time is 2031-05-08 07:08 UTC, from 10\.0\.2\.2")
        c.prompt()
        said = reply_of(c.say(QUESTION))
        status, body = net.ask("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": QUESTION}], "temperature": 0, "max_tokens": 24})
        answer = json.loads(body)
        tap.ok(status == 200 and answer["choices"][0]["message"]["content"] == said, f"{board}: a request is answered with what the line says", f"{body} {said}")
        tap.ok(DATE - 2 <= answer["created"] <= DATE + WAIT, f"{board}: the board's date is the time server's", str(answer["created"] - DATE))
        tap.ok(re.search(r"\(2031-05-08 07:\d\d\)", c.say("/time")), f"{board}: the date of memories is the time server's", c.seen)
        tap.ok(len(server.asked) == 1 and server.asked[0][0] == 0x23 and server.asked[0][1:40] == bytes(39),
               f"{board}: the time server gets one question, which says nothing about the board",
               repr(server.asked))
        c.change("demo-q8_0.ingot")
        tap.ok("15" in c.say(QUESTION), f"{board}: the drive is read while the network card works", c.seen)
    with Console(net, words + " net=dhcp,open time=noon", drive) as c:
        text = c.prompt()
        tap.ok("warning: time= takes ntp, ntp,ADDRESS" in text.replace("\n", "") and "there is no network" not in text,
               f"{board}: an invalid time= is reported, and the network works", text)


for machine in (ARM64, RISCV64_ANY):
    if not os.path.exists(os.path.join(BUILD, machine.board, "net.bin")):
        tap.skip(f"{machine.board} on a network", "lwIP's source is not there: make setup-tests, then make test-images")
        continue
    check(machine)

tap.done()
