#!/usr/bin/python3
"""With mode=json every line is an event in JSON, on every kind of board and on the host. Tokens are those of chat mode, errors are named, and Ctrl-C
stops a reply. It also tests `ingot serial`, which talks to such a line over a pty."""

import contextlib
import csv
import json
import os
import pty
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import time
import tty
from concurrent.futures import ThreadPoolExecutor

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from events import Events, of, text_of
from machine import (ARM64, HOST, RISCV64_ANY, ROOT, WORK, Machine, Reply, Tap, card_arguments,
                     end, ended, make_card)
from talk import foreign_controls, own_copy, sd_drive

WAIT = 120  # the most seconds that any step may take
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
CARD = make_card("serial-card.img", "--power-of-two", MODEL)
PROMPT, STORY = "Hello! Who are you?", "Tell me a story about a fox."
FIGURES = {"prompt_tokens", "reply_tokens", "first_token_ms", "decode_ms", "prefill_tokens_per_s",
           "decode_tokens_per_s", "decode_passes", "guessed_tokens", "right_guesses",
           "streamed_bytes", "streamed_bytes_per_pass", "planned_bytes_per_pass", "card_mb_per_s",
           "stalled_percent", "card_retries", "experts_in_cache_percent", "expert_bytes", "expert_stalls",
           "temperature_c", "context_tokens"}


def plain(prompt):
    """The host's output for people: text and ids."""
    done = subprocess.run([HOST, "run", MODEL, "-p", prompt, "--temp", "0", "--ids", "-q"],
                          capture_output=True, text=True, timeout=WAIT)
    return Reply(done.stdout)


SEEN = set()  # names of events and fields


class Line(Events):
    """A program that speaks JSON, at the other end of two pipes."""

    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT)
        self.bytes = b""
        self.wrong = []  # lines that are not events
        self.firmware = []  # lines before the first event

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()

    def send(self, data):
        self.child.stdin.write(data if isinstance(data, bytes) else data.encode())
        self.child.stdin.flush()

    def put(self, **request):
        self.send(json.dumps(request) + "\n")

    def line(self):
        """The next line without its end; None if there are no more lines, or if it takes too long."""
        end = time.monotonic() + WAIT
        while b"\n" not in self.bytes:
            if not select.select([self.child.stdout], [], [], max(0, end - time.monotonic()))[0]:
                return None
            more = os.read(self.child.stdout.fileno(), 65536)
            if not more:
                return None
            self.bytes += more
        line, self.bytes = self.bytes.split(b"\n", 1)
        return line.rstrip(b"\r")

    def event(self):
        while True:
            line = self.line()
            if line is None:
                return None
            if not self.firmware or self.firmware[-1] is not None:  # lines of OpenSBI come before ours
                if not line.startswith(b"{"):
                    self.firmware.append(line)
                    continue
                self.firmware.append(None)
            try:
                event = json.loads(line.decode("utf-8"))
                assert isinstance(event["event"], str) and min(line) >= 32 and 127 not in line
                SEEN.update([event["event"], *event])
                return event
            except (ValueError, KeyError, TypeError, AssertionError):
                self.wrong.append(line)

    def rest(self):
        """Read to the end of the output."""
        events = []
        while not events or events[-1] is not None:
            events.append(self.event())
        return events[:-1]


def ids_of(events):
    return [e["id"] for e in of(events, "token") if e["id"] is not None]


def done_of(events):
    return events[-1] or {}


class Checks:
    """The results of a machine. They are reported when the machine has finished, because machines run in parallel."""

    def __init__(self, name):
        self.name = name
        self.results = []

    def ok(self, good, what, detail=""):
        self.results.append((bool(good), f"{self.name}: {what}", detail))


