#!/usr/bin/python3
"""Whole conversations in requests of mode=json (protocol 2): the same ids on the host, arm64 and riscv64, whatever the board had computed before;
known parts are not computed again; invalid requests are refused and change nothing."""

import json
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, RISCV64_ANY, ROOT, Tap, card_arguments, make_card

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
tap = Tap()


def messages(*texts, system=None):
    """User, assistant, user, ..."""
    said = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]
    return ([{"role": "system", "content": system}] if system is not None else []) + said


SUM = ("What is 3 plus 4?", "3 plus 4 is 7.", "And what is 5 plus 5?")
LONGER = SUM + ("5 + 5 = 10.", "Thank you.")
OTHER = ("Hello", "Good day, captain!", "What is 6 plus 6?")
REQUESTS = [
    {"id": 0, "hello": 2, "temp": 0},
    {"id": 1, "messages": messages(*SUM)},
    {"id": 2, "messages": messages(*LONGER)},
    {"id": 3, "messages": messages(*OTHER)},
    {"id": 4, "messages": messages(*LONGER)},
    {"id": 5, "messages": messages(*SUM, system="You are a pirate.")},
    {"id": 6, "messages": messages(*SUM)},
    {"id": 7, "messages": messages(SUM[0], SUM[1], SUM[2]), "grammar": "ten|two"},
    {"id": 8, "messages": messages(*SUM), "grammar": "off"},
    {"id": 9, "raw": "Once upon a time", "n": 6},
]
WRONG = [
    ({"messages": []}, "messages", "the last message has to be the user's"),
    ({"messages": messages(*SUM[:2])}, "messages", "the last message has to be the user's"),
    ({"messages": messages("a") + messages("b")}, "messages", "take turns"),
    ({"messages": messages("a", "b", "c") + [{"role": "system", "content": "x"}]}, "messages", "come first"),
    ({"messages": [{"role": "tool", "content": "x"}]}, "messages", "a role is system, user or assistant"),
    ({"messages": [{"role": "user"}]}, "messages", "a text for its role"),
    ({"messages": [{"role": "user", "content": "x", "name": "y"}]}, "messages", "nothing else"),
    ({"messages": ["x"]}, "messages", "is an object"),
    ({"messages": [{"role": "system", "content": "x" * 2048}] + messages("a")}, "messages", "too long"),
    ({"messages": "x"}, "field", "has to be a list"),
    ({"messages": messages("a"), "prompt": "b"}, "field", "cannot be combined"),
    ({"messages": messages("a"), "grammar": "no such.grammar"}, "grammar", ""),
    ({"messages": messages("a"), "adapter": "none"}, "adapter", ""),
    ({"messages": messages("word " * 1400)}, None, "does not fit"),
    ({"hello": 3}, "value", "1 or 2"),
]


def lines_of(requests):
    return "".join(json.dumps(r) + "\n" for r in requests)


def answers(text):
    """{id: (token ids, usage, error)}"""
    found = {}
    for line in text.split("\n"):
        if not line.startswith("{"):
            continue
        e = json.loads(line)
        a = found.setdefault(e.get("id"), {"ids": [], "text": "", "usage": None, "error": None, "done": None})
        if e["event"] == "token":
            a["ids"].append(e.get("token"))
            a["text"] += e["text"]
        elif e["event"] in ("usage", "error", "done"):
            a[e["event"]] = e
    return found


def host(requests, *words):
    done = subprocess.run([HOST, "chat", MODEL, "--json", "--grammar", "on", *words], input=lines_of(requests), capture_output=True,
                          text=True, timeout=120)
    return answers(done.stdout)


