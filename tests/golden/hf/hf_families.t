#!/usr/bin/python3
"""Every micro-model that has logits from Transformers, as a Hugging Face folder; a listing finds the models.

NMSE of all logits with F32 weights and --kv f32; recurrent states accumulate more rounding errors."""

import json
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from gguf_files import load_safetensors
from hf_files import folder, safetensors
from machine import ASSETS, HOST, WORK, Tap, run

TINY = os.path.join(ASSETS, "hf/tiny")
BOUND, RECURRENT_BOUND = 1e-8, 1e-7
ENDS = ("_config.json", "_logits.json", ".safetensors")

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def load(name):
    with open(os.path.join(TINY, name)) as f:
        return json.load(f)


def fixtures():
    """Only models that have all three files: an adapter has logits but no folder."""
    names = os.listdir(TINY) if os.path.isdir(TINY) else []
    stems = {n[:-len(ENDS[0])] for n in names if n.endswith(ENDS[0])}
    return sorted(s for s in stems if all(s + end in names for end in ENDS))


def make_folder(stem, **changes):
    where = folder("hf-" + stem)
    with open(os.path.join(where, "config.json"), "w") as f:
        json.dump({**load(stem + "_config.json"), **changes}, f)
    shutil.copy(os.path.join(TINY, stem + ".safetensors"),
                os.path.join(where, "model.safetensors"))
    return where


def logits(model, tokens, *words):
    out = os.path.join(WORK, "hf_families.logits")
    status, console = run([HOST, "logits", model, "--tokens", " ".join(map(str, tokens)), "-o",
                           out, "-q", "--kv", "f32", *words])
    if status != 0:
        return [], console
    with open(out, "rb") as f:
        raw = f.read()
    return struct.unpack(f"<{len(raw) // 4}f", raw), console


def error_of(model, reference):
    """NMSE over all sequences."""
    wrong = power = 0.0
    for tokens, rows in zip(reference["sequences"], reference["logits"]):
        expected = [x for row in rows for x in row]
        ours, console = logits(model, tokens)
        if len(ours) != len(expected):
            return float("nan"), console
        wrong += sum((a - b) ** 2 for a, b in zip(ours, expected))
        power += sum(b * b for b in expected)
    return wrong / power, ""


FOUND = fixtures()
for stem in FOUND:
    model = os.path.join(WORK, stem + ".ingot")
    status, console = run([HOST, "pack", make_folder(stem), "--type", "f32", "-o", model])
    if not tap.ok(status == 0, f"{stem}: packed", console):
        continue
    config = load(stem + "_config.json")
    recurrent = any(key in {**config, **config.get("text_config", {})}
                    for key in ("linear_conv_kernel_dim", "ssm_state_size", "mamba_d_state"))
    bound = RECURRENT_BOUND if recurrent else BOUND
    error, console = error_of(model, load(stem + "_logits.json"))
    tap.ok(error < bound, f"{stem}: NMSE {error:.2g} of Transformers' logits, below {bound:g}",
           console)
    tokens = load(stem + "_logits.json")["sequences"][0]
    alone, console = logits(model, tokens, "--chunk", "1")
    tap.ok(alone and alone == logits(model, tokens)[0], f"{stem}: the same token by token", console)
if "tiny_nemotronh" in FOUND:
    # A config.json as Transformers 5 writes it: with names of layer kinds, and with fields of experts although no
    # layer has experts.
    kinds = {"M": "linear_attention", "*": "full_attention", "-": "mlp"}
    pattern = load("tiny_nemotronh_config.json")["hybrid_override_pattern"]
    newer = {"hybrid_override_pattern": None, "n_routed_experts": 8, "n_shared_experts": 1,
             "moe_intermediate_size": 7688, "moe_shared_expert_intermediate_size": 7688,
             "num_experts_per_tok": 2, "layers_block_type": [kinds[letter] for letter in pattern],
             "time_step_limit": [0.0, {"__float__": "Infinity"}], "n_group": 1, "topk_group": 1}
    status, console = run([HOST, "pack", make_folder("tiny_nemotronh", **newer), "--type", "f32",
                           "-o", model])
    error, more = error_of(model, load("tiny_nemotronh_logits.json")) if status == 0 else (1, "")
    tap.ok(error < RECURRENT_BOUND, f"tiny_nemotronh as Transformers 5 writes it: NMSE {error:.2g}",
           console + more)
    newer["layers_block_type"][2] = "moe"
    status, console = run([HOST, "pack", make_folder("tiny_nemotronh", **newer), "-o", model])
    tap.ok(status != 0 and "makes layer 2 'moe'" in console, "refused: experts among its layers", console)
    status, console = run([HOST, "pack", make_folder("tiny_nemotronh", head_dim=None,
                                                     attention_head_dim=3), "--type", "f32", "-o", model])
    error, more = error_of(model, load("tiny_nemotronh_logits.json")) if status == 0 else (1, "")
    tap.ok(error < RECURRENT_BOUND, "tiny_nemotronh with attention_head_dim", console + more)
    status, console = run([HOST, "pack", make_folder("tiny_nemotronh", mamba_hidden_act="gelu"), "-o", model])
    tap.ok(status != 0 and '"mamba_hidden_act" is \'gelu\'' in console, "refused: another activation",
           console)


def without_biases(stem, kept, field):
    """(logits with biases of zero, logits without biases): they are equal. kept: biases that stay."""
    results = []
    for absent in (False, True):
        where = make_folder(stem, **{field: not absent})
        path = os.path.join(where, "model.safetensors")
        tensors = {}
        for name, (shape, values) in load_safetensors(path).items():
            raw = values.tobytes()
            if name.endswith(".bias") and not name.endswith(kept):
                if absent:
                    continue
                raw = bytes(len(raw))
            tensors[name] = ("F32", shape, raw)
        safetensors(path, tensors)
        results.append(logits(where, load(stem + "_logits.json")["sequences"][0]))
    return results


for stem, kept, field in (("tiny_starcoder2", ("norm.bias",), "use_bias"),
                          ("tiny_gpt_oss", ("router.bias",), "attention_bias")):
    if stem in FOUND:
        (zero, console), (none, more) = without_biases(stem, kept, field)
        tap.ok(zero and zero == none, f'{stem}: "{field}" is false, and there are no biases',
               console + more)
if not FOUND:
    tap.skip("Transformers' logits", f"no models in {TINY} (set INGOT_ASSETS)")
tap.done()
