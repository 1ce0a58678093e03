#!/usr/bin/python3
"""A board on QEMU's network. Without net= it sends no frame. With net=, OpenAI's API gives the same answers as the serial line, the line's
conversation and logits do not change, and after broken, slow or disappearing clients all resources are free again."""

import http.client
import json
import math
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, BUILD, LONG, RISCV64_ANY, ROOT, WORK, Tap, card_arguments, make_card
from talk import Console

tap = Tap()
QUESTION, STORY = "What is 7 plus 8?", "Tell me a story about a fox."
WAIT = 60
MAC = bytes.fromhex("525400123456")
os.makedirs(WORK, exist_ok=True)


def image(machine, name="net.bin"):
    return os.path.join(BUILD, machine.board, name)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Net:
    """A machine with a network card, whose frames are written to a file; TCP to `port` on this computer reaches the board's server."""

    def __init__(self, machine):
        self.machine, self.board, self.port = machine, machine.board, free_port()
        self.dump = os.path.join(WORK, f"net-{machine.board}.pcap")
        self.image = image(machine)

    def command(self, words, cores=1, drives=()):
        if os.path.exists(self.dump):
            os.remove(self.dump)
        network = ["-netdev", f"user,id=lan,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:80", "-device", "virtio-net-device,netdev=lan",
                   "-object", f"filter-dump,id=dump,netdev=lan,file={self.dump}"]
        return self.machine.command(words, cores, list(drives) + network, self.image)

    def frames(self):
        """The board's frames in a file of libpcap."""
        with open(self.dump, "rb") as f:
            data = f.read()
        at, found = 24, []
        while at + 16 <= len(data):
            n = struct.unpack_from("<I", data, at + 8)[0]
            found.append(data[at + 16:at + 16 + n])
            at += 16 + n
        return [frame for frame in found if frame[6:12] == MAC]


def poll_health(client, stop, answered):
    while not stop.is_set():
        try:
            answered.append(client.ask("GET", "/health")[0])
        except (OSError, http.client.HTTPException):  # QEMU takes one connection after the other
            pass
        stop.wait(0.2)


def decode_instructions(text):
    """With -icount shift=0 an instruction takes a nanosecond of the board's clock."""
    found = re.search(r"ticks: prefill \d+ decode (\d+) of (\d+) per second", text)
    return int(found[1]) * 1000000000 // int(found[2]) if found else 0


def check_cost(net, card, board):
    """Count the instructions of a reply on the serial line: without a network, with an idle client, and with a client that requests /health again
    and again. Up to four clients may share a pass, because together= is not given."""
    words, counted = "temp=0 n=200 ticks term=plain", list(card) + ["-icount", "shift=0"]
    with Console(net, words, counted) as c:
        c.prompt()
        alone = decode_instructions(c.say(STORY))
    with Console(net, words + " net=dhcp,open branches=0", counted) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        with socket.create_connection(("127.0.0.1", net.port), timeout=WAIT):
            time.sleep(0.5)
            idle = decode_instructions(c.say(STORY))
        c.say("/reset")
        stop, answered = threading.Event(), []
        poller = threading.Thread(target=poll_health, args=(Client(net), stop, answered))
        poller.start()
        try:
            polled = decode_instructions(c.say(STORY))
        finally:
            stop.set()
            poller.join()
    tap.ok(alone and idle and idle <= 1.02 * alone,
           f"{board}: a client that does nothing costs {100 * idle / max(alone, 1) - 100:.2f} % (at most 2)", f"{alone} {idle}")
    each = (polled - alone) / max(len(answered), 1)
    tap.ok(alone and polled and answered and each <= 0.05 * 1e9,
           f"{board}: /health costs {each / 1000:.0f} thousand instructions, {each / 1e7:.3f} % of a core of 1 GHz if asked every second (at most 5)",
           f"{alone} {polled} {answered}")


