#!/usr/bin/python3
"""With model=http://HOST/PATH.ingot a board without a card reads its model from nginx by Range requests, whole or streamed, and replies as with a
card. If nginx ends during a reply and comes back, or a store is faulty, a message says so, and the prompt returns."""

import http.server
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, ROOT, WORK, Tap, card_arguments, make_card, segments
from net_board import IMAGE, NetBoard
from talk import Console

tap = Tap()
QUESTION, MODEL, WAIT = "What is 7 plus 8?", os.path.join(ROOT, "models/demo-q8_0.ingot"), 60
STREAM = f" mem={2 * max(size for _, size in segments(MODEL)[1:-1]) + 4 * 4096}"
WORDS = "temp=0 n=24 ids quiet term=plain spec=off"
FOLDER = os.path.join(WORK, "net-store")
shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)


class Board(NetBoard):
    """A board that can reach this computer, as 10.0.2.2, and with IPv6 as fec0::2."""

    def __init__(self, six="off"):
        super().__init__()
        self.six = six

    def command(self, words, cores=1, drives=()):
        network = ["-netdev", f"user,id=lan,ipv6={self.six},hostfwd=tcp:127.0.0.1:{self.port}-:80", "-device", "virtio-net-device,netdev=lan"]
        return ARM64.command(words, cores, list(drives) + network, IMAGE)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def has_six():
    """True if this computer has IPv6 on its loopback."""
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
            return True
    except OSError:
        return False


SIX = has_six()


class Nginx:
    """nginx with a folder of files; its log has connection, status, range, condition and bytes."""

    def __init__(self):
        self.port, self.log = free_port(), os.path.join(FOLDER, "access.log")
        self.conf = os.path.join(FOLDER, "nginx.conf")
        with open(self.conf, "w") as f:
            f.write(f"""pid {FOLDER}/nginx.pid;
events {{ worker_connections 64; }}
http {{
    log_format ranges escape=none '$connection $status $http_range $http_if_range $body_bytes_sent';
    access_log {self.log} ranges;
    client_body_temp_path {FOLDER}/t1; proxy_temp_path {FOLDER}/t2; fastcgi_temp_path {FOLDER}/t3; uwsgi_temp_path {FOLDER}/t4; scgi_temp_path {FOLDER}/t5;
    server {{ listen 127.0.0.1:{self.port}; {f"listen [::1]:{self.port};" if SIX else ""} root {FOLDER}; }}
}}
""")
        self.start()

    def start(self):
        path = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        self.child = subprocess.Popen(["nginx", "-c", self.conf, "-p", FOLDER, "-e", "stderr", "-g", "daemon off; master_process off;"], env=path, stderr=subprocess.PIPE)
        late = time.monotonic() + WAIT
        while time.monotonic() < late:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)

    def stop(self):
        self.child.kill()
        self.child.wait()

    def lines(self):
        with open(self.log) as f:
            return [line.split() for line in f if "bytes=" in line]  # without the connections that only checked whether nginx listens


class Odd(threading.Thread):
    """A server that answers each request according to its path."""

    def __init__(self, data):
        super().__init__(daemon=True)
        outer = self
        self.data, self.asked = data, 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.asked += 1
                outer.answer(self, self.path[1:].split(".")[0])

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # a board resets the connection if it refuses an answer
        self.port = self.server.server_address[1]
        self.start()

    def run(self):
        self.server.serve_forever()

    def answer(self, h, how):
        first, last = (int(n) for n in re.match(r"bytes=(\d+)-(\d+)$", h.headers["Range"]).groups())
        body, total, status = self.data[first:last + 1], len(self.data), 206
        fields = {"ETag": '"one"'}
        if how == "whole":
            body, status = self.data, 200
        elif how == "moved":
            body, status, fields = b"", 301, {"Location": "/x"}
        elif how == "private":
            body, status = b"", 403
        elif how == "other":
            first, last = first + 1, last + 1
        elif how == "short" and self.asked > 1:
            total -= 512
        elif how == "cut" and len(body) > 20000:  # most of each range is lost
            fields["Connection"] = "close"
        h.send_response(status)
        for name, value in fields.items():
            h.send_header(name, value)
        if status == 206:
            h.send_header("Content-Range", f"bytes {first}-{last}/{total}")
        h.send_header("Content-Length", str(len(body)))
        h.end_headers()
        h.wfile.write(body[:20000] if how == "cut" else body)
        if how == "cut" and len(body) > 20000:
            h.wfile.flush()
            h.close_connection = True


