#!/usr/bin/python3
"""A core that serves the card: if the card is on SPI, a core moves every byte, and so it does on a Raspberry Pi with the option `pio`. The last core
stops computing and serves the card. Ids and logits stay the same, the plan and the trace show this core, and all commands work; if the card fails,
its message and the prompt come."""

import json
import os
import re
import sys

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from boards import with_expected
from machine import HOST, LONG, WORK, Machine, Reply, Tap, end, segments, make_card, run
from talk import Console, Monitor, make_model, own_copy

SPI = Machine(next(board for board, data in with_expected("CARD_DATA").items() if data == "SPI"))
RPI3, RPI4 = Machine("rpi3"), Machine("rpi4")
SECONDS = 200
TRIES = 5  # of a start: on a busy computer the measured rates may be against a core for the card
TOKENS = 16 if LONG else 6  # each token reads the card once
SAID = 8 if LONG else 3     # in a conversation
tap = Tap()

model, other = make_model("card-core", 5, dim=32), make_model("card-core-other", 6, dim=32)
limit = 2 * max(size for _, size in segments(model)[1:-1]) + 4 * 4096
card = make_card("card-core.img", "--power-of-two", "--save", "1", model, other)
expected = Reply(run([HOST, "run", model, "-p", "Hello", "-n", str(TOKENS), "--temp", "0", "--ids"])[1])
tap.ok(len(expected.ids or []) > 1, "the host's reply", expected.console)


def drive(path=card, more=",snapshot=on"):
    return ["-drive", f"if=sd,format=raw,cache=unsafe,file={path}{more}"]


def lends(cores, console):
    return f"moved by core {cores - 1}, which" in console


# ---- one reply ---------------------------------------------------------------------------------

MORE = [(SPI, "", 1), (RPI4, "pio", 1), (SPI, "", 4)] if LONG else []
for machine, word, cores in (*MORE, (SPI, "", 2), (RPI4, "pio", 2), *([(RPI3, "pio", 2)] * LONG)):  # RPI3's driver is below
    words = (f'prompt="Hello" temp=0 n={TOKENS} ids trace=1 {word} cores={cores} mem={limit} '
             'model=card-core.ingot')
    for _ in range(TRIES):
        status, console = machine.run(words, cores, drive(), timeout=SECONDS)
        reply = Reply(console)
        if status != 0 or reply.hash != expected.hash or cores == 1 or lends(cores, console):
            break
    label = f"{machine.label}, {cores} core" + "s" * (cores > 1)
    tap.ok(status == 0 and reply.ids == expected.ids and reply.hash == expected.hash and
           ", streamed" in reply.stats, f"{label}: the host's ids and logits", console)
    tap.ok(lends(cores, console) == (cores > 1),
           f"{label}: {'the last core moves' if cores > 1 else 'the core moves'} the card's data", console)
    events = re.search(r"^\[\n(\{.*\n)*\]$", console, re.M)
    events = json.loads(events.group(0)) if events else []
    moves = {e["tid"] for e in events if e["name"].startswith("move")}
    # While the last core computes a part of a prompt, core 0 moves the card's data.
    tap.ok(events and moves - {0} == ({cores - 1} if cores > 1 else set()),
           f"{label}: the trace shows the core's moves on a separate line", sorted(moves))

# ---- with the DMA engine, and without -----------------------------------------------------------

# A core that moves blocks itself reads the register Present State before each block; with DMA it reads the register
# only once per command.
sectors = os.path.getsize(model) // 512
for word in ("", "pio"):
    log = os.path.join(WORK, f"card-core-{os.getpid()}.log")
    status, console = RPI3.run(f'prompt="Hello" temp=0 n=2 cores=2 mem={limit} {word}', 4, drive() +
                               ["-trace", "sdhci_access", "-D", log], timeout=SECONDS)
    with open(log, errors="replace") as f:
        looks = sum("sdhci_access rd32: addr[0x0024]" in line for line in f)
    os.unlink(log)
    tap.ok(status == 0 and (looks > 8 * sectors if word else looks < 2 * sectors) and
           (word or ", which" not in console),
           f"{RPI3.label}: {looks} looks for {sectors} sectors and more, {word or 'by DMA'}", console)

# ---- a conversation ----------------------------------------------------------------------------


def ids(text):
    found = re.search(r"^ids:.*", text, re.M)
    return found.group(0) if found else text


