#!/usr/bin/python3
"""`ingot chat` over a pty: it has a board's line editor, and the commands that make sense on a computer. The terminal is restored, however the
program ends."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
import traceback

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import HOST, WORK, Tap, end, ended
from screen import Screen
from talk import FIGURES, TURN, Console, foreign_controls, make_hostile_model, make_model

os.environ["TERM"] = "xterm"
tap = Tap()
FOLDER = os.path.join(WORK, "host-chat")
UP, LEFT, HOME = "\x1b[A", "\x1b[D", "\x1b[H"


class Program:
    """The program, used like a machine: boot options become its arguments."""

    def __init__(self, *before):
        self.before = list(before)

    def command(self, words, _cores, _drives):
        return [*self.before, HOST, "chat", os.path.join(FOLDER, "host-a.ingot"), "-t", "1",
                "--temp", "0", *words.split()]


class Command(Program):
    """Any other command, used like a machine."""

    def command(self, _words, _cores, _drives):
        return self.before


def console(words="-n 8", **more):
    return Console(Program(), words, [], **more)


def shown(k, screen, keys, text):
    """Type the text, and wait until the terminal shows it."""
    k.send(keys)
    late = time.monotonic() + 20
    while screen.tail(text.count("\n") + 1) != text and time.monotonic() < late:
        try:
            screen.feed(k.child.read_nonblocking(4096, 1))
        except pexpect.TIMEOUT:
            pass
    return tap_shown(screen, text)


def tap_shown(screen, text):
    if screen.tail(text.count("\n") + 1) != text:
        tap.note(repr(screen.tail(4)) + " for " + repr(text))
        return False
    return True


def editing():
    with console(columns=80) as k:
        k.prompt()
        local = termios.tcgetattr(k.child.child_fd)[3]
        tap.ok(local & (termios.ICANON | termios.ECHO) == 0, "the terminal is read byte by byte")
        screen = Screen(80)
        screen.feed("> ")
        tap.ok(shown(k, screen, "hello wrld" + LEFT * 3 + "o", "> hello world"), "text can be inserted into a line")
        tap.ok(shown(k, screen, "\x15caf\u00e9" + HOME + "\u65e5", "> \u65e5caf\u00e9"), "UTF-8 characters are edited as a whole")
        tap.ok(shown(k, screen, "\x05" + "x" * 90, "> \u65e5caf\u00e9" + "x" * 71 + "\n" + "x" * 19),
               "the line is drawn for 80 columns, the width of the window")
        for columns in (40, 25, 60, 80):
            k.child.setwinsize(24, columns)
            screen.resize(columns)
            line, rows = "> \u65e5caf\u00e9" + "x" * 90, []
            while line:  # the first row has a wide character
                most = columns - 1 - (not rows)
                rows.append(line[:most])
                line = line[most:]
            tap.ok(shown(k, screen, "", "\n".join(rows)), f"{columns} columns: the line is redrawn for the new width")
            text = "".join(screen.line(row) for row in range(len(screen.rows)))
            tap.ok(text.count("x") == 90 and text.count(">") == 1, f"{columns} columns: the line is redrawn only once",
                   repr(text))
        k.child.setwinsize(24, 40)
        k.send("\x15")
        k.say("/first")
        k.say("/second")
        screen = Screen(40)
        tap.ok(shown(k, screen, UP + UP, "> /first"), "arrows recall earlier lines")
        screen = Screen(40)
        tap.ok(shown(k, screen, "\x0c", "> /first"), "Ctrl-L clears the screen")
        k.send("\x15")
        k.send("\x1b[200~one\rtwo\rthree\x1b[201~")
        n, new, out = k.stats("")
        tap.ok(n == TURN + len("one\ntwo\nthree") and new == 8, "a paste of lines is one turn", out)
        k.send("half a line\x03")
        tap.ok(not re.search(FIGURES, k.prompt()), "Ctrl-C abandons a line", k.seen)
        k.send("\x04")
        k.expect(pexpect.EOF)
        tap.ok(ended(k.child) == 0 and "\x1b[?2004l" in k.seen, "Ctrl-D ends the program", k.seen)


def resizing():
    """The message with the terminal's width, which the program sends to the editor, never arrives between the bytes
    of a key."""
    with console() as k:
        k.prompt()
        for i in range(50):
            k.send("/z")
            for j in range(20):
                time.sleep(0.002)  # the program waits for keys, and the signal wakes it
                k.child.setwinsize(24, 60 + (i + j) % 30)
                late = time.perf_counter() + j * 5e-6
                while time.perf_counter() < late:
                    pass
                k.send(LEFT + "\x1b[C")
            if "there is no /zq" not in k.say("q", 20):
                break
        tap.ok("there is no /zq" in k.seen, "the line is right after a window that changed its width while keys came", k.seen)


def hostile():
    """A model's replies and name contain sequences that terminals obey; tested in a conversation and in a pipe."""
    folder = os.path.join(FOLDER, "hostile")
    os.makedirs(folder, exist_ok=True)
    model = os.path.join(folder, "a\x1b[6n\x9b\u202eb.ingot")
    shutil.copy(make_hostile_model("hostile-host"), model)
    words = ["--temp", "2", "--seed", "7", "-n", "150", "-t", "1"]
    with Console(Command(HOST, "chat", model, *words), "", []) as k:
        k.prompt()
        for line in ("xyzzy", "/models", "/model a\x9bno", "/load", "/model bad\u202e", "/set system \u202ex",
                     "/system", "/zz\u2066z", "/log"):
            k.say(line)
            raw = k.raw.replace(line, "")  # what is typed is shown as it was typed
            tap.ok(not foreign_controls(raw), f"a hostile model: {line!r} shows no control character",
                   repr(raw))
            if line == "xyzzy":
                tap.ok(raw.count("\ufffd") > 50, "the hostile model's reply is shown with replacement characters", repr(raw))
    for how, command in (("in a pipe", ["run", model, "-p", "x", "--ids", *words]),
                         ("its info", ["info", model]), ("a file that is none", ["info", model + "\x1b[6n"]),
                         ("its tokens", ["tokenize", model, "--no-bos"]),
                         ("packing it", ["pack", model, "-o", os.path.join(folder, "\x9b/\x1b.ingot")])):
        done = subprocess.run([HOST, *command], capture_output=True, timeout=60, check=False,
                              input="a\x1b\x13\x9b\u202e".encode())
        text = (done.stdout + done.stderr).decode()  # as UTF-8 it is whole
        tap.ok("\ufffd" in text and not foreign_controls(text), f"a hostile model: {how}", repr(text))
    done = subprocess.run([HOST, "chat", model, "--json", *words], capture_output=True, timeout=60, check=False,
                          input=b'{"prompt":"x"}\n{"command":"/models"}\n')
    text = done.stdout.decode()
    events = [json.loads(line) for line in text.splitlines()]
    said = "".join(e["text"] for e in events if e["event"] == "token")
    tap.ok(not foreign_controls(text) and len(set(foreign_controls(said))) > 5,
           "a hostile model: JSON events have its text with escapes", repr(text))


