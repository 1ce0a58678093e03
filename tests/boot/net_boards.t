#!/usr/bin/python3
"""Boards with a Cadence GEM on QEMU's network: each answers a request like its serial line, notices that the cable is pulled and plugged in
again, and sends no frame without net=."""

import http.client
import json
import os
import re
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import makes, names, slot_drive
from machine import BUILD, ROOT, WORK, Machine, Tap, make_card
from talk import Console

tap = Tap()
QUESTION, WAIT = "What is 7 plus 8?", 60
BOARDS = [board for board in names() if "model=cadence_gem" in (makes(board, "QEMU_NETWORK") or "")]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Gem:
    """A machine whose first network port is QEMU's network; TCP to `port` on this computer reaches the board's server."""

    def __init__(self, board):
        self.board, self.machine, self.port = board, Machine(board), free_port()
        self.dump = os.path.join(WORK, f"net-{board}.pcap")
        self.monitor = os.path.join(WORK, f"net-{board}.{os.getpid()}.qmp")

    def command(self, words, cores=1, drives=()):
        network = ["-nic", f"user,id=lan,model=cadence_gem,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:80",
                   "-object", f"filter-dump,id=dump,netdev=lan,file={self.dump}", "-qmp", f"unix:{self.monitor},server=on,wait=off"]
        return self.machine.command(words, cores, list(drives) + network, os.path.join(BUILD, self.board, "net.bin"))

    def n_frames(self):
        """The number of frames in the dump, a file of libpcap."""
        with open(self.dump, "rb") as f:
            data = f.read()
        at, n = 24, 0
        while at + 16 <= len(data):
            at, n = at + 16 + struct.unpack_from("<I", data, at + 8)[0], n + 1
        return n

    def set_link(self, up):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(WAIT)
            s.connect(self.monitor)
            lines = s.makefile("rw")
            lines.readline()
            for command in ({"execute": "qmp_capabilities"}, {"execute": "set_link", "arguments": {"name": "lan", "up": up}}):
                lines.write(json.dumps(command) + "\n")
                lines.flush()
                while "return" not in (answer := json.loads(lines.readline())) and "error" not in answer:
                    pass
            return "return" in answer

    def ask(self, method, path, body=None, wait=WAIT):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=wait)
        try:
            c.request(method, path, None if body is None else json.dumps(body))
            r = c.getresponse()
            return r.status, r.read().decode()
        except (OSError, http.client.HTTPException) as e:
            return None, repr(e)
        finally:
            c.close()


def reply_of(text):
    lines = re.search(r"\n(.*?)\n+ids:", text, re.S)[1].strip().split("\n")
    return "\n".join(line for line in lines if not re.match(r"\[ *[0-9.]+\] ", line))


def answers_again(gem):
    late = time.monotonic() + WAIT
    while time.monotonic() < late:
        if gem.ask("GET", "/health", wait=5)[0] == 200:
            return True
        time.sleep(0.5)
    return False


def check(board):
    gem = Gem(board)
    card = make_card("net-boards.img", "--power-of-two", os.path.join(ROOT, "models/demo-q8_0.ingot"))
    drives, words = slot_drive(board, card), "temp=0 n=24 ids quiet term=plain"
    with Console(gem, words, drives) as c:
        c.prompt()
        text = c.say(QUESTION)
        time.sleep(0.5)
        tap.ok(gem.n_frames() == 0, f"{board}: without net= no frame leaves the board", text)
    with Console(gem, words + " net=dhcp,open", drives) as c:
        c.expect(r"network: http://10\.0\.2\.15 and http://ingot\.local")
        c.prompt()
        said = reply_of(c.say(QUESTION))
        status, body = gem.ask("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": QUESTION}], "temperature": 0, "max_tokens": 24})
        tap.ok(status == 200 and json.loads(body)["choices"][0]["message"]["content"] == said, f"{board}: a request is answered with what the line says",
               f"{status} {body} {said}")
        tap.ok(gem.set_link(False), f"{board}: a pulled cable is reported")
        time.sleep(1.5)
        tap.ok(gem.ask("GET", "/health", wait=3)[0] is None and "15" in c.say(QUESTION),
               f"{board}: without a cable no client is answered, and the line still works", c.seen)
        tap.ok(gem.set_link(True) and answers_again(gem), f"{board}: with the cable plugged in again it answers")


for board in BOARDS:
    if not os.path.exists(os.path.join(BUILD, board, "net.bin")):
        tap.skip(f"{board} on a network", "lwIP's source is not there: make setup-tests, then make test-images")
        continue
    check(board)

tap.done()