def talk(c, k):
    """The checks that every kind of line must pass."""
    start = k.until("ready")
    ready = done_of(start)
    c.ok(ready.get("protocol") == 1 and ready.get("model") == "demo-q8_0.ingot" and
         ready.get("context_limit_tokens") == 512 and ready.get("turns") is True and
         len(of(start, "log")) > 2, "log lines come first, then ready describes the board", start)

    people = plain(PROMPT)
    reply = k.ask(prompt=PROMPT, temp=0)
    done = done_of(reply)
    c.ok(ids_of(reply) == people.ids and text_of(reply) == people.text,
         "the tokens and the text of the plain mode", f"{reply}\n{people.console}")
    c.ok(FIGURES <= set(done) and done["reason"] == "end" and
         done["reply_tokens"] == len(people.ids) and done["first_token_ms"] > 0 and
         done["context_tokens"] == done["prompt_tokens"] + done["reply_tokens"],
         "done has every figure", done)

    if ready["residency"] == "streamed":
        c.ok(done["streamed_bytes"] > done["streamed_bytes_per_pass"] > 1000 and
             done["streamed_bytes_per_pass"] == done["planned_bytes_per_pass"] and
             done["card_mb_per_s"] > 0 and 0 <= done["stalled_percent"] <= 100,
             "/stats has the figures of streaming", done)

    bad = k.ask(prompt="x", tmp=1) + k.ask(prompt=1) + k.ask(temp=0.5, top_p=7)
    c.ok([(e["name"], e["column"]) for e in of(bad, "error")] ==
         [("field", 24), ("field", 12), ("value", 0)] and
         [e["reason"] for e in of(bad, "done")] == ["error"] * 3 and not of(bad, "token"),
         "an unknown field, or a value of a wrong type, is refused", bad)
    k.send('{"prompt" "x"}\nhello\n{"prompt":"\\ud83d"}\n\n{"prompt":"\xff"}\n'.encode("latin-1"))
    bad = sum((k.until("done") for _ in range(4)), [])
    c.ok([(e["name"], e["column"]) for e in of(bad, "error")] ==
         [("json", 11), ("json", 1), ("json", 18), ("json", 12)],
         "invalid JSON is named with its column, and the next line is answered", bad)
    k.send(b'{"prompt":"' + b"x" * 20000 + b'"}\n')
    bad = k.until("done")
    c.ok([e["name"] for e in of(bad, "error")] == ["line"], "a line of 20 kB is refused", bad)
    again = k.ask(prompt=PROMPT, reset=True)
    c.ok(ids_of(again) == people.ids and done_of(again)["context_tokens"] == done["context_tokens"]
         and done_of(again)["prompt_tokens"] < done["prompt_tokens"],
         "a refused request sets nothing; reset starts a new conversation", again)

    stop = people.text[5:9]
    reply = k.ask(prompt=PROMPT, reset=True, stop=stop)
    c.ok(done_of(reply)["reason"] == "stop" and text_of(reply) ==
         people.text[:people.text.index(stop)], f"a stop string ({stop!r}) ends it", reply)
    reply = k.ask(prompt=PROMPT, reset=True, stop="", n=5)
    c.ok(done_of(reply)["reason"] == "limit" and ids_of(reply) == people.ids[:5] and
         done_of(reply)["context_tokens"] == done["prompt_tokens"] + 5,
         "n ends it, and the stop string is forgotten", reply)

    raw = '{"prompt":"Caf\xe9 \U0001f600?","reset":true,"n":9}\n'
    k.send(raw)
    one = k.until("done")
    k.send(json.dumps(json.loads(raw)) + "\n")  # with \u escapes and a surrogate pair
    two = k.until("done")
    c.ok(ids_of(one) == ids_of(two) and "\\ud83d" in json.dumps(json.loads(raw)) and ids_of(one) and
         done_of(one)["prompt_tokens"] == done_of(two)["prompt_tokens"],
         "escapes are the characters they stand for", one + two)
    with_id(c, k, people)
    odd = k.ask(**{"\u00e9\n\U0001f600": 1})
    c.ok(of(odd, "error")[0]["text"] == "there is no field \u00e9\n\U0001f600", "the error names an unknown field with its characters",
         odd)


