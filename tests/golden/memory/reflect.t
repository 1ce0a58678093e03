#!/usr/bin/python3
"""/reflect with SmolLM2-135M: from the 20 conversations in models/reflect_talks.txt the model keeps the facts that are asked for later. All facts
stay in one store while new conversations ask for them; the replies to ten unrelated questions equal those without a memory. The second half of the
conversations was not looked at while /reflect was tuned."""

import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from machine import BUILD, HOST, ROOT, WORK, Tap

MODEL = os.path.join(BUILD, "models/published/smollm2-135m.ingot")
FOLDER = os.path.join(WORK, "reflect")
UNRELATED = ["What is the capital of France?", "How do I boil an egg?", "Name three animals that live in the sea.", "What is 2 plus 2?",
             "Write a sentence about spring.", "Who wrote Hamlet?", "Why is the sky blue?", "What is my favourite song?",
             "How many legs does a spider have?", "Which language is spoken in Brazil?"]
LEAST_KEPT, LEAST_RIGHT, LEAST_UNCHANGED = 9, 5, 9  # of ten in each half; of ten unrelated questions
tap = Tap()


def read_talks():
    """Conversations, separated by a blank line."""
    talks = []
    for block in open(os.path.join(ROOT, "models/reflect_talks.txt"), encoding="utf-8").read().split("\n\n"):
        lines = [line for line in block.split("\n") if line and line[0] in ">=?"]
        if lines:
            one = {kind: [line[2:].strip() for line in lines if line[0] == kind] for kind in ">=?"}
            talks.append((one[">"], one["="][0].lower().split("|"), one["?"][0]))
    return talks


class Chat:
    def __init__(self, *options):
        self.process = subprocess.Popen([HOST, "chat", os.path.join(FOLDER, "model.ingot"), "--json", "-q", "--temp", "0", "-n", "48", "--learn", "on", *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        text = ""
        while True:
            line = self.process.stdout.readline()
            event = json.loads(line) if line else {"event": "done"}
            text += (event.get("text") or "") + ("\n" if event["event"] == "text" else "") if event["event"] in ("token", "text") else ""
            if event["event"] == "done":
                return text

    def ask(self, question):
        self.say(command="/reset")
        return self.say(prompt=question, n=32)

    def reflect_on_question(self):
        self.say(prompt="What is 2 plus 2?", n=4)
        return self.say(command="/reflect")

    def memories(self):
        return re.findall(r"^ *\d+\. \w+: (.*) \(.* old, strength", self.say(command="/what"), re.M)


def has(text, words):
    return any(word in text.lower() for word in words)


def main():
    if not os.path.exists(MODEL):
        tap.skip("/reflect", "build/models/published/smollm2-135m.ingot is not there: make model NAME=smollm2-135m")
        return
    shutil.rmtree(FOLDER, True)
    os.makedirs(FOLDER)
    os.symlink(MODEL, os.path.join(FOLDER, "model.ingot"))
    talks = read_talks()
    chat = Chat("--grammar", "on")
    plain = {q: chat.ask(q) for q in UNRELATED}
    guessed = sum(has(chat.ask(question), words) for _, words, question in talks)
    kept, right, known, same = [0, 0], [0, 0], [], 0
    for i, (lines, words, question) in enumerate(talks):
        chat.say(command="/reset")
        for line in lines:
            chat.say(prompt=line, n=24)
        said = chat.say(command="/reflect")
        new = [m for m in chat.memories() if m not in known]
        known += new
        same += all(any(m in line for line in lines) for m in new) and len(new) <= 2
        kept[i * 2 // len(talks)] += any(has(m, words) for m in new)
        reply = chat.ask(question)
        right[i * 2 // len(talks)] += has(reply, words)
        print(f"# {'kept' if any(has(m, words) for m in new) else 'not kept'}: {new}; {question} {reply.strip()!r}", flush=True)
    for half, name in enumerate(("tuned on", "untouched")):
        tap.ok(kept[half] >= LEAST_KEPT, f"{name}: {kept[half]} of 10 facts are kept, {LEAST_KEPT} wanted", said)
        tap.ok(right[half] >= LEAST_RIGHT, f"{name}: {right[half]} of 10 are answered in a new conversation, {LEAST_RIGHT} wanted")
    tap.ok(guessed <= 2, f"without a memory {guessed} of 20 are")
    tap.ok(same == len(talks), f"{same} of 20 times no more than two sentences are kept, and only what the person said")
    unchanged = sum(chat.ask(q) == plain[q] for q in UNRELATED)
    tap.ok(unchanged >= LEAST_UNCHANGED, f"with {len(known)} memories {unchanged} of 10 unrelated replies are unchanged")
    tap.ok("no sentence of yours" in Chat("--grammar", "on").reflect_on_question(), "a conversation of questions keeps nothing")
    tap.ok("with learn=on and grammar=on" in Chat().reflect_on_question(), "without grammar=on it says what is missing")


main()
tap.done()
