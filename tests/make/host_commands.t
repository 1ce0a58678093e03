#!/usr/bin/python3
"""The commands of the Linux program as a person and a shell use them: what they print to standard output and to standard error, where a prompt
can come from, and the error message for an invalid option. No machine is booted."""

import atexit
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import pexpect

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import HOST, ROOT, WORK, Tap, end, ended

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")
QUESTION = "What is 7 plus 8?"
FIGURES = re.compile(r"\[\d+ prompt \+ \d+ new tokens?, [^\]\n]*\]\n")
LOG = re.compile(r"^\[ *\d+\.\d{3}\] ", re.M)
tap = Tap()
os.makedirs(WORK, exist_ok=True)


def ingot(*words, stdin=b"", timeout=60, **more):
    """(status, standard output, standard error)"""
    more.setdefault("stdout", subprocess.PIPE)
    done = subprocess.run([HOST, *words], stderr=subprocess.PIPE, timeout=timeout, check=False,
                          **({"input": stdin} if "stdin" not in more else {}), **more)
    return done.returncode, (done.stdout or b"").decode(), done.stderr.decode()


def work(name, content=None):
    path = os.path.join(WORK, "commands-" + name)
    if content is not None:
        with open(path, "wb") as f:
            f.write(content)
    elif os.path.exists(path):
        os.unlink(path)
    return path


def one_sentence(text):
    return text.startswith("ingot") and text.count("\n") == 1 and text.endswith("\n")


# ---- only replies on standard output, and the sources of a prompt -----------------------------

RUN = ["run", DEMO, "--temp", "0"]
status, reply, log = ingot(*RUN, "-p", QUESTION)
tap.ok(status == 0 and reply.count("\n") == 1 and "15" in reply, f"run: standard output has only the reply: {reply.strip()}", reply)
tap.ok(FIGURES.search(log) and LOG.search(log), "figures and log lines go to standard error", log)
status, text, log = ingot(*RUN, "-p", QUESTION, "-q")
tap.ok(status == 0 and text == reply and log == "", "-q: the reply is printed, and nothing else", text + log)
status, text, log = ingot(*RUN, "-p", QUESTION, "--no-figures")
tap.ok(text == reply and LOG.search(log) and not FIGURES.search(log), "--no-figures", log)
status, text, log = ingot(*RUN, "-p", QUESTION, "-q", "--ids")
tap.ok(text.startswith(reply + "ids: ") and "\nlogits: " in text, "with --ids, the ids come after the reply", text)
status, text, log = ingot(*RUN, "-p", "Tell me a story", "-q", "-c", "32")
tap.ok(status == 0 and "context" not in text and "(the context of 32 tokens is full)\n" in log,
       "a message about a reply goes to standard error", text + log)

question = work("question.txt", QUESTION.encode() + b"\n")
for what, words, given in (("-f FILE", ["-f", question], b""), ("a pipe", [], QUESTION.encode() + b"\n"),
                           ("a pipe without a newline", [], QUESTION.encode()),
                           ("a line's end of DOS", [], QUESTION.encode() + b"\r\n"),
                           ("-f -", ["-f", "-"], QUESTION.encode()), ("-p -", ["-p", "-"], QUESTION.encode()),
                           ("--file=FILE", [f"--file={question}"], b"")):
    status, text, log = ingot(*RUN, "-q", *words, stdin=given)
    tap.ok(status == 0 and text == reply, f"the prompt is read from {what}", f"{status} {text} {log}")
long = b"Tell me a story. " * 300
status, text, log = ingot(*RUN, "-q", "-n", "4", "-p", long.decode())
tap.ok(status == 1 and text == "" and log.count("\n") == 1 and "or raise --ctx" in log,
       "a prompt of 5 kB on the command line is limited only by the context", log)

