#!/usr/bin/python3
"""NVMe and USB drives with a person at the prompt. Reads that fail once are repeated, and the person does not notice. If a folder, the FAT, the
model's header or a layer can never be read, or if a drive is gone or silent in the middle of a reply, a message says so, the prompt is back, and
after the cause is removed the answers are right. tests/unit/usb/usb_session_test.c and nvme_session_test.c test what no emulator can do."""

import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from flaky_card import Session, card_of, ids_of, rule
from machine import ARM64, HOST, LONG, RISCV64_ANY, WORK, Tap, segments

tap = Tap()
os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(WORK, "drive.ingot")
subprocess.run([HOST, "synth", "--shape", "tiny", "--type", "q8_0", "-o", MODEL], check=True, capture_output=True, timeout=60)
SEGMENTS = segments(MODEL)
WORDS = f"ids temp=0 n=4 ctx=128 mem={2 * max(size for _, size in SEGMENTS[1:-1]) + 4 * 4096}"
CARD, FIRST = card_of(MODEL)
Session.well = CARD
with open(CARD, "rb") as f:
    BYTES = f.read()
ENTRY = BYTES.index("drive".encode("utf-16-le")) + 31  # the entry of the short name, after that of the long name
CLUSTER = struct.unpack_from("<H", BYTES, ENTRY + 20)[0] << 16 | struct.unpack_from("<H", BYTES, ENTRY + 26)[0]
START, = struct.unpack_from("<I", BYTES, 446 + 8)
FAT = START + struct.unpack_from("<H", BYTES, START * 512 + 14)[0] + CLUSTER * 4 // 512
LAYER = FIRST + (SEGMENTS[3][0] + SEGMENTS[3][1] // 2) // 512
PLACES = {"folder": ENTRY // 512, "fat": FAT, "header": FIRST, "layer": LAYER}
DEVICES = {"nvme": ("-device", "nvme,serial=ingot,drive=paced"), "usb": ("-device", "qemu-xhci", "-device", "usb-storage,drive=paced")}
ALWAYS = [(name, [rule(at, False)]) for name, at in PLACES.items()]
ONCE = [rule(at, True) for at in PLACES.values()]


def session(machine, device, start, short=False):
    return Session(CARD, WORDS, rules=ONCE, machine=machine, start=start, device=DEVICES[device], more=ALWAYS, short=short)


class Row:
    """The results for a board and a drive; rows run in parallel and are reported one after the other."""

    def __init__(self, machine, device):
        self.machine, self.device, self.told = machine, device, []

    def ok(self, good, what, detail=""):
        self.told.append((good, f"{self.machine.board}, {self.device}: {what}", detail))

    def right(self, s, what):
        s.ask("/reset")
        first, text = s.ask("hello there")
        second, more = s.ask("and again")
        self.ok(first is not None and (first, second) == WANT, f"{what}: the right answers", text + more)

    def refused(self, s, line, words, what):
        ids, text = s.ask(line)
        self.ok(ids is None and "error: " in text and all(w in text for w in words) and text.endswith("> "),
                f"{what}: {line!r} is answered with {', '.join(words)}", text)


def once(row):
    """Each of these reads fails once, at the start; the read of the layer may fail in a reply instead, if the drive's measurement has not read
    the layer."""
    s = session(row.machine, row.device, "card")
    row.ok(s.wait(r"^> ") and "error: " not in s.seen, "reads that fail once do not prevent the start", s.seen)
    row.right(s, "reads that fail once")
    s.close()


def at_start(row):
    """A model cannot be opened, for one reason after the other, and in the end it can."""
    s = session(row.machine, row.device, "folder")
    text = s.wait(r"^> ") or s.seen
    row.ok("error: " in text and "cannot be read" in text and text.endswith("> "), "an unreadable folder is reported at the start", text)
    for place, words in (("folder", ["cannot be read"]), ("fat", ["cannot be read"]), ("header", ["header and tables"])):
        s.swap(place)
        row.refused(s, "/model drive", words, f"the {place}")
    s.swap("well")
    _, text = s.ask("/model drive")
    row.ok("error" not in text and text.endswith("> "), "/model loads the model when its folder is readable", text)
    row.right(s, "and then")
    s.close()


def in_replies(row):
    # QEMU hangs if its own USB drive is reset in the middle of a read, so usb_wire.t tests a silent USB drive. Both
    # machines wait for a silent drive with the same code, so one of them is enough.
    silent = row.device == "nvme" and (LONG or row.machine is ARM64)
    s = session(row.machine, row.device, "well", silent)
    row.ok(s.wait(r"^> "), "the board starts", s.seen)
    s.swap("layer")
    for line in ("hello there", "and again"):
        row.refused(s, line, ["layer 2, sector", "a transfer failed"], "a layer")
    s.swap("well")
    row.right(s, "a layer, and the drive is well again")
    ways = [("dead", lambda: s.swap("dead"), "a transfer failed")]
    if silent:
        ways.append(("silent", lambda: s.pace(1), "did not answer"))
    for name, go, words in ways:
        s.ask("/reset")
        s.ask("/set n 60")
        s.pace(1000000)  # four passes per second
        s.send("hello there")
        s.wait(r"hello there\n(?:\[[^\n]*\n)*[^\n\[]{3}")  # the reply's first characters, after lines of progress
        go()
        said, text = ids_of(s.wait(r"^> ") or s.seen[s.at:])
        row.ok("error: " in text and words in text and said and len(said) < 60, f"{name} in a reply is named, after the text printed so far", text)
        s.pace(0)
        s.swap("well")
        s.ask("/set n 4")
        row.right(s, f"{name}, and back")
    s.close()


def run(case):
    part, row = case
    part(row)
    return row


s = Session(CARD, WORDS)
s.wait(r"^> ")
WANT = tuple(s.ask(line)[0] for line in ("hello there", "and again"))
s.close()
tap.ok(all(WANT) and len(WANT[0]) == 4, "a card without faults", s.seen)
cases = [(part, Row(machine, device)) for part in (in_replies, at_start, once) for machine in (ARM64, RISCV64_ANY) for device in DEVICES]
with ThreadPoolExecutor(2 * os.cpu_count()) as pool:
    for done in pool.map(run, cases):
        for told in done.told:
            tap.ok(*told)
tap.done()
