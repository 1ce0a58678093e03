#!/usr/bin/python3
"""How texts are cut into words: tokenizer.json and a GGUF's pre-tokenizer name give the same ids, and, if Python's module `regex` is installed, those
of an oracle that runs the published expressions. The vocabulary is trained here on these texts, across all borders between words, so a border in a
wrong place changes the ids."""

import collections
import copy
import json
import os
import struct
import subprocess
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import I32, STRING, Gguf, text
from hf_files import (GPT2, MORE_PRE_TOKENIZERS, PRE_TOKENIZERS, byte_level, digits, ends, folder,
                      sequence, split, tokenizer_json, write_json)
from machine import ASSETS, HOST, WORK, Tap

try:
    import regex
except ImportError:
    regex = None

tap = Tap()
TINY = os.path.join(ASSETS, "hf/tiny")
TEXTS = [
    "I'll say it's 42\u00bd!?\n\n x", "We'LL 1234567\r\n\r\n  if(x){\n\treturn x+=10;\n}\n",
    "HTTPServer's MyCamelCASE 12345//\n \u4f60\u597d world ABC we'RE don't DON'T",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002 caf\u00e9 na\u00efve a\u0301b \u0915\u094d\u0937 \u0e01\u0e31\u0e1a x\u00b2y",
    "   leading and trailing   ", "\t\ttabs\n\n\n  \n lines\r\n", "a.b,c;d:e!f?g (h|i) [j] {k} <l>",
    "$100.50 + 20% = #7 @me ^_^ ~x` \u20ac5", "\u3053\u3093\u306b\u3061\u306f\u30ab\u30bf\u30ab\u30ca123\u6f22\u5b57\ud55c\uad6d\uc5b4 text",
    "\u0416\u0438\u0437\u043d\u044c'\u0441 \u0394\u03ad\u03bb\u03c4\u03b1 \u0661\u0662\u0663 \u2167 1st 2nd", "x=1;//c\u3000\u3000\u2018q\u2019 \u201cz\u201d\u2026 ok",
    "'s 't 're 'S'LL ''d it''s", "ALLCAPSthenlower \u01c5x \u02b0m __init__ --flag",
    " \n \n  a  b\u00a0c\u2003d\u0085e\n", "0123456789 12 345 6789 1,234.5", "\U0001f600 emoji\U0001f44d\U0001f3fd!",
    "a'\u017f b'\u017ft '\u212a",
]


def byte_characters():
    """GPT-2's printable character of each byte."""
    plain = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    rest = iter(range(256, 512))
    return [chr(b) if b in plain else chr(next(rest)) for b in range(256)]


BYTES = byte_characters()


def mapped(piece):
    return "".join(BYTES[b] for b in piece.encode())


def train(n):
    """Merges: the most frequent pairs of all texts, then every remaining pair, so that almost every border matters."""
    lines = [list(mapped(t)) for t in TEXTS]
    merges = []
    for _ in range(n):
        pairs = collections.Counter(pair for line in lines for pair in zip(line, line[1:]))
        pair = max(pairs, key=lambda p: (pairs[p], p))
        merges.append(pair)
        lines = [joined(line, pair) for line in lines]
    left = {pair for line in lines for pair in zip(line, line[1:])}
    letters = {pair for t in TEXTS for pair in zip(mapped(t), mapped(t)[1:])}
    return merges + sorted(left - set(merges)) + sorted(letters - left - set(merges))


def joined(line, pair):
    out, at = [], 0
    while at < len(line):
        both = tuple(line[at:at + 2]) == pair
        out.append(line[at] + line[at + 1] if both else line[at])
        at += 2 if both else 1
    return out


MERGES = train(200)
TOKENS = BYTES + list(dict.fromkeys(a + b for a, b in MERGES))
RANKS = {}
for rank, merge in enumerate(MERGES):
    RANKS.setdefault(merge, rank)
IDS = {token: i for i, token in enumerate(TOKENS)}


# ---- the oracle -------------------------------------------------------------------------------

def merged(word, ranks):
    line = list(word)
    while True:
        pairs = [p for p in zip(line, line[1:]) if p in ranks]
        if not pairs:
            return line
        at, best = 0, min(pairs, key=ranks.get)
        while at + 1 < len(line):  # join only the leftmost pair, then look again
            if (line[at], line[at + 1]) == best:
                line[at:at + 2] = [line[at] + line[at + 1]]
                break
            at += 1


def isolated(pieces, expression):
    """Matches and the text between them."""
    out = []
    for piece in pieces:
        at = 0
        for match in regex.finditer(expression, piece, flags=regex.V1):
            if match.start() == match.end():
                continue
            out += [piece[at:match.start()], match.group()]
            at = match.end()
        out.append(piece[at:])
    return [p for p in out if p]


def step(pieces, one):
    kind = one["type"]
    if kind == "Sequence":
        for inner in one["pretokenizers"]:
            pieces = step(pieces, inner)
        return pieces
    if kind == "Split":
        # Oniguruma takes a set within a set as a union; Python does not, so the inner set's brackets are removed.
        expression = one["pattern"]["Regex"].replace("|[", "|").replace("])]", ")]")
        return isolated(pieces, expression if "(\\s|" in expression else one["pattern"]["Regex"])
    if kind == "Digits":
        return isolated(pieces, r"\p{N}" if one["individual_digits"] else r"\p{N}+")
    if kind == "Punctuation":
        return isolated(pieces, r"[\p{P}$+<=>^~|`]+")
    assert kind == "ByteLevel"
    if one["use_regex"]:
        pieces = isolated(pieces, GPT2)
    return [mapped(piece) for piece in pieces]


