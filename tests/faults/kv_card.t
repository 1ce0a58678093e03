#!/usr/bin/python3
"""Keys and values on a card that is missing, too small, write-protected, unreadable or changed: an error message and the prompt come, and then the
reply of an undisturbed run."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kv_model
from machine import ARM64, HOST, WORK, Tap, card_arguments, make_card, run
from talk import Console, own_copy

tap = Tap()
MODEL = kv_model.model()
CARD = make_card("kv-faults.img", "--kv", "2", "--save", "4", MODEL)
MEM = kv_model.memory(MODEL, "f16", False)
WORDS = f"ids temp=0 n=8 spec=off ctx={kv_model.CONTEXT} kv=card mem={MEM}"
TELL = "Here is a long line, which fills a page and a half of them. " * 2
ASK = ("And then?", "Why?")


def writable(card):
    return ["-drive", f"if=none,id=card,format=raw,cache=unsafe,file={card}",
            "-device", "virtio-blk-device,drive=card"]


def ids_of(text):
    found = re.search(r"^ids:((?: \d+)*)$", text, re.M)
    return found.group(1).split() if found else None


def logits_of(text):
    found = re.search(r"^logits: (\w+)", text, re.M)
    return found.group(1) if found else None


# ---- refused at the start -----------------------------------------------------------------------

none = make_card("kv-none.img", MODEL)
for name, words, drive, expected in (
        ("no file", WORDS, writable(none), "the card has no ingot.kv: make it with `make card KV=MiB`"),
        ("a file too small", WORDS.replace("kv=card", "kv=card,f32").replace(
            str(MEM), str(kv_model.memory(MODEL, "f32", False))),
         writable(own_copy(CARD, "kv-small.img")), "ingot.kv is too small for a context of 1024: make"),
        ("a card that takes no writes", WORDS, card_arguments(CARD), "is read-only: leave out kv=card")):
    status, text = ARM64.run(words + ' prompt="x"', 1, drive)
    tap.ok(status == 0 and "warning: kv=card" in text and expected in text and "keys and values stay in memory" in text and
           ids_of(text) and "power off" in text, name, text)
status, text = run([HOST, "run", MODEL, "-p", "a", "-n", "1", "--kv", "card", "--mem", str(MEM)])
tap.ok(status == 1 and "--kv-file" in text, "kv=card without --kv-file is refused", text)
status, text = run([HOST, "run", MODEL, "-p", "a", "-n", "1", "--kv", "card", "--mem", str(MEM),
                    "--kv-file", os.path.join(WORK, "kv-not-there")])
tap.ok(status == 1 and "cannot open" in text and "truncate" in text, "a missing file is reported with the command that makes it",
       text)

# ---- an undisturbed run -----------------------------------------------------------------------

card = own_copy(CARD, "kv-faults-well.img")
with Console(ARM64, WORDS, writable(card)) as k:
    k.prompt()
    RIGHT = [(ids_of(t), logits_of(t)) for t in (k.say(line) for line in (TELL, *ASK))]
    k.say("/undo")
    text = k.say(ASK[1])
    tap.ok(ids_of(text) == RIGHT[2][0] and RIGHT[2][0], "/undo back into a page on the card works", text)
    tap.ok("are saved" in k.say("/save"), "/save", k.seen)
    k.say("/reset")
    tap.ok("go on" in k.say("/load"), "/load", k.seen)
    SAVED = ids_of(k.say(ASK[0]))
with open(CARD, "rb") as a, open(card, "rb") as b:
    before, after = a.read(), b.read()
changed = [s for s in range(len(before) // 512)
           if before[s * 512:s * 512 + 512] != after[s * 512:s * 512 + 512]]
FIRST = changed[0]  # the first changed sector of ingot.kv, unless saves/chat.sav lies before it: then search after that file
marks = [i for i in range(0, len(after), 512) if after[i:i + 8] == b"INGOTSAV"]
if marks and FIRST * 512 >= marks[0] - (4 << 20):
    FIRST = next(s for s in changed if s * 512 >= marks[0] + (2 << 20))
tap.ok(SAVED is not None and len(SAVED) == 8, "the conversation continues after /load")
del before, after

# ---- a card that changes ------------------------------------------------------------------------

card = own_copy(CARD, "kv-faults-flip.img")
PAGE = kv_model.page_bytes("f16")
with Console(ARM64, WORDS, writable(card)) as k:
    k.prompt()
    tap.ok(ids_of(k.say(TELL)) == RIGHT[0][0], "a card that will be damaged works at first", k.seen)
    k.say("/stats")
    # Layers 0 and 1 of the next pass were already read ahead; layer 3's first page was not.
    at = FIRST * 512 + 3 * kv_model.CONTEXT // kv_model.TILE * PAGE + 700
    with open(card, "r+b") as f:
        f.seek(at)
        byte = f.read(1)
        f.seek(at)
        f.write(bytes([byte[0] ^ 16]))
    text = k.say(ASK[0])
    tap.ok("ingot.kv: keys and values of layer 3 from token 0 on: their bytes differ from those written" in text and
           ids_of(text) is None, "a flipped bit is found and named", text)
    texts = [k.say(line) for line in ASK]
    tap.ok([ids_of(t) for t in texts] == [r[0] for r in RIGHT[1:]],
           "the replies are right when the questions are asked again", "\n".join(texts))

options = {"driver": "raw", "node-name": "card",
           "file": {"driver": "blkdebug", "node-name": "debug",
                    "image": {"driver": "file", "filename": card},
                    "inject-error": [{"event": "read_aio", "iotype": "read", "errno": 5,
                                      "sector": at // 512, "once": False, "immediately": False}]}}
with Console(ARM64, WORDS, ["-blockdev", json.dumps(options),
                            "-device", "virtio-blk-device,drive=card"]) as k:
    k.prompt()
    for _ in range(2):
        text = k.say(TELL, 120)
        tap.ok("keys and values of layer 3 from token 0 on, sector" in text and
               ids_of(text) is None, "a page that can never be read is named, and the prompt is back", text)
    k.say("/reset")
    text = k.say("Hi")
    tap.ok(ids_of(text) is not None, "a question that needs no such page is answered", text)
tap.done()
