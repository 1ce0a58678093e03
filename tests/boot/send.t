#!/usr/bin/python3
"""`ingot send` sends files over the line to running boards: over a noisy line, and resumed after the host or the board died. Other tests are files that a card
refuses, and YMODEM from lrzsz's sb. Each time fsck.vfat and mtools check the card, and the board loads the file without a restart. The emulated line is slow,
so the models are a few KiB large. A transfer resumes at steps of 64 KiB, so only files that are cut are longer than two steps."""

import atexit
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import board_line
from machine import ARM64, HOST, LONG, RISCV64_ANY, ROOT, WORK, Tap, make_card, run
from talk import make_model

os.makedirs(WORK, exist_ok=True)
STEP = 65536  # TRANSFER_STEP_BYTES
ON_THE_WAY = 40000  # the most bytes that a cut may lose: the window, and what frames add to it
FIRST, SMALL, OTHER = (make_model("send-" + name, seed, dim=32, layers=1) for name, seed in (("first", 1), ("small", 2), ("other", 3)))
LILA = os.path.join(ROOT, "presets/lila.txt")
FOLDER = tempfile.mkdtemp(prefix="ingot-send-")
ENV = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "MTOOLSRC": "/dev/null", "LC_ALL": "C.UTF-8"}
tap = Tap()
atexit.register(shutil.rmtree, FOLDER, True)


class Board(board_line.Board):
    def __init__(self, machine, name, card, words="", cores=1):
        super().__init__(machine, FOLDER, name, card, words, cores, writes=True)

    def say(self, *words, timeout=120):
        done = subprocess.run([HOST, "serial", self.line, *words], capture_output=True, text=True, timeout=timeout)
        return done.stdout + done.stderr


def send(to, path, *words, timeout=200):
    done = subprocess.run([HOST, "send", path, "--to", to, *words], capture_output=True, text=True, timeout=timeout)
    return done.returncode, done.stdout + done.stderr


def reply_of(model):
    """The first twelve tokens of this computer's reply, which a board's reply must equal."""
    return run([HOST, "run", model, "-p", "What is 7 plus 8?", "--temp", "0", "-n", "12", "--spec", "off", "-q"])[1].strip()


def answers(board, model):
    said = board.say("-p", "What is 7 plus 8?", "--temp", "0", "-n", "12", "-q")
    return len(said.strip()) > 4 and said.strip() == reply_of(model), said


def card_of(name, *models):
    return make_card(name, "--size", "48", *models)


def fsck(card):
    volume = os.path.join(FOLDER, "volume.img")
    with open(card, "rb") as f, open(volume, "wb") as to:
        f.seek(1 << 20)
        to.write(f.read())
    done = subprocess.run(["fsck.vfat", "-n", volume], capture_output=True, text=True, env=ENV)
    return done.returncode == 0, done.stdout + done.stderr


def on_card(card, path):
    done = subprocess.run(["mcopy", "-n", "-i", card + "@@1M", "::" + path, "-"], capture_output=True, env=ENV)
    return done.stdout if done.returncode == 0 else None


def same(card, path, source):
    with open(source, "rb") as f:
        return on_card(card, path) == f.read()


class Between:
    """A socket in front of a board's socket, which may corrupt bytes, or stop or call a function after a number of bytes."""

    def __init__(self, board, name, spoils=0, cuts_after=None, calls_after=None, calls=None):
        self.path, self.board, self.spoils, self.cuts_after = f"{FOLDER}/{name}", board, spoils, cuts_after
        self.calls_after, self.calls = calls_after, calls
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
            at = self.n + i
            if at > 2000 and at % self.spoils == 0 and data[i] not in (3, 0x11, 0x13):
                turned = data[i] ^ 0x40
                if turned not in (3, 0x11, 0x13):
                    data[i] = turned
                    self.n_spoilt += 1
        return bytes(data)

    def carry(self, data):
        data = self.spoil(data) if self.spoils else data
        self.n += len(data)
        if self.calls and self.n > self.calls_after:
            self.calls()
            self.calls = None
        return data

    def run(self):
        ours, _ = self.listener.accept()
        its = socket.socket(socket.AF_UNIX)
        its.connect(self.board.path)
        late = time.monotonic() + 200
        while not self.ends and time.monotonic() < late:
            ready, _, _ = select.select([ours, its], [], [], 0.2)
            for s in ready:
                data = s.recv(4096)
                if not data:
                    self.ends = True
                    continue
                try:
                    (its if s is ours else ours).sendall(self.carry(data))
                except BrokenPipeError:  # a refused sender has left
                    self.ends = True
            if self.cuts_after is not None and self.n > self.cuts_after:
                self.ends = True
        ours.close()
        its.close()
        self.listener.close()