def counted():
    """Messages use the singular for one token, layer, turn and so on: the model has one layer and replies with one
    token."""
    model = make_model("host-one", 5, layers=1)
    wrong = re.compile(r"(?<![\d.])1 (?:new )?(tokens|layers|turns|bytes|rows|heads|positions|segments|models|"
                       r"guesses|passes|kernels|cases|retries|dimensions)\b")
    out = ""
    for command, keys in ((["run", model, "-p", "x", "-n", "1", "--ids"], ""), (["info", model], ""),
                          (["verify", model], ""), (["logits", model, "--tokens", "7", "-o",
                                                     os.path.join(FOLDER, "logits")], ""),
                          (["chat", model, "-n", "1"], "x\n/stats\n/save one\n/load one\n/off\n")):
        done = subprocess.run([HOST, *command], capture_output=True, timeout=60, check=False, text=True,
                              input=keys)
        out += done.stdout + done.stderr
    tap.ok(not wrong.search(out) and re.search(r"\+ 1 new token, .*1 layer,", out.replace("\n", " ")) and
           "1 turn:" in out and "1 row of" in out, "a count of one has the singular",
           (wrong.findall(out), out))


def stopping():
    """A model streams from a slow card, which allows nine tokens a second."""
    with console("--mem 100K --card 1M --spec off") as k:
        k.prompt()
        k.send("z\r")
        k.expect(r"z\r*\n[^\n]{4}")
        k.send("typed\x03")
        k.expect(FIGURES)
        tap.ok("(stopped)" in k.seen, "Ctrl-C stops a reply", k.seen)
        k.expect("> .*typed")
        k.send("\x03")
        k.expect(r"\^C")
        tap.ok(True, "a line typed before Ctrl-C waits for the prompt")
        k.prompt()


