#!/usr/bin/python3
"""`ingot serve` under load. 100 requests at once over three boards in QEMU of two ISAs, one of them killed and restarted meanwhile: each answer
equals that of `ingot run`, token by token, or is a clear error, and none hangs. Then requests of every kind, including refused and abandoned ones:
the server's memory does not grow (500; 10,000 with `make test-long`), and AddressSanitizer finds no leak."""

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
from machine import ARM64, BUILD, HOST, LONG, RISCV64, ROOT, Tap, make_card, run

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
CHAT, TEXT, EMBED = "/v1/chat/completions", "/v1/completions", "/v1/embeddings"
PROMPTS = ("What is 3 plus 4?", "Tell me a story about a cat.", "Hello", "What is 7 plus 8?", "Who are you?",
           "Say hello to Anna.", "Tell me a story about a dog.", "Good morning", "What is 2 plus 2?", "How old are you?")
AT_ONCE, LENGTH, SECONDS = 100, 8, 300
FOLDER = tempfile.mkdtemp(prefix="ingot-load-")
tap = Tap()
atexit.register(shutil.rmtree, FOLDER, True)


class Server:
    def __init__(self, program, *words):
        self.process = subprocess.Popen([program, "serve", *words, "--port", "0", "--temp", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.line, self.said = self.process.stdout.readline(), []
        found = re.search(r"http://127.0.0.1:(\d+)", self.line)
        self.port = int(found.group(1)) if found else 0
        self.reader = threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)

    def ask(self, path, body=None):
        c = self.connection()
        c.request("POST" if body is not None else "GET", path, json.dumps(body) if body is not None else None)
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, json.loads(text) if "json" in r.headers.get("content-type", "") else text

    def metrics(self):
        return {name: int(value) for name, value in re.findall(r"^ingot_(\w+) (\d+)$", self.ask("/metrics")[1], re.M)}

    def wait_for(self, good, seconds=120):
        late = time.monotonic() + seconds
        while not good(self.metrics()) and time.monotonic() < late:
            time.sleep(0.05)
        return good(self.metrics())

    def resident(self, kind="VmRSS"):
        """A figure of the process's memory, in KiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(kind + r":\s+(\d+)", f.read()).group(1))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed"


def chat(text, **more):
    return {"messages": [{"role": "user", "content": text}], **more}


def outcome(answer):
    """Text and numbers of the tokens of a reply."""
    choice = answer["choices"][0]
    return choice["message"]["content"].strip(), [t["id"] for t in choice["logprobs"]["content"]]


def alone(text):
    """Text and numbers of the tokens of a reply by this computer's own model, without boards."""
    line = json.dumps({"prompt": text, "temp": 0, "n": LENGTH}).encode() + b"\n"
    rows = [json.loads(r) for r in run([HOST, "chat", DEMO, "--json", "-q", "--spec", "off"], stdin=line)[1].split("\n") if r.startswith('{"event":"token"')]
    return "".join(r["text"] for r in rows).strip(), [r["id"] for r in rows if r["id"] is not None]


# ---- boards ----------------------------------------------------------------------------------------

if "libwslay-dev" in run([HOST, "serve", f"unix:{FOLDER}/nobody"])[1]:
    tap.skip("serve under load", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)
CARD = make_card("load-card.img", DEMO)
boards = [Board(machine, FOLDER, name, CARD) for name, machine in (("a", ARM64), ("b", RISCV64), ("c", ARM64))]
server = Server(HOST, *(b.line for b in boards), "-n", str(LENGTH))
tap.ok(server.port != 0 and server.wait_for(lambda m: m["boards_there"] == 3), "three boards of two ISAs are ready", (server.line, server.said))
want = {p: alone(p) for p in PROMPTS}
results, begin = {}, time.monotonic()


def ask_one(i):
    try:
        results[i] = server.ask(CHAT, chat(PROMPTS[i % 10], logprobs=True, x_number=i))
    except (OSError, http.client.HTTPException) as error:
        results[i] = (0, repr(error))


threads = [threading.Thread(target=ask_one, args=(i,), daemon=True) for i in range(AT_ONCE)]
for t in threads:
    t.start()
late = time.monotonic() + SECONDS
while len(results) < AT_ONCE // 4 and time.monotonic() < late:
    time.sleep(0.01)
boards[1].kill()
noticed = server.wait_for(lambda m: m["boards_there"] == 2, 30)
killed_at = len(results)
boards[1].start()
for t in threads:
    t.join(max(0, begin + SECONDS - time.monotonic()))
took = time.monotonic() - begin
right = [i for i, r in results.items() if r[0] == 200 and outcome(r[1]) == want[PROMPTS[i % 10]]]
clear = [i for i, r in results.items() if r[0] in (429, 503) and r[1]["error"]["message"]]
wrong = {i: r for i, r in results.items() if i not in right and i not in clear}
tap.ok(noticed and killed_at < AT_ONCE, f"a board was killed after {killed_at} replies", killed_at)
tap.ok(len(results) == AT_ONCE and not wrong, f"{AT_ONCE} at once in {took:.0f} s: {len(right)} right by text and tokens, {len(clear)} errors, {len(wrong)} wrong, "
       f"{AT_ONCE - len(results)} without an answer", wrong)
tap.ok(server.wait_for(lambda m: m["boards_there"] == 3), "the killed board is back", server.said)

# A caller that leaves frees its board, and its slot in the queue immediately.
long = {"prompt": "Once upon a time", "max_tokens": 400, "temperature": 2, "top_k": 0, "top_p": 1, "min_p": 0}
before = server.metrics()
callers = [server.connection() for _ in range(30)]
for i, c in enumerate(callers):
    c.request("POST", TEXT, json.dumps(long))
    if i == 2:
        server.wait_for(lambda m: m["requests_running"] == 3, 20)
# All thirty have arrived. Some may have ended by then: at temperature 2 a reply ends at any time.
server.wait_for(lambda m: m["requests_running"] + m["requests_waiting"] + m["requests_total"] - before["requests_total"] == 30, 20)
for c in callers[3:]:
    c.close()
late, left = time.monotonic() + 20, server.metrics()
while left["requests_waiting"] and time.monotonic() < late:
    left = server.metrics()
tap.ok(left["requests_waiting"] == 0 and left["requests_running"] > 0 and left["requests_cancelled_total"] > before["requests_cancelled_total"] + 20,
       "a caller that leaves while it waits loses its place in the queue", left)
for c in callers[:3]:
    c.close()
gone = server.wait_for(lambda m: m["requests_total"] == before["requests_total"] + 30 and m["requests_running"] == 0)
status, a = server.ask(CHAT, chat(PROMPTS[3], logprobs=True))
tap.ok(gone and status == 200 and outcome(a) == want[PROMPTS[3]], "a running reply ends when its caller leaves", (before, server.metrics()))
tap.ok(server.end() == 0, "SIGTERM ends the server")
for b in boards:
    b.kill()

# ---- memory ----------------------------------------------------------------------------------------

# The first request must not wait for pages of keys and values (docs/experiments/first-prefill.md).
server, plan, late = Server(HOST, DEMO), None, time.monotonic() + 20
while plan is None and time.monotonic() < late:
    time.sleep(0.05)
    plan = re.search(r"total +([\d.]+) MiB", "".join(server.said))
if tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2]) < (5, 14):
    tap.skip("memory before the first request", "Linux is older than 5.14")
