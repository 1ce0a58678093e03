#!/usr/bin/python3
"""The fields of requests to `ingot serve`: each of OpenAI's and llama.cpp's fields is obeyed, accepted because it changes nothing, or refused by
name; null counts as absent, and the error for a wrong type names the field."""

import atexit
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import HOST, ROOT, Tap

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
CHAT, TEXT, EMBED = "/v1/chat/completions", "/v1/completions", "/v1/embeddings"
ASK = "What is 7 plus 8?"
tap = Tap()


class Server:
    def __init__(self, what=DEMO):
        self.process = subprocess.Popen([HOST, "serve", what, "--port", "0", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        found = re.search(r"http://127.0.0.1:(\d+)", self.process.stdout.readline())
        if not found:
            print(f"1..0 # SKIP {self.process.stderr.read()[:300]}")
            sys.exit(0)
        self.c = http.client.HTTPConnection("127.0.0.1", int(found.group(1)), timeout=60)

    def ask(self, path, body=None):
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        self.c.request("GET" if data is None else "POST", path, data)
        r = self.c.getresponse()
        text = r.read().decode()
        if r.will_close:
            self.c.close()
        return r.status, json.loads(text) if "json" in r.headers.get("content-type", "") else text

    def end(self):
        self.c.close()
        self.process.terminate()
        return self.process.wait(20)


def chat(text, **more):
    return {"messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 40, **more}


def said(answer):
    return answer["choices"][0]["message"]["content"].strip()


server = Server()


def reply(**more):
    status, a = server.ask(CHAT, chat(ASK, **more))
    return said(a) if status == 200 else (status, a)


def text(prompt="Once upon a time", **more):
    return server.ask(TEXT, {"prompt": prompt, "max_tokens": 12, "temperature": 0, **more})


def ids_of(**more):
    a = server.ask(CHAT, chat(ASK, logprobs=True, **more))
    return [t["id"] for t in a[1]["choices"][0]["logprobs"]["content"]] if a[0] == 200 else a


# ---- accepted: the reply is the same
plain = reply()
SAME = {
    "user": "a", "metadata": {"a": "b"}, "store": True, "service_tier": "auto", "verbosity": "low", "safety_identifier": "a", "prompt_cache_key": "k",
    "prompt_cache_retention": "24h", "prompt_cache_options": {"mode": "implicit", "ttl": "30m"}, "prediction": {"type": "content", "content": "x"}, "modalities": ["text"], "cache_prompt": True, "keep_alive": "5m", "id_slot": -1,
    "ignore_eos": False, "skip_special_tokens": True, "add_generation_prompt": True, "continue_final_message": False, "use_beam_search": False, "stop_token_ids": [], "best_of": 1, "echo": False, "top_a": 0, "priority": 1,
    "parallel_tool_calls": False, "reasoning_effort": "high", "n": 1, "top_p": 0, "top_k": -1, "min_p": 0, "typical_p": 1, "repeat_penalty": 1, "repetition_penalty": 1,
    "repeat_last_n": 64, "presence_penalty": 0, "frequency_penalty": 0, "logit_bias": {}, "logprobs": False, "top_logprobs": 0, "stop": "", "seed": -1, "max_tokens": -1,
    "stream": False, "mirostat": 0, "mirostat_tau": 5, "dynatemp_range": 0, "dry_multiplier": 0, "xtc_probability": 0, "tfs_z": 1, "top_n_sigma": -1, "n_probs": 0,
    "response_format": {"type": "text"}, "tool_choice": "none", "tools": [], "function_call": "none", "functions": [], "x_anything": 5, "model": "another-name", "min_tokens": 0}
others = {k: r for k, v in SAME.items() if (r := reply(**{k: v})) != plain}
tap.ok(not others and plain, f"{len(SAME)} fields and values that change nothing", others)
FIELDS = list(SAME) + ["max_completion_tokens", "n_predict", "temperature", "json_schema", "grammar", "think", "chat_template_kwargs", "stream_options", "audio", "web_search_options"]
others = {k: r for k in FIELDS if k not in ("x_anything", "temperature", "max_tokens") and (r := reply(**{k: None})) != plain}
tap.ok(not others, f"null counts as absent for {len(FIELDS)} fields", others)
nulls = [server.ask(TEXT, {"prompt": "a", "max_tokens": 2, "temperature": 0, f: None}) for f in ("best_of", "echo", "suffix", "logprobs", "logit_bias", "stop", "n", "seed", "user")]
nulls += [server.ask(EMBED, {"input": "a", f: None}) for f in ("dimensions", "encoding_format", "user", "model")]
tap.ok(all(s == 200 for s, _ in nulls), "null counts as absent on the other pages, too", [a for s, a in nulls if s != 200])

# ---- a conversation of instructions alone, and one without a message
alone = [{"role": "system", "content": ASK}]
told = [server.ask(CHAT, {"messages": m, "temperature": 0, "max_tokens": 20}) for m in (alone, [{"role": "developer", "content": ASK}])]
tap.ok([s for s, _ in told] == [200] * 2 and said(told[0][1]) == said(told[1][1]) != "", "a system prompt may be the only message", told)
status, a = server.ask(CHAT, {"messages": []})
tap.ok(status == 400 and a["error"]["param"] == "messages" and "messages has no message" in a["error"]["message"], "the error says that there is no message", a)

lost = [server.ask(CHAT, {"messages": [{"role": "user", "content": [part]}]}) for part in ({"type": "text"}, {"type": "text", "text": None}, {"type": "refusal"}, {}, 5)]
tap.ok(all(s == 400 and "part 0 of its content has no text" in a["error"]["message"] for s, a in lost), "the error for a part without a text does not blame its type", lost)

# ---- messages that OpenAI's packages send back as they got them from parse()
earlier = [{"role": "user", "content": ASK}, {"role": "assistant", "content": '{"on":true}'}, {"role": "user", "content": ASK}]
kept = {"parsed": {"on": True}, "refusal": None, "annotations": [], "audio": None, "function_call": None, "tool_calls": None}
a, b = (server.ask(CHAT, {"messages": [earlier[0], {**earlier[1], **more}, earlier[2]], "temperature": 0, "max_tokens": 20}) for more in ({}, kept))
tap.ok(a[0] == b[0] == 200 and said(a[1]) == said(b[1]), "a message of OpenAI's packages is taken back after parse()", [a, b])

# ---- wrong types, values out of range, and invalid values
WRONG = [(f, v) for f, values in {
    "user": (5, ["a"], {}), "metadata": ("a", [1]), "store": ("yes", 1), "service_tier": (1,), "verbosity": (1,), "safety_identifier": (1,), "prompt_cache_key": (1,),
    "prediction": ("x",), "modalities": ("text", ["audio"], ["text", "audio"], {}), "cache_prompt": ("yes",), "parallel_tool_calls": ("yes", 1), "reasoning_effort": (1, [], {}),
    "ignore_eos": (True, 0), "skip_special_tokens": (False,), "stop_token_ids": ([1], 5), "best_of": (2,), "echo": (True,), "top_a": (0.1,), "n": (0, -1, 9, 1.5, "1", True), "top_p": (-1, 1.1, "1"), "top_k": (-2, 1.5, "1"), "min_p": (-1, 1.1, "0"), "temperature": (-1, 101, "1", True), "typical_p": (0.5, "1"),
    "repeat_penalty": (0, 101, "1"), "repeat_last_n": (-2, 1.5, "1"), "presence_penalty": (-2.1, 2.1, "1", True, []), "frequency_penalty": (-2.1, 2.1, "1", [0]),
    "logit_bias": (5, "a", [5], [[5]], [[5, 1, 2]], [[5, "1"]], [[5, 101]], [[-1, 1]], [[1.5, 1]], [["", 1]], [[5, True]], {"5": 101}, {"5": "1"}, {"": 1}, {"5": None}, {"99999": 1},
                   {"99999999999999999999": 1}, [[99999, 1]], [[5, 1]] * 301, [["the " * 40, 1]]),
    "logprobs": (5, "yes"), "top_logprobs": (5, -1, 21, "1"), "stop": (5, [5], [None], ["x"] * 17, "x" * 64, {}), "seed": (1.5, "1", 1e20, True, []),
    "max_tokens": (0, -2, 1.5, "1", True), "max_completion_tokens": (0, -2, "1"), "stream": ("yes", 1), "stream_options": (1, [], {"include_usage": 1}, {"unheard_of": 1}),
    "mirostat": (2, "0"), "dry_multiplier": (0.5,), "response_format": (1, "text", {"type": "x"}), "tools": (1, "x", [1]), "tool_choice": (1, "x"),
    "functions": ([{"name": "f"}],), "audio": ({"voice": "x"},), "web_search_options": ({"search_context_size": "low"}, {}), "think": ("yes", 1), "chat_template_kwargs": (1,),
    "model": (1, []), "messages": (1, "x", {}), "unheard_of": (1, {}), "grammar": (1,),
}.items() for v in values]
others = []
for field, value in WRONG:
    status, a = server.ask(CHAT, {**chat(ASK), field: value})
    e = a.get("error", {}) if isinstance(a, dict) else {}
    if status != 400 or not str(e.get("param")).startswith(field) or field not in e.get("message", "") or e.get("type") != "invalid_request_error":
        others.append((field, value if len(str(value)) < 90 else "...", status, a))
tap.ok(not others, f"{len(WRONG)} values are refused: status 400 with the field in param and message", "\n".join(map(str, others)))
status, a = server.ask(CHAT, chat(ASK, metadata=json.loads('{"a":' * 900 + "1" + "}" * 900)))
status2, b = server.ask(CHAT, '{"messages":' + "[" * 1000 + "]" * 1000 + "}")
tap.ok(status == 200 and status2 == 400 and "nested more than 1000 deep" in b["error"]["message"], "a body that is nested too deep is refused as such, and not as invalid JSON", (status, b))
WRONG = [(TEXT, f, v) for f, values in {
    "best_of": (2, 0, "1", True), "echo": ("yes", 1), "suffix": ("end", 1), "logprobs": (21, -1, True), "prompt": (1.5, {}, "", [""], [[]], [[1, "a"]], [1.5], [-1], [99999], None),
    "logit_bias": ({"5": 101},), "messages": ([],)}.items() for v in values]
WRONG += [(EMBED, f, v) for f, values in {
    "dimensions": (0, -1, 1.5, "1", 1 << 19), "encoding_format": (1, "x"), "input": (1.5, {}, "", [], [""], [[]], [[99999]], [1, "a"], None), "user": (1,)}.items() for v in values]
others = []
for page, field, value in WRONG:
    body = {"prompt": "a", "max_tokens": 2} if page == TEXT else {"input": "a"}
    status, a = server.ask(page, {**body, field: value})
    e = a.get("error", {}) if isinstance(a, dict) else {}
    if status != 400 or e.get("param") != field or field not in e.get("message", ""):
        others.append((page, field, value, status, a))
tap.ok(not others, f"{len(WRONG)} values on the other pages are refused, too", "\n".join(map(str, others)))
none = [server.ask(page, {field: []})[1]["error"]["message"] for page, field in ((TEXT, "prompt"), (EMBED, "input"))] + [server.ask("/api/embed", {"input": []})[1]["error"]]
tap.ok(all("a list is empty" in text for text in none), "the error for an empty list does not say that the field is missing", none)
status, a = server.ask(TEXT, {"prompt": "a", "echo": True, "logprobs": 1})
tap.ok(status == 400 and a["error"]["param"] == "echo", "echo works with logprobs", a)

# ---- schemas that have a list in place of an object: the names of its members are not there
def form(schema, **more):
    return {"type": "json_schema", "json_schema": {"name": "n", "schema": schema, **more}}


LISTS = ({"type": "object", "properties": ["a"], "required": ["a"]}, {"type": "object", "properties": [[], {}]}, {"type": "object", "properties": {"a": {"type": "null"}}, "patternProperties": [{}]},
         {"type": "object", "patternProperties": ["a", "b"], "additionalProperties": False}, {"anyOf": [{"type": "object", "patternProperties": [{}], "minProperties": 1}, {"not": {"patternProperties": [{}]}}]})
told = [server.ask(CHAT, chat(ASK, response_format=form(schema))) for schema in LISTS]
tap.ok(all(s == 200 and any("roperties" in w for w in a["warnings"]) or s == 500 and "schema" in a["error"]["message"] for s, a in told), "a list in place of a schema's properties is ignored with a warning", told)
told = [server.ask(CHAT, chat(ASK, response_format=form(schema, strict=True)))[0] for schema in LISTS[:3]] + [server.ask(CHAT, chat(ASK, tools=[{"type": "function", "function": {"name": "f", "parameters": LISTS[0], "strict": True}}]))[0]]
tap.ok(told == [400] * 4, "strict refuses it", told)

# ---- biases
greedy = ids_of()
first = greedy[0]
forms = [{str(first): -100}, [[first, -100]], [[first, False]], {str(first): False}]
banned = [ids_of(logit_bias=b) for b in forms]
tap.ok(all(b == banned[0] and first not in b for b in banned) and banned[0] != greedy,
       "a banned token does not occur, in four forms of logit_bias", [greedy, banned])
raised = ids_of(logit_bias={str(greedy[2]): 100}, max_tokens=5)
tap.ok(raised == [greedy[2]] * 5, "a raised token occurs", raised)
whole = reply()
word = next(w for w in whole.split() if w.isalpha())
tokens = [t["token"] for t in server.ask(CHAT, chat(ASK, logprobs=True))[1]["choices"][0]["logprobs"]["content"]]
piece = next(t for t in tokens if t.strip() == word)
tap.ok(word not in reply(logit_bias=[[piece, False]]).split() and word not in reply(logit_bias={piece: -100}).split(),
       "a text in logit_bias stands for its tokens", [whole, reply(logit_bias=[[piece, False]])])
a = server.ask(CHAT, chat(ASK, logprobs=True, logit_bias={str(first): 3}))[1]["choices"][0]["logprobs"]["content"]
b = server.ask(CHAT, chat(ASK, logprobs=True))[1]["choices"][0]["logprobs"]["content"]
tap.ok([t["logprob"] for t in a] == [t["logprob"] for t in b], "logprobs are the model's, without the bias", [a[:2], b[:2]])
tap.ok(ids_of() == greedy, "the next request has no bias")
n = server.ask(CHAT, chat(ASK, n=3, temperature=1.5, seed=4, logprobs=True, logit_bias={str(first): -100}, top_k=0, top_p=1, min_p=0))[1]["choices"]
drawn = [[t["id"] for t in c["logprobs"]["content"]] for c in n]
tap.ok(all(first not in d for d in drawn) and len({tuple(d) for d in drawn}) > 1, "the bias applies to each of n replies", drawn)
yes = {s: server.ask(TEXT, {"prompt": "Is it?", "max_tokens": 4, "temperature": 0, "grammar": "yes|no", "logit_bias": [[s, 50]]})[1]["choices"][0]["text"] for s in ("yes", "no")}
only = server.ask(TEXT, {"prompt": "Is it?", "max_tokens": 4, "grammar": 'root ::= "yes"', "logit_bias": [["yes", False], ["y", False]]})[1]["choices"][0]["text"]
tap.ok(yes["yes"] == "yes" and yes["no"] == "no" and only == "yes", "a grammar's choice follows it, and a grammar without another choice wins", [yes, only])

# ---- penalties
two = {"logit_bias": {str(greedy[1]): 100, str(greedy[2]): 100}, "max_tokens": 12}
without, fair = ids_of(**two), ids_of(**two, frequency_penalty=2)
counts = [fair.count(i) for i in set(fair)]
tap.ok(set(fair) == {greedy[1], greedy[2]} and set(without) <= set(fair), "frequency: the more often, the less likely", [without, fair])
story = {"prompt": "Once upon a time", "max_tokens": 60, "temperature": 0, "logprobs": 0}
kinds = [len(set(server.ask(TEXT, {**story, **p})[1]["choices"][0]["logprobs"]["tokens"])) for p in ({}, {"presence_penalty": 2, "frequency_penalty": 2}, {"presence_penalty": -2, "frequency_penalty": -2})]
tap.ok(kinds[1] > kinds[0] > kinds[2], "penalties give more different tokens, negative ones fewer", kinds)
one = server.ask(TEXT, {"prompt": "a", "max_tokens": 1, "temperature": 0, "logprobs": 0})[1]["choices"][0]["logprobs"]
often = " ".join(["a"] * 30) + one["tokens"][0] * 3
alike = [server.ask(TEXT, {"prompt": often, "max_tokens": 1, "temperature": 0, **p})[1]["choices"][0]["text"] for p in ({}, {"presence_penalty": 2, "frequency_penalty": 2})]
tap.ok(alike[0] == alike[1], "tokens of the prompt do not count for penalties", alike)
lasts = [text(repeat_penalty=1.8, repeat_last_n=n, max_tokens=40)[1]["choices"][0]["text"] for n in (0, 1, 64, -1)]
tap.ok(lasts[0] == text(max_tokens=40)[1]["choices"][0]["text"] and lasts[0] != lasts[2], "repeat_last_n 0 turns repeat_penalty off", lasts)
status, a = server.ask(CHAT, chat(ASK, presence_penalty=1.5, frequency_penalty=0.5, stream=True))
streamed = "".join(json.loads(line[6:])["choices"][0]["delta"].get("content", "") for line in a.split("\n\n") if line.startswith("data: {"))
tap.ok(streamed.strip() == reply(presence_penalty=1.5, frequency_penalty=0.5), "streamed, too", streamed)

# ---- seeds, stops, lists
hot = {"temperature": 2, "top_k": 0, "top_p": 1, "min_p": 0, "max_tokens": 12}
big = [text(**hot, seed=s)[1]["choices"][0]["text"] for s in (2**53, 2**53 + 1, 2**63 - 1, -(2**63), -5, 2**64 - 5, 2**64 - 1)]
again = [text(**hot, seed=s)[1]["choices"][0]["text"] for s in (2**53, 2**53 + 1, 2**63 - 1, -(2**63), -5, 2**64 - 5, 2**64 - 1)]
tap.ok(big == again and len(set(big)) == 6 and big[4] == big[5], "all 64 bits of a seed count; -5 is the same as 2^64 - 5", big)
tap.ok(len({text(**hot, seed=-1)[1]["choices"][0]["text"] for _ in range(4)}) > 1, "a seed of -1 is random")
letters = list("abcdefghijklmnop")
stops = [reply(stop=s) for s in (letters, ["", "zzz"], [], ["zz", "", "zy", "zx", "zw", "zv"])]
tap.ok(not any(c in stops[0] for c in letters) and stops[1:] == [plain] * 3, "up to 16 stop strings; empty ones end nothing", stops)
status, a = text(["Once upon a time", "Hello"], n=2, best_of=2, echo=True)
texts = [c["text"] for c in a["choices"]]
tap.ok(status == 200 and [c["index"] for c in a["choices"]] == [0, 1, 2, 3] and all(t.startswith(p) and len(t) > len(p) for t, p in
       zip(texts, ["Once upon a time"] * 2 + ["Hello"] * 2)) and texts[0] == "Once upon a time" + text()[1]["choices"][0]["text"],
       "echo: each choice begins with its prompt; best_of that is n", a)
status, a = server.ask(TEXT, {"prompt": "Hello", "max_tokens": 5, "temperature": 0, "echo": True, "stream": True})
streamed = "".join(json.loads(line[6:])["choices"][0]["text"] for line in a.split("\n\n") if line.startswith("data: {"))
tap.ok(streamed == text("Hello", max_tokens=5, echo=True)[1]["choices"][0]["text"] != "", "streamed, too", streamed)
likely = server.ask(CHAT, chat(ASK, logprobs=True, top_logprobs=20, max_tokens=2))[1]["choices"][0]["logprobs"]["content"]
tap.ok(all(len(t["top_logprobs"]) == 20 for t in likely), "logprobs has up to 20 of the likeliest tokens", likely[:1])
ids = [1, 20, 30, 40]
lists = [text(ids), text([ids, ids[:2]]), server.ask(EMBED, {"input": ids}), server.ask(EMBED, {"input": [ids, ids[:2]], "dimensions": 5})]
tap.ok([s for s, _ in lists] == [200] * 4 and [len(a["choices"]) for _, a in lists[:2]] == [1, 2] and lists[2][1]["data"][0]["embedding"] and
       [len(d["embedding"]) for d in lists[3][1]["data"]] == [5, 5], "prompts can be token numbers, and lists of them", [a for s, a in lists if s != 200])
tap.ok(server.ask("/v1/models/demo-q8_0")[0] == server.ask("/v1/models/demo-q8_0.ingot")[0] == 200 and server.ask("/v1/models/other")[0] == 404 and
       all(server.ask(CHAT, chat(ASK, model=m))[0] == 200 for m in ("gpt-4o", "", "org/model:tag")),
       "/v1/models/NAME finds the model; any name is accepted in a request")

# ---- through a board's line

def pump(line, out, older):
    for event in out:
        try:
            line.sendall(event.replace(b',"penalties":true', b"") if older else event)
        except OSError:
            return


def board(listener, older):
    """Each connection of the server gets a board of its own. older: the board has an older version, which does not know
    penalties."""
    while True:
        line = listener.accept()[0]
        p = subprocess.Popen([HOST, "chat", DEMO, "--json"], stdin=line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        atexit.register(p.kill)
        threading.Thread(target=pump, args=(line, p.stdout, older), daemon=True).start()


def board_server(older):
    path = os.path.join(tempfile.mkdtemp(), "line")
    threading.Thread(target=board, args=(socket.create_server(path, family=socket.AF_UNIX), older), daemon=True).start()
    return Server("unix:" + path)


told = [t["id"] for t in server.ask(CHAT, chat("Tell me a story about a cat.", logprobs=True))[1]["choices"][0]["logprobs"]["content"]]
ASKED = ({"presence_penalty": 1.5, "frequency_penalty": 0.5}, {"repeat_penalty": 1.6, "repeat_last_n": 5}, {"logit_bias": {str(told[8]): -100}}, {"logit_bias": [[piece, False], [told[7], -20.5]]}, {})


def stories():
    return [said(server.ask(CHAT, chat("Tell me a story about a cat.", **a))[1]) for a in ASKED]


here = stories()
numbered = [text(p)[1]["choices"][0]["text"] for p in (ids, [1] + ids, "Once upon a time")]
tap.ok(server.end() == 0, "the server ends")
server = board_server(False)
there = stories()
tap.ok(here == there and len(set(here)) > 3, "a board's replies are the same, and a setting applies only to its request", [here, there])
there = [text(p)[1]["choices"][0]["text"] for p in (ids, [1] + ids, "Once upon a time")]
tap.ok(numbered == there, "a program's settings are numbers of tokens, too", [numbered, there])
status, a = server.ask(CHAT, {"messages": alone, "temperature": 0, "max_tokens": 20})
tap.ok(status == 200 and said(a), "a board, too, accepts a system prompt as the only message", a)
errors = [reply(logit_bias=[[99999, 1]]), reply(stop=list("abcde")), text([5, 99999]), server.ask(EMBED, {"input": [1, 2]})]
tap.ok([e[0] for e in errors] == [400] * 4 and [e[1]["error"]["param"] for e in errors] == ["logit_bias", "stop", "prompt", "input"], "an unsupported field is refused by name", errors)
server.end()
server = board_server(True)
errors = [reply(**a) for a in ASKED]
tap.ok(errors[4] == plain and [e[1]["error"]["param"] for e in errors[:4]] == ["presence_penalty", "repeat_last_n", "logit_bias", "logit_bias"],
       "a board of an older version does not get unknown fields", errors)
server.end()
tap.done()
