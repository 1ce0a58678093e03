#!/usr/bin/python3
"""Files for a board over QEMU's network, by PUT /models/NAME: whole, and in ranges that are cut and resumed. The card has each file completely or
not at all, and the serial line answers afterwards."""

import http.client
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from crc32c import crc32c
from machine import ARM64, BUILD, HOST, ROOT, WORK, Tap, make_card
from talk import Console

tap = Tap()
WAIT, STEP, QUESTION = 60, 256 * 1024, "What is 7 plus 8?"
IMAGE = os.path.join(BUILD, ARM64.board, "net.bin")
MODEL = os.path.join(ROOT, "models/demo-q4_0.ingot")
ENV = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "MTOOLSRC": "/dev/null", "LC_ALL": "C.UTF-8"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Net:
    """A machine with a network and a writable card."""

    def __init__(self):
        self.board, self.port = ARM64.board, free_port()

    def command(self, words, cores=1, drives=()):
        network = ["-netdev", f"user,id=lan,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:80", "-device", "virtio-net-device,netdev=lan"]
        return ARM64.command(words, cores, list(drives) + network, IMAGE)

    def ask(self, method, path, body=None, token="secret", **fields):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            c.request(method, path, body, {**({"Authorization": "Bearer " + token} if token else {}), **{k.replace("_", "-"): v for k, v in fields.items()}})
            r = c.getresponse()
            return r.status, r.getheader("range"), r.read().decode()
        finally:
            c.close()

    def put(self, path, data, first=0, n=None, **fields):
        """Send a range of the file, or all of it if n is None."""
        if n is None:
            return self.ask("PUT", path, data, **fields)
        return self.ask("PUT", path, data[first:first + n], Content_Range=f"bytes {first}-{first + n - 1}/{len(data)}", **fields)

    def cut(self, path, data, first, n, sent):
        """Send a range, and stop after this number of bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT) as s:
            s.sendall(f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\nContent-Length: {n}\r\n"
                      f"Content-Range: bytes {first}-{first + n - 1}/{len(data)}\r\n\r\n".encode() + data[first:first + sent])
            time.sleep(1)

    def has(self, path, total):
        """The number of bytes of a file of that length that have arrived."""
        status, field, _ = self.ask("PUT", path, Content_Range=f"bytes */{total}")
        return int(field[len("bytes=0-"):]) + 1 if status == 308 and field else 0


def on_card(card, path):
    done = subprocess.run(["mcopy", "-n", "-i", card + "@@1M", "::" + path, "-"], capture_output=True, env=ENV)
    return done.stdout if done.returncode == 0 else None


def is_clean(card):
    volume = card + ".volume"
    with open(card, "rb") as f, open(volume, "wb") as out:
        f.seek(1 << 20)
        out.write(f.read())
    done = subprocess.run(["fsck.vfat", "-n", volume], capture_output=True, text=True, env=ENV)
    return done.returncode == 0, done.stdout


def refused(answer, status):
    return answer[0] == status and json.loads(answer[2])["error"]["message"]


def check_ranges(net, data):
    first = net.put("/models/ranges.ingot", data, 0, STEP)
    tap.ok(first[:2] == (308, f"bytes=0-{STEP - 1}"), "a range is accepted", str(first))
    net.cut("/models/ranges.ingot", data, STEP, STEP, 100000)
    have = net.has("/models/ranges.ingot", len(data))
    tap.ok(STEP <= have <= STEP + 100000, f"a range that is cut leaves on the card what arrived, {have} bytes")
    tap.ok(refused(net.put("/models/ranges.ingot", data, STEP * 2, 512), 409) and refused(net.put("/models/others.ingot", data, have, STEP), 409) and
           net.has("/models/others.ingot", len(data)) == 0, "a range that does not continue the file is refused")
    while have < len(data):
        n = min(STEP, len(data) - have)
        status, field, text = net.put("/models/ranges.ingot", data, have, n)
        if status != 308:
            break
        have = int(field[len("bytes=0-"):]) + 1
    tap.ok(status == 201, "the rest continues at that point, and the file is complete", f"{status} {text}")


def check_refused(net, data):
    tap.ok(refused(net.put("/models/x.ingot", data, token="wrong"), 401), "without the token no file is accepted")
    tap.ok(refused(net.put("/models/crc.ingot", data, x_crc32c="00000000"), 422), "a file with another checksum is refused")
    tap.ok(all(refused(net.put("/models/crc.ingot", data, x_crc32c=crc), 400) for crc in ("0x12", "0000000g", "yZRlqg==")), "a checksum in another form is refused")
    tap.ok(refused(net.put("/models/x.txt", data), 400) and refused(net.put("/models/a%20b.ingot", data), 400) and
           refused(net.put("/saves/x.ingot", data), 404) and refused(net.put("/models/x/y.ingot", data), 404), "a file with a name outside models/ is refused")
    tap.ok(refused(net.ask("PUT", "/models/x.ingot", data[:512], Content_Range=f"bytes 0-511/{3 << 30}"), 507), "a file larger than the card's free space is refused")
    tap.ok(refused(net.ask("PUT", "/models/x.ingot", data[:512], Content_Range="bytes 0-99/4000"), 400) and
           refused(net.ask("PUT", "/models/x.ingot", data[:512], Content_Range="bytes 99"), 400) and
           refused(net.ask("PUT", "/models/x.ingot"), 411), "a request with an invalid range is refused")


class Between:
    """A port in front of the board's port, which closes the first connection after this many bytes."""

    def __init__(self, net, most):
        self.net, self.most, self.cut = net, most, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            ours, _ = self.listener.accept()
            threading.Thread(target=self.carry, args=(ours,), daemon=True).start()

    def carry(self, ours):
        n = 0
        with ours, socket.create_connection(("127.0.0.1", self.net.port)) as its:
            while True:
                for s in select.select([ours, its], [], [], WAIT)[0] or [None]:
                    data = s and s.recv(65536)
                    if not data:
                        return
                    (its if s is ours else ours).sendall(data)
                    n += len(data)
                if n > self.most and not self.cut:
                    self.cut = True
                    return


