"""Hugging Face folders for the suites: tokenizers and weights as the usual tools write them."""

import json
import os
import shutil
import struct

from machine import WORK

SUFFIXES = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
WORDS = SUFFIXES + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s|" + REST


def byte_level(use_regex):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
            "use_regex": use_regex}


def split(regex):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


# As the models' own tokenizer.json have them.
PRE_TOKENIZERS = {
    "gpt-2": byte_level(True),
    "llama-bpe": sequence(split(WORDS % "{1,3}"), byte_level(False)),
    "qwen2": sequence(split(WORDS % ""), byte_level(False)),
    "starcoder": sequence({"type": "Digits", "individual_digits": True}, byte_level(True)),
    "falcon": sequence({"type": "Punctuation", "behavior": "Contiguous"}, byte_level(True),
                       {"type": "Digits", "individual_digits": False}, split("[0-9][0-9][0-9]")),
}


def folder(name):
    """A new empty folder."""
    path = os.path.join(WORK, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def write_json(where, name, value):
    with open(os.path.join(where, name), "w", encoding="utf-8") as f:
        json.dump(value, f, ensure_ascii=False)


def tokenizer_json(tokens, types, merges, pre_tokenizer, merges_as_pairs=False, **more):
    """Of byte-level BPE: tokens as texts, types by GGUF's numbers, merges "left right"."""
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": kind == 3}
             for i, (t, kind) in enumerate(zip(tokens, types)) if kind in (3, 4)]
    vocab = {t: i for i, (t, kind) in enumerate(zip(tokens, types)) if kind == 1}
    merges = [m.split(" ") for m in merges] if merges_as_pairs else merges
    return {"version": "1.0", "added_tokens": added, "normalizer": None,
            "pre_tokenizer": pre_tokenizer, "post_processor": None,
            "model": {"type": "BPE", "byte_fallback": False, "vocab": vocab, "merges": merges},
            **more}


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    """One field of Protocol Buffers: a whole number, a float, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def sentencepiece(tokens, scores, types, model_type=2, prefix=1, squeezed=0):
    """tokenizer.model; pieces are bytes."""
    pieces = b"".join(field(1, field(1, t) + field(2, s) + field(3, kind))
                      for t, s, kind in zip(tokens, scores, types))
    return (pieces + field(2, field(3, model_type) + field(40, 0) + field(41, 1) + field(42, 2)) +
            field(3, field(1, b"identity") + field(3, prefix) + field(4, squeezed)))


def safetensors(path, tensors):
    """{name: (dtype, shape, raw)} in order."""
    header, at = {}, 0
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(raw)]}
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _, _, raw in tensors.values():
            f.write(raw)
