#!/usr/bin/python3
"""/good and /bad cannot ruin SmolLM2-135M. Six replies are rated good, the first of them eight times, and another answer to the taught
question eight times: no reply changes, and the taught answer stays. Then a repeating reply is rated bad eight times. It changes but still consists of
words; the taught answer, the good replies and ten unrelated replies do not change."""

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
GOOD = ["Write a sentence about the moon.", "What is a river?", "Name two colours.", "Who painted the Mona Lisa?", "What do bees make?",
        "How many days has a week?"]
TIMES, PIECES = 8, 1.7  # a reply that consists of words has at most this many tokens per word, on average
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

    def ask(self, question, **sampling):
        """A request is greedy unless it sets temp; each request sets it, because the setting stays for later
        requests."""
        self.say(command="/reset")
        return self.say(prompt=question, **(sampling or {"temp": 0, "n": 64}))

    def pieces(self, text):
        """The number of tokens of each word of a reply."""
        ids = next((e["ids"] for e in self.events(tokenize=text) if "ids" in e), [])
        return len(ids) / max(1, len(re.findall(r"[^\W_]+|[^\w\s]+|\n", text)))


def call_good(chat, plain):
    """Rate replies good: these replies and others must not change."""
    said, before = [], {q: chat.ask(q) for q in GOOD}
    for q in GOOD:
        for _ in range(TIMES if q == GOOD[0] else 1):
            chat.ask(q)
            said.append(chat.say(command="/good").strip())
    wrong = chat.ask(TAUGHT[0], temp=50, top_p=1, min_p=0, top_k=40, seed=3, n=16)
    tap.ok(TAUGHT[1] not in wrong, f"a hot sampler answers the taught question with other tokens: {wrong.strip()!r}")
    said += [chat.say(command="/good").strip() for _ in range(TIMES)]
    print("# " + "\n# ".join(said), flush=True)
    tap.ok(sum(s.startswith("(more of that") for s in said) >= len(GOOD), f"{len(GOOD)} replies and that answer are called good, {len(said)} times in all", said)
    tap.ok(all(s.startswith(("(more of that", "(nothing was changed")) for s in said), "each /good says what it did", said)
    tap.ok(TAUGHT[1] in chat.ask(TAUGHT[0]), "after every /good the taught answer is there")
    changed = [q for q in GOOD if chat.ask(q) != before[q]]
    tap.ok(not changed, f"the {len(GOOD)} replies that were called good are the same", changed)
    changed = [q for q in UNRELATED if chat.ask(q) != plain[q]]
    tap.ok(not changed, f"{len(UNRELATED)} unrelated replies are unchanged by /good", changed)
    return before


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
    good = call_good(chat, plain)
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
    changed = [q for q in GOOD if chat.ask(q) != good[q]]
    tap.ok(not changed, "replies that were called good are the same after every /bad", changed)
    tap.ok(all(s.startswith(("(less of that", "(nothing was changed")) for s in said), "each /bad says what it did", said)
    chat.ask(GOOD[0])
    said = chat.say(command="/bad").strip()
    tap.ok(chat.ask(GOOD[0]) != good[GOOD[0]], "a reply that was rated good changes when it is itself rated bad", said)
    changed = [q for q in GOOD[1:] if chat.ask(q) != good[q]]
    tap.ok(not changed, "the other good replies do not change", changed)


main()
tap.done()
