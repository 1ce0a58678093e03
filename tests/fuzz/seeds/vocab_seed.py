#!/usr/bin/env python3
"""Write seeds for vocab_fuzz: OUT is a GGUF with a byte-level vocabulary, a few merges and special tokens, followed by text of these tokens;
OUT-unigram has a vocabulary of type Unigram, and OUT-gemma4 one whose characters are joined by rank. usage: vocab_seed.py OUT"""
import struct
import sys

STRING, ARRAY, I32, BOOL = 8, 9, 5, 7


def text(s):
    raw = s.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(key, kind, raw):
    return text(key) + struct.pack("<I", kind) + raw


def array(key, kind, items):
    return value(key, ARRAY, struct.pack("<IQ", kind, len(items)) + b"".join(items))


letters = [chr(b) for b in range(33, 127)] + ["\u0120", "\u010a", "\u00e9", "\u00c3", "\u00a9"]
merges = ["a b", "ab ab", "\u0120 a", "\u0120a b", "h e", "l l", "he ll", "< s", "1 2",
          "\u00c3 \u00a9"]
tokens = letters + [m.replace(" ", "") for m in merges] + ["<s>", "</s>", "<b>", "<|x|>",
                                                             "two words"]
types = [1] * (len(letters) + len(merges)) + [3, 3, 4, 4, 1]
values = [
    value("general.architecture", STRING, text("gpt2")),
    value("tokenizer.ggml.model", STRING, text("gpt2")),
    value("tokenizer.ggml.pre", STRING, text("gpt-2")),
    array("tokenizer.ggml.tokens", STRING, [text(t) for t in tokens]),
    array("tokenizer.ggml.token_type", I32, [struct.pack("<i", t) for t in types]),
    array("tokenizer.ggml.merges", STRING, [text(m) for m in merges]),
    value("tokenizer.ggml.bos_token_id", 4, struct.pack("<I", tokens.index("<s>"))),
    value("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", tokens.index("</s>"))),
    value("tokenizer.ggml.add_bos_token", BOOL, b"\x01"),
    value("tokenizer.ggml.add_eos_token", BOOL, b"\x01"),
]


def write(path, all_values):
    with open(path, "wb") as f:
        f.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(all_values)) + b"".join(all_values) +
                "abab ab<s>hell <b>12 \n</s>a <|x|>\u00e9 two words abababab".encode())


write(sys.argv[1], values)
SPACE = "\u2581"
pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(16)] + \
    [SPACE, "a", "b", "h", "e", "l", "ab", SPACE + "ab", "hell", "abab", "w", "o", "two" + SPACE, "<b>"]
common = [
    value("general.architecture", STRING, text("llama")),
    array("tokenizer.ggml.tokens", STRING, [text(t) for t in pieces]),
    array("tokenizer.ggml.token_type", I32, [struct.pack("<i", 2 if i == 0 else 3 if i < 3 else 6 if
                                                         i < 19 else 4 if t == "<b>" else 1)
                                             for i, t in enumerate(pieces)]),
    value("tokenizer.ggml.unknown_token_id", 4, struct.pack("<I", 0)),
    value("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", 2)),
]
write(sys.argv[1] + "-unigram", common + [
    value("tokenizer.ggml.model", STRING, text("t5")),
    array("tokenizer.ggml.scores", 6, [struct.pack("<f", -i / 3) for i in range(len(pieces))]),
    value("tokenizer.ggml.remove_extra_whitespaces", BOOL, b"\x01")])
write(sys.argv[1] + "-gemma4", common + [
    value("tokenizer.ggml.model", STRING, text("gemma4")),
    array("tokenizer.ggml.merges", STRING, [text(m) for m in ("a b", f"{SPACE} ab", "ab ab")])])