def commands():
    for name in os.listdir(FOLDER):
        if ".sav" in name:
            os.unlink(os.path.join(FOLDER, name))
    with console("-n 8 --ids") as k:
        k.prompt()
        out = k.say("/models")
        tap.ok(re.search(r"host-a\.ingot +\d.*\n +host-b\.ingot +\d", out) and ".sav" not in out,
               "/models lists the models of the folder", out)
        tap.ok("which one" in k.say("/model") and "no model nothing" in k.say("/model nothing") and
               k.stats("Hello")[1] == 8, "/model without a name or with an unknown one is refused", k.seen)
        tap.ok("chat.sav: cannot open" in k.say("/load"), "/load without a saved conversation is refused", k.seen)
        k.say("Second")
        tap.ok("are saved in" in k.say("/save"), "/save", k.seen)
        unbroken = re.search(r"ids: .*", k.say("Third"))[0]
        tap.ok("letters, digits" in k.say("/save ../x"), "an invalid name is refused", k.seen)
        tap.ok("error: /reboot is for a board" in k.say("/reboot"), "/reboot says that it is a board's command", k.seen)
        tap.ok(re.search(r"selftest: .*", k.say("/selftest", 300)) and "error" not in k.seen,
               "/selftest", k.seen)
        tap.ok("plan: resident" in k.say("/plan") and "tok/s" in k.say("/bench"), "/plan, /bench",
               k.seen)
        for i in range(4):
            k.change("host-" + "ba"[i % 2])
            if "model host-" + "ba"[i % 2] not in k.seen or k.stats("Hello")[1] != 8:
                break
        else:
            i = 4
        tap.ok(i == 4, "/model loads one model in place of another", k.seen)
        with open(os.path.join(FOLDER, "bad.ingot"), "wb") as bad:
            bad.write(b"INGOT" + bytes(5000))
        out = k.change("bad")
        tap.ok("back to the previous model" in out and k.stats("Hello")[1] == 8,
               "a model that cannot be loaded leaves the current one", out)
        os.unlink(os.path.join(FOLDER, "bad.ingot"))
        k.send("/off\r")
        k.expect(pexpect.EOF)
        tap.ok(ended(k.child) == 0, "/off ends the program", k.child.exitstatus)
    with console("-n 8 --ids") as k:
        k.prompt()
        tap.ok("2 turns: go on" in k.say("/load"), "another run loads the conversation", k.seen)
        tap.ok(re.search(r"ids: .*", k.say("Third"))[0] == unbroken, "the loaded conversation gives the same ids", k.seen)
    with console("-n 8 --ctx 512") as k:
        k.prompt()
        k.say("a" * 200)
        k.say("/save small")
    small = os.path.getsize(os.path.join(FOLDER, "small.sav"))
    with console("-n 8 --ctx 1024") as k:
        k.prompt()
        k.say("b" * 600)
        tap.ok("are saved" in k.say("/save small"), "a larger context needs a larger file", k.seen)
        tap.ok(os.path.getsize(os.path.join(FOLDER, "small.sav")) > small and
               os.path.getsize(os.path.join(FOLDER, "small.sav~")) == small,
               "the smaller file is kept")
        k.say("/reset")
        tap.ok("go on" in k.say("/load small"), "the larger file loads", k.seen)