def padded(name, model, size):
    """A file of `size` bytes: the model, followed by random bytes, which no free cluster can have contained before."""
    out = os.path.join(FOLDER, name)
    with open(model, "rb") as f, open(out, "wb") as to:
        begin = f.read()
        to.write(begin + random.Random(name).randbytes(size - len(begin)))
    return out


# A board in chat mode, then a board in JSON mode, gets the file and loads it without a restart.
card = card_of("send-card.img", FIRST)
board = Board(ARM64, "arm64", card, "n=12")
status, text = send(board.line, SMALL, "--load")
tap.ok(status == 0 and "send-small.ingot" in text and "is loaded" in text, "a model is sent to a board that talks to people, and is loaded", text)
tap.ok(same(card, "models/send-small.ingot", SMALL) and same(card, "models/send-first.ingot", FIRST) and fsck(card)[0],
       "the card has the new model and the other one", fsck(card))
status, text = send(board.line, LILA)
tap.ok(status == 0 and same(card, "presets/lila.txt", LILA) and fsck(card)[0], "a preset is stored in a new folder", (text, fsck(card)))
status, text = send(board.line, OTHER, "--name", "send-small.ingot")
tap.ok(status == 0 and same(card, "models/send-small.ingot", OTHER) and fsck(card)[0], "a file can replace the loaded model", (text, fsck(card)))
status, text = send(board.line, SMALL, "--name", "more.ingot")
tap.ok(status == 1 and "/model first" in text, "a file in place of the loaded model is refused with the advice to load another first", text)
status, text = send(board.line, OTHER, "--name", "send-small.ingot", "--load")
tap.ok(status == 1, "any file's contents arrive unchanged", text)
board.kill()

board = Board(ARM64, "json", card, "mode=json")
board.say("-p", "/model send-small", "-q")
good, reply = answers(board, OTHER)
tap.ok(good and reply_of(OTHER) != reply_of(SMALL), "the file is the new one after a restart", reply)

# Each refusal has its own message, and the board works afterwards.
gguf, empty = os.path.join(FOLDER, "x.gguf"), os.path.join(FOLDER, "empty.ingot")
with open(gguf, "wb") as f:
    f.write(b"GGUF" + bytes(100))
open(empty, "wb").close()
large = shutil.copy(FIRST, os.path.join(FOLDER, "large.ingot"))
os.truncate(large, 60 << 20)
rows = [((gguf,), "ingot pack"), ((empty,), "is empty"), ((large,), "no room"), ((SMALL, "--name", "a b.ingot"), "letters, digits"),
        ((SMALL, "--name", "x.bin"), "a card takes"), ((os.path.join(FOLDER, "none"),), "no such file")]
said = [send(board.line, *words) for words, _ in rows]
tap.ok(all(s == 1 and want in t for (s, t), (_, want) in zip(said, rows)), "a file that a card cannot take is refused by name", said)
tap.ok("send-first" in board.say("-p", "/models", "-q"), "after a refused file, the board answers as before")
tap.ok("PATH BYTES" in board.say("-p", "/receive x", "-q"), "a program that omits the size is told to give it")
for length, cause in ((200000000, "the card has no room for it: delete files"), (1 << 32, "a file on FAT32 has 1 to 4294967295 bytes"),
                      (0, "a file on FAT32 has 1 to 4294967295 bytes")):
    text = board.say("-p", f"/receive models/x.ingot {length}", "-q")
    tap.ok(text.strip().endswith(cause) and text.count(cause) == 1, f"a file of {length} bytes: the error has this cause and no second one", text)

