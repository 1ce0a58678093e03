#!/usr/bin/env python3
"""Ingot from Python: a board at its serial line, or `ingot chat MODEL --json` on this computer.

Why this file is long: a program uses it by copying this one file.

    from ingot import Ingot

    with Ingot("/dev/ttyUSB0") as board:
        print(board.ask("What is 7 plus 8?", temp=0))
        for piece in board.stream("Tell me a story.", n=100):
            print(piece, end="", flush=True)

A line is a serial device (by pyserial if it is installed, else by termios), unix:PATH or tcp:HOST:PORT (QEMU, ser2net), a board on
the network as http://HOST with its token in the environment's INGOT_TOKEN, or a command as a list, such as
["ingot", "chat", "model.ingot", "--json"]. docs/SERIAL.md describes the protocol. The client is one file, so that people can
copy it into a project. As a program: ingot.py LINE PROMPT.
"""

import argparse
import http.client
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time

__all__ = ["Ingot", "IngotError", "Reply"]

ASK_SECONDS = 1.5  # seconds between two enquiries
QUIET_SECONDS = 0.7  # seconds of silence before an enquiry
DEAF_SECONDS = 10  # seconds of silence: a working board reports more often, so a Ctrl-C interrupts no useful work
LOST_SECONDS = 2  # seconds of silence, after which lost events are requested again ...
GAP_SECONDS = 0.3  # ... or this many if an event is known to be lost
BUSY_SECONDS = 0.5  # seconds until a busy board on the network is asked again
HELD_SECONDS = 60  # longest time for which a board may hold the line with XOFF
CTRL_C = b"\x03"
ENQUIRY = b"\x05\n"  # an idle board answers with ready, or with a new prompt
XON, XOFF = 0x11, 0x13
SETTINGS = {"n", "temp", "top_p", "top_k", "min_p", "repeat", "repeat_last_n", "presence_penalty", "frequency_penalty", "logit_bias", "seed", "stop", "think", "grammar", "adapter", "overflow", "system", "reset",
            "conversation", "logprobs"}


def crc8(data):
    """The checksum of a line: CRC-8 with the polynomial x^8 + x^2 + x + 1."""
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value << 1 ^ (0x07 if value & 0x80 else 0)) & 0xff
    return value


class IngotError(Exception):
    """A board refused a request or could not do it; name is the kind of error: json, field, value, line, failed, ... or gone, timeout."""

    def __init__(self, name, text):
        super().__init__(text)
        self.name = name


class Reply(str):
    """The text of a reply. reason: end, limit, stop, stopped, context, repetition or grammar; figures: the figures of the `done` event; usage:
    prompt_tokens, cached_tokens and completion_tokens of protocol 2; tokens: if logprobs= asked for them, (id, text, logprob, others) of each
    token; others is a list of (id, text, logprob)."""

    reason = ""
    figures = {}
    usage = {}
    tokens = []


class _Descriptor:
    """A line over file descriptors: one for both directions, or one for each."""

    def __init__(self, reads, writes, close):
        self.reads, self.writes, self._close = reads, writes, close
        self.paused, self._early = False, b""
        self._reads = threading.Lock()

    def read(self, seconds):
        """Read some bytes; b"" if none arrive. Raises IngotError if the line is gone."""
        with self._reads:
            data, self._early = self._early, b""
            return data or self._receive(seconds)

    def _receive(self, seconds):
        if not select.select([self.reads], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.reads, 65536)
        except OSError:
            data = b""
        if not data:
            raise IngotError("gone", "the other end closed the line: was the adapter pulled out?")
        for byte in data:
            if byte in (XON, XOFF):  # here no terminal driver handles them
                self.paused = byte == XOFF
        return bytes(b for b in data if b not in (XON, XOFF))

    def write(self, data):
        """Write a line while the other end accepts it, and keep what arrives in the meantime, unless another thread reads. A Ctrl-C does not wait.
        Raises IngotError if the line is gone, or is held with XOFF for too long."""
        late = time.monotonic() + HELD_SECONDS
        try:
            while data:
                if data != CTRL_C and self._reads.acquire(blocking=False):
                    try:
                        self._early += self._receive(0.1 if self.paused else 0)
                    finally:
                        self._reads.release()
                if data == CTRL_C or not self.paused:
                    data = data[os.write(self.writes, data[:256]):]
                elif time.monotonic() > late:
                    raise IngotError("gone", "the board accepts no more data: it may hang, or hold the line with XOFF")
                else:
                    time.sleep(0.01)
        except OSError as error:
            raise IngotError("gone", f"the other end closed the line: {error.strerror}") from error

    def close(self):
        self._close()


