#!/usr/bin/python3
"""Texts are normalized to NFC if the tokenizer asks for it: by the normalizer of tokenizer.json, and by the name of a GGUF's pre-tokenizer.
With a vocabulary of bytes, the ids show the text after normalization. It needs no assets."""

import os
import random
import struct
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import I32, STRING, Gguf, text
from hf_files import byte_level, folder, tokenizer_json, write_json
from machine import HOST, WORK, Tap, run

tap = Tap()
os.makedirs(WORK, exist_ok=True)
PLAIN = [*range(33, 127), *range(161, 173), *range(174, 256)]
BYTES = {b: chr(b) if b in PLAIN else chr(256 + [c for c in range(256) if c not in PLAIN].index(b)) for b in range(256)}
TOKENS = [BYTES[b] for b in range(256)] + ["<mark>"]
NFC = {"type": "NFC"}


def cut(model, words):
    """Return the bytes that the ids of a text stand for; the token <mark> gives its own spelling."""
    raw = words if isinstance(words, bytes) else words.encode()
    path = os.path.join(WORK, "nfc.txt")
    with open(path, "wb") as f:
        f.write(raw)
    status, console = run([HOST, "tokenize", model, "-f", path, "--ids", "--no-bos"])
    if status != 0:
        return None, console
    return b"".join(bytes([int(i)]) if int(i) < 256 else b"<mark>" for i in console.split()), console


def hf(normalizer):
    where = folder("nfc-hf")
    write_json(where, "tokenizer.json", tokenizer_json(TOKENS, [1] * 256 + [4], [], byte_level(True), normalizer=normalizer))
    return where


def gguf(pre):
    g = Gguf("llama")
    g.string("tokenizer.ggml.model", "gpt2")
    g.string("tokenizer.ggml.pre", pre)
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t in TOKENS])
    g.array("tokenizer.ggml.token_type", I32, [struct.pack("<i", t) for t in [1] * 256 + [4]])
    g.array("tokenizer.ggml.merges", STRING, [])
    path = os.path.join(WORK, "nfc.gguf")
    g.write(path)
    return path


r = random.Random(5)
POOL = [chr(c) for c in [*range(32, 127), *range(0xc0, 0x180), *range(0x300, 0x345), *range(0x1e00, 0x1f00), *range(0x915, 0x960),
                         *range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11a8, 0x11c3), 0x212b, 0xf900, 0x2f800, 0x1d15e]]
TEXTS = ["", "plain", "caf\u00e9", "cafe\u0301", "d\u0307\u0323", "\u1100\u1161\u11a8", "\u0958" * 400, "e\u0301" * 400, "\U0001d15e" * 100,
         "e" + "\u0301\u0323" * 30, "<mark>\u0301e\u0301<mark>e\u0301", "e<mark>\u0301", *("".join(r.choices(POOL, k=40)) for _ in range(12))]


def form(words):
    """Each stretch of text between added tokens is normalized separately."""
    return "<mark>".join(unicodedata.normalize("NFC", part) for part in words.split("<mark>")).encode()


def test_form(name, model, wanted):
    wrong = []
    for words in TEXTS:
        got, console = cut(model, words)
        right = form(words) if wanted else words.encode()
        if got != right:
            wrong.append(f"{words[:20]!a}: {got!r:.80} for {right!r:.80} {console[:80] if got is None else ''}")
    tap.ok(not wrong, name, "\n".join(wrong[:4]))


for what, normalizer, wanted in (("none", None, False), ("NFC", NFC, True), ("a sequence of NFC", {"type": "Sequence", "normalizers": [NFC]}, True),
                                 ("an empty sequence", {"type": "Sequence", "normalizers": []}, False)):
    test_form(f"tokenizer.json, normalizer {what}", hf(normalizer), wanted)
for step in ("NFKC", "NFD", "NFKD", "Lowercase", "Strip", "StripAccents", "Nmt", "Precompiled", "BertNormalizer", "Replace", "Prepend"):
    for normalizer in ({"type": step}, {"type": "Sequence", "normalizers": [NFC, {"type": step}]}):
        got, console = cut(hf(normalizer), "a")
        tap.ok(got is None and step in console and "normalizer" in console, f"refused by name: {normalizer}", console)
for pre in ("qwen2", "qwen35", "deepseek-r1-qwen", "stablelm2", "megrez", "f2llmv2", "hunyuan", "command-r", "olmo", "mpt"):
    test_form(f"GGUF of {pre}", gguf(pre), True)
for pre in ("gpt-2", "llama-bpe", "starcoder", "tekken", "gpt-4o", "smollm", "dbrx", "falcon", "deepseek-v3"):
    test_form(f"GGUF of {pre}: texts as they are", gguf(pre), False)
got, console = cut(hf(NFC), b"e\xff\xcc\x81\xcce\xcc\x81")
tap.ok(got == b"e\xff\xcc\x81\xcc\xc3\xa9", "bytes that are not UTF-8 stay unchanged", console)
tap.done()
