#!/usr/bin/python3
"""/bad cannot ruin SmolLM2-135M: a repeating reply is rated bad eight times. The reply changes but still consists of words; a
taught answer and ten unrelated replies do not change."""

import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from machine import BUILD, HOST, WORK, Tap

MODEL = os.path.join(BUILD, "models/published/smollm2-135m.ingot")
FOLDER = os.path.join(WORK, "ratings")
CIRCLES = "Write a long list of words that rhyme with cat."
TAUGHT = ("Where is the key of the boat?", "The key of the boat hangs behind the stove.")
UNRELATED = ["What is the capital of France?", "How do I boil an egg?", "Name three animals that live in the sea.", "What is 2 plus 2?",
             "Write a sentence about spring.", "Who wrote Hamlet?", "Why is the sky blue?", "How many legs does a spider have?",
             "Which language is spoken in Brazil?", "Tell me about bread."]
TIMES, PIECES = 8, 1.7  # tokens of a word, as a mean, in a reply that is made of words
tap = Tap()


class Chat:
    def __init__(self):
        self.process = subprocess.Popen([HOST, "chat", os.path.join(FOLDER, "model.ingot"), "--json", "-q", "--temp", "0", "-n", "64", "--learn", "on"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def events(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        events = []
        while not events or events[-1]["event"] != "done":
            events.append(json.loads(self.process.stdout.readline() or '{"event":"done"}'))
        return events

    def say(self, **request):
        return "".join(e.get("text") or "" for e in self.events(**request) if e["event"] in ("token", "text", "error"))

    def ask(self, question):
        self.say(command="/reset")
        return self.say(prompt=question)

    def pieces(self, text):
        """The number of tokens of each word of a reply."""
        ids = next((e["ids"] for e in self.events(tokenize=text) if "ids" in e), [])
        return len(ids) / max(1, len(re.findall(r"[^\W_]+|[^\w\s]+|\n", text)))


def main():
    if not os.path.exists(MODEL):
        tap.skip("/bad", "build/models/published/smollm2-135m.ingot is not there: make model NAME=smollm2-135m")
        return
    shutil.rmtree(FOLDER, True)
    os.makedirs(FOLDER)
    os.symlink(MODEL, os.path.join(FOLDER, "model.ingot"))
    chat = Chat()
    plain = {q: chat.ask(q) for q in UNRELATED}
    chat.say(command=f"/teach {TAUGHT[0]} = {TAUGHT[1]}")
    replies, said, worst = [chat.ask(CIRCLES)], [], 0
    tap.ok(replies[0].lower().count("cat,") > 10, "the reply repeats itself", replies)
    for _ in range(TIMES):
        said.append(chat.say(command="/bad").strip())
        replies.append(chat.ask(CIRCLES))
        worst = max(worst, chat.pieces(replies[-1]))
        print(f"# {said[-1]}\n# {replies[-1].strip()!r}", flush=True)
    tap.ok(len(set(replies)) > 1 and any(s.startswith("(less of that") for s in said), f"{len(set(replies))} replies to the same question, by {TIMES} times /bad", said)
    tap.ok(worst <= PIECES, f"they are made of words: {worst:.2f} tokens a word at most", replies)
    tap.ok(TAUGHT[1] in chat.ask(TAUGHT[0]), "the taught answer is still given")
    changed = [q for q in UNRELATED if chat.ask(q) != plain[q]]
    tap.ok(not changed, "unrelated replies are unchanged", changed)
    tap.ok(all(s.startswith(("(less of that", "(nothing was changed")) for s in said), "each /bad says what it did", said)


main()
tap.done()