def _open_serial(path, baud):
    try:
        import serial
    except ImportError:
        return _open_termios(path, baud)
    try:
        port = serial.Serial(path, baud, xonxoff=True, exclusive=True, timeout=0)
    except (ValueError, OverflowError) as error:
        raise IngotError("value", f"baud={baud}: {error}") from error
    return _Descriptor(port.fileno(), port.fileno(), port.close)


def _open_termios(path, baud):
    import fcntl
    import termios
    import tty
    rate = getattr(termios, f"B{baud}", None)
    if rate is None:
        raise IngotError("value", f"baud={baud}: this rate needs pyserial, or does not exist")
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as pyserial and `ingot serial` do
    except OSError as error:
        os.close(fd)
        raise IngotError("gone", f"{path}: another program has it open") from error
    try:
        tty.setraw(fd)
        mode = termios.tcgetattr(fd)
    except termios.error as error:
        os.close(fd)
        raise IngotError("value", f"{path}: this is not a serial device") from error
    mode[0] |= termios.IXON | termios.IXOFF
    mode[4] = mode[5] = rate
    termios.tcsetattr(fd, termios.TCSANOW, mode)
    return _Descriptor(fd, fd, lambda: os.close(fd))


def _is_port(text):
    return text.isdecimal() and 0 < int(text) < 65536


def _open_socket(name):
    if name.startswith("unix:"):
        s = socket.socket(socket.AF_UNIX)
        s.connect(name[5:])
    else:
        host, _, port = name[4:].rpartition(":")
        if not host or not _is_port(port):
            raise IngotError("value", f"{name}: the form is tcp:HOST:PORT")
        try:
            s = socket.create_connection((host.strip("[]"), int(port)))
        except UnicodeError as error:
            raise IngotError("value", f"{name}: there cannot be such a host") from error
    return _Descriptor(s.fileno(), s.fileno(), s.close)


def _open_command(words):
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)  # a terminal's Ctrl-C is for this program

    def close():
        child.stdin.close()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()
    return _Descriptor(child.stdout.fileno(), child.stdin.fileno(), close)


def _mark(line):
    """Return the id of a request's line, which may end with a checksum, as the field of its events."""
    found = json.JSONDecoder().raw_decode(line.decode())[0] if line.startswith(b"{") else {}
    return {"id": found["id"]} if "id" in found else {}