def ids(text):
    found = re.search(r"^(ids:(?: \d+)+)$", text, re.M)
    return found[1] if found else None


def at(port, name="demo.ingot"):
    return f"http://10.0.2.2:{port}/{name}"


def start(words, drives=()):
    return Console(Board(), f"{WORDS} net=dhcp,open {words}", drives)


def ready(c):
    """The text before the last prompt: the message with the board's address may come after a first prompt, and prints a second
    prompt."""
    c.expect(r"network: http://[^\n]*ingot\.local")
    before = c.seen
    return before + c.prompt()


def timed_reply(c):
    """A reply, its seconds, and its speed beside the one that /plan predicts: in words, and as a ratio (0 without one)."""
    began = time.monotonic()
    said = c.say(QUESTION)
    seconds = time.monotonic() - began
    plan = c.say("/plan")
    found = re.search(r"card (\d+\.\d+) MB/s.*predicted: decode (\d+\.\d+) tok/s", plan, re.S)
    if not (found and ids(said)):
        return said, seconds, plan, 0
    rate = len(ids(said).split()[1:]) / seconds  # the weights were read once for the prompt, and once for each token but the last
    return said, seconds, f"{found[1]} MB/s, {found[2]} tok/s, and it was {rate:.2f} with its prompt", rate / float(found[2])


def check_same(nginx, card):
    """Compare replies with the model from nginx and from a card, whole and streamed."""
    for name, more in (("whole", ""), ("streamed", STREAM)):
        with start(more, card_arguments(card)) as c:
            ready(c)
            want = ids(c.say(QUESTION))
        before = len(nginx.lines())
        with start(f"model={at(nginx.port)}{more}") as c:
            text = ready(c)
            said, seconds, speed, ratio = timed_reply(c)
            lines = nginx.lines()[before:]
            for _ in range(3):  # other work on this computer can make one reply slow
                if not more or 0.2 < ratio < 5:
                    break
                c.say("/reset")
                _, _, speed, ratio = timed_reply(c)
        tap.ok(want and ids(said) == want, f"{name}: the ids are those of the same model on a card", f"{text}{said}\n{want}")
        if more:
            tap.ok(0.2 < ratio < 5, f"{name}: the network's rate is measured, and the speed predicted from it: {speed}")
        first, rest = lines[0], lines[1:]
        size, read = os.path.getsize(MODEL), sum(int(line[-1]) for line in lines)
        tap.ok(first[1:] == ["206", "bytes=0-0", "1"] and all(line[1] == "206" and line[3].startswith('"') for line in rest) and read >= size - 1024,
               f"{name}: only ranges were read, each with the file's tag; {read / 1e6:.1f} MB for the start and {seconds:.1f} s of a reply", str(lines[:5]))
        tap.ok(1 < len({line[0] for line in lines}) <= 8, f"{name}: over few connections, {len({line[0] for line in lines})} of them for {len(lines)} questions")
    return want


def check_six(nginx, want):
    """The board reads from the same store by IPv6, with an address of the router's prefix."""
    if not SIX:
        tap.skip("a store by IPv6", "this computer has no ::1")
        return
    before = len(nginx.lines())
    with Console(Board("on"), f"{WORDS} net=dhcp,open model=http://[fec0::2]:{nginx.port}/demo.ingot", ()) as c:
        text = ready(c)
        said = c.say(QUESTION)
        tap.ok(ids(said) == want and len(nginx.lines()) > before, f"a store by IPv6: the ids are the same, after {len(nginx.lines()) - before} ranges", text + said)


