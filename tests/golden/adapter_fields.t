#!/usr/bin/python3
"""Every field of adapter_config.json (PEFT's LoraConfig) is obeyed, has no effect on results, or is refused by its name.
It needs no assets."""

import json
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hf_files import folder, random_model, safetensors, write_json
from machine import HOST, WORK, Tap, run

RANK, DIM, Q_ROWS, K_ROWS = 4, 40, 48, 24
tap = Tap()
BASE = random_model("llama", "lora-base-")
PACKED = os.path.join(WORK, "lora-base.ingot")
run([HOST, "pack", BASE, "-o", PACKED, "-q"])
PLAIN = {"peft_type": "LORA", "r": RANK, "lora_alpha": 8, "bias": "none", "target_modules": ["q_proj", "k_proj"]}
AT = "base_model.model.model.layers.%u.self_attn.%s.lora_%s.%s"


def values(rows, cols, seed):
    r = random.Random(seed)
    return ("F32", (rows, cols), struct.pack(f"<{rows * cols}f", *(r.gauss(0, 0.1) for _ in range(rows * cols))))


def pairs(rank=RANK, layers=(0, 2)):
    out = {}
    for layer in layers:
        for module, rows in (("q_proj", Q_ROWS), ("k_proj", K_ROWS)):
            out[AT % (layer, module, "A", "weight")] = values(rank, DIM, f"{layer}{module}A")
            out[AT % (layer, module, "B", "weight")] = values(rows, rank, f"{layer}{module}B")
    return out


def make(tensors=None, **changes):
    """(the pairs in the packed adapter by (layer, matrix), the program's output); the first is None if the adapter is
    refused."""
    where, out = folder("lora-fields"), os.path.join(WORK, "lora-fields.ingot")
    config = {**PLAIN, **changes}
    write_json(where, "adapter_config.json", {key: value for key, value in config.items() if value is not ...})
    safetensors(os.path.join(where, "adapter_model.safetensors"), pairs() if tensors is None else tensors)
    if os.path.exists(out):
        os.remove(out)
    status, console = run([HOST, "adapter", where, "--base", BASE, "-o", out, "--type", "f32"])
    if status != 0:
        return None, console
    with open(out, "rb") as f:
        raw = f.read()
    n = struct.unpack_from("<I", raw, 172)[0]
    rows = [struct.unpack_from("<HHIIIf", raw, 4096 + 40 * i) for i in range(n)]
    return {(layer, size): scale for _, layer, _, size, _, scale in rows}, console


def near(a, b):
    return a is not None and all(abs(a.get(k, 1e9) - b[k]) < 1e-6 for k in b)


ALL = {(layer, rows): 2.0 for layer in (0, 2) for rows in (Q_ROWS, K_ROWS)}
scales, console = make()
tap.ok(near(scales, ALL), "a plain one", console)
made = []
for base in (BASE, os.path.join(BASE, "model.safetensors"), PACKED):
    out = os.path.join(WORK, "lora-bases.ingot")
    if os.path.exists(out):
        os.remove(out)
    status, console = run([HOST, "adapter", os.path.join(WORK, "lora-fields"), "--base", base, "-o", out])
    if tap.ok(status == 0, f"a pair of {os.path.basename(base)} is packed", console):
        with open(out, "rb") as f:
            made.append(f.read()[4096:])
tap.ok(len(made) == 3 and made[0] == made[1] == made[2], "a base's folder, its file of weights and its .ingot give the same pairs")

HARMLESS = [
    {"task_type": "CAUSAL_LM"}, {"task_type": None}, {"lora_dropout": 0.1}, {"inference_mode": True}, {"revision": None},
    {"base_model_name_or_path": "some/base"}, {"auto_mapping": {"unsloth_fixed": True}}, {"peft_version": "0.18.0"},
    {"megatron_core": "megatron.core"}, {"megatron_config": None}, {"loftq_config": {}}, {"eva_config": {"rho": 2.0}},
    {"corda_config": None}, {"use_dora": False}, {"use_qalora": False, "qalora_group_size": 16}, {"lora_bias": False},
    {"modules_to_save": []}, {"modules_to_save": None}, {"layer_replication": None}, {"trainable_token_indices": None},
    {"target_parameters": None}, {"alora_invocation_tokens": None}, {"arrow_config": None}, {"exclude_modules": None},
    {"layers_pattern": None}, {"runtime_config": {"ephemeral_gpu_offload": False}}, {"ensure_weight_tying": True},
    {"init_lora_weights": True}, {"init_lora_weights": False}, {"init_lora_weights": "gaussian"}, {"init_lora_weights": "eva"},
    {"init_lora_weights": "orthogonal"}, {"target_modules": "all-linear"}, {"target_modules": ...}, {"bias": ...}, {"r": 4.0},
    {"not_known_yet": None}, {"not_known_yet": False}, {"not_known_yet": []},
]
for change in HARMLESS:
    scales, console = make(**change)
    tap.ok(near(scales, ALL), f"harmless: {change}", console)

