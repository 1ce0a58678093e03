#!/usr/bin/python3
"""Unigram tokenizers: a made-up vocabulary as tokenizer.json, as SentencePiece's tokenizer.model and as a GGUF of kind "t5" gives the same ids as an
oracle that tries every way to cut a text. Each treats spaces as its format requires. Unsupported parts are refused by name. Gemma 4's kind of
GGUF is tested, too."""

import functools
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import F32, I32, STRING, Gguf, text
from hf_files import (byte_level, field, folder, sentencepiece, tokenizer_json, unigram_json,
                      write_json)
from machine import HOST, WORK, Tap

tap = Tap()
SPACE = "\u2581"
SPECIAL = ["<unk>", "<s>", "</s>"]
WORDS = ("the cat sat on the mat. a cat's mat, the hat of cats that sat; 12 hats at 3.50 each "
         "\u4f60\u597d caf\u00e9 na\u00efve \u0416\u0438\u0437\u043d\u044c").split()


def vocabulary():
    """Pieces of the words with scores that are multiples of 1/8, so that sums are exact and often equal."""
    r = random.Random(7)
    pieces = {SPACE: -4.0}
    for word in WORDS:
        whole = SPACE + word
        for _ in range(6):
            start = r.randrange(len(whole))
            piece = whole[start:start + r.randrange(1, 6)]
            pieces.setdefault(piece, -r.randrange(8, 64) / 8)
    for letter in "abcdehmnost":
        pieces.setdefault(letter, -r.randrange(24, 80) / 8)
    return sorted(pieces.items())


PIECES = [(t, 0.0) for t in SPECIAL] + vocabulary()
BYTES = [(f"<0x{b:02X}>", -9.0) for b in range(256)]
TEXTS = ["the cat", "that hat sat", "mat mat  mat", " the", "a  b   c ", "cats' 12", "\u4f60\u597d\u5417",
         "caf\u00e9\u00e9", "xyz", "the q", "qq the", "\u0416\u0438", "na\u00efve!", "hats\nat", "at\u2581the",
         "thecatsat", "", "  ", "the  cat ", "zz  zz"]
ENDLESS = ["the cat sat on the mat. " * 40, "a" * 500, "\u4f60x" * 200]


# ---- the oracle -------------------------------------------------------------------------------

def best(piece, known, unknown):
    """Find the cut with the highest sum; among equal sums, the cut whose last token is longest, then whose last but one token
    is longest, and so on."""
    @functools.lru_cache(None)
    def to(end):
        if end == 0:
            return 0.0, ()
        ways = []
        for start in range(end):
            part = piece[start:end]
            score = known.get(part)
            if score is None and end - start == 1:
                score = unknown
            if score is not None:
                total, parts = to(start)
                ways.append((total + score, end - start, parts + (part,)))
        total, _, parts = max(ways, key=lambda w: (w[0], w[1]))
        return total, parts
    sys.setrecursionlimit(10000)
    for end in range(len(piece)):
        to(end)
    return to(len(piece))[1]


def every_cut(piece, known, unknown):
    """The highest sum of all cuts, without a shortcut; only for short texts."""
    sums = []
    for cuts in range(1 << (len(piece) - 1)):
        parts, start = [], 0
        for i in range(1, len(piece) + 1):
            if i == len(piece) or cuts >> (i - 1) & 1:
                parts.append(piece[start:i])
                start = i
        scores = [known.get(p, unknown if len(p) == 1 else None) for p in parts]
        if None not in scores:
            sums.append(sum(scores))
    return max(sums)


