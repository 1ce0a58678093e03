#!/usr/bin/python3
"""A board on the network, in QEMU, and the parts of OpenAI's API beyond a reply: functions, forms, scores, several replies. The answers equal those
of `ingot serve` with the same model, because the same code reads requests and writes answers; a reply with a schema satisfies it. Without grammar=on
the board says what is missing."""

import http.client
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import HOST, ROOT, WORK, Tap, card_arguments, make_card
from net_board import IMAGE, NetBoard, reply_of
from talk import Console

tap = Tap()
MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
QUESTION = "What is 3 plus 4?"
OPTIONS = "temp=0 n=200 ids quiet term=plain net=dhcp,open"
LIGHT = {"type": "function", "function": {"name": "light", "parameters": {"type": "object", "required": ["on", "level"], "properties": {
    "on": {"type": "boolean"}, "level": {"type": "integer", "minimum": 0, "maximum": 9}}}}}
NOW = {"type": "function", "function": {"name": "now"}}
SCHEMA = {"type": "object", "required": ["name", "tags"], "properties": {
    "name": {"type": "string", "maxLength": 12}, "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2}, "left": {"type": "null"}}}
os.makedirs(WORK, exist_ok=True)


class Server:
    """`ingot serve` with the same model."""

    def __init__(self):
        self.child = subprocess.Popen([HOST, "serve", MODEL, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while (line := self.child.stdout.readline()):
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break

    def ask(self, method, path, body, wait=60):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=wait)
        try:
            c.request(method, path, json.dumps(body))
            r = c.getresponse()
            return r.status, r.read().decode()
        finally:
            c.close()


def ask(at, path="chat/completions", **more):
    body = {"temperature": 0, "max_tokens": 120, **more}
    if path == "chat/completions":
        body = {"messages": [{"role": "user", "content": QUESTION}], **body}
    return at.ask("POST", "/v1/" + path, body)


def choices(answer):
    return json.loads(answer[1])["choices"] if answer[0] == 200 else answer


def calls(answer):
    """Name and arguments of each call, if the answer consists only of calls."""
    try:
        c = choices(answer)[0]
        m = c["message"]
        return c["finish_reason"] == "tool_calls" and m["content"] is None and all(t["id"] and t["type"] == "function" for t in m["tool_calls"]) and [
            (t["function"]["name"], json.loads(t["function"]["arguments"])) for t in m["tool_calls"]]
    except (ValueError, KeyError, TypeError) as e:
        return str(e)


def is_light(call):
    name, a = call
    return name == "light" and set(a) == {"on", "level"} and type(a["on"]) is bool and a["level"] in range(10)


def events(answer):
    lines = [line[6:] for line in answer[1].split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"] if lines and lines[-1] == "[DONE]" else []


def check_calls(net):
    answer = ask(net, tools=[LIGHT, NOW], tool_choice={"type": "function", "function": {"name": "light"}})
    said = calls(answer)
    tap.ok(isinstance(said, list) and len(said) == 1 and is_light(said[0]), "a named function is called with arguments of its schema", str(answer))
    answer = ask(net, tools=[LIGHT, NOW], tool_choice="required")
    said = calls(answer)
    tap.ok(isinstance(said, list) and len(said) == 1 and (is_light(said[0]) or said[0] == ("now", {})),
           "tool_choice required calls one of the functions", str(answer))
    parts = [c for e in events(ask(net, tools=[LIGHT], tool_choice="required", stream=True)) for c in e["choices"]]
    tools = [t for p in parts for t in p["delta"].get("tool_calls", [])]
    tap.ok(parts and parts[-1]["finish_reason"] == "tool_calls" and tools and tools[0]["function"]["name"] == "light" and
           is_light(("light", json.loads("".join(t["function"]["arguments"] for t in tools)))), "a call is streamed", str(parts))
    plain, free = (choices(ask(net, **more)) for more in ({}, {"tools": [LIGHT], "tool_choice": "none"}))
    tap.ok(plain[0]["message"] == free[0]["message"] and plain[0]["finish_reason"] == "stop",
           "tool_choice none: the reply is that without functions", f"{plain} {free}")
    answer = net.ask("POST", "/v1/chat/completions", {"max_tokens": 8, "temperature": 0, "tools": [NOW], "messages": [
        {"role": "user", "content": QUESTION}, {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "ten"}]})
    tap.ok(answer[0] == 200, "the result of a call is sent back", str(answer))


def check_forms(net):
    answer = ask(net, response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}})
    made = json.loads(choices(answer)[0]["message"]["content"]) if answer[0] == 200 else {}
    tap.ok(isinstance(made.get("name"), str) and len(made["name"]) <= 12 and len(made.get("tags", "xxx")) <= 2 and set(made["tags"]) <= {"a", "b"} and
           set(made) <= {"name", "tags", "left"}, "a reply satisfies its schema", str(answer))
    answer = ask(net, response_format={"type": "json_object"})
    tap.ok(answer[0] == 200 and isinstance(json.loads(choices(answer)[0]["message"]["content"]), dict), "json_object gives an object", str(answer))
    answer = ask(net, response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "string", "pattern": "^a"}}})
    tap.ok(answer[0] == 200 and "pattern" in json.loads(answer[1])["warnings"][0], "keywords that are not enforced are in the warnings", str(answer))


def same(answers, what):
    """The answer without the parts that differ between servers: number, date, figures."""
    a, b = (json.loads(text) if status == 200 else (status, text) for status, text in answers)
    return isinstance(a, dict) and isinstance(b, dict) and all(a[k] == b[k] for k in ("object", "model", "choices")), f"{what}\n{answers[0]}\n{answers[1]}"


