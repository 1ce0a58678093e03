#!/usr/bin/python3
"""A model that acts: what it asks for reaches the PL061 of QEMU's virt, which the monitor reads back, and an input
that QEMU drives reaches the conversation; no line that was not named ever moves. Calls are forced by grammars, so that
nothing depends on what a model has learnt; without one, replies are prose or a call of the table. Then the demo model is asked, on
virt-arm64 and on a Raspberry Pi 4 as QEMU has it."""

import json
import os
import re
import shutil
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, ROOT, WORK, Machine, Tap, card_arguments, make_card, run
from talk import Console, Monitor, sd_drive

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
PL061, DIRECTION, ALL = 0x9030000, 0x400, 0x3fc
LIGHT, FAN, DOOR = (1 << i for i in (3, 4, 5))
tap = Tap()
os.makedirs(WORK, exist_ok=True)


def call(name, **arguments):
    return json.dumps({"action": name, **arguments}, separators=(",", ":"))


def forced(text):
    """A list of choices that all say the same call."""
    return text + "|" + text[:-1] + " }"


class Qtest:
    """QEMU's test protocol: levels at the inputs of a device."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(path)

    def do(self, line):
        self.socket.sendall(line.encode() + b"\n")
        return self.socket.recv(4096).decode()


class Board:
    """A console with monitor and test protocol beside it."""

    def __init__(self, words, drives):
        paths = [os.path.join(WORK, f"acting-{os.getpid()}.{kind}") for kind in ("qmp", "qtest")]
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)
        self.console = Console(ARM64, words, drives + ["-qmp", f"unix:{paths[0]},server=on,wait=off",
                                                       "-qtest", f"unix:{paths[1]},server=on,wait=off", "-qtest-log", "/dev/null"])
        self.start = self.console.prompt()
        self.monitor, self.qtest = Monitor(paths[0]), Qtest(paths[1])
        devices = self.monitor.do("qom-list", path="/machine/unattached")["return"]
        self.pl061 = next(d["name"] for d in devices if d["type"] == "child<pl061>")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.monitor.close()
        self.qtest.socket.close()
        self.console.__exit__()

    def register(self, offset):
        out = self.monitor.do("human-monitor-command", **{"command-line": f"xp /1xw 0x{PL061 + offset:x}"})["return"]
        return int(out.split(":")[1], 16)

    def lines(self):
        return self.register(ALL)

    def drive(self, line, level):
        return self.qtest.do(f"set_irq_in /machine/unattached/{self.pl061} unnamed-gpio-in {line} {level}")

    def act(self, text):
        self.console.say("/reset")
        self.console.say("/grammar " + forced(text))
        return self.console.say("Go on.")


card = make_card("acting.img", MODEL)
with Board('pins=light:3,fan:4:low,door:5:in,far:9 actions="pulse light|fan ms 1..5000" temp=0 actions_minute=0', card_arguments(card)) as b:
    tap.ok("far:9 of pins= is not used: the PL061 has the lines 0 to 7" in b.start, "a line that there is not is refused by name", b.start)
    tap.ok(b.register(DIRECTION) == LIGHT | FAN and b.lines() == FAN, "outputs begin off, which is high where low is on: what the registers say",
           (b.register(DIRECTION), b.lines()))
    said = b.act(call("light", value="on"))
    tap.ok(b.lines() == LIGHT | FAN and said.count("(light: on)") == 4 and "(stopped: 4 actions for one question)" in said, "the light's line is high", (b.lines(), said))
    tap.ok("action" not in said.split("Go on.")[-1].replace("actions", ""), "the call itself is not shown", said)
    tap.ok("(fan: on)" in b.act(call("fan", value="on")) and b.lines() == LIGHT, "the fan's is low", b.lines())
    tap.ok("(light: off)" in b.act(call("light", value="off")) and b.lines() == 0, "both are low", b.lines())
    tap.ok("(door is off)" in b.act(call("door")), "an input is read", b.console.seen)
    answer = b.drive(5, 1)
    tap.ok(b.lines() == DOOR, "QEMU drives line 5 high", answer)
    tap.ok("(door is on)" in b.act(call("door")), "and is heard", b.console.seen)
    b.drive(5, 0)
    tap.ok("(door is off)" in b.act(call("door")), "and low again", b.console.seen)
    tap.ok("(pulse: light, 50 ms)" in b.act(call("pulse", line="light", ms=50)) and b.lines() == 0, "a pulse ends low", b.console.seen)
    tap.ok(re.search(r"\(uptime is \d+ s\)", b.act(call("uptime"))), "uptime", b.console.seen)

    for text, why in ((call("gate", value="on"), "there is no action 'gate'"), (call("ligh", value="on"), "there is no action 'ligh'"),
                      (call("far", value="on"), "there is no action 'far'"), (call("door", value="on"), "no argument 'value'"),
                      (call("pulse", line="door", ms=5), "no line 'door'"), (call("temperature"), "does not tell its temperature")):
        said = b.act(text)
        tap.ok("(not done: " in said and why in said and b.lines() == 0 and b.register(DIRECTION) == LIGHT | FAN, f"{text}: {why}", said)

    b.console.say("/actions dry")
    tap.ok("(dry run: light: on)" in b.act(call("light", value="on")) and b.lines() == 0, "a dry run touches nothing", (b.lines(), b.console.seen))
    said = b.console.say("/actions live")
    tap.ok(re.search(r"light +line 3, out +done 12 times", said) and re.search(r"fan +line 4, out, on when low +done 4 times", said), "/actions counts", said)
    tap.ok("(the last turn is taken back, 0 left)" in b.console.say("/undo"), "/undo takes back all that a question led to", b.console.seen)
    b.console.say("/grammar off")
    tap.ok("free, or one action of /actions" in b.console.say("/grammar"), "without a grammar of one's own replies are held to the table", b.console.seen)

# The demo model, as somebody talks to it; only its own words are in the way.
with Board("pins=light:3,fan:4,door:5:in temp=0", card_arguments(card)) as b:
    for line, said_of, levels, words in (("Turn on the light.", "(light: on)", LIGHT, "on"), ("Is the door open?", "(door is off)", LIGHT, "off"),
                                         ("Please switch the fan on.", "(fan: on)", LIGHT | FAN, "on"), ("Turn the light off.", "(light: off)", FAN, "off")):
        b.console.say("/reset")
        said = b.console.say(line)
        tap.ok(said_of in said and b.lines() == levels and re.search(rf"^[A-Z].*\b{words}\b.*\.$", said, re.M), f"the demo model: {line} {said_of}", said)
    b.console.say("/reset")
    said = b.console.say("Turn on the heater.")
    tap.ok(b.lines() == FAN and not re.search(r"\((?:light|fan|not done): ", said), "what is not in the table moves nothing", said)

# A Raspberry Pi as QEMU has it: levels by its GPIO's registers, the temperature by the firmware's mailbox.
LEVELS, GPIO17 = 0xfe200034, 1 << 17
qmp = os.path.join(WORK, f"acting-{os.getpid()}.pi")
pi_card = make_card("acting-pi.img", "--power-of-two", MODEL)
with Console(Machine("rpi4"), "pins=light:17 temp=0", sd_drive("rpi4", pi_card) + ["-qmp", f"unix:{qmp},server=on,wait=off"], 4) as c:
    c.prompt()
    monitor = Monitor(qmp)

    def level():
        out = monitor.do("human-monitor-command", **{"command-line": f"xp /1xw 0x{LEVELS:x}"})["return"]
        return int(out.split(":")[1], 16) & GPIO17

    before, said = level(), c.say("Turn on the light.")
    tap.ok(not before and level() and "(light: on)" in said, "rpi4: GPIO 17 is high", said)
    c.say("/reset")
    said = c.say("How warm is it?")
    tap.ok((found := re.search(r"\(temperature is (\d+\.\d) C\)", said)) and found.group(1) in said[found.end():], "rpi4: the temperature is read and said", said)
    c.say("/reset")
    tap.ok("(light: off)" in c.say("Turn the light off.") and not level(), "rpi4: and low again", c.seen)
    monitor.close()

tree = os.path.join(WORK, "acting-tree")
shutil.rmtree(tree, True)
os.makedirs(os.path.join(tree, "actions"))
with open(os.path.join(tree, "actions/porch.txt"), "w", encoding="ascii") as f:
    f.write("# the porch\npulse light ms 1..500\n")
card = make_card("acting-file.img", MODEL, "--tree", tree)
with Console(ARM64, "pins=light:3 actions=porch dry", card_arguments(card)) as c:
    c.prompt()
    tap.ok(re.search(r"pulse +1\.\.500 ms", c.say("/actions")) and "a dry run" in c.seen, "actions of a card's file", c.seen)
made = os.path.join(WORK, "acting-made.img")
status, out = run([HOST, "card", "virt-arm64", MODEL, os.path.join(tree, "actions/porch.txt"), "-o", made])
with Console(ARM64, "pins=light:3 actions=porch dry", card_arguments(made)) as c:
    c.prompt()
    tap.ok(status == 0 and re.search(r"pulse +1\.\.500 ms", c.say("/actions")), "ingot card takes such a file from a folder actions", (out, c.seen))
with Console(ARM64, "pins=light:3 actions=none", card_arguments(card)) as c:
    tap.ok("warning: actions= is not used: the card has no actions/none.txt" in c.prompt() and "light" in c.say("/actions"), "one that is not there", c.seen)

# ---- this computer ----------------------------------------------------------------------------------


def events(*requests, options=()):
    status, out = run([HOST, "chat", MODEL, "--json", "--pins", "light:3,door:5:in", "--temp", "0", *options],
                      stdin="".join(json.dumps(r) + "\n" for r in requests).encode())
    return [json.loads(line) for line in out.split("\n") if line.startswith('{"event":')]


heard = events({"prompt": "Go on.", "grammar": forced(call("light", value="on"))})
acts = [e for e in heard if e["event"] == "action"]
tap.ok(len(acts) == 4 and acts[0] == {"event": "action", "name": "light", "done": True, "dry": False, "arguments": {"value": "on"}, "result": "light is on"},
       "mode=json has an event", acts)
tap.ok(not "".join(e.get("text", "") for e in heard if e["event"] == "token") and [e["reason"] for e in heard if e["event"] == "done"] == ["actions"],
       "tokens of a call have no text, and one event ends all of it", heard[-3:])
heard = events({"prompt": "Go on.", "grammar": forced(call("lamp"))})
tap.ok([e["result"] for e in heard if e["event"] == "action"] == ["there is no action 'lamp'"] * 4, "what is refused", heard[-3:])
heard = events({"prompt": "Go on.", "grammar": forced(call("light", value="off"))}, options=("--dry",))
tap.ok(all(e["dry"] for e in heard if e["event"] == "action"), "a dry run", heard[-3:])
heard = events(*({"prompt": "Hello!", "reset": True, "seed": i, "temp": 3, "top_k": 0, "top_p": 1, "min_p": 0, "n": 12} for i in range(40)))
replies, text = [], ""
for e in heard:
    if e["event"] == "token":
        text += e["text"]
    elif e["event"] == "done":
        replies.append(text)
        text = ""
tap.ok(len(replies) == 40 and len(set(replies)) > 30 and not [r for r in replies if r.lstrip().startswith("{") and '"action"' in r],
       "at random, replies are prose, or calls that are not shown", replies)
plain = run([HOST, "run", MODEL, "-p", "Hello!", "--temp", "0", "-q"])[1]
tap.ok(run([HOST, "run", MODEL, "-p", "Hello!", "--temp", "0", "-q", "--pins", "light:99"])[1] != "" and
       run([HOST, "run", MODEL, "-p", "Hello!", "--temp", "0", "-q", "--pinned", "3"])[1] == plain, "--pinned is what --pins with a number was")
status, out = run([HOST, "run", MODEL, "-p", "Hello!", "--pins", "light:3:up"])
tap.ok(status == 2 and "light:3:up" in out, "a list that is none", (status, out))
tap.done()
