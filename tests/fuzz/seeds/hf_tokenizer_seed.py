#!/usr/bin/env python3
"""Write seeds for hf_tokenizer_fuzz: OUT is a tokenizer.json in SentencePiece's style that is also a tokenizer_config.json and a
generation_config.json; OUT-pieces is a tokenizer.model; OUT-unigram and OUT-unigram-pieces are these files of type Unigram;
OUT-words is byte-level BPE with the steps of DeepSeek V3. usage: hf_tokenizer_seed.py OUT"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from hf_files import MORE_PRE_TOKENIZERS, sentencepiece, unigram_json

SPACE = "\u2581"
TEXTS = ["<unk>", "<s>", "</s>", "<0x0A>", SPACE, "a", "b", "ab", SPACE + "a"]
SEED = {"added_tokens": [{"id": i, "content": TEXTS[i], "special": True} for i in range(3)] +
        [{"id": 9, "content": "<tool>", "special": False, "lstrip": True, "rstrip": True}],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": SPACE},
            {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}]},
        "pre_tokenizer": None,
        "post_processor": {"type": "TemplateProcessing", "single": [
            {"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}},
            {"SpecialToken": {"id": "</s>"}}]},
        "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
                  "vocab": {t: i for i, t in enumerate(TEXTS)},
                  "merges": ["a b", [SPACE, "a"]]},
        "bos_token": {"content": "<s>"}, "eos_token": "</s>", "add_bos_token": True,
        "added_tokens_decoder": {"9": {"content": "<tool>"}}, "eos_token_id": [2, 5],
        "chat_template": [{"name": "default", "template": "<|im_start|><|im_end|>"}]}
with open(sys.argv[1], "w", encoding="utf-8") as out:
    json.dump(SEED, out, ensure_ascii=False)
with open(sys.argv[1] + "-pieces", "wb") as out:
    out.write(sentencepiece([t.encode() for t in TEXTS], [-0.5 * i for i in range(len(TEXTS))],
                            [2, 3, 3, 6, 1, 1, 1, 1, 1]))
PIECES = [(t, -0.5 * i) for i, t in enumerate(TEXTS)]
with open(sys.argv[1] + "-unigram", "w", encoding="utf-8") as out:
    json.dump({**SEED, **unigram_json(PIECES, byte_fallback=True,
                                      added_tokens=SEED["added_tokens"])}, out, ensure_ascii=False)
with open(sys.argv[1] + "-unigram-pieces", "wb") as out:
    out.write(sentencepiece([t.encode() for t in TEXTS], [-0.5 * i for i in range(len(TEXTS))],
                            [2, 3, 3, 6, 1, 1, 1, 1, 1], model_type=1, squeezed=1))
with open(sys.argv[1] + "-words", "w", encoding="utf-8") as out:
    json.dump({**SEED, "normalizer": {"type": "NFC"},
               "pre_tokenizer": MORE_PRE_TOKENIZERS["deepseek-v3"]}, out)
