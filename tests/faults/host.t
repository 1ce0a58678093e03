#!/usr/bin/python3
"""The Linux program, built with ASan and UBSan, with damaged files and bad input: it prints an error message and returns an exit
status, and never crashes."""

import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, HOST, WORK, Tap, segments

ASAN = os.path.join(BUILD, "asan/ingot")
SEED = int(os.environ.get("FAULTS_SEED", "1"))
tap = Tap()
tap.note(f"seed {SEED}")
random.seed(SEED)
os.makedirs(WORK, exist_ok=True)


def synth(shape, kind):
    out = os.path.join(WORK, f"host-faults-{shape}-{kind}.ingot")
    subprocess.run([HOST, "synth", "--shape", shape, "--type", kind, "-o", out], check=True,
                   timeout=60)
    return out


def ingot(*words, stdin=b"", timeout=60):
    done = subprocess.run([ASAN, *words], input=stdin, capture_output=True, timeout=timeout)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


def crashed(status, text):
    return status not in (0, 1, 2) or "Sanitizer" in text or "runtime error" in text


GOOD = synth("tiny", "q8_0")
with open(GOOD, "rb") as f:
    BYTES = f.read()
RUN = ["-q", "-n", "2", "--temp", "0", "-t", "1", "-p", "Hello"]


def damaged(name, data):
    path = os.path.join(WORK, f"host-faults-{name}.ingot")
    with open(path, "wb") as out:
        out.write(data)
    return path


# All lengths that may matter: those up to the ends of sections and segments, and one byte more and less.
cuts = {0, 1, 511, 512, 4095, 4096, 4097, len(BYTES) - 1, len(BYTES) - 4096}
cuts |= {at + d for at, size in segments(GOOD) for d in (-1, 0, 1, size // 2)}
cuts |= {random.randrange(len(BYTES)) for _ in range(20)}
bad = []
for cut in sorted(c for c in cuts if 0 <= c < len(BYTES)):
    status, text = ingot("run", damaged("cut", BYTES[:cut]), *RUN)
    if crashed(status, text) or status != 1 or len(text.strip().split("\n")) != 1:
        bad.append(f"{cut} bytes: status {status}: {text[-500:]}")
tap.ok(not bad, f"{len(cuts)} lengths of a file cut short give one error message each", "\n".join(bad))

# A flipped bit anywhere is found, resident and streamed, and verify names the part.
least = 2 * max(size for _, size in segments(GOOD)[1:-1]) + 4 * 4096
bad = []
places = sorted(random.sample(range(len(BYTES)), 40))
for at in places:
    data = bytearray(BYTES)
    data[at] ^= 1 << random.randrange(8)
    path = damaged("flip", data)
    for words in (["run", path, *RUN], ["run", path, *RUN, "--mem", str(least)], ["verify", path]):
        status, text = ingot(*words)
        if crashed(status, text) or status != 1:
            bad.append(f"byte {at}: {words[0]}: status {status}: {text[-500:]}")
tap.ok(not bad, f"{len(places)} flipped bits: refused by run, by streaming, by verify",
       "\n".join(bad))

data = bytearray(BYTES)
offset, size = segments(GOOD)[2]
data[offset + size // 2] ^= 1
status, text = ingot("verify", damaged("layer", data))
tap.ok(status == 1 and "layer 1" in text, "verify names the damaged layer", text)

rows = [
    ("a prompt longer than the context", ["run", GOOD, "-q", "-c", "16", "-p", "word " * 100], 1,
     "16"),
    ("invalid UTF-8 in the prompt", ["run", GOOD, *RUN[:-1], b"caf\xc3\xa9 \xff\xfe\xc3("], 0, "\n"),
    ("an unknown option", ["run", GOOD, "--colour", "red"], 2, "--colour"),
    ("a malformed value", ["run", GOOD, "--temp", "hot"], 2, "hot"),
    ("no model", ["run"], 2, "which model"),
    ("a model that is not there", ["run", "/nowhere.ingot"], 1, "no such file"),
    ("a folder for a model", ["run", WORK, "-p", "x"], 1, WORK),
    ("no command", [], 2, "usage"),
    ("an unknown command", ["dance"], 2, "dance"),
    ("too little memory", ["run", GOOD, *RUN, "--mem", "4K"], 1, "raise --mem"),
    ("too small an arena", ["run", GOOD, *RUN, "--ram", "64K"], 1, "KiB"),
    ("no room for the header", ["run", GOOD, *RUN, "--ram", "4K"], 1, "its header and tables need"),
    ("less than a page of memory", ["run", GOOD, *RUN, "--ram", "1"], 1, "--ram leaves no memory"),
    ("an ISA that is not here", ["run", GOOD, *RUN, "--isa", "sse9"], 1, "sse9"),
]
for what, words, expected, word in rows:
    status, text = ingot(*words)
    tap.ok(not crashed(status, text) and status == expected and word in text,
           f"{what}: status {expected}, says '{word}'", f"status {status}: {text[-1000:]}")

# The two numbers of a refusal add up to the smallest memory with which the model runs.
for words in ([], ["--kv", "q8"], ["--grammar", "on"], ["--adapters", "100K"], ["--ctx", "64"]):
    status, text = ingot("run", GOOD, *RUN, *words, "--ram", "500K")
    named = sum(map(int, re.findall(r"(?:at least|plus) (\d+) KiB", text)))
    enough, less = (ingot("run", GOOD, *RUN, *words, "--ram", f"{kib}K") for kib in (named, named - 4))
    tap.ok(status == 1 and enough[0] == 0 and less[0] == 1 and "may take only" in less[1],
           f"{' '.join(words) or 'no option'}: {named} KiB are enough, as named, and 4 KiB less are not", f"{text}\n{enough}\n{less}")

# A value that is refused is not printed as a whole.
for words in (["run", GOOD, *RUN, "--system", "\u00e9" * 3000], ["run", GOOD, "x" * 3000]):
    status, text = ingot(*words)
    tap.ok(status == 2 and len(text) < 300 and ("..." in text or "its value has 6000 bytes" in text) and "\ufffd" not in text,
           f"{words[-2]}: 3,000 letters are refused in one line", text[:500])

# The console gets a line of 100 kB, binary bytes, and many lines at once.
lines = b"x" * 100000 + b"\n" + b"\xff\xfe\x80 \xc3(\n" + b"hello\n" * 3
status, text = ingot("chat", GOOD, "-n", "3", "--temp", "0", "-t", "1", stdin=lines)
tap.ok(not crashed(status, text) and status == 0 and "a line may have" in text and
       text.count(" new tokens,") == 4,
       "a line of 100 kB is refused, and the four lines after it are answered", text[-1500:])

status, text = ingot("tokenize", GOOD, "--ids", stdin=bytes(random.randrange(256)
                                                             for _ in range(100000)))
tap.ok(not crashed(status, text) and status == 0 and len(text.split()) > 50000,
       "100 kB of random bytes are tokenized", text[-500:])
tap.done()
