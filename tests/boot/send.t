#!/usr/bin/python3
"""Files over the line: `ingot send` to boards that run, cut in the middle and taken up again, by a host that dies, a board that dies and
a line with noise; what a card refuses; YMODEM from lrzsz's sb. Each time the card is looked at by fsck.vfat and mtools, and
the board loads what came without a restart."""

import atexit
import os
import random
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, RISCV64_V, ROOT, WORK, Tap, make_card

os.makedirs(WORK, exist_ok=True)
DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
SMALL = os.path.join(ROOT, "models/demo-q4_0.ingot")
LILA = os.path.join(ROOT, "presets/lila.txt")
FOLDER = tempfile.mkdtemp(prefix="ingot-send-")
ENV = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "MTOOLSRC": "/dev/null", "LC_ALL": "C.UTF-8"}
tap = Tap()
atexit.register(shutil.rmtree, FOLDER, True)


class Board:
    """A board with a card that takes writes, its line a socket."""

    def __init__(self, machine, name, card, words="", cores=1):
        self.machine, self.name, self.card, self.words, self.cores = machine, name, card, words, cores
        self.line = f"unix:{FOLDER}/{name}"
        self.start()

    def start(self):
        drive = ["-drive", f"if=none,id=card,format=raw,file.locking=off,file={self.card}", "-device", "virtio-blk-device,drive=card"]
        command = self.machine.command(self.words, self.cores, drive) + ["-serial", f"{self.line},server=on,wait=off"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)
        late = time.monotonic() + 20
        while not os.path.exists(self.line[5:]) and time.monotonic() < late:
            time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()
        if os.path.exists(self.line[5:]):
            os.unlink(self.line[5:])

    def say(self, *words, timeout=120):
        done = subprocess.run([HOST, "serial", self.line, *words], capture_output=True, text=True, timeout=timeout)
        return done.stdout + done.stderr


def send(to, path, *words, timeout=200):
    done = subprocess.run([HOST, "send", path, "--to", to, *words], capture_output=True, text=True, timeout=timeout)
    return done.returncode, done.stdout + done.stderr


def card_of(name, *models):
    return make_card(name, "--size", "48", *models)


def partition(card):
    """A copy of the card's volume."""
    out = os.path.join(FOLDER, "volume.img")
    with open(card, "rb") as f, open(out, "wb") as to:
        f.seek(1 << 20)
        to.write(f.read())
    return out


def fsck(card):
    done = subprocess.run(["fsck.vfat", "-n", partition(card)], capture_output=True, text=True, env=ENV)
    return done.returncode == 0, done.stdout + done.stderr


def on_card(card, path):
    out = os.path.join(FOLDER, "out")
    if os.path.exists(out):
        os.unlink(out)
    subprocess.run(["mcopy", "-n", "-i", partition(card), "::" + path, out], capture_output=True, env=ENV)
    if not os.path.exists(out):
        return None
    with open(out, "rb") as f:
        return f.read()


def same(card, path, source):
    with open(source, "rb") as f:
        return on_card(card, path) == f.read()


class Between:
    """A socket in front of a board's, which may stop, or spoil bytes."""

    def __init__(self, board, name, spoils=0, cuts_after=None):
        self.path, self.board, self.spoils, self.cuts_after = f"{FOLDER}/{name}", board, spoils, cuts_after
        self.n = self.n_spoilt = 0
        self.ends = False
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(1)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def spoil(self, data):
        data = bytearray(data)
        for i in range(len(data)):
            self.n += 1
            if self.spoils and self.n > 2000 and self.n % self.spoils == 0 and data[i] not in (3, 0x11, 0x13):
                turned = data[i] ^ 0x40
                if turned not in (3, 0x11, 0x13):
                    data[i] = turned
                    self.n_spoilt += 1
        return bytes(data)

    def run(self):
        ours, _ = self.listener.accept()
        its = socket.socket(socket.AF_UNIX)
        its.connect(self.board.line[5:])
        late = time.monotonic() + 200
        while not self.ends and time.monotonic() < late:
            ready, _, _ = select.select([ours, its], [], [], 0.2)
            for s in ready:
                data = s.recv(4096)
                if not data:
                    self.ends = True
                else:
                    (its if s is ours else ours).sendall(self.spoil(data))
            if self.cuts_after is not None and self.n > self.cuts_after:
                self.ends = True
        ours.close()
        its.close()
        self.listener.close()