class Client:
    def __init__(self, net, token=None):
        self.port, self.fields = net.port, {"Authorization": "Bearer " + token} if token else {}

    def ask(self, method, path, body=None, **fields):
        """Status and body."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            c.request(method, path, None if body is None else json.dumps(body), {**self.fields, **{k.replace("_", "-"): v for k, v in fields.items()}})
            r = c.getresponse()
            return r.status, r.read().decode()
        finally:
            c.close()

    def head(self, method, path, **fields):
        """Status and header fields."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            c.request(method, path, headers={**self.fields, **fields})
            r = c.getresponse()
            r.read()
            return r.status, r.headers
        finally:
            c.close()

    def chat(self, *texts, **more):
        messages = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]
        return self.ask("POST", "/v1/chat/completions", {"messages": messages, "temperature": 0, "max_tokens": 24, **more})

    def stats(self):
        return json.loads(self.ask("GET", "/stats")[1])

    def raw(self, data, wait=WAIT):
        """Send bytes; return the answer up to the end of the connection, or until the board is silent."""
        out = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as s:
            s.sendall(data)
            try:
                while piece := s.recv(65536):
                    out += piece
            except (socket.timeout, ConnectionError):
                pass
        return out


def content(answer):
    return json.loads(answer[1])["choices"][0]["message"]["content"]


def deltas(text):
    """(the text of a stream, its last object before [DONE])"""
    events = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
    objects = [json.loads(e) for e in events if e != "[DONE]"]
    return "".join(o["choices"][0].get("delta", {}).get("content", "") for o in objects if o["choices"]), objects, events[-1:] == ["[DONE]"]


def hash_of(text):
    found = re.search(r"logits: ([0-9a-f]{16})", text)
    return found and found[1]


def reply_of(text):
    """The reply to a turn on the serial line with `ids` and `quiet`, which is between the echo and the ids."""
    lines = re.search(r"\n(.*?)\n+ids:", text, re.S)[1].strip().split("\n")
    return "\n".join(line for line in lines if not re.match(r"\[ *[0-9.]+\] ", line))  # progress of a slow prompt


def is_error(answer, status, param=None):
    try:
        error = json.loads(answer[1])["error"]
    except (ValueError, KeyError):
        return False
    return answer[0] == status and error["message"] and error["type"] and (param is None or error["param"] == param)