OBEYED = [
    ({"lora_alpha": 16}, {}, 4.0), ({"lora_alpha": 1.5}, {}, 0.375), ({"lora_alpha": ...}, {}, 2.0), ({"lora_alpha": -8}, {}, -2.0),
    ({"use_rslora": True}, {}, 4.0), ({"alpha_pattern": {"q_proj": 2}}, {(0, Q_ROWS): 0.5, (2, Q_ROWS): 0.5}, 2.0),
    ({"alpha_pattern": {"layers.2.self_attn.q_proj": 2, "q_proj": 4}}, {(0, Q_ROWS): 1.0, (2, Q_ROWS): 0.5}, 2.0),
    ({"alpha_pattern": {"q_proj": 4, "layers.2.self_attn.q_proj": 2}}, {(0, Q_ROWS): 1.0, (2, Q_ROWS): 1.0}, 2.0),
    ({"alpha_pattern": {r"^model\.layers\.0\..*k_proj": 2}}, {(0, K_ROWS): 0.5}, 2.0),
    ({"alpha_pattern": {"layers.(0|1).self_attn.[qk]_proj": 2}}, {(0, K_ROWS): 0.5, (0, Q_ROWS): 0.5}, 2.0),
    ({"alpha_pattern": {"^q_proj": 2, "_proj": 2}}, {}, 2.0), ({"rank_pattern": {"q_proj": 4}, "r": 4}, {}, 2.0),
    ({"r": 16, "rank_pattern": {"[qk]_proj": 4}}, {}, 2.0), ({"layers_to_transform": [0, 2]}, {}, 2.0),
    ({"exclude_modules": ["v_proj"]}, {}, 2.0), ({"exclude_modules": ["proj"]}, {}, 2.0),
]
for change, exceptions, scale in OBEYED:
    scales, console = make(**change)
    tap.ok(near(scales, {**{k: scale for k in ALL}, **exceptions}), f"obeyed: {change}", f"{scales} {console}")
scales, console = make(pairs(layers=(1,)), layers_to_transform=1)
tap.ok(near(scales, {(1, Q_ROWS): 2.0}), "obeyed: one layer", console)

REFUSED = [
    ({"peft_type": "IA3"}, []), ({"peft_type": ...}, []), ({"task_type": "SEQ_CLS"}, []), ({"bias": "all"}, []), ({"bias": "lora_only"}, []),
    ({"use_dora": True}, ["DoRA", "merge"]), ({"lora_bias": True}, ["merge"]), ({"modules_to_save": ["lm_head"]}, ["merge"]),
    ({"trainable_token_indices": [1, 2]}, []), ({"trainable_token_indices": {"embed_tokens": [3]}}, []),
    ({"layer_replication": [[0, 2], [1, 3]]}, []), ({"target_parameters": ["mlp.experts.gate_up_proj"]}, []),
    ({"alora_invocation_tokens": [17, 4]}, []), ({"use_qalora": True}, []), ({"arrow_config": {"top_k": 2}}, []),
    ({"megatron_config": {"tensor_model_parallel_size": 2}}, []), ({"init_lora_weights": "olora"}, ["path_initial_model"]),
    ({"init_lora_weights": "pissa"}, ["path_initial_model"]), ({"init_lora_weights": "pissa_niter_16"}, ["path_initial_model"]),
    ({"init_lora_weights": "corda"}, []), ({"init_lora_weights": "loftq"}, []), ({"init_lora_weights": "lora_ga"}, []),
    ({"init_lora_weights": "pissanything"}, ["not known"]), ({"init_lora_weights": 3}, []), ({"r": None}, []), ({"r": 0}, []), ({"r": -4}, []),
    ({"r": 8}, ["rank"]), ({"r": 4.5}, []), ({"r": "4"}, []), ({"lora_alpha": None}, []), ({"lora_alpha": 0}, []), ({"lora_alpha": 1e300}, []),
    ({"lora_alpha": float("inf")}, []), ({"lora_alpha": "8"}, []), ({"lora_alpha": True}, []),
    ({"use_rslora": 1}, []), ({"fan_in_fan_out": "no"}, []), ({"rank_pattern": {"q_proj": 8}}, ["rank"]), ({"rank_pattern": {"q_proj": None}}, []),
    ({"rank_pattern": [4]}, []), ({"alpha_pattern": {"q_proj": None}}, []), ({"alpha_pattern": {"q_proj": 0}}, []),
    ({"alpha_pattern": {"(?i)q_proj": 4}}, ["regular expression"]), ({"alpha_pattern": {"q_proj(": 4}}, ["regular expression"]),
    ({"target_modules": ["q_proj"]}, ["k_proj"]), ({"exclude_modules": ["k_proj"]}, ["k_proj"]), ({"layers_to_transform": [0]}, ["layers.2"]),
    ({"layers_to_transform": 0}, ["layers.2"]), ({"not_known_yet": True}, ["not known"]), ({"not_known_yet": 3}, ["not known"]),
]
for change, words in REFUSED:
    scales, console = make(**change)
    words = [list(change)[0], *words]
    tap.ok(scales is None and all(w in console for w in words) and console.count("\n") == 1, f"refused: {change}: {console.strip()[-160:]}")

