#!/usr/bin/python3
"""When a card is made, this computer computes the state of the system prompt and stores it on the card. With this state boards compute none
of the prompt's tokens, and reply with the same ids and bits as without it. If the state does not fit, a message names the difference, and the board
computes the prompt."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, RISCV64_ANY, ROOT, Reply, Tap, card_arguments, make_board_card, make_card, run
from talk import own_copy

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
PROMPT = "Hello! Who are you?"
SYSTEM = "Answer briefly, be kind. " * 8
WORDS = f'temp=0 ids spec=off n=12 system="{SYSTEM}"'

tap = Tap()
PLAIN = make_card("prefix-none.img", MODEL)  # a card without a prefix
CARD, _ = make_board_card("virt-arm64", "prefix.img", SYSTEM=SYSTEM, MODEL=MODEL)


def boot(machine, card, words=WORDS):
    status, console = machine.run(f'prompt="{PROMPT}" {words}', 2, drives=card_arguments(card))
    r = Reply(console)
    r.status = status
    r.prefix = int((re.search(r"system prompt: (\d+) tokens computed already", console) or
                    [0, 0])[1])
    r.prompt = int((re.search(r"\[(\d+) prompt", r.stats) or [0, 0])[1])
    return r


def same(r, base):
    return r.status == 0 and r.ids and r.ids == base.ids and r.hash == base.hash


status, console = run([HOST, "run", MODEL, "-p", PROMPT, "--system", SYSTEM, "-n", "12", "--temp",
                       "0", "--ids", "--spec", "off"])
host = Reply(console)
for machine in (ARM64, RISCV64_ANY):
    label = machine.label
    base = boot(machine, PLAIN)
    tap.ok(same(base, host) and base.prefix == 0, f"{label}: without the file", base.console)
    r = boot(machine, CARD)
    tap.ok(same(r, base), f"{label}: with the file the same ids and logits", r.console)
    tap.ok(r.prefix > 40 and base.prompt - r.prompt == r.prefix,
           f"{label}: {r.prompt} tokens of the prompt are computed, and not {base.prompt}", r.console)

r = boot(ARM64, CARD, WORDS + " kv=q8")
tap.ok(r.status == 0 and r.ids and r.prompt == base.prompt and
       "ingot.prefix was saved with kv=f16" in r.console, "another type of keys is named", r.console)
r = boot(ARM64, CARD, WORDS.replace("briefly", "shortly"))
tap.ok(r.status == 0 and r.ids and r.prefix == 0 and
       "ingot.prefix belongs to another system prompt" in r.console, "another prompt is named", r.console)

for n in (60, 75, 90):  # prompts of other lengths, so that the files have other lengths
    system = SYSTEM[:n]
    card, _ = make_board_card("virt-arm64", f"prefix-{n}.img", SYSTEM=system, MODEL=MODEL)
    r = boot(ARM64, card, WORDS.replace(SYSTEM, system))
    tap.ok(r.status == 0 and r.prefix > 10, f"a prompt of {n} characters: {r.prefix} tokens", r.console)
    os.unlink(card)

damaged = own_copy(CARD, "prefix-damaged.img")
with open(damaged, "r+b") as f:
    data = f.read()
    at = data.index(b"INGOTPRE") + 512 + 9000
    f.seek(at)
    f.write(bytes([data[at] ^ 4]))
r = boot(ARM64, damaged)
tap.ok(same(r, host) and r.prompt == base.prompt and "ingot.prefix is damaged" in r.console,
       "a damaged prefix is named, and the prompt is computed", r.console)
os.unlink(damaged)
tap.done()
