#!/usr/bin/python3
"""`ingot serve` in front of boards: three in QEMU at sockets. Each reply equals that of `ingot run`; a conversation continues on the board that holds
it; if a board is killed and comes back, no request is lost; what a board cannot do is refused by name."""

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
from machine import ARM64, HOST, LONG, ROOT, WORK, Tap, make_card, run

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
PROMPTS = ("What is 3 plus 4?", "Tell me a story about a cat.", "Hello", "What is 7 plus 8?", "Who are you?",
           "Say hello to Anna.", "Tell me a story about a dog.", "Good morning", "What is 2 plus 2?", "How old are you?")
AT_ONCE = 100 if LONG else 30
LENGTH = 16
FOLDER = tempfile.mkdtemp(prefix="ingot-boards-")  # a socket's path has 107 bytes at most
os.makedirs(WORK, exist_ok=True)
CARD = make_card("boards-card.img", DEMO)
tap = Tap()
atexit.register(shutil.rmtree, FOLDER, True)


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen([HOST, "serve", *words, "--port", "0", "-n", str(LENGTH), "--temp", "0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.line = self.process.stdout.readline()
        found = re.search(r"http://127.0.0.1:(\d+)", self.line)
        self.port = int(found.group(1)) if found else 0
        self.said = []
        self.reader = threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True)
        self.reader.start()

    def ask(self, path, body=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=200)
        c.request("POST" if body is not None else "GET", path, json.dumps(body) if body is not None else None)
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, json.loads(text) if "json" in r.headers.get("content-type", "") else text

    def metrics(self):
        return {name: int(value) for name, value in re.findall(r"^ingot_(\w+) (\d+)$", self.ask("/metrics")[1], re.M)}

    def boards(self, n, seconds=60):
        late = time.monotonic() + seconds
        while self.metrics()["boards_there"] != n and time.monotonic() < late:
            time.sleep(0.05)
        return self.metrics()["boards_there"] == n

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed"


def chat(text, **more):
    return {"messages": [{"role": "user", "content": text}], **more}


def said(answer):
    return answer["choices"][0]["message"]["content"].strip()


def alone(text, *options):
    return run([HOST, "run", DEMO, "-p", text, "--temp", "0", "-n", str(LENGTH), "--spec", "off", "-q", *options])[1].strip()


status, text = run([HOST, "serve", f"unix:{FOLDER}/nobody"])
if "libwslay-dev" in text:
    tap.skip("serve with boards", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)
tap.ok(status == 1 and "No such file" in text, "a socket without a board is reported at once", text)
status, text = run([HOST, "serve", DEMO, f"unix:{FOLDER}/nobody"])
tap.ok(status == 2 and "one argument too many" in text, "a model and boards at the same time are refused", text)

def board_of(name, words="mode=json"):
    return Board(ARM64, FOLDER, name, CARD, words)


# The second board is in chat mode when `ingot serve` finds it.
boards = [board_of("a"), board_of("b", ""), board_of("c")]
server = Server(*(b.line for b in boards))
tap.ok(server.port != 0 and "demo-q8_0.ingot" in server.line, "the server's model is that of the boards", (server.line, server.said))
tap.ok(server.boards(3), "three boards are there, after one was told to load the model", server.metrics())

want = {p: alone(p) for p in PROMPTS}
status, first = server.ask(CHAT, chat(PROMPTS[0]))
tap.ok(status == 200 and said(first) == want[PROMPTS[0]] and first["choices"][0]["finish_reason"] in ("stop", "length") and
       first["usage"]["prompt_tokens"] > 8 < first["usage"]["total_tokens"], "a reply is that of `ingot run`", first)
text = server.ask("/metrics")[1]
rows = re.findall(r'^ingot_board\{line="([^"]*)",machine="([^"]*)",model="([^"]*)"\} 1$', text, re.M)
replies = re.findall(r'^ingot_board_replies_total\{line="([^"]*)"\} (\d+)$', text, re.M)
tap.ok(rows == [(b.line, "virt-arm64", "demo-q8_0.ingot") for b in boards] and [line for line, _ in replies] == [b.line for b in boards] and
       sorted(n for _, n in replies) == ["0", "0", "1"], "the metrics name the boards and their properties", text)
status, text = server.ask(CHAT, chat(PROMPTS[1], stream=True, stream_options={"include_usage": True}))
rows = [line[len("data: "):] for line in text.split("\n\n") if line]
pieces = [json.loads(r) for r in rows[:-1]]
streamed = "".join(r["choices"][0]["delta"].get("content", "") for r in pieces if r["choices"])
tap.ok(status == 200 and rows[-1] == "[DONE]" and streamed.strip() == want[PROMPTS[1]] and len(pieces) > 4 and
       pieces[-1]["usage"]["completion_tokens"] == LENGTH, "a board's reply is streamed", text[-600:])
status, plain = server.ask(TEXT, {"prompt": "Once upon a time", "max_tokens": 12})
host = run([HOST, "run", DEMO, "--raw", "-p", "Once upon a time", "--temp", "0", "-n", "12", "--spec", "off", "-q"])
tap.ok(status == 200 and plain["usage"]["completion_tokens"] == 12 and plain["choices"][0]["text"] != "", "a text is continued", (plain, host))
again = server.ask(TEXT, {"prompt": "Once upon a time", "max_tokens": 12})[1]
tap.ok(again["choices"][0]["text"] == plain["choices"][0]["text"], "the same text gets the same continuation again", again)
status, vectors = server.ask("/v1/embeddings", {"input": ["a cat", "a dog", "a cat"]})
here = run([HOST, "chat", DEMO, "--json", "-q"], stdin=b'{"embedding":"a cat"}\n')[1]
mean = json.loads([r for r in here.split("\n") if '"embedding"' in r][0])["values"]
length = sum(x * x for x in mean) ** 0.5
tap.ok(status == 200 and len(vectors["data"]) == 3 and vectors["data"][0]["embedding"] == vectors["data"][2]["embedding"] != vectors["data"][1]["embedding"] and
       all(abs(x - y / length) < 1e-6 for x, y in zip(vectors["data"][0]["embedding"], mean)),
       "embeddings equal those of this computer", vectors)
tap.ok(server.ask("/v1/embeddings", {"input": "long " * 800})[0] == 400, "a text that is too long to embed is refused")
stopped = server.ask(CHAT, chat(PROMPTS[1], stop=["zzz", "a"]))[1]
tap.ok("a" in want[PROMPTS[1]] and "a" not in said(stopped) and stopped["choices"][0]["finish_reason"] == "stop", "each stop string ends a reply", stopped)
free = server.ask(CHAT, chat(PROMPTS[1]))[1]
tap.ok(said(free) == want[PROMPTS[1]], "the stop strings of one request do not hold for the next", free)
warm = [said(server.ask(CHAT, chat(PROMPTS[1], temperature=1.2, seed=s))[1]) for s in (1, 1, 2)]
tap.ok(warm[0] == warm[1] != warm[2], "equal seeds give equal replies", warm)

# Three conversations with interleaved turns: each continues on its board.
cached = []
histories = [[{"role": "system", "content": f"You are {who}."}, {"role": "user", "content": PROMPTS[2]}] for who in ("a cat", "a dog", "a fox")]
for turn in range(3):
    for h in histories:
        a = server.ask(CHAT, chat("", messages=h))[1]
        cached.append(a["usage"]["prompt_tokens_details"]["cached_tokens"])
        h += [{"role": "assistant", "content": a["choices"][0]["message"]["content"]}, {"role": "user", "content": PROMPTS[turn]}]
fresh = [alone(PROMPTS[2], "--system", f"You are {who}.") for who in ("a cat", "a dog", "a fox")]
tap.ok([h[2]["content"].strip() for h in histories] == fresh and all(c > 10 for c in cached[3:]),
       "each conversation continues on the board that has it", cached)

# Refusals, by name.
tap.ok(server.ask(CHAT, chat("x", grammar="a|b"))[0] == 400 and "grammar=on" in server.ask(CHAT, chat("x", grammar="a|b"))[1]["error"]["message"],
       "a grammar is refused if the boards have no memory for one", server.ask(CHAT, chat("x", grammar="a|b")))
calling = server.ask(CHAT, chat("x", tools=[{"type": "function", "function": {"name": "now"}}]))
tap.ok(calling[0] == 400 and "grammar=on" in calling[1]["error"]["message"], "functions are refused if the boards have no memory for a grammar", calling)
for body, param, what in ((chat("long " * 3000), "messages", "more than a line takes"),
                          (chat("x", temperature=-1), "temperature", "a value")):
    status, a = server.ask(CHAT, body)
    tap.ok(status == 400 and a["error"]["param"] == param and len(a["error"]["message"]) > 10, f"refused: {what}", a)
status, a = server.ask(CHAT, chat("\x7f\x13\x11 \u202e\u00e9\n"))
tap.ok(status == 200, "control characters in a request do not act as keys on the line", a)

# A caller that leaves frees its board.
before = server.metrics()
for i in range(6):
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    c.request("POST", TEXT, json.dumps({"prompt": "Once upon a time", "max_tokens": 400, "temperature": 2, "top_k": 0, "top_p": 1, "min_p": 0, "stream": True}))
    c.getresponse().read(10)
    c.close()
late = time.monotonic() + 60
while time.monotonic() < late and server.metrics()["requests_total"] < before["requests_total"] + 6:
    time.sleep(0.05)
after = server.metrics()
tap.ok(after["requests_total"] == before["requests_total"] + 6 and after["requests_running"] == 0 and
       after["reply_tokens_total"] < before["reply_tokens_total"] + 6 * 400, "replies of callers that have left end", (before, after))

# A board has no model because somebody pressed a key at its start; it is told to load the model of the others.
pair = [board_of("even"), board_of("odd", "mode=json model=nobody")]
both = Server(pair[0].line, pair[1].line)
tap.ok(both.port != 0 and both.boards(2) and any("the board has no model, not demo-q8_0.ingot: it is told to load that model" in text for text in both.said),
       "a board without a model is told to load one", (both.line, both.said))
tap.ok(all(said(both.ask(CHAT, chat(PROMPTS[0]))[1]) == want[PROMPTS[0]] for _ in range(2)), "a board that loaded a model answers with it")
both.end()
for b in pair:
    b.kill()

# Many requests at once; meanwhile a board is killed and comes back.
results = {}


def ask_one(i):
    results[i] = server.ask(CHAT, chat(PROMPTS[i % 10], stream=False))


threads = [threading.Thread(target=ask_one, args=(i,)) for i in range(AT_ONCE)]
for t in threads:
    t.start()
late = time.monotonic() + 100
while len(results) < AT_ONCE // 4 and time.monotonic() < late:
    time.sleep(0.01)
boards[2].kill()
gone = server.boards(2, 20)
boards[2].start()
for t in threads:
    t.join(300)
wrong = {i: r for i, r in results.items() if r[0] != 200 or said(r[1]) != want[PROMPTS[i % 10]]}
tap.ok(gone and len(results) == AT_ONCE and not wrong,
       f"{AT_ONCE} requests at once, while one board of three is killed and comes back: each reply is right", wrong or len(results))
tap.ok(server.boards(3) and any("is back" in line for line in server.said), "the board is noticed when it goes and when it is back", server.said)
tap.ok(said(server.ask(CHAT, chat(PROMPTS[3]))[1]) == want[PROMPTS[3]], "the other boards answer while one is away")

# A stream of which the caller has received a part is not restarted.
c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
c.request("POST", TEXT, json.dumps({"prompt": "Once upon a time", "max_tokens": 450, "temperature": 2, "top_k": 0, "top_p": 1, "min_p": 0, "stream": True}))
r = c.getresponse()
r.read(20)
for b in boards:
    b.kill()
rest = r.read().decode()
tap.ok("the board disappeared" in rest and rest.rstrip().endswith("[DONE]"), "a stream whose board disappears ends with an error", rest[-400:])
if LONG:
    begin = time.monotonic()
    status, a = server.ask(CHAT, chat("x"))
    tap.ok(status == 503 and "no board is connected" in a["error"]["message"] and time.monotonic() - begin < 60,
           "without boards a request ends with an error after a while", a)
status = server.end()
tap.ok(status == 0, "SIGTERM ends the server", status)
# Grammars: boards with memory for them give the same replies as a model on this computer.
colours = {"type": "object", "properties": {"light": {"enum": ["blue", "red"]}, "on": {"type": "boolean"}}, "required": ["light", "on"]}
wide = {"type": "object", "properties": {f"name_of_field_{i}": {"enum": [f"value_{i}_{j}" for j in range(12)]} for i in range(40)}, "required": ["name_of_field_0"]}
bodies = [chat("Set the light.", max_tokens=90, response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": colours}}),
          chat("Set the light.", response_format={"type": "json_object"}), chat(PROMPTS[3], grammar="fourteen|fifteen|15"), chat(PROMPTS[3]),
          chat("Set the light.", response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": wide}}),
          chat("x", temperature=1.5, seed=4, grammar='root ::= "ab" ("c" | "d"){5,9}'), chat(PROMPTS[2])]
LAMP = {"type": "function", "function": {"name": "lamp", "parameters": {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}}}
bodies += [chat(PROMPTS[3], logprobs=True, top_logprobs=3), chat(PROMPTS[1], n=3, temperature=1.3, seed=2)]
bodies += [chat("Set the light.", max_tokens=90, tools=[LAMP], tool_choice=choice) for choice in ("required", "auto")]
held = board_of("held", "mode=json grammar=on")
server, here = Server(held.line), Server(DEMO)
tap.ok(server.boards(1), "a board with memory for grammars is recognized")
replies, wanted = ([s.ask(CHAT, b)[1] for b in bodies] for s in (server, here))
for answer in [*replies, *wanted]:
    for call in answer["choices"][0]["message"].get("tool_calls", []) if "choices" in answer else []:
        call["id"] = ""
    for one in ((answer["choices"][0].get("logprobs") or {}).get("content") or []) if "choices" in answer else []:
        for t in [one, *one["top_logprobs"]]:  # a board's line carries whole characters, not bytes
            t["bytes"] = None
tap.ok([r["choices"] for r in replies] == [w["choices"] for w in wanted],
       "replies with grammars, and replies without one between them, are right", (replies, wanted))
tap.ok(set(json.loads(said(replies[0]))) == {"light", "on"} and said(replies[2]) in ("fourteen", "fifteen", "15") and set(said(replies[5])) <= set("abcd") and len(replies[7]["choices"][0]["logprobs"]["content"][0]["top_logprobs"]) == 3 and len(replies[8]["choices"]) == 3 and
       json.loads(replies[9]["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])["colour"] in ("red", "blue"),
       "replies with a grammar follow it", replies)
held.kill()
server.end()
here.end()
tap.done()
