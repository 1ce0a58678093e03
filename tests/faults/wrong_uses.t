#!/usr/bin/python3
"""Mistakes that people make, one row each: in command lines, make variables, boot options and slash commands. The program exits or answers as it
should, names the error and the cure, and loses nothing."""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, BUILD, HOST, RISCV64, ROOT, WORK, Tap, make_card, card_arguments
from talk import Console

tap = Tap()
FOLDER = os.path.join(WORK, "wrong uses")
DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(os.path.join(FOLDER, "empty"))


def place(name, data):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as out:
        out.write(data)
    return path


with open(DEMO, "rb") as demo:
    DEMO_BYTES = demo.read()
MODEL = place("demo.ingot", DEMO_BYTES)
CUT = place("cut.ingot", DEMO_BYTES[:-5000])
TEXT = place("notes.txt", b"Buy milk.\n")
LFS = place("lfs.gguf", b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 91234567\n")
PAGE = place("page.gguf", b"<!DOCTYPE html>\n<html><head><title>401</title></head></html>\n")
CONVERSATION = place("question.txt", b"What is 7 plus 8?")
RUN = ["-t", "1", "--temp", "0", "-n", "4"]


def named(text, words):
    return [w for w in words if not re.search(w, text)]


def missing_of(words, text):
    return ", ".join(named(text, words))


# ---- the command line: arguments, exit status, what standard error says -----------------------

COMMAND_LINES = [
    ([], 2, ["usage", "run"]),
    (["pakc", "m.gguf"], 2, ["'pakc'", "pack"]),
    (["--tmep"], 2, ["--tmep", "help"]),
    (["help", "runn"], 2, ["runn", r"\brun\b"]),
    (["run"], 2, ["which model", "run"]),
    (["run", MODEL, MODEL, "-p", "hello"], 2, ["too many", re.escape(MODEL)]),
    (["run", "nosuch.gguf", "-p", "hello"], 1, ["nosuch.gguf", "no such file"]),
    (["run", MODEL + "/", "-p", "hello"], 1, [re.escape(MODEL + "/"), "Not a directory"]),
    (["tokenize", MODEL + "/", "-p", "hello"], 1, [re.escape(MODEL + "/"), "Not a directory"]),
    (["run", MODEL, "-p"], 2, ["-p", "value|TEXT|missing"]),
    (["run", MODEL, "-p", "hello", "-f", CONVERSATION], 2, ["-p", "-f"]),
    (["run", MODEL, "-p", "hello", "--tempp", "1"], 2, ["--tempp", "--temp"]),
    (["run", MODEL, "-p", "hello", "--temp", "hot"], 2, ["--temp", "hot", "number|0"]),
    (["run", MODEL, "-p", "hello", "-t", "0"], 2, ["-t", "0"]),
    (["run", MODEL, "-p", "hello", "-n", "-5"], 2, ["-n", "-5"]),
    (["run", MODEL, "-p", "hello", "--kv", "q4"], 2, ["--kv", "q4", "f16"]),
    (["run", MODEL, "-p", "hello", "--isa", "sse9"], 1, ["sse9", "avx2|neon|rv64gc|ref"]),
    (["run", MODEL, "-p", "hello", "--mem", "1K", *RUN], 1, ["--mem|mem=", "KiB"]),
    (["run", MODEL, "-p", "hello", "--draft", "nosuch.gguf"], 1, ["nosuch.gguf", "no such file"]),
    (["run", MODEL, "-p", "hello", "--draft", MODEL + "/"], 1, [re.escape(MODEL + "/"), "Not a directory"]),
    (["run", MODEL, "-f", "nosuch.txt"], 1, ["nosuch.txt", "no such file|No such file"]),
    (["run", MODEL, "-p", "hello", "-o", os.path.join(FOLDER, "no", "reply.txt"), *RUN], 1, ["reply.txt"]),
    (["run", CUT, "-p", "hello"], 1, ["cut.ingot", "bytes|cut short|copy"]),
    (["run", TEXT, "-p", "hello"], 1, ["notes.txt", "text file", "not a model"]),
    (["run", os.path.join(FOLDER, "empty"), "-p", "hello"], 1, ["empty", "config.json|model"]),
    (["info", LFS], 1, ["lfs.gguf", "LFS", "git lfs pull"]),
    (["pack", PAGE, "-o", os.path.join(FOLDER, "x.ingot")], 1, ["page.gguf", "HTML", "/resolve/"]),
    (["pack", MODEL, "-o", MODEL], "1|2", ["demo.ingot"]),
    (["synth", "--shape", "tiny", "-o", os.path.join(FOLDER, "no", "x.ingot")], 1, ["x.ingot", "[Nn]o such file"]),
    (["pack", MODEL, "--type", "q9_9", "-o", os.path.join(FOLDER, "x.ingot")], 2, ["q9_9", "q8_0"]),
    (["tokenize", MODEL, "--temp", "1"], 2, ["--temp", "tokenize"]),
    (["verify", CUT], 1, ["cut.ingot"]),
    (["plan", MODEL, "--ram", "lots"], 2, ["--ram", "lots", "1G|64M|size"]),
    (["plan", MODEL, "--board", "rpi9"], 2, ["rpi9", "rpi4"]),
    (["card", "rpi9", "-o", os.path.join(FOLDER, "c.img"), MODEL], "1|2", ["rpi9", "rpi4"]),
    (["serial", os.path.join(FOLDER, "ttyUSB9")], 1, ["ttyUSB9"]),
    (["chat", os.path.join(FOLDER, "empty")], 1, ["empty", "model"]),
]


def command_line(arguments, status, words):
    done = subprocess.run([HOST, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    said = done.stderr.decode("utf-8", "replace")
    shown = " ".join(a.replace(FOLDER, "...") for a in arguments)
    fine = re.fullmatch(str(status), str(done.returncode)) and not done.stdout
    short = len(said.strip().split("\n")) <= (30 if not arguments else 3)
    tap.ok(fine and short and not named(said, words), f"ingot {shown}",
           f"status {done.returncode}, wanted {status}; not said: {missing_of(words, said)}; stdout "
           f"{done.stdout[:200]}; said:\n{said}")


for row in COMMAND_LINES:
    command_line(*row)
with open(MODEL, "rb") as model:
    tap.ok(model.read() == DEMO_BYTES, "the model that was named as input and output is unchanged")
tap.ok(sorted(os.listdir(FOLDER)) == sorted(os.path.basename(p) for p in
                                           (MODEL, CUT, TEXT, LFS, PAGE, CONVERSATION, "empty")),
       "no half-written file is left", str(os.listdir(FOLDER)))

# ---- make's variables: immediately, before anything is built --------------------------------------

MAKE_WORDS = [
    (["run", "MODEL=" + FOLDER + "/nosuch.gguf"], ["nosuch.gguf", "no such file|does not exist"]),
    (["run", "MODEL=" + TEXT], ["notes.txt", "model|GGUF"]),
    (["card", "MODEL=" + LFS], ["lfs.gguf", "LFS"]),
    (["card", "MODEL=" + FOLDER + "/empty"], ["empty", "model|config.json"]),
    (["run", "BOARD=rpi9"], ["rpi9", "rpi4", "virt-arm64"]),
    (["image", "BOARD=virt"], ["virt", "virt-arm64"]),
    (["card", "SAVE=lots"], ["SAVE", "lots", "MiB"]),
    (["card", "KV=-1"], ["KV", "-1", "MiB"]),
    (["run", "CORES=0"], ["CORES", "0"]),
    (["card", "BOARD=rpi4", "FIRMWARE=" + FOLDER + "/nowhere"], ["FIRMWARE|firmware", "nowhere"]),
]


def make_variable(goals, words):
    done = subprocess.run(["make", "--no-print-directory", "-s", "O=" + BUILD, *goals], cwd=ROOT, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    shown = " ".join(g.replace(FOLDER, "...") for g in goals)
    tap.ok(done.returncode != 0 and not named(said, words) and len(said.strip().split("\n")) <= 4, "make " + shown,
           f"status {done.returncode}; not said: {missing_of(words, said)}; said:\n{said}")


for row in MAKE_WORDS:
    make_variable(*row)

# ---- boot options: each invalid one is named, and the board reaches the prompt -----------------------------

BOOT_WORDS = [
    ("term=vt100", ["term", "vt100", "plain"]),
    ("modle=demo", ["modle", "model"]),
    ("temp=hot", ["temp", "hot"]),
    ("cores=many", ["cores", "many"]),
    ("ctx=abc", ["ctx", "abc"]),
    ("kv=q5", ["kv", "q5", "f16"]),
    ("isa=avx2", ["isa", "avx2"]),
    ("mode=xml", ["mode=", "xml", "json"]),
    ("think=maybe", ["think", "maybe", "hide"]),
    ("n=-2", [r"\bn\b", "-2"]),
    ("mem=1K", ["mem", "KiB"]),
    ("model=nosuch", ["nosuch", "demo"]),
]
CARD = make_card("wrong-uses.img", DEMO)
DRIVES = card_arguments(CARD)
QUESTION = "What is 7 plus 8?"


def logits(console):
    found = re.search(r"^logits: ([0-9a-f]{16}) over", console.say(QUESTION), re.M)
    return found.group(1) if found else None


# An invalid option keeps its default, so the answer must be that of a start without such options.
def boots(machine, boot_words, want):
    """Start with all these options: a message names each, and the prompt comes. want: the hash of the answer's
    logits; if None, no question is asked."""
    words = " ".join(word for word, _ in boot_words)
    with Console(machine, f"seed=1 ids {words}", DRIVES, cores=1) as console:
        start = console.prompt(120)
        for word, expected in boot_words:
            said = re.search(r"(?:warning|error): .*" + expected[0] + r".*\n(?:.*\n){0,2}", start)
            tap.ok(said and not named(said.group(0), expected), f"{machine.board}: {word}", start)
        if want is not None:
            console.say("/set temp 0")
            tap.ok(logits(console) == want, f"{machine.board}: with {words} the question is answered as without",
                   console.seen)


with Console(ARM64, "seed=1 temp=0 ids", DRIVES, cores=1) as plain:
    plain.prompt(120)
    WANT = logits(plain)
tap.ok(WANT is not None, "the board answers a question")
boots(ARM64, BOOT_WORDS[:-2], WANT)
boots(ARM64, BOOT_WORDS[-2:-1], WANT)
boots(RISCV64, BOOT_WORDS[-1:], None)

# ---- slash commands: the conversation continues as if they had not been typed ---------------------

SLASH_COMMANDS = [
    ("/hlep", ["/hlep", "/help"]),
    ("/xyzzyx", ["/xyzzyx", "/help"]),
    ("/model", ["/models"]),
    ("/model nosuch", ["nosuch", "/models"]),
    ("/model demo.gguf", ["demo.gguf", "demo"]),
    ("/set", ["temp", "repeat"]),
    ("/set tmep 1", ["tmep", "temp"]),
    ("/set temp hot", ["hot", "temp"]),
    ("/set temp", ["temp", "0"]),
    ("/set temp=0", [">|"]),
    ("/set stop \"\"", [">|"]),
    ("/system", ["system|prompt"]),
    ("/save nosuch", ["nosuch", "make card", "NAMES"]),
    ("/load nosuch", ["nosuch", "save"]),
    ("/load", ["chat", "empty|save"]),
    ("/exit", ["/off"]),
    ("/quit", ["/off"]),
    ("\x04", ["/off"]),
]


def slash_commands(machine):
    with Console(machine, "temp=0 seed=1 ids", DRIVES, cores=1) as console:
        console.prompt(120)
        console.say("Hello!")
        before = logits(console)
    with Console(machine, "temp=0 seed=1 ids", DRIVES, cores=1) as console:
        console.prompt(120)
        console.say("Hello!")
        for line, words in SLASH_COMMANDS:
            said = console.say(line) if line != "\x04" else (console.send(line), console.prompt())[1]
            tap.ok(not named(said.replace(line, "", 1), words), f"{machine.board}: {line!r}",
                   f"not said: {missing_of(words, said)}\n{said}")
        tap.ok(before is not None and logits(console) == before, f"{machine.board}: the conversation goes on as before",
               console.seen)


slash_commands(ARM64)
tap.note(f"{len(COMMAND_LINES) + len(MAKE_WORDS) + len(BOOT_WORDS) + len(SLASH_COMMANDS)} wrong uses")
tap.done()
