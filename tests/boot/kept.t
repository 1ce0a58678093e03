#!/usr/bin/python3
"""A prompt is computed only once per card. With kept=SIZE and the file ingot.kept a board computes only the new part of a prompt that begins like an
earlier prompt, even after a restart, with attention and with a recurrence. Ids and logits equal those of a board without kept=. If the card is
write-protected, or the file is damaged or another program's, a message says so, and nothing is changed."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, ASSETS, HOST, ROOT, WORK, Reply, Tap, make_board_card, run

TEXT = "You may read the light, set the light and read the heat of a room. Be brief. " * 8
QUESTIONS = ("Hello! Who are you?", "Is the light on?")
TAIL = 48  # tokens of a question and of the template after it, at most
tap = Tap()


def drive(card, more=""):
    """The card of virt-arm64, which can be written."""
    return ["-drive", f"if=none,id=card,format=raw,file={card}{more}", "-device", "virtio-blk-device,drive=card"]


def boot(card, question, more, drive_more=""):
    status, console = ARM64.run(f'prompt="{TEXT}{question}" temp=0 ids spec=off n=8 {more}', 1, drives=drive(card, drive_more))
    r = Reply(console)
    r.status, r.prompt = status, int((re.search(r"\[(\d+) prompt", r.stats) or [0, -1])[1])
    return r


def same(r, other):
    return r.status == 0 and r.ids and r.ids == other.ids and r.hash == other.hash


def patch(card, at, new):
    """Change bytes of the card's file of kept prompts, found by the sector with its header."""
    with open(card, "r+b") as f:
        data = f.read()
        first = data.find(b"INGOTKPT")
        while first % 512:
            first = data.find(b"INGOTKPT", first + 1)
        f.seek(first + at)
        f.write(new)
    return first


def check(kind, model, block):
    card, _ = make_board_card("virt-arm64", "kept.img", MODEL=model, KEPT=8, SAVE=0)
    plain = {q: boot(card, q, "") for q in QUESTIONS}
    whole = plain[QUESTIONS[0]].prompt
    first = boot(card, QUESTIONS[0], "kept=2M")
    tap.ok(same(first, plain[QUESTIONS[0]]) and first.prompt == whole > block and "prompts are kept: room for" in first.console,
           f"{kind}: the first prompt is computed whole, {whole} tokens", first.console)
    for q in QUESTIONS:
        r, n = boot(card, q, "kept=2M"), plain[q].prompt
        most = (n - 1) % block + 1 if q == QUESTIONS[0] else n - (n - TAIL) // block * block
        tap.ok(same(r, plain[q]) and 0 < r.prompt <= most,
               f"{kind}: after a restart {r.prompt} of {n} tokens of '{q}', at most {most}", r.console)
    return card, plain[QUESTIONS[0]]


def refused(card, plain, why, drive_more=""):
    with open(card, "rb") as f:
        before = f.read()
    r = boot(card, QUESTIONS[0], "kept=2M", drive_more)
    with open(card, "rb") as f:
        tap.ok(same(r, plain) and r.prompt == plain.prompt and why in r.console and f.read() == before,
               f"the file is refused by name and not changed, and the prompt is computed: {why}", r.console)


def recurrent():
    """A packed model of Qwen3.5's shape with random weights; None if its source is missing."""
    source, packed = os.path.join(ASSETS, "arch/qwen35_gqa.gguf"), os.path.join(WORK, "kept-recurrent.ingot")
    if not os.path.exists(source):
        return None
    status, said = run([HOST, "pack", source, "-o", packed, "-q"])
    return packed if status == 0 else sys.exit(said)


card, plain = check("a model that attends", os.path.join(ROOT, "models/demo-q8_0.ingot"), 64)
refused(card, plain, "is read-only", ",readonly=on")
patch(card, 100, b"?")
refused(card, plain, "ingot.kept: its header is damaged")
patch(card, 0, b"somebody's file")
refused(card, plain, "ingot.kept: it is not a file of kept prompts")
os.unlink(card)
path = recurrent()
if path is None:
    tap.skip("a recurrence", "needs arch/qwen35_gqa.gguf in INGOT_ASSETS")
else:
    os.unlink(check("a recurrence", path, 256)[0])

card, _ = make_board_card("virt-arm64", "kept-none.img", MODEL=os.path.join(ROOT, "models/demo-q8_0.ingot"), SAVE=0)
r = boot(card, QUESTIONS[0], "kept=2M")
tap.ok(r.status == 0 and r.ids and "kept only in memory: the card has no ingot.kept" in r.console,
       "without the file, prompts are kept only in memory, and a message says so", r.console)
r = boot(card, QUESTIONS[0], "kept=1")
tap.ok(r.status == 0 and r.ids and "not enough for one block" in r.console, "too little memory is named", r.console)
os.unlink(card)
tap.done()