def send(*words):
    done = subprocess.run([HOST, "send", MODEL, *words], capture_output=True, text=True, timeout=3 * WAIT)
    return done.returncode, done.stdout + done.stderr


def check_send(net):
    between = Between(net, 400000)
    status, text = send("--to", f"http://127.0.0.1:{between.port}", "--name", "sent.ingot", "--token", "secret", "--load")
    tap.ok(status == 0 and between.cut and "100 %" in text and "(sent.ingot is loaded)" in text and loaded(net) == "sent.ingot",
           "`ingot send --load` continues after a cut, and the board loads the model", text)
    status, text = send("--to", f"http://127.0.0.1:{net.port}/", "--token", "wrong")
    tap.ok(status == 1 and "Bearer" in text, "without the token `ingot send` says that it is missing", text)
    status, text = send("--to", f"http://127.0.0.1:{net.port}/x", "--token", "secret")
    tap.ok(status == 1 and "http://HOST" in text, "an invalid address is reported", text)
    status, text = send("--to", f"http://127.0.0.1:{free_port()}", "--token", "secret")
    tap.ok(status == 1 and "refused" in text, "an address where nobody listens is reported", text)


def load(net, body, **fields):
    return net.ask("POST", "/v1/models/load", body if isinstance(body, str) else json.dumps(body), **fields)


def is_error(answer, status, code):
    return answer[0] == status and json.loads(answer[2])["error"]["code"] == code


def loaded(net):
    return json.loads(net.ask("GET", "/v1/models")[2])["data"][0]["id"]