WRONG = [({}, "messages"), ({"messages": []}, "messages"), ({"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "function"}]}, "tools"),
         ({"messages": [{"role": "user", "content": "x"}], "temperature": 1e9}, "temperature"),
         ({"messages": [{"role": "user", "content": "x"}], "max_tokens": 0}, "max_tokens"),
         ({"messages": [{"role": "user", "content": "x"}], "n": 9}, "n"),
         ({"messages": [{"role": "robot", "content": "x"}]}, "messages"),
         ({"messages": [{"role": "user", "content": "word " * 3000}]}, "messages")]
BROKEN = [b"\r\n\r\nGET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /health HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
          b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nhost: a\r\n\r\n", b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: " + b"y" * 20000 + b"\r\n\r\n",
          b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}",
          b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99999999999999999999\r\n\r\n",
          b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
          b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: 30000\r\n\r\n" + b" " * 30000]


def check_broken(net, client, board):
    """Send each broken request many times, and disconnect clients early: afterwards as much memory is in use as before."""
    client.raw(BROKEN[0], 5)
    before = client.stats()
    answers = [client.raw(data, 5) for data in BROKEN]
    tap.ok(all(b"HTTP/1.1 4" in a or b"HTTP/1.1 5" in a for a in answers), f"{board}: broken requests are refused",
           repr([a[:60] for a in answers]))
    for i in range(300 if LONG else 40):
        with socket.create_connection(("127.0.0.1", net.port), timeout=WAIT) as s:
            s.sendall(BROKEN[i % len(BROKEN)][:i * 7])
            if i % 2:  # close with a reset
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    late = time.monotonic() + WAIT
    after = {"connections": math.inf}
    while after["connections"] > 2 and time.monotonic() < late:
        time.sleep(0.2)
        try:
            after = client.stats()
        except ConnectionError:  # QEMU resets a connection that comes while others end
            pass
    tap.ok(after["connections"] <= 2 and after["heap_bytes"] <= before["heap_bytes"] + 4096 and after["heap_refused"] == 0,
           f"{board}: the memory of broken requests is free again", f"{before}\n{after}")


def check_api(client, board, at_line):
    """at_line: the reply that the serial line gave to QUESTION."""
    status, text = client.ask("GET", "/health")
    tap.ok(status == 200 and json.loads(text)["status"] == "ok", f"{board}: /health is answered", text)
    models = json.loads(client.ask("GET", "/v1/models")[1])
    tap.ok(models["object"] == "list" and models["data"][0]["id"] == "demo-q8_0.ingot", f"{board}: /v1/models is answered", str(models))
    plain = client.chat(QUESTION)
    whole = json.loads(plain[1])
    tap.ok(content(plain) == at_line, f"{board}: a reply equals that on the serial line", f"{plain} {at_line}")
    tap.ok(whole["object"] == "chat.completion" and whole["choices"][0]["finish_reason"] == "stop" and whole["usage"]["completion_tokens"] > 0 and
           whole["usage"]["total_tokens"] == whole["usage"]["prompt_tokens"] + whole["usage"]["completion_tokens"],
           f"{board}: the reply's object has OpenAI's form", plain[1])
    status, text = client.chat(QUESTION, stream=True, stream_options={"include_usage": True})
    said, objects, done = deltas(text)
    tap.ok(status == 200 and said == at_line and done and objects[-1]["usage"] == {**whole["usage"], "prompt_tokens_details": objects[-1]["usage"]["prompt_tokens_details"]},
           f"{board}: a stream says the same, then its figures, then [DONE]", text)
    status, text = client.ask("POST", "/v1/completions", {"prompt": "Once upon a time", "temperature": 0, "max_tokens": 8})
    tap.ok(status == 200 and json.loads(text)["choices"][0]["finish_reason"] == "length" and json.loads(text)["usage"]["completion_tokens"] == 8,
           f"{board}: a completion is answered", text)
    first, second = (client.chat(STORY, temperature=1, seed=seed) for seed in (5, 5))
    tap.ok(content(first) == content(second), f"{board}: a seed gives the same reply twice", f"{first} {second}")
    wrong = [(body, client.ask("POST", "/v1/chat/completions", body), param) for body, param in WRONG]
    tap.ok(all(is_error(answer, 400, param) for _, answer, param in wrong), f"{board}: unsupported fields are refused by name",
           "\n".join(f"{str(b)[:80]}: {a}" for b, a, p in wrong if not is_error(a, 400, p)))
    tap.ok(is_error(client.ask("GET", "/v1/files"), 404) and is_error(client.ask("GET", "/v1/chat/completions"), 405) and
           is_error(client.ask("GET", "/v1/models", Host="evil.example"), 403) and
           is_error(client.ask("GET", "/v1/models", Origin="http://evil.example"), 403) and
           client.ask("GET", "/v1/models", Origin=f"http://127.0.0.1:{client.port}")[0] == 200, f"{board}: unknown pages and invalid requests are refused")
    first = client.raw(b"GET /v1/models HTTP/1.0\r\n\r\n")
    tap.ok(first.startswith(b"HTTP/1.1 200"), f"{board}: HTTP/1.0 may come without a Host", first)
    tap.ok(client.ask("GET", "/v1/models", Origin="https://ingot.local", Host="ingot.local")[0] == 200,
           f"{board}: the board's page may ask through a proxy with TLS")
    allowed = [client.head(m, p) for m, p in (("GET", "/v1/chat/completions"), ("POST", "/v1/models"))]
    tap.ok([(s, f["allow"]) for s, f in allowed] == [(405, "POST"), (405, "GET, HEAD")], f"{board}: another method is refused with those that a page takes", str(allowed))
    found = [client.head(m, p)[0] for m, p in (("GET", "/v1/models/"), ("HEAD", "/v1/models/demo-q8_0"), ("GET", "/models//"), ("GET", "/v1/models/other"))]
    tap.ok(found == [200, 200, 200, 404], f"{board}: pages are found with a slash at the end, and HEAD finds what GET finds", str(found))


def check_curl(net, board):
    done = subprocess.run(["curl", "-sS", "--max-time", str(WAIT), f"http://127.0.0.1:{net.port}/v1/chat/completions", "-H", "Content-Type: application/json",
                           "-d", json.dumps({"messages": [{"role": "user", "content": QUESTION}], "temperature": 0})], capture_output=True, text=True)
    tap.ok(done.returncode == 0 and "15" in done.stdout, f"{board}: curl gets a reply", done.stdout + done.stderr)


def check_many(client, board):
    def ask(i):
        for _ in range(20):  # QEMU takes one connection after the other, and resets the next ones
            time.sleep(0.02 * i)
            try:
                return client.chat(QUESTION)
            except ConnectionError:
                continue
        return None, "reset"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    good = [a for a in answers if a[0] == 200]
    tap.ok(len(good) >= 4 and len({content(a) for a in good}) == 1 and all(a[0] in (200, 429) for a in answers) and
           all(is_error(a, 429) for a in answers if a[0] != 200), f"{board}: eight at once, {len(good)} of them answered, the others asked to come again",
           str(answers))


def check_busy_line(c, client, board):
    """During a long reply on the line, the network answers requests that need no model, and the reply is completed."""
    c.send(STORY + "\r")
    c.expect(re.escape(STORY))
    began = time.monotonic()
    status, _ = client.ask("GET", "/health")
    took = time.monotonic() - began
    text = c.prompt()
    tap.ok(status == 200 and hash_of(text), f"{board}: /health during a reply at the line took {took:.2f} s", text)
    return text


def check_gone(net, client, c, board):
    """If a client disconnects in the middle of its reply, the reply ends, and the serial line can be used."""
    body = json.dumps({"messages": [{"role": "user", "content": STORY}], "max_tokens": 400, "stream": True, "temperature": 1.5}).encode()
    with socket.create_connection(("127.0.0.1", net.port), timeout=WAIT) as s:
        s.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        s.recv(200)
    tap.ok("15" in c.say(QUESTION), f"{board}: after a client that left, the line answers", c.seen)
    tap.ok(content(client.chat(QUESTION)), f"{board}: after a client that left, the network answers")


for machine in (ARM64, RISCV64_ANY):
    net, board = Net(machine), machine.board
    if not os.path.exists(image(machine)):
        tap.skip(f"{board} on a network", "lwIP's source is not there: make setup-tests, then make test-images")
        continue
    card = card_arguments(make_card("net.img", os.path.join(ROOT, "models/demo-q8_0.ingot")))
    words = "temp=0 n=60 ids quiet term=plain"
    with Console(net, words, card) as c:  # replies and logits without a network
        c.prompt()
        alone = [c.say(line) for line in (QUESTION, STORY, "And 3 plus 4?")]
        time.sleep(0.5)
        tap.ok(net.frames() == [] and os.path.getsize(net.dump) >= 24, f"{board}: without net= no frame leaves the board", str(net.frames()[:3]))
    client = Client(net)
    with Console(net, words + " net=dhcp,open", card) as c:
        c.expect(r"network: http://10\.0\.2\.15 and http://ingot\.local")
        c.prompt()
        text = c.say(QUESTION)
        tap.ok(hash_of(text) == hash_of(alone[0]), f"{board}: the logits are the same with the network on", text + alone[0])
        check_api(client, board, reply_of(text))
        text = check_busy_line(c, client, board)
        tap.ok(hash_of(text) == hash_of(alone[1]), f"{board}: the line's conversation goes on as if nobody else had asked", text + alone[1])
        check_curl(net, board)
        check_many(client, board)
        check_broken(net, client, board)
        check_gone(net, client, c, board)
        tap.ok(len(net.frames()) > 20, f"{board}: frames of the board are in the dump, {len(net.frames())} of them")
    check_cost(net, card, board)
    whole = image(machine, "net-whole.bin")
    if os.path.exists(whole):
        net.image = whole
    else:
        tap.skip(f"{board}, an image that is optimized as a whole", "the image is not there: make test-net-whole")
    with Console(net, words + " net=10.0.2.15/24,10.0.2.2 token=secret name=kitchen", card) as c:
        c.expect(r"network: http://10\.0\.2\.15 and http://kitchen\.local")
        c.prompt()
        tap.ok(client.head("GET", "/v1/models")[1]["www-authenticate"] == "Bearer" and is_error(client.ask("GET", "/v1/models"), 401) and is_error(Client(net, "wrong").ask("GET", "/v1/models"), 401) and
               Client(net, "secret").ask("GET", "/v1/models")[0] == 200 and client.ask("GET", "/health")[0] == 200,
               f"{board}: a fixed address and a token work")
        text = c.say(QUESTION)
        tap.ok(hash_of(text) == hash_of(alone[0]) and content(Client(net, "secret").chat(QUESTION)) == reply_of(text),
               f"{board}: a reply by {os.path.basename(net.image)}", text)
    net.image = image(machine)
    with Console(net, words + " net=rubbish", card) as c:
        text = c.prompt()
        tap.ok(re.search(r"warning: there is no network: net= takes dhcp", text.replace("\n", "")) and "15" in c.say(QUESTION),
               f"{board}: an invalid option is reported, and the board starts", text)

tap.done()