def with_id(c, k, people):
    """Requests with an id, and with a program's own fields."""
    reply = k.ask(prompt=PROMPT, reset=True, n=0, id='q"1', x_from="a test", x_n=3)
    c.ok([e.get("id") for e in reply] == ['q"1'] * len(reply) and text_of(reply) == people.text and
         [e["token"] for e in of(reply, "token") if e["token"] is not None] == people.ids,
         "a request's id is in every event of its answer, and x_ fields are ignored", reply)
    other = k.ask(id=-7, command="/stats") + k.ask(bad=1, id=8)
    c.ok([e["id"] for e in other] == [-7] * (len(other) - 2) + [8, 8], "every event of any answer has the id", other)
    other = k.ask(id="x" * 65) + k.ask(id=1.5) + k.ask(id=True)
    c.ok([e["name"] for e in of(other, "error")] == ["field"] * 3 and
         not any("id" in e for e in other), "an invalid id is refused", other)
    for stop in ("q1", "q2", "q3", "q4", "q5"):  # each replaces the previous one
        reply = k.ask(stop=stop, id="stop")
    c.ok(done_of(reply)["reason"] == "command" and
         'stop "q5"' in k.ask(command="/set stop")[0]["text"], "a stop string replaces", reply)
    k.ask(stop="")
    before = k.ask(command="/model nosuch")
    after = k.ask(command="/model demo-q8_0", id="m")
    kinds = [e["event"] for e in after]
    c.ok(not of(before, "ready") and of(before, "error") and kinds[-2:] == ["ready", "done"] and
         kinds.count("ready") == 1 and of(after, "ready")[0]["model"] == "demo-q8_0.ingot" and
         of(after, "ready")[0]["id"] == "m", "ready comes before the done of /model", before + after)


def stop_reply(c, k):
    for _ in range(5):  # the reply may end before the byte arrives
        k.send(json.dumps({"prompt": STORY, "reset": True, "n": 400}) + "\n")
        events = k.until("token", "done")
        k.send(b"\x03")
        events += k.until("done")
        done = done_of(events)
        if done.get("reason") != "end":
            break
        k.until("ready")
    c.ok(done.get("reason") == "stopped" and 1 <= done["reply_tokens"] < 400 and
         done["reply_tokens"] == len(ids_of(events)), "Ctrl-C stops a reply", done)
    k.send(b'{"prompt":"half a line\x03')
    c.ok(done_of(k.until("ready", "done")).get("event") == "ready",
         "Ctrl-C without a reply drops the line, and ready answers")


def commands(c, k):
    story = k.ask(prompt=STORY, reset=True, n=0)
    c.ok(text_of(story) == plain(STORY).text and '"' in text_of(story), "a story, with quotes",
         story)
    stats = k.ask(command="/stats")
    c.ok(any(" of the context are taken" in e["text"] for e in of(stats, "text")) and
         done_of(stats)["reason"] == "command" and of(stats, "log"), "/stats", stats)
    bad = k.ask(command="/undoo") + k.ask(command="stats") + k.ask(command="/set temp 1000")
    c.ok([e["name"] for e in of(bad, "error")] == ["failed", "value", "failed"] and
         "/undo?" in bad[0]["text"], "unknown commands are refused", bad)
    c.ok(len(of(k.ask(command="/help all"), "text")) > 30, "/help all")
    c.ok("/stats" in "".join(e["text"] for e in of(k.ask(command="/log") +
         k.ask(command="/help"), "text")), "/log and the command after it are answered")


def on_board(machine):
    c = Checks(machine.board)
    drives = (sd_drive("rpi4", own_copy(CARD, "serial-rpi4.img")) if machine.board == "rpi4"
              else card_arguments(CARD))
    words = "mode=json temp=0.7 term=vt tempp=1" + (" mem=900K" if machine.board == "virt-arm64" else "")
    try:
        with Line(machine.command(words, 4 if machine.board == "rpi4" else 1, drives)) as k:
            talk(c, k)
            if machine.board != "rpi4":
                stop_reply(c, k)
                commands(c, k)
            end = k.ask(command="/off") + k.rest()
            c.ok("power off" in [e.get("text") for e in of(end, "log")], "/off", end)
            c.ok(not k.wrong and not any(b"Ingot" in line for line in k.firmware if line),
                 "every line on the wire is an event", f"{k.wrong}\n{k.firmware}")
    except (OSError, TypeError, KeyError, IndexError) as error:
        c.ok(False, f"goes on ({error!r})", f"{k.wrong} {k.bytes}")
    return c.results


