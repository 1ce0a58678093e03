#!/usr/bin/python3
"""Names from outside cannot forge a line of output. Names of files, folders, models, adapters, tensors, options and metadata contain line
feeds, escape sequences, and marks that reverse or hide text. Every command prints such a name within one line, in its output, errors, log,
JSON and metrics."""

import atexit
import http.client
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import Gguf, tiny
from machine import ASSETS, HOST, ROOT, WORK, Tap

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
# Characters that could end a line or change its direction; each is followed by a word that could begin a forged line.
BREAKS = {"a line feed": "\n", "CR LF": "\r\n", "a carriage return": "\r", "a tab": "\t", "an escape": "\x1b[2J", "C1": "\x85", "a line separator": "\u2028",
          "a paragraph": "\u2029", "a mark that turns": "\u202e", "an isolate": "\u2066", "no width": "\u200b", "a mark of byte order": "\ufeff"}
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
tap = Tap()
folder = os.path.join(WORK, "names")
shutil.rmtree(folder, True)
os.makedirs(folder)


def run(command, stdin=b"", seconds=60):
    p = subprocess.run([HOST, *command], input=stdin, capture_output=True, timeout=seconds)
    return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")


def is_forged(text):
    """True if a line begins with the forged word, if a tab comes before this word, or if there is a character that
    terminals obey."""
    return any(line.startswith("forged") for line in text.splitlines()) or BAD.search(text.replace("\r\n", "\n")) is not None or "\tforged" in text


def held(what, command, status=None, **more):
    got, out, err = run(command, **more)
    tap.ok(not is_forged(out) and not is_forged(err) and "forged" in out + err and got in ((status,) if status is not None else (0, 1, 2)), what, (got, out, err))


for name, piece in BREAKS.items():
    path = os.path.join(folder, f"one{piece}forged two.ingot")
    shutil.copyfile(MODEL, path)
    held(f"info, {name}", ["info", path], 0)
    held(f"a file that is not there, {name}", ["info", path + ".none"], 1)
    os.unlink(path)

break_ = BREAKS["a line feed"]
path = os.path.join(folder, f"one{break_}forged two.ingot")
shutil.copyfile(MODEL, path)
text = os.path.join(folder, f"text{break_}forged.txt")
with open(text, "w", encoding="ascii") as f:
    f.write("What is 3 plus 4? " * 40)
empty = os.path.join(folder, f"empty{break_}forged.gguf")
open(empty, "w", encoding="ascii").close()
grammar = os.path.join(folder, f"a{break_}forged.gbnf")
with open(grammar, "w", encoding="ascii") as f:
    f.write('root ::= "yes" | "no"\n')
out = os.path.join(folder, f"out{break_}forged.ingot")
for what, command in (("verify", ["verify", path]), ("verify a file that is none", ["verify", text]), ("plan", ["plan", path, "--board", "forged" + break_ + "forged"]),
                      ("pack of an empty file", ["pack", empty, "-o", out]), ("pack of a text", ["pack", text, "-o", out]),
                      ("run without it", ["run", path + "x", "-p", "Hi"]), ("run of a text", ["run", text, "-p", "Hi"]), ("run -f without it", ["run", MODEL, "-f", text + "x"]),
                      ("an adapter that is not there", ["run", MODEL, "-p", "Hi", "--adapter", path + "x"]), ("an adapter that is none", ["run", MODEL, "-p", "Hi", "--adapter", text]),
                      ("a grammar that is not there", ["run", MODEL, "-p", "Hi", "--grammar", grammar + "x"]), ("grammar", ["grammar", grammar, "-o", out]),
                      ("a grammar that is none", ["grammar", text, "-o", out]), ("card", ["card", "virt-arm64", "-o", out, path]), ("a card of a text", ["card", "virt-arm64", "-o", out, text]),
                      ("a board of that name", ["card", "forged" + break_ + "forged", "-o", out, MODEL]), ("a command", ["one" + break_ + "forged"]),
                      ("an option", ["run", MODEL, "--one" + break_ + "forged"]), ("a value", ["run", MODEL, "--temp", "1" + break_ + "forged"]),
                      ("pins", ["run", MODEL, "-p", "Hi", "--pins", "light:" + break_ + "forged"]), ("a word too many", ["info", MODEL, "one" + break_ + "forged"]),
                      ("perplexity of a file that is not there", ["perplexity", MODEL, text + "x"]), ("logits", ["logits", MODEL, "-p", "Hi", "-o", out]),
                      ("a log that is none", ["log", text]), ("a key that is none", ["sign", MODEL, "--key", text, "-o", out]),
                      ("a trace in a folder that is not there", ["run", MODEL, "-p", "Hi", "--trace", os.path.join(folder, "none" + break_ + "forged", "x")]),
                      ("a batch that is not there", ["batch", MODEL, text + "x"]), ("a line that is not there", ["serve", "/dev/one" + break_ + "forged", "--port", "0"]),
                      ("a board's line", ["serial", "/dev/one" + break_ + "forged"]), ("send", ["send", "/dev/one" + break_ + "forged", path]),
                      ("an adapter of it", ["adapter", path, "--base", MODEL, "-o", out])):
    held(what, command)