def check_missing(net, server):
    """Each page of `ingot serve` works on a board, or is refused with OpenAI's error object."""
    chat = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1}
    works = [("GET", "/", None), ("GET", "/health", None), ("GET", "/v1/models", None), ("POST", "/v1/chat/completions", chat), ("POST", "/chat/completions", chat),
             ("POST", "/v1/completions", {"prompt": "x", "max_tokens": 1}), ("POST", "/v1/embeddings", {"input": "x"})]
    no = [("POST", path, {}) for path in ("/v1/responses", "/v1/messages", "/v1/messages/count_tokens", "/api/chat", "/api/generate", "/api/show", "/api/embed", "/v1/files")] + \
         [("GET", path, None) for path in ("/api/tags", "/api/version", "/api/ps", "/metrics", "/boards", "/v1/responses/x", "/ws")]
    seen = [(path, server.ask(method, path, body)[0], net.ask(method, path, body)) for method, path, body in works]
    tap.ok(all(there == here[0] == 200 for _, there, here in seen), "pages of `ingot serve` that a board has", "\n".join(str(s)[:200] for s in seen))
    seen = [(path, net.ask(method, path, body)) for method, path, body in no]
    tap.ok(all(a[0] == 404 and json.loads(a[1])["error"].keys() == {"message", "type", "param", "code"} and json.loads(a[1])["error"]["type"] == "invalid_request_error"
               for _, a in seen), "pages that it does not have are refused with OpenAI's error object", "\n".join(str(s)[:200] for s in seen))


def check_same(net, server):
    """Requests to which `ingot serve` and the board must give the same answer."""
    for what, path, more in (
            ("a reply", "chat/completions", {}),
            ("its scores", "chat/completions", {"logprobs": True, "top_logprobs": 3, "max_tokens": 6}),
            ("scores of a text", "completions", {"prompt": "Once upon", "logprobs": 2, "max_tokens": 5}),
            ("several texts, which are repeated", "completions", {"prompt": ["Once upon", "The fox"], "echo": True, "max_tokens": 5}),
            ("two replies", "chat/completions", {"n": 2, "seed": 5, "temperature": 1, "max_tokens": 8}),
            ("a string that ends it", "chat/completions", {"stop": [" 7", "zzz"]}),
            ("biases", "chat/completions", {"logit_bias": {"7": -100, "8": 5}, "max_tokens": 8}),
            ("a seed of 64 bits", "chat/completions", {"seed": 2**64 - 1, "temperature": 1, "max_tokens": 8})):
        answers = [ask(at, path, **more) for at in (net, server)]
        if path == "chat/completions" and what == "its scores":  # a line carries whole characters, not bytes
            answers = [(s, re.sub(r'"bytes":(null|\[[0-9,]*\])', '"bytes":0', t)) for s, t in answers]
        good, why = same([(s, t.replace(',"refusal":null}', "}")) for s, t in answers], what)
        tap.ok(good, "as `ingot serve` answers: " + what, why)
    stream = [events(ask(at, stream=True, logprobs=True, max_tokens=6, stream_options={"include_usage": True})) for at in (net, server)]
    text, scores = (["".join(c["delta"].get("content") or "" for e in s for c in e["choices"]) for s in stream],
                    [[t["logprob"] for e in s for c in e["choices"] if c["logprobs"] for t in c["logprobs"]["content"]] for s in stream])
    tap.ok(text[0] and text[0] == text[1] and len(scores[0]) == 6 and scores[0] == scores[1], "as `ingot serve` answers: a stream with scores", f"{text} {scores}")
    for what, more in (("embeddings", {}), ("embeddings of fewer dimensions as bytes", {"dimensions": 16, "encoding_format": "base64"})):
        board, serve = (at.ask("POST", "/v1/embeddings", {"input": ["a fox", "an owl and a boat"], **more}) for at in (net, server))
        a, b = (json.loads(text) if status == 200 else {"data": text} for status, text in (board, serve))
        tap.ok(len(a["data"]) == 2 and a["data"] == b["data"] and a["usage"] == b["usage"] and a["usage"]["prompt_tokens"] > 4, "as `ingot serve` answers: " + what,
               f"{board}\n{serve}")
    for what, more in (("an unknown field", {"unheard_of": 1}), ("a value beyond its bounds", {"presence_penalty": 3}), ("an unknown type", {"tools": [{"type": "web"}]}),
                       ("no such function", {"tools": [NOW], "tool_choice": {"type": "function", "function": {"name": "then"}}}), ("strings", {"stop": 3})):
        board, serve = (ask(at, **more) for at in (net, server))
        tap.ok(board[0] == serve[0] == 400 and json.loads(board[1]) == json.loads(serve[1]), "as `ingot serve` refuses: " + what, f"{board}\n{serve}")


if not os.path.exists(IMAGE):
    tap.skip("functions and forms on a board", "lwIP's source is not there: make setup-tests, then make test-images")
else:
    net, card, server = NetBoard(), card_arguments(make_card("net-tools.img", MODEL)), Server()
    with Console(net, OPTIONS + " grammar=on", card) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        said = reply_of(c.say(QUESTION))
        check_calls(net)
        check_forms(net)
        check_same(net, server)
        check_missing(net, server)
        tap.ok(said in c.say("/reset") + c.say(QUESTION), "replies on the line have no grammar", c.seen)
    with Console(net, OPTIONS, card) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        status, text = ask(net, tools=[NOW], tool_choice="required")
        tap.ok(status == 400 and json.loads(text)["error"]["param"] == "tools" and "grammar=on" in text, "without memory for grammars the error says so", text)
        tap.ok(ask(net)[0] == 200, "without memory for grammars, other requests are answered")
    with Console(net, OPTIONS + " together=3", card) as c:  # the same requests, in passes that clients share
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        check_same(net, server)
    server.child.terminate()
    server.child.wait()
tap.done()