else:
    tap.ok(plan and server.resident("RssAnon") >= float(plan.group(1)) * 1024, "before the first request, all memory of the plan is there", (server.resident("RssAnon"), server.said))
server.end()

LAMP = {"type": "function", "function": {"name": "lamp", "parameters": {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}}}
MIX = ((CHAT, chat("Hello", max_tokens=2), 200), (CHAT, chat("Hello", max_tokens=2, stream=True), 200), (CHAT, chat("x", nonsense=1), 400),
       (EMBED, {"input": ["a cat", "a dog"]}, 200), (CHAT, chat("Hi", tools=[LAMP], max_tokens=3, tool_choice="required"), 200), (TEXT, {"prompt": "Once", "max_tokens": 2, "logprobs": 2}, 200),
       (CHAT, "{", 400), (CHAT, chat("Hello", grammar='root ::= "a" | "b"'), 200), (CHAT, chat("Hello", max_tokens=2, n=2, temperature=1), 200), ("/nosuch", {}, 404),
       (CHAT, chat("long " * 3000), 400), (CHAT, chat("Tell me a story.", max_tokens=300, stream=True, temperature=2, min_p=0, top_k=0, top_p=1), None))


def many(server, n, first, failed):
    """Send this many requests of the mix. If a row has None instead of a status, the caller cuts the stream."""
    c = server.connection()
    for i in range(first, first + n):
        path, body, status = MIX[i % len(MIX)]
        c.request("POST", path, body if isinstance(body, str) else json.dumps(body))
        r = c.getresponse()
        r.read(1 if status is None else None)
        if r.status != (status or 200):
            failed.append((path, body, r.status))
        if status is None:
            c.close()
            c = server.connection()
    c.close()


def crowd(server, n, callers=4):
    failed = []
    threads = [threading.Thread(target=many, args=(server, n // callers, 3 * i, failed), daemon=True) for i in range(callers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(3000)
    server.wait_for(lambda m: m["requests_running"] + m["requests_waiting"] == 0)
    return failed


N = 10000 if LONG else 500
server = Server(HOST, DEMO, "-q")
failed = crowd(server, 400)
start = server.resident()
failed += crowd(server, N)
grown = server.resident() - start
tap.ok(not failed, "each request is answered as its kind requires", failed[:5])
tap.ok(grown < 1024, f"{N} requests of {len(MIX)} kinds more take {grown} KiB, of {start}", grown)
tap.ok(server.end() == 0, "the server ends with status 0")
checked = os.path.join(BUILD, "asan/ingot")
if os.path.exists(checked):
    server = Server(checked, DEMO, "-q")
    failed = crowd(server, 96 if not LONG else 960)
    status = server.end()
    server.reader.join(20)
    tap.ok(not failed and status == 0, "AddressSanitizer finds no misuse, and at the end no leak", (failed[:3], status, "".join(server.said)[-2500:]))
else:
    tap.skip("AddressSanitizer", "build/asan/ingot is not built")
tap.done()
