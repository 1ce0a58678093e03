#!/usr/bin/python3
"""Presets, files of options for a start and for a conversation, on a card and on this computer. Also: the option turns=, and /reflect, which does
not change the conversation."""

import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, HOST, ROOT, WORK, Tap, card_arguments, make_disk, run
from talk import Console

MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
FOLDER = os.path.join(WORK, "presets")
tap = Tap()
shutil.rmtree(FOLDER, True)
os.makedirs(os.path.join(FOLDER, "presets"))
shutil.copy(MODEL, FOLDER)
shutil.copy(os.path.join(ROOT, "presets/lila.txt"), os.path.join(FOLDER, "presets"))


def preset(name, text):
    path = os.path.join(FOLDER, "presets", name + ".txt")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


SHORT = preset("short", '# five tokens\nn=5 temp=0\n  # "a quote in a comment\nsystem="You are a cat.\n# and this is text"\n')
preset("wrong", "temp=hot n=3")
preset("start", "mem=900K n=4 temp=0")
preset("held", 'grammar="red|blue" temp=0')
preset("long", "#" * 9000)
WIDE = preset("wide", "")
with open(WIDE, "wb") as wide:
    wide.write("temp=0 n=5\r\n".encode("utf-16"))  # as Notepad's "Unicode" saves a text


def host(*options, lines=None):
    command = [HOST, "chat" if lines is not None else "run", os.path.join(FOLDER, "demo-q8_0.ingot"), "-q", *options]
    return run(command, stdin="".join(line + "\n" for line in lines).encode() if lines is not None else None)[1]


asked = ("-p", "What is 7 plus 8?")
plain = host(*asked, "--temp", "0", "-n", "5", "--system", "You are a cat.\n# and this is text")
tap.ok(host(*asked, "--preset", "short") == plain, "a preset has the effect of its options", (host(*asked, "--preset", "short"), plain))
# The path is relative to the current folder, because an option has room for 63 bytes.
tap.ok(host(*asked, "--preset", os.path.relpath(SHORT)) == plain, "a preset can be named by its path")
tap.ok(host(*asked, "--preset", "short", "-n", "2") == host(*asked, "--temp", "0", "-n", "2", "--system", "You are a cat.\n# and this is text"),
       "the command line overrides a preset")
wrong = host(*asked, "--preset", "wrong", "--temp", "0")
tap.ok("warning: preset" not in wrong and len(wrong.strip()) > 0, "an overridden option is not checked", wrong)
tap.ok("--temp hot" in host(*asked, "--preset", "wrong"), "an invalid option of a preset is reported")
tap.ok("no preset nobody" in host(*asked, "--preset", "nobody") and "longer than" in host(*asked, "--preset", "long"),
       "a missing preset and one that is too long are reported")

said = host("--temp", "0", "--grammar", "on", lines=["/preset short", "What is 7 plus 8?", "/set", "/preset start", "/set n", "/preset wrong", "/set", "/preset none", "/preset",
                                 "/preset held", "What is it?", "/grammar off", "/preset lila", "/set", "/system"])
tap.ok("(a new conversation, as short has it)\n" + plain.strip() in said and re.search(r"n 5,.*quiet", said), "/preset works in a conversation", said)
tap.ok("--mem in a preset has an effect only at the start" in said and "\nn 4\n" in said, "/preset names the options that need a start", said)
tap.ok("--temp hot" in said and said.count("n 4, think") == 1, "a preset with an invalid option changes nothing", said)
tap.ok("no preset none" in said and "/preset NAME uses" in said, "a preset that does not exist is reported", said)
tap.ok(re.search(r"as held has it\)\n(red|blue)\n", said), "a preset can set a grammar", said)
tap.ok(re.search(r'temp 0.700, top_p 0.900,.*n 512, think hide,.*turns 10,.*stop "\\nUser:"', said) and "You are Lila" in said, "lila", said)

# The option turns= keeps the last turns, and the result equals a conversation of only these turns.
lines = [f"My number is {i}." for i in range(9)]
said = host("--temp", "0", "--turns", "4", lines=lines + ["/branches"])
turns = int(re.search(r"main\s+(\d+) turns", said).group(1))
tap.ok(turns <= 4, "no more turns are kept than requested", said)
few = host("--temp", "0", lines=lines[9 - turns:])
tap.ok(said.split("main")[0].strip().split("\n")[-1] == few.strip().split("\n")[-1],
       "the last reply is that of a conversation with only the kept turns", (said, few))