def ends():
    """The shell gets its terminal back, however the program ends."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGQUIT):
        child = pexpect.spawn("/bin/sh", ["-c", "stty -a >$OUT.1; \"$@\"; echo ended; "
                                          "stty -a >$OUT.2; read end", "sh",
                                          *Program().command("-n 8", 1, [])],
                              env={**os.environ, "OUT": os.path.join(FOLDER, "stty")}, echo=True,
                              timeout=30, dimensions=(24, 80))
        try:
            child.expect(r"> (\x1b\[0m)?$")
            found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(child.pid)], check=True,
                                   capture_output=True, text=True, timeout=20).stdout.split()
            os.kill(int(found[0]), number)
            child.expect("ended")
            child.send("\r")
            child.expect(pexpect.EOF)
            with open(os.path.join(FOLDER, "stty.1"), encoding="ascii") as one, \
                 open(os.path.join(FOLDER, "stty.2"), encoding="ascii") as two:
                tap.ok(one.read() == two.read(), f"{signal.Signals(number).name}: the terminal is "
                       "as before")
        finally:
            end(child)


def stopped():
    """After Ctrl-Z and fg the terminal is raw again, and the typed line is still there."""
    child = pexpect.spawn("/bin/bash", ["--norc", "-i"], env={**os.environ, "PS1": "SHELL$ "},
                          echo=True, timeout=30, dimensions=(24, 80))
    try:
        child.expect(r"SHELL\$ ")
        child.sendline(" ".join(Program().command("-n 8", 1, [])))
        child.expect(r"> (\x1b\[0m)?$")
        child.send("abc")
        child.expect("abc")
        child.send("\x1a")
        child.expect("Stopped")
        child.sendline("fg")
        child.expect("> .*abc")
        child.send(LEFT + "X\r")
        child.expect(FIGURES)
        tap.ok(re.search(rb"\[%d prompt" % (TURN + 4), child.after), "the program continues after Ctrl-Z and fg",
               child.before + child.after)
        child.expect(r"> (\x1b\[0m)?$")
        child.send("/off\r")
        child.expect(r"SHELL\$ ")
        tap.ok(True, "Ctrl-Z at the prompt returns to the shell")
    finally:
        end(child)


def dumb():
    """A terminal without control sequences, such as a shell in Emacs, gets none: no colours, and no line that is drawn anew."""
    for term in ("TERM=dumb", "-uTERM"):
        child = pexpect.spawn("env", [term, *Program().command("-n 8", 1, [])], timeout=30, dimensions=(24, 40))
        try:
            child.expect("commands")
            said = child.before
            child.send("Hello\n/foo\n/off\n")
            child.expect(pexpect.EOF)
            said += child.before
            tap.ok(re.search(FIGURES.encode(), said) and b"there is no /foo" in said and b"\x1b" not in said, f"{term}: plain text", said)
        finally:
            end(child)


def pipe():
    """Without a terminal the program reads lines and writes text, without echo or escape sequences; figures and log
    go to standard error."""
    def talk(words, *more):
        done = subprocess.run([*Program().command("-n 8 " + words, 1, []), *more],
                              input=b"Hello\n/stats\n/off\n", capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    status, text, log = talk("")
    tap.ok(status == 0 and "\x1b" not in text + log and "1 turn:" in text and "Hello" not in text,
           "in a plain pipe, lines go in and text comes out", text)
    tap.ok(re.search(FIGURES, log) and "kernels:" in log and not re.search(FIGURES, text),
           "figures and log lines go to standard error", text + log)
    status, text, log = talk("--no-figures", "--stop", "a", "--stop", "e")
    tap.ok(status == 0 and not re.search(FIGURES, text + log) and "kernels:" in log and
           not re.search("[ae]", text.split("1 turn:")[0]), "--no-figures, --stop", text + log)
    status, text, log = talk("-q")
    tap.ok(status == 0 and not re.search(FIGURES, text + log) and "kernels:" not in log,
           "-q: neither figures nor log lines", text + log)


os.makedirs(FOLDER, exist_ok=True)
for made in make_model("host-a", 1), make_model("host-b", 2, dim=96):
    shutil.copy(made, FOLDER)
for part in (editing, resizing, hostile, counted, stopping, commands, ends, stopped, dumb, pipe):
    if len(sys.argv) > 1 and part.__name__ not in sys.argv[1:]:
        continue
    try:
        part()
    except Exception:  # a console that ends or does not answer is a failed test
        tap.ok(False, f"{part.__name__} runs to its end", traceback.format_exc()[-3000:])
tap.done()
