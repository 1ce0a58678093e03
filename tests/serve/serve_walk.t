#!/usr/bin/python3
"""Random hostile callers at the sanitized `ingot serve`: methods, fields, lengths, chunks, pipelines, splits, aborts, slow readers, WebSocket frames.
No crash, no hang, no growing memory; a good caller is always answered within a second. WALK_SECONDS (default 60, 600 in make test-long),
WALK_SEED."""

import atexit
import http.client
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, LONG, ROOT, Tap

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
SANITIZED = os.path.join(BUILD, "asan/ingot")
SECONDS = float(os.environ.get("WALK_SECONDS") or (600 if LONG else 60))
SEED = int(os.environ.get("WALK_SEED") or random.randrange(1 << 30))
CALLERS = 6
PATHS = ["/", "/health", "/metrics", "/boards", "/models", "/v1/models", "/v1/chat/completions", "/chat/completions/", "/v1/completions", "/v1/embeddings", "/v1/responses", "/v1/messages", "/api/chat", "/api/generate", "/api/tags", "/api/embed", "/models/load", "/ws", "/nosuch", "*",
         "/%41", "/%00", "/%zz", "/" + "a" * 600, "http://localhost/health", "//", "/v1//", "/health?x=%0d%0a", "/\xff"]
METHODS = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "CONNECT", "TRACE", "BREW", "get", "PRI", "", "G" * 40]
BODIES = [json.dumps(b).encode() for b in (
    {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2}, {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 20, "stream": True, "temperature": 2},
    {"prompt": "Once", "max_tokens": 3, "n": 3}, {"prompt": "Once", "max_tokens": 200, "stream": True, "temperature": 2}, {"input": ["a", "b"]}, {"model": "x"}, [], "text", 1,
    {"messages": [{"role": "user", "content": "Hi"}], "grammar": 'root ::= "a" | "b"', "max_tokens": 3}, {"messages": [{"role": "user", "content": "Hi"}], "grammar": "root ::= ("},
    {"messages": "x"}, {"prompt": ["a", "b"], "max_tokens": 1}, {"prompt": "x", "unheard_of": 1})] + [b"", b"{", b"\xff\xfe", b"[" * 3000, b" " * 20000, b"\0" * 10]
FIELDS = ["Host: localhost", "Host: localhost", "Host: evil.example", "Host:", "Origin: null", "Origin: http://evil.example", "Origin: http://localhost", "Connection: close", "Connection: keep-alive",
          "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
          "Sec-WebSocket-Key: x", "Expect: 100-continue", "Expect: other", "Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity", "Content-Length: 5",
          "Content-Length: 0", "Content-Length: +3", "Content-Length: 99999999999999999999", "Content-Length: 900000", "Content-Length: 5, 5", "Content-Length : 5", "Authorization: Bearer x",
          "Authorization: bearer", "X-Long: " + "x" * 3000, "X: \x01", " folded: x", "no colon", "Access-Control-Request-Method: POST", "Accept-Encoding: gzip", "TE: trailers", "Range: bytes=0-5"]
SHAKE = (b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n")
MESSAGES = [b'{"hello":2}', b'{"prompt":"Hi","n":2}', b'{"prompt":"Once","n":60,"temp":2}', b'{"cancel":true}', b'{"prompt":"x","reset":true,"n":1}', b"no JSON", b"", b"\xff", b" " * 9000, b'{"prompt":"x","grammar":"root ::= [a-c]+","n":4}']
tap = Tap()


def chunks(r, body):
    out = b""
    while body:
        n = r.randrange(1, len(body) + 1) if r.random() < 0.5 else len(body)
        out += b"%x%s\r\n" % (n, r.choice([b"", b"", b";a=b", b' ;a="b"'])) + body[:n] + b"\r\n"
        body = body[n:]
    return out + r.choice([b"0\r\n\r\n", b"0\r\n\r\n", b"0;x\r\nA: b\r\n\r\n", b"0\r\nbad\r\n\r\n", b"x\r\n", b""])


def good_request(r):
    path, body = r.choice(PATHS[:12]), r.choice(BODIES)
    if r.random() < 0.4:
        return f"{r.choice(['GET', 'HEAD', 'OPTIONS'])} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n"
    if r.random() < 0.3:
        return (head + "Transfer-Encoding: chunked\r\n\r\n").encode() + chunks(r, body)
    return (head + f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def any_request(r):
    lines = [f"{r.choice(METHODS)} {r.choice(PATHS)} HTTP/1.{r.choice('11110x')}", *r.choices(FIELDS, k=r.randrange(6))]
    body = r.choice(BODIES)
    if r.random() < 0.5:
        lines.append(f"Content-Length: {max(0, len(body) + r.choice([0, 0, 0, -1, 1, 1000]))}")
    return r.choice(["\r\n"] * 20 + ["\n", "\r"]).join(lines).encode("latin-1") + b"\r\n\r\n" + body


def damaged(r, data):
    data = bytearray(data)
    for _ in range(r.randrange(1, 4)):
        at = r.randrange(len(data) or 1)
        kind = r.randrange(3)
        if kind == 0 and data:
            data[at] = r.randrange(256)
        elif kind == 1:
            data[at:at] = bytes(r.choice(b"\r\n\0 :,;x") for _ in range(r.randrange(1, 3)))
        else:
            del data[at:at + r.randrange(1, 9)]
    return bytes(data)


def frame(r, data):
    first = r.choice([0x81] * 8 + [0x82, 0x01, 0x00, 0x80, 0x89, 0x8A, 0x88, 0xC1, 0x83, 0x09])
    if first & 8:
        data = data[:r.choice([0, 1, 2, 100, 126])]
    mask, n = bytes(r.randrange(256) for _ in range(4)), len(data)
    masked = 0x80 * (r.random() < 0.97)
    size = bytes([n | masked]) if n < 126 else bytes([126 | masked]) + struct.pack(">H", n) if r.random() < 0.95 else bytes([127 | masked]) + struct.pack(">Q", r.choice([n, 1 << 40, 1 << 63]))
    return bytes([first]) + size + (mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)) if masked else data)