def oracle(line, pieces, prefix=True, once=False, split=True, squeeze=False, bytes_too=False):
    ids = {t: i for i, (t, _) in enumerate(pieces)}
    plain = [(t, s) for t, s in pieces if t not in SPECIAL and not t.startswith("<0x")]
    known, unknown = dict(plain), min(s for _, s in plain) - 10
    line = line.replace(SPACE, " ")
    if squeeze:
        line = " ".join(part for part in line.split(" ") if part)
    if prefix and line and not (once and line.startswith(" ")):
        line = " " + line
    line = line.replace(" ", SPACE)
    words, start = [], 0
    for i in range(1, len(line) + 1):
        if i == len(line) or (split and line[i] == SPACE):
            words.append(line[start:i])
            start = i
    out, last_unknown = [], False
    for word in words:
        if len(word) <= 10 and word:
            parts = best(word, known, unknown)
            assert sum(known.get(p, unknown) for p in parts) == every_cut(word, known, unknown)
        for part in best(word, known, unknown) if word else ():
            if part in known:
                out.append(ids[part])
            elif bytes_too:
                out += [ids[f"<0x{b:02X}>"] for b in part.encode()]
            elif not last_unknown:
                out.append(0)
            last_unknown = part not in known and not bytes_too
    return out


# ---- the inputs: a folder and a GGUF ----------------------------------------------------------

def tokenize(model, line, *options):
    done = subprocess.run([HOST, "tokenize", model, "--ids", "--no-bos", *options],
                          input=line.encode(), capture_output=True, timeout=60)
    if done.returncode != 0:
        return done.stderr.decode()
    return [int(word) for word in done.stdout.split()]


def types_of(pieces):
    return [2 if i == 0 else 3 if i < 3 else 6 if t.startswith("<0x") else 1
            for i, (t, _) in enumerate(pieces)]


def by_json(pieces, **more):
    where = folder("unigram-json")
    more.setdefault("added_tokens", [{"id": i, "content": t, "special": True}
                                     for i, t in enumerate(SPECIAL)])
    write_json(where, "tokenizer.json", unigram_json(pieces, **more))
    return where


def by_model(pieces, **more):
    where = folder("unigram-model")
    with open(os.path.join(where, "tokenizer.model"), "wb") as f:
        f.write(sentencepiece([t.encode() for t, _ in pieces], [s for _, s in pieces],
                              types_of(pieces), model_type=1, **more))
    return where


def by_gguf(pieces, change=None):
    g = Gguf("llama")
    g.string("tokenizer.ggml.model", "t5")
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t, _ in pieces])
    g.array("tokenizer.ggml.scores", F32, [struct.pack("<f", s) for _, s in pieces])
    g.array("tokenizer.ggml.token_type", I32, [struct.pack("<i", k) for k in types_of(pieces)])
    g.u32("tokenizer.ggml.unknown_token_id", 0)
    g.u32("tokenizer.ggml.eos_token_id", 2)
    g.flag("tokenizer.ggml.add_eos_token", False)
    g.flag("tokenizer.ggml.add_space_prefix", True)
    if change is not None:
        change(g)
    path = os.path.join(WORK, "unigram.gguf")
    g.write(path)
    return path


def compare(name, model, pieces, texts=tuple(TEXTS), **how):
    wrong = []
    for line in texts:
        got, wanted = tokenize(model, line), oracle(line, pieces, **how)
        if got != wanted:
            wrong.append(f"{line[:40]!r}: {got} for {wanted}")
    tap.ok(not wrong, f"{name}: {len(texts)} texts have the oracle's ids", "\n".join(wrong[:5]))


METASPACE = {"prefix": True, "once": True, "split": True}
WHOLE = {"prefix": True, "split": False}
compare("tokenizer.json", by_json(PIECES), PIECES, **METASPACE)
compare("tokenizer.json, long texts", by_json(PIECES), PIECES, ENDLESS, **METASPACE)
compare("without a split", by_json(PIECES, metaspace={"prepend_scheme": "first", "split": False}),
        PIECES, once=True, **WHOLE)
# A token in the text: "always" adds a space after it, "first" does not.
ADDED = [{"id": i, "content": t, "special": True} for i, t in enumerate(SPECIAL)] + \
    [{"id": len(PIECES), "content": "<x>", "special": False}]
for scheme in ("first", "always"):
    where = by_json(PIECES, added_tokens=ADDED, metaspace={"prepend_scheme": scheme, "split": True})
    wrong = []
    for line in ("the<x>the", "<x>the cat", "<x> the<x>at", "the cat<x>", " <x>hat"):
        wanted = []
        for i, part in enumerate(line.split("<x>")):
            wanted += [len(PIECES)] * (i > 0) + oracle(part, PIECES, once=True, split=True,
                                                       prefix=scheme == "always" or i == 0)
        if tokenize(where, line) != wanted:
            wrong.append(f"{line!r}: {tokenize(where, line)} for {wanted}")
    tap.ok(not wrong, f"a space in front of what follows a token: {scheme}", "\n".join(wrong))
