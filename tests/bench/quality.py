#!/usr/bin/python3
"""Measures what a real model loses with each type of weights, keys and values, compared with llama.cpp's quantizer, for
docs/QUALITY.md.

usage: quality.py [MODEL ...] [--only PATTERN] [--windows N] [--again]     measures the figures that were not measured before
       quality.py --write         writes the measured figures into docs/QUALITY.md; other figures of the page stay

MODEL   a name of models/published.ini whose GGUF is in build/models/published; default: all models in that folder
--windows  the number of windows of 512 tokens; rows that were measured on another number are measured again
--only  measures only rows whose "table | row | by whom" the pattern finds
--again  also measures rows that were measured before, after a change of the quantizers

LLAMA_CPP=FOLDER names llama.cpp's libraries (llama_cpp.py). Figures are kept in build/quality."""

import argparse
import configparser
import json
import math
import os
import re
import subprocess
import sys
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path[:0] = [os.path.join(HERE, ".."), HERE]
import llama_cpp
from machine import ASSETS, BUILD, HOST

PUBLISHED = os.path.join(BUILD, "models/published")
WORK = os.path.join(BUILD, "quality")
TEXT = os.path.join(ASSETS, "text/wikitext2_test.raw.txt")
PAGE = os.path.join(ROOT, "docs/QUALITY.md")
WINDOW = 512
SKIPPED = 32                                 # positions at a window's start, which have too little text before them
WINDOWS = {"smollm2-135m": 2, "gemma3-270m": 1}
CALIBRATION_AT, CALIBRATION_BYTES = 700_000, 12_000
SECONDS = 3600

# name: (Ingot's options, llama.cpp's file type, whether every matrix has the type)
TYPES = {
    "q8_0": (["--type", "q8_0"], "q8_0", False), "q6_k": (["--type", "q6_k"], "q6_k", False),
    "q5_k_m": (["--type", "q5_k_m"], "q5_k_m", False), "q4_k_m": (["--type", "q4_k_m"], "q4_k_m", False),
    "q4_0 --head q8_0": (["--type", "q4_0", "--head", "q8_0"], "q4_0", False), "q4_0": (["--type", "q4_0"], "q4_0", True),
    "iq4_nl --head q8_0": (["--type", "iq4_nl", "--head", "q8_0"], "iq4_nl", False), "iq4_nl": (["--type", "iq4_nl"], "iq4_nl", True),
    "fig4 --head q8_0": (["--type", "fig4", "--head", "q8_0"], None, False), "fig4": (["--type", "fig4"], None, False),
    "q3_k_m": (["--type", "q3_k_m"], "q3_k_m", False), "q2_k": (["--type", "q2_k"], "q2_k", False),
}
# --The type auto is measured at the size of each of these types.
AUTO = ("q5_k_m", "q4_k_m", "q3_k_m", "iq4_nl --head q8_0", "q2_k", "iq4_nl")
KV = {"f16": ("f16", "f16"), "q8": ("q8_0", "q8_0"), "rot_q8": None, "rot_q8,rot_q4": ("q8_0", "q4_0"), "rot_q4": ("q4_0", "q4_0"), "uniform_4b": None, "ruv": None}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:4])}: {done.returncode}\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


