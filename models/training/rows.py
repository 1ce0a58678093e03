#!/usr/bin/python3
"""Writes the tokenizer and the training data: rows of token ids of one length, each a long conversation from its
beginning. An id has two bytes; the top bit marks ids to learn, those of replies.

usage: rows.py FOLDER"""

import functools
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../generator"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import acting
import acting_held_out
import generator
import held_out
from tokenizer import END, START, Tokenizer, train

VOCABULARY = 2048
TOKENIZER_SEED, ROWS_SEED = 1, 2
LEARNED = 0x8000


def of(shares):
    return functools.partial(generator.conversation, shares=shares)


# (file, ids of a row besides the first, rows, the function that draws a conversation)
FILES = [("rows-128.bin", 128, 3200, of(generator.FIRST)),
         ("rows-256.bin", 256, 18000, of(generator.MIXED)),
         ("rows-512.bin", 512, 5200, of(generator.THEN)),
         ("rows-last.bin", 512, 3200, of(generator.LAST)),
         ("rows-acting.bin", 512, 36000, acting.conversation)]


def train_tokenizer(path):
    rng = random.Random(TOKENIZER_SEED)
    texts = []
    for _ in range(30000):
        texts += ["system", "user", "assistant", "\n"]
        for e in generator.conversation(rng, 1, generator.MIXED)[1]:
            texts += [e.user, e.reply]
    texts += [str(n) for n in range(100)] * 1000
    with open(path, "w", encoding="utf-8") as f:
        json.dump(train(texts, VOCABULARY), f, ensure_ascii=False)


def ids_of(tokenizer, system, exchanges):
    """Return the ids of the conversation in ChatML; replies and their ends are marked as learned."""
    newline = tokenizer.encode("\n")
    out = []
    if system is not None:
        out += [START] + tokenizer.encode("system\n" + system) + [END] + newline
    for e in exchanges:
        out += [START] + tokenizer.encode("user\n" + e.user) + [END] + newline
        out += [START] + tokenizer.encode("assistant\n")
        out += [i | LEARNED for i in tokenizer.encode(e.reply) + [END]] + newline
    return out


def allowed(exchanges, banned):
    """Return the exchanges without held-out prompts, and without the results of calls that this removed."""
    out, gone = [], False
    for e in exchanges:
        gone = e.user in banned or (gone and e.user.startswith("{"))
        out += [] if gone else [e]
    return out


def row(rng, tokenizer, length, draw, banned):
    """Draw one conversation of at least this length, none of whose prompts is held out."""
    while True:
        system, exchanges = draw(rng, length * 6)
        ids = ids_of(tokenizer, system, allowed(exchanges, banned))
        if len(ids) > length:
            return ids[:length + 1]


def main(folder):
    import numpy

    os.makedirs(folder, exist_ok=True)
    merges = os.path.join(folder, "merges.json")
    if not os.path.exists(merges):
        print("tokenizer: training", flush=True)
        train_tokenizer(merges)
    with open(merges, encoding="utf-8") as f:
        tokenizer = Tokenizer(json.load(f))
    banned = held_out.first_prompts() | acting_held_out.prompts()
    for name, length, count, draw in FILES:
        rng = random.Random(ROWS_SEED + length)
        rows = numpy.empty((count, length + 1), numpy.uint16)
        for i in range(count):
            rows[i] = row(rng, tokenizer, length, draw, banned)
            if i % 10000 == 0:
                print(f"{name}: {i} of {count} rows", flush=True)
        rows.tofile(os.path.join(folder, name))


if __name__ == "__main__":
    main(sys.argv[1])