# Transfers are stopped by a cut line, by the board's loss of power, and by Ctrl-C; after the first two the rest is sent. With LONG the line is
# cut in every step of a longer file.
LENGTH = 10 * STEP if LONG else 2 * STEP
for cut in range(STEP + ON_THE_WAY, LENGTH, STEP):
    source = padded(f"cut-{cut}.ingot", SMALL, LENGTH)
    between = Between(board, f"between-{cut}", cuts_after=cut)
    name = f"models/cut-{cut}.ingot"
    status, text = send("unix:" + between.path, source)
    tap.ok(status == 1 and on_card(card, name) is None and fsck(card)[0], f"a line that is cut after {cut} bytes leaves the card unchanged", (text, fsck(card)))
    status, text = send(board.line, source)
    found = re.search(r"\((\d+\.\d+) MiB are there", text)
    tap.ok(status == 0 and found and cut - ON_THE_WAY - STEP - 8192 < float(found.group(1)) * (1 << 20) < cut and same(card, name, source),
           "the next try continues where the transfer stopped", text)

power = padded("power.ingot", SMALL, 2 * STEP)
between = Between(board, "power", cuts_after=STEP + ON_THE_WAY)
status, text = send("unix:" + between.path, power)
board.kill()
tap.ok(status == 1 and fsck(card)[0], "a power cut leaves the card unchanged", text)
board.start()
status, text = send(board.line, power)
tap.ok(status == 0 and "are there" in text and same(card, "models/power.ingot", power) and fsck(card)[0], "an upload to a board whose power went off continues", (text, fsck(card)))

noise = padded("noise.ingot", SMALL, 700000 if LONG else 120000)
between = Between(board, "noise", spoils=9973)
status, text = send("unix:" + between.path, noise)
tap.ok(status == 0 and between.n_spoilt > (50 if LONG else 10) and same(card, "models/noise.ingot", noise),
       f"a file arrives over a line that damaged {between.n_spoilt} bytes", text)

