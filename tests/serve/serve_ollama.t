#!/usr/bin/python3
"""`ingot serve` and Ollama's API: /api/chat and /api/generate as lines and whole, /api/embed, the pages that clients ask for first; the same replies
as chat completions; errors in Ollama's form. Python's package ollama, if installed, gets the same replies."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import Tap
from served import Served, packages

QUESTION = "What is 7 plus 8?"
USER = [{"role": "user", "content": QUESTION}]
COLD = {"options": {"temperature": 0}}
LAMP = {"type": "function", "function": {"name": "lamp", "description": "A lamp", "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}}}
SCHEMA = {"type": "object", "properties": {"light": {"enum": ["red", "blue"]}, "on": {"type": "boolean"}}, "required": ["light", "on"]}
DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
tap = Tap()
server = Served()
if not server.there:
    tap.skip("Ollama's API", "node-llhttp or libwslay-dev is not installed")
    tap.done()
    sys.exit(0)


def ask(path, body):
    return server.ask("/api/" + path, {"model": "m", "stream": False, **body})


def lines(path, body):
    status, fields, text = server.answer("/api/" + path, {"model": "m", **body})
    return status, fields.get("content-type"), [json.loads(line) for line in text.split("\n") if line]


def completion(messages, **more):
    return server.ask("/v1/chat/completions", {"messages": messages, "temperature": 0, **more})[1]


want = completion(USER)
text = want["choices"][0]["message"]["content"]

# Clients request these pages first.
status, tags = server.ask("/api/tags")
status2, running = server.ask("/api/ps")
status3, version = server.ask("/api/version")
status4, shown = ask("show", {"model": "whatever"})
one = tags["models"][0]
tap.ok(status == 200 == status2 and one["name"] == one["model"] == "demo-q8_0.ingot" and one["size"] > 1e6 and len(one["digest"]) == 64 and "T" in one["modified_at"] and
       running["models"][0]["context_length"] == 512, "the known models and the loaded ones are listed", (tags, running))
tap.ok(status3 == 200 == status4 and [int(n) for n in version["version"].split(".")] >= [0, 6, 4] and version["ingot"] and "tools" in shown["capabilities"] and
       shown["model_info"][shown["model_info"]["general.architecture"] + ".context_length"] == 512, "the version and a model are shown", (version, shown))
plain = server.answer("/", headers={"User-Agent": "ollama-python/0.6.3"})
head = server.answer("/", method="HEAD", headers={"User-Agent": "ollama/0.12.6 (amd64 linux)"})
page = server.answer("/")
tap.ok(plain[2] == "Ollama is running" and head[0] == 200 and "<html" in page[2].lower() and "content-security-policy" in page[1],
       "/ answers Ollama's clients, and gives others the page", plain)

# Chats.
status, whole = ask("chat", {"messages": USER, **COLD})
tap.ok(status == 200 and whole["message"] == {"role": "assistant", "content": text} and whole["done"] is True and whole["done_reason"] == "stop" and
       whole["eval_count"] == want["usage"]["completion_tokens"] and whole["prompt_eval_count"] == want["usage"]["prompt_tokens"] and
       all(isinstance(whole[d], int) and whole[d] >= 0 for d in DURATIONS) and whole["created_at"].endswith("Z"),
       "a chat equals that of chat completions", whole)
status, kind, rows = lines("chat", {"messages": USER, **COLD})
tap.ok(status == 200 and kind == "application/x-ndjson" and "".join(r["message"]["content"] for r in rows) == text and all(not r["done"] for r in rows[:-1]) and
       rows[-1]["done"] and rows[-1]["done_reason"] == "stop" and rows[-1]["eval_count"] == whole["eval_count"], "a chat is a stream of lines by default", rows)
status, cut = ask("chat", {"messages": USER, "options": {"temperature": 0, "num_predict": 3}})
tap.ok(status == 200 and cut["done_reason"] == "length" and cut["eval_count"] == 3, "num_predict limits the reply", cut)
history = [{"role": "system", "content": "You are a cat."}, {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!", "thinking": "Hm."}, *USER]
tap.ok(ask("chat", {"messages": history, **COLD})[1]["message"]["content"] == completion(
    [{k: v for k, v in m.items() if k != "thinking"} for m in history])["choices"][0]["message"]["content"], "a conversation continues")
every = {"temperature": 1.2, "top_p": 0.9, "top_k": 40, "min_p": 0.01, "seed": 3, "num_predict": -2, "num_ctx": 4096, "repeat_penalty": 1.1, "stop": ["zzz"], "num_keep": 4,
         "typical_p": 1, "tfs_z": 1.0, "mirostat": 0, "repeat_last_n": 64, "num_thread": 2, "num_gpu": 1, "use_mmap": True}
warm = [ask("chat", {"messages": USER, "options": {**every, "seed": s}})[1]["message"]["content"] for s in (3, 3)]
same = completion(USER, temperature=1.2, top_p=0.9, top_k=40, min_p=0.01, seed=3, max_tokens=-1, repeat_penalty=1.1, repeat_last_n=64, stop=["zzz"])
tap.ok(warm[0] == warm[1] == same["choices"][0]["message"]["content"], "options are the settings of the same name", (warm, same))
status, a = ask("chat", {"messages": [], "keep_alive": -1})
tap.ok(status == 200 and a["done"] and a["done_reason"] == "load" and a["message"]["content"] == "", "no messages load the model", a)

# Functions: their arguments are objects.
status, one = ask("chat", {"messages": [{"role": "user", "content": "Light"}], "tools": [LAMP], "tool_choice": "required", **COLD})
call = one["message"]["tool_calls"][0]
tap.ok(status == 200 and call["function"]["name"] == "lamp" and isinstance(call["function"]["arguments"]["on"], bool) and one["message"]["content"] == "",
       "a function is called", one)
rows = lines("chat", {"messages": [{"role": "user", "content": "Light"}], "tools": [LAMP], "tool_choice": "required", **COLD})[2]
tap.ok([c["function"] for r in rows for c in r["message"].get("tool_calls", [])] == [call["function"]] and rows[-1]["done"], "a stream has the same call", rows)
back = [{"role": "user", "content": "Light"}, {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "lamp", "arguments": {"on": True}}}]},
        {"role": "tool", "tool_name": "lamp", "content": "the lamp is on"}]
told = [back[0], {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "lamp", "arguments": '{"on":true}'}}]}, {"role": "tool", "tool_call_id": "1", "content": "the lamp is on"}]
tap.ok(ask("chat", {"messages": back, "tools": [LAMP], **COLD})[1]["message"]["content"] == completion(told, tools=[LAMP])["choices"][0]["message"]["content"],
       "a call's result is sent back")

# Formats.
status, a = ask("chat", {"messages": USER, "format": SCHEMA, "options": {"temperature": 1.5}})
made = json.loads(a["message"]["content"])
status2, b = ask("generate", {"prompt": "x", "format": "json", "options": {"temperature": 0, "num_predict": 60}})
tap.ok(status == 200 == status2 and made["light"] in ("red", "blue") and b["response"].startswith("{"), "format takes a schema, and json", (a, b))

# Texts.
status, one = ask("generate", {"prompt": QUESTION, **COLD})
rows = lines("generate", {"prompt": QUESTION, **COLD})[2]
tap.ok(status == 200 and one["response"] == text == "".join(r["response"] for r in rows) and one["done"] and "message" not in one and rows[-1]["eval_count"] == one["eval_count"],
       "a prompt is a person's message", (one, rows))
tap.ok(ask("generate", {"prompt": QUESTION, "system": "You are a cat.", **COLD})[1]["response"] == completion(
    [{"role": "system", "content": "You are a cat."}, *USER])["choices"][0]["message"]["content"], "/api/generate takes a system prompt")
raw = server.ask("/v1/completions", {"prompt": "Once upon a time", "max_tokens": 12, "temperature": 0})[1]["choices"][0]["text"]
one = ask("generate", {"prompt": "Once upon a time", "raw": True, "options": {"temperature": 0, "num_predict": 12}})[1]
tap.ok(one["response"] == raw and one["done_reason"] == "length", "raw: a text is continued", one)
rows = lines("generate", {"prompt": ""})[2]
tap.ok(len(rows) == 1 and rows[0]["done_reason"] == "load" and rows[0]["response"] == "", "no prompt loads the model", rows)

# Embeddings.
status, a = ask("embed", {"input": ["a cat", "a dog"], "truncate": True, "options": {"num_ctx": 99}})
theirs = server.ask("/v1/embeddings", {"input": ["a cat", "a dog"]})[1]
old = ask("embeddings", {"prompt": "a cat"})[1]
tap.ok(status == 200 and a["embeddings"] == [d["embedding"] for d in theirs["data"]] and a["prompt_eval_count"] == theirs["usage"]["prompt_tokens"] and old["embedding"] == a["embeddings"][0] and
       len(ask("embed", {"input": "a cat", "dimensions": 8})[1]["embeddings"][0]) == 8, "embeddings have the new form and the old one", a)

# Unsupported fields are refused by name, in Ollama's form.
for name, path, body, words in (
        ("an image", "chat", {"messages": [{"role": "user", "content": "x", "images": ["aGk="]}]}, "messages[0].images"),
        ("an image beside a prompt", "generate", {"prompt": "x", "images": ["aGk="]}, "images is not supported"),
        ("a template", "generate", {"prompt": "x", "template": "{{ .Prompt }}"}, "template is not supported"),
        ("a context", "generate", {"prompt": "x", "context": [1, 2]}, "context is not supported"),
        ("a suffix", "generate", {"prompt": "x", "suffix": "y"}, "suffix is not supported"),
        ("an unknown field", "chat", {"messages": USER, "colour": 1}, "colour"),
        ("an unknown option", "chat", {"messages": USER, "options": {"colour": 1}}, "options.colour"),
        ("a temperature that is none", "chat", {"messages": USER, "options": {"temperature": -1}}, "options.temperature has to be"),
        ("a length that is none", "generate", {"prompt": "x", "options": {"num_predict": "y"}}, "options.num_predict has to be"),
        ("a sampler that is not here", "chat", {"messages": USER, "options": {"mirostat": 2}}, "options.mirostat is not supported by this server: leave it out, or set it to 0"),
        ("another sampler that is not here", "chat", {"messages": USER, "options": {"typical_p": 0.5}}, "or set it to 1"),
        ("options that are none", "chat", {"messages": USER, "options": 3}, "options has to be an object"),
        ("a format that is none", "chat", {"messages": USER, "format": "xml"}, "format has to be"),
        ("a role that is none", "chat", {"messages": [{"role": "cat", "content": "x"}]}, "messages[0]"),
        ("an answer without its call", "chat", {"messages": [*USER, {"role": "tool", "content": "x"}]}, "messages[1]"),
        ("no input", "embed", {}, "input"),
        ("no text", "embeddings", {"prompt": 3}, "prompt has to be"),
        ("a text that is too long", "chat", {"messages": [{"role": "user", "content": "x " * 2000}]}, "tokens")):
    status, a = ask(path, body)
    tap.ok(status == 400 and set(a) == {"error"} and words in a["error"], name + " is refused by its name", a)
status, a = server.ask("/api/pull", {"model": "x"})
tap.ok(status == 404 and "/api/tags" in a["error"], "an unknown page lists the known ones", a)
tap.ok(server.ask("/api/chat")[0] == 405 and server.ask("/api/tags", {"a": 1})[0] == 405 and server.ask("/api/chat", "{")[0] == 400,
       "wrong methods and an invalid body are refused")
guarded = Served("--token", "secret")
tap.ok(guarded.ask("/api/tags")[0] == 401 and guarded.ask("/api/tags", headers={"Authorization": "Bearer secret"})[0] == 200 and guarded.ask("/api/chat", {"messages": USER})[0] == 401 and
       server.ask("/api/tags", headers={"Origin": "http://evil.example"})[0] == 403 and server.ask("/api/tags", headers={"Host": "evil.example"})[0] == 403,
       "the token is required and pages of other sites are refused, as everywhere")
guarded.end()

# The package that programs use.
if packages("ollama"):
    import ollama
    client = ollama.Client(host=server.url)
    pieces = [p.message.content for p in client.chat("m", messages=USER, stream=True, options={"temperature": 0})]
    r = client.chat("m", messages=USER, options={"temperature": 0})
    tap.ok("".join(pieces) == text == r.message.content and r.done_reason == "stop" and client.generate("m", QUESTION, options={"temperature": 0}).response == text, "the package ollama chats")
    tap.ok(client.list().models[0].model == "demo-q8_0.ingot" and client.show("m").capabilities and client.ps().models and len(client.embed("m", ["a", "b"]).embeddings) == 2, "the package ollama lists and shows models")
    r = client.chat("m", messages=USER, format=SCHEMA)
    try:
        client.chat("m", messages=USER, options={"mirostat": 2})
        tap.ok(False, "the package ollama reports errors")
    except ollama.ResponseError as e:
        tap.ok(e.status_code == 400 and "mirostat" in e.error and json.loads(r.message.content)["light"], "the package ollama's formats and errors work", e)
else:
    tap.skip("the package ollama", "it is not in build/clients: make setup-tests")
tap.ok(server.end() == 0, "the server ends with status 0")
tap.done()
