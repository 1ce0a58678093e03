#!/usr/bin/python3
"""A long random conversation on three boards: prompts, every command, Ctrl-C, restarts, changes of the model; 2000 steps each in test-long, fewer in
`make test`. After every step the board answers a marker, the prompt is back, and the board has not restarted by itself. At the end the arena's marks
equal those of the beginning, and the power goes off properly."""

import os
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, LONG, RISCV64_ANY, Machine, Tap, end, make_card
from talk import PROMPT, Console, make_model, own_copy, sd_drive

SEED = int(os.environ.get("SOAK_SEED", "1"))
# Each board, and its number of steps in `make test`.
BOARDS = [(ARM64, 150), (RISCV64_ANY, 60), (Machine("rpi4"), 60)]
STEPS = int(os.environ.get("SOAK_STEPS", "2000" if LONG else "0"))
SECONDS = 300
MODELS = make_model("soak-a", 1), make_model("soak-b", 2, dim=96, context=256)
CARD = make_card("soak-card.img", "--power-of-two", "--save", "4", *MODELS)
VALUES = {"temp": ["0", "0.7", "much"], "top_p": ["0.5", "1", "2"], "top_k": ["0", "7", "-1"],
          "min_p": ["0", "0.1"], "repeat": ["1", "1.2"], "presence_penalty": ["0", "0.5", "3"], "repeat_last_n": ["64", "0"], "seed": ["3", "4"], "n": ["1", "8", "12"],
          "think": ["show", "hide", "dim"], "overflow": ["turns", "sinks"], "quiet": ["on", "off"], "stop": ["zq", "off", '"'],
          "colour": ["red"]}
# Commands with steps of their own; all others that /help lists are typed unchanged.
KNOWN = set("help models model system set reset undo retry save load stats plan bench selftest log "
            "receive reboot off".split())


class Soak:
    """A conversation with a board; only the seed decides what is typed."""

    def __init__(self, machine, steps):
        self.board = machine.board
        self.steps = STEPS or steps
        self.chosen = random.Random(SEED)
        self.results = []
        self.log = []
        self.kinds = [
            (16, lambda: self.words() + "\r"), (8, lambda: self.words() + "\r\x03"),
            (4, lambda: self.words() + "\x03"), (2, lambda: self.words() + "\x15"),
            (2, lambda: "\x1b[A\x1b[D\x15"), (6, self.stopped_in_the_reply),
            (4, lambda: "/reset\r"), (4, lambda: "/undo\r"), (4, lambda: "/retry\r"),
            (2, lambda: "/retry\r\x03"), (2, lambda: "/stats\r"), (2, lambda: "/save\r"),
            (1, lambda: "/save\r\x03"), (2, lambda: "/load\r"), (1, lambda: "/load none\r"),
            (2, lambda: "/system " + self.words() + "\r"), (1, lambda: "/system\r"),
            (1, lambda: "/system \"\"\r"),
            (6, self.setting), (2, lambda: self.change("abc") + "\r"),
            (1, lambda: self.change("ab") + "\r\x03"),
            (2, lambda: "/log\r"), (1, lambda: "/help\r"), (1, lambda: "/models\r"),
            (1, lambda: "/plan\r"), (1, lambda: "/bench\r"), (1, lambda: "/bench\r\x03"),
            (1, lambda: "/" + self.words() + "\r"), (1, self.receive), (1, self.restart),
        ]
        drives = sd_drive(self.board, own_copy(CARD, f"soak-{self.board}.img"))
        self.console = Console(machine, "n=8 seed=3 model=soak-a", drives,
                               4 if self.board == "rpi4" else 1, reboots=True)

    def words(self):
        return "".join(self.chosen.choice("abc defgh ijklm nopqr stuv wxyz") for _ in
                       range(self.chosen.randrange(1, 60))).strip() or "x"

    def setting(self):
        name = self.chosen.choice(list(VALUES))
        return f"/set {name} {self.chosen.choice(VALUES[name])}\r"

    def expect(self, pattern):
        self.console.expect(pattern, SECONDS)
        if "panic" in self.console.seen or "power off" in self.console.seen:
            raise pexpect.EOF("it stopped")
        return self.console.seen.count("Ingot 0")

    def stopped_in_the_reply(self):
        keys = self.words()
        self.console.send(keys + "\r")
        self.expect(r"\r\n[^\r\n]{2}")
        return "\x03"

    def receive(self):
        """Let the board wait for a file that is not sent. Text typed meanwhile would be taken for the file."""
        self.console.send("/receive\r")
        self.expect("Ctrl-C ends this")
        self.console.send("\x03")
        self.expect(PROMPT)
        return ""

    def restart(self):
        """Restart the board, and wait, because text typed while the board starts is lost."""
        self.console.send("/reboot\r")
        self.expect("Ingot 0")
        self.expect(PROMPT)
        return ""

    def others(self):
        self.console.send("/help all\r/listed\r")
        self.expect("there is no /listed")
        names = re.findall(r"^  /(\w+)", self.console.seen, re.M)
        self.ok(len(KNOWN - set(names)) == 0, "/help lists the commands", self.console.seen)
        self.kinds += [(1, lambda name=name: f"/{name}\r") for name in names if name not in KNOWN]

    def change(self, names):
        """End the conversation, and load one of the models."""
        return "/reset\r/model soak-" + self.chosen.choice(names)

    def marks(self):
        """The arena's marks with the model soak-a."""
        self.console.send("\r/reset\r/model soak-a\r/stats\r/marks\r")
        self.expect("there is no /marks")
        return re.findall(r"(\w+) +used (\S+ \w+ of \S+ \w+)", self.console.seen)

    def step(self, number):
        weights = [weight for weight, _ in self.kinds]
        keys = self.chosen.choices(self.kinds, weights)[0][1]()
        self.log.append(keys)
        self.console.send(keys + f"\r/mark{number}\r")
        if self.expect(rf"there is no /mark{number}\b") and keys != "/log\r":  # /log prints the lines of the start again
            raise pexpect.EOF("it started again by itself")

    def ok(self, good, what, detail=""):
        self.results.append((good, f"{self.board}: {what}", detail))

    def run(self):
        what = f"{self.steps} steps, an answer after each"
        try:
            self.expect(PROMPT)
            self.others()
            before = self.marks()
            if LONG:
                self.console.send("/selftest\r")
            for number in range(self.steps):
                self.step(number)
            self.ok(True, what)
            after = self.marks()
            self.ok(len(before) >= 6 and before == after, "the arena's marks equal those of the beginning",
                    (before, after))
            self.console.send("/off\r")
            self.console.expect("power off")
            self.console.expect(pexpect.EOF)
            self.ok(True, "the machine powers off")
        except (pexpect.TIMEOUT, pexpect.EOF) as error:
            self.ok(False, f"{what}: {len(self.log)}", f"{error!r:.300} after {self.log[-5:]!r}\n" +
                    (self.console.child.before or b"").decode("utf-8", "replace")[-2000:])
        end(self.console.child)
        return self.results


tap = Tap()
tap.note(f"SOAK_SEED={SEED}")
chosen = [row for row in BOARDS if row[0].board in sys.argv[1:]] or BOARDS
with ThreadPoolExecutor(2) as pool:
    for results in pool.map(lambda row: Soak(*row).run(), chosen):
        for good, what, detail in results:
            tap.ok(good, what, detail)
tap.done()
