#!/usr/bin/python3
"""Power is lost during /save: QEMU is killed at fifty places of the file (six in `make test`), from its first sector to its header. Each time the
next start finds the old or the new conversation complete.

The card writes slowly, sector by sector, and QEMU is killed when a chosen sector of the file has changed. The model's next text and its
logits tell which conversation was loaded."""

import os
import re
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, LONG, RISCV64_ANY, WORK, Machine, Tap, make_card
from talk import Console, make_model, own_copy, sd_drive

CUTS = 50 if LONG else 6
SECTOR = 512
SAVE_MIB = 1
TEXTS = ("One of two conversations. " * 5, "Another one, longer than that. " * 6)
MODEL = make_model("cut-model", 3)
CARD = make_card("cut-card.img", "--power-of-two", "--save", str(SAVE_MIB), MODEL)
SLOW = ",throttling.iops-write=400"


def find_file(card):
    """The start of saves/chat.sav, known by the headers of its two halves; None if there are not two headers."""
    with open(card, "rb") as f:
        image = f.read()
    headers = [m.start() for m in re.finditer(b"INGOTSAV", image) if m.start() % SECTOR == 0]
    half = SAVE_MIB * 2**20 // 2
    return min(headers) if len(headers) == 2 and headers[1] - headers[0] == half else None


def result(text):
    found = re.search(r"^logits: (\w+)", text, re.M)
    return found.group(1) if found else None


def start(machine, card, more=""):
    return Console(machine, "temp=0 n=2 ids spec=off", sd_drive(machine.board, card, more),
                   4 if machine.board == "rpi4" else 1)


def talk_about(k, which):
    k.say("/reset")
    return k.say(TEXTS[which])


def prepare(machine, card):
    """Save both conversations; returns the answer to a question after each."""
    wanted = []
    with start(machine, card) as k:
        k.prompt()
        for which in (0, 1):
            talk_about(k, which)
            assert "are saved" in k.say("/save"), k.seen
            k.say("/reset")
            k.say("/load")
            wanted.append(result(k.say("And now?")))
    return wanted


def sectors_of(card, place, half):
    """The number of sectors of a half's payload, from its header."""
    with open(card, "rb") as f:
        f.seek(place + half * SAVE_MIB * 2**19 + 24)
        return (int.from_bytes(f.read(8), "little") + SECTOR - 1) // SECTOR


def sequence_of(card, place, half):
    with open(card, "rb") as f:
        f.seek(place + half * SAVE_MIB * 2**19)
        raw = f.read(24)
    return int.from_bytes(raw[16:24], "little") if raw[:8] == b"INGOTSAV" else 0


def cut(machine, card, place, at, wanted):
    """Load the file and note which conversation it has; save the other one, and kill QEMU when
    sector `at` has changed. Returns (which was loaded, sectors that were written)."""
    with start(machine, card, SLOW) as k:
        k.prompt()
        loaded = k.say("/load")
        answer = result(k.say("And now?")) if "go on" in loaded else None
        which = wanted.index(answer) if answer in wanted else None
        if at is None or which is None:
            return which, 0, loaded + k.seen
        talk_about(k, 1 - which)
        half = 0 if sequence_of(card, place, 0) < sequence_of(card, place, 1) else 1
        begin = place + half * SAVE_MIB * 2**19
        with open(card, "r+b", buffering=0) as f:
            n = sectors_of(card, place, half) + 40
            f.seek(begin + SECTOR)  # fill the half that is saved next, so that every write is a change
            f.write(b"\xa5" * (n * SECTOR))
            f.seek(begin)
            before = f.read(SECTOR)
            target = begin + SECTOR * (at + 1) if at >= 0 else begin
            old = b"\xa5" * SECTOR if at >= 0 else before
            k.send("/save\r")
            late = time.monotonic() + 60
            f.seek(target)
            while f.read(SECTOR) == old and time.monotonic() < late:
                time.sleep(0.0005)  # a fifth of the time that the card takes for a sector
                f.seek(target)
            k.kill()
            f.seek(begin + SECTOR)
            after = f.read(n * SECTOR)
            f.seek(begin)
            header = f.read(SECTOR) != before
    blank = b"\xa5" * SECTOR
    written = sum(after[i * SECTOR:(i + 1) * SECTOR] != blank for i in range(n))
    return which, written + header, loaded + k.seen


def all_cuts(machine):
    results = []
    card = own_copy(CARD, f"cut-{machine.board}.img")
    try:
        wanted = prepare(machine, card)
        place = find_file(card)
        n = min(sectors_of(card, place, 0), sectors_of(card, place, 1))
        results.append((len(set(wanted)) == 2 and n > 60, f"{machine.board}: two conversations, "
                        f"{n} sectors, told apart", wanted))
        good, states, counts, seen = 0, set(), set(), ""
        for i in range(CUTS + 1):
            at = None if i == CUTS else -1 if i % 5 == 4 else i * (n - 1) // CUTS
            which, written, text = cut(machine, card, place, at, wanted)
            good += which is not None
            seen = seen if which is not None else f"before cut {i}: {text}"
            states.add(which)
            counts.add(written)
        results.append((good == CUTS + 1, f"{machine.board}: whole after each of {CUTS} cuts, at "
                        f"{len(counts - {0})} places", seen))
        results.append((states >= {0, 1} and len(counts) > CUTS // 3 and max(counts) > n,
                        f"{machine.board}: the old one and the new one both came", sorted(counts)))
    except Exception:  # a console that ends or does not answer is a failed test
        results.append((False, f"{machine.board}: goes through to its end",
                        traceback.format_exc()[-3000:]))
    return results


tap = Tap()
with ThreadPoolExecutor(2) as pool:
    # virt-riscv64 has virt-arm64's controller and driver, so it is left out.
    for results in pool.map(all_cuts, (ARM64, Machine("rpi4"), RISCV64_ANY) if LONG else (ARM64, Machine("rpi4"))):
        for good, what, detail in results:
            tap.ok(good, what, detail)
tap.done()
