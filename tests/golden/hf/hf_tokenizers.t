#!/usr/bin/python3
"""The vocabularies of the assets as Hugging Face folders (tokenizer.json, tokenizer.model): the same test texts give the same ids. Unsupported fields
are refused by name."""

import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from hf_files import (PRE_TOKENIZERS, byte_level, field, folder, sentencepiece, tokenizer_json,
                      write_json)
from machine import ASSETS, HOST, LONG, Tap

SEPARATOR = b"\n__ggml_vocab_test__\n"
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
tap = Tap()


class Values:
    """The values of a GGUF, by key; arrays of texts and numbers as lists."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.raw = f.read()
        self.at = 24
        self.by_key = {}
        for _ in range(struct.unpack_from("<Q", self.raw, 16)[0]):
            key = self.text().decode()
            self.by_key[key] = self.value(self.number("<I"))

    def number(self, form):
        value = struct.unpack_from(form, self.raw, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def text(self):
        n = self.number("<Q")
        self.at += n
        return self.raw[self.at - n:self.at]

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind == 9:
            element, count = self.number("<I"), self.number("<Q")
            if element == 8:
                return [self.text() for _ in range(count)]
            form = {5: "i", 6: "f"}.get(element, f"{SIZES[element]}s")
            return [self.number("<" + form) for _ in range(count)]
        return self.number({6: "<f", 12: "<d"}.get(kind, {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}
                                                   [SIZES[kind]]))


def tokenize(model, text, *options):
    done = subprocess.run([HOST, "tokenize", model, "--ids", *options], input=text,
                          capture_output=True, timeout=120)
    return done.returncode, done.stdout.split(), done.stderr.decode(errors="replace")


def test_texts(name, where, step=1):
    """Every `step`-th text: tokenizers.t runs all of them, and reading large JSON is slow."""
    source = os.path.join(ASSETS, f"vocab/ggml-vocab-{name}.gguf")
    with open(source + ".inp", "rb") as f:
        texts = f.read().split(SEPARATOR)
    with open(source + ".out", "rb") as f:
        expected = [line.split() for line in f.read().split(b"\n")]
    wrong = []
    picked = list(enumerate(zip(texts, expected)))[1 if step > 1 else 0::step]
    for i, (text, ids) in picked:
        status, got, said = tokenize(where, text, "--no-bos")
        if status != 0 or got != ids:
            wrong.append(f"text {i} {text[:40]!r}: {got[:20]} for {ids[:20]} {said}")
    tap.ok(not wrong and len(texts) == len(expected) >= 46,
           f"{os.path.basename(where)}: {len(picked)} texts have the right ids",
           "\n".join(wrong[:5]))


def values_of(name):
    """(tokens, types, the rest)"""
    v = Values(os.path.join(ASSETS, f"vocab/ggml-vocab-{name}.gguf")).by_key
    return v["tokenizer.ggml.tokens"], v["tokenizer.ggml.token_type"], v


def test_byte_level():
    for name, pre_tokenizer in PRE_TOKENIZERS.items():
        tokens, types, v = values_of(name)
        where = folder("hf-" + name)
        whole = tokenizer_json([t.decode() for t in tokens], types,
                               [m.decode() for m in v["tokenizer.ggml.merges"]], pre_tokenizer,
                               merges_as_pairs=name == "qwen2")  # newer files have merges as pairs
        if name == "llama-bpe":
            whole["model"]["ignore_merges"] = True
            whole["post_processor"] = {"type": "TemplateProcessing", "single": [
                {"SpecialToken": {"id": "<|begin_of_text|>"}}, {"Sequence": {"id": "A"}}]}
        write_json(where, "tokenizer.json", whole)
        test_texts(name, where, 3 if LONG else 15)
        if name == "llama-bpe":
            status, ids, said = tokenize(where, b"a")
            tap.ok(status == 0 and ids[0] == b"128000", "the post-processor's BOS comes first",
                   said)
            write_json(where, "tokenizer_config.json", {"add_bos_token": False})
            status, ids, said = tokenize(where, b"a")
            tap.ok(status == 0 and ids == [b"64"], "unless add_bos_token is false", said)


def test_sentencepiece():
    for name in ("llama-spm", "phi-3"):
        tokens, types, v = values_of(name)
        where = folder("hf-" + name)
        with open(os.path.join(where, "tokenizer.model"), "wb") as f:
            f.write(sentencepiece(tokens, v["tokenizer.ggml.scores"], types))
        test_texts(name, where, 1 if LONG else 5)
        status, ids, said = tokenize(where, b"Hello")
        tap.ok(status == 0 and ids == [b"1", b"15043"], f"{name}: BOS comes first", said)


def test_unknown():
    """SentencePiece without byte tokens: a row of unknown characters is one unknown token."""
    pieces = ([b"<unk>", b"<s>", b"</s>", "\u2581".encode(), b"a"], [0.0] * 5, [2, 3, 3, 1, 1])
    for model_type, kind in ((1, "Unigram"), (2, "BPE")):
        where = folder("hf-unknown")
        with open(os.path.join(where, "tokenizer.model"), "wb") as f:
            f.write(sentencepiece(*pieces, model_type=model_type))
        status, ids, said = tokenize(where, "a\u00e9?a? ?".encode())
        tap.ok(status == 0 and ids == b"1 3 4 0 4 0 3 0".split(),
               f"{kind}: unknown characters become one token", (ids, said))


def test_user_defined():
    """A user-defined piece of SentencePiece is a part of the text: a space is added before the text, none after the piece."""
    pieces = ([b"<unk>", b"<s>", b"</s>", "\u2581".encode(), b"a", b"<sep>"], [0.0] * 6, [2, 3, 3, 1, 1, 4])
    for model_type, kind in ((1, "Unigram"), (2, "BPE")):
        for prefix, wanted in ((1, ("3 4 5 4", "3 5 4", "3 4 3 5 3 4", "3 5 5 4")),
                               (0, ("4 5 4", "5 4", "4 3 5 3 4", "5 5 4"))):
            where = folder("hf-user")
            with open(os.path.join(where, "tokenizer.model"), "wb") as f:
                f.write(sentencepiece(*pieces, model_type=model_type, prefix=prefix))
            got = [tokenize(where, line)[1] for line in (b"a<sep>a", b"<sep>a", b"a <sep> a", b"<sep><sep>a")]
            tap.ok(got == [f"1 {ids}".encode().split() for ids in wanted],
                   f"{kind}: user-defined pieces, {'a' if prefix else 'no'} space in front", got)


def test_added():
    """Tokens added to tokenizer.model, by added_tokens.json (older folders) and by tokenizer_config.json, which says more."""
    pieces = ([b"<unk>", b"<s>", b"</s>", "\u2581".encode(), b"a", b"", b"<old>"], [0.0] * 7, [2, 3, 3, 1, 1, 5, 5])
    names = {"<unk>": 0, "a": 4, "<tool>": 6, "<x>": 7}
    decoder = {"6": {"content": "<tool>", "special": True}, "7": {"content": "<x>", "rstrip": True}}
    for files, wanted in (({}, "1 3 4 0 4 0 3 4"),
                          ({"added_tokens.json": names}, "1 3 4 6 4 7 3 4"),
                          ({"tokenizer_config.json": {"added_tokens_decoder": decoder}}, "1 3 4 0 4 7 4"),
                          ({"added_tokens.json": names, "tokenizer_config.json": {
                              "added_tokens_decoder": decoder}}, "1 3 4 0 4 7 4")):
        where = folder("hf-added")
        with open(os.path.join(where, "tokenizer.model"), "wb") as f:
            f.write(sentencepiece(*pieces))
        for name, value in files.items():
            write_json(where, name, value)
        status, ids, said = tokenize(where, b"a<tool>a<x> a")
        tap.ok(status == 0 and ids == wanted.encode().split(),
               f"tokens added by {' and '.join(files) or 'nothing'}", (ids, said))
    write_json(where, "added_tokens.json", {"<x>": "7"})
    status, _, said = tokenize(where, b"a")
    tap.ok(status == 1 and 'added_tokens.json: the token "<x>" has no id' in said,
           "an added token without an id is refused", said)


def test_fused():
    """tokenizer.json without byte tokens says whether a row of unknown characters is one token."""
    for fused, wanted in ((True, "1 0 1"), (False, "1 0 0 1")):
        where = folder("hf-fused")
        whole = tokenizer_json(["<unk>", "a", "\u2581"], [1, 1, 1], [], None)
        whole["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
        whole["model"].update(unk_token="<unk>", fuse_unk=fused)
        write_json(where, "tokenizer.json", whole)
        status, ids, said = tokenize(where, b"a??a")
        tap.ok(status == 0 and ids == wanted.encode().split(), f"fuse_unk {fused}", (ids, said))


def test_ends():
    """The post-processor's last token ends a text, unless add_eos_token is false."""
    where = folder("hf-ends")
    write_json(where, "tokenizer.json", tokenizer_json(["a", "b", "ab", "<s>", "</s>"], [1, 1, 1, 3, 3], ["a b"], byte_level(True), post_processor={
        "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}},
                                                 {"SpecialToken": {"id": "</s>"}}]}))
    status, ids, said = tokenize(where, b"ab")
    tap.ok(status == 0 and ids == b"3 2 4".split(), "BOS and EOS around a text", (ids, said))
    write_json(where, "tokenizer_config.json", {"add_eos_token": False})
    status, ids, said = tokenize(where, b"ab")
    tap.ok(status == 0 and ids == b"3 2".split(), "no EOS if add_eos_token is false", (ids, said))


