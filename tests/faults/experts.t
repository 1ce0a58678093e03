#!/usr/bin/python3
"""Cards that fail while experts of a mixture are read: layer, expert and sector are named, the prompt comes back, and the text is right after the
card works again. Temporary errors do not change the text."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from flaky_card import Session, card_of, ids_of, rule
from machine import LONG as EVERYTHING
from machine import ARM64, RISCV64_ANY as RISCV64_V, ROOT, WORK, Tap, experts

MODEL = os.path.join(ROOT, "models/mixture-q4_0.ingot")
EXPERTS = experts(MODEL)
WORDS = "ids temp=0 n=8 ctx=256 spec=off "
FEW = "mem=850K "  # only as many slots as a token needs experts, so each token reads
BAD = 2            # the layer whose experts fail
LINES = ("Tell me a story about a fox.", "Who are you?")
os.makedirs(WORK, exist_ok=True)
CARD, FIRST = card_of(MODEL)
Session.well = CARD
tap = Tap()


def middle(expert):
    offset, size, _ = EXPERTS[BAD]
    return offset + expert * size + size // 4


def damaged():
    """The model with a flipped bit in every expert of layer BAD."""
    with open(MODEL, "rb") as f:
        data = bytearray(f.read())
    for expert in range(EXPERTS[BAD][2]):
        data[middle(expert)] ^= 4
    path = os.path.join(WORK, "experts-flipped.ingot")
    with open(path, "wb") as out:
        out.write(data)
    return card_of(path)


def rules(once):
    """A read in every expert of the layer fails, because the router decides which expert is read."""
    return [rule(FIRST + middle(i) // 512, once) for i in range(EXPERTS[BAD][2])]


def names(text, first, exact):
    """True if the message names an expert and one of the expert's sectors; exact: it must be the first sector."""
    found = re.search(r"error: .*: layer (\d+), expert (\d+), sector (\d+) of ", text)
    if not found or int(found.group(1)) != BAD:
        return False
    _, expert, sector = map(int, found.groups())
    offset, size, n = EXPERTS[BAD]
    begins = first + (offset + expert * size) // 512
    return expert < n and begins <= sector < begins + (1 if exact else size // 512)


class Row:
    """The results for a fault; rows run in parallel and are reported one after the other."""

    def __init__(self, name, card=CARD, words=WORDS + FEW, **more):
        self.name, self.told, self.session = name, [], Session(card, words, **more)
        self.ok(self.session.wait(r"^> ") is not None, "the board starts", self.session.seen)

    def ok(self, good, what, detail=""):
        self.told.append((good, f"{self.name}: {what}", detail))

    def right(self, what):
        """Check that the conversation continues as if the failed reply had never been in it."""
        replies = [self.session.ask(line) for line in LINES]
        text = "".join(said for _, said in replies)
        self.ok([ids for ids, _ in replies] == RIGHT and "in the cache" in text, what, text)
        return text

    def refused(self, line, what, holds):
        ids, text = self.session.ask(line)
        self.ok(ids is None and text.endswith("> ") and holds(text), what, text)


def passes(name, words):
    """The errors begin after the start, so that they do not affect the measurement of the card."""
    row = Row(name, words=WORDS + words, rules=rules(True), start="well")
    row.session.swap("card")
    text = row.right("the right text")
    row.ok(re.search(r", \d+ retr(y|ies)\b", text) is not None, "repeated reads are reported", text)
    return row


def stays(name, card, first, exact, machine=ARM64, faults=()):
    row = Row(name, card, machine=machine, rules=faults)
    for line in LINES:
        row.refused(line, "layer, expert and sector are named, and the prompt is back",
                    lambda text: names(text, first, exact))
    row.session.swap("well")
    row.right("and another card")
    return row


def ends(name, card):
    """With prompt= there is no person to ask, so the board reports the error and powers off."""
    row = Row.__new__(Row)
    row.name, row.told = name, []
    row.session = Session(card, WORDS + FEW + " prompt=hello")
    text = row.session.wait(r"power off") or row.session.seen
    row.ok(names(text, FIRST, True) and "power off" in text, "the faulty expert is named, and the power goes off", text)
    return row


def slow(name):
    row = Row(name)
    row.session.pace(400000)
    text = row.right("the right text")
    rates = [float(rate) for rate in re.findall(r"in all at ([\d.]+) MB/s", text)]
    row.ok(rates and rates[-1] < 2, f"the slow card's rate is reported: {rates} MB/s", text)
    row.session.pace(0)
    row.right("and fast again")
    return row


def back(session):
    session.swap("card")
    session.pace(0)


def fall_silent(session):
    session.pace(1)


def gone_in_prompt(name, go, expected):
    row = Row(name, short=go is fall_silent)
    go(row.session)
    row.refused(LINES[0], expected, lambda text: "error: " in text and expected in text)
    back(row.session)
    row.right("and back")
    return row


def gone_between(name, go, expected):
    row = Row(name, short=go is fall_silent)
    first = row.session.ask(LINES[0])
    row.ok(first[0] == RIGHT[0], "the first reply is right", first[1])
    go(row.session)
    row.refused(LINES[1], expected, lambda text: "error: " in text and expected in text)
    back(row.session)
    ids, text = row.session.ask(LINES[1])
    row.ok(ids == RIGHT[1], "with the card back, the conversation continues", text)
    return row


def gone_in_reply(name, go, expected):
    """Text that was printed before the fault stays, and is right."""
    row = Row(name, words=WORDS.replace("n=8", "n=60") + FEW, short=go is fall_silent)
    row.session.pace(1000000)  # a few tokens per second
    row.session.send(LINES[0])
    row.session.wait(re.escape(LINES[0]) + r"\n(?:\[[^\n]*\n|\n)*[^\n\[]{3}")  # the reply's first characters, after a slow prompt's lines of progress
    go(row.session)
    ids, text = ids_of(row.session.wait(r"^> ") or row.session.seen[row.session.at:])
    row.ok("error: " in text and expected in text and ids and len(ids) < len(LONG) and
           ids == LONG[:len(ids)], f"{expected} is named, after the text printed so far", text)
    back(row.session)
    row.session.ask("/reset")
    ids, text = row.session.ask(LINES[0])
    row.ok(ids == LONG, "with the card back, the reply is complete", text)
    return row


def reply_of(n, *lines):
    """With everything in memory."""
    session = Session(CARD, WORDS.replace("n=8", f"n={n}"))
    ids = [session.ask(line)[0] for line in lines] if session.wait(r"^> ") else []
    session.close()
    return ids


def rows():
    flipped, first = damaged()
    yield passes, "a read error in every expert that is read", FEW
    yield passes, "the same, with experts read ahead", "mem=1400K experts=ahead "
    for machine in (ARM64, RISCV64_V):
        yield stays, f"{machine.board}: sectors that never read", CARD, FIRST, False, machine, rules(False)
    yield stays, "flipped bits", flipped, first, True
    yield ends, "flipped bits, and a prompt by option", flipped
    yield slow, "a card that becomes slow"
    for way, go, expected in (("silent", fall_silent, "did not answer"),
                              ("dead", lambda s: s.swap("dead"), "a transfer failed")):
        # The wait for a silent card takes real time, and a core polls meanwhile, so one machine is enough.
        if EVERYTHING or way != "silent":
            yield gone_in_prompt, f"{way} during a prompt", go, expected
            yield gone_between, f"{way} between two", go, expected
        yield gone_in_reply, f"{way} during a reply", go, expected


def play(case):
    try:
        row = case[0](*case[1:])
    except Exception as problem:  # the other rows are reported nevertheless
        return [(False, f"{case[1]}: {problem!r}", "")]
    row.session.close()
    return row.told


RIGHT, (LONG,) = reply_of(8, *LINES), reply_of(60, LINES[0]) or [None]
if tap.ok(len(RIGHT) == 2 and all(RIGHT) and LONG and LONG[:8] == RIGHT[0], "a card without faults gives the expected replies", RIGHT):
    with ThreadPoolExecutor(5) as pool:  # most rows only wait
        for told in pool.map(play, list(rows())):
            for line in told:
                tap.ok(*line)
tap.done()
