#!/usr/bin/python3
"""Prints bytes, cosines, perplexity and instructions of every type of keys and values: the tables of docs/KV.md and tests/bench/kv/README.md.

usage: kv_table.py [TYPE ...]     only these types; otherwise all types, and rot_q8,rot_q4"""

import array
import math
import os
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../models/generator"),
                os.path.join(HERE, "../../models/training")]
import generator
import rows
from figures import BUILD, print_table, write_csv
from machine import WORK
from tokenizer import read_tokenizer

ASSETS = os.environ.get("INGOT_ASSETS", "../shared/models")
MODELS = {"stories260K": "gguf/stories260K.gguf", "TinyStories-656K": "hf/TinyStories-656K"}
TEXT = os.path.join(ASSETS, "text/tinystories-eval-64K.txt")
CONTEXT = 512 # the full context of all three models
DEMO, DEMO_ROWS, DEMO_SEED = "models/demo-q8_0.ingot", 12, 20265
PAIRS = ["rot_q8,rot_q4"]
SECONDS = 1200
PROGRAM = os.path.join(BUILD, "tests/bench/ingot-kv") # the program with the types of tests/bench/kv
KV_TILE, KV_QUERIES = 64, 4 # as in kv_count.c


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:4])}: {done.returncode}\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def word(types):
    """The value for kv=. The type kivi exists only in tiers; here it follows a tile of f16."""
    return "tiers:64,0,kivi" if types == "kivi" else types


# ---- what the unit tests print ------------------------------------------------------------------

def of_formats():
    """{type: (bytes of 128 numbers as keys and as values, mean cosine of normally distributed numbers)}"""
    said = run(os.path.join(BUILD, "tests/unit/compute/kv_format.t"))
    tiles = re.findall(r"- (\w+): tiles have (\d+) and (\d+) bytes for", said)
    cosine = dict(re.findall(r"- (\w+): the mean cosine of normal numbers is ([\d.]+)", said))
    return {name: (int(k) / 64, int(v) / 64, float(cosine[name])) for name, k, v in tiles}


def of_models():
    """{type: the mean cosine over keys and over values of all models}"""
    said = run(os.path.join(BUILD, "tests/unit/compute/kv_real.t"))
    found = {}
    for name, keys, values in re.findall(r"- \S+ (\w+): the mean cosine of keys is ([\d.]+), of values ([\d.]+)",
                                         said):
        found.setdefault(name, []).append((float(keys), float(values)))
    return {name: [sum(column) / len(column) for column in zip(*pairs)]
            for name, pairs in found.items()}


# ---- perplexity -------------------------------------------------------------------------------

def of_text(model, types):
    said = run(PROGRAM, "perplexity", os.path.join(ASSETS, MODELS[model]), "-f", TEXT, "-c",
               str(CONTEXT), "--kv", word(types), "-q", "-t", "1")
    return float(re.search(r"perplexity ([\d.]+)", said).group(1))


def demo_rows():
    """Conversations like those on which the demo was trained, with another seed; the marks tell which tokens belong to
    a reply."""
    rng, tokenizer = random.Random(DEMO_SEED), read_tokenizer("models/demo/tokenizer.json")
    return [rows.row(rng, tokenizer, CONTEXT, generator.MIXED, set()) for _ in range(DEMO_ROWS)]


def of_row(ids, types, path):
    """(sum of -ln p, number of tokens) of the replies in a row."""
    plain = [i & ~rows.LEARNED for i in ids]
    run(PROGRAM, "logits", DEMO, "--tokens", ",".join(str(i) for i in plain[:CONTEXT]), "-c",
        str(CONTEXT), "--kv", word(types), "-o", path, "-q", "-t", "1")
    logits = array.array("f")
    with open(path, "rb") as f:
        logits.frombytes(f.read())
    os.remove(path)
    vocabulary, loss, count = len(logits) // CONTEXT, 0.0, 0
    for at in range(CONTEXT):
        if ids[at + 1] & rows.LEARNED:
            row = logits[at * vocabulary:(at + 1) * vocabulary]
            most = max(row)
            loss += math.log(sum(math.exp(x - most) for x in row)) + most - row[plain[at + 1]]
            count += 1
    return loss, count


def of_demo(conversations, types):
    path = os.path.join(WORK, f"bench-kv-{types}.f32")
    found = [of_row(ids, types, path) for ids in conversations]
    return math.exp(sum(loss for loss, _ in found) / sum(count for _, count in found))


# ---- instructions -----------------------------------------------------------------------------

def counted(types, times):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           os.path.join(BUILD, "tests/bench/kv_count"), word(types), str(times)],
                          capture_output=True, text=True, timeout=SECONDS)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def instructions(types):
    """Instructions for one query and one position's key and value, with heads of 64 and four
    queries at once. valgrind supports this CPU's features up to AVX2. Returns None if valgrind is not installed."""
    if shutil.which("valgrind") is None:
        return None
    return (counted(types, 3) - counted(types, 1)) / (2 * KV_TILE * KV_QUERIES)


def of_f16(perplexity, base):
    return f"{perplexity:.3f} ({100 * (perplexity / base - 1):+.2f} %)" if base else f"{perplexity:.3f}"


def main():
    os.makedirs(WORK, exist_ok=True)
    formats, models, conversations = of_formats(), of_models(), demo_rows()
    wanted = sys.argv[1:] or list(formats) + PAIRS
    jobs = [(subject, types) for types in wanted
            for subject in list(MODELS) + ["demo"]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        values = pool.map(lambda job: of_demo(conversations, job[1]) if job[0] == "demo"
                          else of_text(*job), jobs)
        found = dict(zip(jobs, values))
    table, lines = [], []
    for types in wanted:
        keys, values = (types.split(",") * 2)[:2]
        bits = (formats[keys][0] + formats[values][1]) / 2 / 16
        perplexity = [found.get((subject, types)) for subject in list(MODELS) + ["demo"]]
        base = [found.get((subject, "f16"), 0) for subject in list(MODELS) + ["demo"]]
        cosines = [formats[keys][2], models[keys][0], models[values][1]]
        count = instructions(types)
        table.append([types, f"{formats[keys][0]:g}, {formats[values][1]:g}", f"{bits:.2f}"] +
                     [f"{c:.5f}" for c in cosines] +
                     [of_f16(p, b) for p, b in zip(perplexity, base)] +
                     ["-" if count is None else f"{count:.1f}"])
        lines += [("computed", types, f"perplexity {subject}", p, "", f"windows of {CONTEXT}")
                  for subject, p in zip(list(MODELS) + ["demo"], perplexity) if p]
        if count is not None:
            lines.append(("x86-64", types, "a position and query", count, "instructions", "callgrind"))
        lines += [("computed", types, "bits a number", bits, "bits", "heads of 128")]
        lines += [("computed", types, f"cosine {of}", c, "", "mean")
                  for of, c in zip(("normal", "keys", "values"), cosines)]
    print_table("Types of keys and values; perplexity in windows of 512, in brackets over f16",
                ["kv=", "bytes of 128: keys, values", "bits a number", "cosine, normal numbers",
                 "of keys", "of values"] + list(MODELS) + ["demo", "instructions"], table)
    write_csv("bench-kv.csv", lines)


if __name__ == "__main__":
    main()