answer = work("answer.txt", b"old " * 1000)
status, text, log = ingot(*RUN, "-p", QUESTION, "-q", "-o", answer)
with open(answer, "rb") as f:
    tap.ok(status == 0 and text == "" and f.read().decode() == reply, "-o FILE: the file has only the reply", text + log)
status, text, log = ingot("run", WORK + "/none.ingot", "-p", "x", "-o", answer)
with open(answer, "rb") as f:
    tap.ok(status == 1 and f.read().decode() == reply, "the old file is kept if there is no model", log)

status, ids, log = ingot("tokenize", DEMO, "--ids", stdin=QUESTION.encode())
for what, words in ("-p", ["-p", QUESTION]), ("-f", ["-f", work("exact.txt", QUESTION.encode())]):
    status, text, log = ingot("tokenize", DEMO, "--ids", *words)
    tap.ok(status == 0 and text == ids and len(ids.split()) > 3, f"tokenize {what}", text + log)

child = pexpect.spawn(HOST, ["run", DEMO], timeout=20, encoding="utf-8")
try:
    child.expect(pexpect.EOF)
    tap.ok(ended(child) == 2 and "-p TEXT" in child.before and child.before.count("\n") == 1,
           "run on a terminal without a prompt says what is missing", child.before)
finally:
    end(child)

status, text, log = ingot("chat", DEMO, "-q", "--temp", "0", stdin=QUESTION.encode() + b"\n/nosuch\n")
tap.ok(status == 0 and text == reply and log == "error: there is no /nosuch; /help lists what there is\n",
       "errors of a conversation go to standard error", text + log)

kept = work("kept.txt")
child = pexpect.spawn("/bin/sh", ["-c", '"$1" chat "$2" -q --temp 0 >"$3"', "sh", HOST, DEMO, kept], timeout=20)
try:
    child.sendline(QUESTION)
    child.sendeof()
    child.expect(pexpect.EOF)
    with open(kept, encoding="utf-8") as f:
        text = f.read()
    tap.ok(ended(child) == 0 and text == reply, "a person's replies can go to a file", text)
finally:
    end(child)

# ---- writes that fail ----------------------------------------------------------------------------

STORY = [*RUN, "-q", "-p", "Tell me a story about a fox."]
TINY = work("tiny.ingot")
ingot("synth", "--shape", "tiny", "--type", "q8_0", "-o", TINY)
for what, words in (("run", STORY), ("chat", ["chat", DEMO, "-q"]), ("info", ["info", TINY]), ("help", ["help"]),
                    ("--version", ["--version"]), ("run --help", ["run", "--help"]), ("verify", ["verify", TINY]),
                    ("tokenize", ["tokenize", DEMO, "-p", "x"]), ("plan", ["plan", TINY, "--mem-bw", "1G"]),
                    ("help --man", ["help", "--man"]), ("--template list", ["run", "--template", "list"])):
    with open("/dev/full", "wb") as full:
        status, _, log = ingot(*words, stdin=b"Hello\n", stdout=full)
    # An error of the last write must be reported, even if a text ends exactly where a buffer ended.
    tap.ok(status == 1 and re.search("standard output: (No space left|could not be written completely)", log),
           f"{what} >/dev/full", f"{status} {log}")
status, _, log = ingot(*STORY, "-o", "/dev/full")
tap.ok(status == 1 and log == "ingot: /dev/full: No space left on device\n", "run -o /dev/full", f"{status} {log}")
for what, words in ("run", STORY), ("info", ["info", TINY]):
    reader, writer = os.pipe()
    os.close(reader)
    status, _, log = ingot(*words, stdout=writer)
    os.close(writer)
    tap.ok(status == 1 and one_sentence(log) and "Broken pipe" in log, f"{what} into a closed pipe", f"{status} {log}")


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))


