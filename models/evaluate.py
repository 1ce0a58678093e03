#!/usr/bin/python3
"""Examines a packed demo model: 200 prompts that it has not seen, answered greedily by the Linux
program and judged by the generator's own checks.

usage: evaluate.py [-v] [--every N] [--learn on|loose FACTS] MODEL.ingot...
--every: one conversation of N. Each conversation begins with /teach QUESTION = ANSWER for the lines
of FACTS, or /remember for those that begin with a namespace.     INGOT_BUILD: where host/ingot is, default: build"""

import collections
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "generator"))
sys.path.insert(0, os.path.join(HERE, "training"))
import held_out
from checks import contains, passes, recall, repeats
from tokenizer import read_tokenizer

BUILD = os.environ.get("INGOT_BUILD", os.path.join(HERE, "..", "build"))
STORY_TOKENS = 100
LEARN, TAUGHT = [], []
NAMESPACES = {"personal", "episodic", "wiki", "schedule", "contested"}


def lesson(line):
    return ("/remember " if line.split(" ")[0] in NAMESPACES else "/teach ") + line


def answers(model, tokenizer, system, prompts, seed=None):
    """Have one conversation with the program, and return [(reply, its number of tokens)]. Without a seed each token is
    the likeliest; with a seed tokens are drawn with the usual settings."""
    command = [os.path.join(BUILD, "host/ingot"), "chat", model, "--ids", "-t", "1"]
    command += ["--temp", "0"] if seed is None else ["--seed", str(seed)]
    command += ["--system", system] if system else []
    command += LEARN
    typed = "".join(p + "\n" for p in TAUGHT + prompts).encode()
    done = subprocess.run(command, input=typed, capture_output=True, timeout=120)
    said = done.stdout.decode(errors="replace").split("\n")
    lines = [line.split()[1:] for line in said if line.startswith("ids:")]
    if done.returncode != 0 or not lines:
        raise RuntimeError(f"no reply to {prompts}: {done.stderr.decode()}")
    lines += [[]] * (len(prompts) - len(lines))  # after a story without an end there is no room for more
    return [(tokenizer.decode([int(i) for i in ids]), len(ids)) for ids in lines]


def converse(model, tokenizer, system, exchanges):
    """Return (exchange, what was asked, reply, tokens, right?) for each exchange. A question about a story depends on
    the model's own story, so after each story the conversation begins anew."""
    asked, facts, story = [], None, None
    for e in exchanges:
        asked.append(e.pattern.format(**facts) if facts and "{" in e.pattern else e.user)
        if e.check == "story" or e is exchanges[-1]:
            replies = answers(model, tokenizer, system, asked)
            facts = recall(replies[-1][0])
    for e, prompt, (reply, tokens) in zip(exchanges, asked, replies):
        yield e, prompt, reply, tokens, passes(e, reply, recall(story))
        story = reply if e.check == "story" else story


class Result:
    """The result of one model: how many of each kind passed, and how many stories are long and have no repetition."""

    def __init__(self):
        self.passed, self.asked = collections.Counter(), collections.Counter()
        self.good_stories, self.wishes, self.granted, self.failures = 0, 0, 0, []

    def add(self, exchange, prompt, reply, tokens, right):
        self.asked[exchange.check] += 1
        self.passed[exchange.check] += right
        if exchange.check == "story":
            self.good_stories += tokens >= STORY_TOKENS and not repeats(reply)
            self.wishes += len(exchange.wanted["wishes"])
            self.granted += sum(contains(reply, wish) for wish in exchange.wanted["wishes"])
        if not right:
            self.failures.append((exchange.check, exchange.wanted, prompt, reply))

    def share(self):
        return sum(self.passed.values()) / sum(self.asked.values())

    def story_share(self):
        return self.good_stories / self.asked["story"]

    def line(self):
        kinds = ", ".join(f"{k} {self.passed[k]}/{n}" for k, n in sorted(self.asked.items()))
        return (f"{sum(self.passed.values())} of {sum(self.asked.values())} right ({kinds}); "
                f"{self.good_stories} of {self.asked['story']} stories have {STORY_TOKENS} tokens "
                f"and no sentence twice; {self.granted} of {self.wishes} wishes about place and "
                "plot granted")


def examine(model, tokenizer, every=1):
    result = Result()
    for system, exchanges in list(held_out.conversations())[::every]:
        for outcome in converse(model, tokenizer, system, exchanges):
            result.add(*outcome)
    return result


def main(models):
    verbose = "-v" in models
    if "--learn" in models:
        at = models.index("--learn")
        LEARN.extend(models[at:at + 2])
        with open(models[at + 2]) as facts:
            TAUGHT.extend(lesson(line.rstrip("\n")) for line in facts)
        del models[at:at + 3]
    every = 1
    if "--every" in models:
        at = models.index("--every")
        every = int(models[at + 1])
        del models[at:at + 2]
    tokenizer = read_tokenizer(os.path.join(HERE, "demo", "tokenizer.json"))
    for model in (m for m in models if m != "-v"):
        result = examine(model, tokenizer, every)
        print(f"{model}: {result.line()}", flush=True)
        for failure in result.failures if verbose else []:
            print("  ", *failure, sep=" | ")


if __name__ == "__main__":
    main(sys.argv[1:])
