#!/usr/bin/python3
"""Models of every family, as Hugging Face folders: logits are compared with those of Transformers.

Transformers does not round keys and values: the comparison within TOLERANCE uses kv=f32. With fp16, the default, the micro-models may differ
by up to ROUNDED, which is also checked."""

import json
import os
import re
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hf_files import ABSENT, FAMILIES, random_model
from hf_reference import Model
from machine import ASSETS, HOST, WORK, Tap, run

TINY = os.path.join(ASSETS, "hf/tiny")
TOLERANCE = 1e-4
ROUNDED = 4e-3

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def load(name):
    with open(os.path.join(TINY, name)) as f:
        return json.load(f)


def gpt2_config():
    """The fixture stores sizes under short names, next to the logits."""
    short = load("tiny_gpt2_logits.json")["config"]
    return {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": short["n_embd"],
            "n_head": short["n_head"], "n_layer": short["n_layer"], "n_positions": short["n_ctx"],
            "vocab_size": short["vocab"]}


def make_folder(family, sharded=False):
    """The fixture's files under the names that a published model has."""
    folder = os.path.join(WORK, f"hf-{family}{'-sharded' if sharded else ''}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    config = gpt2_config() if family == "gpt2" else load(f"tiny_{family}_config.json")
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config, f)
    if not sharded:
        shutil.copy(os.path.join(TINY, f"tiny_{family}.safetensors"),
                    os.path.join(folder, "model.safetensors"))
        return folder
    index = load(f"tiny_{family}.safetensors.index.json")
    with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
        json.dump(index, f)
    for name in set(index["weight_map"].values()):
        shutil.copy(os.path.join(TINY, name), folder)
    return folder


def rows_of(path, vocab):
    with open(path, "rb") as f:
        raw = f.read()
    values = struct.unpack(f"<{len(raw) // 4}f", raw)
    return [values[i:i + vocab] for i in range(0, len(values), vocab)]


def logits(model, tokens, vocab, *options):
    out = os.path.join(WORK, "families.logits")
    status, console = run([HOST, "logits", model, "--tokens", " ".join(map(str, tokens)), "-o",
                           out, "-q", *(() if "--kv" in options else ("--kv", "f32")), *options])
    if status != 0:
        return None, console
    return rows_of(out, vocab), console


def largest_difference(model, reference, *options):
    worst = 0.0
    for tokens, expected in zip(reference["sequences"], reference["logits"]):
        rows, console = logits(model, tokens, len(expected[0]), *options)
        if rows is None or len(rows) != len(expected):
            return float("nan"), console
        worst = max([worst] + [abs(a - b) for x, y in zip(rows, expected) for a, b in zip(x, y)])
    return worst, ""


FIXTURES = [("llama", False), ("llama", True), ("qwen2", False), ("qwen3", False),
            ("gemma2", False), ("gemma3", False), ("phi3", False), ("gpt2", False)]
for family, sharded in FIXTURES if os.path.exists(TINY) else []:
    name = family + (" in two files" if sharded else "")
    folder = make_folder(family, sharded)
    model = folder + ".ingot"
    status, console = run([HOST, "pack", folder, "-o", model])
    if not tap.ok(status == 0, f"{name}: packed", console):
        continue
    worst, console = largest_difference(model, load(f"tiny_{family}_logits.json"))
    tap.ok(worst <= TOLERANCE, f"{name}: logits within {TOLERANCE:g} of Transformers' (largest "
           f"difference {worst:.2g})", console)
    worst, console = largest_difference(model, load(f"tiny_{family}_logits.json"), "--kv", "f16")
    tap.ok(worst <= ROUNDED, f"{name}: with keys and values in fp16 within {ROUNDED:g} (largest "
           f"difference {worst:.2g})", console)
if not os.path.exists(TINY):
    tap.skip("Transformers' logits", f"no {TINY} (set INGOT_ASSETS)")

folder = random_model("llama", "silent-")
os.remove(os.path.join(folder, "tokenizer.json"))
model = folder + ".ingot"
status, console = run([HOST, "pack", folder, "-o", model])
tap.ok(status == 0 and "no text" in console, "a folder without a tokenizer is packed, and says so",
       console)
status, console = run([HOST, "run", model, "-p", "hi", "-n", "4", "-q"])
tap.ok(status != 0 and "together with its tokenizer" in console, "it refuses text", console)
rows, console = logits(model, [3, 1, 2], 96, "-n", "2")
tap.ok(rows and len(rows) == 5, "the model takes ids", console)
for ids in ("3 96", "3 x", "-1", "3 4294967297"):
    status, console = run([HOST, "logits", model, "--tokens", ids, "-o", os.devnull, "-q"])
    tap.ok(status != 0 and "an id below 96" in console, f"--tokens \"{ids}\" is refused", console)

