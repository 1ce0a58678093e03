#!/usr/bin/python3
"""The WebSocket of `ingot serve`: the same requests and events as on a board's serial line; conversations, many sockets at once, replies that are
cancelled or abandoned; pages of other sites are refused."""

import atexit
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from events import Events, text_of
from machine import HOST, LONG_REPLY, ROOT, Tap, run
from web_socket import TEXT, Client

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
STORY = "Tell me a story about a fox."
tap = Tap()


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([HOST, "serve", MODEL, "--port", "0", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        atexit.register(self.process.kill)
        found = re.search(r"http://127.0.0.1:(\d+)", self.process.stdout.readline())
        self.port = int(found.group(1)) if found else 0

    def metrics(self):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        c.request("GET", "/metrics")
        return {name: int(value) for name, value in re.findall(r"^ingot_(\w+) (\d+)$", c.getresponse().read().decode(), re.M)}


class Socket(Client, Events):
    """A program at /ws."""

    def __init__(self, server, path="/ws", **headers):
        super().__init__(server.port, path, **headers)

    def put(self, **request):
        self.frame(json.dumps(request).encode())

    def event(self):
        """None: the socket is closed."""
        while (message := self.message()) is not None:
            if message[0] == TEXT:
                return json.loads(message[1])
        return None


def said(events):
    return text_of(events).strip()


def alone(text, *options):
    return run([HOST, "run", MODEL, "-p", text, "--temp", "0", "--spec", "off", "-q", *options])[1].strip()


server = Server("--temp", "0")
if server.port == 0:
    tap.skip("the WebSocket", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)
w = Socket(server)
ready = w.event()
tap.ok(w.status == 101 and ready["event"] == "ready" and ready["model"] == "demo-q8_0.ingot" and ready["protocol"] == 2,
       "a socket opens, and `ready` names the model", (w.status, ready))
one = w.ask(id="a", prompt="What is 3 plus 4?")
tap.ok(said(one) == alone("What is 3 plus 4?") and all(e["id"] == "a" for e in one) and one[-1]["reason"] == "end" and one[-2]["completion_tokens"] > 3,
       "a reply arrives token by token", one)
two = w.ask(id=2, prompt="And what is 5 plus 5?")
whole = w.ask(messages=[{"role": "user", "content": "What is 3 plus 4?"}, {"role": "assistant", "content": alone("What is 3 plus 4?")}, {"role": "user", "content": "And what is 5 plus 5?"}])
tap.ok(two[-2]["cached_tokens"] > 10 and said(two) == said(whole) != "", "a conversation is kept by the socket or by the program", two + whole)
fresh = w.ask(prompt="What is 3 plus 4?", reset=True)
tap.ok(said(fresh) == said(one), "a new conversation begins empty", fresh)
cat = w.ask(prompt="Who are you?", system="You are a cat.")
tap.ok(said(cat) == alone("Who are you?", "--system", "You are a cat."), "a system prompt applies", cat)
few = w.ask(prompt=STORY, reset=True, n=5)
stop = w.ask(prompt=STORY, reset=True, stop=[" fox"], n=60)
raw = w.ask(raw="Once upon a time", n=6)
tap.ok(few[-1]["reason"] == "limit" and stop[-1]["reason"] == "stop" and " fox" not in said(stop) and raw[-2]["completion_tokens"] == 6,
       "settings, stop strings and continued texts work", few + stop + raw)
bad = [w.ask(prompt="x", tmp=1, id=9), w.ask(prompt="x", temp=-1), w.ask(prompt="x", raw="y"), w.ask(id=[1], prompt="x"), w.ask(messages=[{"role": "cook", "content": "x"}])]
w.frame(b"no JSON")
bad.append(w.until())
tap.ok([b[0]["event"] for b in bad] == ["error"] * 6 and [b[0].get("field") for b in bad][:2] == ["tmp", "temperature"] and bad[0][-1]["id"] == 9 and
       all(b[-1]["reason"] == "error" for b in bad), "errors are reported", bad)
tap.ok(said(w.ask(prompt="What is 3 plus 4?", reset=True)) == said(one) and w.ask(hello=2)[-1]["reason"] == "command", "an invalid request changes nothing")

STOPPED = {("busy", "error"), ("c", "command"), ("long", "stopped")}
for _ in range(10):  # on a loaded computer a reply may be complete before the request that ends it
    w.put(id="long", prompt=STORY, reset=True, n=100000, temp=2, top_k=0, top_p=1, min_p=0, stop=[])
    w.until("token")
    w.put(id="busy", prompt="x")
    w.put(id="c", cancel=True)
    ends = []
    while len(ends) < 3 and (e := w.event()):
        ends += [e] if e["event"] == "done" else []
    if {(e.get("id"), e["reason"]) for e in ends} == STOPPED:
        break
tap.ok({(e.get("id"), e["reason"]) for e in ends} == STOPPED, "a second request has to wait, and a reply is cancelled", ends)
tap.ok(said(w.ask(prompt="What is 3 plus 4?", reset=True)) == said(one), "after a cancelled reply the socket is free")

request = json.dumps({"prompt": "What is 3 plus 4?", "reset": True}).encode()
w.frame(request[:10], 0x01)
w.frame(request[10:20], 0x00)
w.frame(request[20:], 0x80)
tap.ok(said(w.until()) == said(one), "a message in fragments is accepted")
w.frame(b"ping", 0x89)
tap.ok(said(w.ask(prompt="What is 3 plus 4?", reset=True)) == said(one), "a ping between fragments is answered")

results = {}


def talk(i):
    s = Socket(server)
    s.event()
    results[i] = [said(s.ask(prompt=p, reset=True)) for p in (STORY, "What is 3 plus 4?", "Who are you?")]
    s.s.close()


threads = [threading.Thread(target=talk, args=(i,)) for i in range(12)]
for t in threads:
    t.start()
for t in threads:
    t.join(100)
wanted = [alone(p) for p in (STORY, "What is 3 plus 4?", "Who are you?")]
tap.ok(len(results) == 12 and all(r == wanted for r in results.values()), "twelve sockets at once get their replies", results)


def leave():
    """True if a reply was running when its socket was closed, and was then ended."""
    before = server.metrics()["requests_cancelled_total"]
    left = Socket(server)
    left.event()
    left.put(prompt=STORY, n=450, temp=2, grammar=LONG_REPLY["grammar"])
    left.until("token")
    left.s.close()
    late = time.monotonic() + 20
    while server.metrics()["requests_running"] and time.monotonic() < late:
        time.sleep(0.05)
    return server.metrics()["requests_cancelled_total"] == before + 1


# On a busy computer the reply may be complete before the socket goes away.
tap.ok(any(leave() for _ in range(5)), "a socket that goes away leaves no running reply", server.metrics())

big = Socket(server)
big.event()
big.frame(b" " * (1 << 20) + b'{"prompt":"x"}')
tap.ok(big.event() is None, "a message of more than 1 MiB closes the socket")


def half():
    """A socket with a message of 1 MiB that does not end."""
    s = Socket(server)
    s.event()
    try:
        s.s.sendall(b"\x01\xff" + (1 << 20).to_bytes(8, "big") + bytes(4) + b" " * (1 << 20))
    except OSError:
        pass
    return s


halves = [half() for _ in range(66)]
closed = halves[65].take(4)
tap.ok(closed == b"\x88\x02\x03\xf5", "after 66 MiB of messages without an end, the last socket is told to try later", closed)
for h in halves:
    h.s.close()
late = time.monotonic() + 20
while (free := said(Socket(server).ask(prompt="What is 3 plus 4?"))) != said(one) and time.monotonic() < late:
    time.sleep(0.05)
tap.ok(free == said(one), "the memory of these sockets is free when they are closed", free)
for what, path, headers in (("a page of another site", "/ws", {"Origin": "http://evil.example"}), ("another name of this computer", "/ws", {"Host": "evil.example"}), ("another path", "/v1/ws", {})):
    tap.ok(Socket(server, path, **headers).status != 101, f"not {what}")
tap.ok(Socket(server, Origin=f"http://127.0.0.1:{server.port}").status == 101, "this server's own page may open a WebSocket")
guarded = Server("--token", "secret")
tap.ok(Socket(guarded).status != 101 and Socket(guarded, Authorization="Bearer secret").status == 101, "a socket without the token is refused")
server.process.send_signal(signal.SIGTERM)
tap.ok(server.process.wait(20) == 0 and w.event() is None, "the server ends, and its sockets with it")
tap.done()