def check_load(net, c):
    """A client loads another model while somebody has typed half of a line."""
    before = loaded(net)
    wrong = [load(net, body)[0] for body in ("", "[]", "{", {}, {"model": ""}, {"model": 7}, {"model": "x" * 300}, {"model": "whole.ingot", "n": 1})]
    tap.ok(wrong == [400] * len(wrong) and net.ask("GET", "/models/load")[0] == 405 and load(net, {"model": "whole"}, token="wrong")[0] == 401,
           "invalid requests to load a model are refused", str(wrong))
    tap.ok(all(is_error(load(net, {"model": name}), 404, "model_not_found") for name in ("gpt-4", "../x", "/")) and loaded(net) == before,
           "a model that the card does not have is refused, and the current one stays")
    answer = load(net, {"model": "broken.ingot"})
    tap.ok(refused(answer, 500) and loaded(net) == before, "a damaged model is refused with the reason, and the previous one is back", str(answer))
    c.prompt()
    c.send(b"What is 7 ")
    time.sleep(0.5)
    answer = load(net, {"model": "whole.ingot"})
    c.expect(r"network: a client loads the model whole\.ingot")
    tap.ok(answer[0] == 200 and json.loads(answer[2]) == {"success": True, "model": "whole.ingot"} and loaded(net) == "whole.ingot", "a model is loaded by its name", str(answer))
    tap.ok("15" in c.say("plus 8?"), "the line continues with the text that was typed before", c.seen)
    answer = net.ask("POST", "/v1/chat/completions", json.dumps({"messages": [{"role": "user", "content": QUESTION}], "temperature": 0}))
    tap.ok(answer[0] == 200 and json.loads(answer[2])["model"] == "whole.ingot" and "15" in answer[2], "the API answers with the loaded model", str(answer))


if not os.path.exists(IMAGE):
    tap.skip("files for a board on a network", "lwIP's source is not there: make setup-tests, then make test-images")
    tap.done()
card = make_card("net-put.img", os.path.join(ROOT, "models/demo-q8_0.ingot"))
drive = ["-drive", f"if=none,id=card,format=raw,file={card}", "-device", "virtio-blk-device,drive=card"]
net = Net()
with open(MODEL, "rb") as f:
    data = f.read()
with Console(net, "temp=0 n=24 ids quiet term=plain net=dhcp,open", drive) as c:
    c.expect(r"network: http://10\.0\.2\.15")
    c.prompt()
    tap.ok(refused(net.put("/models/x.ingot", data), 403), "a board without a token takes no files")
    tap.ok(refused(load(net, {"model": "demo-q8_0"}), 403), "a board without a token loads no other model")
with Console(net, "temp=0 n=24 ids quiet term=plain net=dhcp token=secret", drive) as c:
    c.expect(r"network: http://10\.0\.2\.15")
    c.prompt()
    began = time.monotonic()
    answer = net.put("/models/whole.ingot", data, x_crc32c=f"{crc32c(data):08x}")
    tap.ok(answer[0] == 201, f"a file arrives complete, {len(data) / (time.monotonic() - began) / 1e3:.0f} kB/s", str(answer))
    c.expect(r"network: received models/whole\.ingot")
    check_ranges(net, data)
    check_refused(net, data)
    c.expect(r"network: received models/ranges\.ingot")
    c.prompt()
    tap.ok("15" in c.say(QUESTION), "the line answers", c.seen)
    check_send(net)
    c.expect(r"network: a client loads the model sent\.ingot")
    c.prompt()
    done = subprocess.run(["curl", "-sS", "--max-time", str(WAIT), "-T", MODEL, "-H", "Authorization: Bearer secret", "-o", "/dev/null", "-w", "%{http_code}",
                           f"http://127.0.0.1:{net.port}/models/curl.ingot"], capture_output=True, text=True)
    tap.ok(done.stdout == "201", "curl -T sends a file", done.stdout + done.stderr)
    c.expect(r"network: received models/curl\.ingot")
    c.prompt()
    net.put("/models/broken.ingot", data[:-4096] + bytes(4096))
    c.expect(r"network: received models/broken\.ingot")
    c.prompt()
    check_load(net, c)
    c.say("/reset")
    c.say("/model ranges.ingot")
    tap.ok("15" in c.say(QUESTION), "the line loads the model that arrived", c.seen)
tap.ok(all(on_card(card, f"models/{name}.ingot") == data for name in ("whole", "ranges", "sent", "curl")), "the card has the files as they were sent")
tap.ok(all(on_card(card, f"models/{name}") is None for name in ("x.ingot", "crc.ingot", "others.ingot")), "the card has none of the refused files")
tap.ok(is_clean(card)[0], "the card's file system is whole", is_clean(card)[1])
tap.done()