# First the oracle (Model of hf_reference.py) is compared with the fixtures; then it checks families without a fixture.
for family, _ in FIXTURES[:1] + FIXTURES[2:] if os.path.exists(TINY) else []:
    reference = load(f"tiny_{family}_logits.json")
    rows = Model(make_folder(family)).forward(reference["sequences"][0])
    worst = max(abs(a - b) for x, y in zip(rows, reference["logits"][0]) for a, b in zip(x, y))
    tap.ok(worst < TOLERANCE, f"{family}: the oracle is within {worst:.2g} of Transformers'")

# A trained model compared with llama.cpp, which keeps keys and values in F16. The reference has the ids that this folder's tokenizer.json gives.
STORIES = os.path.join(ASSETS, "hf/TinyStories-656K")
REFERENCE = os.path.join(ASSETS, "refs/llama.cpp/TinyStories-656K-F32")
if os.path.exists(STORIES) and os.path.exists(REFERENCE + ".txt"):
    with open(REFERENCE + ".txt", encoding="utf-8") as f:
        expected_ids = re.search(r"^prompt_tokens: ([\d ]+)$", f.read(), re.M).group(1).split()
    status, console = run([HOST, "tokenize", STORIES, "--ids"], stdin=b"Once upon a time")
    tap.ok(status == 0 and console.split() == expected_ids, "TinyStories-656K: the prompt's ids",
           console)
    out = os.path.join(WORK, "stories.logits")
    status, console = run([HOST, "logits", STORIES, "-p", "Once upon a time", "-n", "16", "-o",
                           out, "-q"])
    ours, theirs = rows_of(out, 2048), rows_of(REFERENCE + ".logits.f32", 2048)
    worst = max(abs(a - b) for x, y in zip(ours, theirs) for a, b in zip(x, y))
    greedy = [[row.index(max(row)) for row in rows] for rows in (ours, theirs)]
    tap.ok(status == 0 and len(ours) == len(theirs) == 22 and greedy[0] == greedy[1] and
           worst < 0.02, f"TinyStories-656K: llama.cpp's greedy ids, and its logits within "
           f"{worst:.2g}", console)
else:
    tap.skip("TinyStories-656K", f"no {STORIES} (set INGOT_ASSETS)")

TOKENS = [1, 2, 70, 35, 9, 88, 4, 4, 61, 17, 95, 23, 50, 3, 66, 12, 30, 81, 5, 42]
LINEAR = {"rope_type": "linear", "factor": 4.0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
FULL, LOCAL = "full_attention", "sliding_attention"
CASES = [(family, "", {}, []) for family in FAMILIES] + [
    ("llama", "with linear scaling", {"rope_scaling": LINEAR}, []),
    ("gemma3", "with linear scaling", {"rope_scaling": LINEAR}, []),
    ("mistral", "with yarn", {"rope_scaling": YARN}, []),
    ("mistral", "with yarn that two fields repeat", {
        "rope_scaling": {"type": YARN["rope_type"], **YARN},
        "rope_parameters": {**YARN, "rope_theta": 1e4}}, []),
    ("mistral", "with equal nulls", {
        "rope_scaling": {**YARN, "attention_factor": None},
        "rope_parameters": {**YARN, "attention_factor": None, "rope_theta": 1e4}}, []),
    ("mistral", "with two defaults", {
        "rope_scaling": {"rope_type": "default", "mrope_section": [2, 2, 2]},
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}}, []),
    ("mistral", "with a base that only rope_scaling repeats", {
        "rope_theta": 1e5, "rope_scaling": {**YARN, "rope_theta": 1e5},
        "rope_parameters": YARN}, []),
    ("llama", "tied", {"tie_word_embeddings": True}, []),
    ("llama", "with biases", {"attention_bias": True}, []),
    ("qwen3", "with biases", {"attention_bias": True}, []),
    ("gemma2", "with biases", {"attention_bias": True}, []),
    ("gemma2", "with a list of layers", {"layer_types": [FULL, LOCAL, LOCAL]}, []),
    ("gemma3", "with a list of layers", {"layer_types": [FULL, FULL, LOCAL]}, []),
    ("gemma3", "with a list without windows", {"layer_types": [FULL] * 3}, []),
    ("qwen2", "with windows from a layer on", {
        "use_sliding_window": True, "sliding_window": 7, "max_window_layers": 1}, []),
    ("qwen3", "with a list of layers", {"use_sliding_window": True, "sliding_window": 7,
                                        "layer_types": [LOCAL, FULL, LOCAL]}, []),
    ("gemma2", "without caps and scale in its config.json", {
        "query_pre_attn_scalar": ABSENT, "attn_logit_softcapping": ABSENT,
        "final_logit_softcapping": ABSENT}, []),
    ("gemma2", "with caps of null", {"attn_logit_softcapping": None,
                                     "final_logit_softcapping": None}, []),
    ("gemma3", "without a scale", {"query_pre_attn_scalar": ABSENT}, []),
    ("gemma3", "with one base and linear scaling", {
        "rope_theta": 1e4, "rope_local_base_freq": 1e4, "rope_scaling": LINEAR}, []),
    ("llama", "with yarn of two scales", {"rope_scaling": {**YARN, "mscale": 0.7,
                                                           "mscale_all_dim": 0.4}}, []),
    ("llama", "with yarn of one scale, which counts for nothing", {
        "rope_scaling": {**YARN, "mscale": 0.7}}, []),
    ("llama", "with yarn by the contexts alone", {
        "rope_scaling": {k: v for k, v in YARN.items() if k != "factor"}}, []),
]
TRAINED = 16  # tokens that phi3's short factors are for
for family, what, changes, options in CASES:
    folder = random_model(family, "oracle-", **changes)
    tokens = TOKENS
    expected = Model(folder).forward(tokens)
    rows, console = logits(folder, tokens, len(expected[0]), *options)
    scale = max(abs(a) for x in expected for a in x)
    worst = (max(abs(a - b) for x, y in zip(rows, expected) for a, b in zip(x, y))
             if rows and len(rows) == len(expected) else float("nan"))
    tap.ok(worst <= 1e-5 * scale, f"{family} {what}: made up, logits within {worst:.2g} of the "
           f"oracle's, the largest being {scale:.2g}", console)


