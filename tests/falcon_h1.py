"""Makes Falcon-H1 with random weights, and computes its logits in double precision from the published definition: every multiplier at its defined
place, attention over all positions, and Mamba2 as a sum over all previous positions instead of a recurrence. The program computes all of this in
other ways."""

import array
import math
import os
import random
import struct

from gguf_files import F32, Gguf, U32
from hf_files import folder, safetensors, write_json
from machine import WORK

CONFIG = {"architectures": ["FalconH1ForCausalLM"], "model_type": "falcon_h1", "hidden_size": 24,
          "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 37, "hidden_act": "silu",
          "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 1e11,
          "mamba_d_ssm": 48, "mamba_n_heads": 6, "mamba_d_head": 8, "mamba_n_groups": 2,
          "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_conv_bias": True,
          "mamba_norm_before_gate": False, "mamba_proj_bias": False, "projectors_bias": False,
          "mamba_rms_norm": False, "attention_bias": False, "mlp_bias": False,
          "time_step_limit": [0.0, float("inf")], "embedding_multiplier": 5.656854249492381,
          "lm_head_multiplier": 0.4, "attention_in_multiplier": 1.3, "attention_out_multiplier": 0.9375,
          "key_multiplier": 0.390625, "ssm_in_multiplier": 1.25, "ssm_out_multiplier": 0.7,
          "ssm_multipliers": [0.6, 0.8, 1.1, 0.9, 1.7], "mlp_multipliers": [0.88, 0.586]}


def matrix(chosen, rows, cols):
    return rows, cols, array.array("f", [chosen.gauss(0, 1.5 / cols ** 0.5)
                                         for _ in range(rows * cols)])


def vector(chosen, n, middle, width=0.2):
    return 1, n, array.array("f", [middle + chosen.gauss(0, width) for _ in range(n)])


class Model:
    """weights: {name in Transformers: (rows, cols, floats)}."""

    def __init__(self, **changes):
        self.config = c = {**CONFIG, **changes}
        chosen = random.Random("falcon_h1")
        dim, hidden, inner = c["hidden_size"], c["intermediate_size"], c["mamba_d_ssm"]
        heads, states = c["mamba_n_heads"], c["mamba_n_groups"] * c["mamba_d_state"]
        q, kv = (c[f"num_{n}_heads"] * c["head_dim"] for n in ("attention", "key_value"))
        self.weights = w = {"model.embed_tokens.weight": matrix(chosen, c["vocab_size"], dim),
                            "model.final_layernorm.weight": vector(chosen, dim, 1)}
        if not c.get("tie_word_embeddings"):
            w["lm_head.weight"] = matrix(chosen, c["vocab_size"], dim)
        for i in range(c["num_hidden_layers"]):
            at = f"model.layers.{i}."
            for name, rows, cols in (
                    ("self_attn.q_proj", q, dim), ("self_attn.k_proj", kv, dim),
                    ("self_attn.v_proj", kv, dim), ("self_attn.o_proj", dim, q),
                    ("feed_forward.gate_proj", hidden, dim), ("feed_forward.up_proj", hidden, dim),
                    ("feed_forward.down_proj", dim, hidden), ("mamba.out_proj", dim, inner),
                    ("mamba.in_proj", 2 * inner + 2 * states + heads, dim),
                    ("mamba.conv1d", inner + 2 * states, c["mamba_d_conv"])):
                w[f"{at}{name}.weight"] = matrix(chosen, rows, cols)
            for name, n, middle in (("input_layernorm.weight", dim, 1),
                                    ("pre_ff_layernorm.weight", dim, 1), ("mamba.D", heads, 1),
                                    ("mamba.A_log", heads, 0.5), ("mamba.dt_bias", heads, -0.5),
                                    ("mamba.conv1d.bias", inner + 2 * states, 0)):
                w[at + name] = vector(chosen, n, middle)
            if c["mamba_rms_norm"]:
                w[at + "mamba.norm.weight"] = vector(chosen, inner, 1)

    def folder(self, name):
        where = folder(name)
        write_json(where, "config.json", self.config)
        tensors = {}
        for full, (rows, cols, values) in self.weights.items():
            shape = [cols] if rows == 1 else [rows, 1, cols] if "conv1d.w" in full else [rows, cols]
            tensors[full] = ("F32", shape, values.tobytes())
        safetensors(os.path.join(where, "model.safetensors"), tensors)
        return where


# ---- the reference ----------------------------------------------------------------------------

def times(weight, x):
    rows, cols, values = weight
    return [sum(values[r * cols + c] * x[c] for c in range(cols)) for r in range(rows)]


def silu(x):
    return x / (1 + math.exp(-x))


def scaled(x, by):
    return [v * by for v in x]


def normed(x, weight, eps):
    size = (sum(v * v for v in x) / len(x) + eps) ** -0.5
    return [v * size * w for v, w in zip(x, weight)]