class _Network:
    """A line to a board on the network: it sends each written line to the board's /line by POST, and reads the events of the answer."""

    def __init__(self, url):
        host, _, port = url[7:].rstrip("/").rpartition(":") if url.count(":") > 1 and not url.rstrip("/").endswith("]") else (url[7:].rstrip("/"), "", "80")
        if not host or not _is_port(port):
            raise IngotError("value", f"{url}: the form is http://HOST or http://HOST:PORT")
        self.host, self.port, self.token = host.strip("[]"), int(port), os.environ.get("INGOT_TOKEN")
        self.lines, self.answer, self.http, self.out, self.last = [], None, None, b"", b""

    def _post(self, line):
        """Send a request and read the events of the answer as they arrive. If the board is busy, ask again."""
        self.http = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            self.http.request("POST", "/line", line, {"Authorization": "Bearer " + self.token} if self.token else {})
            self.answer = self.http.getresponse()
        except (OSError, UnicodeError, http.client.HTTPException) as error:  # UnicodeError: there cannot be such a host
            self._end()
            raise IngotError("gone", f"the board on the network does not answer: {error}") from error
        if self.answer.status in (429, 503):
            self._end()
            time.sleep(BUSY_SECONDS)
            self.lines.insert(0, line)
        elif self.answer.status != 200:
            self._refuse(line)

    def _refuse(self, line):
        status, text = self.answer.status, self.answer.read().decode("utf-8", "replace")
        self._end()
        try:
            text = json.loads(text)["error"]["message"]
        except (ValueError, KeyError, TypeError):
            text = f"status {status}: this is not a board with a network"
        if status in (401, 403, 404) or not line.startswith(b"{"):
            raise IngotError("token" if status in (401, 403) else "gone", text + (": set INGOT_TOKEN" if status == 401 else ""))
        mark = _mark(line)
        for event in ({"event": "error", **mark, "name": "failed", "text": text}, {"event": "done", **mark, "reason": "error"}):
            self.out += json.dumps(event).encode() + b"\n"

    def _end(self):
        if self.http is not None:
            self.http.close()
        self.http = self.answer = None

    def read(self, seconds):
        if self.out:
            data, self.out = self.out, b""
            return data
        if self.answer is None and self.lines:
            self._post(self.lines.pop(0))
        if self.answer is None:
            if not self.out:
                time.sleep(min(seconds, 0.05))
            return b""
        try:
            data = self.answer.read1(65536)
        except (OSError, http.client.HTTPException) as error:
            self._end()
            raise IngotError("gone", f"the connection to the board broke: {error}") from error
        if not data:
            self._end()
        return data

    def write(self, data):
        """Send a line. A Ctrl-C closes the connection of the running request, which ends the request."""
        if data == CTRL_C:
            self._end()
            self.lines.clear()
            self.out = json.dumps({"event": "done", **_mark(self.last), "reason": "stopped"}).encode() + b"\n"
            return
        for line in data.split(b"\n"):
            if line:
                self.lines.append(line)
                self.last = line

    def close(self):
        self._end()


def _open(line, baud):
    if not isinstance(line, str):
        return _open_command(list(line))
    if line.startswith("http://"):
        return _Network(line)
    if line.startswith(("unix:", "tcp:")):
        return _open_socket(line)
    return _open_serial(line, baud)


