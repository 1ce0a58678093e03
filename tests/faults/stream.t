#!/usr/bin/python3
"""Cards that fail while weights stream: the message, the prompt that comes back, and the right
text once the card is well again."""

import json
import os
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, WORK, Tap, extents, make_card, text_of

SECONDS = 240  # for every wait; a machine at rest needs a few
tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "stream-faults.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True,
               capture_output=True, timeout=60)
EXTENTS = extents(MODEL)
LEAST = 2 * max(size for _, size in EXTENTS[1:-1]) + 4 * 4096       # nothing but two slots
PINNED = sum(size for _, size in EXTENTS) - max(size for _, size in EXTENTS[1:-1])  # two stream
WORDS = "ids temp=0 n=4 ctx=128 "


def card_of(path):
    """The card, and on which of its sectors the model begins."""
    card = make_card(os.path.basename(path) + ".img", path)
    with open(path, "rb") as f:
        head = f.read(4096)
    with open(card, "rb") as f:
        return card, f.read().index(head) // 512


class Session:
    """An image in QEMU with a person at its line and a hand on its card."""

    def __init__(self, card, words, rules=(), bps=0, reads_left=None):
        options = {"driver": "raw", "node-name": "card", "read-only": True,
                   "file": {"driver": "blkdebug", "node-name": "debug", "read-only": True,
                            "image": {"driver": "file", "filename": card, "read-only": True},
                            **({"inject-error": list(rules)} if rules else {})}}
        self.monitor = os.path.join(WORK, f"stream-{os.getpid()}.sock")
        command = ARM64.command(words, 1, ["-blockdev", json.dumps(options),
                                           "-object", "throttle-group,id=pace",
                                           "-blockdev", json.dumps(
                                               {"driver": "throttle", "node-name": "paced", "read-only": True,
                                                "throttle-group": "pace", "file": "card"}),
                                           "-device", "virtio-blk-device,drive=paced,id=slot",
                                           "-qmp", f"unix:{self.monitor},server=on,wait=off"])
        self.raw = b""
        self.at = 0
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if bps:
            self.pace(bps)

    def read(self):
        while True:
            piece = os.read(self.process.stdout.fileno(), 4096)
            if not piece:
                return
            self.raw += piece

    @property
    def seen(self):
        return text_of(self.raw)

    def wait(self, pattern, seconds=SECONDS):
        """What came since the last wait, up to the pattern; None: it did not come."""
        end = time.time() + seconds
        while time.time() < end:
            found = re.compile(pattern, re.M).search(self.seen, self.at)
            if found:
                text = self.seen[self.at:found.end()]
                self.at = found.end()
                return text
            if self.process.poll() is not None and not self.reader.is_alive():
                return None
            time.sleep(0.02)
        return None

    def ask(self, line):
        """Ids of the reply, or None; the console text of it."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        text = self.wait(r"^> ") or self.seen[self.at:]
        ids = re.search(r"^ids:((?: \d+)*)$", text, re.M)
        return (ids.group(1).split() if ids else None), text

    def qmp(self, *commands):
        import socket
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(SECONDS)
            line.connect(self.monitor)
            stream = line.makefile("rw")
            stream.readline()
            for command, arguments in [("qmp_capabilities", {}), *commands]:
                stream.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
                stream.flush()
                while True:
                    answer = json.loads(stream.readline())
                    if "return" in answer or "error" in answer:
                        break
                if "error" in answer:
                    raise RuntimeError(f"{command}: {answer['error']}")

    def pace(self, bps):
        """0: as fast as it comes; 1: hardly a byte, a card that is gone."""
        self.qmp(("qom-set", {"path": "/objects/pace", "property": "limits",
                              "value": {"bps-read": bps, "bps-read-max": bps}}))

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(10)
        self.process.stdin.close()
        self.process.stdout.close()
        if os.path.exists(self.monitor):
            os.unlink(self.monitor)


CARD, FIRST = card_of(MODEL)


def sector(extent, share=0.5):
    offset, size = EXTENTS[extent]
    return FIRST + int((offset + size * share) // 512)


def rule(at, once):
    return {"event": "read_aio", "iotype": "read", "errno": 5, "sector": at, "once": once,
            "immediately": False}


def fault(name, words, expected, **how):
    """One question fails with the message, or does not at all; the prompt is back either way."""
    session = Session(how.pop("card", CARD), WORDS + words, **how)
    try:
        yield session
    finally:
        session.close()


def boots(session):
    return session.wait(r"^> ") is not None


# The text that all others must equal.
well = Session(CARD, WORDS)
if not boots(well):
    tap.note(well.seen)
RIGHT, text = well.ask("hello there")
SECOND, more = well.ask("and again")
well.close()
tap.ok(RIGHT is not None and len(RIGHT) == 4 and SECOND is not None, "a card that is well", text)


def right(session, name):
    first, text = session.ask("hello there")
    second, more = session.ask("and again")
    tap.ok(first == RIGHT and second == SECOND, f"{name}: the right text", text + more)
    return text + more


# ---- errors of the card --------------------------------------------------------------------------

for place, extent, memory in (("a pinned layer", 1, ""), ("a streamed layer", 2, f"mem={LEAST}"),
                              ("the embedding", 0, f"mem={LEAST}")):
    session = Session(CARD, WORDS + memory, rules=[rule(sector(extent), True)])
    if tap.ok(boots(session), f"one read error in {place}: it starts", session.seen):
        right(session, f"one read error in {place}")
    session.close()

session = Session(CARD, WORDS, rules=[rule(sector(3), False)])
text = session.wait(r"power off") or session.seen
tap.ok("layer 2, sector" in text and "device failed" in text.replace("transfer", "device failed"),
       "a sector that never reads, of a pinned layer: named with layer and sector", text)
session.close()

session = Session(CARD, WORDS + f"mem={LEAST}", rules=[rule(sector(3), False)])
if tap.ok(boots(session), "a sector that never reads, of a streamed layer: it starts",
          session.seen):
    for line in ("hello there", "and again"):
        ids, text = session.ask(line)
        tap.ok(ids is None and "layer 2, sector" in text and "error: " in text and
               text.endswith("> "), f"{line!r} is answered with layer and sector, and the prompt",
               text)
session.close()

# ---- flipped bits, files cut short ------------------------------------------------------------------

with open(MODEL, "rb") as f:
    BYTES = bytearray(f.read())
BYTES[EXTENTS[3][0] + EXTENTS[3][1] // 2] ^= 4
damaged = os.path.join(WORK, "stream-faults-flipped.ingot")
with open(damaged, "wb") as f:
    f.write(BYTES)
flipped, _ = card_of(damaged)
session = Session(flipped, WORDS)
text = session.wait(r"power off") or session.seen
tap.ok("layer 2: the checksum does not match" in text, "a flipped bit in a pinned layer", text)
session.close()
session = Session(flipped, WORDS + f"mem={LEAST}")
if tap.ok(boots(session), "a flipped bit in a streamed layer: it starts", session.seen):
    ids, text = session.ask("hello there")
    tap.ok(ids is None and "layer 2: the checksum does not match" in text and
           text.endswith("> "), "it is named, and the prompt is back", text)
session.close()

short = os.path.join(WORK, "stream-faults-short.ingot")
with open(MODEL, "rb") as f, open(short, "wb") as out:
    out.write(f.read()[:EXTENTS[3][0]])
session = Session(card_of(short)[0], WORDS + f"mem={LEAST}")
text = session.wait(r"power off") or session.seen
tap.ok("cut short" in text and "copy it again" in text, "a file cut short", text)
session.close()

# ---- slow, and gone ---------------------------------------------------------------------------------

session = Session(CARD, WORDS + f"mem={LEAST}")
if tap.ok(boots(session), "a card that becomes slow: it starts", session.seen):
    session.pace(400000)
    text = right(session, "50 times slower")
    rates = [float(r) for r in re.findall(r"in all at ([\d.]+) MB/s", text)]
    tap.ok(rates and rates[-1] < 2, f"its rate is told: {rates} MB/s", text)
    session.pace(0)
    right(session, "and fast again")
session.close()

for when, line in (("during a prompt", "hello there"), ("between two", "and again")):
    session = Session(CARD, WORDS + f"mem={LEAST}")
    if not tap.ok(boots(session), f"gone {when}: it starts", session.seen):
        session.close()
        continue
    if when == "between two":
        first, text = session.ask("hello there")
        tap.ok(first == RIGHT, f"gone {when}: the first reply", text)
    session.pace(1)
    ids, text = session.ask(line)
    tap.ok("error: " in text and "did not answer" in text and text.endswith("> "),
           f"gone {when}: a sentence, and the prompt is back", text)
    session.pace(0)
    if when == "between two":
        ids, text = session.ask(line)
        tap.ok(ids == SECOND, f"gone {when}: back, and the conversation goes on", text)
    else:
        right(session, f"gone {when}, and back")
    session.close()
tap.done()
