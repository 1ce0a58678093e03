#!/usr/bin/python3
"""Tests clients/python/ingot.py with a model on this computer, and with a board in QEMU at a socket and behind a terminal: replies equal those of
`ingot run`. It also tests streams, whole conversations, settings, commands, errors by name, abandoned replies, and boards that disappear."""

import atexit
import http.server
import json
import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../clients/python"))
sys.dont_write_bytecode = True
from board_line import Board
from machine import ARM64, HOST, ROOT, WORK, Tap, make_card, run
import ingot
from ingot import Ingot, IngotError

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
CLIENT = os.path.join(ROOT, "clients/python/ingot.py")
STORY = "Tell me a story about a cat."
FOLDER = tempfile.mkdtemp(prefix="ingot-client-")
os.makedirs(WORK, exist_ok=True)
CARD = make_card("client-card.img", DEMO)
tap = Tap()
atexit.register(shutil.rmtree, FOLDER, True)


def alone(text, *options):
    return run([HOST, "run", DEMO, "-p", text, "--temp", "0", "--spec", "off", "-q", *options])[1].strip()


def named(name, work, *arguments, **more):
    """Return whether the call ends with an error of that name, and the error or the result."""
    try:
        got = work(*arguments, **more)
    except IngotError as error:
        return error.name == name, (error.name, str(error))
    return False, got


def check(board, where):
    """The tests that every kind of line must pass."""
    r = board.ask("What is 7 plus 8?", temp=0, n=0)
    tap.ok(r == alone("What is 7 plus 8?") and r.reason == "end" and r.figures["reply_tokens"] == r.usage["completion_tokens"] > 3,
           f"{where}: a reply is that of `ingot run`", (r, r.figures))
    pieces = list(board.stream(STORY, temp=0, n=12, reset=True))
    tap.ok(len(pieces) > 4 and "".join(pieces).strip() == alone(STORY, "-n", "12"), f"{where}: a reply is streamed", pieces)
    talk = [{"role": "user", "content": "What is 3 plus 4?"}]
    first = board.ask(messages=talk, n=0)
    talk += [{"role": "assistant", "content": first}, {"role": "user", "content": "And what is 5 plus 5?"}]
    second = board.ask(messages=talk)
    tap.ok(first == alone("What is 3 plus 4?") and second.usage["cached_tokens"] > 10,
           f"{where}: a whole conversation is sent, and its known beginning is not computed again", second.usage)
    raw = board.ask(raw="Once upon a time", n=8, reset=True)
    tap.ok(raw.reason == "limit" and raw.usage["completion_tokens"] == 8 and raw, f"{where}: a text is continued", raw)
    tap.ok(any("/help" in line for line in board.command("/help")), f"{where}: a command is answered")
    for name, more in (("value", {"temp": -1}), ("field", {"prompt": "x", "n": "many"}), ("line", {"prompt": "long " * 3000})):
        good, got = named(name, board.ask, **{"prompt": "x", **more})
        tap.ok(good, f"{where}: refused: {name}", got)
    ids = board.tokenize("Once upon a time")
    tap.ok(len(ids) > 3 and board.ask(ids=ids, n=3).usage["completion_tokens"] == 3, f"{where}: a text becomes tokens, and tokens are continued", ids)
    one, other = board.embed("What is 7 plus 8?"), board.embed("What is 7 plus 8?")
    tap.ok(one == other and len(one) > 64 and any(one), f"{where}: a text has an embedding", one)
    scored = board.ask("What is 7 plus 8?", temp=0, n=0, reset=True, logprobs=2)
    tap.ok(scored == r and len(scored.tokens) == scored.usage["completion_tokens"] and
           all(t[0] == t[3][0][0] and len(t[3]) == 2 and t[2] <= 0 for t in scored.tokens), f"{where}: tokens have scores", scored.tokens)
    tap.ok([m[0] for m in board.models() if m[2]] == [board.ready["model"]] and board.load(board.ready["model"])["model"] and
           board.stats()["context_tokens"] == 0 and board.plan()["layers"] == 4, f"{where}: models, figures and the plan are answered", board.models())
    left = board.stream(STORY, temp=1, n=400, reset=True)
    next(left)
    left.close()
    after = board.ask("What is 7 plus 8?", temp=0, n=0, reset=True)
    tap.ok(after == r, f"{where}: a request after an abandoned reply is answered", after)
    board.stop()
    after = board.ask("What is 7 plus 8?", temp=0, n=0, reset=True)
    tap.ok(after == r, f"{where}: a stop after the end of a reply does no harm to the next", after)
    left = board.stream(STORY, temp=1, n=400, reset=True)
    next(left)
    board.stop()
    time.sleep(0.5)
    left.close()
    _, after = named("", board.ask, "What is 7 plus 8?", temp=0, n=0, reset=True)
    tap.ok(after == r, f"{where}: nor do two stops", after)
    strange = board.ask("\x7f\x13\x11\x03 \u00e9\u202e", n=4, reset=True)
    tap.ok(strange.reason in ("limit", "end"), f"{where}: control characters in a text stay text", strange.figures)