# ---- what stands in a file --------------------------------------------------------------------------

odd = os.path.join(folder, "odd.gguf")
Gguf("one" + break_ + "forged").write(odd)
held("a GGUF's architecture", ["pack", odd, "-o", os.path.join(folder, "odd.ingot")])
if os.path.exists(os.path.join(ASSETS, "hf/tiny/tiny_llama_logits.json")):
    g = tiny("llama")[0]
    g.string("general.name", "one" + break_ + "forged")
    g.write(odd)
    made = os.path.join(folder, "odd" + break_ + "forged.ingot")
    held("pack of a model with a name", ["pack", odd, "-o", made], 0)
    held("its name", ["info", made], 0)
    held("its name in a chat", ["chat", made, "--temp", "0"], stdin=b"/models\n/off\n")
    g.tensors[3][0] = "one" + break_ + "forged.weight"
    g.write(odd)
    status, out_, err = run(["pack", odd, "-o", os.path.join(folder, "odd.ingot")])
    tap.ok(status == 1 and not is_forged(out_ + err), "a tensor's name is printed on one line", (out_, err))
else:
    tap.skip("names in a model's metadata", "hf/tiny of INGOT_ASSETS is not there")

# ---- the conversation -------------------------------------------------------------------------------

for what, line in (("a model", "/model one\x0bforged\n"), ("a setting", "/set te\x85mp\tforged 1\n"), ("a preset", "/preset no\u2028forged\n"), ("a branch", "/branch a\u202eforged\n")):
    held(f"a chat: {what}", ["chat", path, "--temp", "0"], stdin=line.encode() + b"/off\n")
status, out_, err = run(["run", path, "-p", "Hi", "--temp", "0", "-n", "3"])
tap.ok(status == 0 and not is_forged(out_) and not is_forged(err), "the log of a run has no forged line", (out_, err))
status, out_, err = run(["chat", path, "--json"], stdin=b'{"stats":true}\n{"models":true}\n')
events = [json.loads(line) for line in out_.splitlines() if line.startswith("{")]
tap.ok(len(events) == sum(1 for line in out_.splitlines() if line.strip()) and all("event" in e for e in events) and not is_forged(out_), "JSON lines stay lines", (out_, err))
status, out_, err = run(["info", path, "--json"])
tap.ok(status == 0 and json.loads(out_) and not is_forged(out_), "info --json", out_)

# ---- the server -------------------------------------------------------------------------------------

server = subprocess.Popen([HOST, "serve", path, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
atexit.register(server.kill)
line = server.stdout.readline()
found = re.search(r"http://127.0.0.1:(\d+)", line)
if found is None:
    tap.skip("the server", "this program is built without it")
else:
    tap.ok(line.startswith("serving one") and "forged two" in line, "serve says it on its line", line)

    def get(where):
        c = http.client.HTTPConnection("127.0.0.1", int(found.group(1)), timeout=60)
        c.request("GET", where)
        r = c.getresponse()
        return r.read().decode(), str(r.headers)

    for where in ("/v1/models", "/models", "/boards", "/metrics", "/health"):
        body, headers = get(where)
        tap.ok(not is_forged(body) and not is_forged(headers), f"GET {where}", (body, headers))
    named = json.loads(get("/v1/models")[0])["data"][0]["id"]
    c = http.client.HTTPConnection("127.0.0.1", int(found.group(1)), timeout=60)
    c.request("POST", "/v1/chat/completions", json.dumps({"model": named, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}))
    tap.ok(c.getresponse().status == 200, "the model can be requested by its listed name", named)
    for body in ({"one\nforged": 1}, {"model": "one\nforged", "messages": []}, {"messages": [{"role": "one\nforged", "content": "x"}]}):
        c = http.client.HTTPConnection("127.0.0.1", int(found.group(1)), timeout=60)
        c.request("POST", "/v1/chat/completions", json.dumps(body))
        text_ = c.getresponse().read().decode()
        tap.ok(json.loads(text_)["error"] and not is_forged(text_), f"an error about {list(body)[0]!r}", text_)
    server.terminate()
    tap.ok(not is_forged(server.stderr.read()), "the server's log has no forged line")
shutil.rmtree(folder, True)
tap.done()
