#!/usr/bin/python3
"""A card is pulled out of a running board, its files ingot.log and ingot.kept are deleted on a computer, and it is put back. The board writes nothing to
the clusters of these files, which may now belong to others, and says so once; the conversation goes on."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, Tap, make_board_card
from talk import Console, make_model

TEXTS = [f"Text {n} is long enough for a few blocks of kept prompts, which have 64 tokens or more each. " * 3 for n in range(4)]
tap = Tap()
CARD, _ = make_board_card(ARM64.board, "changed-card.img", MODEL=make_model("changed-card", 7), LOG=1, KEPT=4, SAVE=0)
DRIVE = ["-drive", f"if=none,id=card,format=raw,file={CARD}", "-device", "virtio-blk-device,drive=card"]
PLACES = ("ingot.log is no longer where it was", "ingot.kept is no longer where it was")


def bytes_of_card():
    with open(CARD, "rb") as f:
        return f.read()


def delete(name83):
    """Delete an entry of the root folder, as computers do."""
    with open(CARD, "r+b") as f:
        f.seek(bytes_of_card().index(name83))
        f.write(b"\xe5")


with Console(ARM64, "temp=0 n=8 spec=off log=on kept=4M", DRIVE) as k:
    k.prompt()
    said = k.say(TEXTS[0])
    first = bytes_of_card()
    tap.ok(b"INGOTREC" in first and b"INGOTKPB" in first and not any(p in said for p in PLACES), "a turn and its prompt are on the card", said)
    said = k.say(TEXTS[1])
    whole = bytes_of_card()
    tap.ok(whole.count(b"INGOTREC") > first.count(b"INGOTREC") and whole.count(b"INGOTKPB") > first.count(b"INGOTKPB"),
           "so are the next ones", said)
    for entry in (b"INGOT   LOG", b"INGOT~1 KEP"):
        delete(entry)
    changed = bytes_of_card()
    said = k.say(TEXTS[2])
    tap.ok(all(p in said for p in PLACES) and re.search(r"\[\d+ prompt", said), "a card that was changed is reported", said)
    tap.ok(bytes_of_card() == changed, "and nothing is written there")
    said = k.say(TEXTS[3])
    tap.ok("no longer" not in said and re.search(r"\[\d+ prompt", said), "the next turn says nothing more", said)
    tap.ok(bytes_of_card() == changed, "and writes nothing")
tap.done()