def board(machine):
    off = (lines_of(REQUESTS + [{"n": 0}, {"command": "/mode chat"}]) + "/reset\n" + SUM[0] + "\n/mode\n/mode json\n" +
           lines_of([REQUESTS[1] | {"id": "again"}, {"id": "off", "command": "/off"}]))
    command = machine.command("mode=json flow=off grammar=on model=demo-q8_0", 2, card_arguments(card))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        late = threading.Timer(180, p.kill)
        late.start()
        seen = b""
        while b'"ready"' not in seen and (line := p.stdout.readline()):
            seen += line
        said, _ = p.communicate(off.encode())
        late.cancel()
    text = said.decode(errors="replace").replace("\r", "")
    person = re.search(r"^[^{]*3 plus 4 is 7\.\n(?:[^{].*\n)*?[^{]*error: /mode takes chat or json; the mode is chat\n[^{]*\{\"event\":\"ready\"", text, re.M)
    return answers(text[:person.start()] if person else text), answers(text[person.end() - 16:]) if person else text


whole = host(REQUESTS)
alone = {r["id"]: host([REQUESTS[0], r])[r["id"]] for r in REQUESTS[1:]}
for i in range(1, 10):
    same = alone[i]["ids"] == whole[i]["ids"] and alone[i]["usage"]["prompt_tokens"] == whole[i]["usage"]["prompt_tokens"]
    tap.ok(same and len(whole[i]["ids"]) > 0, f"request {i}: \"{whole[i]['text'].strip()}\", as in a new conversation", (alone[i], whole[i]))
usage = {i: whole[i]["usage"] for i in whole if whole[i]["usage"]}
tap.ok(usage[2]["cached_tokens"] >= usage[1]["prompt_tokens"] - 2 and usage[2]["cached_tokens"] > usage[2]["prompt_tokens"] / 2,
       f"of a conversation that goes on {usage[2]['cached_tokens']} of {usage[2]['prompt_tokens']} tokens are there", usage)
tap.ok(usage[3]["cached_tokens"] < 10 and usage[1]["cached_tokens"] == 0, "of another one only what all begin with", usage)
tap.ok(whole[5]["ids"] and whole[6]["ids"] == whole[1]["ids"], "a system message applies only to its request", (whole[5], whole[6]))
tap.ok(whole[7]["text"] in ("ten", "two") and whole[8]["ids"] == whole[1]["ids"], "a grammar applies from its request on", whole[7])
tap.ok([usage[i]["finish_reason"] for i in (1, 7, 9)] == ["stop", "stop", "length"], "finish_reason", usage)
said = host([{"id": 0, "prompt": SUM[0], "temp": 0}, {"id": 1, "messages": messages(*SUM)}])
tap.ok(said[1]["usage"] is None and said[1]["ids"] == whole[1]["ids"], "a program of protocol 1 gets no event that it does not know", said)
tap.ok(said[0]["text"].strip() == SUM[1] and said[1]["done"]["prompt_tokens"] < usage[1]["prompt_tokens"] - 15,
       "a conversation by prompts goes on by messages", said)
card = make_card("messages-card.img", MODEL)
with ThreadPoolExecutor(os.cpu_count()) as pool:
    for machine, (found, again) in zip((ARM64, RISCV64_ANY), pool.map(board, (ARM64, RISCV64_ANY))):
        tap.ok(all(found.get(i, {}).get("ids") == whole[i]["ids"] and found[i]["usage"] == whole[i]["usage"] for i in range(1, 10)),
               f"{machine.label}: the same ids and usage", found)
        tap.ok(isinstance(again, dict) and again.get("again", {}).get("ids") == whole[1]["ids"],
               f"{machine.label}: /mode chat, a line of a person, /mode json", again)
for request, name, sentence in WRONG:
    found = host([REQUESTS[0], REQUESTS[1], {"id": "wrong"} | request, REQUESTS[2]])
    error = found["wrong"]["error"] or {}
    tap.ok(sentence in error.get("text", "?") and name in (None, error.get("name")) and found[2]["ids"] == whole[2]["ids"] and
           found["wrong"]["done"]["reason"] == "error", f"{error.get('name')}: {error.get('text')}", found)
tap.done()
