#!/usr/bin/python3
"""The configurations of HAProxy and nginx in docs/SCALE.md, in front of two `ingot serve`s: replies are those of `ingot run`, streams come piece
by piece, a server is killed while requests come, and restarted; the page and WebSockets work through TLS. If a program is not installed, its part of the test
is skipped."""

import atexit
import http.client
import itertools
import json
import os
import random
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import HOST, LONG_REPLY, ROOT, Tap, run

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
CHAT, TOKEN = "/v1/chat/completions", "a-token"
PROMPTS = ("What is 3 plus 4?", "Tell me a story about a cat.", "Hello", "What is 7 plus 8?", "Who are you?")
FOLDER = tempfile.mkdtemp(prefix="ingot-scale-")
tap = Tap()
atexit.register(shutil.rmtree, FOLDER, True)


def free_port():
    """A free port, for a program that does not choose one itself. It is below the ports that the system gives to callers, because otherwise a caller
    might take it before the server does."""
    while True:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", random.randrange(12000, 32000)))
                return s.getsockname()[1]
            except OSError:
                pass


class Server:
    def __init__(self):
        self.port = free_port()
        self.start()

    def start(self):
        self.process = subprocess.Popen([HOST, "serve", DEMO, "--port", str(self.port), "--token", TOKEN, "-q"], stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.line = self.process.stdout.readline()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def requests(self):
        return int(re.search(r"^ingot_requests_total (\d+)$", ask(self.port, "/metrics")[1], re.M).group(1))


def connection(port, source=None):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(source, 0) if source else None)


def ask(port, path, body=None, source=None):
    c = connection(port, source)
    c.request("POST" if body is not None else "GET", path, json.dumps(body) if body is not None else None,
              {"Authorization": "Bearer " + TOKEN, "Host": "models.example"})
    r = c.getresponse()
    text = r.read().decode()
    c.close()
    return r.status, json.loads(text) if "json" in r.headers.get("content-type", "") else text


def chat(text, **more):
    return {"messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 40, **more}


def said(answer):
    return answer["choices"][0]["message"]["content"].strip()


want = {p: run([HOST, "run", DEMO, "-p", p, "--temp", "0", "-n", "40", "--spec", "off", "-q"])[1].strip() for p in PROMPTS}


def configuration(language, port, servers):
    """The document's configuration, changed to these ports."""
    with open(os.path.join(ROOT, "docs/SCALE.md"), encoding="utf-8") as f:
        text = re.search(rf"```{language}\n(.*?)```", f.read(), re.S).group(1)
    for old, new in (("8080", port), ("8081", servers[0].port), ("8082", servers[1].port)):
        text = text.replace(f"127.0.0.1:{old}", f"127.0.0.1:{new}")
    return text


def stream_pieces(port):
    """(the times at which the pieces of a streamed reply came, their text)"""
    c = connection(port)
    c.request("POST", CHAT, json.dumps({**chat(PROMPTS[1]), **LONG_REPLY, "stream": True}), {"Authorization": "Bearer " + TOKEN})
    r = c.getresponse()
    times, text = [], b""
    while piece := r.read1(65536):
        times.append(time.monotonic())
        text += piece
    c.close()
    return times, text


def check(language, command, extra=""):
    """Test one proxy. extra: lines above the configuration, for users who may not write to /var."""
    if not shutil.which(command[0], path=os.environ["PATH"] + ":/usr/sbin"):
        tap.skip(language, f"{command[0]} is not installed")
        return
    servers, port = [Server(), Server()], free_port()
    path = os.path.join(FOLDER, language + ".conf")
    with open(path, "w", encoding="utf-8") as f:
        f.write(extra + configuration(language, port, servers))
    words = [shutil.which(command[0], path=os.environ["PATH"] + ":/usr/sbin")] + [w.replace("FILE", path) for w in command[1:]]
    with open(os.path.join(FOLDER, language + ".log"), "w", encoding="utf-8") as log:
        proxy = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    atexit.register(proxy.kill)
    late = time.monotonic() + 60
    while time.monotonic() < late:
        try:
            if ask(port, "/health")[0] == 200:
                break
        except OSError:
            time.sleep(0.05)
    status, a = ask(port, CHAT, chat(PROMPTS[0]))
    with open(log.name, encoding="utf-8") as f:
        shown = f.read()
    tap.ok(status == 200 and said(a) == want[PROMPTS[0]], f"{language}: a reply is that of `ingot run`", (a, shown))
    c = connection(port)
    c.request("GET", "/v1/models", headers={"Host": "models.example"})
    tap.ok(c.getresponse().status == 401, f"{language}: a request without the token is refused")
    c.close()

    # Pieces of a stream arrive one by one, not all at its end. On a busy computer the reader may sleep during most of a reply, so
    # there are five attempts.
    for _ in range(5):
        times, text = stream_pieces(port)
        if len(times) > 5:
            break
    tap.ok(len(times) > 5 and text.rstrip().endswith(b"[DONE]"), f"{language}: a stream comes in pieces", (len(times), text[-200:]))

    # Callers have many addresses, so that both servers get some of them. One server is killed and comes back. The callers send requests until
    # then, and some more later, because on a busy computer a proxy may notice the server's return seconds late.
    results, killed = [], threading.Event()

    def caller(i):
        left, late = 4, time.monotonic() + 120
        for k in itertools.count():
            left -= killed.is_set()
            if left < 0 or time.monotonic() > late:
                return
            try:
                results.append((i, k, *ask(port, CHAT, chat(PROMPTS[(i + k) % 5]), f"127.0.0.{2 + i}")))
            except (OSError, http.client.HTTPException) as error:
                results.append((i, k, 0, str(error)))
    before = [s.requests() for s in servers]
    threads = [threading.Thread(target=caller, args=(i,)) for i in range(12)]
    for t in threads:
        t.start()
    late = time.monotonic() + 60
    spread = [0, 0]
    while (len(results) < 24 or min(spread) == 0) and time.monotonic() < late:
        time.sleep(0.005)
        spread = [s.requests() - n for s, n in zip(servers, before)]
    servers[0].kill()
    killed.set()
    for t in threads:
        t.join(120)
    wrong = [r for r in results if r[2] == 200 and said(r[3]) != want[PROMPTS[(r[0] + r[1]) % 5]]]
    lost = [r for r in results if r[2] != 200]
    tap.ok(min(spread) > 0, f"{language}: both servers get requests", spread)
    tap.ok(len(results) >= 24 + 12 * 4 and not wrong and all(r[2] in (0, 502, 503, 504) for r in lost) and len(lost) <= 12,
           f"{language}: of {len(results)} requests none is answered wrongly; {len(lost)} that were at the killed server end with an error", wrong or lost)
    status, a = ask(port, CHAT, chat(PROMPTS[3]))
    tap.ok(status == 200 and said(a) == want[PROMPTS[3]], f"{language}: the other server gets all requests", a)
    servers[0].start()
    late = time.monotonic() + 60
    while servers[0].requests() == 0 and time.monotonic() < late:
        for i in range(12):
            ask(port, CHAT, chat("x", max_tokens=1), f"127.0.0.{2 + i}")
        time.sleep(0.1)
    tap.ok(servers[0].requests() > 0, f"{language}: a server that is back gets requests again")
    proxy.kill()
    proxy.wait()
    for s in servers:
        s.kill()


def certificate():
    """A self-signed certificate for this computer, and its key: the files that the proxies need."""
    path = os.path.join(FOLDER, "tls")
    done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                           "subjectAltName=DNS:localhost", "-keyout", path + ".key", "-out", path + ".crt"], capture_output=True, timeout=60)
    if done.returncode == 0:
        with open(path + ".pem", "wb") as out:
            for part in (".crt", ".key"):
                with open(path + part, "rb") as f:
                    out.write(f.read())
    return path if done.returncode == 0 else None


