#!/usr/bin/python3
"""Clients that were not written for `ingot serve`: OpenAI's package from PyPI and curl, each with chat, stream, tools, structured answers and
embeddings (tests/clients/), with the demo model and, if it was fetched, with SmolLM2. openai.t tests OpenAI's package from npm. All tools
that public MCP servers describe are accepted in one list, and forced calls of each tool match its schema. The table of docs/SERVE.md has
every client that `make clients` runs."""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, ROOT, WORK, Tap, run

SMOLLM2 = os.path.join(BUILD, "models/published/smollm2-135m.ingot")
CLIENTS = os.path.join(ROOT, "tests/clients")
PYTHON = os.path.join(BUILD, "clients/python/bin/python")
CELLS = {"chat", "stream", "tools", "structured", "embeddings"}
tap = Tap()


def longer():
    """The demo model with a context that is large enough for these clients."""
    folder, packed = os.path.join(WORK, "clients-demo"), os.path.join(WORK, "clients-demo.ingot")
    shutil.copytree(os.path.join(ROOT, "models/demo"), folder, dirs_exist_ok=True)
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as f:
        config = json.load(f)
    with open(path, "w", encoding="utf-8") as f:
        json.dump({**config, "max_position_embeddings": 4096}, f)
    status, out = run([HOST, "pack", folder, "-o", packed, "-q"])
    tap.ok(status == 0, "the demo model with a longer context", out)
    return packed