def check_away(nginx, want):
    """nginx is killed during a reply, and starts again."""
    with start(f"model={at(nginx.port)}{STREAM}") as c:
        ready(c)
        before, late = len(nginx.lines()), time.monotonic() + WAIT
        c.send(QUESTION + "\r")
        while len(nginx.lines()) < before + 20 and time.monotonic() < late:
            time.sleep(0.02)
        nginx.stop()
        gone = len(nginx.lines())
        time.sleep(4)
        nginx.start()
        said = c.prompt()
        tap.ok(len(nginx.lines()) > gone >= before + 20, f"nginx goes away during a reply, after {gone - before} ranges, and is asked for {len(nginx.lines()) - gone} more later")
        tap.ok(ids(said) == want, "when nginx is back, the reply continues as if nothing had happened", said)
        nginx.stop()
        c.say("/reset")
        said = c.say(QUESTION)
        tap.ok(ids(said) is None and "refuses the connection" in said and at(nginx.port) in said, "if nginx stays away, the line reports it", said)
        tap.ok("resident" in c.say("/stats") or "context" in c.seen, "the line works while nginx is away", c.seen)
        nginx.start()
        c.say("/reset")
        tap.ok(ids(c.say(QUESTION)) == want, "when nginx is there again, the next reply is right", c.seen)


def check_changes(nginx, want):
    """Another file replaces the model's file under the same name."""
    path = os.path.join(FOLDER, "changes.ingot")
    shutil.copy(MODEL, path)
    with start(f"model={at(nginx.port, 'changes.ingot')}{STREAM}") as c:
        ready(c)
        tap.ok(ids(c.say(QUESTION)) == want, "a model is read from nginx", c.seen)
        os.utime(path, (1, 1))
        c.say("/reset")
        said = c.say(QUESTION)
        tap.ok(ids(said) is None and "has changed since it was opened" in said, "a file that changes on the server is named", said)
        said = c.change(at(nginx.port, "changes.ingot"))
        tap.ok(ids(c.say(QUESTION)) == want, "the changed file can be loaded again", said + c.seen)
        said = c.change(at(nginx.port, "none.ingot"))
        tap.ok("the store has no such file (status 404)" in said, "/model reports a file that does not exist", said)
        tap.ok(ids(c.say(QUESTION)) == want, "the previous model is back", c.seen)


def check_odd(odd, want):
    """Servers that answer requests wrongly."""
    for how, error in (("whole", "gives the whole file and not the range"), ("moved", "names another address"), ("private", "does not let us read the file (status 403)"),
                       ("other", "range is not the one that was asked for")):
        with start(f"model={at(odd.port, how + '.ingot')}") as c:
            text = ready(c)
            tap.ok(error in text and f"/{how}.ingot" in text, f"{how}: {error}", text)
            if how == "whole":
                said = c.say(f"/model {at(odd.port, 'cut.ingot')}")
                tap.ok(ids(c.say(QUESTION)) == want, "ranges that break off again and again are put together", said + c.seen)
    odd.asked = 0
    with start(f"model={at(odd.port, 'short.ingot')}") as c:
        tap.ok("has changed since it was opened" in c.prompt(), "a length that changes is named", c.seen)
    with start("model=http://10.0.2.2/") as c:
        tap.ok("the address of a model is http://HOST/PATH" in c.prompt(), "an address without a file is named", c.seen)
    with Console(Board(), f"{WORDS} model={at(odd.port)}", ()) as c:
        tap.ok("it needs net=" in c.prompt(), "without net= the board says that it is missing", c.seen)


if not os.path.exists(IMAGE):
    tap.skip("a model from a store", "lwIP's source is not there: make setup-tests, then make test-images")
    tap.done()
if not (shutil.which("nginx") or os.path.exists("/usr/sbin/nginx")):
    tap.skip("a model from a store", "nginx is not installed: make setup-tests")
    tap.done()
shutil.copy(MODEL, os.path.join(FOLDER, "demo.ingot"))
with open(MODEL, "rb") as f:
    odd = Odd(f.read())
nginx = Nginx()
try:
    want = check_same(nginx, make_card("net-store.img", MODEL))
    check_six(nginx, want)
    check_away(nginx, want)
    check_changes(nginx, want)
    check_odd(odd, want)
finally:
    nginx.stop()
tap.done()