def check_tls(language, command, extra=""):
    """With TLS, as the document says: the server's own page over https may send requests, pages of other sites may not, and WebSockets
    work."""
    program = shutil.which(command[0], path=os.environ["PATH"] + ":/usr/sbin")
    tls = certificate() if program and shutil.which("openssl") else None
    if tls is None:
        tap.skip(f"{language} with TLS", f"{command[0]} or openssl is not installed")
        return
    servers, port = [Server(), Server()], free_port()
    text = configuration(language, port, servers)
    text = text.replace(f"bind 127.0.0.1:{port}", f"bind 127.0.0.1:{port} ssl crt {tls}.pem")
    text = text.replace(f"listen 127.0.0.1:{port};", f"listen 127.0.0.1:{port} ssl; ssl_certificate {tls}.crt; ssl_certificate_key {tls}.key;")
    path = os.path.join(FOLDER, language + "-tls.conf")
    with open(path, "w", encoding="utf-8") as f:
        f.write(extra + text)
    proxy = subprocess.Popen([program] + [w.replace("FILE", path) for w in command[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(proxy.kill)
    trusts = ssl.create_default_context(cafile=tls + ".crt")

    def ask_tls(method, path, body=None, **headers):
        c = http.client.HTTPSConnection("localhost", port, timeout=60, context=trusts)
        c.request(method, path, json.dumps(body) if body is not None else None, {"Authorization": "Bearer " + TOKEN, **headers})
        r = c.getresponse()
        text = r.read()
        c.close()
        return r.status, text

    late = time.monotonic() + 60
    status = 0
    while status != 200 and time.monotonic() < late:
        try:
            status, page = ask_tls("GET", "/")
        except OSError:
            time.sleep(0.05)
    own = f"https://localhost:{port}"
    got = [ask_tls("POST", CHAT, chat(PROMPTS[0]), Origin=o)[0] for o in (own, own.upper().replace("HTTPS", "https"), "https://evil.example", f"https://localhost:{port + 1}", "null")]
    tap.ok(b"<html" in page and got == [200, 200, 403, 403, 403], f"{language} with TLS: the server's own page may ask, others may not", got)
    status, text = ask_tls("POST", CHAT, chat(PROMPTS[1], stream=True), Origin=own)
    tap.ok(status == 200 and text.rstrip().endswith(b"[DONE]"), f"{language} with TLS: a reply is streamed", text[-100:])
    s = trusts.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=60), server_hostname="localhost")
    s.sendall((f"GET /ws HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: {own}\r\nAuthorization: Bearer {TOKEN}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n").encode())
    data = b""
    while b'"ready"' not in data and (piece := s.recv(65536)):
        data += piece
    s.close()
    tap.ok(data.startswith(b"HTTP/1.1 101") and b'"ready"' in data, f"{language} with TLS: a WebSocket works", data[:300])
    proxy.kill()
    proxy.wait()
    for server in servers:
        server.kill()


if not Server().line.startswith("serving"):
    tap.skip("several servers", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)
PROXIES = (("haproxy", ["haproxy", "-db", "-f", "FILE"], ""),
           ("nginx", ["nginx", "-c", "FILE", "-p", FOLDER, "-e", "stderr", "-g", "daemon off; master_process off;"], f"pid {FOLDER}/nginx.pid;\n"))
for proxy_of in PROXIES:
    check(*proxy_of)
    check_tls(*proxy_of)
tap.done()