out = work("limited")
for what, words in (("run -o", STORY), ("run --trace", STORY), ("pack -o", ["pack", os.path.join(ROOT, "models/demo")]),
                    ("synth -o", ["synth", "--shape", "tiny"]), ("logits -o", ["logits", TINY, "-q", "-p", "abc"])):
    status, _, log = ingot(*words, what.split()[1], out, preexec_fn=small_files)
    tap.ok(status == 1 and one_sentence(log) and out in log, f"{what}: a full disk gives an error", f"{status} {log}")
    work("limited")

# ---- commands that need no board -----------------------------------------------------------------

status, text, log = ingot("selftest", "--seed", "3")
tap.ok(status == 0 and re.search(r"selftest: all \d{2,} kernels equal their references\n$", text) and
       "selftest: seed=3\n" in text and log == "", "selftest", text[-500:] + log)
RATES = r"prefill of (\d+) tokens: [1-9]\d*\.\d\d tok/s; decode of 16: [1-9]\d*\.\d\d tok/s; after 0 tokens of context\n"
status, text, log = ingot("bench", DEMO)
tap.ok(status == 0 and re.fullmatch(RATES, text) and LOG.search(log), f"bench: {text.strip()}", text + log)
status, text, log = ingot("bench", DEMO, "-q", "-c", "64")
tap.ok(status == 0 and (re.fullmatch(RATES, text) or [0, ""])[1] == "48" and log == "", "bench -q -c 64", text + log)
status, text, log = ingot("bench", DEMO, "-q", "-c", "16")
tap.ok(status == 1 and text == "" and "no room" in log, "bench without enough memory fails", text + log)

models, empty = (os.path.join(WORK, "commands-" + name) for name in ("models", "no-models"))
for folder in models, empty:
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
for name, content in (("zebra.ingot", DEMO), ("b.ingot", DEMO), ("a.txt", __file__), ("b.gguf", __file__)):
    shutil.copy(content, os.path.join(models, name))
os.rename(os.path.join(models, "b.gguf"), os.path.join(models, "c.gguf"))
for given in models, models + "/":
    status, text, log = ingot("chat", given, "--temp", "0", stdin=b"/models\n" + QUESTION.encode() + b"\n")
    tap.ok(status == 0 and re.findall(r"^  (\S+) ", text, re.M) == ["b.ingot", "c.gguf", "zebra.ingot"] and
           text.endswith(reply) and f"3 models in {given}: this is b.ingot" in log,
           "chat FOLDER begins with the first model by name", text + log)
status, text, log = ingot("chat", empty)
tap.ok(status == 1 and one_sentence(log) and f"{empty}/ has no model" in log, "a folder without a model is refused", log)

packed = work("packed.ingot")
status, text, log = ingot("pack", os.path.join(ROOT, "models/demo"), "-o", packed, "--type", "q4_0")
tap.ok(status == 0 and text == f"{packed}: llama, 4 layers, q4_0, 708.0 KiB\n", f"pack describes the packed file: {text.strip()}",
       text + log)
status, text, log = ingot("pack", os.path.join(ROOT, "models/demo"), "-o", packed, "-q")
tap.ok(status == 0 and text == log == "", "pack -q says nothing", text + log)
TIMES = tempfile.mkdtemp(prefix="ingot-commands-")
atexit.register(shutil.rmtree, TIMES, True)
LONG_WORK = ["synth", "--shape", "smol135", "--type", "q6_k", "-o", os.path.join(TIMES, "long.ingot")]
child = pexpect.spawn(HOST, LONG_WORK, timeout=30, encoding="utf-8")
try:
    tap.ok(child.expect([r"\rpacking \[[#.]+\] ", pexpect.EOF]) == 0, "work of more than a second shows progress on a terminal", child.before)
finally:
    end(child)
