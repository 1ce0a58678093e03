#!/usr/bin/python3
"""Prompts are computed once: `ingot serve` with an agent of twenty turns with tools computes only the new tokens and less than a block more, in any
slot, even if the text before the last turn changes, and after a restart. The models: one whose layers all attend to everything, one with sliding
windows and one with a recurrence. The answers equal those of a server that keeps nothing."""

import atexit
import http.client
import json
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ASSETS, BUILD, HOST, ROOT, Tap

WORK = os.path.join(BUILD, "tests/work/serve_kept")
TURNS = 20
BLOCK, MARK, TAIL = 64, 256, 8  # BLOCK and MARK as in docs/SERVE.md; TAIL is REPLIES_TAIL
TOOLS = json.dumps([{"type": "function", "function": {"name": name, "description": f"{name.replace('_', ' ')} of the house",
                     "parameters": {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}}}
                    for name in ("read_light", "set_light", "read_heat")])
tap = Tap()


class Server:
    def __init__(self, model, *options):
        self.process = subprocess.Popen([HOST, "serve", model, "--port", "0", "-q", *options], stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        found = re.search(r"http://127.0.0.1:(\d+)", self.process.stdout.readline())
        self.port = int(found.group(1)) if found else 0

    def ask(self, prompt, n=6):
        """(the text, the prompt's tokens, how many of them were computed)"""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        c.request("POST", "/v1/completions", json.dumps({"prompt": prompt, "temperature": 0, "max_tokens": n}))
        answer = json.loads(c.getresponse().read())
        c.close()
        u = answer["usage"]
        return answer["choices"][0]["text"], u["prompt_tokens"], u["prompt_tokens"] - u["prompt_tokens_details"]["cached_tokens"]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def agent(server, name, edits=False):
    """For each turn: the tokens of its prompt, how many are computed, and the reply; edits: the client rewrites the last answer, as templates without
    thoughts do."""
    text, rows = f"Tools: {TOOLS}\nYou are {name}.", []
    for i in range(TURNS):
        text += f"\nuser: is room {i} lit?\nanswer:"
        reply, tokens, computed = server.ask(text)
        rows.append((tokens, computed, reply))
        text += f" turn {i}" if edits else reply
        text += f"\ntool: {{\"lit\": {i % 2}}}"
    return rows


def added(rows):
    """The number of tokens by which each prompt is longer than the previous one."""
    return [rows[i][0] - (rows[i - 1][0] if i else 0) for i in range(len(rows))]


def most_more(rows, first=1):
    """The largest number of tokens that a turn after number `first` computed in addition to its new ones."""
    return max(c - a for (_, c, _), a in list(zip(rows, added(rows)))[first:])


def check(kind, model, block, tail):
    kept, plain = os.path.join(WORK, "kept"), Server(model, "--kept-mib", "0", "--together", "2")
    if os.path.exists(kept):
        os.remove(kept)
    want = {name: agent(plain, name, True) for name in ("Anna", "Bert")}
    tools = plain.ask(f"Tools: {TOOLS}\nYou are ", 1)[1]
    plain.end()
    server = Server(model, "--kept", kept, "--kept-mib", "64", "--together", "2")
    rows = {name: agent(server, name, True) for name in ("Anna", "Bert")}
    tap.ok([r[2] for r in rows["Anna"] + rows["Bert"]] == [r[2] for r in want["Anna"] + want["Bert"]],
           f"{kind}: the answers equal those of a server that keeps nothing")
    tap.ok(all(most_more(rows[n]) <= tail for n in rows), f"{kind}: a turn computes its new tokens, and {max(most_more(rows[n]) for n in rows)} more (at most {tail})")
    first = rows["Bert"][0]
    tap.ok(first[1] <= first[0] - tools + block, f"{kind}: the second agent with the tools ({tools} tokens) computes {first[1]} of {first[0]}")
    tap.note(f"{kind}: 2 agents of {TURNS} turns: prompts of {sum(r[0] for n in rows for r in rows[n])} tokens, computed {sum(r[1] for n in rows for r in rows[n])}; "
          f"keeping nothing {sum(r[1] for n in want for r in want[n])}")
    tap.ok(server.end() == 0, f"{kind}: the server ends, and the file is written")
    server = Server(model, "--kept", kept, "--kept-mib", "64", "--together", "2")
    again = agent(server, "Bert", True)
    tap.ok([r[2] for r in again] == [r[2] for r in want["Bert"]] and again[0][1] <= block + 1,
           f"{kind}: after a restart the first prompt computes {again[0][1]} of {again[0][0]} tokens")
    new = server.ask(f"Tools: {TOOLS}\nYou are Carl.\nuser: and the heat?\nanswer:")
    tap.ok(new[2] <= new[1] - tools + block, f"{kind}: after a restart a new agent with the same tools computes {new[2]} of {new[1]}")
    held = subprocess.run([HOST, "serve", model, "--port", "0", "-q", "--kept", kept], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    tap.ok(held.returncode != 0 and "another server uses it" in held.stdout, f"{kind}: a second server with the same file is refused by name")
    server.end()


os.makedirs(WORK, exist_ok=True)
MODELS = (("dense", "llama_gqa", BLOCK, 0), ("sliding windows", "gemma4", BLOCK, 0), ("recurrent", "qwen35_gqa", MARK, TAIL))
for kind, name, block, tail in MODELS:
    path = os.path.join(ASSETS, f"arch/{name}.gguf")
    if os.path.exists(path):
        check(kind, path, block, tail)
    else:
        tap.skip(kind, f"needs arch/{name}.gguf in INGOT_ASSETS")

other = os.path.join(WORK, "other")
with open(other, "wb") as f:
    f.write(b"somebody's file" * 100)
refused = subprocess.run([HOST, "serve", os.path.join(ROOT, "models/demo-q8_0.ingot"), "--port", "0", "-q", "--kept", other], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, timeout=120)
with open(other, "rb") as f:
    tap.ok(refused.returncode != 0 and "not a file of kept prompts" in refused.stdout and f.read() == b"somebody's file" * 100,
           "a file of another program stays unchanged")
tap.done()
