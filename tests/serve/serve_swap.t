#!/usr/bin/python3
"""Load another model on the boards behind `ingot serve` without a restart: `/models` and `/models/load`. Two boards in QEMU have both models on their
cards, a third has one; running replies finish, waiting requests are refused by name, and a board that returns loads the chosen model."""

import atexit
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from board_line import Board
from machine import ARM64, HOST, ROOT, Tap, make_card, run

Q8, Q4 = (os.path.join(ROOT, f"models/demo-{kind}.ingot") for kind in ("q8_0", "q4_0"))
CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
PROMPT = "Who are you?"
FOLDER = tempfile.mkdtemp(prefix="ingot-swap-")
tap = Tap()
atexit.register(shutil.rmtree, FOLDER, True)


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen([HOST, "serve", *words, "--port", "0", "--temp", "0", "-n", "16"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        found = re.search(r"http://127.0.0.1:(\d+)", self.process.stdout.readline())
        self.port = int(found.group(1)) if found else 0
        self.said = []
        threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True).start()

    def ask(self, path, body=None, **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=200)
        c.request("POST" if body is not None else "GET", path, body if isinstance(body, (str, type(None))) else json.dumps(body), headers)
        r = c.getresponse()
        return r.status, json.loads(r.read())

    def load(self, model):
        return self.ask("/models/load", {"model": model})

    def models(self):
        return {m["id"]: (m["boards"], m["status"]["value"]) for m in self.ask("/models")[1]["data"]}

    def boards(self):
        return [(b["there"], b["model"]) for b in self.ask("/boards")[1]["boards"]]

    def wait(self, good, seconds=100):
        late = time.monotonic() + seconds
        while not good() and time.monotonic() < late:
            time.sleep(0.05)
        return good()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def reply(server):
    status, answer = server.ask(CHAT, {"messages": [{"role": "user", "content": PROMPT}]})
    return answer["choices"][0]["message"]["content"].strip() if status == 200 else answer


def alone(model):
    return run([HOST, "run", model, "-p", PROMPT, "--temp", "0", "-n", "16", "--spec", "off", "-q"])[1].strip()


here = Server(Q8)
if not here.port:
    tap.skip("another model behind serve", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)
status, answer = here.load("demo-q4_0")
tap.ok(here.models() == {"demo-q8_0.ingot": (1, "loaded")} and status == 400 and "start `ingot serve` with another" in answer["error"]["message"],
       "without boards, the model is not changed", (here.models(), answer))
here.end()
want = {model: alone(model) for model in (Q8, Q4)}
both, one = make_card("swap-both.img", Q8, Q4), make_card("swap-one.img", Q8)
boards = [Board(ARM64, FOLDER, name, card, "mode=json model=demo-q8_0") for name, card in (("a", both), ("b", both), ("c", one))]
server = Server(*(b.line for b in boards))
q8, q4 = "demo-q8_0.ingot", "demo-q4_0.ingot"
tap.ok(want[Q8] != want[Q4] and server.wait(lambda: server.models() == {q8: (3, "loaded"), q4: (2, "unloaded")}),
       "/models lists the models on the boards' cards", server.models())
for what, path, body, wanted in (("a model that none has", "/models/load", {"model": "gpt-4"}, 404), ("no name", "/models/load", {}, 400), ("no JSON", "/models/load", "load", 400),
                                 ("a name that is too long", "/models/load", {"model": "x" * 5000}, 404), ("a GET", "/models/load", None, 405)):
    status, answer = server.ask(path, body)
    tap.ok(status == wanted and len(answer["error"]["message"]) > 10, f"refused: {what}", answer)
tap.ok(server.ask("/models/load", {"model": q4}, Origin="http://evil.example")[0] == 403 and reply(server) == want[Q8], "a page of another site may not load a model", server.boards())

status, answer = server.load("demo-q4_0")
tap.ok((status, answer) == (200, {"success": True, "model": q4}) and server.wait(lambda: server.boards() == [(True, q4), (True, q4), (False, q8)]),
       "another model is loaded by the boards that have it",
       (answer, server.boards(), server.said))
tap.ok([reply(server) for _ in range(3)] == [want[Q4]] * 3 and server.ask("/v1/models")[1]["data"][0]["id"] == q4 and server.ask(CHAT, {"model": q8, "messages": []})[0] == 400,
       "the server answers with the new model, under its name", server.boards())
tap.ok(server.wait(lambda: any("the board has demo-q8_0.ingot, not demo-q4_0.ingot: it gets no requests" in line for line in server.said)), "the board without it is named", server.said)
boards[0].kill()
gone = server.wait(lambda: not server.boards()[0][0])
boards[0].start()
tap.ok(gone and server.wait(lambda: server.boards()[0] == (True, q4)),
       "a board that starts with another model loads the chosen model", (server.boards(), server.said))

# Load a model while boards work: two requests are running, and four wait.
results = {}


def ask(i):
    results[i] = server.ask(TEXT, {"prompt": "Once upon a time", "max_tokens": 200, "temperature": 2, "top_k": 0, "top_p": 1, "min_p": 0, "seed": i})


def counts():
    return {name: int(n) for name, n in re.findall(r"^ingot_requests_(\w+) (\d+)$", http_text("/metrics"), re.M)}


def http_text(path):
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    c.request("GET", path)
    return c.getresponse().read().decode()


threads = []
for i in range(6):
    threads.append(threading.Thread(target=ask, args=(i,)))
    threads[-1].start()
busy = server.wait(lambda: counts()["running"] == 2 and counts()["waiting"] > 0, 20)
status, answer = server.load(q8)
late = reply(server)
for t in threads:
    t.join(100)
done = sorted(r[0] for r in results.values())
tap.ok(busy and status == 200 and len(done) == 6 and set(done) == {200, 503} and all("another model was loaded meanwhile" in r[1]["error"]["message"] for r in results.values() if r[0] == 503),
       "running replies finish, and waiting requests are refused by name", (busy, done))
tap.ok(late == want[Q8], "later requests wait for the other model", late)
tap.ok(server.wait(lambda: server.boards() == [(True, q8)] * 3 and server.models() == {q8: (3, "loaded"), q4: (2, "unloaded")}), "all three boards are there again",
       (server.boards(), server.models(), server.said))
tap.ok(server.end() == 0, "SIGTERM ends the server")
for b in boards:
    b.kill()
tap.done()
