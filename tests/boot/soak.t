#!/usr/bin/python3
"""A long conversation at random: prompts, commands, Ctrl-C, resets and swaps, 200 steps in
`make test` and 2000 in test-long. After every step a marker is answered and the prompt is back;
at the end the arena's marks are those of the beginning, and the power goes off in order."""

import os
import random
import re
import sys

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, Tap, make_card
from talk import Console, make_model, own_copy, sd_drive

SEED = int(os.environ.get("SOAK_SEED", "1"))
STEPS = 2000 if os.environ.get("INGOT_LONG", "1") else 200
MODELS = make_model("soak-a", 1), make_model("soak-b", 2, dim=96, context=256)
CARD = own_copy(make_card("soak-card.img", "--power-of-two", "--save", "4", *MODELS), "soak.img")
chosen = random.Random(SEED)


def words():
    return "".join(chosen.choice("abc defgh ijklm nopqr stuv wxyz") for _ in
                   range(chosen.randrange(1, 60))).strip() or "x"


STEP_KINDS = [
    (8, lambda: words() + "\r"), (4, lambda: words() + "\r\x03"),
    (2, lambda: words() + "\x03"), (1, lambda: words() + "\x15"), (1, lambda: "\x1b[A\x1b[D\x15"),
    (2, lambda: "/reset\r"), (2, lambda: "/undo\r"), (2, lambda: "/retry\r"),
    (1, lambda: "/retry\r\x03"), (1, lambda: "/stats\r"), (1, lambda: "/save\r"),
    (1, lambda: "/load\r"), (1, lambda: "/system " + words() + "\r"), (1, lambda: "/system\r"),
    (1, lambda: f"/set temp {chosen.choice(['0', '0.7', 'much'])}\r"),
    (1, lambda: "/model soak-" + chosen.choice("abc") + "\r"), (1, lambda: "/log\r"),
]


def marks(k):
    k.send("\r/model soak-a\r/stats\r/marks\r")
    k.expect("there is no /marks")
    return re.findall(r"(\w+) +used (\S+ \S+ of \S+ [A-Za-z]+)", k.seen)


tap = Tap()
tap.note(f"SOAK_SEED={SEED}")
log, step = [], 0
with Console(ARM64, "n=8 seed=3 model=soak-a", sd_drive("virt-arm64", CARD)) as k:
    try:
        k.prompt()
        before = marks(k)
        weights = [w for w, _ in STEP_KINDS]
        for step in range(STEPS):
            keys = chosen.choices(STEP_KINDS, weights)[0][1]()
            log.append(keys)
            k.send(keys + f"\r/mark{step}\r")
            k.expect(rf"there is no /mark{step}\b")
            if "panic" in k.seen or "power off" in k.seen:
                raise pexpect.EOF("it stopped")
        tap.ok(True, f"{STEPS} steps, an answer after each")
        after = marks(k)
        tap.ok(len(before) == 5 and before == after, "the arena's marks are as at the beginning",
               (before, after))
        k.send("/off\r")
        k.expect("power off")
        k.expect(pexpect.EOF)
        tap.ok(True, "and the power goes off")
    except (pexpect.TIMEOUT, pexpect.EOF) as error:
        tap.ok(False, f"{STEPS} steps, an answer after each: step {step}",
               f"{type(error).__name__} after {log[-5:]!r}\n" +
               (k.child.before or b"").decode("utf-8", "replace")[-2000:])
tap.done()
