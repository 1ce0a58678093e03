#!/usr/bin/python3
"""`ingot serve` with HTTP as clients and proxies speak it: 200 requests over one connection in any split of their bytes, pipelined requests of every
method, chunks, lengths that are refused, offers that are ignored, HEAD, IPv6, allowed pages of other sites, callers that leave or stop reading."""

import atexit
import base64
import gzip
import hashlib
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, LONG_REPLY, ROOT, Tap, run

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
SANITIZED = os.path.join(BUILD, "asan/ingot")
CHAT, TEXT, EMBED = "/v1/chat/completions", "/v1/completions", "/v1/embeddings"
ASK = json.dumps({"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1, "temperature": 0}).encode()
tap = Tap()


class Server:
    def __init__(self, *options, program=HOST, files=None):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        self.process = subprocess.Popen([program, "serve", DEMO, "--port", "0", "-q", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        preexec_fn=few if files else None, text=True)
        atexit.register(self.process.kill)
        found = re.search(r"http://(.*):(\d+)$", self.process.stdout.readline().strip())
        self.host, self.port = (found.group(1).strip("[]"), int(found.group(2))) if found else ("", 0)

    def open(self, text=b""):
        s = socket.create_connection((self.host, self.port), timeout=60)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.sendall(text)
        return s

    def ask(self, method, path, body=None, **headers):
        """Status, headers, text."""
        c = http.client.HTTPConnection(self.host, self.port, timeout=60)
        c.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, r.headers, text

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed", ""
        return status, self.process.stderr.read()


def request(method, path, body=None, *fields):
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *fields] + ([f"Content-Length: {len(body)}"] if body is not None else [])
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")


class Answers:
    """The answers that arrive on a socket, in order."""

    def __init__(self, s, *methods):
        self.s, self.data, self.methods = s, b"", list(methods)

    def more(self):
        try:
            piece = self.s.recv(65536)
        except OSError:
            piece = b""
        self.data += piece
        return bool(piece)

    def until(self, mark):
        while mark not in self.data:
            if not self.more():
                return None
        head, _, self.data = self.data.partition(mark)
        return head

    def take(self, n):
        while len(self.data) < n:
            if not self.more():
                return None
        body, self.data = self.data[:n], self.data[n:]
        return body

    def next(self, method=None):
        """(status, fields, body); the status is 0 if the connection has ended."""
        head = self.until(b"\r\n\r\n")
        if head is None:
            return 0, {}, b""
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split()[1])
        fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        if status < 200 or status == 204 or method == "HEAD":
            return status, fields, b""
        if fields.get("transfer-encoding") != "chunked":
            return status, fields, self.take(int(fields["content-length"]))
        body = b""
        while (size := int(self.until(b"\r\n") or b"0", 16)) != 0:
            body += self.take(size)
            self.until(b"\r\n")
        self.until(b"\r\n")
        return status, fields, body

    def ended(self):
        """True if the server closes without sending more."""
        return not self.data and not self.more()


server = Server()
if server.port == 0:
    tap.skip("HTTP", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)

# ---- one connection --------------------------------------------------------------------------

KINDS = [("POST", CHAT, ASK, 200), ("GET", "/health", None, 200), ("HEAD", "/", None, 200), ("POST", "/nosuch", b"{}", 404), ("OPTIONS", CHAT, None, 204),
         ("PUT", CHAT, b"xyz", 405), ("POST", TEXT, b"", 400), ("GET", "/v1/models", None, 200), ("DELETE", "/health", None, 405), ("POST", CHAT, b"{", 400)]
ROW = [KINDS[i % len(KINDS)] for i in range(200)]
BYTES = b"".join(request(m, p, b) for m, p, b, _ in ROW)


def answered(s, row):
    a = Answers(s)
    got = [a.next(method)[0] for method, _, _, _ in row]
    return got == [status for _, _, _, status in row] and a.data == b"", got


good, got = answered(server.open(BYTES), ROW)
tap.ok(good, "200 requests of all methods in one write are answered in their order", got)
s = server.open()
for i in range(0, len(BYTES), 7):
    s.sendall(BYTES[i:i + 7])
good, got = answered(s, ROW)
tap.ok(good, "requests in pieces of seven bytes are answered in their order", got)

# Each split of the first two requests, and then the rest of a shorter row; the pieces wait for each other if the server would otherwise read them
# together.
two = request("POST", CHAT, ASK) + request("POST", CHAT, ASK)
short = [KINDS[0], KINDS[0], *KINDS[1:4]]
tail = b"".join(request(m, p, b) for m, p, b, _ in short[2:])
bad = []
for cut in range(1, len(two)):
    s = server.open(two[:cut])
    time.sleep(0.0005)
    s.sendall(two[cut:] + tail)
    good, got = answered(s, short)
    s.close()
    bad += [] if good else [(cut, got)]
tap.ok(not bad, f"two POSTs are answered when split at any of their {len(two)} bytes", bad)
s = server.open()
for byte in two + tail:
    s.sendall(bytes([byte]))
tap.ok(answered(s, short)[0], "requests that arrive byte by byte are answered")

EVENTS = request("POST", CHAT, json.dumps({**json.loads(ASK), "stream": True, "max_tokens": 5}).encode())
a = Answers(server.open(EVENTS + request("GET", "/health") + EVENTS + request("HEAD", "/health")))
got = [a.next() for _ in range(3)] + [a.next("HEAD")]
tap.ok([g[0] for g in got] == [200] * 4 and got[0][2].rstrip().endswith(b"[DONE]") and got[2][2].rstrip().endswith(b"[DONE]") and got[1][2] == b'{"status":"ok"}\n' and
       got[3][1]["content-length"] == "16", "streams between other requests are answered in order", got)
old = Answers(server.open(b"GET /health HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\nGET /health HTTP/1.0\r\nHost: localhost\r\n\r\n"))
tap.ok([old.next()[0], old.next()[0]] == [200, 200] and old.ended(), "HTTP/1.0 keeps the connection if the client asks for it")
zipped = gzip.compress(json.dumps({**json.loads(ASK), "metadata": {"a": os.urandom(300000).hex()}}).encode())
a = Answers(server.open(request("POST", CHAT, zipped, "Content-Encoding: gzip")))
status, fields, body = a.next()
tap.ok(status == 415 and "compressed" in json.loads(body)["error"]["message"] and a.ended() and server.ask("POST", CHAT, ASK, Content_Encoding="identity")[0] == 200,
       "a compressed body is refused as such", (status, body))
plain = {"no host": ("GET", "/health", "", 200), "no host, and another page": ("GET", "/v1/models", "", 200), "another host": ("GET", "/v1/models", "Host: evil.example\r\n", 403),
         "another address": ("GET", "http://evil.example/v1/models", "", 403), "another page's script": ("GET", "/v1/models", "Origin: http://evil.example\r\n", 403)}
got = {what: Answers(server.open(f"{method} {target} HTTP/1.0\r\n{fields}\r\n".encode())).next()[0] for what, (method, target, fields, _) in plain.items()}
tap.ok(got == {what: row[3] for what, row in plain.items()}, "HTTP/1.0 may come without a Host, as HAProxy's checks do", got)
s = server.open(EVENTS.replace(b"HTTP/1.1", b"HTTP/1.0"))
text = b""
while piece := s.recv(65536):
    text += piece
tap.ok(b"chunked" not in text and text.rstrip().endswith(b"data: [DONE]"), "a stream to HTTP/1.0 ends with the connection", text[-100:])
a = Answers(server.open(request("POST", CHAT, ASK, "Connection: close") + request("GET", "/health")))
tap.ok(a.next()[0] == 200 and a.ended(), "after Connection: close nothing is answered")
s = server.open(request("POST", CHAT, ASK))
s.shutdown(socket.SHUT_WR)
a = Answers(s)
got = [status for status in (a.next()[0] for _ in range(2)) if status >= 200]
tap.ok(got == [200], "a caller that closes its sending side still gets its answer", got)

# ---- bodies ----------------------------------------------------------------------------------


def chunked(body, n, extension=b""):
    return b"".join(b"%x%s\r\n%s\r\n" % (len(body[i:i + n]), extension, body[i:i + n]) for i in range(0, len(body), n)) + b"0\r\n\r\n"


CHUNKS = request("POST", CHAT, None, "Transfer-Encoding: chunked")
first = server.ask("POST", CHAT, ASK)[2]
a = Answers(server.open(CHUNKS + chunked(ASK, 1) + CHUNKS + chunked(ASK, 30, b';a="b c"').replace(b"0\r\n\r\n", b"0;x\r\nA: b\r\n\r\n") + request("GET", "/health")))
got = [a.next() for _ in range(3)]
tap.ok([g[0] for g in got] == [200] * 3 and all(json.loads(g[2])["choices"] == json.loads(first)["choices"] for g in got[:2]),
       "bodies in chunks, with extensions and trailers, are accepted", got)
a = Answers(server.open(CHUNKS + chunked(b" " * (1 << 20) + ASK, 65536)))
tap.ok(a.next()[0] == 413 and a.ended(), "the limit of a body holds for the sum of its chunks")
a = Answers(server.open(request("POST", CHAT, ASK, "Expect: 100-continue")[:-len(ASK)]))
got = [a.next()[0]]
a.s.sendall(ASK)
got += [a.next()[0]]
tap.ok(got == [100, 200], "Expect: 100-continue", got)
a = Answers(server.open(request("POST", "/nosuch", ASK, "Expect: 100-continue")[:-len(ASK)]))
tap.ok(a.next()[0] == 404 and a.ended(), "a body that would be refused is not requested")


def told(srv, head, body=b""):
    """The answer to a head whose body has not arrived, and the answer after the body and another request."""
    s = srv.open(head)
    s.settimeout(10)
    a = Answers(s)
    got = [a.next()[0]]
    try:
        s.sendall(body + request("GET", "/health"))
    except OSError:
        pass
    return got + [a.next()[0]]


guarded = Server("--token", "abc", "--allow-origin", "*")
LONG_BODY = b" " * 900000
LENGTH, HUGE = f"Content-Length: {len(LONG_BODY)}", "Content-Length: 1000000000000"
for srv, method, path, field, body, want in (
        (server, "POST", "/nosuch", LENGTH, LONG_BODY, [404, 200]), (server, "PUT", CHAT, LENGTH, LONG_BODY, [405, 200]), (guarded, "POST", CHAT, LENGTH, LONG_BODY, [401, 200]),
        (server, "GET", "/health", LENGTH, LONG_BODY, [200, 200]), (server, "POST", "/nosuch", "Transfer-Encoding: chunked", chunked(LONG_BODY, 65536), [404, 200]),
        (server, "POST", CHAT, HUGE, LONG_BODY, [413, 0]), (server, "POST", "/nosuch", HUGE, LONG_BODY, [404, 0]), (guarded, "POST", CHAT, HUGE, LONG_BODY, [401, 0]),
        (server, "POST", "/nosuch", "Transfer-Encoding: chunked", chunked(LONG_BODY * 4, 65536), [404, 0]), (guarded, "POST", CHAT, LENGTH + "\r\nExpect: 100-continue", b"", [401, 0])):
    got = told(srv, request(method, path, None, field), body)
    if got != want:
        tap.ok(False, f"{method} {path}, {field}: the error comes at once", got)
tap.ok(True, "an error in the head is reported before the body comes; a short body is ignored, and a long one ends the connection")
a = Answers(server.open(CHUNKS + b"ffffffffffffffff\r\n"))
tap.ok(a.next()[0] == 413 and a.ended(), "a chunk with too large a size is refused before it arrives")
N = str(len(ASK))
for lines in (["Content-Length: " + N, "Transfer-Encoding: chunked"], ["Content-Length: +" + N], [f"Content-Length: {N}, {N}"], [f"Content-Length: {N}"] * 2,
              ["Content-Length: 5", "Content-Length: " + N], ["Content-Length:"], ["Content-Length: 0x10"], ["Transfer-Encoding: gzip, chunked"], ["Transfer-Encoding: identity"],
              ["Transfer-Encoding : chunked"], ["X: y", " Content-Length: " + N]):
    a = Answers(server.open(request("POST", CHAT, None, *lines) + ASK + request("GET", "/metrics")))
    status, fields, body = a.next()
    if status != 400 or fields.get("connection") != "close" or not a.ended() or "error" not in json.loads(body):
        tap.ok(False, f"{lines} is refused", (status, fields, body))
tap.ok(True, "lengths that a proxy may read differently are refused, and the connection ends")
a = Answers(server.open(request("POST", CHAT, ASK, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA") +
                        request("GET", "/health", None, "Connection: Upgrade", "Upgrade: h2c") + request("GET", "/v1/models", None, "Connection: Upgrade", "Upgrade: websocket")))
got = [a.next()[0] for _ in range(3)]
tap.ok(got == [200] * 3, "an offer of HTTP/2, or of a WebSocket at another page, is ignored", got)
if shutil.which("curl"):
    done = [subprocess.run(["curl", "-sS", "-m", "30", "-o", "/dev/null", "-w", "%{http_code} ", "--http2", *more, f"http://127.0.0.1:{server.port}{path}"], capture_output=True, text=True,
                           timeout=60) for path, more in ((CHAT, ["-d", ASK]), ("/health", []), ("/", ["-I"]), (CHAT, ["-H", "Transfer-Encoding: chunked", "-d", ASK]))]
    tap.ok([d.stdout for d in done] == ["200 "] * 4, "curl --http2 gets an answer", done)

# ---- pages -----------------------------------------------------------------------------------

for path in ("/", "/health", "/v1/models", "/models", "/boards", "/metrics"):
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    heads = []
    for method in ("HEAD", "GET"):
        c.request(method, path)
        r = c.getresponse()
        heads.append((r.status, r.headers["content-type"], r.headers["content-security-policy"], len(r.read())))
    if heads[0][:3] != heads[1][:3] or heads[0][0] != 200 or heads[0][3] != 0 or heads[1][3] == 0:
        tap.ok(False, f"HEAD {path}", heads)
tap.ok(True, "HEAD is GET without the body, for each page")
got = [server.ask("POST", p, ASK)[0] for p in (CHAT, CHAT + "/", "/chat/completions", "/chat/completions//")] + [server.ask("GET", p)[0] for p in ("/v1/models/", "/health/", "/v1/health")]
tap.ok(got == [200] * 7, "pages are found with and without /v1, and with a slash at the end", got)
lines = {"GET *": 400, "HEAD *": 400, "OPTIONS *": 204, "OPTIONS http://localhost": 204, "GET http://localhost/health": 200, "GET HTTP://LOCALHOST:1/health?x": 200, "GET http://evil.example/health": 403,
         "GET http://localhost": 200, "GET http://u@localhost/health": 400, "GET http:///health": 400, "GET localhost:80": 400, "GET ftp://localhost/health": 400, "CONNECT localhost:80": 405,
         "GET /health#a": 400, "GET /" + "a" * 600: 414}
got = {line: Answers(server.open(f"{line} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())).next("HEAD")[0] for line in lines}
tap.ok(got == lines, "a target is a path, a whole address, whose host counts, or a star only for OPTIONS", got)
lost = [json.loads(server.ask("POST", p, b"{}")[2])["error"]["message"] for p in ("/v1/responses/resp_1", "/v1/chat/completion", "/%3Cb%3E%E2%82%AC")]
tap.ok("/v1/responses/resp_1" in lost[0] and "keeps no responses" in lost[0] and "/v1/chat/completion" in lost[1] and "<b>\u20ac" in lost[2], "the error names the page that was asked for", lost)
status, fields, _ = server.ask("GET", CHAT)
tap.ok(status == 405 and "POST" in fields["allow"], "another method is refused", (status, dict(fields)))
got = [guarded.ask("GET", "/v1/models", None, Authorization=h)[0] for h in ("bearer abc", "BEARER abc", "Bearer   abc", "Bearer abcd", "Bearerabc", "Basic abc", "bearer")]
tap.ok(got == [200] * 3 + [401] * 4, "the scheme of Authorization can have capital letters", got)

# ---- pages of other sites --------------------------------------------------------------------

for origin, host, want in (("http://ingot.lan", "ingot.lan", 200), ("https://ingot.lan", "ingot.lan", 200), ("http://INGOT.lan", "ingot.LAN", 200), ("http://ingot.lan:80", "ingot.lan", 200),
                           ("https://ingot.lan", "ingot.lan:443", 200), ("http://ingot.lan", "ingot.lan:8080", 403), ("http://ingot.lan:81", "ingot.lan", 403), ("ftp://ingot.lan", "ingot.lan", 403),
                           ("http://ingot.lan.evil", "ingot.lan", 403), ("null", "ingot.lan", 403), ("http://ingot.lan/", "ingot.lan", 403), ("http://", "", 403)):
    closed = globals().setdefault("closed", Server("--token", "abc"))
    status = closed.ask("GET", "/v1/models", None, Host=host, Origin=origin, Authorization="Bearer abc")[0]
    if status != want:
        tap.ok(False, f"{origin} at {host}", status)
tap.ok(True, "the server's own page is allowed by http or https, in any case, with the default port or without")
opened = Server("--allow-origin", "http://localhost:3000", "--origin", "vscode-webview://abc", "--allow-host", "host.docker.internal")
status, fields, _ = opened.ask("OPTIONS", CHAT, None, Origin="http://localhost:3000", Access_Control_Request_Method="POST", Access_Control_Request_Headers="authorization,content-type")
tap.ok(status == 204 and fields["access-control-allow-origin"] == "http://localhost:3000" and "POST" in fields["access-control-allow-methods"] and
       fields["access-control-allow-headers"] == "authorization,content-type" and "Origin" in fields["vary"],
       "a preflight request of an allowed page is answered", (status, dict(fields)))
got = [opened.ask("POST", CHAT, b, Origin=o) for b in (ASK, b"{", json.dumps({**json.loads(ASK), "stream": True}).encode()) for o in ("http://localhost:3000", "vscode-webview://abc")]
tap.ok([g[0] for g in got] == [200, 200, 400, 400, 200, 200] and [g[1]["access-control-allow-origin"] for g in got] == ["http://localhost:3000", "vscode-webview://abc"] * 3,
       "a page of an allowed origin may read each answer, errors and streams", [(g[0], dict(g[1])) for g in got])
cut = opened.open(f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n".encode())
told = b""
while more := cut.recv(65536):
    told += more
tap.ok(told.startswith(b"HTTP/1.1 400 ") and b"access-control-allow-origin: http://localhost:3000\r\n" in told, "a page of an allowed origin may read the error for a body that breaks off", told)
shut = [opened.ask("OPTIONS", CHAT, None, Origin="http://localhost:3001", Access_Control_Request_Method="POST"), opened.ask("GET", "/health", None, Host="other.example"),
        opened.ask("GET", "/health", None, Host="host.docker.internal:1"), server.ask("GET", "/health", None, Host="host.docker.internal")]
tap.ok([g[0] for g in shut] == [403, 403, 200, 403] and "--allow-origin" in shut[0][2] and "--allow-host" in shut[1][2] and shut[0][1]["access-control-allow-origin"] is None,
       "other pages are refused, and the error names the option", [(g[0], g[2]) for g in shut])
status, fields, _ = guarded.ask("OPTIONS", CHAT, None, Origin="https://any.example", Access_Control_Request_Method="POST")
status2, fields2, _ = guarded.ask("POST", CHAT, ASK, Origin="https://any.example")
tap.ok((status, status2) == (204, 401) and fields["access-control-allow-origin"] == "https://any.example" == fields2["access-control-allow-origin"],
       "any page can be allowed, with a token", (status, status2))
wrong = [run([HOST, "serve", DEMO, *o])[0] for o in (["--allow-origin", "*"], ["--allow-origin", "localhost:3000"], ["--allow-origin", "http://a/b"], ["--allow-host", "http://a"], ["--address", "nowhere"])]
tap.ok(wrong == [2, 2, 2, 2, 2], "invalid options are refused", wrong)

# ---- addresses -------------------------------------------------------------------------------

if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"):
    six = Server("--address", "::1")
    got = [six.ask("GET", "/health")[0], six.ask("POST", CHAT, ASK, Host=f"[::1]:{six.port}", Origin=f"http://[::1]:{six.port}")[0], six.ask("GET", "/health", None, Host="[::2]")[0]]
    tap.ok(six.host == "::1" and got == [200, 200, 403], "the server answers on IPv6", (six.host, got))
    six.end()
else:
    tap.skip("IPv6", "this computer has no IPv6")
named = Server("--address", "127.0.0.2")
tap.ok(named.ask("GET", "/health")[0] == 200, "the server answers on another address of this computer")
named.end()

# ---- WebSockets ------------------------------------------------------------------------------

KEY = base64.b64encode(b"0123456789abcdef").decode()
SHAKE = ["Upgrade: websocket", "Connection: keep-alive, Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {KEY}"]
ACCEPT = base64.b64encode(hashlib.sha1(KEY.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()


def frame(data, first=0x81, masked=True):
    mask = b"abcd"
    n = len(data)
    size = bytes([n | 0x80 * masked]) if n < 126 else bytes([126 | 0x80 * masked]) + struct.pack(">H", n)
    return bytes([first]) + size + (mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)) if masked else data)


def frames(data):
    """(first byte, payload) of each frame from a server"""
    out = []
    while len(data) >= 2:
        n, at = data[1], 2
        if n == 126:
            n, at = struct.unpack(">H", data[2:4])[0], 4
        out.append((data[0], data[at:at + n]))
        data = data[at + n:]
    return out


def socket_says(*pieces):
    """All frames received until the server closes, after these pieces are sent on a new socket."""
    s = server.open(request("GET", "/ws", None, *SHAKE))
    a = Answers(s)
    status, fields, _ = a.next()
    if status != 101 or fields["sec-websocket-accept"] != ACCEPT:
        return status
    for piece in pieces:
        s.sendall(piece)
    s.settimeout(20)
    while a.more():
        pass
    return frames(a.data)


CLOSE = frame(struct.pack(">H", 1000), 0x88)
hello = b'{"hello":2}'
got = socket_says(frame(hello) + frame(b"\xc3\xa9", 0x89) + CLOSE)
tap.ok(isinstance(got, list) and got[0][0] == 0x81 and b"ready" in got[0][1] and (0x8a, b"\xc3\xa9") in got and got[-1] == (0x88, struct.pack(">H", 1000)),
       "a WebSocket opens, answers a ping, and closes", got)
hello = b'{"hello":2,"x_note":"\xe2\x82\xac"}'
got = socket_says(frame(hello[:22], 0x01) + frame(hello[22:23], 0x00) + frame(hello[23:], 0x80) + CLOSE)
tap.ok(isinstance(got, list) and b'"done"' in b"".join(g[1] for g in got), "a character in three fragments is accepted", got)
hello = b'{"hello":2}'
whole = frame(hello[:3], 0x01) + frame(b"x", 0x89) + frame(b"", 0x00) + frame(hello[3:], 0x80) + frame(b'{"prompt":"x"' + b" " * 300 + b',"n":1}') + CLOSE
got = socket_says(*[bytes([b]) for b in whole])
tap.ok(isinstance(got, list) and (0x8a, b"x") in got and b'"done"' in b"".join(g[1] for g in got),
       "messages in fragments, byte by byte, with a ping between them, are accepted", got)
BROKEN = {"a frame without a mask": (frame(hello, masked=False), 1002), "a reserved bit": (frame(hello, 0xC1), 1002), "an unknown kind": (frame(hello, 0x83), 1002), "a fragment of nothing": (frame(hello, 0x80), 1002),
          "a message within another": (frame(hello, 0x01) + frame(hello), 1002), "a ping in fragments": (frame(b"x", 0x09), 1002), "a ping that is too long": (frame(b"x" * 126, 0x89), 1002),
          "text that is not UTF-8": (frame(b"\xff\xfe"), 1007), "a first fragment that is not UTF-8": (frame(b"\xe2\x82x", 0x01), 1007), "half of a character at the end": (frame(b"\xe2", 0x01) + frame(b"\x82", 0x80), 1007),
          "a frame that is announced as too long": (b"\x81\xff" + struct.pack(">Q", (1 << 63) - 1) + bytes(5), 1009), "an end of one byte": (frame(b"x", 0x88), 1002), "an end with a code that is none": (frame(struct.pack(">H", 1005), 0x88), 1002)}
bad = {what: got for what, (sent, code) in BROKEN.items() for got in [socket_says(sent)] if not isinstance(got, list) or got[-1] != (0x88, struct.pack(">H", code))}
tap.ok(not bad, "a frame that breaks the rules ends the socket with a code", bad)
got = {bad: Answers(server.open(request("GET", "/ws", None, *[f for f in SHAKE if bad not in f], *more))).next()[0]
       for bad, more in (("Upgrade: web", []), ("Version", ["Sec-WebSocket-Version: 8"]), ("Key", ["Sec-WebSocket-Key: short"]), ("Connection", []))}
tap.ok(list(got.values()) == [426, 426, 400, 426], "invalid handshakes are refused", got)

# ---- callers that stop reading ---------------------------------------------------------

for s in (server, guarded, closed, opened):
    s.end()
small = Server(files=256)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
for what, text in (("idle WebSockets", request("GET", "/ws", None, *SHAKE)), ("idle connections", b""), ("halves of heads", b"POST /v1/chat"),
                   ("halves of bodies", request("POST", CHAT, b"x" * 9999)[:-9000])):
    held = [small.open(text) for _ in range(600)]
    begin = time.monotonic()
    got = small.ask("GET", "/health")[0], small.ask("POST", CHAT, ASK)[0], time.monotonic() - begin
    tap.ok(got[:2] == (200, 200) and got[2] < 20, f"600 {what} leave room for others when 256 files may be open", got)
    for s in held:
        s.close()
endless = json.dumps({"prompt": "x", **LONG_REPLY, "stream": True}).encode()
held = [small.open(request("POST", TEXT, endless)) for _ in range(300)]
begin = time.monotonic()
got = small.ask("GET", "/health")[0], time.monotonic() - begin
tap.ok(got[0] == 200, "300 streams that nobody reads do not keep a request from its answer", got)
for s in held:
    s.close()
tap.ok(small.end()[0] == 0, "the server ends")

# ---- empty bodies, sanitized -----------------------------------------------------------------

if os.path.exists(SANITIZED):
    asan = Server(program=SANITIZED)
    got = [asan.ask("POST", p, b)[0] for p in (CHAT, TEXT, EMBED, "/models/load", "/nosuch") for b in (b"", None)] + [asan.ask("GET", "/ws")[0]]
    a = Answers(asan.open(CHUNKS + b"0\r\n\r\n" + request("POST", TEXT, None) + request("GET", "/health", b"") + request("OPTIONS", "*")))
    got += [a.next()[0] for _ in range(4)]
    status, said = asan.end()
    tap.ok(got == [400] * 8 + [404] * 2 + [426] + [400, 400, 200, 204] and status == 0 and "rror" not in said, "empty bodies at each page, under sanitizers", (got, status, said[-1500:]))
else:
    tap.skip("empty bodies under sanitizers", "build/asan/ingot is not built")
tap.done()