class Subject:
    """A model, its windows of ids, and the logarithms of the probabilities that F32 weights give."""

    def __init__(self, name, gguf, peer, n):
        self.name, self.gguf, self.peer = name, gguf, peer
        self.folder = os.path.join(WORK, name)
        os.makedirs(self.folder, exist_ok=True)
        self.windows = self.cut(0, 6 * WINDOW * n)[:n]
        self.floats = self.made("f32.gguf", lambda out: peer.quantize(gguf, out, "f32"))
        self.exact_model = self.made("f32.ingot", lambda out: run(HOST, "pack", gguf, "-o", out, "-q", "--type", "f32"))
        self.calibration = os.path.join(self.folder, "calibration.txt")
        with open(TEXT, "rb") as f, open(self.calibration, "wb") as out:
            f.seek(CALIBRATION_AT)
            out.write(f.read(CALIBRATION_BYTES))
        self.exact = self.reference()
        self.columns = None

    def made(self, name, make):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            make(path + ".part")
            os.rename(path + ".part", path)
        return path

    def cut(self, at, size):
        part = os.path.join(self.folder, "part.txt")
        with open(TEXT, "rb") as f, open(part, "wb") as out:
            f.seek(at)
            out.write(f.read(size).decode("utf-8", "ignore").encode())
        said = run(HOST, "tokenize", self.gguf, "-f", part, "--ids", "--no-bos")
        ids = [int(x) for x in said.split()]
        first = run(HOST, "tokenize", self.gguf, "-p", "a", "--ids").split()
        bos = [int(first[0])] if len(first) > 1 else []
        step = WINDOW - len(bos)
        return [bos + ids[i:i + step] for i in range(0, len(ids) - step + 1, step)]

    def reference(self):
        """(windows, positions, vocabulary) of logarithms, in a file that is mapped."""
        path = os.path.join(self.folder, "exact.npy")
        if not os.path.exists(path):
            rows = [log_softmax(x) for x in self.ours(self.exact_model, "f32")]
            numpy.save(path, numpy.stack(rows).astype(numpy.float32))
        return numpy.load(path, mmap_mode="r")

    def ours(self, model, kv="f16"):
        """Ingot's logits (positions, vocabulary) for every window."""
        out = os.path.join(self.folder, "logits.f32")
        for ids in self.windows:
            run(HOST, "logits", model, "--tokens", " ".join(map(str, ids)), "-n", "0", "-c", str(WINDOW), "--no-bos", "--kv", kv, "-o", out, "-q")
            yield numpy.fromfile(out, numpy.float32).reshape(WINDOW, -1)
        os.remove(out)

    def theirs(self, model, kv=("f16", "f16")):
        return self.peer.run(model, self.windows, self.exact.shape[2], kv=kv)

    def importance(self):
        if self.columns is None:
            windows = self.cut(CALIBRATION_AT, CALIBRATION_BYTES)
            self.columns = self.peer.importance(self.floats, windows, self.exact.shape[2])
        return self.columns

    def figures(self, rows):
        """Returns divergence, share of equal first tokens and perplexity over the logits of all windows."""
        divergence, same, loss = [], [], []
        for ids, exact, logits in zip(self.windows, self.exact, rows):
            got, want = log_softmax(logits[SKIPPED:-1]), exact[SKIPPED:-1]
            divergence.append((numpy.exp(want) * (want - got)).sum(axis=1))
            same.append(got.argmax(axis=1) == want.argmax(axis=1))
            loss.append(-got[numpy.arange(len(got)), ids[SKIPPED + 1:]])
        divergence, same, loss = (numpy.concatenate(x).astype(float) for x in (divergence, same, loss))
        n = len(loss)
        return {"kl": divergence.mean(), "kl_error": divergence.std() / math.sqrt(n), "top": same.mean(), "perplexity": math.exp(loss.mean()),
                "perplexity_error": math.exp(loss.mean()) * loss.std() / math.sqrt(n), "n": n}


def log_softmax(x):
    x = x - x.max(axis=1, keepdims=True)
    return x - numpy.log(numpy.exp(x).sum(axis=1, keepdims=True))


# ---- rows: {(name, by whom): a function that makes a file for Ingot or for llama.cpp} ---------------

def packed(subject, options):
    out = os.path.join(subject.folder, "row.ingot")
    run(HOST, "pack", subject.floats, "-o", out, "-q", *options)
    return out


def quantized(subject, kind, pure, weighed):
    out = os.path.join(subject.folder, "row.gguf")
    subject.peer.quantize(subject.floats, out, kind, pure)
    if weighed:
        subject.peer.weigh(subject.floats, out, out, subject.importance())
    return out


def of_theirs(subject, path):
    """Let Ingot compute a GGUF with unchanged types, so that only the quantizers are compared."""
    out = os.path.join(subject.folder, "row.ingot")
    run(HOST, "pack", path, "-o", out, "-q")
    return {"bytes": os.path.getsize(path), **subject.figures(subject.ours(out))}


def of_ours(subject, path, kv="f16"):
    return {"bytes": os.path.getsize(path), **subject.figures(subject.ours(path, kv))}


def rows_of(subject):
    """{(table, row, column): the function that measures it}."""
    own = lambda: subject.made("own.ingot", lambda out: run(HOST, "pack", subject.gguf, "-o", out, "-q"))
    rows = {("as it is", "the file", "ingot"): lambda: of_ours(subject, own()),
            ("as it is", "the file", "llama.cpp"): lambda: {"bytes": os.path.getsize(subject.gguf), **subject.figures(subject.theirs(subject.gguf))}}
    for name, (options, kind, pure) in TYPES.items():
        calibrated = options + ["--calibrate", subject.calibration]
        rows["types", name, "ingot"] = lambda o=options: of_ours(subject, packed(subject, o))
        rows["types", name, "ingot, calibrated"] = lambda o=calibrated: of_ours(subject, packed(subject, o))
        if kind is not None:
            rows["types", name, "llama.cpp"] = lambda k=kind, p=pure: of_theirs(subject, quantized(subject, k, p, False))
            rows["types", name, "llama.cpp, calibrated"] = lambda k=kind, p=pure: of_theirs(subject, quantized(subject, k, p, True))
    for name in AUTO:
        options = lambda n=name: ["--type", "auto", "--size", str(os.path.getsize(packed(subject, TYPES[n][0])))]
        rows["types", f"auto in the size of {name}", "ingot"] = lambda o=options: of_ours(subject, packed(subject, o()))
        rows["types", f"auto in the size of {name}", "ingot, calibrated"] = lambda o=options: of_ours(subject, packed(subject, [*o(), "--calibrate", subject.calibration]))
    for name, pair in KV.items():
        rows["kv", name, "ingot"] = lambda kv=name: of_ours(subject, own(), kv)
        if pair is not None:
            rows["kv", name, "llama.cpp"] = lambda kv=pair: {"bytes": 0, **subject.figures(subject.theirs(subject.gguf, kv))}
    return rows


