"""Byte-level BPE: trains it on the generator's text, and applies it. Texts are split as Llama 3
does."""

import collections
import json
import re

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
END_OF_TEXT, START, END = range(3)
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
# The same pattern for Python, whose \w is letters, digits and the underscore.
SPLIT = re.compile(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|(?:[^\r\n\w]|_)?[^\W\d_]+|\d{1,3}"
                   r"| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def byte_letters():
    """Return the letter that represents each byte in tokenizer.json, which GPT-2 introduced."""
    plain = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    others = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + i) for i, b in enumerate(others)}}


LETTER = byte_letters()


def letters(text):
    return tuple(LETTER[b] for b in text.encode())


def join(word, pair):
    """Return the word with the pair merged wherever it occurs."""
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return tuple(out)


def train(texts, size):
    """Return the merges that make a vocabulary of `size` tokens, the most frequent pair first; of equally frequent
    pairs the one that sorts first, so equal texts give equal merges."""
    counts = collections.Counter(w for t in texts for w in SPLIT.findall(t))
    items = [[letters(w), n] for w, n in sorted(counts.items())]
    pairs, where = collections.Counter(), collections.defaultdict(set)

    def note(i, sign):
        word, n = items[i]
        for pair in zip(word, word[1:]):
            pairs[pair] += sign * n
            where[pair].add(i)

    for i in range(len(items)):
        note(i, 1)
    merges = []
    while len(merges) < size - 256 - len(SPECIAL):
        best = max(pairs.items(), key=lambda p: (p[1], p[0]))[0]
        merges.append(best)
        for i in sorted(where.pop(best)):
            note(i, -1)
            items[i][0] = join(items[i][0], best)
            note(i, 1)
        del pairs[best]
    return merges


class Tokenizer:
    def __init__(self, merges):
        self.merges = [tuple(m) for m in merges]
        self.rank = {m: i for i, m in enumerate(self.merges)}
        tokens = SPECIAL + [LETTER[b] for b in range(256)] + [a + b for a, b in self.merges]
        self.ids = {t: i for i, t in enumerate(tokens)}
        self.tokens, self.known = tokens, {}

    def word(self, text):
        word = letters(text)
        while len(word) > 1:
            best = min(zip(word, word[1:]), key=lambda p: self.rank.get(p, len(self.rank)))
            if best not in self.rank:
                break
            word = join(word, best)
        return [self.ids[t] for t in word]

    def encode(self, text):
        out = []
        for w in SPLIT.findall(text):
            if w not in self.known:
                self.known[w] = self.word(w)
            out += self.known[w]
        return out

    def decode(self, ids):
        """Return the text of ids; special tokens have none."""
        byte = {v: k for k, v in LETTER.items()}
        text = "".join(self.tokens[i] for i in ids if i >= len(SPECIAL))
        return bytes(byte[c] for c in text).decode(errors="replace")


def read_tokenizer(path):
    """Read a tokenizer.json that export.py wrote."""
    with open(path, encoding="utf-8") as f:
        return Tokenizer(m.split(" ") for m in json.load(f)["model"]["merges"])