with Ingot([HOST, "chat", DEMO, "--json", "-q"]) as b:
    check(b, "this computer")
with Ingot([HOST, "chat", DEMO, "--json", "-q", "--isa", "ref"], check=True, silence=30) as b:  # slow, so that a reply can be stopped
    r = b.ask("What is 7 plus 8?", temp=0)
    b.stop()
    _, after = named("", b.ask, "What is 7 plus 8?", temp=0, reset=True)
    tap.ok(after == r, "a stop after the end of a reply does not end the checksums", after)
    reasons = []
    b.on_event = lambda event: reasons.append(event.get("reason"))
    left = b.stream(STORY, temp=9, n=0, logit_bias=[[0, False], [2, False]], reset=True)
    next(left)
    b.stop()
    _, got = named("", list, left)
    tap.ok("stopped" in reasons and b.ask("What is 7 plus 8?", temp=0, reset=True) == r, "a reply with checksums is stopped", (reasons, got))
try:
    b = None
    Ingot([HOST, "chat", DEMO, "--json", "-q"]).ask("x", colour="red")
except TypeError as error:
    b = str(error)
tap.ok(b and b.startswith("colour"), "an unknown setting is refused", b)

board = Board(ARM64, FOLDER, "a", CARD)
with Ingot(board.line, wait=60) as b:
    tap.ok(b.ready["board"] == "virt-arm64" and b.ready["model"] == "demo-q8_0.ingot", "a board says what it is", b.ready)
    check(b, "a board")
done = subprocess.run([CLIENT, board.line, "What is 7 plus 8?", "--temp", "0"], capture_output=True, text=True, timeout=100)
tap.ok(done.returncode == 0 and done.stdout.strip() == alone("What is 7 plus 8?"), "the client works as a command", done)
with Ingot(board.line) as b:
    pieces = b.stream(STORY, temp=1, n=400, reset=True)
    next(pieces)
    board.process.kill()
    good, got = named("gone", list, pieces)
    tap.ok(good, "a board that disappears during a reply gives an error", got)

class Noise:
    """A relay between a client and a board that changes one bit in one of `every` bytes on average, in both directions. No byte
    becomes a control character, because a board obeys these anywhere in a line."""

    def __init__(self, board, every):
        self.every, self.spoilt, self.random = every, 0, 7
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.name = f"tcp:127.0.0.1:{self.listener.getsockname()[1]}"
        self.ways = ingot._open_socket(board.line)
        threading.Thread(target=self.carry, daemon=True).start()

    def change(self, data):
        out = bytearray(data)
        for i, byte in enumerate(out):
            self.random = (self.random * 1103515245 + 12345) % (1 << 31)
            changed = byte ^ 1 << (self.random >> 8) % 7
            if (self.random >> 12) % self.every == 0 and byte >= 32 and 32 <= changed != 127:
                out[i], self.spoilt = changed, self.spoilt + 1
        return bytes(out)

    def carry(self):
        s = self.listener.accept()[0]
        while True:
            for fd in select.select([s.fileno(), self.ways.reads], [], [], 60)[0]:
                try:
                    data = os.read(fd, 4096)
                    os.write(self.ways.reads if fd == s.fileno() else s.fileno(), self.change(data))
                except OSError:
                    return
                if not data:
                    return


board = Board(ARM64, FOLDER, "noisy", CARD)
with Ingot(board.line):
    pass
