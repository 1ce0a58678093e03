#!/usr/bin/python3
"""Presets: words of a file for a start and for a conversation, on a card and on this computer; as many turns as were asked for; a
look back that leaves the conversation as it was."""

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


def host(*options, lines=None):
    command = [HOST, "chat" if lines is not None else "run", os.path.join(FOLDER, "demo-q8_0.ingot"), "-q", *options]
    return run(command, stdin="".join(line + "\n" for line in lines).encode() if lines is not None else None)[1]


asked = ("-p", "What is 7 plus 8?")
plain = host(*asked, "--temp", "0", "-n", "5", "--system", "You are a cat.\n# and this is text")
tap.ok(host(*asked, "--preset", "short") == plain, "a preset is its words", (host(*asked, "--preset", "short"), plain))
# Below the folder of this run: an option of a board has room for 63 bytes.
tap.ok(host(*asked, "--preset", os.path.relpath(SHORT)) == plain, "by its path, too")
tap.ok(host(*asked, "--preset", "short", "-n", "2") == host(*asked, "--temp", "0", "-n", "2", "--system", "You are a cat.\n# and this is text"),
       "what the command line says counts more")
wrong = host(*asked, "--preset", "wrong", "--temp", "0")
tap.ok("warning: preset" not in wrong and len(wrong.strip()) > 0, "a word that counts less is not looked at", wrong)
tap.ok("--temp hot" in host(*asked, "--preset", "wrong"), "one that is wrong is said")
tap.ok("no preset nobody" in host(*asked, "--preset", "nobody") and "longer than" in host(*asked, "--preset", "long"), "no preset, and one that is too long")

said = host("--temp", "0", "--grammar", "on", lines=["/preset short", "What is 7 plus 8?", "/set", "/preset start", "/set n", "/preset wrong", "/set", "/preset none", "/preset",
                                 "/preset held", "What is it?", "/grammar off", "/preset lila", "/set", "/system"])
tap.ok("(a new conversation, as short has it)\n" + plain.strip() in said and re.search(r"n 5,.*quiet", said), "/preset in a conversation", said)
tap.ok("--mem of a preset is for a start with it" in said and "\nn 4\n" in said, "words for a start are said to be", said)
tap.ok("--temp hot" in said and said.count("n 4, think") == 1, "one with a wrong word changes nothing", said)
tap.ok("no preset none" in said and "which one?" in said, "one that is not there", said)
tap.ok(re.search(r"as held has it\)\n(red|blue)\n", said), "a grammar, too", said)
tap.ok(re.search(r'temp 0.700, top_p 0.900,.*n 512, think hide,.*turns 10,.*stop "\\nUser:"', said) and "You are Lila" in said, "lila", said)

# Turns: what is kept, and that it is what a conversation of these turns alone would be.
lines = [f"My number is {i}." for i in range(9)]
said = host("--temp", "0", "--turns", "4", lines=lines + ["/branches"])
turns = int(re.search(r"main\s+(\d+) turns", said).group(1))
tap.ok(turns <= 4, "no more turns than asked for", said)
few = host("--temp", "0", lines=lines[9 - turns:])
tap.ok(said.split("main")[0].strip().split("\n")[-1] == few.strip().split("\n")[-1], "the last reply is that of the turns that are left", (said, few))

# A look back.
talk = ["What is 3 plus 4?", "/branches", "/reflect", "/branches", "/reflect What was it?", "And what is 5 plus 5?"]
back, straight = host("--temp", "0", lines=talk), host("--temp", "0", lines=[talk[0], talk[-1]])
kept = re.findall(r"main\s+(\d+ turns?,\s+\d+ tokens)", back)
tap.ok(len(kept) == 2 and kept[0] == kept[1], "a look back is no turn", back)
tap.ok(back.strip().split("\n")[-1] == straight.strip().split("\n")[-1] and len(back.strip().split("\n")) == 6, "and what comes next is as if it had not been", (back, straight))
tap.ok("no turn to look back at" in host(lines=["/reflect"]), "nothing to look back at")

# On a board, from a card that `ingot card` made.
card = make_disk("presets.img", MODEL, SHORT, os.path.join(ROOT, "presets/lila.txt"))
with Console(ARM64, "preset=short", card_arguments(card)) as c:
    c.prompt()
    tap.ok(plain.strip() in c.say("What is 7 plus 8?"), "preset= of a board")
    tap.ok("as lila has it" in c.say("/preset lila") and "turns 10" in c.say("/set"), "/preset of a board")
    tap.ok("no presets/none.txt" in c.say("/preset none") and "letters" in c.say("/preset ../x"), "names that are none")
with Console(ARM64, "preset=nobody", card_arguments(card)) as c:
    tap.ok("warning: preset=nobody is not used: the card has no presets/nobody.txt" in c.prompt(), "a start without its preset")
tap.done()