def serve(model, *options):
    """The address of a server; None if the program was built without a server."""
    server = subprocess.Popen([HOST, "serve", model, "--port", "0", "--temp", "0", "-q", *options], stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    found = re.search(r"http://127.0.0.1:\d+", server.stdout.readline())
    return found and found.group(0)


def client(what, words, base):
    """Run a client's program: each line that it prints about a case becomes a check here."""
    done = subprocess.run([*words, base], capture_output=True, text=True, timeout=300)
    cases = [line.split("\t") for line in done.stdout.splitlines()]
    for cell, case, why in cases:
        tap.ok(why == "ok", f"{what}: {cell}: {case}", why)
    tap.ok({cell for cell, *_ in cases} == CELLS and done.returncode == 0, f"{what}: every cell was tried", done.stderr[-2000:])


def both(model, base):
    if os.path.exists(PYTHON):
        client(f"{model}, openai (Python)", [PYTHON, os.path.join(CLIENTS, "with_openai.py")], base)
    else:
        tap.skip(f"{model}, openai (Python)", "PyPI's openai is not in build/clients/python: make setup-tests")
    if shutil.which("curl"):
        client(f"{model}, curl", ["sh", os.path.join(CLIENTS, "with_curl.sh")], base)
    else:
        tap.skip(f"{model}, curl", "the client is not installed: make setup-tests")


# ---- tools as MCP servers describe them ---------------------------------------------------------------

SAFE = 9007199254740991


def tool(name, properties, required=(), **more):
    return {"type": "function", "function": {"name": name, "description": name, "parameters": {
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": properties, "required": list(required), **more}}}


def integer(x):
    return isinstance(x, int) and not isinstance(x, bool)


# Check for each tool that the arguments of a forced call match its schema.
LISTED = (
    (tool("think", {"step": {"type": "integer", "exclusiveMinimum": 0, "maximum": SAFE}, "done": {"type": "boolean"}}, ["step", "done"], additionalProperties=False),
     lambda a: set(a) == {"step", "done"} and integer(a["step"]) and 0 < a["step"] <= SAFE and isinstance(a["done"], bool)),
    (tool("resize", {"width": {"type": "integer", "minimum": -SAFE - 1, "maximum": SAFE}, "scale": {"type": "number", "minimum": 0.1, "maximum": 1}}, ["width", "scale"]),
     lambda a: integer(a["width"]) and 0.1 <= a["scale"] <= 1),
    (tool("walk", {"from": {"$ref": "#/definitions/place"}, "by": {"anyOf": [{"enum": ["bus", "foot"]}, {"type": "null"}], "default": None}}, ["from"],
          definitions={"place": {"type": "array", "items": [{"type": "number"}, {"type": "number"}], "additionalItems": False, "minItems": 2}}),
     lambda a: len(a["from"]) == 2 and a.get("by") in ("bus", "foot", None)),
    (tool("label", {"labels": {"type": "object", "propertyNames": {"type": "string", "maxLength": 4}, "additionalProperties": {"enum": ["a", "b"]}, "maxProperties": 2},
                    "day": {"type": "string", "format": "date"}, "page": {"type": "string", "format": "uri", "maxLength": 20}}, ["labels", "day"]),
     lambda a: all(v in ("a", "b") for v in a["labels"].values()) and re.fullmatch(r"\d{4}-[01]\d-[0-3]\d", a["day"])),
    (tool("sort", {"keys": {"type": "array", "uniqueItems": True, "minItems": 1, "maxItems": 2, "items": {"enum": ["x", "y", "z"]}}, "n": {"type": "integer", "multipleOf": 5, "minimum": 0, "maximum": 50}},
          ["keys"], not_known={"x": 1}),
     lambda a: len(set(a["keys"])) == len(a["keys"]) and a.get("n", 0) % 5 == 0),
    (tool("either", {"it": {"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
                                      {"type": "object", "properties": {"kind": {"const": "b"}, "on": {"type": "boolean"}}, "required": ["kind", "on"]}],
                            "discriminator": {"propertyName": "kind"}}, "rank": {"type": "integer", "nullable": True}}, ["it"]),
     lambda a: integer(a["it"].get("n")) if a["it"]["kind"] == "a" else isinstance(a["it"]["on"], bool)),
    (tool("nothing", {}), lambda a: a == {}),
)


def post(base, **body):
    asked = urllib.request.Request(base + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=120) as answer:
        return json.load(answer)


def mcp(base):
    ask = {"messages": [{"role": "user", "content": "Go on."}], "temperature": 1.5}
    for one, good in LISTED:
        name = one["function"]["name"]
        r = post(base, **ask, n=8, seed=1, tools=[one], tool_choice={"type": "function", "function": {"name": name}})
        calls = [c["message"]["tool_calls"][0]["function"]["arguments"] for c in r["choices"] if c["finish_reason"] == "tool_calls"]
        tap.ok(len(calls) == 8 and all(good(json.loads(c)) for c in calls), f"a tool of an MCP server: {name}", r["choices"])
    r = post(base, **ask, max_tokens=1, tools=[one for one, _ in LISTED])
    tap.ok(len(r["choices"]) == 1, "all tools are accepted in one list", r)


# ---- the examples of docs/SERVE.md -----------------------------------------------------------------------

WHOLE = os.path.exists(os.path.join(BUILD, "clients/python/.from-python.txt"))


def example(kind, code):
    """Return the command that runs this code and, if packages are missing, what must be installed."""
    sdk = '"ai"' in code
    if kind == "sh":
        return ["sh", "-c", code], shutil.which("curl"), "curl"
    if kind == "python":
        return [PYTHON, "-c", code], os.path.exists(PYTHON) and (WHOLE or "langchain" not in code), "make setup-clients"
    folder = os.path.join(BUILD, "clients/ai-sdk" if sdk else "clients")
    there = os.path.isdir(os.path.join(folder, "node_modules", "ai" if sdk else "openai")) and shutil.which("node")
    if there:
        with open(os.path.join(folder, "example.mjs"), "w", encoding="utf-8") as f:
            f.write(code)
    return ["node", os.path.join(folder, "example.mjs")], there, "make setup-clients"


def examples(base):
    with open(os.path.join(ROOT, "docs/SERVE.md"), encoding="utf-8") as f:
        blocks = re.findall(r"^(\S[^\n]*):\n\n```(python|js|sh)\n(.*?)```", f.read().split("## Clients")[1], re.M | re.S)
    tap.ok(len(blocks) == 3, "docs/SERVE.md has three examples", blocks)
    for name, kind, code in blocks:
        words, there, need = example(kind, code.replace("http://localhost:8080", base))
        if not there:
            tap.skip(f"the example: {name}", need)
            continue
        done = subprocess.run(words, capture_output=True, text=True, timeout=100)
        tap.ok("7 plus 8 is 15" in done.stdout and done.returncode == 0, f"the example: {name}", done.stdout + done.stderr[-900:])


done = subprocess.run([sys.executable, os.path.join(CLIENTS, "table.py"), "--check"], capture_output=True, text=True, timeout=60)
tap.ok(done.returncode == 0, "docs/SERVE.md has a row for each client, with its version", done.stdout + done.stderr)
os.makedirs(WORK, exist_ok=True)
packed = longer()
demo = serve(packed)
if demo is None:
    tap.skip("clients", "node-llhttp or libwslay-dev is not installed")
else:
    both("demo", demo)
    mcp(demo)
    examples(serve(packed))
    if os.path.exists(SMOLLM2):
        both("SmolLM2", serve(SMOLLM2))
    else:
        tap.skip("the clients with SmolLM2", "the model is missing: make model NAME=smollm2-135m")
tap.done()