def on_host():
    c = Checks("host")
    try:
        with Line([HOST, "chat", MODEL, "--json"]) as k:
            talk(c, k)
            commands(c, k)
            k.child.stdin.close()
            c.ok(k.rest() == [] and k.child.wait(WAIT) == 0, "the program ends when its input ends")
            c.ok(not k.wrong and k.firmware == [None], "every line is an event", k.wrong)
        tiny = os.path.join(WORK, "serial-tiny.ingot")
        subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", tiny], check=True,
                       capture_output=True, timeout=WAIT)
        with Line([HOST, "chat", tiny, "--mode", "json", "--seed", "3"]) as k:
            k.until("ready")
            noise = k.ask(prompt="x", temp=2, top_k=0, top_p=1, min_p=0, n=200)
            c.ok(len(ids_of(noise)) > 20 and not k.wrong and "\ufffd" in text_of(noise),
                 "random tokens, and every line is UTF-8", f"{k.wrong} {text_of(noise)!r}")
    except (OSError, TypeError, KeyError, IndexError) as error:
        c.ok(False, f"goes on ({error!r})", f"{k.wrong} {k.bytes}")
    return c.results


# ---- ingot serial ------------------------------------------------------------------------------

class Peer:
    """`ingot chat` behind a pty, like a board behind a serial device."""

    def __init__(self, *arguments):
        master, slave = pty.openpty()
        tty.setraw(slave)
        self.device = os.ttyname(slave)
        self.slave = slave  # held open, so that the device stays while no program uses it
        self.child = subprocess.Popen([HOST, "chat", MODEL, "--temp", "0", *arguments],
                                      stdin=master, stdout=master, stderr=master)
        os.close(master)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        os.close(self.slave)


def serial(device, *arguments, **more):
    return subprocess.run([HOST, "serial", device, *arguments], capture_output=True, text=True,
                          stdin=None if "input" in more else subprocess.DEVNULL, timeout=WAIT,
                          check=False, **more)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.reader(f))


def serial_with_host():
    c = Checks("ingot serial")
    table = os.path.join(WORK, "serial-figures.csv")
    if os.path.exists(table):
        os.remove(table)
    people = plain(PROMPT)
    with Peer("--json") as peer:
        one = serial(peer.device, "-p", PROMPT, "--csv", table)
        c.ok(one.returncode == 0 and one.stdout == people.text + "\n", "-p: the reply and no more",
             one)
        c.ok(re.search(r"^\[\d+ prompt \+ \d+ reply tokens?, prefill .* ms, end\]$", one.stderr,
                       re.M), "the figures go to standard error", one.stderr)
        before = os.path.getsize(table)
        full = serial(peer.device, "-p", PROMPT, "--csv", table, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (before + 20, before + 20)))
        c.ok(full.returncode == 1 and full.stdout == people.text + "\n" and "serial-figures.csv: File too large" in full.stderr and
             os.path.getsize(table) == before, "a full disk: the reply comes, then an error, and no incomplete row is written", full)
        two = serial(peer.device, "--csv", table, "-q", "-n", "6",
                     input=f"{PROMPT}\n/stats\n\n/nonsense\n//x\n")
        c.ok(two.returncode == 0 and " of the context are taken" in two.stdout and "error: there is no /nonsense" in
             two.stderr and "prefill" not in two.stderr, "lines and commands from a pipe", two)
        rows = rows_of(table)
        c.ok(len(rows) == 4 and rows[0][:4] == ["time", "board", "model", "reason"] and
             FIGURES <= set(rows[0]) and all(len(r) == len(rows[0]) for r in rows),
             "the CSV: one header, a row a reply", rows)
        first = dict(zip(rows[0], rows[1]))
        c.ok(first["board"] == "host" and first["model"] == "demo-q8_0.ingot" and first["reason"] == "end" and
             int(first["reply_tokens"]) == len(people.ids) and f"{first['first_token_ms']} ms" in
             one.stderr and [r[rows[0].index("reply_tokens")] for r in rows[2:]] == ["6", "6"] and
             re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first["time"]),
             "the CSV has the board's figures", rows)
        bad = serial(peer.device, "-p", "x", "--temp", "1000")
        c.ok(bad.returncode == 1 and "temp takes a number" in bad.stderr and not bad.stdout,
             "a refused setting: nothing is asked", bad)
        odd = serial(peer.device, "-p", "\"\\\t\x1b\x01 \udcff\U0001f600", "-q",
                     errors="surrogateescape")
        c.ok(odd.returncode == 0 and odd.stdout, "a prompt of awkward bytes arrives", odd)
    with Peer("--json", "--mem", "900K", "--card", "10M", "--spec", "off") as slow:
        at_terminal(c, slow)  # about ten tokens per second, so that there is something to stop
    return c.results