noise = Noise(board, 1000)
with Ingot(noise.name, check=True) as b:
    quiet = alone("What is 7 plus 8?")
    for round in range(5):
        r = b.ask("What is 7 plus 8?", temp=0, n=0, reset=True, conversation=f"c{round % 2}")
        if r != quiet or r.figures["reply_tokens"] != r.usage["completion_tokens"]:
            break
    tap.ok(r == quiet and round == 4 and noise.spoilt > 5, f"five replies over a line whose noise spoilt {noise.spoilt} bytes", (round, r, noise.spoilt))
    turns = [b.ask(STORY, temp=0, reset=True, n=20), b.ask("And then?"), b.ask("And then?")]
    tap.ok(b.stats()["context_tokens"] == turns[-1].figures["context_tokens"] and all(t.usage["completion_tokens"] for t in turns),
           "no request is executed twice", turns)
board.process.kill()

# A board in chat mode behind a terminal device, which stands for a serial adapter.
board = Board(ARM64, FOLDER, "b", CARD, "")
master, slave = pty.openpty()
tty.setraw(slave)
tty.setraw(master)


def carry():
    """Carry bytes between the terminal and the board's socket."""
    s = ingot._open_socket(board.line)
    while True:
        for fd in select.select([master, s.reads], [], [], 60)[0]:
            try:
                data = os.read(fd, 4096)
            except OSError:
                return
            if not data:
                return
            os.write(s.reads if fd == master else master, data)


threading.Thread(target=carry, daemon=True).start()
with Ingot(os.ttyname(slave)) as b:
    tap.ok(b.ask("What is 7 plus 8?", temp=0) == alone("What is 7 plus 8?"), "a board that talked to people, at a serial device, by " +
           ("pyserial" if "serial" in sys.modules else "termios"))
with_termios = ingot._open_termios(os.ttyname(slave), 115200)
late, heard = time.monotonic() + 20, b""
while b"^C\r\n> " not in heard and time.monotonic() < late:
    with_termios.write(b"\x03")  # a Ctrl-C that comes while the mode changes is dropped
    heard += with_termios.read(0.5)
tap.ok(b"^C\r\n> " in heard and b'"ready"' not in heard, "the board talks to people again; and without pyserial", heard)
with_termios.close()
board.process.kill()
good, got = named("timeout", Ingot, os.ttyname(slave), wait=3)
tap.ok(good and "TX is at RX" in got[1], "a line without a board gives an error", got)
done = subprocess.run([CLIENT, f"unix:{FOLDER}/nobody", "x"], capture_output=True, text=True, timeout=100)
tap.ok(done.returncode == 1 and "No such file" in done.stderr, "a line that does not exist gives an error", done)


def short_lived(name, chats):
    """A board that answers as far as the first token of a reply, and returns what comes then; one that chats is gone after its greeting."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(FOLDER, name))
    listener.listen(1)
    got = [b""]

    def answer():
        s = listener.accept()[0]
        s.sendall(b"> " if chats else b"")
        while True:
            data = s.recv(4096)
            got[0] += data
            if b'"hello"' in data:
                s.sendall(b'{"event":"done","id":1,"reason":"command"}\n')
            elif b'"prompt"' in data:
                s.sendall(b'{"event":"token","id":2,"token":1,"text":"Once"}\n')
            elif b"\x05" in data or b"/mode json" in data:
                s.sendall(b'{"event":"ready"}\n')
            elif b"\x03" in data:
                s.sendall(b'{"event":"done","id":2,"reason":"stopped"}\n')
            if not data or (chats and b'"hello"' in data):
                s.close()
                return
    threading.Thread(target=answer, daemon=True).start()
    return "unix:" + os.path.join(FOLDER, name), got


line, got = short_lived("dies", True)
b = Ingot(line)
good = named("gone", b.ask, "x")[0] and b._told
try:
    b.close()
    os.fstat(b._line.reads)
    good = False
except (IngotError, OSError) as error:
    good = good and not isinstance(error, IngotError)
tap.ok(good, "a board that chatted and is gone can be closed")
line, got = short_lived("goes on", False)
child = subprocess.Popen([CLIENT, line, "x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
first = os.read(child.stdout.fileno(), 100)
child.send_signal(signal.SIGINT)
_, err = child.communicate(timeout=60)
tap.ok(child.returncode == 130 and first == b"Once" and not err and got[0].endswith(b"\x03"), "a Ctrl-C stops the board's reply and the program",
       (child.returncode, first, err, got))


def holding(name):
    """A board that holds the line after the first part of a prompt and, a second later, releases it. Returns what came within that second."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(FOLDER, name))
    listener.listen(1)
    got = [b""]

    def answer():
        s = listener.accept()[0]
        s.sendall(b'{"event":"ready"}\n')
        data = s.recv(4096)
        s.sendall(b'{"event":"done","id":1,"reason":"command"}\n\x13')
        time.sleep(1)
        s.setblocking(False)
        try:
            got[0] = s.recv(4096)
        except BlockingIOError:
            pass
        s.setblocking(True)
        s.sendall(b'{"event":"token","id":2,"token":1,"text":"On"}\n\x11')
        data = got[0]
        while not data.endswith(b"\n"):
            data += s.recv(4096)
        s.sendall(b'{"event":"token","id":2,"token":1,"text":"ce"}\n{"event":"done","id":2,"reason":"end"}\n')
    threading.Thread(target=answer, daemon=True).start()
    return "unix:" + os.path.join(FOLDER, name), got


