#!/usr/bin/python3
"""`ingot serve` and hostile or broken callers: pages of other sites with requests that need no permission, bodies that arrive slowly, never or
without end, hundreds of idle connections, sockets that send and never read, a queue filled by callers that have left. Other callers are answered, and
the memory does not grow."""

import atexit
import base64
import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import HOST, LONG, ROOT, Tap

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
CHAT, TEXT, EMBED = "/v1/chat/completions", "/v1/completions", "/v1/embeddings"
BODIES = {CHAT: {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 2}, TEXT: {"prompt": "Once", "max_tokens": 2}, EMBED: {"input": "a cat"}}
ENDLESS = {"prompt": "Once upon a time", "max_tokens": 480, "temperature": 2, "top_k": 0, "top_p": 1, "min_p": 0}
tap = Tap()


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([HOST, "serve", DEMO, "--port", "0", "-q", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        atexit.register(self.process.kill)
        found = re.search(r"http://127.0.0.1:(\d+)", self.process.stdout.readline())
        self.port = int(found.group(1)) if found else 0

    def ask(self, path, body=None, headers=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        c.request("POST" if body is not None else "GET", path, json.dumps(body) if body is not None else None, headers or {})
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, text

    def answers(self):
        begin = time.monotonic()
        return self.ask(CHAT, BODIES[CHAT])[0] == 200 and time.monotonic() - begin < 20

    def metrics(self):
        return {name: int(value) for name, value in re.findall(r"^ingot_(\w+) (\d+)$", self.ask("/metrics")[1], re.M)}

    def wait_for(self, good, seconds=60):
        late = time.monotonic() + seconds
        while not good(self.metrics()) and time.monotonic() < late:
            time.sleep(0.02)
        return good(self.metrics())

    def resident(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))

    def open(self, text=b""):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        s.sendall(text)
        return s


def head(path, **headers):
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\n" + "".join(f"{k.replace('_', '-')}: {v}\r\n" for k, v in headers.items()) + "\r\n").encode()


def answer(s):
    """Everything that is received until the server closes, or until a status line."""
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            piece = s.recv(65536)
            if not piece:
                break
            data += piece
    except OSError:
        pass
    s.close()
    return data


server = Server()
if server.port == 0:
    tap.skip("hostile callers", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)

# Requests that a page of another site may send without permission: simple ones, from a form or as text/plain.
before = server.metrics()["requests_total"]
for path, body in BODIES.items():
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        for more in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}, {"Origin": "https://localhost"}, {"Host": ""}, {"Origin": ""}):
            status = server.ask(path, body, {"Content-Type": kind, **more})[0]
            if status != 403 and more != {"Origin": ""}:
                tap.ok(False, f"{path} {kind} {more}", status)
tap.ok(server.metrics()["requests_total"] - before <= 9, "a request from another site's page is refused", server.metrics())
tap.ok(server.ask("/health", None, {"Origin": "http://evil.example"})[0] == 403 == server.ask("/", None, {"Host": "evil.example"})[0], "another site's page does not get the server's page either")
for path in ("/boards", "/metrics", "/v1/models", "/"):
    got = [server.ask(path, None, h)[0] for h in ({}, {"Origin": f"http://127.0.0.1:{server.port}"}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "https://localhost"}, {"Host": "evil.example"})]
    tap.ok(got == [200, 200, 403, 403, 403, 403], f"{path} is answered only for this server's own page", got)

# Bodies that are too long, cut, or have invalid lengths: the server answers what it can, and ends the connection.
whole = json.dumps(BODIES[CHAT]).encode()
got = [answer(server.open(head(CHAT, Content_Length=n) + whole))[9:12] for n in (1 << 40, 1 << 70, "many", -1, "+5", f"{len(whole)}, {len(whole)}")]
got.append(answer(server.open(head(CHAT, Transfer_Encoding="chunked") + b"5\r\n{\"a\":1\r\n"))[9:12])
tap.ok(got == [b"413"] + [b"400"] * 6 and server.answers(), "invalid lengths are refused", got)
for n in (0, 1, len(whole) - 1):
    server.open(head(CHAT, Content_Length=len(whole)) + whole[:n]).close()
tap.ok(server.answers(), "cut bodies are refused")
start = server.resident()
big = [server.open(head(CHAT, Content_Length=50 << 20) + b" " * 200000) for _ in range(40)]
tap.ok(server.answers() and server.resident() - start < 8192, "40 bodies of 50 MB take no memory", server.resident() - start)
for s in big:
    s.close()

