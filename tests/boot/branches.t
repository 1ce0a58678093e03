#!/usr/bin/python3
"""Several lines of one conversation: /branch, /switch, /retry. A line that was left says what it would
have said alone, id for id, on boards and here, with keys and values of every kind and with as many
tokens to compute again as the lines differ by."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, RISCV64_V, ROOT, Tap, card_arguments, make_card, run
from talk import Console

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
CARD = make_card("branches.img", MODEL)
A, B, C = "Hello! Who are you?", "What is 2 + 3?", "Tell me a story about a cat."
SCRIPT = [A, "/branch sums", B, "/switch main", C, "/branches", "/switch sums", B, "/retry", "/branches",
          "/switch retry-1", A, "/drop sums", "/switch nowhere", "/branch main", "/branch a b"]
ALONE = {"sums": [A, B, B, A], "main": [A, C]}
WORDS = "temp=0 n=16 ids"
tap = Tap()


def ids(text):
    return re.findall(r"^ids:(.*)$", text, re.M)


def on_host(lines, *more):
    status, text = run([HOST, "chat", MODEL, "--temp", "0", "-n", "16", "--ids", *more],
                       stdin="".join(line + "\n" for line in lines).encode())
    return text if status == 0 else f"{status} {text}"


def on_board(machine, cores, words):
    with Console(machine, f"{WORDS} {words}", card_arguments(CARD), cores) as k:
        k.prompt()
        return "".join(k.say(line, 60) for line in SCRIPT)


alone = {name: ids(on_host(lines)) for name, lines in ALONE.items()}
base = on_host(SCRIPT)
said = ids(base)
tap.ok(len(said) == 6 and said[:2] == alone["sums"][:2] and said[2:3] == alone["main"][1:],
       "a line goes on from where it branched as if it were alone", base)
tap.ok(said[3:4] == said[4:5] == alone["sums"][2:3] and said[5:] == alone["sums"][3:],
       "the one that was left, its retry and the answer before that, too", base)
tap.ok(re.search(r"this one\n  main +1 turn, \d+ tokens\n|main +2 turns, \d+ tokens, this one\n  sums", base) and
       "(the other answer: /switch retry-1)" in base and "(retry-1: 3 turns" in base,
       "they are listed, and /retry names what it keeps", base)
tap.ok("(sums is forgotten)" in base and "error: there is no branch nowhere" in base and
       "error: there is a branch main already" in base and "error: /branch takes a name" in base,
       "what cannot be is a sentence", base)

text = on_host([A, "/branch a", "/branch b"], "--branches", "1")
tap.ok("error: 1 branch is kept, and there is no room for more: /drop NAME" in text, "room runs out", text)
text = on_host([A, "/branch a", B, "/retry", "/branches"], "--branches", "0")
tap.ok("no room for branches: --branches 4 makes some" in text and len(ids(text)) == 3,
       "or there is none, and /retry answers all the same", text)

for kv in ("q8", "rot_q8,rot_q4", "ruv"):
    text = on_host(SCRIPT, "--kv", kv)
    want = [ids(on_host(lines, "--kv", kv)) for lines in ALONE.values()]
    got = ids(text)
    tap.ok(got[:2] == want[0][:2] and got[2:3] == want[1][1:] and got[5:] == want[0][3:],
           f"kv={kv}: as alone", text)
for machine, cores, words in ((ARM64, 1, ""), (ARM64, 4, "mem=900K"), (RISCV64_V, 2, "kv=f16")):
    text = on_board(machine, cores, words)
    tap.ok(ids(text) == said, f"{machine.label}, {cores} cores {words}: the ids of this computer", text)
tap.done()
