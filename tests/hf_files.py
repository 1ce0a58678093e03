"""Hugging Face folders for the suites: tokenizers and weights as the usual tools write them."""

import bisect
import json
import math
import os
import random
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


def digits(individual):
    return {"type": "Digits", "individual_digits": individual}


def ends(start):
    """The steps that most sequences have, then the step for bytes."""
    return sequence(*[step if isinstance(step, dict) else split(step) for step in start],
                    byte_level(False))


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CAPITALIZED = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s|"
               r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s|")
SLASH = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
BLOOM = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"
PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""

# Steps as in the models' own tokenizer.json, by GGUF's names of the kinds. DeepSeek writes line ends unchanged, the others as escape sequences.
# (The letters of deepseek-llm are in hf/tiny.)
PRE_TOKENIZERS = {
    "gpt-2": byte_level(True),
    "llama-bpe": ends([WORDS % "{1,3}"]),
    "qwen2": ends([WORDS % ""]),
    "starcoder": sequence(digits(True), byte_level(True)),
    "falcon": sequence({"type": "Punctuation", "behavior": "Contiguous"}, byte_level(True),
                       digits(False), split("[0-9][0-9][0-9]")),
}
MORE_PRE_TOKENIZERS = {
    "default": ends([r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"]),
    "gpt-4o": ends([CAPITALIZED % (SUFFIXES + "?", SUFFIXES + "?") + r"\p{N}{1,3}|" + SLASH]),
    "tekken": ends([CAPITALIZED % ("", "") + r"\p{N}|" + SLASH]),
    "deepseek-coder": ends(["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK, digits(True)]),
    "deepseek-v3": ends([r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
                         PUNCTUATION + "[A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
                         " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"]),
    "bloom": ends([BLOOM]),
    "viking": ends([BLOOM, digits(True)]),
    "qwen35": ends([SUFFIXES + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|"
                    r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]),
    "seed-coder": ends([SUFFIXES + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|"
                        r"\s*[\r\n]+|\s+(?!\S)|\s+"]),
    "bailingmoe": ends([r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}|"
                        r" ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"]),
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
    """For byte-level BPE: tokens as texts, types by GGUF's numbers, merges "left right"."""
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


def unigram_json(pieces, unk=0, byte_fallback=False, metaspace=None, **more):
    """tokenizer.json of type Unigram: pieces as (text, score)."""
    metaspace = {"prepend_scheme": "always", "split": True} if metaspace is None else metaspace
    return {"version": "1.0", "added_tokens": [], "normalizer": None,
            "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", **metaspace},
            "post_processor": None,
            "model": {"type": "Unigram", "unk_id": unk, "byte_fallback": byte_fallback,
                      "vocab": [list(p) for p in pieces]}, **more}


def sentencepiece(tokens, scores, types, model_type=2, prefix=1, squeezed=0, trainer=b"",
                  normalizer=b""):
    """tokenizer.model; pieces are bytes. trainer, normalizer: additional fields of these messages."""
    pieces = b"".join(field(1, field(1, t) + field(2, s) + field(3, kind))
                      for t, s, kind in zip(tokens, scores, types))
    return (pieces + field(2, field(3, model_type) + field(40, 0) + field(41, 1) + field(42, 2) + trainer) +
            field(3, field(1, b"identity") + field(3, prefix) + field(4, squeezed) +
                     normalizer))


def read_safetensors(path):
    """{name: (dtype, shape, raw)} of a safetensors file."""
    with open(path, "rb") as f:
        raw = f.read()
    n = struct.unpack_from("<Q", raw)[0]
    return {name: (entry["dtype"], tuple(entry["shape"]),
                   raw[8 + n + entry["data_offsets"][0]:8 + n + entry["data_offsets"][1]])
            for name, entry in json.loads(raw[8:8 + n]).items() if name != "__metadata__"}


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


# ---- F8 (E4M3) ----------------------------------------------------------------------------------

F8_CODES = sorted((math.ldexp(8 + (c & 7), (c >> 3) - 10) if c >> 3 else math.ldexp(c, -9), c)
               for c in range(127))
F8_SIZES = [size for size, _ in F8_CODES]


def f8_code(x):
    at = min(bisect.bisect_left(F8_SIZES, abs(x)), 126)
    return F8_CODES[at][1] | (128 if x < 0 else 0)


def f8_value(code):
    size = F8_CODES[code & 127][0]
    return -size if code & 128 else size


# ---- models with random weights ---------------------------------------------------------------

# Sizes are odd on purpose: heads of 10, 12, 20 and 6 dimensions, widths that no vector length divides.
FAMILIES = {
    "llama": {"architectures": ["LlamaForCausalLM"], "head_dim": 12, "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16}},
    "mistral": {"architectures": ["MistralForCausalLM"], "head_dim": 20, "sliding_window": 7},
    "qwen2": {"architectures": ["Qwen2ForCausalLM"], "use_sliding_window": False},
    "qwen3": {"architectures": ["Qwen3ForCausalLM"], "head_dim": 12},
    "gemma": {"architectures": ["GemmaForCausalLM"], "head_dim": 20,
              "hidden_act": "gelu_pytorch_tanh"},
    "gemma2": {"architectures": ["Gemma2ForCausalLM"], "head_dim": 12, "sliding_window": 7,
               "query_pre_attn_scalar": 24, "attn_logit_softcapping": 20.0,
               "final_logit_softcapping": 10.0, "hidden_activation": "gelu_pytorch_tanh"},
    "gemma3": {"architectures": ["Gemma3ForCausalLM"], "head_dim": 20, "sliding_window": 7,
               "sliding_window_pattern": 2, "rope_theta": 1e5, "rope_local_base_freq": 100.0,
               "query_pre_attn_scalar": 20, "hidden_activation": "gelu_pytorch_tanh"},
    "phi3": {"architectures": ["Phi3ForCausalLM"], "head_dim": 20, "partial_rotary_factor": 0.5,
             "original_max_position_embeddings": 16, "rope_scaling": {
                 "type": "longrope", "short_factor": [1.0, 1.1, 1.2, 1.3, 1.4],
                 "long_factor": [1.0, 2.0, 3.0, 4.0, 5.0]}},
    "gpt2": {"architectures": ["GPT2LMHeadModel"], "activation_function": "gelu_new"},
}
ABSENT = object()
DTYPES = {"mistral": "F16", "qwen3": "BF16"}  # the other families have F32
SIZES = {"hidden_size": 40, "intermediate_size": 52, "num_hidden_layers": 3,
         "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96,
         "max_position_embeddings": 64}


def letters():
    """A tokenizer.json whose tokens are characters, without merges and without an end token."""
    vocab = ["<unk>", "<s>", "\u2581"] + [chr(33 + i) for i in range(93)]
    return {"added_tokens": [{"id": 1, "content": "<s>", "special": True}],
            "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
            "pre_tokenizer": None, "post_processor": {"type": "TemplateProcessing", "single": [
                {"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]},
            "model": {"type": "BPE", "unk_token": "<unk>", "merges": [],
                      "vocab": {t: i for i, t in enumerate(vocab)}}}


def raw_floats(values, dtype):
    if dtype == "F32":
        return struct.pack(f"<{len(values)}f", *values)
    if dtype == "F16":
        return struct.pack(f"<{len(values)}e", *values)
    return b"".join(struct.pack("<f", v)[2:] for v in values)


class Random:
    """Random tensors by name."""

    def __init__(self, seed, dtype, norm):
        self.random = random.Random(seed)
        self.dtype = dtype
        self.norm = norm  # the mean of the weights of norms
        self.tensors = {}

    def matrix(self, name, rows, cols, scale=2.0, without=None):
        """without: the number of a row of zeros, so that this token is hardly ever the likeliest."""
        scale /= cols ** 0.5
        values = [self.random.gauss(0, scale) for _ in range(rows * cols)]
        if without is not None:
            values[without * cols:(without + 1) * cols] = [0.0] * cols
        self.tensors[name] = (self.dtype, (rows, cols), raw_floats(values, self.dtype))

    def vector(self, name, n, middle=0.0):
        values = [middle + self.random.gauss(0, 0.2) for _ in range(n)]
        self.tensors[name] = (self.dtype, (n,), raw_floats(values, self.dtype))

    def norms(self, *names, n):
        for name in names:
            self.vector(name + ".weight", n, self.norm)


def llama_layer(r, at, family, dim, hidden, q, kv, biases=False):
    norms = ["input_layernorm", "post_attention_layernorm"]
    if family in ("gemma2", "gemma3"):
        norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
    r.norms(*(at + n for n in norms), n=dim)
    if family == "phi3":
        r.matrix(at + "self_attn.qkv_proj.weight", q + 2 * kv, dim)
        r.matrix(at + "mlp.gate_up_proj.weight", 2 * hidden, dim)
    else:
        for name, rows in (("q", q), ("k", kv), ("v", kv)):
            r.matrix(f"{at}self_attn.{name}_proj.weight", rows, dim)
            if family == "qwen2" or biases:
                r.vector(f"{at}self_attn.{name}_proj.bias", rows)
        r.matrix(at + "mlp.gate_proj.weight", hidden, dim)
        r.matrix(at + "mlp.up_proj.weight", hidden, dim)
    if family in ("qwen3", "gemma3"):
        r.norms(at + "self_attn.q_norm", at + "self_attn.k_norm", n=q // 4)
    r.matrix(at + "self_attn.o_proj.weight", dim, q)
    if biases:
        r.vector(at + "self_attn.o_proj.bias", dim)
    r.matrix(at + "mlp.down_proj.weight", dim, hidden)


def gpt2_layer(r, at, dim):
    for norm in ("ln_1", "ln_2"):
        r.norms(at + norm, n=dim)
        r.vector(f"{at}{norm}.bias", dim)
    for name, rows, cols in (("attn.c_attn", dim, 3 * dim), ("attn.c_proj", dim, dim),
                             ("mlp.c_fc", dim, 4 * dim), ("mlp.c_proj", 4 * dim, dim)):
        r.matrix(f"{at}{name}.weight", rows, cols)
        r.vector(f"{at}{name}.bias", cols)


def random_model(family, name="random-", **changes):
    """A folder with config.json, model.safetensors and tokenizer.json; returns its path. changes: fields of config.json; ABSENT removes a field."""
    config = {**SIZES, "model_type": family, **FAMILIES[family], **changes}
    config = {key: value for key, value in config.items() if value is not ABSENT}
    dim, layers = config["hidden_size"], config["num_hidden_layers"]
    head_dim = config.get("head_dim", dim // config["num_attention_heads"])
    r = Random(family, DTYPES.get(family, "F32"),
               0.0 if family.startswith("gemma") else 1.0)
    if family == "gpt2":
        r.matrix("wte.weight", config["vocab_size"], dim, 0.1)
        r.matrix("wpe.weight", config["max_position_embeddings"], dim)
        for i in range(layers):
            gpt2_layer(r, f"h.{i}.", dim)
        r.norms("ln_f", n=dim)
        r.vector("ln_f.bias", dim)
        del config["intermediate_size"], config["num_key_value_heads"]
    else:
        # small numbers: with large ones a tied output matrix would only repeat the input token
        r.matrix("model.embed_tokens.weight", config["vocab_size"], dim, 0.1)
        for i in range(layers):
            llama_layer(r, f"model.layers.{i}.", family, dim, config["intermediate_size"],
                        4 * head_dim, 2 * head_dim, config.get("attention_bias", False))
        r.norms("model.norm", n=dim)
        if not family.startswith("gemma") and not config.get("tie_word_embeddings"):
            r.matrix("lm_head.weight", config["vocab_size"], dim, without=1)
    where = folder(name + family)
    write_json(where, "config.json", config)
    write_json(where, "tokenizer.json", letters())
    safetensors(os.path.join(where, "model.safetensors"), r.tensors)
    return where
