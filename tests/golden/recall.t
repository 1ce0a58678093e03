#!/usr/bin/python3
"""A real model's memory in ordinary use: SmolLM2-135M is told the 20 facts of models/recall_facts.txt and asked 150 questions about them: in the
same words, in other words, in a third turn, after a load, and about things that nobody told it. `make recall` writes the table of docs/FABRIC.md
(INGOT_RECALL_TABLE names the file). The second half of the facts was not used while the memory was tuned: this half must reach the required rate,
and all facts together must as well."""

import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from machine import BUILD, HOST, ROOT, WORK, Tap
from written_part import put

MODEL = os.path.join(BUILD, "models/published/smollm2-135m.ingot")
FACTS = os.path.join(ROOT, "models/recall_facts.txt")
FOLDER = os.path.join(WORK, "recall")
BEFORE = ["Hello.", "Name a colour."]
UNRELATED = ["What is the capital of France?", "How do I boil an egg?", "Name three animals that live in the sea.", "What is 2 plus 2?",
             "Write a sentence about spring.", "Who wrote Hamlet?", "Why is the sky blue?", "What is my favourite song?",
             "How many legs does a spider have?", "Which language is spoken in Brazil?"]
tap = Tap()


def read_facts():
    facts = []
    for line in open(FACTS, encoding="utf-8"):
        kind, text = line[:1], line[2:].strip()
        if kind == ">":
            facts.append({"told": text, "?": [], "~": [], "!": []})
        elif kind == "=":
            facts[-1]["="] = text.lower().split("|")
        elif kind in "?~!" and text:
            facts[-1][kind].append(text)
    return facts


class Chat:
    """The Linux program at the other end of a pipe, in JSON lines."""

    def __init__(self, *options):
        command = [HOST, "chat", os.path.join(FOLDER, "model.ingot"), "--json", "-q", "--temp", "0", "-n", "32", "--learn", "on", *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        text = ""
        while True:
            line = self.process.stdout.readline()
            event = json.loads(line) if line else {"event": "done"}
            text += event.get("text") or "" if event["event"] in ("token", "text") else ""
            if event["event"] == "done":
                return text

    def command(self, line):
        return self.say(command=line)

    def ask(self, question, before=()):
        self.command("/reset")
        for line in before:
            self.say(prompt=line, n=12)
        return self.say(prompt=question, n=32)

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def is_right(fact, reply):
    return any(word in reply.lower() for word in fact["="])


def main():
    if not os.path.exists(MODEL):
        tap.skip("recall", "build/models/published/smollm2-135m.ingot is not there: make model NAME=smollm2-135m")
        return
    shutil.rmtree(FOLDER, True)
    os.makedirs(FOLDER)
    os.symlink(MODEL, os.path.join(FOLDER, "model.ingot"))
    facts = read_facts()
    foreign = [q for f in facts for q in f["!"]] + UNRELATED
    chat = Chat()
    plain = {q: chat.ask(q) for q in foreign}
    times = []
    for f in facts:
        start = time.monotonic()
        said = chat.command("/remember " + f["told"])
        times.append(time.monotonic() - start)
        if "error" in said:
            tap.ok(False, "remembered", said)
    rows = {}

    def count(row, index, right, what):
        half = rows.setdefault(row, [[0, 0], [0, 0]])[index >= len(facts) // 2]
        half[0] += right
        half[1] += 1
        if not right:
            print(f"# {row}: {what}", flush=True)

    for i, f in enumerate(facts):
        for q in f["?"]:
            count("as told, first turn", i, is_right(f, reply := chat.ask(q)), f"{q} -> {reply!r}")
            count("as told, third turn", i, is_right(f, reply := chat.ask(q, BEFORE)), f"{q} -> {reply!r}")
        for q in f["~"]:
            count("in other words", i, is_right(f, reply := chat.ask(q)), f"{q} -> {reply!r}")
        for q in f["!"]:
            count("about others: unchanged", i, (reply := chat.ask(q)) == plain[q], f"{q} -> {reply!r}, not {plain[q]!r}")
    for i, q in enumerate(UNRELATED):
        count("unrelated: unchanged", i * len(facts) // len(UNRELATED), (reply := chat.ask(q)) == plain[q], f"{q} -> {reply!r}")
    chat.command("/save learn")
    chat.close()
    chat = Chat()
    for i, f in enumerate(facts):
        for q in f["?"]:
            count("as told, third turn, after a load", i, is_right(f, reply := chat.ask(q, BEFORE)), f"{q} -> {reply!r}")
    chat.close()
    questions = sum(half[1] for row in rows.values() for half in row)
    table = [f"| {questions} questions over {len(facts)} facts | tuned on | untouched |", "|---|---|---|"]
    table += [f"| {row} | {tuned[0]} of {tuned[1]} | {held[0]} of {held[1]} |" for row, (tuned, held) in rows.items()]
    print("# " + "\n# ".join(table))
    print(f"# a memory took {max(times[1:]):.2f} s at most, {sum(times[1:]) / len(times[1:]):.2f} s as a rule, the first {times[0]:.2f} s")
    for row, least in (("as told, first turn", 90), ("as told, third turn", 90), ("as told, third turn, after a load", 90), ("in other words", 70),
                       ("about others: unchanged", 95), ("unrelated: unchanged", 95)):
        both = [sum(half) for half in zip(*rows[row])]
        for half, name in ((both, "all"), (rows[row][1], "untouched")):
            tap.ok(half[0] * 100 >= least * half[1], f"{row}, {name}: {half[0]} of {half[1]}, {least} % wanted")
    where = os.environ.get("INGOT_RECALL_TABLE")
    error = put(where, "recall", "make recall", "\n".join(table) + "\n") if where and tap.failed == 0 else None
    if error:
        tap.ok(False, "the table has its place", error)


main()
tap.done()
