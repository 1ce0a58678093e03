#!/usr/bin/python3
"""Cards that fail while weights load and stream: a message and the prompt come, and the text is right after the card works again or was replaced.
A program gets `ready` without a model."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from flaky_card import Session, card_of, ids_of, rule
from machine import ARM64, HOST, LONG, RISCV64_ANY as RISCV64_V, WORK, Tap, segments

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "stream-faults.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
SEGMENTS = segments(MODEL)
WORDS = "ids temp=0 n=4 ctx=128 "
STREAM = f"mem={2 * max(size for _, size in SEGMENTS[1:-1]) + 4 * 4096}"  # memory for only two slots

CARD, FIRST = card_of(MODEL)
Session.well = CARD
LAYER = ["layer 2, sector", "a transfer failed"]  # parts of the message about a sector that can never be read


def damage():
    """Yields cards with a damaged model: a flipped bit in layer 2, and a file that ends before layer 2."""
    with open(MODEL, "rb") as f:
        good = f.read()
    bad = bytearray(good)
    bad[SEGMENTS[3][0] + SEGMENTS[3][1] // 2] ^= 4
    for name, data in (("flipped", bytes(bad)), ("short", good[:SEGMENTS[3][0]])):
        path = os.path.join(WORK, f"stream-faults-{name}.ingot")
        with open(path, "wb") as out:
            out.write(data)
        yield card_of(path)[0]


def sector(segment):
    offset, size = SEGMENTS[segment]
    return FIRST + (offset + size // 2) // 512


class Program(Session):
    """A session with a program at the line (docs/SERIAL.md)."""

    def __init__(self, card, words, **more):
        super().__init__(card, words + " mode=json", **more)

    def events(self, last):
        """The events up to and including the next event of the kind `last`."""
        text = self.wait(r'^\{"event":"%s".*\}\n' % last) or self.seen[self.at:]
        return [json.loads(line) for line in text.splitlines()
                if line.startswith("{") and line.endswith("}")]

    def ask(self, **request):
        self.send(json.dumps(request))
        return self.events("done")


class Row:
    """The results for a fault; rows run in parallel and are reported one after the other."""

    def __init__(self):
        self.told = []

    def ok(self, good, what, detail=""):
        self.told.append((good, what, detail))
        return good

    def starts(self, session, name):
        return self.ok(session.wait(r"^> ") is not None, f"{name}: the board starts", session.seen)

    def right(self, session, name):
        """Check that the conversation continues as if the failed turn had never been in it."""
        first, text = session.ask("hello there")
        second, more = session.ask("and again")
        self.ok(RIGHT is not None and first == RIGHT and second == SECOND,
                f"{name}: the text is right", text + more)
        return text + more

    def refused(self, session, line, words, name):
        ids, text = session.ask(line)
        self.ok(ids is None and "error: " in text and all(w in text for w in words) and
                text.endswith("> "), f"{name}: {line!r} is answered with {', '.join(words)}", text)


# ---- errors of the card, flipped bits, files cut short -------------------------------------------


def error_once(row, name, segment, words):
    """The fault begins after the card has been measured, so that it does not affect the measurement."""
    session = Session(CARD, WORDS + words, rules=[rule(sector(segment), True)],
                      start="well" if words else "card")
    if row.starts(session, name):
        session.swap("card")
        text = row.right(session, name)
        row.ok(not words or re.search(r", \d+ retr(y|ies)\b", text), f"{name}: the retries are reported", text)
    session.close()


def ends(row, name, card, words, expected, rules=()):
    """With prompt= there is no person to ask, so the image reports the error and powers off."""
    session = Session(card, WORDS + words + " prompt=hello", rules=rules)
    text = session.wait(r"power off") or session.seen
    row.ok(all(w in text for w in expected + ["error: ", "power off"]), name, text)
    session.close()


def wrong_for_good(row, name, card, expected, rules=()):
    """A streamed layer is wrong: the error is named at each attempt, until the card is replaced."""
    session = Session(card, WORDS + STREAM, rules=rules)
    if row.starts(session, name):
        for line in ("hello there", "and again"):
            row.refused(session, line, expected, name)
        session.swap("well")
        row.right(session, f"{name}, and another card")
    session.close()


# ---- slow, and gone ------------------------------------------------------------------------------


def slow(row):
    session = Session(CARD, WORDS + STREAM)
    if row.starts(session, "a card that becomes slow"):
        session.pace(400000)
        text = row.right(session, "50 times slower")
        rates = [float(r) for r in re.findall(r"in all at ([\d.]+) MB/s", text)]
        row.ok(rates and rates[-1] < 2, f"the slow card's rate is reported: {rates} MB/s", text)
        session.pace(0)
        row.right(session, "and fast again")
    session.close()


def back(session):
    session.swap("card")
    session.pace(0)


def fall_silent(session):
    session.pace(1)


WAYS = (("silent", fall_silent, "did not answer"),
        ("dead", lambda session: session.swap("dead"), "a transfer failed"))


def gone_in_prompt(row, name, go, expected):
    session = Session(CARD, WORDS + STREAM, short=go is fall_silent)
    if row.starts(session, name):
        go(session)
        row.refused(session, "hello there", [expected], name)
        back(session)
        row.right(session, f"{name}, and back")
    session.close()


def gone_between(row, name, go, expected):
    session = Session(CARD, WORDS + STREAM, short=go is fall_silent)
    if row.starts(session, name):
        first, text = session.ask("hello there")
        row.ok(first is not None and first == RIGHT, f"{name}: the first reply is right", text)
        go(session)
        row.refused(session, "and again", [expected], name)
        back(session)
        ids, text = session.ask("and again")
        row.ok(ids is not None and ids == SECOND,
               f"{name}: with the card back, the conversation continues", text)
    session.close()


def gone_in_reply(row, name, go, expected):
    """The card disappears in a reply: printed text stays, and the conversation continues as if the reply had ended
    there."""
    session = Session(CARD, WORDS.replace("n=4", "n=60") + STREAM, short=go is fall_silent)
    if row.starts(session, name):
        session.pace(1000000)  # four passes per second
        session.send("hello there")
        session.wait(r"hello there\n[^\n]{3}")  # three characters, from one token or more
        go(session)
        said, text = ids_of(session.wait(r"^> ") or session.seen[session.at:])
        share = re.search(r"stalled ([\d.]+) % of the time", text)
        row.ok("error: " in text and expected in text and said and len(said) < 60,
               f"{name}: the fault is named, after the text printed so far", text)
        row.ok(share and float(share.group(1)) <= 100, f"{name}: the share of time is at most 100 %", text)
        back(session)
        other = Session(CARD, WORDS.replace("n=4", f"n={len(said or [])}") + STREAM)
        row.starts(other, f"{name}, beside one that ended there")
        row.ok(said and other.ask("hello there")[0] == said, f"{name}: the text before the fault was right", text)
        both = [s.ask("/set n 4") and s.ask("and again") for s in (session, other)]
        row.ok(both[0][0] is not None and both[0][0] == both[1][0], f"{name}: with the card back, the conversation continues after the cut reply",
               both)
        other.close()
    session.close()


def nobody(row, session, text, name, n_errors, expected):
    """Check that the text up to the prompt says why there is no model, and how to load one."""
    ids, more = session.ask("hello there")
    row.ok(text.count("error: ") == n_errors and all(w in text for w in expected) and
           "/model stream-faults" in text and ids is None and "/model" in more,
           f"{name}: a sentence, what to do, and the prompt without a model", text + more)


def model_back(row, session, name):
    text = session.ask("/model stream-faults")[1]
    row.ok("ready: " in text, f"{name}: the card is back, and so is the model", text)
    row.right(session, name)


def model_stays(row, session, name, expected):
    """The card disappears before /model is typed."""
    text = session.ask("/model stream-faults")[1]
    ids, more = session.ask("and again")
    row.ok(text.count("error: ") == 1 and expected in text and ids is not None,
           f"{name}: a model whose card cannot be read leaves the current one", text + more)


def gone_in_load(row, name, go, expected):
    session = Session(CARD, WORDS, bps=50000, short=go is fall_silent)
    session.wait(r"predicted: ")
    go(session)
    nobody(row, session, session.wait(r"^> ") or session.seen, name, 1, [expected])
    back(session)
    model_back(row, session, name)
    go(session)
    model_stays(row, session, name, expected)
    session.close()


def person_without_card(row, machine, rules):
    """A read error while the model loads, at the start and by /model; the previous model has the same error."""
    session = Session(CARD, WORDS, rules=rules, machine=machine)
    name = f"{machine.board}: a read error while loading"
    nobody(row, session, session.wait(r"^> ") or session.seen, name, 1, LAYER)
    session.swap("well")
    model_back(row, session, name)
    session.swap("dead")
    model_stays(row, session, f"{machine.board}: /model on a dead card", "a transfer failed")
    session.ask("/reset")
    session.swap("card")
    name = f"{machine.board}: a read error in /model"
    nobody(row, session, session.ask("/model stream-faults")[1], name, 2, LAYER)
    session.swap("well")
    model_back(row, session, name)
    session.close()


# ---- no model, and a program on the line ---------------------------------------------------------


def kinds(events):
    return [e["event"] for e in events if e["event"] not in ("log", "progress")]


def ids_of_events(events):
    return [str(e["id"]) for e in events if e["event"] == "token" and e["id"] is not None]


def without_model(row, program, name, events, reasons):
    """Check that the `events` end with `ready` without a model, after errors that contain `reasons`, and that later requests
    are answered."""
    told = kinds(events)
    errors = [e["text"] for e in events if e["event"] == "error"]
    ready = [e for e in events if e["event"] == "ready"]
    row.ok(len(ready) == 1 and ready[0]["model"] is None and ready[0]["weights"] is None and
           "error" in told[:told.index("ready")] and all(r in " ".join(errors) for r in reasons),
           f"{name}: {', '.join(reasons)}, and `ready` without a model", program.seen)
    answers = [program.ask(prompt="hello there"), program.ask(command="/help all"),
               program.ask(reset=True, temp=0)]
    lines = kinds(answers[1])
    row.ok(kinds(answers[0]) == ["error", "done"] and "/model" in answers[0][0]["text"] and
           len(lines) > 10 and set(lines) == {"text", "done"} and kinds(answers[2]) == ["done"] and
           [a[-1]["reason"] for a in answers] == ["error", "command", "command"],
           f"{name}: a prompt, a command and a setting are answered", answers)


def with_model(row, program, name):
    """Check that /model loads the model, which then replies as if nothing had happened."""
    events = program.ask(command="/model stream-faults")
    ready = [e for e in events if e["event"] == "ready"]
    reply = program.ask(prompt="hello there")
    row.ok(len(ready) == 1 and ready[0]["model"] == "stream-faults.ingot" and
           kinds(events)[-1] == "done" and "error" not in kinds(events) and
           ids_of_events(reply) == RIGHT,
           f"{name}: the model is back, and the right text", events + reply)


def program_without_card(row, machine, rules):
    """A read error while the model loads, at the start and by /model; if a card disappears before /model, the model stays."""
    program = Program(CARD, WORDS, rules=rules, machine=machine)
    name = f"{machine.board}, a program: a read error while loading"
    without_model(row, program, name, program.events("ready"), LAYER)
    program.swap("well")
    with_model(row, program, name)
    program.swap("dead")
    events = program.ask(command="/model stream-faults")
    reply = program.ask(prompt="hello there", reset=True)
    row.ok(kinds(events) == ["error", "done"] and "a transfer failed" in events[0]["text"] and
           ids_of_events(reply) == RIGHT,
           f"{machine.board}, a program: /model, and the card is gone: the model stays",
           events + reply)
    program.swap("card")
    name = f"{machine.board}, a program: a read error in /model"
    events = program.ask(command="/model stream-faults")
    row.ok(kinds(events)[-2:] == ["ready", "done"], f"{name}: `ready` comes before `done`", events)
    without_model(row, program, name, events, LAYER)
    program.swap("well")
    with_model(row, program, name)
    row.ok(program.process.poll() is None and "trap:" not in program.seen and
           "power off" not in program.seen, f"{name}: no trap occurs, and the machine stays on", program.seen)
    program.close()


def rows():
    for place, segment, words in (("a pinned layer", 1, ""), ("a streamed layer", 2, STREAM),
                                 ("the embedding", 0, STREAM)):
        yield error_once, f"one read error in {place}", segment, words
    flipped, short = damage()
    layer = [rule(sector(3), False)]
    yield (ends, "a sector that never reads, of a pinned layer", CARD, "", LAYER, layer)
    yield (wrong_for_good, "a sector that never reads, of a streamed layer", CARD, LAYER, layer)
    yield (ends, "a flipped bit in a pinned layer", flipped, "",
           ["layer 2: the checksum does not match"])
    yield (wrong_for_good, "a flipped bit in a streamed layer", flipped,
           ["layer 2: the checksum does not match"])
    yield ends, "a file cut short", short, STREAM, ["cut short", "copy it again"]
    for machine in (ARM64, RISCV64_V):
        yield person_without_card, machine, layer
        yield program_without_card, machine, layer
    yield (slow,)
    for way, go, expected in WAYS:
        yield gone_in_load, f"{way} while loading", go, expected
        # The wait for a silent card takes real time, and a core polls meanwhile; a load and a reply together have every kind of wait.
        if LONG or way != "silent":
            yield gone_in_prompt, f"{way} during a prompt", go, expected
            yield gone_between, f"{way} between two", go, expected
        yield gone_in_reply, f"{way} during a reply", go, expected


def play(case):
    row = Row()
    try:
        case[0](row, *case[1:])
    except Exception as problem:  # the other rows are reported nevertheless
        row.ok(False, f"{case[0].__name__}: {problem!r}")
    return row.told


# The undisturbed text, to which all others must be equal.
good = Session(CARD, WORDS)
RIGHT, SECOND = [good.ask(line)[0] for line in ("hello there", "and again")] \
    if good.wait(r"^> ") else (None, None)
good.close()
tap.ok(RIGHT is not None and len(RIGHT) == 4 and SECOND is not None, "a card without faults gives the expected replies",
       good.seen)
with ThreadPoolExecutor(5) as pool:  # most rows only wait
    for told in pool.map(play, list(rows())):
        for line in told:
            tap.ok(*line)
tap.done()