BIAS = {AT % (0, "q_proj", "B", "bias"): ("F32", (Q_ROWS,), bytes(4 * Q_ROWS))}
for what, tensors, words in (
        ("a bias of lora_B, last", {**pairs(), **BIAS}, ["lora_bias", "lora_B.bias"]), ("and first", {**BIAS, **pairs()}, ["lora_bias", "lora_B.bias"]),
        ("and between", dict(sorted({**pairs(), **BIAS}.items(), key=lambda e: e[0][::-1])), ["lora_bias", "lora_B.bias"]),
        ("lengths of DoRA", {**pairs(), "base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector": ("F32", (Q_ROWS,), bytes(4 * Q_ROWS))},
         ["use_dora"]), ("a whole matrix", {**pairs(), "base_model.model.lm_head.modules_to_save.weight": values(96, DIM, 1)}, ["modules_to_save"]),
        ("an embedding", {**pairs(), "base_model.model.model.embed_tokens.weight": values(96, DIM, 1)}, ["embedding"]),
        ("one half", {k: v for k, v in pairs().items() if "0.self_attn.q_proj.lora_B" not in k}, ["half"])):
    scales, console = make(tensors)
    tap.ok(scales is None and all(w in console for w in words) and "twice" not in console, f"refused: {what}: {console.strip()[-160:]}")
EMBEDDING = {"base_model.model.model.embed_tokens.lora_embedding_A": values(RANK, 96, 1),
             "base_model.model.model.embed_tokens.lora_embedding_B": values(DIM, RANK, 2)}
scales, console = make({**pairs(), **EMBEDDING}, target_modules=["q_proj", "k_proj", "embed_tokens"])
tap.ok(scales is not None and len(scales) == 5, "an embedding's pair", console)
scales, console = make({**pairs(), **EMBEDDING}, target_modules=["q_proj", "k_proj", "embed_tokens"], ensure_weight_tying=True)
tap.ok(scales is None and "ensure_weight_tying" in console, "refused: the same for two matrices at once", console)

# ---- an adapter in place of a model

make()
where = folder("lora-kinds")
adapter = os.path.join(where, "a.ingot")
os.replace(os.path.join(WORK, "lora-fields.ingot"), adapter)
status, console = run([HOST, "info", adapter])
tap.ok(status == 0 and all(w in console for w in ("adapter", "lora-base", "llama", "4 of rank 4", "scale 2", "f32")), "info describes it", console)
status, console = run([HOST, "info", adapter, "--json"])
tap.ok(status == 0 and json.loads(console)["matrices"] == 4 and json.loads(console)["type"] == "f32", "info --json too", console)
with open(adapter, "r+b") as f:
    f.seek(4100)
    f.write(b"\xff")
status, console = run([HOST, "info", adapter])
tap.ok(status != 0 and "damaged" in console, "info of a damaged one", console)
for words in (["run", "-p", "x"], ["chat"], ["serve", "--port", "0"], ["bench"], ["plan"], ["tokenize", "-p", "x"], ["logits", "--tokens", "1", "-o", os.path.join(where, "x")],
              ["perplexity", "-f", __file__], ["pack", "-o", os.path.join(where, "x")]):
    status, console = run([HOST, words[0], adapter, *words[1:]])
    tap.ok(status != 0 and adapter + ": is an adapter: give its model, and --adapter FILE" in console, f"{words[0]}: {console.strip()[-120:]}")
run([HOST, "pack", BASE, "-o", os.path.join(where, "b.ingot"), "-q"])
status, listed = run([HOST, "chat", os.path.join(where, "b.ingot")], stdin=b"/models\n")
tap.ok(status == 0 and "b.ingot" in listed and "a.ingot" not in listed, "an adapter is not listed as a model", listed)
status, console = run([HOST, "run", os.path.join(where, "b.ingot"), "-p", "x", "-n", "1", "--draft", adapter])
tap.ok(status != 0 and "is an adapter" in console, "an adapter is refused as a draft", console)
status, console = run([HOST, "adapter", PACKED, "--base", BASE, "-o", os.path.join(where, "x")])
tap.ok(status != 0 and "not an adapter; give a GGUF" in console, "a model in place of an adapter", console)
status, console = run([HOST, "adapter", adapter, "--base", BASE, "-o", os.path.join(where, "x")])
tap.ok(status != 0 and "adapter of Ingot already" in console, "an adapter that is made already", console)
tap.done()