def oracle(pre_tokenizer, line, ranks, ids):
    words = step([line], pre_tokenizer)
    return [ids[token] for word in words for token in merged(word, ranks)]


# ---- both inputs: a folder and a GGUF ---------------------------------------------------------

def tokenize(model, line):
    done = subprocess.run([HOST, "tokenize", model, "--ids", "--no-bos"], input=line.encode(),
                          capture_output=True, timeout=60)
    if done.returncode != 0:
        return done.stderr.decode()
    return [int(word) for word in done.stdout.split()]


def by_gguf(name):
    g = Gguf("llama")
    g.string("tokenizer.ggml.model", "gpt2")
    g.string("tokenizer.ggml.pre", name)
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t in TOKENS])
    g.array("tokenizer.ggml.token_type", I32, [struct.pack("<i", 1)] * len(TOKENS))
    g.array("tokenizer.ggml.merges", STRING, [text(f"{a} {b}") for a, b in MERGES])
    path = os.path.join(WORK, "pre-tokenizer.gguf")
    g.write(path)
    return path


NFC = ("qwen2", "qwen35")  # their texts are normalized to NFC; tests/golden/nfc.t has all such names


def by_folder(pre_tokenizer, normalizer=None):
    where = folder("pre-tokenizer")
    whole = tokenizer_json(TOKENS, [1] * len(TOKENS), [], pre_tokenizer, normalizer=normalizer)
    whole["model"]["merges"] = [list(pair) for pair in MERGES]
    write_json(where, "tokenizer.json", whole)
    return where


def compare(name, pre_tokenizer, ignores=False):
    """ignores: in a GGUF the name implies ignore_merges; a folder has to state it."""
    where, path = by_folder(pre_tokenizer, {"type": "NFC"} if name in NFC else None), by_gguf(name)
    wrong = []
    for line in TEXTS:
        folder_ids, gguf_ids = tokenize(where, line), tokenize(path, line)
        form = unicodedata.normalize("NFC", line) if name in NFC else line
        expected = oracle(pre_tokenizer, form, RANKS, IDS) if regex else folder_ids
        if folder_ids != expected or (gguf_ids != expected and not ignores):
            wrong.append(f"{line!r}\n  oracle {expected}\n  folder {folder_ids}\n  GGUF   {gguf_ids}")
    tap.ok(not wrong and isinstance(folder_ids, list),
           f"{name}: {len(TEXTS)} texts by both doors{', and by the oracle' if regex else ''}",
           "\n".join(wrong[:3]))


if not regex:
    tap.skip("the oracle", "Python has no module regex")
every = {**PRE_TOKENIZERS, **MORE_PRE_TOKENIZERS}
for name, pre_tokenizer in every.items():
    compare(name, pre_tokenizer, name in ("llama-bpe", "tekken"))
for kind in ("qwen35", "deepseek"):
    source = os.path.join(TINY, f"tiny_bpe_split_{kind}_tokenizer.json")
    if not os.path.exists(source):
        tap.skip(f"the published steps of {kind}", f"no {source} (set INGOT_ASSETS)")
        continue
    with open(source, encoding="utf-8") as f:
        whole = json.load(f)
    where = folder("pre-tokenizer-tiny")
    write_json(where, "tokenizer.json", whole)
    ranks = {}
    for rank, merge in enumerate(whole["model"]["merges"]):
        ranks.setdefault(tuple(merge if isinstance(merge, list) else merge.split(" ")), rank)
    form = "NFC" if '"NFC"' in json.dumps(whole["normalizer"]) else None
    wrong = [line for line in TEXTS if regex and tokenize(where, line) != oracle(
        whole["pre_tokenizer"], unicodedata.normalize(form, line) if form else line, ranks, whole["model"]["vocab"])]
    tap.ok(not wrong and isinstance(tokenize(where, "a"), list),
           f"{os.path.basename(source)}: the ids of the oracle", "\n".join(map(repr, wrong[:3])))
    if kind == "deepseek":
        compare("deepseek-llm", whole["pre_tokenizer"])

# ---- spellings --------------------------------------------------------------------------------

inverted = copy.deepcopy(every["qwen2"])
inverted["pretokenizers"][0].update(behavior="Removed", invert=True)
compare("qwen2", inverted)
compare("starcoder", ends([r"\p{N}", GPT2]))
half = copy.deepcopy(every["viking"])
half["pretokenizers"][0].update(behavior="Removed", invert=True)
for name, wrong in (("matches alone, where they leave something out", half),
                    ("Removed", ends([{**split(r"\p{N}"), "behavior": "Removed"}, GPT2])),
                    ("a step too many", sequence(digits(True), digits(True), byte_level(True))),
                    ("words of Unicode", ends([r"\w+|[^\w\s]+"])),
                    ("spaces", sequence({"type": "Whitespace"}, byte_level(False))),
                    ("5000 bytes", ends(["a" * 5000]))):
    said = tokenize(by_folder(wrong), "a")
    tap.ok(isinstance(said, str) and '"pre_tokenizer" is not known' in said, f"{name}: refused", said)
for name, words in (("kimi-k2", "Han"), ("superbpe", "from the right"), ("roberta-bpe", "vectors")):
    said = tokenize(by_gguf(name), "a")
    tap.ok(isinstance(said, str) and f'"{name}" is not supported' in said and words in said,
           f"{name}: refused by name", said)
tap.done()
