#!/usr/bin/python3
"""A day with SmolLM2-135M on a card of the virt machine: teach, ask in three other turns, power off, load, correct, forget, fill the
store, ask again. `make day` plays it and puts its transcript into docs/LEARNING.md (INGOT_DAY names the file); otherwise it is skipped, because an
emulated board needs 10 to 15 minutes for it. With INGOT_DAY_ON=host the Linux program plays it, in a minute. INGOT_DAY_PART=start ends after the
power cut, which is enough to test a board, and INGOT_DAY_PART=talk before the store is filled."""

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from board_line import Board
from machine import BUILD, HOST, LONG, WORK, Machine, Tap
from written_part import put

MODEL = os.environ.get("INGOT_DAY_MODEL") or os.path.join(BUILD, "models/published/smollm2-135m.ingot")
PATIENCE = 1800  # seconds for one line
RAM = "144"  # MiB of the board, which decide how many memories it can keep
HOST_RAM = "130M"  # memory of the plan, without the weights
N, CONTEXT = 16, 512  # short replies, because a board needs seconds for each
WORDS = f"mode=json learn=on temp=0 n={N} ctx={CONTEXT}"
ON_HOST = os.environ.get("INGOT_DAY_ON") == "host"
PART = os.environ.get("INGOT_DAY_PART")
BOARD = Machine("virt-arm64", extra=["-m", RAM])
LONG_ANSWERS = 40  # at most; they fill the memory in which answers are learnt by heart
BY_HEART = [("What is in the green box?", "The green box has a hammer, two screwdrivers, a roll of tape, some nails, a torch, spare batteries, a ruler, a pencil, a knife, and the key of the shed."),
            ("What is in the red box?", "The red box has bandages, plasters, a pair of scissors, cream against burns, tweezers, gloves, a thermometer, and the list of telephone numbers."),
            ("How is bread made here?", "Mix flour, water, salt and yeast, knead the dough for ten minutes, let it rise for an hour, shape it, let it rest again, and bake it in the hot oven."),
            ("How does one get to the cabin?", "Take the bus to the old mill, cross the bridge, follow the river to the second farm, turn left, climb the hill, and look for the blue door."),
            ("What is planted in the garden?", "Beans, peas, carrots, onions, garlic, potatoes, pumpkins, lettuce, spinach, three apple trees, a plum tree, mint, sage and thyme."),
            ("What is on the shelf?", "A radio, two clocks, a brass bell, nine novels, a box of chess figures, a map of the coast, candles, a globe, a fan and an empty vase.")]
NAMES = "Ada Bruno Clara Dorian Elsa Felix Greta Hugo Ida Jasper Klara Leon Mona Nils Olga Pavel Rosa Simon Tilda Viktor".split()
FOLDER = tempfile.mkdtemp(prefix="ingot-day-")
atexit.register(shutil.rmtree, FOLDER, True)
tap = Tap()