def test_longrope():
    """The factors follow from the length of the sequence, whatever context the session has. A reply that grows beyond the limit equals the reply to a
    prompt of that length."""
    folder = random_model("phi3", "oracle-longrope-")
    model = Model(folder)
    for n in (TRAINED - 1, TRAINED, TRAINED + 1):
        expected = model.forward(TOKENS[:n])
        scale = max(abs(a) for x in expected for a in x)
        for context in sorted({max(n, TRAINED), 64}):
            rows, console = logits(folder, TOKENS[:n], len(expected[0]), "--ctx", str(context))
            worst = (max(abs(a - b) for x, y in zip(rows, expected) for a, b in zip(x, y))
                     if rows and len(rows) == n else float("nan"))
            tap.ok(worst <= 1e-5 * scale, f"phi3: {n} tokens of {TRAINED} in a context of {context}: "
                   f"within {worst:.2g} of the oracle's", console)
    prompt, more = TOKENS[:TRAINED - 2], 5
    rows, console = logits(folder, prompt, 96, "-n", str(more))
    ids, worst = list(prompt), 0.0
    for i in range(more if rows and len(rows) == len(prompt) + more else 0):
        ids.append(max(range(96), key=rows[len(ids) - 1].__getitem__))
        expected = model.forward(ids)[-1]
        worst = max([worst] + [abs(a - b) for a, b in zip(rows[len(ids) - 1], expected)])
    tap.ok(len(ids) == TRAINED + 3 and worst <= 1e-5 * scale, f"phi3: a reply that grows beyond {TRAINED} "
           f"tokens: each row within {worst:.2g} of the oracle's", console)
    short, long = model.forward(TOKENS[:TRAINED])[-2], model.forward(TOKENS[:TRAINED + 1])[-3]
    tap.ok(max(abs(a - b) for a, b in zip(short, long)) > 0.01 * scale, "the factors make a difference")


def test_tied_by_the_whole():
    """In a model of several parts, Transformers 5 may write into the text part that the output matrix is not the embedding, although the whole model,
    or its class, has the embedding as its output matrix. Then the tensors decide."""
    for tied in (True, False):
        folder = random_model("mistral", "oracle-whole-", tie_word_embeddings=tied)
        expected = Model(folder).forward(TOKENS)
        path = os.path.join(folder, "config.json")
        with open(path, encoding="utf-8") as f:
            text = json.load(f)
        for whole in ({"tie_word_embeddings": True}, {}):
            with open(path, "w", encoding="utf-8") as f:
                json.dump({"architectures": ["Mistral3ForConditionalGeneration"], "model_type": "mistral3",
                           "text_config": {**text, "tie_word_embeddings": False},
                           "vision_config": {"hidden_size": 8}, **whole}, f)
            rows, console = logits(folder, TOKENS, len(expected[0]))
            scale = max(abs(a) for x in expected for a in x)
            worst = (max(abs(a - b) for x, y in zip(rows, expected) for a, b in zip(x, y))
                     if rows and len(rows) == len(expected) else float("nan"))
            tap.ok(worst <= 1e-5 * scale, f"a whole with {whole}, {'no' if tied else 'an'} output matrix: within "
                   f"{worst:.2g} of the oracle's", console)


test_longrope()
test_tied_by_the_whole()
tap.done()