def rotated(x, position, base):
    half, out = len(x) // 2, list(x)
    for i in range(half):
        angle = position * base ** (-2 * i / len(x))
        out[i] = x[i] * math.cos(angle) - x[i + half] * math.sin(angle)
        out[i + half] = x[i + half] * math.cos(angle) + x[i] * math.sin(angle)
    return out


def heads_of(x, width):
    return [x[i:i + width] for i in range(0, len(x), width)]


def attention(c, w, inputs):
    width, share = c["head_dim"], c["num_attention_heads"] // c["num_key_value_heads"]
    queries, keys, values, out = [], [], [], []
    for t, x in enumerate(inputs):
        x = scaled(x, c["attention_in_multiplier"])
        queries.append([rotated(h, t, c["rope_theta"])
                        for h in heads_of(times(w("self_attn.q_proj.weight"), x), width)])
        k = scaled(times(w("self_attn.k_proj.weight"), x), c["key_multiplier"])
        keys.append([rotated(h, t, c["rope_theta"]) for h in heads_of(k, width)])
        values.append(heads_of(times(w("self_attn.v_proj.weight"), x), width))
    for t in range(len(inputs)):
        seen = []
        for h, q in enumerate(queries[t]):
            scores = [sum(a * b for a, b in zip(q, keys[s][h // share])) / width ** 0.5
                      for s in range(t + 1)]
            weights = [math.exp(s - max(scores)) for s in scores]
            seen += [sum(weights[s] * values[s][h // share][i] for s in range(t + 1)) / sum(weights)
                     for i in range(width)]
        out.append(scaled(times(w("self_attn.o_proj.weight"), seen), c["attention_out_multiplier"]))
    return out


def convolved(c, w, rows):
    """Convolve each channel over the previous positions; before the first position there are zeros."""
    _, taps, kernel = w("mamba.conv1d.weight")
    bias = w("mamba.conv1d.bias")[2]
    return [[silu(bias[i] + sum(kernel[i * taps + taps - 1 - back] * rows[t - back][i]
                                for back in range(min(taps, t + 1)))) for i in range(len(rows[0]))]
            for t in range(len(rows))]


def mamba(c, w, inputs):
    inner, heads, groups = c["mamba_d_ssm"], c["mamba_n_heads"], c["mamba_n_groups"]
    n, width = c["mamba_d_state"], c["mamba_d_ssm"] // c["mamba_n_heads"]
    sizes = [inner, inner, groups * n, groups * n, heads]
    by = [m for m, size in zip(c["ssm_multipliers"], sizes) for _ in range(size)]
    first = [[v * m for v, m in zip(times(w("mamba.in_proj.weight"),
                                          scaled(x, c["ssm_in_multiplier"])), by)] for x in inputs]
    inside = convolved(c, w, [row[inner:-heads] for row in first])
    steps = [[math.log1p(math.exp(v + b)) for v, b in zip(row[-heads:], w("mamba.dt_bias")[2])]
             for row in first]
    a_log, d, out = w("mamba.A_log")[2], w("mamba.D")[2], []
    for t in range(len(inputs)):
        y = []
        for h in range(heads):
            b, keep = inner + h * groups // heads * n, -math.exp(a_log[h])
            query = inside[t][b + groups * n:b + groups * n + n]
            total = [d[h] * inside[t][h * width + i] for i in range(width)]
            for s in range(t + 1):
                weight = (sum(p * q for p, q in zip(query, inside[s][b:b + n])) * steps[s][h] *
                          math.exp(keep * sum(steps[r][h] for r in range(s + 1, t + 1))))
                total = [v + weight * inside[s][h * width + i] for i, v in enumerate(total)]
            y += total
        y = [v * silu(z) for v, z in zip(y, first[t][:inner])]
        if c["mamba_rms_norm"]:
            size, weight = inner // groups, w("mamba.norm.weight")[2]
            y = [v for g in range(groups)
                 for v in normed(y[g * size:(g + 1) * size], weight[g * size:], c["rms_norm_eps"])]
        out.append(scaled(times(w("mamba.out_proj.weight"), y), c["ssm_out_multiplier"]))
    return out


def feed_forward(c, w, x):
    gate = scaled(times(w("feed_forward.gate_proj.weight"), x), c["mlp_multipliers"][0])
    up = times(w("feed_forward.up_proj.weight"), x)
    return scaled(times(w("feed_forward.down_proj.weight"), [silu(g) * u for g, u in zip(gate, up)]),
                  c["mlp_multipliers"][1])


def plus(rows, *others):
    return [[sum(parts) for parts in zip(*row)] for row in zip(rows, *others)]


def logits(model, ids):
    c, weights, eps = model.config, model.weights, model.config["rms_norm_eps"]
    dim, table = c["hidden_size"], weights["model.embed_tokens.weight"][2]
    x = [scaled(table[i * dim:(i + 1) * dim], c["embedding_multiplier"]) for i in ids]
    for i in range(c["num_hidden_layers"]):
        def w(name, at=f"model.layers.{i}."):
            return weights[at + name]
        inputs = [normed(row, w("input_layernorm.weight")[2], eps) for row in x]
        x = plus(x, mamba(c, w, inputs), attention(c, w, inputs))
        x = plus(x, [feed_forward(c, w, normed(row, w("pre_ff_layernorm.weight")[2], eps))
                     for row in x])
    norm = weights["model.final_layernorm.weight"][2]
    head = weights.get("lm_head.weight", weights["model.embed_tokens.weight"])
    return [scaled(times(head, normed(row, norm, eps)), c["lm_head_multiplier"]) for row in x]


# ---- as a GGUF ----------------------------------------------------------------------------------

NAMES = {"model.embed_tokens": "token_embd", "model.final_layernorm": "output_norm",
         "lm_head": "output", "input_layernorm": "attn_norm",
         "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "feed_forward.gate_proj": "ffn_gate",
         "feed_forward.up_proj": "ffn_up", "feed_forward.down_proj": "ffn_down",
         "mamba.in_proj": "ssm_in", "mamba.conv1d": "ssm_conv1d", "mamba.out_proj": "ssm_out",
         "mamba.norm": "ssm_norm"}
BARE = {"mamba.A_log": "ssm_a", "mamba.D": "ssm_d", "mamba.dt_bias": "ssm_dt.bias",
        "pre_ff_layernorm.weight": "ffn_norm"}  # the name that llama.cpp writes and reads


def name_in_gguf(full):
    start, rest = "", full
    if full.startswith("model.layers."):
        number, rest = full[len("model.layers."):].split(".", 1)
        start = f"blk.{number}."
    if rest in BARE:
        return start + BARE[rest]
    stem, end = rest.rsplit(".", 1)
    return f"{start}{NAMES[stem]}.{end}"


def factors_of(c, name, rows):
    """A converter's factor for each row of a matrix."""
    groups, inner = c["mamba_n_groups"] * c["mamba_d_state"], c["mamba_d_ssm"]
    one = {"embed_tokens": c["embedding_multiplier"], "lm_head": c["lm_head_multiplier"],
           "q_proj": c["attention_in_multiplier"], "v_proj": c["attention_in_multiplier"],
           "k_proj": c["attention_in_multiplier"] * c["key_multiplier"],
           "o_proj": c["attention_out_multiplier"], "out_proj": c["ssm_out_multiplier"],
           "gate_proj": c["mlp_multipliers"][0], "down_proj": c["mlp_multipliers"][1]}
    stem = name.split(".")[-2]
    if stem == "in_proj":
        sizes = (inner, inner, groups, groups, c["mamba_n_heads"])
        return [m * c["ssm_in_multiplier"] for m, n in zip(c["ssm_multipliers"], sizes)
                for _ in range(n)]
    return [one.get(stem, 1.0)] * rows


def gguf(model, name):
    """Multiply the weights by the multipliers, as converters do. Tied embeddings are not supported."""
    c, g = model.config, Gguf("falcon-h1")
    g.letters(c["vocab_size"])
    for key, number in (
            ("context_length", c["max_position_embeddings"]), ("embedding_length", c["hidden_size"]),
            ("block_count", c["num_hidden_layers"]), ("feed_forward_length", c["intermediate_size"]),
            ("attention.head_count", c["num_attention_heads"]),
            ("attention.head_count_kv", c["num_key_value_heads"]),
            ("attention.key_length", c["head_dim"]), ("attention.value_length", c["head_dim"]),
            ("ssm.conv_kernel", c["mamba_d_conv"]), ("ssm.inner_size", c["mamba_d_ssm"]),
            ("ssm.state_size", c["mamba_d_state"]), ("ssm.time_step_rank", c["mamba_n_heads"]),
            ("ssm.group_count", c["mamba_n_groups"])):
        g.add("." + key, U32, struct.pack("<I", number))
    g.add(".attention.layer_norm_rms_epsilon", F32, struct.pack("<f", c["rms_norm_eps"]))
    g.add(".rope.freq_base", F32, struct.pack("<f", c["rope_theta"]))
    for full, (rows, cols, values) in model.weights.items():
        factors = factors_of(c, full, rows) if full.endswith("weight") else [1.0] * rows
        values = [v * factors[i // cols] for i, v in enumerate(values)]
        shape = [rows, cols] if rows > 1 else [cols]
        if full.endswith("A_log"):
            shape, values = [cols, 1], [-math.exp(v) for v in values]
        elif full.endswith(".D"):
            shape = [cols, 1]
        elif full.endswith("mamba.norm.weight"):
            shape = [c["mamba_n_groups"], cols // c["mamba_n_groups"]]
        g.floats(name_in_gguf(full), shape, values)
    path = os.path.join(WORK, name)
    g.write(path)
    return path