stopped = padded("stopped.ingot", SMALL, 8 * STEP)  # so long that Ctrl-C comes before all of it was sent
between = Between(board, "stopped", calls_after=STEP, calls=lambda: child.send_signal(2))
child = subprocess.Popen([HOST, "send", stopped, "--to", "unix:" + between.path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
text = child.communicate(timeout=60)[0]
tap.ok(child.returncode == 1 and "continues from here" in text and on_card(card, "models/stopped.ingot") is None, "Ctrl-C stops `ingot send`", text)
answer = board.say("-p", "/models", "-q")
tap.ok("send-first" in answer, "after Ctrl-C, the board answers as before", answer)
board.kill()

# On RISC-V: the transferred file gives the same bits as the original.
card = card_of("send-riscv.img", FIRST)
board = Board(RISCV64_ANY, "riscv64", card, "mode=json", cores=2)
status, text = send(board.line, SMALL, "--load")
good, reply = answers(board, SMALL)
tap.ok(status == 0 and good and same(card, "models/send-small.ingot", SMALL) and fsck(card)[0], "a file arrives on a RISC-V board", (text, reply))
board.kill()


# Files are sent by YMODEM, as terminal programs do.
def run_between(command, line, wait):
    """Run a command whose input and output are the line; returns (its status, the line's text meanwhile). The command may read
    more of the line than it needs."""
    ours, its = socket.socketpair()
    child = subprocess.Popen(command, stdin=its, stdout=its, stderr=subprocess.DEVNULL)
    its.close()
    said, late = b"", time.monotonic() + wait
    while time.monotonic() < late:
        for s in select.select([line, ours], [], [], 0.2)[0]:
            try:
                data = s.recv(4096)
            except ConnectionResetError:  # the command ended before it had read everything
                data = b""
            if s is ours and not data:
                return child.wait(60), said
            if s is ours:
                line.sendall(data)
            else:
                said += data
                try:
                    ours.sendall(data)
                except OSError:
                    pass  # the command has ended
    child.kill()
    return None, said


def ymodem(command, *files, program=("sb", "-q"), wait=60, keys=b""):
    """Returns the board's text from the command on; while the file is sent, sb uses the line."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(board.path)
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
        status, more = run_between([*program, *files], line, wait)
        said += more
    line.sendall(keys)
    hear(rb"(loads it|bytes/s|error: [^\n]*)[^>]*> $", 60)
    line.close()
    return status, said.decode("utf-8", "replace")


if shutil.which("sb") is None:
    tap.skip("YMODEM by sb", "lrzsz is not installed")
else:
    card = card_of("send-ymodem.img", FIRST)
    board = Board(ARM64, "ymodem", card)
    status, text = ymodem("/receive", SMALL)
    tap.ok(status == 0 and "/model send-small.ingot loads it" in text and same(card, "models/send-small.ingot", SMALL) and fsck(card)[0],
           "sb sends a model", (status, text, fsck(card)))
    status, text = ymodem("/receive", LILA, program=("sb", "-q"))
    tap.ok(status == 0 and same(card, "presets/lila.txt", LILA), "sb sends a preset to the folder of presets", (status, text))
    status, text = ymodem("/receive", gguf)
    tap.ok("a card takes" in text and fsck(card)[0], "a file of another kind is refused", (status, text))
    status, text = ymodem("/receive", keys=b"\3")
    tap.ok("error: stopped by Ctrl-C" in text, "Ctrl-C ends the wait", text)
    status, text = ymodem("/receive", SMALL, LILA, gguf)
    tap.ok(re.search(r"\(models/send-small\.ingot: [^\n]*\n\(presets/lila\.txt: [^\n]*\nerror: models/x\.gguf: [^\n]*a card takes", text.replace("\r", "")) and
           fsck(card)[0], "each file of a batch is reported, and the refused one by its name", (status, text, fsck(card)))
    board.kill()


# A board that was in chat mode is in chat mode again, however `ingot send` ends.
def person(board, keys, until, seconds):
    """Type these keys; returns the line's text."""
    line, said = socket.socket(socket.AF_UNIX), b""
    line.connect(board.path)
    late = time.monotonic() + seconds
    line.sendall(keys)
    while not re.search(until, said) and time.monotonic() < late:
        if select.select([line], [], [], 0.2)[0]:
            said += line.recv(4096)
    line.close()
    return said


PERSON = rb"> (\x1b\[0m)?$"
card = card_of("send-left.img", FIRST)
board = Board(ARM64, "left", card)
left = padded("left.ingot", SMALL, 2 * STEP)
for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
    between = Between(board, f"left-{number}", calls_after=STEP, calls=lambda: child.send_signal(number))
    child = subprocess.Popen([HOST, "send", left, "--to", "unix:" + between.path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = child.communicate(timeout=60)[0]
    said = person(board, b"\r", PERSON, 10)
    tap.ok(child.returncode == 1 and "continues from here" in text and said.endswith((b"> ", b"> \x1b[0m")) and b'"event"' not in said,
           f"{signal.Signals(number).name}: a person has the prompt again", (child.returncode, text, said))
between = Between(board, "left-killed", calls_after=STEP, calls=lambda: child.kill())
child = subprocess.Popen([HOST, "send", left, "--to", "unix:" + between.path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
child.communicate(timeout=60)
said = person(board, b"\3", PERSON, 20)
tap.ok(child.returncode == -9 and re.search(PERSON, said), "SIGKILL: after a Ctrl-C at the line, too", said)
start = time.monotonic()
line = socket.socket(socket.AF_UNIX)
line.connect(board.path)
line.sendall(b"/mode json 5\r")
for _ in range(4):
    line.sendall(b"\n")
    time.sleep(2)
line.sendall(b'{"command":"/stats"}\n')
said = b""
while not re.search(rb'"done".*\n', said) and time.monotonic() < start + 30:
    said += line.recv(4096) if select.select([line], [], [], 0.2)[0] else b""
tap.ok(b'"event":"done","reason":"command"' in said, "/mode json 5 lasts while input arrives", said)
while not re.search(PERSON, said) and time.monotonic() < start + 30:
    said += line.recv(4096) if select.select([line], [], [], 0.2)[0] else b""
tap.ok(re.search(PERSON, said) and 12 < time.monotonic() - start < 20, f"/mode json 5 ends after 5 s of silence: {time.monotonic() - start:.1f} s", said)
line.close()
said = person(board, b"/mode json\r/mode chat\r", rb"/mode chat goes back(?s:.*)\"ready\"(?s:.*)" + PERSON, 10)
tap.ok(re.search(rb"\"done\"(?s:.*)" + PERSON, said), "a person who typed /mode json gets back by /mode chat", said)
board.kill()


# YMODEM frames made here: senders that contradict themselves, stop or disappear.
class Sender:
    def __init__(self, board):
        self.line, self.seen = socket.socket(socket.AF_UNIX), b""
        self.line.connect(board.path)
        self.line.sendall(b"\r")
        self.hear(rb"> $", 60)
        self.line.sendall(b"/receive\r")
        self.hear(rb"ends this\).*?C", 20)

    def hear(self, until, seconds):
        late = time.monotonic() + seconds
        while not (found := re.search(until, self.seen, re.S)) and time.monotonic() < late:
            if select.select([self.line], [], [], 0.1)[0]:
                self.seen += self.line.recv(4096)
        said, self.seen = (self.seen[:found.end()], self.seen[found.end():]) if found else (b"", self.seen)
        return said

    def block(self, number, data, size=1024):
        data, crc = data.ljust(size, b"\0"), 0
        for byte in data:
            crc ^= byte << 8
            for _ in range(8):
                crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xffff
        self.line.sendall(bytes((2 if size == 1024 else 1, number, 255 - number)) + data + crc.to_bytes(2, "big"))

    def name(self, name, length):
        self.block(0, name.encode() + b"\0" + str(length).encode() + b" 0 100644", 128)
        return self.hear(rb"\x06C|\x18\x18", 10)

    def data(self, data):
        for i in range(0, len(data), 1024):
            self.block(i // 1024 + 1, data[i:i + 1024])
            if not self.hear(rb"\x06", 10):
                return
        self.line.sendall(b"\4")
        self.hear(rb"\x15", 10)
        self.line.sendall(b"\4")

    def end(self, seconds=20):
        """End the transfer; returns the text that the board then prints for people."""
        said = self.hear(rb"(bytes/s|error:)[^\n]*\n[^>]*> (\x1b\[0m)?$", seconds).decode("utf-8", "replace").replace("\r", "")
        self.line.close()
        return said


card = card_of("send-hand.img", FIRST)
board = Board(ARM64, "hand", card)
DATA = random.Random(1).randbytes(2560)
sender = Sender(board)
sender.name("old.ingot", len(DATA))
sender.data(DATA)
sender.hear(rb"\x06C", 10)
sender.block(0, b"", 128)
text = sender.end()
tap.ok("(models/old.ingot: 2.50 KiB" in text and on_card(card, "models/old.ingot") == DATA, "YMODEM by hand", text)
sender = Sender(board)
sender.name("old.ingot", 1000)
sender.data(bytes(2560))
text = sender.end()
tap.ok("error: models/old.ingot: the sender sent more bytes than it had declared" in text and on_card(card, "models/old.ingot") == DATA and
       fsck(card)[0], "a file that is longer than declared is refused, and the old one stays", (text, fsck(card)))
sender = Sender(board)
sender.name("one.ingot", len(DATA))
sender.data(DATA)
sender.hear(rb"\x06C", 10)
sender.name("two.ingot", len(DATA))
sender.line.sendall(b"\x18\x18\x18")
text = sender.end()
tap.ok("(models/one.ingot: 2.50 KiB" in text and "(models/two" not in text and "error: models/two.ingot: the sender stopped" in text and
       on_card(card, "models/two.ingot") is None, "the first of two files arrived, and the second was cancelled", text)
sender = Sender(board)
sender.name("stop.ingot", len(DATA))
sender.block(1, DATA[:1024])
sender.hear(rb"\x06", 10)
start = time.monotonic()
sender.line.sendall(b"\3\3")
text = sender.end()
tap.ok("error: models/stop.ingot: stopped by Ctrl-C" in text and on_card(card, "models/stop.ingot") is None,
       f"Ctrl-C in the middle of a file: {time.monotonic() - start:.1f} s to the prompt", text)
board.kill()
tap.done()