def stream_of(r):
    if r.random() < 0.25:
        data = SHAKE + b"".join(frame(r, r.choice(MESSAGES)) for _ in range(r.randrange(1, 12)))
    else:
        data = b"".join(good_request(r) if r.random() < 0.7 else any_request(r) for _ in range(r.choice([1, 1, 2, 5, 20])))
    return damaged(r, data) if r.random() < 0.3 else data


def pieces_of(r, data):
    most = r.choice([1, 7, 100, 100000])
    while data:
        n = r.randrange(1, most + 1)
        yield data[:n]
        data = data[n:]


def call(r, port):
    """One connection: what is sent, how it is split, how much of the answers is read, how it ends."""
    s = socket.socket()
    if r.random() < 0.1:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(0.2)
    try:
        s.connect(("127.0.0.1", port))
        for i, piece in enumerate(pieces_of(r, stream_of(r))):
            s.sendall(piece)
            if i % 50 == 49:
                time.sleep(0.0005)
        end = r.randrange(5)
        if end == 0:
            s.shutdown(socket.SHUT_WR)
        if end == 1:  # with an RST
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        late = time.monotonic() + r.choice([0, 0.01, 0.2])
        while end != 2 and time.monotonic() < late and s.recv(r.choice([10, 65536])):
            pass
    except OSError:
        pass
    return s


def walk(i, port, late, counts):
    r = random.Random(SEED * 1000 + i)
    held = []
    while time.monotonic() < late and not counts["stop"]:
        held.append(call(r, port))
        counts[i] = counts.get(i, 0) + 1
        while len(held) > r.choice([0, 0, 40]):
            held.pop(r.randrange(len(held))).close()
    for s in held:
        s.close()


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))


def ask(port):
    """The seconds that a good caller waits for /health; None if the answer is missing or wrong."""
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    begin = time.monotonic()
    try:
        c.request("GET", "/health")
        good = c.getresponse().read() == b'{"status":"ok"}\n'
    except (OSError, http.client.HTTPException):
        good = False
    c.close()
    return time.monotonic() - begin if good else None


def reply(port):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    c.request("POST", "/v1/completions", json.dumps({"prompt": "Once", "max_tokens": 3, "temperature": 0}))
    r = c.getresponse()
    r.read()
    return r.status


if not os.path.exists(SANITIZED):
    tap.skip("hostile callers", "build/asan/ingot is not built")
    tap.done()
    sys.exit(0)
errors = tempfile.TemporaryFile(mode="w+")
server = subprocess.Popen([SANITIZED, "serve", DEMO, "--port", "0", "-q", "-n", "200"], stdout=subprocess.PIPE, stderr=errors, text=True,
                          env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=8:detect_leaks=1"})
atexit.register(server.kill)
found = re.search(r"http://127.0.0.1:(\d+)", server.stdout.readline())
if not found:
    tap.skip("hostile callers", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)
port = int(found.group(1))


def run_walk(seconds):
    """Waits of the good caller, connections, and the memory at each quarter."""
    counts, waits, memory = {"stop": False}, [], []
    begin = time.monotonic()
    threads = [threading.Thread(target=walk, args=(i, port, begin + seconds, counts)) for i in range(CALLERS)]
    for t in threads:
        t.start()
    while time.monotonic() < begin + seconds and server.poll() is None:
        waits.append(ask(port))
        if len(memory) <= 4 * (time.monotonic() - begin) / seconds:
            memory.append(resident(server.pid))
        time.sleep(0.1)
    counts["stop"] = True
    for t in threads:
        t.join(60)
    return waits, sum(n for k, n in counts.items() if k != "stop"), memory


run_walk(min(SECONDS / 4, 60))  # afterwards the server's memory has its final size
waits, connections, memory = run_walk(SECONDS)
alive = server.poll() is None
# On a loaded computer the caller's own process also waits, so two of a hundred requests may take longer.
slow = sorted(w if w is not None else 99 for w in waits)
late = [w for w in slow if w > 1]
tap.note(f"seed {SEED}: {connections} connections in {SECONDS:.0f} s; the good caller waited {slow[len(slow) // 2] * 1000:.1f} ms, {slow[-1] * 1000:.0f} ms at most, of {len(slow)} times; "
         f"memory {memory} KiB")
tap.ok(alive and connections > SECONDS, f"{connections} hostile connections and no crash", SEED)
tap.ok(None not in waits and len(late) <= len(waits) // 50,
       f"a good caller waits {slow[-1] * 1000:.0f} ms at most, {slow[len(slow) // 2] * 1000:.1f} in the median", late[-5:])
tap.ok(memory[-1] - memory[0] < 16384, f"memory does not grow: {memory[0]} to {memory[-1]} KiB", memory)
tap.ok(alive and reply(port) == 200, "the server makes replies after the walk")
server.send_signal(signal.SIGTERM)
try:
    status = server.wait(120)
except subprocess.TimeoutExpired:
    status = "killed"
errors.seek(0)
said = errors.read()
tap.ok(status == 0 and "rror:" not in said, "the server ends, and the sanitizers find nothing", (status, said[:3000]))
tap.done()