class Talk(Console):
    """A boot in which core 1 serves the card."""

    def __init__(self, drives, more="", want=True):
        words = f"temp=0 n={SAID} ids cores=2 mem={limit} model=card-core.ingot {more}"
        for _ in range(TRIES):
            super().__init__(SPI, words, drives, 2)
            if lends(2, self.prompt(SECONDS)) or not want:
                break
            end(self.child)  # immediately, because a QEMU that ends later would remove the next one's socket


own = own_copy(card, "card-core-own.img")


class Found(list):
    """Collects the rows of a conversation, which are reported when the conversation is complete."""

    def ok(self, good, what, detail):
        self.append((good, what, detail))


def conversation(found):
    """Hold a conversation, and add its rows to found; returns the ids of the first turn."""
    with Talk(drive(own, "")) as k:
        found.ok(lends(2, k.seen), "a conversation with one core for the card", k.seen)
        first = ids(k.say("Hello there", SECONDS))
        found.ok("ids:" in first, "a turn gets a reply", k.seen)
        found.ok(lends(2, k.say("/plan", SECONDS)), "/plan says which core moves the card's data", k.seen)
        found.ok("tokens are saved" in k.say("/save", SECONDS), "/save", k.seen)
        second = ids(k.say("Second", SECONDS))
        if LONG:
            found.ok("kernels equal their references" in k.say("/selftest", SECONDS), "/selftest",
                   k.seen)
        else:  # selftest.t runs the whole self-test, which takes half a minute
            k.send("/selftest\r")
            k.expect(r"ok, \d+ cases\r", SECONDS)
            k.send("\x03")
            k.prompt(SECONDS)
            found.ok(", of which 0 FAILED" in k.seen, "/selftest, and Ctrl-C", k.seen)
        if LONG:
            found.ok("tok/s" in k.say("/bench", SECONDS), "/bench", k.seen)
        found.ok("go on" in k.say("/load", SECONDS) and ids(k.say("Second", SECONDS)) == second,
               "the turn after /load gets the same reply", k.seen)
        k.say("/set n 500", SECONDS)
        k.send("Once more\r")
        k.expect(r"Once more[\r\n]+[^\r\n]", SECONDS)
        k.send("\x03")
        k.prompt(SECONDS)
        stopped = re.search(r"\+ (\d+) new tokens?", k.seen)
        found.ok(stopped and int(stopped.group(1)) < 400, "Ctrl-C ends a reply", k.seen)
        k.say(f"/set n {SAID}", SECONDS)
        found.ok("ready:" in k.change("card-core-other.ingot", SECONDS), "another model is loaded", k.seen)
        found.ok("ids:" in k.say("Hello there", SECONDS), "the other model replies", k.seen)
        found.ok("ready:" in k.change("card-core.ingot", SECONDS) and
               ids(k.say("Hello there", SECONDS)) == first, "the first model gives the same ids as before", k.seen)
    return first


# Once, on a busy computer, this board's serial line stopped forever in the middle of an answer; the cause, in QEMU's UART or in our driver, is not
# known yet. So a conversation that stops like this is reported and repeated.
rows = Found()
try:
    first = conversation(rows)
except pexpect.TIMEOUT as late:
    tap.note(f"the line stopped, and the conversation is had again: {late}")
    rows = Found()
    first = conversation(rows)
for row in rows:
    tap.ok(*row)

# ---- the card is taken out ---------------------------------------------------------------------

socket = os.path.join(WORK, f"card-core-{os.getpid()}.qmp")
with Talk(["-drive", f"if=sd,id=card,format=raw,cache=unsafe,file={own}",
           "-qmp", f"unix:{socket},server=on,wait=off"]) as k:
    monitor = Monitor(socket)
    tap.ok(lends(2, k.seen), "one core serves the card that will be taken out", k.seen)
    k.say("/set n 500", SECONDS)
    k.send("Hello there\r")
    k.expect(r"Hello there[\r\n]+[^\r\n]", SECONDS)
    out = monitor.do("eject", device="card", force=True)
    k.prompt(SECONDS)
    tap.ok("return" in out and re.search(r"error: card-core\.ingot: .*taken out", k.seen),
           "a card that is taken out during a reply is named, and the prompt is back", k.seen)
    tap.ok("error:" in k.say("Again", SECONDS), "the next read of the missing card names the error again", k.seen)
    monitor.do("blockdev-change-medium", device="card", filename=own, format="raw", force=True)
    k.say(f"/set n {SAID}", SECONDS)
    k.say("/reset", SECONDS)
    tap.ok(ids(k.say("Hello there", SECONDS)) == first, "a card that is back gives the same reply", k.seen)
    monitor.close()
os.unlink(socket)
tap.done()
