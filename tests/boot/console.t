#!/usr/bin/python3
"""The console over a pty, on every kind of board: editing, history, pastes, every command, Ctrl-C at each stage,
changes of the model, a conversation that continues after a restart, and a plain pipe."""

import os
import re
import shutil
import subprocess
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, LONG, RISCV64_ANY, WORK, Machine, Tap, end, make_card, text_of
from screen import Screen
from talk import (FIGURES, OPENING, TURN, Console, foreign_controls, make_hostile_model, make_model,
                  own_copy, sd_drive)

BOARDS = [ARM64, RISCV64_ANY, Machine("rpi4")]
MODELS = make_model("console-a", 1), make_model("console-b", 2, dim=96)
CARD = make_card("console-card.img", "--power-of-two", "--save", "4", *MODELS)
NAMED = os.path.join(WORK, "long name \u2603\u2605\u2602\u2606.ingot")
shutil.copy(make_hostile_model("console-hostile"), NAMED)
HOSTILE = make_card("console-hostile.img", "--power-of-two", NAMED)
UP, DOWN, LEFT, HOME, END, DELETE = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[H", "\x1b[F", "\x1b[3~"
SLOW = 50000  # bytes per second: loading takes some seconds
SWAPS = 20 if LONG else 6
PROGRESS = re.compile(r"^\[ *\d+\.\d{3}\] loading \w+( \d+)?: \d+ %.*$", re.M)
WORD_LEFT, WORD_RIGHT = "\x1b[1;5D", "\x1b[1;5C"


class Checks:
    """The results of a board. They are reported when the board has finished, because boards run in parallel."""

    def __init__(self, machine):
        self.machine = machine
        self.board = machine.board
        self.results = []
        self.card = own_copy(CARD, f"console-{machine.board}.img")
        self.hostile = own_copy(HOSTILE, f"console-hostile-{machine.board}.img")

    def ok(self, good, what, detail=""):
        self.results.append((bool(good), f"{self.board}: {what}", detail))

    def console(self, words="", pace=0, card=None, **more):
        """pace: bytes per second that the card reads and writes."""
        cores = 4 if self.board == "rpi4" else 1
        drive = sd_drive(self.board, card or self.card, f",throttling.bps-total={pace}" if pace else "")
        return Console(self.machine, "temp=0 n=8 " + words, drive, cores, **more)


def edit(k, screen, keys, shown):
    """Type the text, and wait until the terminal shows it."""
    k.send(keys)
    try:
        while screen.tail(shown.count("\n") + 1) != shown:
            questions = screen.questions
            screen.feed(k.child.read_nonblocking(4096, 20))
            if screen.questions > questions:
                k.send(f"\x1b[1;{screen.columns}R")
    except (pexpect.TIMEOUT, pexpect.EOF):
        return False
    return True


EDITS = [
    ("characters", "hello wrld", "> hello wrld"),
    ("left and insert", LEFT * 3 + "o", "> hello world"),
    ("home, delete", HOME + DELETE + "J", "> Jello world"),
    ("Ctrl-A and Ctrl-E", "\x01\x01>\x05<", "> >Jello world<"),
    ("backspace", "\x7f\x08", "> >Jello worl"),
    ("words to the left", WORD_LEFT + "my ", "> >Jello my worl"),
    ("words to the right", WORD_RIGHT + "d", "> >Jello my world"),
    ("Alt-B, Alt-D", "\x1bb\x1bb\x1bd", "> >Jello  world"),
    ("Ctrl-K", "\x0b", "> >Jello"),
    ("Ctrl-W", "a b\x17", "> >Jello a"),
    ("Ctrl-D", HOME + "\x04", "> Jello a"),
    ("wide characters", END + "\u65e5\u672c" + LEFT + "\x7f!", "> Jello a !\u672c"),
    ("combining characters", END + "e\u0301x", "> Jello a !\u672ce\u0301x"),
    ("left over a base with its mark", LEFT * 2 + "y", "> Jello a !\u672cye\u0301x"),
    ("and delete of both", "\x7f" + DELETE, "> Jello a !\u672cx"),
    ("typed again", "e\u0301" + END, "> Jello a !\u672ce\u0301x"),
    ("Ctrl-L", "\x0c", "> Jello a !\u672ce\u0301x"),
    ("Ctrl-U", "\x15/aa", "> /aa"),
    ("a row and more", "b" * 50, "> /aa" + "b" * 34 + "\n" + "b" * 16),
    ("insert into it", HOME + "/", "> //aa" + "b" * 33 + "\n" + "b" * 17),
    ("and take it back", DELETE + "\x05\x15", ">"),
]


def editing(c):
    screen = Screen(40)
    with c.console() as k:
        k.prompt()
        k.send(LEFT)
        screen.put(">")
        screen.put(" ")
        for what, keys, shown in EDITS:
            c.ok(edit(k, screen, keys, shown), f"editing: {what}",
                 repr(screen.tail(4)) + " for " + repr(shown))
        k.columns = 40
        k.say("/first")
        k.say("/second one")
        screen = Screen(40)
        for keys, shown in ((UP, "> /second one"), (UP, "> /first"), (UP, "> /first"),
                            (DOWN, "> /second one"), (DOWN, ">"), (UP + UP + "s", "> /firsts")):
            c.ok(edit(k, screen, keys, shown), f"history: {keys!r}", repr(screen.tail(4)))
        c.ok("there is no /firsts" in k.say(""), "history: an old line can be changed and sent", k.seen)


def turns(c):
    """Test ten turns, pastes, and the state after Ctrl-C."""
    with c.console() as k:
        first = k.prompt()
        c.ok("ready: entry to prompt" in first and "\x1b" not in first.split("Ingot 0")[1],
             "the log comes first, then the prompt, and a pipe gets no escape sequence", first)
        counts = [k.stats("turn %d" % i) for i in range(10)]
        c.ok([n for n, _, _ in counts] == [TURN + 6] + 9 * [TURN + 6 + 3] and
             all(new == 8 for _, new, _ in counts),
             "in ten turns, only new tokens are prefilled", [n for n, _, _ in counts])
        stats = k.say("/stats")
        total = 10 * (TURN + 6) + 9 * 3
        c.ok(f"10 turns: {total} prompt and 80 new tokens" in stats and
             f"{total + 71} of 1024 tokens" in stats, "/stats shows the sum of the tokens", stats)

        k.say("/reset")
        lines = "one\ntwo\nthree " + "x" * 300
        k.send("\x1b[200~" + lines.replace("\n", "\r") + "\x1b[201~")
        n, _, out = k.stats("")
        c.ok(n == TURN - OPENING + len(lines), f"a paste of three lines is one turn ({n} tokens)", out)
        many = k.say("/a\r/b\r/c")
        while many.count("there is no") < 3:
            many += k.prompt()
        c.ok(many.index("no /a") < many.index("no /b") < many.index("no /c"),
             "lines typed ahead are all read, in order", many)

        k.say("/reset")
        k.say("/set n 0")
        before = k.say("/stats")
        k.send("y" * 700 + "\r\x03")
        out = k.prompt()
        c.ok("(stopped)" in out and not re.search(FIGURES, out), "Ctrl-C stops a prefill", out)
        c.ok("0 of 1024 tokens" in before and "0 of 1024 tokens" in k.say("/stats"),
             "after a stopped prefill, the conversation is as before", before + k.seen)
        k.send("z\r")
        k.expect(r"z\r+\n")
        k.expect(r"[^\r\n]{80}")  # longer than a line of progress, which a busy computer shows
        k.send("\x03")
        out = k.prompt()
        c.ok("(stopped)" in out and re.search(FIGURES, out), "Ctrl-C stops a reply", out)
        k.send("half a line\x03")
        c.ok(not re.search(FIGURES, k.prompt()), "Ctrl-C abandons a line", k.seen)
        k.say("/set n 8")
        n, new, out = k.stats("on")
        c.ok(n == TURN + 2 + 3 and new == 8, "after an abandoned line, the conversation continues", out)
        k.send("while")
        k.send("it talks, more\r/zzz\r")
        k.expect("there is no /zzz")
        k.prompt()
        c.ok(True, "a line typed during a reply waits")


def commands(c):
    with c.console() as k:
        k.prompt()
        short, shown = k.say("/help"), k.say("/help all")
        names = re.findall(r"^  /(\w+)", shown, re.M)
        c.ok(len(names) >= 17 and all(n in names for n in
             "models model system set stats plan reset undo retry save load bench selftest log "
             "reboot off help".split()), "/help all lists the commands", shown)
        c.ok(5 < short.count("\n  ") < 12 and all(f"/{n}" in short for n in names), "/help lists them by groups", short)
        out = k.say("/models")
        c.ok("console-a.ingot" in out and "console-b.ingot" in out, "/models", out)
        _, _, greeting = k.stats("Hello")
        c.ok("there is no /statz; did you mean /stats?" in k.say("/statz"), "an unknown command names the nearest one", k.seen)
        c.ok("/help lists what there is" in k.say("/xylophone"), "an unknown command that resembles none names /help", k.seen)
        n, _, out = k.stats("//help")
        c.ok(n == TURN + 5 + 3, "a line that begins with // goes to the model", out)
        c.ok("taken back, 1 left" in k.say("/undo"), "/undo removes the last turn", k.seen)
        _, _, again = k.stats("//help")
        c.ok(again.split("\n")[1] == out.split("\n")[1], "the same question after /undo gets the same reply", out + again)
        out = k.say("/retry")
        c.ok(out.split("\n")[1] == again.split("\n")[1] and f"[{TURN + 7} prompt" in out,
             "/retry answers the same line again", again + out)
        c.ok("new conversation" in k.say("/reset") and "0 of 1024" in k.say("/stats"), "/reset",
             k.seen)
        c.ok("no turn" in k.say("/undo") and "no turn" in k.say("/retry"),
             "/undo without a turn gives a message", k.seen)
        _, _, out = k.stats("Hello")
        c.ok(out.split("\n")[1] == greeting.split("\n")[1], "a turn after /reset gets the reply of a first turn", out)
        k.say("/system Be brief.")
        n, _, out = k.stats("Hello")
        kept = 1  # tokens with which openings begin, with and without a system prompt
        c.ok(n == TURN + 5 + 1 + 7 + 9 + 2 - kept, "the text of /system comes before the first turn", out)
        c.ok("takes away: Be brief.)" in k.say("/system"), "/system without a text shows the system prompt", k.seen)
        k.say('/system ""')
        n, _, out = k.stats("Hello")
        c.ok(n == TURN + 5 - kept, "with an empty system prompt, nothing comes before the first turn", out)
        for name, value, shown in (("temp", "0.5", "temp 0.500"), ("top_p", "0.9", "top_p 0.900"),
                                   ("top_k", "7", "top_k 7"), ("min_p", "0.1", "min_p 0.100"),
                                   ("repeat", "1.1", "repeat 1.100"), ("repeat_penalty", "1.2", "repeat 1.200"), ("repeat_last_n", "-1", "repeat_last_n 1048576"),
                                   ("presence_penalty", "-0.5", "presence_penalty -0.500"), ("frequency_penalty", "0.25", "frequency_penalty 0.250"), ("seed", "5", "seed 5"),
                                   ("n", "3", "n 3")):
            c.ok(shown in k.say(f"/set {name} {value}"), f"/set {name}", k.seen)
        k.say("/reset")
        _, new, one = k.stats("Hello")
        k.say("/reset")
        k.say("/set seed 5")
        _, _, two = k.stats("Hello")
        c.ok(new == 3 and one.split("\n")[1] == two.split("\n")[1], "the settings seed and n work",
             one + two)
        c.ok("error" in k.say("/set temp hot") and "error" in k.say("/set colour red") and
             "did you mean temp?" in k.say("/set tmep 1"), "invalid values are refused", k.seen)
        c.ok("temp 0.250, top_p" in k.say("/set temp=0.25") and
             re.search(r"^temp 0\.250$", k.say("/set temp"), re.M), "/set temp= sets the temperature, and /set shows it", k.seen)
        c.ok('stop "x"' in k.say("/set stop x") and "stop" not in
             k.say('/set stop ""').split("quiet")[1], '/set stop "" is accepted', k.seen)
        k.say("/set temp 0")
        for words in ("repeat 1", "repeat_last_n 64", "presence_penalty 0", "frequency_penalty 0"):
            k.say(f"/set {words}")
        k.say("/set n 8")
        replies(c, k)
        c.ok("plan: resident" in k.say("/plan"), "/plan", k.seen)
        c.ok(re.search(r"prefill of 128 tokens: [\d.]+ tok/s; decode of 16", k.say("/bench")),
             "/bench", k.seen)
        c.ok("ready: entry to prompt" in k.say("/log"), "/log", k.seen)
        if LONG:  # slow in QEMU; selftest.t runs all of it, and stops() its beginning
            out = k.say("/selftest", 300)
            c.ok(re.search(r"selftest: all \d+ kernels equal", out) and "error" not in out,
                 "/selftest passes", out)
        c.ok("which one" in k.say("/model"), "/model without a name is refused", k.seen)
        c.ok("letters, digits" in k.say("/save a/b") and
             f"no saves/none.sav: `make card BOARD={c.machine.board} SAVE=" in k.say("/save none") and
             " NAMES=chat,none` makes a card with it" in k.seen, "/save without a file gives an error message", k.seen)
        c.ok("nothing was saved as none" in k.say("/load none"), "/load without a file gives an error message", k.seen)
        k.send("/off\r")
        k.expect("power off")
        k.expect(pexpect.EOF)
        c.ok(True, "/off ends the machine")


def replies(c, k):
    """Test how a reply ends, and which parts of it are shown."""
    def reply_to(line):
        k.say("/reset")
        return k.say(line).split("\n")[1]

    whole = reply_to("Hello")
    at = next(i for i in range(1, 6) if whole.find(whole[i:i + 2]) == i)
    stop = whole[at:at + 2].replace("\\", "\\\\").replace('"', '\\"')
    k.say(f'/set stop "{stop}"')
    c.ok(reply_to("Hello") == whole[:at], "a stop string of two tokens is not shown", k.seen)
    n, _, _ = k.stats("on")
    c.ok(n == TURN + 2 + 2, "after a stop string, the next turn continues after the shown text", k.seen)
    c.ok("stop" not in k.say("/set stop off").split("quiet")[1] and reply_to("Hello") == whole,
         "/set stop off removes the stop strings", k.seen)
    k.say("/set quiet on")
    c.ok(reply_to("Hello") == whole and not re.search(FIGURES, k.seen), "/set quiet on hides the figures", k.seen)
    k.say("/set quiet off")
    c.ok(reply_to("Hello") == whole and re.search(FIGURES, k.seen), "/set quiet off shows the figures again", k.seen)


def marks_of(k):
    return re.findall(r"(\w+) +used (\S+ \S+) of (\S+ \S+)", k.say("/stats"))


def swaps(c):
    with c.console("model=console-a") as k:
        k.prompt()
        marks = {}
        good = True
        for i in range(SWAPS):
            name = "console-" + "ba"[i % 2]
            out = k.change(name)
            good = good and f"model {name}.ingot:" in out and "ready" in out
            _, new, _ = k.stats("Hello")
            good = good and new == 8
            marks.setdefault(name, []).append(marks_of(k))
        c.ok(good, f"{SWAPS} swaps of models, and a reply after each", k.seen)
        c.ok(all(len(m) == SWAPS // 2 and len(m[0]) == 6 and all(x == m[0] for x in m)
                 for m in marks.values()) and marks["console-a"][0] != marks["console-b"][0],
             "the arena's marks are the same after each swap", marks)
        k.change("console-b.ingot")
        k.stats("Hello")
        before = re.search("; .*", k.say("/stats"))[0]
        out = k.say("/model console-c")
        c.ok("error: the card has no model console-c" in out and "ready" not in out and
             before in k.say("/stats"),
             "a model that does not exist leaves the current model and the conversation", out + k.seen)
        out = k.say("/model console-a")
        c.ok("would end: /save keeps it; /model console-a again" in out and
             before in k.say("/stats"), "the end of another conversation is reported first", out + k.seen)
        out = k.say("/model console-a")
        c.ok("model console-a.ingot: " in out and "; 0 of" in k.say("/stats"),
             "a lost conversation is loaded if the user asks for it again", out + k.seen)


def told(k, between):
    """Hold a conversation with the commands `between` its turns; returns the ids and the hash of all logits."""
    k.say("/reset")
    k.say("Hello there")
    for line in between:
        k.say(line)
    k.say("And now?")
    return re.search(r"^ids: .*", k.seen, re.M)[0], re.search(r"^logits: (\w+)", k.seen, re.M)[1]


def restarts(c):
    """After /save, /reboot and /load the conversation continues as if there had been no restart."""
    with c.console("ids", reboots=True) as k:
        k.prompt()
        c.ok("nothing has been said" in k.say("/save"), "/save without a conversation gives a message", k.seen)
        c.ok("chat.sav is empty" in k.say("/load"), "/load without a saved conversation gives a message", k.seen)
        undisturbed = told(k, ())
        c.ok(undisturbed == told(k, ("/load", "/load none")),
             "a /load that fails leaves the conversation as it was", k.seen)
        k.say("/reset")
        k.stats("Hello there")
        k.stats("Second")
        c.ok("tokens are saved in saves/chat.sav" in k.say("/save"), "/save", k.seen)
        for line, answers in (("/bench", ("stopped", "tok/s")),
                              ("/save", ("stopped", "are saved")), ("/load", ("stopped", "go on"))):
            k.send(line + "\r\x03\r/here\r")
            k.expect("there is no /here")
            c.ok(any(text in k.seen for text in answers), f"Ctrl-C after {line} does not stop the program", k.seen)
            k.prompt()
        c.ok("go on" in k.say("/load"), "the conversation that was saved before the failed /load is still there", k.seen)
        unbroken = k.stats("Third")
        k.send("/reboot\r")
        k.expect("Ingot 0", 120)
        k.prompt()
        c.ok("go on" in k.say("/load"), "/load works after /reboot", k.seen)
        after = k.stats("Third")
        c.ok(after[:2] == unbroken[:2] and
             re.search(r"ids: .*", after[2])[0] == re.search(r"ids: .*", unbroken[2])[0],
             "the conversation goes on with the same tokens", unbroken[2] + after[2])
        def ids():
            return re.search(r"ids: .*", k.seen)[0]

        third = ids()
        c.ok("2 turns: go on" in k.say("/load") and "back, 1 left" in k.say("/undo"),
             "a loaded conversation has its turns: /undo", k.seen)
        k.say("Second")
        k.say("Third")
        c.ok(ids() == third, "a loaded conversation continues as before", k.seen)
        k.say("/load")
        k.say("/retry")
        k.say("Third")
        c.ok(ids() == third, "/retry works in a loaded conversation", k.seen)
        k.say("/load")
        k.say("w" * 600)
        c.ok("oldest turn" in k.say("w" * 300), "the oldest turns of a loaded conversation are dropped when the context is full", k.seen)
        k.change("console-b")
        c.ok("belongs to another model" in k.say("/load") and k.stats("Hello")[1] == 8,
             "another model's conversation is refused", k.seen)
        c.ok("the previous conversation continues" in k.say("/load") and told(k, ()) == told(k, ("/load",)),
             "another model's conversation leaves the current one as it was", k.seen)


def stops(c):
    """Press Ctrl-C at stages other than those of prompts and replies."""
    again = r"loading is stopped: /model (\S+) loads it again"
    with c.console("model=console-a", pace=SLOW) as k:
        k.expect("model console-a.ingot:")
        k.send("\x03")
        out = k.prompt()
        c.ok(re.search(again, out) and re.search(again, out)[1] == "console-a.ingot" and
             "ready" not in out, "Ctrl-C at the start stops the loading, and a message says how to continue", out)
        c.ok(all("error: no model is loaded" in k.say(line) for line in
                 ("Hello", "/plan", "/bench", "/save", "/load", "/reset", "/set n 9")),
             "commands that need a model are refused", k.seen)
        c.ok("console-b.ingot" in k.say("/models") and "/reboot" in k.say("/help") and
             "cores: " in k.say("/log") and "no model" in k.say("/model console-c") and
             "no model is loaded" in k.say("Hello"), "other commands work without a model", k.seen)
        out = k.say("/model console-a")
        c.ok("ready: " in out and k.stats("Hello")[1] == 8, "/model loads the model after a stopped start", out + k.seen)
        k.say("w" * 150)
        out = k.say("/save", 120)
        c.ok("are saved" in out and
             re.search(r"^\[ *[\d.]+\] (saving|reading it back): \d+ %, ", out, re.M),
             "a slow card's /save shows how far it is", out)
        out = k.say("/load", 120)
        c.ok("go on" in out and re.search(r"^\[ *[\d.]+\] (checking|loading): \d+ %, ", out, re.M),
             "a slow card's /load shows its progress", out)
        k.say("/reset")
        k.send("/model console-b\r")
        k.expect("model console-b.ingot:")
        k.send("\x03more\r")
        k.expect("no model is loaded")
        out = k.seen
        k.prompt()
        c.ok(re.search(again, out) and re.search(again, out)[1] == "console-b.ingot",
             "Ctrl-C in /model stops it, and typed text is kept", out)
        k.send("/model console-b\r\x03")
        out = k.prompt()
        c.ok(re.search(again, out) and "plan:" not in out, "Ctrl-C stops /model before the model's tables are read", out)
        out = k.say("/model console-b")
        c.ok("ready: " in out and k.stats("Hello")[1] == 8, "after Ctrl-C in /model, the model loads and replies", out + k.seen)
        c.ok(PROGRESS.search(out) and len(PROGRESS.findall(out)) <= 4 and "\x1b" not in out,
             "without a terminal, /save prints a line of progress now and then", out)
    with c.console() as k:
        k.prompt()
        _, _, before = k.stats("Hello")
        saved = k.say("/save")
        k.stats("More")
        stats = k.say("/stats")
        k.send("/bench\r\x03")
        out = k.prompt()
        c.ok("(stopped)" in out and "tok/s" not in out and
             re.search("; .*", stats)[0] == re.search("; .*", k.say("/stats"))[0],
             "Ctrl-C stops /bench", out + stats + k.seen)
        k.send("/save\r\x03")
        out = k.prompt()
        c.ok("(stopped: saves/chat.sav is as it was)" in out, "Ctrl-C stops /save", out)
        stats = k.say("/stats")
        k.send("/load\r\x03")
        out = k.prompt()
        c.ok("(stopped)" in out and "(the previous conversation continues" in out and
             re.search("; .*", stats)[0] == re.search("; .*", k.say("/stats"))[0],
             "Ctrl-C stops /load", out + stats + k.seen)
        found = re.search(r"\((\d+ tokens)", saved)
        c.ok(found and f"({found[1]} loaded from saves/chat.sav" in k.say("/load"),
             "after Ctrl-C in /load, the saved conversation is still there", saved + k.seen)
        k.send("/selftest\r")
        k.expect(r"ok, \d+ cases\r")
        k.send("\x03")
        out = k.prompt(120)
        c.ok(re.search(r"selftest: stopped after \d+ kernels?, of which 0 FAILED", out) and
             k.stats("Hello")[1] == 8, "Ctrl-C stops /selftest", out + k.seen)


def rename_long(card, letters):
    """Put characters that no tool would write into the card's long names."""
    with open(card, "r+b") as image:
        start = image.read(4 << 20)
        found = bytearray(start)
        for at in range(0, len(found), 32):
            if found[at + 11] == 0x0f:  # an entry of a long name
                for old, new in letters.items():
                    entry = bytes(found[at:at + 32]).replace(old.encode("utf-16-le"), new.encode("utf-16-le"))
                    found[at:at + 32] = entry
        image.seek(0)
        image.write(found)
    return found != start


def hostile(c):
    """A model's replies and name contain sequences that terminals obey: they are made harmless, and typed lines are
    shown unchanged."""
    with c.console("temp=2 seed=7 n=150 term=vt stop=\"\x9b\" modle=\u202ex", card=c.hostile) as k:
        c.ok(not foreign_controls(k.prompt()[k.seen.index("Ingot 0"):]) and "\ufffd" in k.seen,
             "a hostile model: its start prints no control character", repr(k.seen))
        for line in ("xyzzy", "/models", "/model a", "/model b\u202e", "/load \u2066", "/zz\u2066z", "/log",
                     "/system", "/set stop \u202e", "/set"):
            raw = k.say(line).replace(line, "")
            c.ok(not foreign_controls(raw), f"a hostile model: {line!r}", repr(raw))
            if line in ("xyzzy", "/models"):
                c.ok("\ufffd" in raw, "a hostile model's reply is shown with replacement characters", repr(raw))
    out = c.machine.run("prompt=xyzzy temp=2 seed=7 n=150 ids", 4 if c.board == "rpi4" else 1,
                        sd_drive(c.board, c.hostile))[1]
    out = out[out.index("Ingot 0"):]
    c.ok("ids: " in out and out.count("\ufffd") > 50 and not foreign_controls(out),
         "a hostile model: without a terminal, no control character is printed", repr(out))
    said = set(re.search("ids: (.*)", out)[1].split())
    c.ok(len(said) > 8, "the hostile model's reply is long", said)


def attached(c):
    """Return a console whose terminal answers in time at the start; on a busy computer this may need
    a few attempts. When it returns, some text was typed right after the answer, and the first prompt has come."""
    for last in (False, False, False, False, True):
        k = c.console("model=console-a", pace=SLOW, terminal=True)
        k.send("/zzz\r")
        if "\x1b[2m[" in k.prompt() or last:
            return k
        end(k.child)


def terminal(c):
    """Test a terminal that answers the board's first question, one that answers only later, and one that term=
    announces."""
    with attached(c) as k:
        out, raw = k.seen, k.raw
        if "there is no /zzz" not in out:
            k.prompt()
        c.ok("there is no /zzz" in k.seen, "a terminal: keys typed around its answer are kept",
             k.seen)
        screen = Screen()
        screen.feed(raw)
        shown = screen.tail(99)
        c.ok("\x1b[2m[" in out and styles_end(out) and "loading " not in shown and
             raw.count("\r\x1b[J") > 2 and "ready: " in shown,
             "log lines are dim, and the line of progress is redrawn and disappears", repr(out) + shown)
        out = k.say("Hello")
        c.ok("\x1b[36m" in out and re.search(r"\x1b\[2m\[\d+ prompt", out) and styles_end(out),
             "a reply and its figures have their colours", repr(out))
        c.ok("\x1b[1;31merror: " in k.say("/zzz") and styles_end(k.seen), "an error is red", k.seen)
        out = k.say("/log")
        c.ok(out.count("\x1b[2m") == 1 and "ready: " in out, "no colour is kept", repr(out))
    with c.console() as k:
        first = k.prompt()
        c.ok("\x1b" not in first.split("Ingot 0")[1], "a terminal that does not answer gets no control sequence", repr(first))
        k.send("\x0c")
        k.expect(r"\x1b\[6n")
        k.answer()
        k.expect(r"\x1b\[1m> ")
        c.ok("\x1b[1;31m" in k.say("/zzz"), "a terminal that is attached later is recognized", repr(k.seen))
    with c.console("term=plain") as k:
        out = k.prompt()
        k.send(UP + "/zz" + LEFT + "\x02y\x0c" + HOME + "\r")
        k.expect("no /zzy")
        c.ok("\x1b" not in (out + k.seen)[out.index("Ingot 0"):] and "\x1b[6n" not in out, "term=plain: no control sequence, whatever is typed",
             repr(out + k.seen))
    with c.console("term=vt") as k:
        out = k.prompt()
        c.ok("\x1b[6n" not in out.split("Ingot 0")[0] and "\x1b[2m[" in out,
             "term=vt: colours from the start", repr(out))


def styles_end(text):
    """True if every style is reset before the next one and before the end."""
    codes = re.findall(r"\x1b\[([\d;]*)m", text)
    return all(a == "0" or b == "0" for a, b in zip(codes, codes[1:])) and codes[-1:] == ["0"]


def pipe(c):
    """Without a pty at the other end the console reads lines and writes text, and draws nothing."""
    command = c.machine.command("temp=0 n=8", 4 if c.board == "rpi4" else 1,
                                sd_drive(c.board, c.card))
    out = b""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        watch = threading.Timer(120, child.kill)
        watch.start()
        while not out.endswith(b"\n> ") and (byte := child.stdout.read(1)):
            out += byte
        rest, _ = child.communicate(b"Hello\n/stats\n/off\n")
        watch.cancel()
    out = text_of(out + rest)
    text = out[out.index("Ingot 0"):] if "Ingot 0" in out else out
    c.ok(child.returncode == 0 and re.search(FIGURES, text) and "1 turn:" in text and
         "\x1b" not in text and text.rstrip().endswith("power off"),
         "a plain pipe: no escape sequence, and every line is executed", out)


PARTS = (editing, turns, commands, swaps, restarts, stops, terminal, hostile, pipe)
# Boards differ only below the console, so two of them, without LONG, test only the parts that depend on the UART, the
# writable card and the pty.
FEWER = {} if LONG else {RISCV64_ANY.board: (turns, restarts, stops, pipe), "rpi4": (turns, restarts, stops, pipe)}


def all_parts(machine):
    c = Checks(machine)
    for part in [p for p in PARTS if p.__name__ in sys.argv[1:]] or FEWER.get(c.board, PARTS):
        try:
            part(c)
        except Exception:  # if the console ends or does not answer, the test has failed
            c.ok(False, f"{part.__name__} runs to its end", traceback.format_exc()[-3000:])
    return c


tap = Tap()
tap.ok(rename_long(HOSTILE, {"\u2603": "\x1b", "\u2605": "\x9b", "\u2602": "\u202e", "\u2606": "\x13"}),
       "control characters in a card's long names are not printed")
with ThreadPoolExecutor(2) as pool:
    for done in pool.map(all_parts, [b for b in BOARDS if b.board in sys.argv[1:]] or BOARDS):
        for good, what, detail in done.results:
            tap.ok(good, what, detail)
tap.done()