class Ingot:
    """A board. wait: longest time until the first answer, in seconds; silence: longest silence during a reply, in seconds. on_event gets every
    event unchanged, as a dictionary. check: lines have checksums in both directions, and damaged lines are sent again. ready describes the board:
    board, model, context_limit_tokens, ..."""

    def __init__(self, line, baud=115200, wait=60, silence=300, on_event=None, check=False):
        self.silence, self.on_event, self.ready = silence, on_event, None
        self._bytes, self._id, self._heard = b"", 0, time.monotonic()
        self._checks, self._next, self._gap = False, 1, False  # number of the next event; whether this event is known to be lost
        self._told = False  # the board was in chat mode, and was switched to JSON
        self._stopped = -1  # number of the request after which a Ctrl-C was last sent; `ready` answers each one that stops nothing
        self._asked = 0.0  # when lost events were requested
        self._line = _open(line, baud)
        try:
            self._greet(wait, asks=isinstance(line, str))
            self._hello(check)
        except BaseException:
            self._line.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Close the line. If the board was in chat mode before, it returns to chat mode."""
        if self._told and self.ready is not None:
            try:
                self._put({"command": "/mode chat"})
            except IngotError:
                pass  # the board is gone
        self._line.close()

    # ---- events

    def _event(self, seconds):
        """Return the next event, or None if no event arrives within that time."""
        late = time.monotonic() + seconds
        while True:
            line, newline, rest = self._bytes.partition(b"\n")
            if newline:
                self._bytes = rest
                event = self._parsed(line)
                if event is not None:
                    return event
                continue
            left = late - time.monotonic()
            if left < 0:
                return None
            data = self._line.read(left)
            if data:
                self._heard = time.monotonic()
                self._bytes += data

    def _parsed(self, line):
        """Return the event in a line; None for text of the firmware or of a chat, a damaged event, or an event that was already seen."""
        line = line.rstrip(b"\r")
        if self._checks:
            if line[-3:] != b"*%02x" % crc8(line[:-3]):
                self._gap = True
                return None
            line = line[:-3]
        if not line.startswith(b"{"):
            return None
        try:
            event = json.loads(line)
        except ValueError:
            return None
        if not isinstance(event, dict) or "event" not in event:
            return None
        if self._checks:
            if event.get("seq") != self._next:
                self._gap = self._gap or event.get("seq", 0) > self._next
                return None
            self._next += 1
            self._gap = False
        if event["event"] == "ready":
            self.ready = event
        if self.on_event:
            self.on_event(event)
        return event

    def _greet(self, wait, asks):
        """Wait until the board is ready; switch a board in chat mode to JSON."""
        late, asked = time.monotonic() + wait, 0
        while self.ready is None:
            now = time.monotonic()
            if now > late:
                raise IngotError("timeout", "no board answers: check its power, that TX is at RX, and that baud is its rate")
            if asks and now - asked > ASK_SECONDS and now - self._heard > QUIET_SECONDS:
                prompt = b"> " in self._bytes[-20:]
                self._told = self._told or prompt
                self._line.write(b"/mode json\n" if prompt else ENQUIRY if now - self._heard < DEAF_SECONDS else CTRL_C)
                asked = now
            self._event(0.1)

    def _hello(self, check):
        """Begin protocol 2. If noise damages the request for checksums, send it again after a Ctrl-C, which ends checksums on both sides."""
        if not check:
            for _ in self._answer({"hello": 2}):
                pass
            return
        for _ in range(10):
            self._checks, self._next = True, 1
            self._line.write(b'{"hello":2,"check":true}\n')
            late = time.monotonic() + LOST_SECONDS
            while self._next <= 2 and time.monotonic() < late:
                self._event(0.1)
            if self._next > 2:
                return
            self._checks = False
            self._line.write(CTRL_C)
            self._event(QUIET_SECONDS)
        raise IngotError("timeout", "the line is too noisy, or the board's version of Ingot cannot check lines")

    def _put(self, request):
        line = json.dumps(request).replace("\x7f", "\\u007f").encode()
        self._line.write(line + (b"*%02x\n" % crc8(line) if self._checks else b"\n"))

    def _ask_again(self):
        """Ask the board to repeat the next event and all later ones, because they were damaged or did not arrive."""
        if time.monotonic() - self._asked > (GAP_SECONDS if self._gap else LOST_SECONDS):
            self._asked = time.monotonic()
            self._put({"id": f"resend {self._id}", "resend": self._next})

    def _next_event(self, begun, request):
        """Return the next event of an answer. On a line with checksums, ask again for lost events and send a damaged request again. begun: true if
        the answer has begun."""
        late = time.monotonic() + self.silence
        while time.monotonic() < late:
            event = self._event((GAP_SECONDS if self._gap else LOST_SECONDS) if self._checks else self.silence)
            if not self._checks:
                break
            if event is None:
                self._ask_again()
            elif event["event"] == "error" and not begun and (
                    (event.get("name") == "check" and "id" not in event) or event.get("id") == f"resend {self._id}"):
                self._put(request)  # the request was damaged or did not arrive
            else:
                return event
        if event is None:
            raise IngotError("timeout", "the board is silent")
        return event

    def _answer(self, request):
        """The events of the answer to a request, up to `done`."""
        self._id += 1
        request = {"id": self._id, **request}
        self._put(request)
        error, begun = None, False
        while True:
            event = self._next_event(begun, request)
            if "hello" in request and "id" not in event:
                continue  # answers to enquiries
            if event["event"] == "ready" and "id" not in event:
                if not begun and self._id <= self._stopped + 1:
                    continue
                raise IngotError("gone", "the board restarted during the reply")
            if event.get("id", None if self._checks else self._id) != self._id:
                continue  # events of a request that was abandoned
            begun = True
            if event["event"] == "error":
                error = IngotError(event.get("name", "failed"), event.get("text", ""))
            yield event
            if event["event"] == "done":
                if error is not None:
                    raise error
                return

    # ---- requests that a program may send

    def stream(self, prompt=None, *, messages=None, raw=None, ids=None, **settings):
        """Yield pieces of the reply to one of: prompt, the next turn of the conversation; messages, a whole conversation; raw, a text to continue;
        ids, tokens to continue. docs/SERIAL.md describes the settings: n, temp, top_p, top_k, min_p, repeat, repeat_last_n, presence_penalty,
        frequency_penalty, logit_bias, seed, stop, think, grammar, adapter,
        overflow, system, reset, conversation, logprobs. The generator returns the Reply at its end; closing it, or a
        Ctrl-C, stops the reply."""
        what = {k: v for k, v in (("prompt", prompt), ("messages", messages), ("raw", raw), ("ids", ids)) if v is not None}
        if len(what) != 1:
            raise TypeError("give exactly one of prompt, messages, raw and ids")
        unknown = set(settings) - SETTINGS
        if unknown:
            raise TypeError(f"{', '.join(sorted(unknown))}: not a setting; the settings are {', '.join(sorted(SETTINGS))}")
        return self._stream({**what, **settings})

    def _stream(self, request):
        text, usage, done, tokens = [], {}, None, []
        events = self._answer(request)
        try:
            for event in events:
                if "logprob" in event:
                    tokens.append((event["token"], event["text"], event["logprob"],
                                   [(t["token"], t["text"], t["logprob"]) for t in event["top_logprobs"]]))
                if event["event"] == "token" and event.get("text"):
                    text.append(event["text"])
                    yield event["text"]
                elif event["event"] == "usage":
                    usage = event
                elif event["event"] == "done":
                    done = event
        except (GeneratorExit, KeyboardInterrupt):
            self._abandon()
            raise
        reply = Reply("".join(text))
        reply.reason, reply.figures, reply.usage, reply.tokens = done["reason"], done, usage, tokens
        return reply

    def _abandon(self):
        """Stop the current work, and skip its remaining events."""
        self.stop()
        late = time.monotonic() + 10
        while time.monotonic() < late:
            event = self._event(1)
            if event is None or event["event"] in ("done", "ready"):
                return

    def ask(self, prompt=None, **more):
        """Return the whole Reply. The arguments are those of stream()."""
        pieces = self.stream(prompt, **more)
        while True:
            try:
                next(pieces)
            except StopIteration as end:
                return end.value

    def _only(self, kind, request):
        return [e for e in self._answer(request) if e["event"] == kind]

    def tokenize(self, text):
        """Return the ids of a text's tokens, without the token that a model puts in front."""
        return self._only("tokens", {"tokenize": text})[0]["ids"]

    def embed(self, text):
        """Return the mean of a text's last hidden states, a list of numbers: similar texts have a high cosine."""
        found = self._only("embedding", {"embedding": text})
        if not found:
            raise IngotError("stopped", "the embedding was stopped")
        return found[0]["values"]

    def models(self):
        """Return (name, bytes, whether it is loaded) for each model on the board."""
        return [(e["model"], e["bytes"], e["loaded"]) for e in self._only("model", {"models": True})]

    def load(self, name):
        """Load another model, which `ready` then describes."""
        for _ in self._answer({"load": name}):
            pass
        return self.ready

    def stats(self):
        """Return figures since the start, in a dictionary."""
        return self._only("stats", {"stats": True})[0]

    def plan(self):
        """Return a dictionary of the model's parts in memory and those that stream."""
        return self._only("plan", {"plan": True})[0]

    def command(self, text):
        """Run a command of the chat, such as "/stats", and return the lines that it prints."""
        return [e["text"] for e in self._answer({"command": text}) if e["event"] == "text"]

    def stop(self):
        """Stop the running reply, from another thread or in the middle of stream()."""
        if self._checks:  # a Ctrl-C would end the checksums if nothing runs
            self._put({"id": f"stop {self._id}", "cancel": True})
            return
        self._stopped = self._id
        self._line.write(CTRL_C)


def main():
    arguments = argparse.ArgumentParser(description="Ask a board one thing.")
    arguments.add_argument("line", help="/dev/ttyUSB0, unix:PATH, tcp:HOST:PORT or http://HOST")
    arguments.add_argument("prompt")
    arguments.add_argument("--baud", type=int, default=115200)
    arguments.add_argument("-n", type=int, default=0, help="longest reply in tokens (default: until the model ends)")
    arguments.add_argument("--temp", type=float, default=0.8)
    a = arguments.parse_args()
    try:
        with Ingot(a.line, a.baud) as board:
            for piece in board.stream(a.prompt, n=a.n, temp=a.temp, reset=True):
                print(piece, end="", flush=True)
            print()
    except (IngotError, OSError) as error:
        sys.exit(f"ingot.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
