#!/usr/bin/python3
"""Replies that follow a grammar: the same seed gives the same text on every board and ISA, with every number of cores, resident and streamed,
and with a draft. Each of many replies satisfies its schema. Grammars come from the card, by a command and at the start; each invalid grammar
gives one error message."""

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, RISCV64, RISCV64_V, ROOT, WORK, Tap, card_arguments, make_card, run
from talk import Console

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
DRAFT = os.path.join(ROOT, "models/demo-q4_0.ingot")
SCHEMA = {"type": "object", "required": ["light", "on"], "properties": {
    "light": {"enum": ["red", "green", "blue"]}, "on": {"type": "boolean"},
    "level": {"type": "integer", "minimum": 0, "maximum": 100},
    "note": {"type": "string", "maxLength": 12}}}
tap = Tap()


def work(name, text=None):
    path = os.path.join(WORK, "grammar-" + name)
    if text is not None:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    return path


def host(*words, prompt="Set the light.", stdin=None):
    return run([HOST, "run", MODEL, "-p", prompt, "-n", "80", "-q", *words], stdin=stdin)


def is_right(text):
    try:
        value = json.loads(text)
    except ValueError:
        return False
    keys = [k for k in SCHEMA["properties"] if k in value]
    return (list(value) == keys and value["light"] in ("red", "green", "blue") and isinstance(value["on"], bool) and
            (type(value.get("level", 0)) is int and 0 <= value.get("level", 0) <= 100) and len(value.get("note", "")) <= 12)


schema = work("light.json", json.dumps(SCHEMA))
compiled = work("light.grammar")
status, text = run([HOST, "grammar", schema, "-o", compiled])
tap.ok(status == 0 and "states" in text and 0 < os.path.getsize(compiled) < 4096, "a schema is compiled", text)

# At a high temperature the grammar refuses most sampled tokens, and each of many replies follows it.
with ThreadPoolExecutor(os.cpu_count()) as pool:
    said = list(pool.map(lambda seed: host("--grammar", compiled, "--temp", "2.5", "--top-p", "1", "--min-p", "0", "--seed", str(seed)), range(40)))
texts = [t.strip() for _, t in said]
tap.ok(all(s == 0 for s, _ in said) and all(map(is_right, texts)), "40 replies at temperature 2.5 are what the schema allows",
       [t for t in texts if not is_right(t)][:3])
tap.ok(len(set(texts)) > 15, f"{len(set(texts))} of the replies differ")
same = host("--grammar", schema, "--temp", "2.5", "--top-p", "1", "--min-p", "0", "--seed", "3")[1].strip()
tap.ok(same == texts[3], "the schema gives the same replies as the compiled grammar", same)
for words in (("--spec", "ngram"), ("-t", "3"), ("--mem", "600K"), ("--isa", "ref")):
    got = host("--grammar", compiled, "--temp", "2.5", "--top-p", "1", "--min-p", "0", "--seed", "3", *words)[1].strip()
    tap.ok(got == texts[3], f"{' '.join(words)}: the same text", got)
greedy = host("--grammar", compiled, "--temp", "0")[1].strip()
got = host("--grammar", compiled, "--temp", "0", "--draft", DRAFT)[1].strip()
tap.ok(is_right(greedy) and got == greedy, "a draft changes nothing", f"{got} {greedy}")

# Grammars on boards, from the card's folder grammars/.
card = make_card("grammar.img", "--root", compiled + ":grammars/light.grammar", MODEL)
words = 'prompt="Set the light." n=80 seed=3 temp=1.5 top_p=1 min_p=0 grammar=light'
warm = host("--grammar", compiled, "--temp", "1.5", "--top-p", "1", "--min-p", "0", "--seed", "3")[1].strip()
cells = [(m, cores, mem) for m in (ARM64, RISCV64, RISCV64_V) for cores, mem in ((1, ""), (3, " mem=600K"))]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    booted = list(pool.map(lambda c: c[0].run(f"{words} cores={c[1]}{c[2]}", c[1], drives=card_arguments(card)), cells))
for (machine, cores, mem), (status, console) in zip(cells, booted):
    tap.ok(status == 0 and "\n" + warm in console.replace("\r", ""), f"{machine.label}, {cores} cores{mem}: the same text", console[-600:])

with Console(ARM64, "grammar=on temp=0 n=80", card_arguments(card)) as c:
    c.prompt()
    tap.ok("held to light" in c.say("/grammar light") and is_right(re.search(r"\{.*\}|$", c.say("Set the light."), re.S)[0]),
           "/grammar loads a grammar of the card")
    tap.ok("no grammars/none.grammar: `ingot grammar` makes one" in c.say("/grammar none"), "a grammar that does not exist is refused")
    tap.ok("held to light" in c.say("/grammar"), "the previous grammar still applies")
    said = c.say("/grammar yes|no|perhaps")
    tap.ok(re.search(r"^(yes|no|perhaps)\s*$", c.say("Is it?"), re.M) is not None, "/grammar accepts choices", said)
    tap.ok("a choice is empty" in c.say("/grammar a||b"), "an empty choice is refused")
    tap.ok("free" in c.say("/grammar off"), "/grammar off removes the grammar")

with Console(ARM64, "", card_arguments(card)) as c:
    c.prompt()
    tap.ok("start with grammar=on" in c.say("/grammar yes|no"), "without grammar= a message says that it is missing")

for name, text, says in (("open.gbnf", 'root ::= "a', "line 1: a text has no closing quote"),
                         ("left.gbnf", 'root ::= root "a" | "b"', "rule root begins with itself"),
                         ("pattern.json", r'{"type":"string","pattern":"(a)\\1"}', "/pattern of the schema cannot be part of a grammar"),
                         ("broken.json", '{"type":', "the schema is not JSON"),
                         ("many.gbnf", "root ::= " + "|".join(f'"{i * 7919 % 99991:05d}x{i}"' for i in range(3000)), "too large")):
    path = work(name, text)
    for command in ([HOST, "grammar", path, "-o", work("none")], [HOST, "run", MODEL, "-p", "a", "--grammar", path, "-q"]):
        status, console = run(command)
        tap.ok(says in console and "Traceback" not in console and (status != 0 or command[1] == "run"), f"{command[1]}: {says}", console[-400:])
damaged = work("damaged.grammar")
with open(compiled, "rb") as f:
    data = bytearray(f.read())
data[40] ^= 1
with open(damaged, "wb") as f:
    f.write(data)
tap.ok("its checksum is wrong" in host("--grammar", damaged)[1], "a damaged grammar is refused")
tap.ok("a grammar cannot be combined with --beams" in run([HOST, "run", MODEL, "-p", "a", "--grammar", "a|b", "--beams", "2", "-n", "3"])[1],
       "beams follow the grammar")
tap.done()