# ---- what is kept, and the page ------------------------------------------------------------------

def kept_path(name):
    return os.path.join(WORK, name + ".json")


def read_kept(name):
    if not os.path.exists(kept_path(name)):
        return {}
    with open(kept_path(name), encoding="utf-8") as f:
        return json.load(f)


def is_kept(kept, word, subject):
    """True if the row was measured on the same number of positions."""
    return word in kept and kept[word]["n"] == len(subject.windows) * (WINDOW - SKIPPED - 1)


def measure(subject, only, again):
    kept = read_kept(subject.name)
    for key, figures in rows_of(subject).items():
        word = " | ".join(key)
        if (is_kept(kept, word, subject) and not again) or not re.search(only, word):
            continue
        begun = time.monotonic()
        kept[word] = figures()
        kept[word]["seconds"] = round(time.monotonic() - begun)
        print(f"{subject.name} | {word}: {line_of(kept[word])}, {kept[word]['seconds']} s", flush=True)
        with open(kept_path(subject.name), "w", encoding="utf-8") as f:
            json.dump(kept, f, indent=1)


def line_of(f):
    return f"{f['bytes'] / 1e6:.1f} MB, KL {f['kl']:.4f} +- {f['kl_error']:.4f}, {100 * f['top']:.1f} %, {f['perplexity']:.2f} +- {f['perplexity_error']:.2f}"


HEAD = ("| {} | MB | KL | same first token, % | perplexity |", "|---|---|---|---|---|")
WHO = ("ingot", "llama.cpp", "ingot, calibrated", "llama.cpp, calibrated")


FORMS = (lambda f: f"{f['bytes'] / 1e6:.1f}" if f["bytes"] else "-", lambda f: f"{f['kl']:.4f}±{f['kl_error']:.4f}",
         lambda f: f"{100 * f['top']:.1f}", lambda f: f"{f['perplexity']:.2f}±{f['perplexity_error']:.2f}")


def cell(texts):
    """A cell: Ingot's figure / llama.cpp's figure; then both after calibration. Figures that were not measured are
    left out."""
    pairs = [texts[who] for who in WHO[:2] if who in texts], [texts[who] for who in WHO[2:] if who in texts]
    return "; ".join(" / ".join(pair) for pair in pairs if pair)


def parts_of(text):
    """A cell as {who: text}."""
    halves = text.split("; ")
    return {who: part for first, half in zip((0, 2), halves) for who, part in zip(WHO[first:], half.split(" / "))}


def rows_of_page(lines):
    """A table's lines as {row: a {who: text} for each column}."""
    rows = [[column.strip() for column in line.strip("|").split(" | ")] for line in lines[2:]]
    return {row[0]: [parts_of(column) for column in row[1:]] for row in rows}


def table(kept, part, title, before):
    rows = rows_of_page(before)
    for word, figures in kept.items():
        at, name, who = word.split(" | ")
        if at == part:
            for texts, form in zip(rows.setdefault(name, [{} for _ in FORMS]), FORMS):
                texts[who] = form(figures)
    order = list(TYPES) + [f"auto in the size of {name}" for name in AUTO] + list(KV) + list(rows)
    return [HEAD[0].format(title), HEAD[1]] + [f"| {name} | " + " | ".join(map(cell, columns)) + " |"
                                               for name, columns in sorted(rows.items(), key=lambda row: order.index(row[0]))]


def page_with(text, measured):
    """The page with the figures of `measured`, {model: result of read_kept()}."""
    for name, kept in measured.items():
        for part, title in (("as it is", "weights"), ("types", "`--type`"), ("kv", "`--kv`")):
            begin = text.index(f"<!-- {name}: {part} -->\n") + len(f"<!-- {name}: {part} -->\n")
            end = text.index("<!-- end -->", begin)
            text = text[:begin] + "\n".join(table(kept, part, title, text[begin:end].splitlines())) + "\n" + text[end:]
    return text


def write_page():
    with open(PAGE, encoding="utf-8") as f:
        text = page_with(f.read(), {name: read_kept(name) for name in WINDOWS})
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("models", nargs="*")
    p.add_argument("--only", default="")
    p.add_argument("--windows", type=int, default=0)
    p.add_argument("--again", action="store_true")
    p.add_argument("--write", action="store_true")
    args = p.parse_args()
    if args.write:
        return write_page()
    published = configparser.ConfigParser()
    published.read(os.path.join(ROOT, "models/published.ini"), encoding="utf-8")
    peer = llama_cpp.LlamaCpp()
    for name in args.models or published.sections():
        gguf = os.path.join(PUBLISHED, name + ".gguf")
        if os.path.exists(gguf):
            measure(Subject(name, gguf, peer, args.windows or WINDOWS[name]), args.only, args.again)


if __name__ == "__main__":
    main()