compare("without a space in front", by_json(PIECES, metaspace={"prepend_scheme": "never"}), PIECES,
        prefix=False)
compare("the old Metaspace", by_json(PIECES, metaspace={"add_prefix_space": False}), PIECES,
        prefix=False)
compare("with bytes", by_json(PIECES + BYTES, byte_fallback=True), PIECES + BYTES, bytes_too=True,
        **METASPACE)
compare("tokenizer.model", by_model(PIECES), PIECES, **WHOLE)
compare("tokenizer.model, squeezed", by_model(PIECES, squeezed=1), PIECES, squeeze=True, **WHOLE)
compare("tokenizer.model with bytes", by_model(PIECES + BYTES), PIECES + BYTES, bytes_too=True,
        **WHOLE)
compare("tokenizer.model, no space in front", by_model(PIECES, prefix=0), PIECES, prefix=False,
        split=False)
compare("GGUF", by_gguf(PIECES), PIECES, **WHOLE)
compare("GGUF, long texts", by_gguf(PIECES), PIECES, ENDLESS, **WHOLE)
compare("GGUF, squeezed", by_gguf(PIECES, lambda g: g.flag(
    "tokenizer.ggml.remove_extra_whitespaces", True)), PIECES, squeeze=True, **WHOLE)

back = subprocess.run([HOST, "tokenize", by_json(PIECES)], input=b"the cat", capture_output=True,
                      timeout=60).stdout.decode()
tap.ok("cat" in back or "c" in back, "pieces are shown", back)
status = subprocess.run([HOST, "tokenize", by_gguf(PIECES, lambda g: g.flag(
    "tokenizer.ggml.add_eos_token", True)), "--ids"], input=b"</s> the", capture_output=True,
    timeout=60)
tap.ok(b"2" not in status.stdout.split()[:1], "a text forms no control token", status.stdout)


# ---- refused ----------------------------------------------------------------------------------

def refused(name, model, *words):
    said = tokenize(model, "a")
    tap.ok(isinstance(said, str) and said.count("\n") == 1 and all(w in said for w in words),
           f"{name}: {said.strip().split(': ', 2)[-1][:100] if isinstance(said, str) else said}", said)


def model(**changes):
    return {**unigram_json(PIECES)["model"], **changes}


for name, change, words in [
        ("a precompiled map", {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "QQ=="}},
         ['"normalizer"', "Precompiled"]),
        ("small letters", {"normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Lowercase"}]}}, ["Lowercase"]),
        ("words without their spaces", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": SPACE}]}},
         ["WhitespaceSplit"]),
        ("another replacement", {"pre_tokenizer": {"type": "Metaspace", "replacement": "_"}},
         ["Metaspace with another replacement"]),
        ("bytes of BPE", {"pre_tokenizer": byte_level(True)}, ["ByteLevel"]),
        ("no spaces", {"pre_tokenizer": None}, ["not known"]),
        ("no pieces", {"model": model(vocab={})}, ['"model.vocab"']),
        ("an empty list", {"model": model(vocab=[]), "added_tokens": []}, ["must have 1 to"]),
        ("a token that is matched only as a word", {"added_tokens": [{"id": 9, "content": "the", "single_word": True}]}, ['"the"', '"single_word"']),
        ("a piece without a score", {"model": model(vocab=[["a"]])}, ["entry 0"]),
        ("a piece that is a text", {"model": model(vocab=[["a", -1], "b"])}, ["entry 1"]),
        ("a score of text", {"model": model(vocab=[["a", "b"]])}, ["entry 0"]),
        ("an endless score", {"model": model(vocab=[["a", -1e300]])}, ["entry 0", "finite"]),
        ("an unknown id of 2^40", {"model": model(unk_id=1 << 40)}, ['"model.unk_id"']),
        ("an unknown id of -1", {"model": model(unk_id=-1)}, ['"model.unk_id"']),
        ("WordPiece", {"model": {"type": "WordPiece", "vocab": {"a": 0}}},
         ["'WordPiece' is not supported"]),
        ("WordLevel", {"model": {"type": "WordLevel", "vocab": {"a": 0}}},
         ["'WordLevel' is not supported"])]:
    where = folder("unigram-refused")
    write_json(where, "tokenizer.json", {**unigram_json(PIECES), **change})
    refused(name, where, *words)