# ---- refused ----------------------------------------------------------------------------------

TOKENS = ["a", "b", "ab"]


def small(**changes):
    return {**tokenizer_json(TOKENS, [1, 1, 1], ["a b"], byte_level(True)), **changes}


def refused(what, tokenizer, *words):
    where = folder("hf-refused")
    if isinstance(tokenizer, bytes):
        with open(os.path.join(where, "tokenizer.model"), "wb") as f:
            f.write(tokenizer)
    else:
        write_json(where, "tokenizer.json", tokenizer)
    status, _, said = tokenize(where, b"ab")
    tap.ok(status == 1 and all(w in said for w in words) and said.count("\n") == 1,
           f"{what}: refused", said)


def test_refused():
    where = folder("hf-small")
    write_json(where, "tokenizer.json", small())
    status, ids, said = tokenize(where, b"ab")
    tap.ok(status == 0 and ids == [b"2"], "a small tokenizer.json", said)
    model = small()["model"]
    refused("word pieces", small(model={**model, "type": "WordPiece"}),
            "'WordPiece' is not supported")
    refused("no vocabulary", small(model={**model, "vocab": None}), '"model.vocab"')
    refused("no merges", small(model={**model, "merges": None}), '"model.merges"')
    refused("half a merge", small(model={**model, "merges": ["ab"]}), "merge 0")
    refused("an unknown merge", small(model={**model, "merges": ["a c"]}), "merge 0")
    refused("an id twice", small(model={**model, "vocab": {"a": 0, "b": 0}}), "the same id")
    refused("a huge id", small(model={**model, "vocab": {"a": 2 ** 40}}), "must have 1 to")
    refused("a negative id", small(model={**model, "vocab": {"a": 0, "b": -1}}), '"b" has no id')
    refused("no content", small(added_tokens=[{"id": 1}]), '"added_tokens"', '"content"')
    refused("another pattern", small(pre_tokenizer={
        "type": "Split", "pattern": {"Regex": r"\w+"}, "behavior": "Isolated"}),
        '"pre_tokenizer"')
    refused("a space in front", small(pre_tokenizer={**byte_level(True), "add_prefix_space": True}),
            '"pre_tokenizer"', "after a space")
    refused("another normalizer", small(normalizer={"type": "Lowercase"}), '"normalizer"')
    refused("another normalizer after NFC", small(normalizer={"type": "Sequence", "normalizers": [
        {"type": "NFC"}, {"type": "Lowercase"}]}), '"normalizer"')
    for steps in ([], [{"type": "NFC"}]):  # DeepSeek's sequence has no steps
        where = folder("hf-small")
        write_json(where, "tokenizer.json", small(normalizer={"type": "Sequence", "normalizers": steps}))
        status, ids, said = tokenize(where, b"ab")
        tap.ok(status == 0 and ids == [b"2"], f"a sequence of {len(steps)} normalizers", said)
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        refused(affix, small(model={**model, affix: "##"}), f'"model.{affix}"', "##")
    pieces = ([b"<unk>", b"<s>", b"</s>", b"a"], [0.0] * 4, [2, 3, 3, 1])
    refused("a model of words", sentencepiece(*pieces, model_type=3), '"model_type"')
    refused("a map of characters", sentencepiece(*pieces, normalizer=field(2, b"x")),
            '"precompiled_charsmap"')
    whole = sentencepiece(*pieces)
    refused("a cut model", whole[:-3], "damaged")
    refused("no model", b"\xff" * 64, "damaged")
    refused("a piece of 2^63 bytes", b"\x0a" + b"\xff" * 8 + b"\x7f" + whole, "damaged")


test_unknown()
test_user_defined()
test_added()
test_fused()
test_ends()
test_refused()
if os.path.isdir(os.path.join(ASSETS, "vocab")):
    test_byte_level()
    test_sentencepiece()
else:
    tap.skip("published tokenizers", f"no {ASSETS}/vocab (set INGOT_ASSETS)")
tap.done()