# A board that talks to people, and one that talks to programs; then it loads what came, without a restart.
card = card_of("send-card.img", DEMO)
board = Board(ARM64, "arm64", card)
status, text = send(board.line, SMALL, "--load")
tap.ok(status == 0 and "demo-q4_0.ingot" in text and "is loaded" in text, "a model comes to a board that talks to people, and is loaded", text)
tap.ok(same(card, "models/demo-q4_0.ingot", SMALL) and same(card, "models/demo-q8_0.ingot", DEMO) and fsck(card)[0],
       "it is on the card, and the other one, too", fsck(card))
status, text = send(board.line, LILA)
tap.ok(status == 0 and same(card, "presets/lila.txt", LILA) and fsck(card)[0], "a preset, in a folder that is made", (text, fsck(card)))
status, text = send(board.line, DEMO, "--name", "demo-q4_0.ingot")
tap.ok(status == 0 and same(card, "models/demo-q4_0.ingot", DEMO) and fsck(card)[0], "a file in place of the model at work", (text, fsck(card)))
status, text = send(board.line, SMALL, "--name", "other.ingot")
tap.ok(status == 1 and "/model first" in text, "then the model is loaded first", text)
status, text = send(board.line, DEMO, "--name", "demo-q4_0.ingot", "--load")
tap.ok(status == 1, "whatever comes", text)
board.kill()

board = Board(ARM64, "json", card, "mode=json")
reply = board.say("-p", "/model demo-q4_0", "-q") + board.say("-p", "What is 7 plus 8?", "--temp", "0", "-q")
tap.ok("15" in reply, "which is the new one after a restart", reply)

# What is refused, each by name, and the board is there afterwards.
gguf, empty = os.path.join(FOLDER, "x.gguf"), os.path.join(FOLDER, "empty.ingot")
with open(gguf, "wb") as f:
    f.write(b"GGUF" + bytes(100))
open(empty, "wb").close()
large = os.path.join(FOLDER, "large.ingot")
with open(DEMO, "rb") as f, open(large, "wb") as to:
    to.write(f.read())
    to.truncate(60 << 20)
rows = [((gguf,), "ingot pack"), ((empty,), "1 byte"), ((large,), "no room"), ((DEMO, "--name", "a b.ingot"), "letters, digits"),
        ((DEMO, "--name", "x.bin"), "a card takes"), ((os.path.join(FOLDER, "none"),), "no such file")]
said = [send(board.line, *words) for words, _ in rows]
tap.ok(all(s == 1 and want in t for (s, t), (_, want) in zip(said, rows)), "what a card does not take is refused by name", said)
tap.ok("demo" in board.say("-p", "/models", "-q"), "and the board answers as before")
tap.ok("PATH BYTES" in board.say("-p", "/receive x", "-q"), "a program that does not say how much is told what to say")