# /reflect looks back, and leaves the conversation unchanged.
talk = ["What is 3 plus 4?", "/branches", "/reflect What matters?", "/branches", "/reflect What was it?", "And what is 5 plus 5?"]
back, straight = host("--temp", "0", lines=talk), host("--temp", "0", lines=[talk[0], talk[-1]])
kept = re.findall(r"main\s+(\d+ turns?,\s+\d+ tokens)", back)
tap.ok(len(kept) == 2 and kept[0] == kept[1], "a look back is not a turn", back)
tap.ok(back.strip().split("\n")[-1] == straight.strip().split("\n")[-1] and len(back.strip().split("\n")) == 6, "the turn after a look back has the same reply as without it", (back, straight))
tap.ok("no turn to look back at" in host(lines=["/reflect"]), "without a turn there is nothing to look back at")
said = host("--temp", "0", lines=[talk[0], "/reflect", "/branches"])
tap.ok("not asked: with about 1 million parameters" in said and re.search(r"main\s+1 turn,", said),
       "a small model is not asked to look back on its own, and a message says so", said)
said = host("--temp", "0", "--learn", "on", "--grammar", "on", lines=[talk[0], "/reflect What was it?", talk[0]])
tap.ok(said.count("3 plus 4") >= 2 and "error" not in said, "with a grammar for its tags it looks back, and the next turn is free", said)

said = host("--temp", "0", "--learn", "on", "--grammar", "on", "-n", "6",
            lines=["My boat is called Marigold. Is it not?", "The shed has a green door.", "/reflect", "/reflect", "/branches", "/what", talk[0]])
tap.ok("(remembered in personal: My boat is called Marigold.)" in said and "(remembered in personal: The shed has a green door.)" in said and
       "(nothing is kept: no sentence of yours says something new)" in said and re.search(r"main\s+2 turns,", said) and "  2. personal" in said and
       "  3." not in said, "a small model chooses among the person's sentences, and the look back is not a turn", said)

said = host("--temp", "0", "--learn", "on", "--grammar", "on", "--pins", "light:3", lines=["The shed has a green door.", "/reflect", "Turn on the light."])
tap.ok("(remembered in personal: The shed has a green door.)" in said and "(light: on)" in said, "it chooses beside actions, too, which go on afterwards", said)
said = host("--temp", "0", "--learn", "on", "--grammar", "yes|no", lines=["The shed has a green door.", "/reflect", "/grammar off", "/reflect"])
tap.ok("To let it choose among your sentences, use /grammar off." in said and "(remembered in personal: The shed has a green door.)" in said,
       "a person's grammar is not replaced, and a message says so", said)
said = host("--temp", "0", "--grammar", "yes|no", lines=["The shed has a green door.", "/reflect"])
tap.ok("start with learn=on and grammar=on, without beams=, and set no grammar." in said, "without learn=on, a message says all that is missing", said)

# A lesson leaves the conversation to be computed again, after the system prompt, which stays.
said = host("--temp", "0", "--learn", "on", "--pins", "light:3", "--system", "You are a cat.", "-n", "20",
            lines=["/teach what is it = a cat", "Good morning.", talk[0], "/teach what is it = a cat", "/retry", "/branches"])
tap.ok(re.search(r"main\s+2 turns,", said), "the last turn is answered again after a lesson", said)

# Replies at a temperature of 5, whose seed is that of the preset, or -1, which is another one each time.
HOT = "temp=5 top_k=0 top_p=1 min_p=0 n=12"
preset("seven", HOT + " seed=7")
preset("any", HOT + " seed=-1")
said = host(lines=["/preset seven", "Hello", "/preset seven", "Hello"]).split("(a new conversation, as seven has it)\n")
tap.ok(len(said) == 3 and said[1].strip() == said[2].strip() != "", "a preset's seed begins the random numbers again", said)
said = {host("-p", "Hello", "--preset", "any") for _ in range(2)}
tap.ok(len(said) == 2, "a preset's seed=-1 is another seed at each start", said)
said = {host(lines=["/preset any", "/set seed -1", "Hello"]).strip().splitlines()[-1] for _ in range(2)}
tap.ok(len(said) == 2, "/set seed -1 is another seed each time", said)
ASKS = {"prompt": "Hello", "temp": 5, "top_k": 0, "top_p": 1, "min_p": 0, "n": 12, "seed": -1, "reset": True}
said = host("--json", lines=[json.dumps({"id": i, **ASKS}) for i in range(2)])
texts = {"".join(e["text"] for e in map(json.loads, said.splitlines()) if e["event"] == "token" and e["id"] == i) for i in range(2)}
tap.ok(len(texts) == 2, "a request's seed of -1 is another seed each time", said)