unknown = by_json(PIECES, unk=None)
tap.ok(tokenize(unknown, "the") == oracle("the", PIECES, **METASPACE) and
       isinstance(tokenize(unknown, "q"), str), "without an unknown token a strange letter is refused",
       tokenize(unknown, "q"))
for name, more, words in [
        ("a map of characters", {"normalizer": field(2, b"\1\2\3")}, ['"precompiled_charsmap"']),
        ("spaces as they are", {"normalizer": field(5, 0)}, ['"escape_whitespaces"']),
        ("spaces at the end of words", {"trainer": field(24, 1)}, ['"treat_whitespace_as_suffix"']),
        ("words", {"trainer": field(3, 3)}, ['"model_type" is 3'])]:
    refused(name, by_model(PIECES, **more), *words)
for name, change, words in [
        ("a map in a GGUF", lambda g: g.array("tokenizer.ggml.precompiled_charsmap", 0, [b"\1"] * 9),
         ["precompiled_charsmap"]),
        ("no scores", lambda g: setattr(g, "values", [v for v in g.values if "scores" not in v[0]]),
         ["scores is missing"]),
        ("too few scores", lambda g: g.array("tokenizer.ggml.scores", F32, [bytes(4)]), ["scores"]),
        ("a score that is not a number", lambda g: g.array(
            "tokenizer.ggml.scores", F32, [struct.pack("<f", float("nan"))] * len(PIECES)),
         ["not finite"]),
        ("bert", lambda g: g.string("tokenizer.ggml.model", "bert"), ['"bert" (WordPiece']),
        ("a kind unheard of", lambda g: g.string("tokenizer.ggml.model", "new"), ['"new" (unknown'])]:
    refused(name, by_gguf(PIECES, change), *words)


# ---- Gemma 4: SentencePiece's tokens, joined by rank ------------------------------------------

TOKENS = SPECIAL + [f"<0x{b:02X}>" for b in range(256)] + \
    [SPACE, "a", "b", "c", "\n", "ab", SPACE + "a", "bc", "abc", SPACE + "ab", SPACE * 2, "\n\n"]
MERGES = ["\n \n", f"{SPACE} {SPACE}", "b c", "a b", f"{SPACE} a", "a bc", f"{SPACE}a b"]


def gemma(g):
    g.string("tokenizer.ggml.model", "gemma4")
    g.array("tokenizer.ggml.merges", STRING, [text(m) for m in MERGES])
    g.flag("tokenizer.ggml.add_space_prefix", False)


TYPED = [(t, 0.0) for t in TOKENS]
where = folder("unigram-gemma")
whole = tokenizer_json(TOKENS, types_of(TYPED), MERGES, {
    "type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False})
whole["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
whole["model"].update(byte_fallback=True, unk_token="<unk>", fuse_unk=True)
whole["model"]["vocab"] = {t: i for i, t in enumerate(TOKENS)}
write_json(where, "tokenizer.json", whole)
both = [(tokenize(by_gguf(TYPED, gemma), line), tokenize(where, line))
        for line in ("abc ab  a\n\n\nb", " a", "caf\u00e9", "a\u2581b")]
wanted = [TOKENS.index(t) for t in ("a", "bc", SPACE + "a", "b", SPACE * 2, "a", "\n\n", "\n", "b")]
tap.ok(all(a == b and isinstance(a, list) for a, b in both), "gemma4: the ids of tokenizer.json",
       both)
tap.ok(both[0][0][0] == TOKENS.index("abc"), "gemma4: merges by rank", both[0])
refused("gemma4 without merges", by_gguf(TYPED, lambda g: g.string("tokenizer.ggml.model", "gemma4")),
        "merges is missing")
tap.done()