def at_terminal(c, peer):
    k = pexpect.spawn(HOST, ["serial", peer.device, "-n", "400"], timeout=WAIT, echo=False)
    try:
        k.expect("> $")
        k.sendline(STORY)
        k.expect(r"\w+ \w+ ")
        k.send("\x03")
        k.expect(r", stopped\]\r\n> $")
        c.ok(True, "a person stops a reply with Ctrl-C")
        k.sendline(PROMPT)
        k.expect(r", (end|limit)\]\r\n> $")
        c.ok(len(k.before) > 20, "the prompt is back after Ctrl-C", k.before)
        k.send("\x04")
        k.expect(pexpect.EOF)
        c.ok(ended(k) == 0, "Ctrl-D ends the program", k.exitstatus)
    except (pexpect.TIMEOUT, pexpect.EOF) as error:
        c.ok(False, f"goes on at a terminal ({type(error).__name__})", f"{k.before}")
    end(k)


def hostile_board():
    """`ingot serial` does not trust a board's bytes: firmware may print lines, and a hostile or old image may print
    events."""
    c = Checks("ingot serial")
    master, slave = pty.openpty()
    tty.setraw(slave)
    events = [{"event": "log", "ms": 1, "text": "boots \x1b[2J\u202e"},
              {"event": "ready", "protocol": 1, "board": "b\x1b", "model": "m\x9b"},
              {"event": "token", "id": 1, "text": "a\x1b]52;c;cm0=\x07\x9b6n\x13\u2066"},
              {"event": "text", "text": "t\x1b[6n"}, {"event": "error", "text": "e\x1bc\x7f"}]
    lines = [b"\x1b[2J\x1bPq\x9b6n\x13 firmware \xc2\x9b \xe2\x80\xae\x07 speaks"]
    lines += [json.dumps(e, ensure_ascii=escaped).encode() for escaped in (True, False) for e in events]
    lines += [b'{"event":"token","text":"a\\u001b\x9b"}', b'{"event":"token","text":"\xc2\x9b"}',
              b'{"event":"ready"}', b'{"event":"done","reason":"end\\u001b[6n","reply_tokens":5,"prompt_tokens":1}']
    child = subprocess.Popen([HOST, "serial", os.ttyname(slave), "-p", "x"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        os.read(master, 1)  # `ingot serial` asks whether a board is there
        os.write(master, b"\r\n".join(lines) + b"\r\n")
        out, err = (text.decode() for text in child.communicate(timeout=WAIT))
    finally:
        child.kill()
        child.wait()
        os.close(master)
        os.close(slave)
    c.ok(child.returncode == 1 and "\ufffd]52;c;cm0=" in out and "t\ufffd[6n" in out and
         "firmware" in err and "e\ufffdc\ufffd" in err and "[1 prompt + 5 reply" in err,
         "a hostile board is shown", (child.returncode, out, err))
    c.ok(not foreign_controls(out + err), "a hostile board's control characters are not shown", repr(out + err))
    return c.results


def requests_of(typed, *more):
    """The requests that `ingot serial` sends to a board that answers each with `done`, over a socket of IPv6 if there is one."""
    v6 = socket.has_ipv6 and os.path.exists("/proc/net/if_inet6")
    with socket.create_server(("::1" if v6 else "127.0.0.1", 0), family=socket.AF_INET6 if v6 else socket.AF_INET) as server:
        server.settimeout(WAIT)
        name = f"tcp:{'[::1]' if v6 else '127.0.0.1'}:{server.getsockname()[1]}"
        child = subprocess.Popen([HOST, "serial", name, "-q", *more], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        child.stdin.write(typed)
        child.stdin.close()
        requests = []
        with server.accept()[0] as board, board.makefile("rb") as lines:
            for line in lines:
                board.sendall(b'{"event":"ready"}\n' if line == b"\5\n" else b'{"event":"done","reason":"command"}\n')
                requests += [json.loads(line)] if line[:1] == b"{" else []
        child.wait(WAIT)
    return requests


def typed_lines():
    c = Checks("ingot serial")
    said = requests_of(b"Hello\r\n/stats\r\n\r\n\n//off\n/\n a\tb")
    c.ok(said == [{"prompt": "Hello"}, {"command": "/stats"}, {"prompt": "/off"}, {"prompt": "/"}, {"prompt": " a\tb"}],
         "lines of a file that end with CR LF", said)
    for text, wanted in ("//off", {"prompt": "/off"}), ("/stats", {"command": "/stats"}), ("/etc", {"command": "/etc"}), ("/", {"prompt": "/"}):
        said = requests_of(b"", "-p", text)
        c.ok(said == [wanted], f"-p {text} is the request that the same line would be", said)
    return c.results


def at_prompt(peer):
    """The answer to Enter."""
    fd = os.open(peer.device, os.O_RDWR | os.O_NOCTTY)
    os.write(fd, b"\r")
    said, late = b"", time.monotonic() + 10
    while b"> " not in said and time.monotonic() < late:
        if select.select([fd], [], [], 0.2)[0]:
            said += os.read(fd, 4096)
    os.close(fd)
    return said


def refuses_mode():
    """Return the text that `ingot serial` prints about a board whose line is locked."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    child = subprocess.Popen([HOST, "serial", os.ttyname(slave), "-p", "x"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    late = time.monotonic() + 30
    while child.poll() is None and time.monotonic() < late:
        if select.select([master], [], [], 0.2)[0] and b"\n" in os.read(master, 4096):
            os.write(master, b"error: /mode is refused while the line is locked\r\n> ")
    child.kill()
    said = child.communicate()[1]
    os.close(master)
    os.close(slave)
    return said


def ended_by(child, number):
    """The exit status of `child` after this signal. A Ctrl-C before the end of an answer stops the answer, and the next Ctrl-C stops the program."""
    late = time.monotonic() + WAIT
    while child.poll() is None and time.monotonic() < late:
        child.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(5)
    return child.returncode


def serial_errors():
    c = Checks("ingot serial")
    with Peer() as peer:
        people = serial(peer.device, "-p", PROMPT)
        later = serial(peer.device, "-p", PROMPT)  # now the board waits at its prompt
        for name, done in (("starts", people), ("waits", later)):
            c.ok(done.returncode == 0 and done.stdout == plain(PROMPT).text + "\n" and "/mode json until this program ends" in done.stderr,
                 f"a board that talks to people, and {name}, talks to a program meanwhile", done)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            gone = subprocess.Popen([HOST, "serial", peer.device, "-n", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL)
            gone.stdin.write(b"/stats\n")
            gone.stdin.flush()
            while b" of the context are taken" not in gone.stdout.readline():
                pass
            status = ended_by(gone, number)
            said = at_prompt(peer)
            c.ok(status == (0 if number == signal.SIGINT else 1) and b"> " in said and b'"event"' not in said,
                 f"the board talks to people again after {number.name}", (status, said))
            gone.stdin.close()
            gone.stdout.close()
    c.ok("refuses /mode json" in refuses_mode(), "a board that refuses it says why")
    with Peer("--json") as peer:
        serial(peer.device, "-p", "/stats")  # once this is answered, the board is ready
        gone = subprocess.Popen([HOST, "serial", peer.device], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        gone.stdin.write(b"/stats\n")
        gone.stdin.flush()
        while b" of the context are taken" not in gone.stdout.readline():
            pass
        second = serial(peer.device, "-p", "/stats")
        c.ok(second.returncode == 1 and "another program has it open" in second.stderr and second.stdout == "", "a second program is refused, for root as well", second)
        peer.child.kill()
        said = gone.stdout.read().decode()
        gone.wait(WAIT)
        gone.stdin.close()
    c.ok(gone.returncode == 1 and "was the adapter pulled out?" in said and said.count(peer.device) == 1, "a device that disappears is reported", said)
    master, slave = pty.openpty()
    silent = serial(os.ttyname(slave), "--wait", "1")
    os.close(master)
    os.close(slave)
    c.ok(silent.returncode == 1 and "the board is silent" in silent.stderr, "a silent line is reported",
         silent)
    for device, says in (("/dev/ttyNONE", "plug the adapter in"),
                         ("/dev/null", "not a serial device"), ("", "no such device")):
        done = serial(device)
        c.ok(done.returncode == 1 and says in done.stderr, f"{device or 'no name'}: {says}", done)
    for arguments in (("x", "--baud", "115201"), ("x", "--temp", "1,\"n\":2"), ("x", "--what", "1"),
                      ("x", "y"), ()):
        done = subprocess.run([HOST, "serial", *arguments], capture_output=True, text=True,
                              timeout=WAIT, check=False)
        c.ok(done.returncode in (1, 2) and done.stderr.startswith(("ingot: ", "ingot serial: ")),
             f"{' '.join(arguments) or 'no device'} is refused", done)
    done = serial("--help")
    c.ok(done.returncode == 0 and "--csv" in done.stdout, "--help", done)
    return c.results


def serial_with_qemu():
    """`ingot serial` on the device that QEMU makes from a board's UART, while the board restarts."""
    c = Checks("ingot serial, virt-arm64")
    command = ARM64.command("mode=json temp=0", 1, card_arguments(CARD)) + ["-serial", "pty"]
    command.remove("-no-reboot")
    qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    try:
        device = re.search(r"/dev/\S+", qemu.stdout.readline() + qemu.stdout.readline()).group(0)
        table = os.path.join(WORK, "serial-qemu.csv")
        if os.path.exists(table):
            os.remove(table)
        reply = serial(device, "-p", PROMPT, "-q", "--csv", table)
        c.ok(reply.returncode == 0 and reply.stdout == plain(PROMPT).text + "\n", "a reply", reply)
        rows = rows_of(table)
        c.ok(len(rows) == 2 and rows[1][1:3] == ["virt-arm64", "demo-q8_0.ingot"], "the reply has its row in the CSV", rows)
        again = serial(device, input=f"/reboot\n{PROMPT}\n")
        c.ok(again.returncode == 0 and again.stdout.endswith(plain(PROMPT).text + "\n") and
             "Ingot 0." in again.stderr, "the program continues after the board's restart", again)
    except (AttributeError, OSError, subprocess.TimeoutExpired) as error:
        c.ok(False, f"goes on ({error!r})")
    finally:
        qemu.send_signal(signal.SIGKILL)
        qemu.wait()
    return c.results


def documented():
    with open(os.path.join(ROOT, "docs/SERIAL.md"), encoding="utf-8") as f:
        text = f.read()
    missing = [name for name in sorted(SEEN) if f"`{name}`" not in text]
    return [(len(SEEN) > 30 and not missing, "docs/SERIAL.md has every event and field", missing)]


tap = Tap()
with ThreadPoolExecutor(2) as pool:
    jobs = [pool.submit(on_board, m) for m in (Machine("rpi4"), ARM64, RISCV64_ANY)]
    jobs += [pool.submit(f) for f in (on_host, serial_with_host, hostile_board, typed_lines, serial_errors, serial_with_qemu)]
    for job in jobs:
        for good, what, detail in job.result():
            tap.ok(good, what, detail)
for good, what, detail in documented():
    tap.ok(good, what, detail)
tap.done()
