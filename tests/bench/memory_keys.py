#!/usr/bin/python3
"""Tests whether a key made of hidden states finds memories better than words do. The model is SmolLM2-135M, the 20 facts and their questions
are those of models/recall_facts.txt. A key is the mean of a question's last hidden states, computed in a separate pass from position 0, less
the mean over questions in general. Keys are compared with Ingot's search for words, and with both methods combined. Thresholds are chosen on
the first ten facts; the figures of the second ten are in docs/FABRIC.md.

    tests/bench/memory_keys.py [model.ingot]"""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
BUILD = os.environ.get("INGOT_BUILD") or os.path.join(ROOT, "build")
MODEL = sys.argv[1] if len(sys.argv) > 1 else os.path.join(BUILD, "models/published/smollm2-135m.ingot")
UNRELATED = ["What is the capital of France?", "How do I boil an egg?", "Name three animals that live in the sea.", "What is 2 plus 2?",
             "Write a sentence about spring.", "Who wrote Hamlet?", "Why is the sky blue?", "What is my favourite song?",
             "How many legs does a spider have?", "Which language is spoken in Brazil?"]


def read_facts():
    facts = []
    with open(os.path.join(ROOT, "models/recall_facts.txt"), encoding="utf-8") as lines:
        for line in lines:
            kind, text = line[:1], line[2:].strip()
            if kind == ">":
                facts.append({"told": text, "?": [], "~": [], "!": []})
            elif kind in "?~!" and text:
                facts[-1][kind].append(text)
    return facts


class Chat:
    def __init__(self, folder):
        os.symlink(os.path.abspath(MODEL), os.path.join(folder, "model.ingot"))
        self.process = subprocess.Popen([os.path.join(BUILD, "host/ingot"), "chat", os.path.join(folder, "model.ingot"), "--json", "-q", "--temp", "0",
                                         "--learn", "on"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def events(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        events = []
        while not events or events[-1]["event"] != "done":
            line = self.process.stdout.readline()
            if not line:
                sys.exit("the program ended")
            events.append(json.loads(line))
        return events

    def key(self, text):
        values = next(e["values"] for e in self.events(embedding=text) if e["event"] == "embedding")
        return [float(v) for v in values]

    def needed(self):
        """Counts how often each memory was placed before a turn."""
        text = "\n".join(e["text"] for e in self.events(command="/what") if e["event"] == "text")
        return [int(n) for n in re.findall(r"needed (\d+) time", text)]

    def found_by_words(self, question):
        self.events(command="/reset")
        self.events(prompt="Hello.", n=1)
        before = self.needed()
        self.events(prompt=question, n=1)
        return [i for i, (a, b) in enumerate(zip(before, self.needed())) if b > a]


def question_of(told):
    """The subject of a memory, as chat_fabric.c finds it: its question, or its sentence without the last word."""
    text = told.split(" ", 1)[1]
    return text.split(" = ")[0] if " = " in text else text.rstrip(" .!?").rsplit(" ", 1)[0]


def cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b))
    return dot / (sum(x * x for x in a) ** 0.5 * sum(x * x for x in b) ** 0.5)


def measure(chat, facts):
    """A row for each question: its fact or None, its kind, whether it is in the second half, the memories that words find, and its
    cosines with all keys."""
    asked = [(i, kind, i * 2 >= len(facts), q) for i, f in enumerate(facts) for kind in "?~" for q in f[kind]]
    asked += [(None, "!", i * 2 >= len(facts), q) for i, f in enumerate(facts) for q in f["!"]]
    asked += [(None, "!", i % 2 == 1, q) for i, q in enumerate(UNRELATED)]
    keys = [chat.key(question_of(f["told"])) for f in facts]
    vectors = [chat.key(q) for *_, q in asked]
    usual = [chat.key(q) for q in UNRELATED] + keys[:len(facts) // 2]
    centre = [sum(column) / len(usual) for column in zip(*usual)]
    keys = [[x - c for x, c in zip(k, centre)] for k in keys]
    vectors = [[x - c for x, c in zip(v, centre)] for v in vectors]
    for f in facts:
        chat.events(command="/remember " + f["told"])
    return [(fact, kind, held, chat.found_by_words(q), [cosine(v, k) for k in keys]) for (fact, kind, held, q), v in zip(asked, vectors)]


def by_key(row, least):
    """The memory with the nearest key, if it is near enough."""
    best = max(range(len(row[4])), key=row[4].__getitem__)
    return [best] if row[4][best] >= least else []


def is_right(row, found):
    return not found if row[0] is None else row[0] in found


def best_threshold(rows, find):
    tuned = [r for r in rows if not r[2]]
    steps = [i / 100 for i in range(-20, 101)]
    return max(steps, key=lambda t: (sum(is_right(r, find(r, t)) for r in tuned), t))


def main():
    with tempfile.TemporaryDirectory() as folder:
        facts = read_facts()
        rows = measure(Chat(folder), facts)
    ways = {"words": lambda r, t: r[3],
            "key alone": by_key,
            "words, or a key": lambda r, t: r[3] or by_key(r, t),
            "words whose key agrees": lambda r, t: [i for i in r[3] if r[4][i] >= t]}
    print("| found by | least cosine | as told | in other words | about others: nothing found |")
    print("|---|---|---|---|---|")
    for name, find in ways.items():
        least = best_threshold(rows, find)
        cells = []
        for kind in "?~!":
            held = [r for r in rows if r[1] == kind and r[2]]
            cells.append(f"{sum(is_right(r, find(r, least)) for r in held)} of {len(held)}")
        print(f"| {name} | {'' if name == 'words' else f'{least:.2f}'} | {' | '.join(cells)} |")
    own = sorted(r[4][r[0]] for r in rows if r[1] == "~")
    near = sorted(max(r[4]) for r in rows if r[1] == "!")
    print(f"\ncosines, medians: {own[len(own) // 2]:.2f} of a question in other words with its own memory, {near[len(near) // 2]:.2f} of a question about others "
          f"with the nearest one; {sum(max(r[4]) == r[4][r[0]] for r in rows if r[1] == '~')} of {len(own)} in other words have their own memory as the nearest")


main()
