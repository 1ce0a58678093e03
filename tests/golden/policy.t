#!/usr/bin/python3
"""A policy of turns. If the policy only watches, replies equal those without a policy, bit for bit, also with recurrent models. If the policy
decides, it makes the same choices from the results of turns on the host, arm64 and riscv64. A saved policy continues."""

import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, ASSETS, HOST, RISCV64_ANY, ROOT, WORK, Tap, card_arguments, make_card, pack, run
from talk import Console

DEMO = os.path.join(ROOT, "models/demo-q4_0.ingot")
tap = Tap()


def chat(model, lines, *options):
    return run([HOST, "chat", model, "--ids", *options], stdin=("\n".join(lines) + "\n").encode())[1]


def replies(text):
    return re.findall(r"^ids: ([\d ]*)\nlogits: (\w+)", text.replace("\r", ""), re.M)


def learned(text):
    return re.findall(r"^\((?:\d+ turns? judged|last turn).*$", text.replace("\r", ""), re.M)


LINES = ["Hello", "What is 3 plus 4?", "/good", "Tell me a story about a cat.", "/bad", "Who are you?", "/undo", "What is 12 plus 7?", "Good morning"]
plain, watched = (chat(DEMO, LINES, "--temp", "0.7", "--seed", "3", "-n", "16", "--policy", p) for p in ("off", "watch"))
tap.ok(len(replies(plain)) == 6 and replies(plain) == replies(watched), "with a policy that only watches, every reply has the same bits", f"{plain}\n{watched}")
for name in ("lfm2", "qwen35", "mamba2_hybrid", "llama_gqa"):
    path = os.path.join(ASSETS, "arch", name + ".gguf")
    if not os.path.exists(path):
        continue
    model = pack(path, "q8_0", f"policy-{name}.ingot", "--template", "chatml")
    talk = ["abc", "de fg", "/retry", "hij", "/undo", "abc"]
    a, b = (chat(model, talk, "--temp", "0", "-n", "6", "--policy", p) for p in ("off", "watch"))
    tap.ok(len(replies(a)) == 5 and replies(a) == replies(b), f"{name}: the same", f"{a}\n{b}")

# Boards do the same: turns are rated, choices explored, and the policy saved and loaded.
FIRST = LINES + ["What is 9 plus 9?", "/good", "Say hello to Anna.", "What is 2 plus 2?", "/bad", "Bye"]
THEN = ["Hello", "What is 3 plus 4?", "Tell me a story about a dog.", "What is 8 plus 7?", "/learned"]
folder = os.path.join(WORK, "policy-models")
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
shutil.copy(DEMO, os.path.join(folder, "demo.ingot"))
host = os.path.join(folder, "demo.ingot")
words = ("--temp", "0.7", "--seed", "3", "-n", "16", "--policy", "explore")
once = chat(host, FIRST + ["/save learn", "/learned"], *words)
again = chat(host, THEN, *words)
tap.ok("what 10 turns have shown is saved in" in once and "(10 turns judged, 2 good and 2 bad" in once and "learnt before: 10 turns" in again and
       len(learned(again)) == 2, "turns are judged, saved, and loaded at the start", once + again)


def facts(text):
    """The judgements and choices, except the choice about guesses, which depends on measured times."""
    return [re.sub(r"guesses [a-z ]+\([\d.]+\), ", "", line) for line in learned(text)]


# All turns in one run, without a file for the policy.
whole = chat(DEMO, FIRST + ["/learned"] + THEN, *words)
plain = chat(DEMO, FIRST + THEN, *words[:-2])
tap.ok(len(replies(plain)) == 14 and replies(whole) != replies(plain), "the choice changes the reply", whole)
card = make_card("policy-card.img", DEMO)


def board(machine):
    with Console(machine, "policy=explore temp=0.7 seed=3 n=16 ids model=demo-q4_0", card_arguments(card)) as k:
        k.prompt()
        return "".join(k.say(line) for line in FIRST + ["/learned"] + THEN)


with ThreadPoolExecutor(os.cpu_count()) as pool:
    for machine, said in zip((ARM64, RISCV64_ANY), pool.map(board, (ARM64, RISCV64_ANY))):
        tap.ok(len(replies(whole)) == 14 and replies(said) == replies(whole), f"{machine.label}: the same replies", said[-2000:])
        tap.ok(len(facts(whole)) == 4 and facts(said) == facts(whole), f"{machine.label}: the policy makes the same choices", (facts(said), facts(whole)))
tap.done()
