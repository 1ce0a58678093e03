#!/usr/bin/python3
"""Text files in Windows format (a byte order mark, and CRLF) wherever a text file is read; folders in the place of a model; what a card's files
say about speed and recommended types."""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, ROOT, Tap

MODEL = os.path.join(ROOT, "models/demo-q4_0.ingot")
FOLDER = tempfile.mkdtemp(prefix="ingot-text-")
atexit.register(shutil.rmtree, FOLDER, True)
MARK = b"\xef\xbb\xbf"
tap = Tap()


def path(*names):
    return os.path.join(FOLDER, *names)


def write(name, text, mark=True):
    data = text.encode() if isinstance(text, str) else text
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "wb") as f:
        f.write(MARK + data.replace(b"\n", b"\r\n") if mark else data)
    return path(name)


def ingot(*words, stdin=b"", timeout=60):
    done = subprocess.run([HOST, *words], input=stdin, capture_output=True, timeout=timeout, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


# ---- a byte order mark, and CRLF ------------------------------------------------------------------

def same(what, words, name, text, stdin=False):
    """Check that the command prints the same for the file in Windows format; FILE in `words` stands for the file."""
    got = []
    for mark in (False, True):
        file = write(name, text, mark)
        with open(file, "rb") as f:
            got.append(ingot(*[file if w == "FILE" else w for w in words], stdin=f.read() if stdin else b""))
    tap.ok(got[0] == got[1] and got[0][0] == 0, what, got)


MODEL_HERE = shutil.copyfile(MODEL, path("m.ingot"))
REQUESTS = '{"prompt":"Hi","n":3,"temp":0}\n{"prompt":"What is 7 plus 8?","n":4,"temp":0}\n'
same("batch -f", ["batch", MODEL, "-q", "-f", "FILE"], "a.jsonl", REQUESTS)
same("batch of standard input", ["batch", MODEL, "-q"], "b.jsonl", REQUESTS, True)
same("run -f", ["run", MODEL, "-q", "--temp", "0", "-n", "4", "-f", "FILE"], "p.txt", "What is 7 plus 8?\n")
same("run of standard input", ["run", MODEL, "-q", "--temp", "0", "-n", "4"], "p.txt", "What is 7 plus 8?\n", True)
same("perplexity -f", ["perplexity", MODEL, "-q", "-c", "8", "-f", "FILE"], "t.txt", "Once upon a time there was a small fox that lived in the wood.")
same("a grammar", ["run", MODEL, "-q", "-p", "Hi", "-n", "4", "--grammar", "FILE"], "g.gbnf", 'root ::= "yes" | "yes"\n')
same("grammar --gbnf of a schema", ["grammar", "--gbnf", "FILE"], "s.json", '{"type": "object",\n"properties": {"a": {"type": "integer"}}}\n')
same("a preset", ["run", MODEL_HERE, "-q", "-p", "Hi", "--preset", "FILE"], "x.txt", "n=3\ntemp=0\n")
# UTF-16, which some Windows programs write, and folders are refused by name wherever a text is read.
os.makedirs(path("folder"), exist_ok=True)
for what, words in (("run -f", ["run", MODEL, "-q", "-n", "2", "-f", "FILE"]), ("batch -f", ["batch", MODEL, "-q", "-f", "FILE"]),
                    ("perplexity -f", ["perplexity", MODEL, "-q", "-f", "FILE"]),
                    ("grammar", ["grammar", "FILE", "-o", path("x.grammar")]), ("tokenize -f", ["tokenize", MODEL, "-f", "FILE"])):
    for order in ("utf-16-le", "utf-16-be"):
        file = write("wide.txt", "\ufeffn=3\r\n".encode(order), False)
        status, out, err = ingot(*[file if w == "FILE" else w for w in words])
        tap.ok(status == 1 and not out and "wide.txt" in err and "UTF-16" in err and "UTF-8" in err, f"{what}: {order} is named", (status, out, err))
    status, out, err = ingot(*[path("folder") if w == "FILE" else w for w in words])
    tap.ok(status == 1 and not out and "folder" in err and "directory" in err.lower(), f"{what}: a folder is named", (status, out, err))
# An importance matrix of llama.cpp, which is a GGUF, is not taken for a long text.
file = write("imatrix.gguf", b"GGUF\x03\0\0\0" + b"Once upon a time " * 400, False)
for what, words in (("perplexity -f", ["perplexity", MODEL, "-q", "-f", file]),
                    ("pack --calibrate", ["pack", os.path.join(ROOT, "models/demo"), "-o", path("x.ingot"), "-q", "--type", "q4_0", "--calibrate", file])):
    status, out, err = ingot(*words)
    tap.ok(status == 1 and not out and err.count("\n") == 1 and "imatrix.gguf: is not a text, because its byte 6 is 0: choose another file" in err and
           not os.path.exists(path("x.ingot")), f"{what}: a file with zeros is not a text", (status, out, err))
status, out, err = ingot("run", MODEL_HERE, "-p", "Hi", "-n", "2", "--preset", write("wide.txt", "\ufeffn=3\r\n".encode("utf-16-le"), False))
tap.ok(status == 1 and not out and re.search(r"^ingot: --preset \S*wide\.txt: \S*wide\.txt is in UTF-16[^\n]*UTF-8", err, re.M), "a preset in UTF-16 is named", (status, err))
for option, names in (("--preset", ("nowhere.txt", "folder")), ("--grammar", ("nowhere.gbnf", "folder", "wide.txt", "words.txt"))):
    write("words.txt", "no rule\n", False)
    for name in names:
        status, out, err = ingot("run", MODEL_HERE, "-q", "-p", "Hi", "-n", "2", option, path(name))
        tap.ok(status == 1 and not out and f"ingot: {option}" in err and name in err, f"{option} with {name} is an error that names it", (status, out, err))
write("held.txt", f"grammar={path('nowhere.gbnf')}\n", False)
status, out, err = ingot("run", MODEL_HERE, "-q", "-p", "Hi", "-n", "2", "--preset", path("held.txt"))
tap.ok(status == 1 and not out and "nowhere.gbnf" in err, "a grammar that a preset names but that is not there is reported", (status, out, err))
for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja"):
    source = os.path.join(ROOT, "models/demo")
    if not os.path.exists(os.path.join(source, name)):
        continue
    shutil.rmtree(path("hf"), True)
    shutil.copytree(source, path("hf"))
    with open(path("hf", name), "rb") as f:
        inside = f.read()
    status, _, plain = ingot("pack", path("hf"), "-o", path("plain.ingot"), "-q")
    with open(path("hf", name), "wb") as f:
        f.write(MARK + inside)
    status, _, log = ingot("pack", path("hf"), "-o", path("marked.ingot"), "-q")
    tap.ok(status == 0 and open(path("plain.ingot"), "rb").read() == open(path("marked.ingot"), "rb").read(), f"{name} of a folder", log)

# ---- a folder in the place of a model -------------------------------------------------------------

os.mkdir(path("models"))
shutil.copyfile(MODEL, path("models", "b.ingot"))
shutil.copyfile(MODEL, path("models", "a.ingot"))
os.mkdir(path("none"))
for name in ("serve", "run", "plan", "bench"):
    words = [name, path("models")] + {"serve": ["--port", "0"], "run": ["-p", "Hi"]}.get(name, [])
    status, text, log = ingot(*words)
    tap.ok(status == 1 and "is a folder: give one of the models in it (2), such as" in log and "models/a.ingot" in log, f"{name}: a folder of models", log)
status, text, log = ingot("serve", path("none"), "--port", "0")
tap.ok(status == 1 and "is a folder" in log and "no model" in log, "serve: a folder without a model is refused", log)

# ---- what a card says -----------------------------------------------------------------------------

def card(board_name, model, *more):
    return ingot("card", board_name, model, "-o", path("c.img"), "--save", "0", *more)


HOLLOW = path("hollow.ingot")
BOARD = os.path.join(BUILD, "virt-arm64")
if os.path.exists(os.path.join(BOARD, "ingot.bin")) and os.path.exists(os.path.join(BOARD, "card/about")):
    # The card is not booted, so the image may be any board's.
    shutil.copytree(os.path.join(BOARD, "card"), path("boards/rpi3/card"))
    shutil.copyfile(os.path.join(BOARD, "ingot.bin"), path("boards/rpi3/ingot.bin"))
    ingot("synth", "--shape", "qwen3-1.7b", "--type", "q8_0", "--hollow", "-o", HOLLOW)
    status, text, log = card("rpi3", HOLLOW, "--boards", path("boards"))
    rate = re.search(r"hollow\.ingot: at most ([\d.]+) tok/s predicted on rpi3", text)
    tap.ok(status == 0 and rate and float(rate[1]) < 1 and "warning: hollow.ingot makes at most" in log, "a slow model is said to be slow", text + log)
    planned = ingot("plan", HOLLOW, "--board", "rpi3")[1]
    tap.ok(rate and f"{rate[1]} tok/s" in planned, "the card gives the speed of `plan --board`", planned)
    status, text, log = card("rpi3", MODEL, "--boards", path("boards"))
    tap.ok(status == 0 and "tok/s predicted on rpi3" in text and "warning" not in log, "a fast model is not said to be slow", text + log)
    for shape, kind in (("qwen3-30b-a3b", "q8_0"), ("olmoe-1b-7b", "q8_0")):
        ingot("synth", "--shape", shape, "--type", kind, "--hollow", "-o", HOLLOW)
        status, text, log = card("virt-arm64", HOLLOW)
        advised = re.search(r"--type (\w+)", log)
        if advised is None:
            tap.ok(status == 1 and "no type makes this model small enough" in log, f"{shape}: no type is advised", log)
            continue
        ingot("synth", "--shape", shape, "--type", advised[1], "--hollow", "-o", HOLLOW)
        tap.ok(os.path.getsize(HOLLOW) < 1 << 32 and card("virt-arm64", HOLLOW)[0] == 0, f"{shape}: the advice fits", log)
else:
    tap.skip("what a card says", "needs build/virt-arm64/ingot.bin: make image BOARD=virt-arm64")
tap.done()