# Cut: by a host that dies, by Ctrl-C, by a board that loses its power; each time the rest is sent.
between = Between(board, "cut", cuts_after=500000)
status, text = send("unix:" + between.path, DEMO, "--name", "cut.ingot")
tap.ok(status == 1 and on_card(card, "models/cut.ingot") is None and fsck(card)[0], "a line that is cut leaves the card as it was", (text, fsck(card)))
time.sleep(1)
child = subprocess.Popen([HOST, "send", DEMO, "--to", board.line, "--name", "cut.ingot"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
text = child.communicate(timeout=200)[0]
found = re.search(r"\((\d+\.\d+) MiB are there", text)
tap.ok(child.returncode == 0 and found and 0.2 < float(found.group(1)) < 0.6 and same(card, "models/cut.ingot", DEMO), "the next try goes on where it was", text)

between = Between(board, "power", cuts_after=700000)
status, text = send("unix:" + between.path, DEMO, "--name", "power.ingot")
board.kill()
tap.ok(status == 1 and fsck(card)[0], "a board without power leaves the card as it was", text)
board.start()
status, text = send(board.line, DEMO, "--name", "power.ingot")
tap.ok(status == 0 and "are there" in text and same(card, "models/power.ingot", DEMO) and fsck(card)[0], "and goes on, too", (text, fsck(card)))

noise = os.path.join(FOLDER, "noise.ingot") # bytes that no free cluster has from before
with open(SMALL, "rb") as f, open(noise, "wb") as to:
    to.write(f.read(4096) + random.Random(1).randbytes(700000))
between = Between(board, "noise", spoils=9973)
status, text = send("unix:" + between.path, noise)
tap.ok(status == 0 and between.n_spoilt > 50 and same(card, "models/noise.ingot", noise), f"over a line that spoilt {between.n_spoilt} bytes", text)

child = subprocess.Popen([HOST, "send", DEMO, "--to", board.line, "--name", "stopped.ingot"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
time.sleep(1.5)
child.send_signal(2)
text = child.communicate(timeout=60)[0]
tap.ok((child.returncode == 1 and "goes on from here" in text) or child.returncode == 0, "Ctrl-C stops it", text)
tap.ok("demo" in board.say("-p", "/models", "-q"), "and the board answers as before")
board.kill()

# RISC-V, and the same bits from what came as from what was there.
card = card_of("send-riscv.img", DEMO)
board = Board(RISCV64_V, "riscv64", card, "mode=json", cores=2)
status, text = send(board.line, SMALL, "--load")
reply = board.say("-p", "What is 7 plus 8?", "--temp", "0", "-q")
tap.ok(status == 0 and "15" in reply and same(card, "models/demo-q4_0.ingot", SMALL) and fsck(card)[0], "on RISC-V", (text, reply))
board.kill()


# YMODEM, as a terminal program sends it.
def ymodem(command, *files, program=("sb", "-q"), wait=60, keys=b""):
    """What the board says from the command on; sb has the line in between."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(board.line[5:])
    said = b""

    def hear(until, seconds):
        nonlocal said
        late = time.monotonic() + seconds
        while not re.search(until, said) and time.monotonic() < late:
            if select.select([line], [], [], 0.2)[0]:
                said += line.recv(4096)
        return said

    line.sendall(b"\r")
    hear(rb"> $", 60)
    said = b""
    line.sendall(command.encode() + b"\r")
    hear(rb"Ctrl-C ends this\)\r?\n|error", 20)
    status = None
    if files:
        status = subprocess.run([*program, *files], stdin=line, stdout=line, stderr=subprocess.DEVNULL, timeout=wait).returncode
    line.sendall(keys)
    hear(rb"(loads it|bytes/s|error: [^\n]*)[^>]*> $", 60)
    line.close()
    return status, said.decode("utf-8", "replace")


if shutil.which("sb") is None:
    tap.skip("YMODEM by sb", "lrzsz is not installed")
else:
    card = card_of("send-ymodem.img", DEMO)
    board = Board(ARM64, "ymodem", card)
    status, text = ymodem("/receive", SMALL)
    tap.ok(status == 0 and "/model demo-q4_0.ingot loads it" in text and same(card, "models/demo-q4_0.ingot", SMALL) and fsck(card)[0],
           "sb sends a model", (status, text, fsck(card)))
    status, text = ymodem("/receive", LILA, program=("sb", "-q"))
    tap.ok(status == 0 and same(card, "presets/lila.txt", LILA), "and a preset, which goes where it belongs", (status, text))
    status, text = ymodem("/receive", gguf)
    tap.ok("a card takes" in text and fsck(card)[0], "what is none of them is refused", (status, text))
    status, text = ymodem("/receive", keys=b"\3")
    tap.ok("error: the sender stopped" in text, "Ctrl-C ends the wait", text)
    board.kill()
tap.done()