# Hundreds of connections that are idle or slow.
idle = [server.open() for _ in range(150)] + [server.open(b"POST /v1/chat") for _ in range(150)] + [server.open(head(CHAT, Content_Length=9999) + b"{") for _ in range(150)]
tap.ok(server.answers(), "450 connections that send nothing, or only a part, do not block others")
if LONG:
    time.sleep(75)
    for s in idle:
        s.settimeout(1)
    tap.ok(all(answer(s)[:1] in (b"", b"H") for s in idle) and len(os.listdir(f"/proc/{server.process.pid}/fd")) < 40,
           "idle connections are closed after a while")
    slow = server.open(head(CHAT, Content_Length=9999))
    begin, sent = time.monotonic(), True
    while sent and time.monotonic() - begin < 200:
        try:
            slow.sendall(b" ")
            time.sleep(5)
        except OSError:
            sent = False
    tap.ok(not sent and time.monotonic() - begin > 60, "a body that arrives with one byte in five seconds is given up", time.monotonic() - begin)
    # Answers that are read slowly: one byte in nine seconds, or 4 KB per second, which is slow but legitimate.
    def take_slowly(pause, n, seconds):
        """The seconds until the server closes the connection, at most `seconds`."""
        before, begin = len(os.listdir(f"/proc/{server.process.pid}/fd")), time.monotonic()
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.connect(("127.0.0.1", server.port))
        s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
        time.sleep(0.5)
        while time.monotonic() - begin < seconds and len(os.listdir(f"/proc/{server.process.pid}/fd")) > before:
            time.sleep(pause)
            s.recv(n)
        s.close()
        return time.monotonic() - begin
    waited = take_slowly(9, 1, 150)
    tap.ok(50 < waited < 150, "a client that reads one byte in nine seconds is given up", waited)
    waited = take_slowly(0.25, 1000, 90)
    tap.ok(waited >= 90, "a client that reads 4 KB a second is served", waited)
for s in idle:
    s.close()

# Sockets that send requests and never read.
upgrade = (f"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
           f"{base64.b64encode(b'0123456789abcdef').decode()}\r\n\r\n").encode()
hello = b'{"hello":2}'
frame = b"\x81" + bytes([0x80 | len(hello)]) + bytes(4) + hello
start, open_still = server.resident(), 0
for _ in range(4):
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect(("127.0.0.1", server.port))
    deaf.settimeout(5)
    try:
        deaf.sendall(upgrade)
        for _ in range(4000):
            deaf.sendall(frame * 100)
        open_still += 1
    except OSError:
        pass
    deaf.close()
grown = server.resident() - start
tap.ok(open_still == 0 and grown < 16384 and server.answers(),
       f"WebSockets that send 400,000 requests and never read are closed; {grown} KiB", (open_still, grown))
before = server.metrics()
deaf = [server.open(head(TEXT, Content_Length=len(json.dumps({**ENDLESS, "stream": True}))) + json.dumps({**ENDLESS, "stream": True}).encode()) for _ in range(8)]
tap.ok(server.answers() and server.wait_for(lambda m: m["requests_running"] == 0), "eight callers that ask for streams and do not read do not hold up the others", server.metrics())
for s in deaf:
    s.close()

# A full queue of callers that then leave.
one = Server("--together", "1")
body = json.dumps({"prompt": "x", "grammar": "root ::= [a-z]{400,480}", "max_tokens": 450}).encode()
full = [one.open(head(TEXT, Content_Length=len(body)) + body) for _ in range(170)]
filled = one.wait_for(lambda m: m["requests_waiting"] > 100, 60)
heard = [s.recv(4096) for s in select.select(full, [], [], 60)[0]]
for s in full:
    s.close()
emptied = one.wait_for(lambda m: m["requests_waiting"] == 0 and m["requests_running"] == 0, 60)
after = one.metrics()
tap.ok(filled and any(b" 429 " in h.split(b"\r\n")[0] for h in heard), "a request to a full queue is refused with that reason", (filled, heard[:3]))
tap.ok(emptied and one.answers() and after["requests_cancelled_total"] > 60, "the queue is empty as soon as its callers have left", after)
for s in (server, one):
    s.process.send_signal(signal.SIGTERM)
tap.ok(server.process.wait(60) == 0 == one.process.wait(60), "the servers end")
tap.done()