child = subprocess.Popen([HOST, *LONG_WORK], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
try:
    child.wait(2.5)
except subprocess.TimeoutExpired:
    child.kill()
tap.ok(b"packing" not in child.communicate(timeout=20)[0], "no progress is printed into a pipe")
work("packed.ingot")

# ---- words that are wrong ------------------------------------------------------------------------

WRONG = (
    (["pakc"], 2, "ingot: 'pakc' is not a command; did you mean pack? `ingot help` lists them"),
    (["dance"], 2, "ingot: 'dance' is not a command; `ingot help` lists them"),
    ([DEMO], 2, "is a file, not a command"),
    (["help", "pakc"], 2, "did you mean pack?"),
    (["tokenize", DEMO, "--temp", "0"], 2, "ingot tokenize: --temp is not an option of tokenize"),
    (["run", DEMO, "--tmep", "0"], 2, "did you mean --temp?"),
    (["run", DEMO, "-t", "0"], 2, "-t 0: takes a count of threads from 1 to 8"),
    (["run", DEMO, "-n"], 2, "-n: its value is missing"),
    (["run", DEMO, "-p", "x", "-f", question], 2, "-p and -f"),
    (["run", DEMO], 2, "standard input: it is empty"),
    (["run", DEMO, "-f", "/none"], 1, "/none: No such file or directory"),
    (["run", DEMO, "-p", "x", "-o", "/none/x"], 1, "/none/x: cannot be written: No such file or directory"),
    (["run", DEMO, "x"], 2, "x: one argument too many"),
    (["run"], 2, "which model?"),
    (["run", DEMO, "-p", "x", "-q", "--mem", "4K"], 1, "raise --mem to at least"),
    (["run", DEMO, "-p", "x", "-q", "-c", "9999"], 1, "--ctx 9999 is more than"),
    (["verify"], 2, "which file?"),
    (["serial"], 2, "which device?"),
    (["pack", DEMO], 2, "give the file to write, as in -o OUT.ingot"),
    (["pack", DEMO, "-o", "x", "--type", "q9"], 2, "--type q9: takes auto with --size, or one of f32, f16"),
    (["synth", "-o", "x"], 2, "give one, such as --shape tiny"),
    (["info", DEMO, "--tensor"], 2, "did you mean --tensors?"),
    (["perplexity", DEMO], 2, "give the text to measure with, as in -f FILE"),
)
for words, expected, says in WRONG:
    status, text, log = ingot(*words)
    shown = " ".join(os.path.basename(w) for w in words)
    tap.ok(status == expected and text == "" and one_sentence(log) and says in log, f"ingot {shown}: {log.strip()[:90]}",
           f"{status} {text} {log}")

# ---- help ----------------------------------------------------------------------------------------

status, listed, log = ingot("help")
names = re.findall(r"^  ([a-z]+) ", listed, re.M)
tap.ok(status == 0 and len(names) > 10 and log == "", "help lists the commands", listed)
for name in names:
    status, text, log = ingot(name, "--help")
    tap.ok(status == 0 and log == "" and text.startswith(f"usage: ingot {name} ") and "\nexample:\n  ingot " in text and
           ingot("help", name)[1] == text, f"help {name}", text + log)
tap.ok(ingot("-V") == ingot("--version") and re.fullmatch(r"ingot \d+\.\d+\S*\n", ingot("-V")[1]), "-V, --version")
status, text, _ = ingot("tokenize", "--help")
tap.ok("--ids" in text and "--temp" not in text, "a command's help has only its own options", text)
status, script, _ = ingot("help", "--bash-completion")
probe = script + 'COMP_WORDS=(ingot run --th); COMP_CWORD=2; _ingot; echo "${COMPREPLY[@]}"'
said = subprocess.run(["bash", "-c", probe], capture_output=True, text=True, timeout=20, check=False)
tap.ok(said.stdout == "--think --threads\n" and said.stderr == "", "the shell's completion works", said)
status, page, _ = ingot("help", "--man")
tap.ok(page.startswith(".TH INGOT 1 ") and all(f"\n.SS {name}\n" in page for name in names), "the manual page", page)
tap.done()