line, got = holding("holds")
with Ingot(line) as b:
    tap.ok(b.ask("x" * 1000) == "Once" and got[0] == b"", "nothing is written while a board holds the line with XOFF", got)


class Web(http.server.BaseHTTPRequestHandler):
    """A board on a network whose replies repeat the prompt."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])).partition(b"\n")[0].lstrip(b"\5") or b"{}")
        self.send_response(200)
        self.end_headers()
        events = [{"event": "token", "text": request["prompt"]}] if "prompt" in request else []
        for event in ({"event": "ready"},) if not request else (*events, {"event": "done", "reason": "end"}):
            self.wfile.write(json.dumps({**event, **({"id": request["id"]} if request else {})}).encode() + b"\n")

    def log_message(self, *_):
        pass


web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
threading.Thread(target=web.serve_forever, daemon=True).start()
with Ingot(f"http://127.0.0.1:{web.server_port}") as b:
    b.ask("one")
    b.stop()
    tap.ok(b.ask("two") == "two", "a stop after the end of a reply of a board on the network does no harm to the next")
web.shutdown()
for line, says in (("tcp:127.0.0.1:70000", "the form is tcp:HOST:PORT"), ("http://127.0.0.1:70000", "http://HOST:PORT"), ("tcp:a..b:1", "cannot be such a host"),
                   ("http://a..b", "does not answer"), ("tcp:127.0.0.1", "the form is tcp:HOST:PORT"), ("tcp:127.0.0.1:x", "the form is tcp:HOST:PORT"), ("http://127.0.0.1:x", "http://HOST:PORT"),
                   ("/dev/null", "not a serial device")):
    done = subprocess.run([CLIENT, line, "x"], capture_output=True, text=True, timeout=100)
    tap.ok(done.returncode == 1 and done.stderr.startswith("ingot.py: ") and (says in done.stderr or "serial" in sys.modules), f"{line} gives an error", done)
good, got = named("value", ingot._open_termios, os.ttyname(slave), 12345)
tap.ok(good and "pyserial" in got[1], "a rate that termios does not know gives an error", got)


def refusing(*_, **__):
    """pyserial's Serial, with a rate that it cannot set."""
    raise ValueError("Not a valid baudrate: -1")


sys.modules["serial"] = types.SimpleNamespace(Serial=refusing)
good, got = named("value", ingot._open, os.ttyname(slave), -1)
tap.ok(good and "baud=-1" in got[1], "a rate that pyserial does not know gives an error", got)
del sys.modules["serial"]
# If a client of any kind connects while a board loads a model, the board continues to load.
for name, words in (("loads", "mode=json"), ("loads-people", "temp=0")):
    slow = Board(ARM64, FOLDER, name, CARD, words, pace=200000)
    time.sleep(2)
    with Ingot(slow.line) as board:
        tap.ok(board.ready["model"] == "demo-q8_0.ingot", f"{words}: a program that connects while the board loads does not stop the loading", board.ready)
    slow.process.kill()
slow = Board(ARM64, FOLDER, "loads-serial", CARD, pace=200000)
time.sleep(2)
done = subprocess.run([HOST, "serial", slow.line, "-p", "What is 7 plus 8?", "--temp", "0", "-q"], capture_output=True, text=True, timeout=60)
tap.ok(done.returncode == 0 and done.stdout.strip() == alone("What is 7 plus 8?"),
       "`ingot serial` does not stop the loading either", (done.stdout, done.stderr))
slow.process.kill()
tap.done()