# The file of a prefix was truncated while it was copied.
PREFIX = os.path.join(FOLDER, "ingot.prefix")
KEPT = ("--prefix", PREFIX, "--system", "You are a cat who likes long walks, fish, the sun on a warm stone and everything that moves in the grass.")
host(*KEPT, lines=["/save prefix", "/save prefix"])  # saves alternate between the file's halves, so the second save is in the first half
whole = os.path.getsize(PREFIX) if os.path.exists(PREFIX) else 0


def kept():
    command = [HOST, "chat", os.path.join(FOLDER, "demo-q8_0.ingot"), "--temp", "0", "-n", "5", *KEPT]
    return run(command, stdin=b"What is 3 plus 4?\n")[1]


good = kept()
for left in (whole // 20, 1500, 700):
    if os.path.exists(PREFIX):
        os.truncate(PREFIX, left)
    said = kept()
    tap.ok(whole > 2000 and "is cut off" not in good and f"ingot.prefix is cut off: it has {left} bytes" in said and
           "\n3 plus 4 is" in said,
           f"a prefix of {left} of {whole} bytes is reported, and the conversation continues", (said, good))
os.remove(PREFIX)
host(*KEPT, lines=["/save prefix"])
os.truncate(PREFIX, whole // 3)
said = kept()
tap.ok(f"ingot.prefix is cut off: it has {whole // 3} bytes" in said, "a prefix that was saved only once is reported, too", said)
if os.path.exists(PREFIX):
    os.remove(PREFIX)

# A rating applies to the person's last turn, even after other commands.
with open(os.path.join(FOLDER, "ingot.log"), "wb") as f:
    f.truncate(1 << 20)


def logged(*lines):
    """Type these lines; return the log's turns as (user, ratings), and the console's text."""
    os.truncate(os.path.join(FOLDER, "ingot.log"), 0)
    os.truncate(os.path.join(FOLDER, "ingot.log"), 1 << 20)
    said = host("--temp", "0", "-n", "6", "--log", "on", "--policy", "watch", lines=lines)
    rows = [json.loads(line) for line in run([HOST, "log", os.path.join(FOLDER, "ingot.log")])[1].splitlines()]
    return [(r["user"], [o["rating"] for o in rows if o.get("of") == r["n"]]) for r in rows if "user" in r], said


A, B, C = "What is 3 plus 4?", "What is 5 plus 5?", "What is 2 plus 2?"
rows, said = logged(A, B, "/reflect Look back at it.", "/good", "/undo", "/bad", "/learned")
tap.ok([r[1] for r in rows] == [["bad"], ["good", "undone"], []] and rows[2][0].startswith("Look back"),
       "after /reflect, /good, /undo and /bad apply to the person's turns", (rows, said))
tap.ok("(1 turn judged, 1 good and 0 bad" not in said and "1 turn judged" in said, "the look back gets no rating", said)
rows, said = logged(A, "/retry", "/good")
tap.ok([r[1] for r in rows] == [["undone"], ["good"]], "/retry removes the previous answer from the log, too", (rows, said))
rows, said = logged(A, B, C, "/undo", "/undo", "/good")
tap.ok([r[1] for r in rows] == [["good"], ["undone"], ["undone"]], "each /undo notes its own turn", (rows, said))
rows, said = logged(A, "/branch other", B, "/switch main", "/good", "/switch other", "/bad")
tap.ok([r[1] for r in rows] == [["good"], ["bad"]], "/good after /switch rates the last turn of that branch", (rows, said))
rows, said = logged(A, "/save x", "/reset", "/good", B, "/load x", "/bad")
tap.ok([r[1] for r in rows] == [[], []], "no turn of another conversation is rated after /reset or /load", (rows, said))
os.remove(os.path.join(FOLDER, "ingot.log"))

# Presets on a board, from a card made by `ingot card`.
card = make_disk("presets.img", MODEL, SHORT, WIDE, os.path.join(ROOT, "presets/lila.txt"))
with Console(ARM64, "preset=short", card_arguments(card)) as c:
    c.prompt()
    tap.ok(plain.strip() in c.say("What is 7 plus 8?"), "preset= works on a board")
    tap.ok("as lila has it" in c.say("/preset lila") and "turns 10" in c.say("/set"), "/preset works on a board")
    tap.ok("error: presets/wide.txt is in UTF-16, by its first two bytes: save it as UTF-8" in c.say("/preset wide"), "a preset in UTF-16 is named on a board, too")
    tap.ok("no presets/none.txt" in c.say("/preset none") and "letters" in c.say("/preset ../x"), "invalid names are refused")
with Console(ARM64, "preset=nobody", card_arguments(card)) as c:
    tap.ok("warning: preset=nobody is not used: the card has no presets/nobody.txt" in c.prompt(), "a start without its preset reports it")
tap.done()
