#!/usr/bin/python3
"""Tokenizer test files of the assets: the ids equal those of the models' own tokenizers. Also the speed on long texts, and what is refused.
Reading a vocabulary is slow, so only every fifteenth text runs here, and all in test-long; the tokenizer's unit test runs all texts after a
single reading."""

import glob
import os
import re
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ASSETS, HOST, LONG, ROOT, WORK, Tap

SEPARATOR = b"\n__ggml_vocab_test__\n"
STEP = 1 if LONG else 15
ONE_OF_A_KIND = ("-gpt-2.", "-llama-bpe.", "-llama-spm.")  # texts are cut into words as in GPT-2, as in Llama 3, not at all
tap = Tap()
os.makedirs(WORK, exist_ok=True)


def tokenize(model, text, *options):
    """(exit status, ids, what was printed)"""
    done = subprocess.run([HOST, "tokenize", model, "--ids", "--no-bos", *options], input=text,
                          capture_output=True, timeout=120)
    return done.returncode, done.stdout.split(), done.stderr.decode(errors="replace")


def test_published(model):
    name = os.path.basename(model)[len("ggml-vocab-"):-len(".gguf")]
    with open(model + ".inp", "rb") as f:
        texts = f.read().split(SEPARATOR)
    with open(model + ".out", "rb") as f:
        expected = [line.split() for line in f.read().split(b"\n")]
    wrong = []
    picked = list(enumerate(zip(texts, expected)))[::STEP]
    for i, (text, ids) in picked:
        status, got, said = tokenize(model, text)
        if status != 0 or got != ids:
            wrong.append(f"text {i} {text[:40]!r}: {got[:20]} for {ids[:20]} {said}")
    tap.ok(not wrong and len(texts) == len(expected) >= 46,
           f"{name}: {len(picked)} texts have the ids of the model's own tokenizer",
           "\n".join(wrong[:5]))


def seconds(model, text):
    """The time to tokenize a text, in CPU time, so that a busy computer does not matter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status, ids, _ = tokenize(model, text)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took if status == 0 and ids else float("nan")


def test_speed(model, text):
    """The time of a text of one letter, which is spent on reading the vocabulary, is subtracted. An idle computer does more than 1 MB/s; a shared
    one has been seen to need 1.5 times as long."""
    name = os.path.basename(model)[len("ggml-vocab-"):-len(".gguf")]
    texts = dict(start=b"x", book=text, short=b"a" * 65536, long=b"a" * 1048576)
    took = dict.fromkeys(texts, float("inf"))
    for _ in range(4):  # up to four tries, of which the shortest times count
        took = {what: min(took[what], seconds(model, t)) for what, t in texts.items()}
        rate = len(text) / max(took["book"] - took["start"], 0.001) / 1e6
        short, long = took["short"] - took["start"], took["long"] - took["start"]
        if rate > 0.5 and long < 100 * max(short, 0.01):
            break
    tap.note(f"{name:10} {rate:5.1f} MB/s; one letter: 64 KiB {short * 1e3:.0f} ms, 1 MiB "
             f"{long * 1e3:.0f} ms")
    tap.ok(rate > 0.5, f"{name}: 0.5 MB/s at least", rate)
    # 16 times the text needs 16 * 20 / 16 = 20 times the work if time grows as n log n, and 256 times if it grows as n^2; a computer with shared
    # cores sometimes takes twice the CPU time
    tap.ok(long < 100 * max(short, 0.01), f"{name}: 1 MiB of one letter is no worse than n log n",
           f"{long} s after {short} s")


def test_tables():
    """The committed table equals the script's output for the distribution's Unicode data."""
    folder = "/usr/share/unicode"
    path = os.path.join(folder, "PropList.txt")
    version = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            version = f.readline().strip()
    if version != "# PropList-15.0.0.txt":
        tap.skip("the Unicode table", f"no Unicode 15.0.0 in {folder} (package unicode-data)")
        return
    made = subprocess.run([sys.executable, os.path.join(ROOT, "toolchain/unicode_tables.py")],
                          capture_output=True, check=True, timeout=120).stdout
    with open(os.path.join(ROOT, "runtime/text/unicode_table.c"), "rb") as f:
        tap.ok(f.read() == made, "the Unicode table is what its script makes")


test_tables()
models = sorted(glob.glob(os.path.join(ASSETS, "vocab/*.gguf")))
if not models:
    tap.skip("tokenizers", f"no {ASSETS}/vocab/*.gguf (set INGOT_ASSETS)")
    tap.done()
for path in models:
    test_published(path)
text_path = os.path.join(ASSETS, "text/wikitext2_test.raw.txt")
if os.path.exists(text_path):
    with open(text_path, "rb") as f:
        book = f.read()
    for path in models:
        if LONG or any(name in path for name in ONE_OF_A_KIND):
            test_speed(path, book)

with open(os.path.join(ASSETS, "vocab/ggml-vocab-gpt-2.gguf"), "rb") as f:
    image = f.read()
key = b"tokenizer.ggml.pre" + (8).to_bytes(4, "little") + (5).to_bytes(8, "little") + b"gpt-2"
unknown = os.path.join(WORK, "unknown-pre.gguf")
with open(unknown, "wb") as f:
    f.write(image.replace(key, key[:-5] + b"gpt-9"))
status, _, said = tokenize(unknown, b"x")
tap.ok(image.count(key) == 1 and status == 1 and re.search(r'"gpt-9".*llama-bpe, qwen2', said),
       "a pre-tokenizer that is not known is refused by name, with those that are", said)
os.unlink(unknown)
tap.done()