class Day:
    """A board, and a conversation with it."""

    def __init__(self, card):
        self.board = None if ON_HOST else Board(BOARD, FOLDER, "day", card, WORDS, writes=True)
        self.shown = []
        self.connect()

    def connect(self):
        if ON_HOST:
            self.program = subprocess.Popen([HOST, "chat", os.path.join(FOLDER, "m.ingot"), "--json", "-q", "--learn", "on", "--temp", "0",
                                             "-n", str(N), "-c", str(CONTEXT), "--ram", HOST_RAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.writes, self.reads = self.program.stdin, self.program.stdout
            return
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(self.board.path)
        self.writes = self.reads = self.socket.makefile("rwb")
        while self.event().get("event") != "ready":
            pass

    def event(self):
        while True:
            line = self.reads.readline()
            if not line:
                raise EOFError("the board is gone")
            try:
                return json.loads(line)
            except ValueError:  # the board's output before it speaks JSON
                continue

    def request(self, **fields):
        self.writes.write(json.dumps(fields).encode() + b"\n")
        self.writes.flush()
        text = ""
        while True:
            event = self.event()
            if event["event"] == "token":
                text += event.get("text") or ""
            elif event["event"] == "text":
                text += event["text"] + "\n"
            elif event["event"] == "error":
                text += "error: " + str(event.get("text") or event.get("message") or event)
            if event["event"] == "done":
                return text.strip()

    def say(self, line, shows=True):
        start = time.monotonic()
        text = self.request(command=line) if line.startswith("/") else self.request(prompt=line)
        if shows:
            self.shown += [f">>> {line}", *([text] if text else [])]
        print(f"# {time.monotonic() - start:.0f} s  >>> {line}\n# " + text.replace("\n", "\n# "), flush=True)
        return text

    def end(self):
        """End the board at once, like a power cut."""
        if ON_HOST:
            self.program.kill()
            self.program.wait()
        else:
            self.socket.close()
            self.board.kill()

    def power_off(self):
        self.end()
        self.shown.append("(the power goes, and comes back)")
        if not ON_HOST:
            self.board.start()
        self.connect()


def has(text, *words):
    return any(word.lower() in text.lower() for word in words)


def play(day):
    tap.ok(has(day.say("/remember wiki Lila lives at 16 Harbour Street."), "wiki:"), "a fact is taught")
    tap.ok(has(day.say("/remember personal What is my dog called? = Your dog is called Biscuit."), "personal:"), "a question with its answer is taught")
    tap.ok(has(day.say("What is my dog called?"), "Biscuit"), "the fact is known when asked as it was taught, in the first turn")
    tap.ok(has(day.say("And in which street does Lila live?"), "Harbour"), "the fact is known in other words, in the second turn")
    tap.ok(has(day.say("What name does my dog have?"), "Biscuit"), "the fact is known in the third turn")
    tap.ok(has(day.say("/save learn"), "2 memories are saved"), "the memory is saved")
    day.power_off()
    tap.ok(day.say("/what", shows=False).count(" old, strength ") == 2, "after the start the board has loaded it by itself")
    if PART == "start":
        tap.ok(has(day.say("What is my dog called?"), "Biscuit"), "after a restart the model knows what it was taught")
        return
    day.say("Hello.")
    tap.ok(has(day.say("What is my dog called?"), "Biscuit") and has(day.say("Where does Lila live?"), "Harbour"), "both facts are known in later turns")
    tap.ok(has(day.say("/remember wiki Lila lives at 3 Mill Lane."), "it replaces: Lila lives at 16 Harbour Street"), "a correction names what it replaces")
    tap.ok(has(day.say("Where does Lila live?"), "Mill Lane"), "the corrected fact is in the answer")
    tap.ok(has(day.say("/forget that"), "wiki"), "a fact is forgotten on request")
    day.say("/reset")
    tap.ok(not has(day.say("Where does Lila live?"), "Mill", "Harbour"), "a forgotten fact is not in an answer any more")
    if PART == "talk":
        return
    last = fill(day)
    tap.ok(has(last, "the memory is full") and has(last, "needed least"), "the full store reports that it is full, and what would be dropped", last)
    day.say("/reset")
    tap.ok(has(day.say("What is my dog called?"), "Biscuit"), "the fact that was taught first is still known to the full store")
    tap.ok(has(day.say("Who does locker 7 belong to?"), NAMES[7]), "a memory that came last is known, too, in the second turn")
    what = day.say("/what", shows=False)
    day.shown += [">>> /what", *what.split("\n")[:2], "...", *what.split("\n")[-1:]]
    tap.ok(has(what, "Biscuit") and not has(what, "Lila"), "/what lists all memories", what)


def fill(day):
    """Teach long answers until there is no room to learn more by heart, then short sentences until the board accepts no more."""
    for i in range(LONG_ANSWERS):
        question, answer = BY_HEART[i % len(BY_HEART)]
        question = question if i < len(BY_HEART) else question.replace("?", f" on day {i}?")
        line = f"/remember wiki {question} = {answer}"
        text = day.say(line, shows=i == 0)
        if has(text, "no room to learn it by heart"):
            day.shown += [f"... {i - 1} more such, and then", f">>> {line}", text]
            break
    tap.ok(has(text, "no room to learn it by heart"), "a message says which facts are not learned by heart but found by their words", text)
    for i in range(1, 400):
        line = f"/remember episodic Locker {i} belongs to {NAMES[i % len(NAMES)]}."
        text = day.say(line, shows=i == 1)
        if has(text, "full"):
            day.shown += [f"... {i - 2} more, and then", f">>> {line}", text]
            return text
    return text


def put_transcript(path, shown, seconds):
    shown = [line.replace(FOLDER, "saves") for line in shown]
    machine = "by the Linux program" if ON_HOST else f"on one emulated Cortex-A72 with {RAM} MiB"
    left_out = " The store was not filled (`INGOT_DAY_PART=talk`)." if PART == "talk" else ""
    error = put(path, "the day", "make day", "```text\n" + "\n".join(shown) + "\n```\n\n"
                f"(SmolLM2-135M as published, {machine}: {seconds / 60:.0f} minutes.{left_out})\n")
    if error:
        tap.ok(False, "the transcript has its place", error)


def main():
    if not os.path.exists(MODEL):
        tap.skip("a day", "build/models/published/smollm2-135m.ingot is not there: make model NAME=smollm2-135m")
        return
    if not LONG and not ON_HOST:
        tap.skip("a day", "it takes many minutes: make day")
        return
    card = os.path.join(WORK, "day.img")
    os.symlink(MODEL, os.path.join(FOLDER, "m.ingot"))
    os.makedirs(WORK, exist_ok=True)
    subprocess.run([HOST, "card", "virt-arm64", MODEL, "--save", "8", "--names", "chat,learn,fabric", "-o", card], check=True, capture_output=True, timeout=300)
    start = time.monotonic()
    day = Day(card)
    try:
        play(day)
    finally:
        day.end()
    where = os.environ.get("INGOT_DAY")
    if where and tap.failed == 0 and PART != "start":
        put_transcript(where, day.shown, time.monotonic() - start)


main()
tap.done()
