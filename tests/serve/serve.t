#!/usr/bin/python3
"""`ingot serve` for programs that use OpenAI's HTTP API: the replies of `ingot run`, whole and streamed, many at once, with grammars; errors by name;
pages of other sites get nothing; callers disconnect."""

import atexit
import base64
import http.client
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import HOST, LONG_REPLY, ROOT, Tap, run

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
PROMPTS = ("What is 3 plus 4?", "Tell me a story about a cat.", "Hello", "What is 7 plus 8?", "Who are you?",
           "Say hello to Anna.", "Tell me a story about a dog.", "Good morning", "What is 2 plus 2?", "How old are you?")
tap = Tap()


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([HOST, "serve", DEMO, "--port", "0", "-q", *options], stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        line = self.process.stdout.readline()
        found = re.search(r"http://127.0.0.1:(\d+)", line)
        self.port = int(found.group(1)) if found else 0
        self.line = line

    def ask(self, path, body=None, method=None, headers=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        c.request(method or ("POST" if data is not None else "GET"), path, data, headers or {})
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, json.loads(text) if "json" in r.headers.get("content-type", "") else text

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed"


def chat(text, **more):
    return {"messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 40, **more}


def alone(text, *options):
    return run([HOST, "run", DEMO, "-p", text, "--temp", "0", "-n", "40", "--spec", "off", "-q", *options])[1].strip()


def said(answer):
    return answer["choices"][0]["message"]["content"].strip()


if run([HOST, "serve", DEMO, "--port", "99999"])[0] != 2:
    tap.ok(False, "an invalid port is refused")
status, text = run([HOST, "serve", DEMO, "--address", "0.0.0.0"])
tap.ok(status == 2 and "--token" in text, "an address for other computers needs a token", text)
server = Server()
if server.port == 0:
    status, text = run([HOST, "serve", DEMO])
    tap.ok(status == 1 and "libwslay-dev" in text, "without the library a message says what to install", text)
    tap.done()
    sys.exit(0)

status, health = server.ask("/health")
status2, models = server.ask("/v1/models")
tap.ok(status == 200 == status2 and health == {"status": "ok"} and models["data"][0]["id"] == "demo-q8_0.ingot", "/health and /v1/models are answered", models)

want = {p: alone(p) for p in PROMPTS}
status, first = server.ask(CHAT, chat(PROMPTS[0], model="demo-q8_0"))
tap.ok(status == 200 and said(first) == want[PROMPTS[0]] and first["object"] == "chat.completion" and
       first["choices"][0]["finish_reason"] == "stop" and first["usage"]["total_tokens"] ==
       first["usage"]["prompt_tokens"] + first["usage"]["completion_tokens"] > 8, "a reply is that of `ingot run`", first)
if shutil.which("curl"):
    out = subprocess.run(["curl", "-sS", "-m", "30", f"http://localhost:{server.port}{CHAT}", "-H", "Content-Type: application/json", "-d",
                          json.dumps(chat(PROMPTS[0]))], capture_output=True, text=True, timeout=60).stdout
    tap.ok(said(json.loads(out)) == want[PROMPTS[0]], "curl gets the reply, too", out)


# More requests at once than run in parallel.
def ask_one(results, i, body):
    results[i] = server.ask(CHAT, body)


results = {}
threads = [threading.Thread(target=ask_one, args=(results, i, chat(PROMPTS[i % 10]))) for i in range(24)]
for t in threads:
    t.start()
for t in threads:
    t.join(60)
tap.ok(len(results) == 24 and all(s == 200 and said(a) == want[PROMPTS[i % 10]] for i, (s, a) in results.items()),
       "each of 24 requests at once gets the reply that it gets alone",
       {i: a for i, a in results.items() if a[0] != 200 or said(a[1]) != want[PROMPTS[i % 10]]})


def events(text):
    parts = [line[len("data: "):] for line in text.split("\n\n") if line]
    return [json.loads(p) for p in parts[:-1]], parts[-1]


status, text = server.ask(CHAT, chat(PROMPTS[1], stream=True, stream_options={"include_usage": True}))
rows, last = events(text)
whole = server.ask(CHAT, chat(PROMPTS[1]))[1]
streamed = "".join(r["choices"][0]["delta"].get("content", "") for r in rows if r["choices"])
tap.ok(status == 200 and last == "[DONE]" and len(rows) > 3 and streamed == whole["choices"][0]["message"]["content"] and
       rows[0]["choices"][0]["delta"]["role"] == "assistant" and rows[-2]["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"] and
       rows[-1]["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"] and len({r["id"] for r in rows}) == 1,
       "a stream has the same text, and usage at its end", text[-700:])

# The past of a conversation: known tokens are not computed again.
history = [{"role": "system", "content": "You are a cat."}, {"role": "user", "content": PROMPTS[2]}]
one = server.ask(CHAT, chat("", messages=history))[1]
history += [{"role": "assistant", "content": one["choices"][0]["message"]["content"]},
            {"role": "user", "content": [{"type": "text", "text": "What is "}, {"type": "text", "text": "7 plus 8?"}]}]
two = server.ask(CHAT, chat("", messages=history))[1]
fresh = Server("--together", "1")
again = fresh.ask(CHAT, chat("", messages=history))[1]
tap.ok(said(one) == alone(PROMPTS[2], "--system", "You are a cat.") and two["usage"]["prompt_tokens_details"]["cached_tokens"] > 10 and
       again["usage"]["prompt_tokens_details"]["cached_tokens"] == 0 and said(two) == said(again),
       "a conversation continues from the cached tokens", (one, two, again))
fresh.end()

status, plain = server.ask(TEXT, {"prompt": "Once upon a time", "max_tokens": 12, "temperature": 0})
status2, text = server.ask(TEXT, {"prompt": ["Once upon a time"], "max_tokens": 12, "temperature": 0, "stream": True})
rows, last = events(text)
tap.ok(status == 200 == status2 and plain["choices"][0]["finish_reason"] == "length" and plain["usage"]["completion_tokens"] == 12 and
       "".join(r["choices"][0]["text"] for r in rows) == plain["choices"][0]["text"] != "", "a text is continued, whole and streamed", plain)
stopped = server.ask(CHAT, chat(PROMPTS[1], stop=["the"]))[1]
tap.ok("the" in said(whole) and "the" not in said(stopped) and stopped["choices"][0]["finish_reason"] == "stop" and
       said(whole).startswith(said(stopped)), "a stop string ends a reply", stopped)
warm = [server.ask(CHAT, chat(PROMPTS[1], temperature=1.2, seed=s))[1] for s in (1, 1, 2)]
tap.ok(said(warm[0]) == said(warm[1]) != said(warm[2]), "equal seeds give equal replies", warm)

# Grammars.
schema = {"type": "object", "properties": {"light": {"enum": ["red", "blue"]}, "on": {"type": "boolean"}}, "required": ["light", "on"]}
for i in range(4):
    status, a = server.ask(CHAT, chat("Set the light.", temperature=1.5, seed=i, response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}))
    made = json.loads(said(a)) if status == 200 else {}
    if made.get("light") not in ("red", "blue") or not isinstance(made.get("on"), bool):
        break
tap.ok(status == 200 and made.get("light") in ("red", "blue"), "a reply at temperature 1.5 satisfies its schema", a)
status, a = server.ask(CHAT, chat("Set the light.", response_format={"type": "json_object"}, max_tokens=60))
tap.ok(status == 200 and said(a).startswith("{") and (a["choices"][0]["finish_reason"] == "length" or isinstance(json.loads(said(a)), dict)),
       "json_object gives a JSON object", a)
tap.ok(said(server.ask(CHAT, chat(PROMPTS[3], grammar="fourteen|fifteen|15"))[1]) in ("fourteen", "fifteen", "15") and
       said(server.ask(CHAT, chat("x", grammar='root ::= "ab" "c"+ "d"'))[1])[:3] == "abc", "replies follow choices and GBNF")

# Functions: a grammar makes each call valid, whole and streamed; the result goes back to the model.
LAMP = {"type": "function", "function": {"name": "lamp", "description": "A lamp", "strict": True, "parameters": {
    "type": "object", "properties": {"colour": {"enum": ["red", "blue"]}, "level": {"type": "integer", "minimum": 0, "maximum": 9}}, "required": ["colour", "level"]}}}
TOOLS = [LAMP, {"type": "function", "function": {"name": "now"}}]
NOW = {"type": "function", "function": {"name": "now"}}


def is_call(answer, names=("lamp", "now")):
    """True if a reply is one call with arguments that its schema allows."""
    choice = answer["choices"][0]
    calls = choice["message"].get("tool_calls", [])
    if len(calls) != 1 or choice["finish_reason"] != "tool_calls" or calls[0]["type"] != "function" or not calls[0]["id"].startswith("call_"):
        return False
    f = calls[0]["function"]
    got = json.loads(f["arguments"])
    fits = got == {} if f["name"] == "now" else set(got) == {"colour", "level"} and got["colour"] in ("red", "blue") and got["level"] in range(10)
    return fits and f["name"] in names


def calls_in(rows):
    """The message that the deltas of a stream form."""
    deltas = [c["delta"] for r in rows for c in r["choices"]]
    pieces = [p for d in deltas for p in d.get("tool_calls", [])]
    return {"content": "".join(d.get("content") or "" for d in deltas), "id": pieces[0]["id"] if pieces else None, "n": len(pieces),
            "name": pieces[0]["function"]["name"] if pieces else None, "arguments": "".join(p["function"]["arguments"] for p in pieces)}


must = [server.ask(CHAT, chat("Set the light.", temperature=1.5, seed=s, max_tokens=200, tools=TOOLS, tool_choice="required"))[1] for s in range(6)]
tap.ok(all(is_call(a) and a["choices"][0]["message"]["content"] is None for a in must) and len({a["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] for a in must}) > 1,
       "a required call comes, at temperature 1.5", must)
one = server.ask(CHAT, chat("Set the light.", max_tokens=200, tools=TOOLS, tool_choice=NOW, parallel_tool_calls=False))[1]
tap.ok(is_call(one, ("now",)) and one["usage"]["completion_tokens"] > 5, "a named function is called", one)
most_pieces = 0  # on a loaded computer the server may not run in between, and a call then comes in one piece
for choice, seed in (("required", 3), (NOW, 0), ("auto", 1)):
    body = chat("Set the light.", temperature=1.2, seed=seed, max_tokens=200, tools=TOOLS, tool_choice=choice)
    whole_call = server.ask(CHAT, body)[1]["choices"][0]
    rows, last = events(server.ask(CHAT, {**body, "stream": True})[1])
    made = calls_in(rows)
    most_pieces = max(most_pieces, made["n"])
    message = whole_call["message"]
    f = message["tool_calls"][0]["function"] if "tool_calls" in message else {"name": None, "arguments": ""}
    tap.ok(last == "[DONE]" and made["content"] == (message["content"] or "") and (made["name"], made["arguments"]) == (f["name"], f["arguments"]) and
           rows[-1]["choices"][0]["finish_reason"] == whole_call["finish_reason"] and (made["name"] is None or made["n"] >= 1 and made["id"].startswith("call_")),
           f"a stream has the same calls as the whole reply: {choice if isinstance(choice, str) else 'named'}", (made, whole_call))
tap.ok(most_pieces >= 2, "the arguments of a call are streamed in pieces", most_pieces)
free = [server.ask(CHAT, chat(PROMPTS[s], temperature=1, seed=s, tools=TOOLS))[1]["choices"][0] for s in range(4)]
tap.ok(all(c["finish_reason"] in ("stop", "length") and c["message"]["content"] and "<tool" not in c["message"]["content"] or "tool_calls" in c["message"] for c in free),
       "the reply is prose or a call if the model may choose", free)
cut = server.ask(CHAT, chat("Set the light.", max_tokens=30, tools=TOOLS, tool_choice="required"))[1]["choices"][0]
tap.ok(cut["finish_reason"] == "length" and "<tool" not in (cut["message"]["content"] or ""), "a call that max_tokens cuts is not reported as a call", cut)
talk = [{"role": "user", "content": "Set the light."}, must[0]["choices"][0]["message"],
        {"role": "tool", "tool_call_id": must[0]["choices"][0]["message"]["tool_calls"][0]["id"], "content": "It is on."}]
status, after_call = server.ask(CHAT, chat("", messages=talk, tools=TOOLS, temperature=1.5, seed=0))
tap.ok(status == 200 and after_call["usage"]["prompt_tokens_details"]["cached_tokens"] >= must[0]["usage"]["prompt_tokens"],
       "a call's result continues the conversation after the call", after_call)
tap.ok(said(server.ask(CHAT, chat(PROMPTS[0], tools=TOOLS, tool_choice="none"))[1]) == want[PROMPTS[0]], "tool_choice none allows no call")

# The model's scores of each token: the same numbers as a board's.
line = json.dumps({"prompt": PROMPTS[0], "temp": 0, "n": 40, "logprobs": 2}).encode() + b"\n"
rows = [json.loads(r) for r in run([HOST, "chat", DEMO, "--json", "-q", "--spec", "off"], stdin=line)[1].split("\n") if r.startswith('{"event":"token"')]
told = [(r["id"], r["logprob"], [(t["token"], t["logprob"], t["text"]) for t in r["top_logprobs"]]) for r in rows]


def scores(entries):
    return [(e["id"], e["logprob"], [(t["id"], t["logprob"], t["token"]) for t in e["top_logprobs"]]) for e in entries]


scored = server.ask(CHAT, chat(PROMPTS[0], logprobs=True, top_logprobs=2))[1]["choices"][0]
entries = scored["logprobs"]["content"]
tap.ok(len(told) > 4 and scores(entries) == told and b"".join(bytes(e["bytes"]) for e in entries).decode() == scored["message"]["content"] and
       all(e["logprob"] <= 0 and e["token"].encode() == bytes(e["bytes"]) for e in entries),
       "the probabilities of tokens equal those on a board's line", (scored, told))
rows, last = events(server.ask(CHAT, chat(PROMPTS[0], logprobs=True, top_logprobs=2, stream=True))[1])
tap.ok([e for r in rows for e in (r["choices"][0]["logprobs"] or {"content": []})["content"]] == entries, "a stream has the same probabilities of tokens", rows)
held = server.ask(CHAT, chat(PROMPTS[3], logprobs=True, grammar="fourteen|fifteen|15"))[1]["choices"][0]
tap.ok("".join(e["token"] for e in held["logprobs"]["content"]) == held["message"]["content"] and held["logprobs"]["content"][0]["top_logprobs"] == [] and
       server.ask(CHAT, chat("x", logprobs=False))[1]["choices"][0]["logprobs"] is None,
       "a reply with a grammar has probabilities; a request without logprobs has none", held)
for n in (0, 3):
    a = server.ask(TEXT, {"prompt": "Once upon a time", "max_tokens": 9, "temperature": 0, "logprobs": n})[1]["choices"][0]
    rows, last = events(server.ask(TEXT, {"prompt": "Once upon a time", "max_tokens": 9, "temperature": 0, "logprobs": n, "stream": True})[1])
    p = a["logprobs"]
    pieces = [r["choices"][0]["logprobs"] for r in rows if r["choices"][0]["logprobs"]]
    tap.ok("".join(p["tokens"]) == a["text"] and len(p["token_logprobs"]) == 9 == len(p["top_logprobs"]) and all(len(t) <= n for t in p["top_logprobs"]) and
           all(a["text"][o:].startswith(t) for o, t in zip(p["text_offset"], p["tokens"])) and all(sum((q[k] for q in pieces), []) == p[k] for k in p),
           f"a continued text has probabilities, with {n} others", (a, pieces))

# Several replies to one request use consecutive seeds.
three = server.ask(CHAT, chat(PROMPTS[1], temperature=1.2, seed=5, n=3))[1]
single = [server.ask(CHAT, chat(PROMPTS[1], temperature=1.2, seed=s))[1] for s in (5, 6, 7)]
tap.ok([c["message"]["content"] for c in three["choices"]] == [a["choices"][0]["message"]["content"] for a in single] and [c["index"] for c in three["choices"]] == [0, 1, 2] and
       len({said(a) for a in single}) == 3 and three["usage"]["completion_tokens"] == sum(a["usage"]["completion_tokens"] for a in single), "three replies to one request", three)
rows, last = events(server.ask(CHAT, chat(PROMPTS[1], temperature=1.2, seed=5, n=3, stream=True, stream_options={"include_usage": True}))[1])
streamed = ["".join(c["delta"].get("content", "") for r in rows for c in r["choices"] if c["index"] == i) for i in range(3)]
tap.ok(last == "[DONE]" and streamed == [c["message"]["content"] for c in three["choices"]] and rows[-1]["usage"] == {**three["usage"], "prompt_tokens_details": rows[-1]["usage"]["prompt_tokens_details"]},
       "three replies to one request are streamed", rows[-2:])
tap.ok(len({c["text"] for c in server.ask(TEXT, {"prompt": "Once upon", "n": 4, "temperature": 2, "max_tokens": 9, "min_p": 0, "top_k": 0, "top_p": 1})[1]["choices"]}) > 1,
       "several replies without a seed differ")

# Embeddings: the same bits whatever else runs, as text and as bytes; replies in parallel do not change.
EMBED = "/v1/embeddings"
status, both = server.ask(EMBED, {"input": ["a cat", "a dog"], "model": "demo-q8_0"})
one = server.ask(EMBED, {"input": "a dog", "encoding_format": "base64"})[1]
vectors = [d["embedding"] for d in both["data"]]
tap.ok(status == 200 and [d["index"] for d in both["data"]] == [0, 1] and len(vectors[0]) == 128 and vectors[0] != vectors[1] and
       both["usage"]["prompt_tokens"] == both["usage"]["total_tokens"] > 2, "embeddings of two texts", both)
tap.ok(all(abs(sum(x * x for x in v) - 1) < 1e-5 for v in vectors), "embeddings have the length 1, as OpenAI's have")
tap.ok(struct.pack("<128f", *vectors[1]) == base64.b64decode(one["data"][0]["embedding"]), "embeddings in base64 are the same", one)
results = {}
threads = [threading.Thread(target=ask_one, args=(results, i, chat(PROMPTS[i % 10]))) for i in range(10)]
for t in threads:
    t.start()
company = [server.ask(EMBED, {"input": "a cat"})[1]["data"][0]["embedding"] for _ in range(4)]
for t in threads:
    t.join(100)
tap.ok(all(c == vectors[0] for c in company) and all(s == 200 and said(a) == want[PROMPTS[i % 10]] for i, (s, a) in results.items()),
       "embeddings between replies do not change the replies", results)
tap.ok(server.ask(EMBED, {"input": "long " * 3000})[1]["error"]["code"] == "context_length_exceeded" and
       all(server.ask(EMBED, b)[1]["error"]["param"] == p for b, p in (({}, "input"), ({"input": ""}, "input"), ({"input": [1, 1 << 30]}, "input"), ({"input": [1, "a"]}, "input"), ({"input": "x", "dimensions": 1 << 16}, "dimensions"),
           ({"input": ["x"] * 300}, "input"), ({"input": "x", "encoding_format": "hex"}, "encoding_format"), ({"input": "x", "stream": True}, "stream"))),
       "invalid input to embed is refused")

# Refusals, by name.
for path, body, want_status, param in (
        (CHAT, "{", 400, None), (CHAT, "[]", 400, None), (CHAT, {}, 400, "messages"), (TEXT, {}, 400, "prompt"), (TEXT, {"prompt": ""}, 400, "prompt"),
        (CHAT, chat("x", temperature="hot"), 400, "temperature"), (CHAT, chat("x", temperature=-1), 400, "temperature"),
        (CHAT, chat("x", top_p=2), 400, "top_p"), (CHAT, chat("x", max_tokens=1.5), 400, "max_tokens"), (CHAT, chat("x", n=9), 400, "n"), (CHAT, chat("x", n=0), 400, "n"),
        (CHAT, chat("x", logprobs=3), 400, "logprobs"), (CHAT, chat("x", top_logprobs=2), 400, "top_logprobs"), (CHAT, chat("x", logprobs=True, top_logprobs=21), 400, "top_logprobs"),
        (TEXT, {"prompt": "x", "logprobs": 21}, 400, "logprobs"),
        (CHAT, chat("x", stop=["a"] * 17), 400, "stop"), (CHAT, chat("x", stop=["a", 5]), 400, "stop"), (CHAT, chat("x", nonsense=1), 400, "nonsense"),
        (CHAT, chat("x", tools=[{"type": "function"}]), 400, "tools"), (CHAT, chat("x", model=4), 400, "model"),
        (CHAT, chat("x", messages=[{"role": "assistant", "content": "x"}]), 400, "messages"), (CHAT, chat("x", messages=[]), 400, "messages"),
        (CHAT, chat("x", messages=[{"role": "user", "content": [{"type": "image_url"}]}]), 400, "messages"),
        (CHAT, chat("x", response_format={"type": "xml"}), 400, "response_format"), (CHAT, chat("x", grammar="root ::= ("), 400, "grammar"),
        (CHAT, chat("x", response_format={"type": "json_schema", "json_schema": {"strict": True, "schema": {"type": "string", "pattern": "(?<=a)b"}}}), 400, "response_format"),
        (CHAT, chat("long " * 3000), 400, None), (CHAT, chat("long " * 3000, stream=True), 400, None), (CHAT, '{"messages":[{"role":"user","content":"a\\u0000b"}]}', 400, None),
        (CHAT, b'{"messages":[{"role":"user","content":"\xff"}]}', 400, None), (CHAT, " " * (1 << 20) + "{}", 413, None), ("/nosuch", "{}", 404, None)):
    status, a = server.ask(path, body)
    tap.ok(status == want_status and isinstance(a, dict) and a["error"]["param"] == param and len(a["error"]["message"]) > 5 and
           a["error"]["type"] == "invalid_request_error", f"{str(body)[-60:]!r}: {want_status}", (status, a))
tap.ok(server.ask(CHAT, " ")[0] == 400 and server.ask("/nosuch")[0] == 404 and server.ask(CHAT)[0] == 405 and server.ask("/health", "x")[0] in (404, 405),
       "a missing body, an unknown page and another method are refused")
tap.ok(server.ask(CHAT, chat("x", x_note=[1], user="me", presence_penalty=0, logprobs=False, seed=None, max_tokens=1))[0] == 200,
       "fields whose values request nothing are accepted")

# A prompt that is too long: how many tokens it has, and how many fit.
def too_long(path, body):
    status, a = server.ask(path, body)
    found = re.fullmatch(r"the (prompt|input) is too long: it has (\d+) tokens and exceeds the available context size of (\d+), of which it may fill (\d+)", a.get("error", {}).get("message", ""))
    return (status, a["error"]["code"], found.group(1), *map(int, found.groups()[1:])) if found else (status, a)


short = [server.ask(CHAT, chat("long " * n, max_tokens=1))[1] for n in (10, 20)]
ten, twenty = (a["usage"]["prompt_tokens"] for a in short)
limit = short[0]["figures"]["context_limit_tokens"]
for what, path, body, name, count in (("a message", CHAT, chat("long " * 3000), "prompt", ten + 299 * (twenty - ten)), ("in a stream", CHAT, chat("long " * 3000, stream=True), "prompt", ten + 299 * (twenty - ten)),
                                      ("numbers of tokens", TEXT, {"prompt": [5] * limit, "max_tokens": 1}, "prompt", limit), ("an input", EMBED, {"input": [5] * (limit + 3)}, "input", limit + 3)):
    a = too_long(path, body)
    tap.ok(a == (400, "context_length_exceeded", name, count, limit, limit - 1), f"{what} that is too long: its tokens, and how many fit, in words that clients recognize", a)
tap.ok(server.ask(TEXT, {"prompt": [5] * (limit - 1), "max_tokens": 1})[0] == 200, "a prompt of as many tokens as the limit is accepted")

# Keywords that the grammar does not enforce are checked, and the reply is made again; if no reply satisfies them, that is an error.
def held(schema, **more):
    return server.ask(CHAT, chat("Set the light.", response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}, **more))


odd = {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 2, "maxItems": 2, "uniqueItems": True}
got = [held(odd, temperature=1.5, seed=i, max_tokens=150) for i in range(12)]
tap.ok(all(s == 200 and len(set(json.loads(said(a)))) == 2 and "/uniqueItems" in a["warnings"][0] or s == 500 and a["error"]["code"] == "schema_not_satisfied" for s, a in got) and
       sum(s == 200 for s, a in got) > 8, "a reply that does not satisfy its schema is made again", got)
status, a = held({"type": "integer", "minimum": 0, "maximum": 9, "not": {"minimum": 0}}, temperature=0)
tap.ok(status == 500 and a["error"]["code"] == "schema_not_satisfied" and "/not of the schema" in a["error"]["message"] and "4 tries" in a["error"]["message"],
       "a schema that four tries do not satisfy is an error", a)
pair = {"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "items": {"const": 1}, "minItems": 2, "maxItems": 2, "uniqueItems": True}}}
status, a = held(pair, temperature=0, max_tokens=14)
tap.ok(status == 500 and a["error"]["code"] == "schema_not_satisfied", "a reply that max_tokens completed is an error if its schema is not satisfied", a)
status, a = held({**pair, "required": ["a", "b"]}, temperature=0, max_tokens=4)
tap.ok(status == 200 and a["choices"][0]["finish_reason"] == "length" and "/uniqueItems" in a["warnings"][0], "a cut reply is not checked", a)

# The scores of thousands of tokens are megabytes of JSON, which another thread writes, because the server's own thread has to answer other callers.
def ticks():
    with open(f"/proc/{server.process.pid}/task/{server.process.pid}/stat") as f:
        return sum(int(n) for n in f.read().rsplit(")", 1)[1].split()[11:13])


before = ticks()
status, a = held({"type": "string", "minLength": 1500}, temperature=1.5, n=8, logprobs=True, top_logprobs=20, max_tokens=480)
spent = (ticks() - before) / os.sysconf("SC_CLK_TCK")
tap.ok(status == 200 and len(a["choices"]) == 8 and spent < 0.2, "a large answer does not delay other callers", (status, spent))

# A check that takes long, because each of these schemas names the next one twice. Others are answered meanwhile.
twice = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(30)}
slow = {"type": "integer", "minimum": 0, "maximum": 9, "not": {"allOf": [{"$ref": "#/$defs/a0"}, {"minimum": 100}]}, "$defs": {**twice, "a30": {"minimum": 0}}}
checked = []
asker = threading.Thread(target=lambda: checked.append(held(slow, n=8)))
asker.start()
waits, begin = [], time.monotonic()
while asker.is_alive():
    waits.append(-time.monotonic())
    server.ask("/health")
    waits[-1] += time.monotonic()
    time.sleep(0.005)
tap.ok(checked[0][0] == 200 and (spent := time.monotonic() - begin) > 0.2 and max(waits) < max(0.75, spent / 2), f"checks of {spent:.1f} s, and others wait {max(waits) * 1000:.0f} ms at most", checked[0][1])
rows, last = events(held(odd, temperature=1.5, seed=5, stream=True)[1])
streamed = "".join(r["choices"][0]["delta"].get("content", "") for r in rows if r.get("choices"))
tap.ok(last == "[DONE]" and len(set(json.loads(streamed))) == 2 and "/uniqueItems" in rows[-1]["warnings"][0], "a stream reports a schema that is not satisfied in the same way", rows)
calls = [{"type": "function", "function": {"name": n, "parameters": {"type": "object", "properties": {"v": {"enum": [1, 2]}}, "required": ["v"]}}} for n in ("one", "two")]
rows, last = events(server.ask(CHAT, chat("Light, please.", tools=calls, tool_choice="required", parallel_tool_calls=True, temperature=1.5, seed=3, max_tokens=400, stream=True))[1])
parts = [c for r in rows if r.get("choices") for c in r["choices"][0]["delta"].get("tool_calls", [])]
whole = {i: "".join(p["function"].get("arguments", "") for p in parts if p["index"] == i) for i in {p["index"] for p in parts}}
tap.ok(len(whole) > 1 and all(json.loads(w)["v"] in (1, 2) for w in list(whole.values())[:-1]) and len({p["id"] for p in parts if "id" in p}) == len(whole),
       "a stream can have several calls", rows)

# Several prompts, tokens, dimensions.
status, a = server.ask(TEXT, {"prompt": ["Once upon", "The sun"], "max_tokens": 4, "temperature": 0, "n": 2})
alone = [server.ask(TEXT, {"prompt": p, "max_tokens": 4, "temperature": 0})[1] for p in ("Once upon", "The sun")]
tap.ok(status == 200 and [c["index"] for c in a["choices"]] == [0, 1, 2, 3] and [c["text"] for c in a["choices"]] == [alone[i // 2]["choices"][0]["text"] for i in range(4)] and
       a["usage"]["prompt_tokens"] == sum(b["usage"]["prompt_tokens"] for b in alone) and a["usage"]["completion_tokens"] == 16,
       "the answer has a choice for each prompt and each n", a)
status, a = server.ask(TEXT, {"prompt": [[5, 9], [7, 8, 9]], "max_tokens": 2, "temperature": 0})
tap.ok(status == 200 and len(a["choices"]) == 2 and a["usage"]["prompt_tokens"] == 5 and server.ask(TEXT, {"prompt": [5, 9], "max_tokens": 2})[1]["usage"]["prompt_tokens"] == 2,
       "prompts can be tokens", a)
status, a = server.ask(TEXT, {"prompt": [5, 1 << 20], "max_tokens": 2})
tap.ok(status == 400 and a["error"]["param"] == "prompt" and "1048576" in a["error"]["message"], "an unknown token number is refused", a)
status, a = server.ask(EMBED, {"input": [[5, 9], [7]], "dimensions": 8})
whole = server.ask(EMBED, {"input": [5, 9]})[1]["data"][0]["embedding"]
scale = sum(x * x for x in whole[:8]) ** 0.5
tap.ok(status == 200 and [len(d["embedding"]) for d in a["data"]] == [8, 8] and all(abs(x - y / scale) < 1e-5 for x, y in zip(a["data"][0]["embedding"], whole)),
       "embeddings of tokens, cut to the length 1", a)
tap.ok(server.ask("/v1/models/" + os.path.basename(DEMO))[1]["object"] == server.ask("/models/" + os.path.basename(DEMO))[1]["object"] == "model" and server.ask("/v1/models/" + os.path.basename(DEMO)[:-6])[1]["owned_by"] == "ingot" and
       server.ask("/v1/models/gpt-4")[1]["error"]["code"] == "model_not_found", "/v1/models/NAME describes one model")

# Pages of other sites, and host names that point to this computer, are refused.
own = f"127.0.0.1:{server.port}"
for headers, want_status in (({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Origin": "http://localhost:1"}, 403),
                             ({"Host": "evil.example", "Origin": "http://evil.example"}, 403), ({"Host": "localhost.evil.example"}, 403),
                             ({"Origin": "http://" + own}, 200), ({"Host": "localhost:1"}, 200)):
    got = server.ask("/v1/models", headers=headers)[0], server.ask(CHAT, chat("x", max_tokens=1), headers=headers)[0]
    tap.ok(got == (want_status, want_status), f"{headers}: {want_status}", got)


# Callers disconnect: soon afterwards their slots are free.
def metrics():
    return {name: int(value) for name, value in re.findall(r"^(ingot_\w+) (\d+)$", server.ask("/metrics")[1], re.M)}


before = metrics()
for i in range(20):
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    c.request("POST", TEXT, json.dumps({"prompt": "Once upon a time", **LONG_REPLY, "stream": i % 2 == 0}))
    if i % 2 == 0:
        c.getresponse().read(10)
    c.close()
late, after = time.monotonic() + 60, metrics()
while time.monotonic() < late and (after["ingot_requests_total"] < before["ingot_requests_total"] + 20 or after["ingot_requests_waiting"] > 0):
    time.sleep(0.05)
    after = metrics()
tap.ok(after["ingot_requests_total"] == before["ingot_requests_total"] + 20 and after["ingot_requests_cancelled_total"] > before["ingot_requests_cancelled_total"] and
       after["ingot_requests_waiting"] == 0 and after["ingot_reply_tokens_total"] < before["ingot_reply_tokens_total"] + 20 * LONG_REPLY["max_tokens"],
       "replies of callers that have left end", (before, after))
tap.ok(said(server.ask(CHAT, chat(PROMPTS[0]))[1]) == want[PROMPTS[0]] and before["ingot_prompt_tokens_cached_total"] > 0 and before["ingot_passes_total"] > 50,
       "other replies continue when a caller is gone", before)


def resident():
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))


# Memory does not grow.
def many(n):
    c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for i in range(n):
        c.request("POST", CHAT, json.dumps(chat(PROMPTS[i % 10], max_tokens=1, stream=i % 3 == 0)))
        r = c.getresponse()
        r.read()
        if r.status != 200:
            return False
    c.close()
    return True


def crowd(n):
    threads = [threading.Thread(target=many, args=(n,)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(300)


LONG = os.environ.get("INGOT_LONG") == "1"
crowd(60)
start = resident()
crowd(2500 if LONG else 100)
grown = resident() - start
tap.ok(grown < 2048, f"{10000 if LONG else 400} further requests take {grown} KiB", grown)

# The server is ended while it computes a reply.
busy = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
busy.request("POST", TEXT, json.dumps({"prompt": "a", "max_tokens": 450, "temperature": 2, "min_p": 0, "top_k": 0, "top_p": 1, "stream": True}))
busy.getresponse().read(10)
status = server.end()
tap.ok(status == 0, "SIGTERM ends the server", status)

guarded = Server("--token", "secret")
got = [guarded.ask("/v1/models", headers=h)[0] for h in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer secre"}, {"Authorization": "Bearer secret1"},
                                                        {"Authorization": "secret"}, {"Authorization": "Bearer secret"}, {"Authorization": "Bearer secret", "Host": "board.example"})]
tap.ok(got == [401] * 5 + [200] * 2 and guarded.ask("/health")[0] == 200, "a request without the token is refused", got)
guarded.end()
tap.done()
