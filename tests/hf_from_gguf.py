"""Turns GGUF files into the Hugging Face folders from which they could have been converted, with the same weights. The converter's
permutations, folds, additions and fusions are undone here."""

import array
import math
import os

from gguf_reader import read_contents
from hf_files import folder, safetensors, write_json
from hf_names_of_gguf import (BARE, DEEPSEEK, FUSED, FUSED_DENSE, GEMMA4, GPT_OSS, GPT_OSS_FUSED,
                              GRANITE, HUNYUAN, HYBRID, LAYER, LFM2, MIXTRAL, OUTSIDE, PHI3,
                              QWEN35, STARCODER2)

F32, MXFP4 = 0, 39
BLOCK = {F32: (1, 4), MXFP4: (32, 17)}  # elements and bytes of a block


class Model:
    """values: by key, without the architecture's prefix; tensors: (shape with rows first, type, raw)."""

    def __init__(self, path):
        values, infos, raw, start = read_contents(path)
        self.values = {key: value for key, _, value, _ in values}
        self.architecture = self.values["general.architecture"]
        self.tensors = {}
        for name, dims, kind, offset in infos:
            elements, size = BLOCK[kind]
            size = math.prod(dims) // elements * size
            self.tensors[name] = (dims[::-1], kind, raw[start + offset:start + offset + size])

    def get(self, key, otherwise=None):
        return self.values.get(f"{self.architecture}.{key}", otherwise)

    def floats(self, name):
        return array.array("f", self.tensors[name][2])


def rows_in_order(raw, rows, order):
    """Put the rows of a matrix into another order."""
    size = len(raw) // rows
    return b"".join(raw[r * size:(r + 1) * size] for r in order)


def columns_in_order(raw, rows, order):
    size = len(raw) // rows
    return b"".join(raw[r * size + 4 * c:r * size + 4 * c + 4] for r in range(rows) for c in order)


def halves(rows, heads):
    """Move the rows of pairs (2i, 2i + 1) to the order of halves (i, i + n / 2)."""
    width = rows // heads
    return [h * width + 2 * i + part for h in range(heads) for part in (0, 1)
            for i in range(width // 2)]


def heads_by_group(heads, groups, width, first=0):
    """Sort the rows of heads by group; a head's group is its number modulo the number of groups."""
    return [first + h * width + i for g in range(groups) for h in range(g, heads, groups)
            for i in range(width)]


# ---- names ------------------------------------------------------------------------------------


# ---- config.json ------------------------------------------------------------------------------

def usual_config(m, architecture):
    heads = m.get("attention.head_count")
    kv = m.get("attention.head_count_kv", heads)
    hidden = m.get("feed_forward_length", m.get("expert_feed_forward_length"))
    return {"architectures": [architecture], "hidden_size": m.get("embedding_length"),
            "num_hidden_layers": m.get("block_count"), "num_attention_heads": heads,
            "num_key_value_heads": max(kv) if isinstance(kv, list) else kv,
            "head_dim": m.get("attention.key_length", m.get("embedding_length") // heads),
            "intermediate_size": hidden, "vocab_size": m.tensors["token_embd.weight"][0][0],
            "max_position_embeddings": m.get("context_length"),
            "rope_theta": m.get("rope.freq_base"),
            "rms_norm_eps": m.get("attention.layer_norm_rms_epsilon"),
            "tie_word_embeddings": "output.weight" not in m.tensors}


def mixers(m, other, attends):
    kv = m.get("attention.head_count_kv")
    return [attends if n else other for n in kv]


def mixtral(m):
    return {"num_local_experts": m.get("expert_count"),
            "num_experts_per_tok": m.get("expert_used_count")}


def qwen3_moe(m):
    return {"num_experts": m.get("expert_count"), "norm_topk_prob": True,
            "num_experts_per_tok": m.get("expert_used_count"),
            "moe_intermediate_size": m.get("expert_feed_forward_length")}


def olmoe(m):
    return {"num_experts": m.get("expert_count"), "norm_topk_prob": False,
            "num_experts_per_tok": m.get("expert_used_count")}


def qwen35(m):
    heads = m.get("ssm.time_step_rank")
    return {"linear_conv_kernel_dim": m.get("ssm.conv_kernel"),
            "linear_num_key_heads": m.get("ssm.group_count"), "linear_num_value_heads": heads,
            "linear_key_head_dim": m.get("ssm.state_size"),
            "linear_value_head_dim": m.get("ssm.inner_size") // heads,
            "full_attention_interval": m.get("full_attention_interval"),
            "rope_theta": None, "rope_parameters": {
                "rope_type": "default", "rope_theta": m.get("rope.freq_base"),
                "partial_rotary_factor": m.get("rope.dimension_count") /
                m.get("attention.key_length")}}


def qwen35_moe(m):
    return {**qwen35(m), **qwen3_moe(m),
            "shared_expert_intermediate_size": m.get("expert_shared_feed_forward_length")}


def lfm2(m):
    return {"layer_types": mixers(m, "conv", "full_attention"), "conv_bias": False,
            "conv_L_cache": m.get("shortconv.l_cache"), "block_auto_adjust_ff_dim": False,
            "norm_eps": m.get("attention.layer_norm_rms_epsilon"), "rms_norm_eps": None}


def lfm2_moe(m):
    return {**lfm2(m), **qwen3_moe(m), "num_dense_layers": m.get("leading_dense_block_count"),
            "use_expert_bias": True, "routed_scaling_factor": 1.0}


def granite(m):
    return {"embedding_multiplier": m.get("embedding_scale"),
            "residual_multiplier": m.get("residual_scale"),
            "attention_multiplier": m.get("attention.scale"),
            "logits_scaling": m.get("logit_scale")}


def granite_moe(m):
    return {**granite(m), **mixtral(m),
            "shared_intermediate_size": m.get("expert_shared_feed_forward_length", 0)}


def granite_hybrid(m):
    heads = m.get("ssm.time_step_rank")
    dense = m.get("expert_count", 0) == 0
    shared = m.get("feed_forward_length" if dense else "expert_shared_feed_forward_length")
    return {**granite(m), "layer_types": mixers(m, "mamba", "attention"),
            "num_local_experts": m.get("expert_count", 0),
            "num_experts_per_tok": m.get("expert_used_count", 0),
            "shared_intermediate_size": shared, "position_embedding_type": "nope",
            "mamba_n_heads": heads, "mamba_d_head": m.get("ssm.inner_size") // heads,
            "mamba_n_groups": m.get("ssm.group_count"), "mamba_d_state": m.get("ssm.state_size"),
            "mamba_d_conv": m.get("ssm.conv_kernel"), "mamba_conv_bias": True,
            "time_step_limit": [0.0, float("inf")]}


def smollm3(m):
    n = m.get("block_count")
    return {"no_rope_layers": [int((i + 1) % 4 != 0) for i in range(n)],
            "no_rope_layer_interval": 4}


def olmo3(m):
    return {"sliding_window": m.get("attention.sliding_window"),
            "layer_types": ["sliding_attention" if local else "full_attention"
                            for local in m.get("attention.sliding_window_pattern")],
            "rope_scaling": {"rope_type": "yarn", "factor": m.get("rope.scaling.factor"),
                             "original_max_position_embeddings":
                             m.get("rope.scaling.original_context_length")}}


def exaone4(m):
    """The file has factors that no formula of a published model gives."""
    factors = list(m.floats("rope_freqs.weight"))
    return {"sliding_window": None, "sliding_window_pattern": None,
            "layer_types": ["full_attention"] * m.get("block_count"),
            "original_max_position_embeddings": m.get("context_length"),
            "rope_scaling": {"type": "longrope", "short_factor": factors, "long_factor": factors}}


def hunyuan(m):
    """The file has only base = theta * alpha^(d / (d - 2)), so alpha is computed from this base and the usual theta."""
    d = m.get("attention.key_length")
    return {"rope_theta": 10000.0, "rope_scaling": {
        "type": "dynamic", "alpha": (m.get("rope.freq_base") / 10000) ** ((d - 2) / d),
        "factor": 1.0}}


def minicpm(m):
    return {"scale_emb": m.get("embedding_scale"),
            "scale_depth": m.get("residual_scale") * m.get("block_count") ** 0.5,
            "dim_model_base": m.get("embedding_length") / m.get("logit_scale")}


def starcoder2(m):
    return {"use_bias": True, "hidden_act": "gelu_pytorch_tanh",
            "norm_epsilon": m.get("attention.layer_norm_epsilon"), "rms_norm_eps": None}


def phi3(m):
    return {"partial_rotary_factor": m.get("rope.dimension_count") * m.get("attention.head_count") /
            m.get("embedding_length"),
            "original_max_position_embeddings": m.get("rope.scaling.original_context_length"),
            "rope_scaling": {"type": "longrope",
                             "short_factor": list(m.floats("rope_factors_short.weight")),
                             "long_factor": list(m.floats("rope_factors_long.weight"))}}


def gpt_oss(m):
    n = m.get("block_count")
    return {"num_local_experts": m.get("expert_count"),
            "num_experts_per_tok": m.get("expert_used_count"), "attention_bias": True,
            "sliding_window": m.get("attention.sliding_window"), "swiglu_limit": 7.0,
            "layer_types": ["full_attention" if i % 2 else "sliding_attention" for i in range(n)],
            "rope_scaling": {"rope_type": "yarn", "factor": m.get("rope.scaling.factor"),
                             "beta_fast": 32.0, "beta_slow": 1.0, "truncate": True,
                             "original_max_position_embeddings":
                             m.get("rope.scaling.original_context_length")},
            "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}}


def gemma4(m):
    """The whole model's config.json, whose text part has the sizes."""
    text = usual_config(m, None)
    hidden = m.get("feed_forward_length")
    local = m.get("attention.sliding_window_pattern")
    freqs = m.floats("rope_freqs.weight")
    text.update({
        "architectures": None, "model_type": "gemma4_text", "rope_theta": None,
        "intermediate_size": hidden[0], "use_double_wide_mlp": hidden[-1] == 2 * hidden[0],
        "head_dim": m.get("attention.key_length_swa"),
        "global_head_dim": m.get("attention.key_length"), "num_global_key_value_heads": None,
        "attention_k_eq_v": False, "sliding_window": m.get("attention.sliding_window"),
        "layer_types": ["sliding_attention" if x else "full_attention" for x in local],
        "num_kv_shared_layers": m.get("attention.shared_kv_layers"),
        "hidden_size_per_layer_input": m.get("embedding_length_per_layer_input"),
        "vocab_size_per_layer_input": text["vocab_size"], "enable_moe_block": False,
        "hidden_activation": "gelu_pytorch_tanh", "use_bidirectional_attention": "vision",
        "final_logit_softcapping": m.get("final_logit_softcapping"),
        "rope_parameters": {
            "full_attention": {"rope_type": "proportional", "rope_theta": m.get("rope.freq_base"),
                               "partial_rotary_factor": freqs.index(max(freqs)) / len(freqs)},
            "sliding_attention": {"rope_type": "default",
                                  "rope_theta": m.get("rope.freq_base_swa")}}})
    whole = {key: None for key in text}
    return {**whole, "architectures": ["Gemma4ForConditionalGeneration"], "model_type": "gemma4",
            "text_config": text, "vision_config": {"hidden_size": 8}, "audio_config": {},
            "image_token_id": 500, "tie_word_embeddings": True}


def deepseek(m):
    """The file's multiplier for scores is a tenth of mscale_all_dim."""
    mscale = 10 * m.get("rope.scaling.yarn_log_multiplier")
    sigmoid, rope = m.get("expert_gating_func") == 2, m.get("rope.dimension_count")
    groups = m.get("expert_group_count", 1)
    return {"head_dim": None, "q_lora_rank": m.get("attention.q_lora_rank") or None,
            "kv_lora_rank": m.get("attention.kv_lora_rank"), "qk_rope_head_dim": rope,
            "qk_nope_head_dim": m.get("attention.key_length_mla") - rope,
            "v_head_dim": m.get("attention.value_length_mla"),
            "first_k_dense_replace": m.get("leading_dense_block_count"),
            "n_routed_experts": m.get("expert_count"),
            "n_shared_experts": m.get("expert_shared_count"),
            "num_experts_per_tok": m.get("expert_used_count"),
            "moe_intermediate_size": m.get("expert_feed_forward_length"),
            "scoring_func": "sigmoid" if sigmoid else "softmax",
            "topk_method": "noaux_tc" if sigmoid else "greedy", "moe_layer_freq": 1,
            "n_group": groups, "topk_group": m.get("expert_group_used_count", 1),
            "norm_topk_prob": m.get("expert_weights_norm"),
            "routed_scaling_factor": m.get("expert_weights_scale"),
            "rope_scaling": {"type": "yarn", "factor": m.get("rope.scaling.factor"),
                             "mscale": mscale, "mscale_all_dim": mscale,
                             "beta_fast": 32, "beta_slow": 1,
                             "original_max_position_embeddings":
                             m.get("rope.scaling.original_context_length")}}


class Family:
    def __init__(self, architecture, names=None, config=None, fused=None, pairs=False, plus_1=False,
                 prefix="model."):
        self.architecture, self.names = architecture, {**LAYER, **(names or {})}
        self.config, self.fused = config or (lambda m: {}), fused or {}
        self.pairs, self.plus_1, self.prefix = pairs, plus_1, prefix


# {a file's name: its family}
FAMILIES = {
    "llama_moe": Family("MixtralForCausalLM", MIXTRAL, mixtral, pairs=True),
    "qwen3moe": Family("Qwen3MoeForCausalLM", None, qwen3_moe),
    "olmoe": Family("OlmoeForCausalLM", None, olmoe),
    "qwen35_eq": Family("Qwen3_5ForCausalLM", QWEN35, qwen35, plus_1=True),
    "qwen35_gqa": Family("Qwen3_5ForCausalLM", QWEN35, qwen35, plus_1=True),
    "qwen35moe": Family("Qwen3_5MoeForCausalLM", QWEN35, qwen35_moe, plus_1=True),
    "lfm2": Family("Lfm2ForCausalLM", LFM2, lfm2),
    "lfm2moe": Family("Lfm2MoeForCausalLM", LFM2, lfm2_moe),
    "granite": Family("GraniteForCausalLM", None, granite, pairs=True),
    "granitemoe": Family("GraniteMoeSharedForCausalLM", GRANITE, granite_moe, FUSED, pairs=True),
    "granitehybrid_dense": Family("GraniteMoeHybridForCausalLM", HYBRID, granite_hybrid,
                                  FUSED_DENSE, pairs=True),
    "granitehybrid_moe": Family("GraniteMoeHybridForCausalLM", HYBRID, granite_hybrid, FUSED,
                                pairs=True),
    "smollm3": Family("SmolLM3ForCausalLM", None, smollm3, pairs=True),
    "olmo2": Family("Olmo2ForCausalLM"),
    "olmo3": Family("Olmo3ForCausalLM", None, olmo3),
    "exaone4": Family("Exaone4ForCausalLM", None, exaone4),
    "hunyuan_dense": Family("HunYuanDenseV1ForCausalLM", HUNYUAN, hunyuan),
    "ernie4_5": Family("Ernie4_5ForCausalLM"),
    "minicpm": Family("MiniCPMForCausalLM", None, minicpm, pairs=True),
    "starcoder2": Family("Starcoder2ForCausalLM", STARCODER2, starcoder2),
    "gptoss_mxfp4": Family("GptOssForCausalLM", GPT_OSS, gpt_oss, GPT_OSS_FUSED),
    "gemma4": Family("Gemma4ForConditionalGeneration", GEMMA4, gemma4,
                     prefix="model.language_model."),
    "deepseek2_lite": Family("DeepseekV2ForCausalLM", DEEPSEEK, deepseek),
    "deepseek2_v3": Family("DeepseekV3ForCausalLM", DEEPSEEK, deepseek),
    "phi3_short": Family("Phi3ForCausalLM", PHI3, phi3),
}


# ---- tensors ----------------------------------------------------------------------------------

def change(m, family, short, shape, raw):
    """Undo the converter's change of a tensor."""
    heads, groups = m.get("ssm.time_step_rank", 0), m.get("ssm.group_count", 0)
    if family.pairs and short in ("attn_q.weight", "attn_k.weight"):
        n = m.get("attention.head_count" if short == "attn_q.weight" else "attention.head_count_kv")
        n = max(n) if isinstance(n, list) else n
        raw = rows_in_order(raw, shape[0], halves(shape[0], n))
    if short.endswith("ssm_a"):
        raw = array.array("f", [math.log(-a) for a in array.array("f", raw)]).tobytes()
    if family.plus_1 and "norm.weight" in short and short != "ssm_norm.weight":
        raw = array.array("f", [w - 1 for w in array.array("f", raw)]).tobytes()
    if family.names.get("ssm_beta") and heads != groups:
        raw = by_group(m, short, shape, raw, heads, groups)
    return raw


def by_group(m, short, shape, raw, heads, groups):
    """Qwen3.5: put the values' heads into the order of the key heads that they use."""
    width = m.get("ssm.inner_size") // heads
    keys = 2 * groups * m.get("ssm.state_size")
    if short in ("attn_qkv.weight", "ssm_conv1d.weight"):
        order = list(range(keys)) + heads_by_group(heads, groups, width, keys)
        return rows_in_order(raw, shape[0], order)
    if short == "attn_gate.weight":
        return rows_in_order(raw, shape[0], heads_by_group(heads, groups, width))
    if short in ("ssm_a", "ssm_dt.bias", "ssm_alpha.weight", "ssm_beta.weight"):
        return rows_in_order(raw, heads, heads_by_group(heads, groups, 1))
    if short == "ssm_out.weight":
        return columns_in_order(raw, shape[0], heads_by_group(heads, groups, width))
    return raw


def interleave(first, second, n):
    """Join two tensors so that n pieces of each alternate, for experts' gates and the matrices that they multiply."""
    a, b = len(first) // n, len(second) // n
    return b"".join(first[i * a:(i + 1) * a] + second[i * b:(i + 1) * b] for i in range(n))


def shape_of(name, shape):
    """The shape in PyTorch: convolutions are stored by channel, some vectors as columns, a gate as a row."""
    if "conv1d.weight" in name or name.endswith("conv.conv.weight"):
        return [shape[0], 1, shape[1]]
    if name.endswith("shared_expert_gate.weight"):
        return [1, shape[0]]
    if len(shape) == 2 and (shape[1] == 1 or name.endswith("mamba.norm.weight")):
        return [shape[0] * shape[1]]
    return shape


def mxfp4_parts(raw):
    """Turn GGML's blocks (a scale, then elements j and j + 16 in a byte) into the published form: pairs, and scales."""
    pairs, scales = bytearray(), bytearray()
    for at in range(0, len(raw), 17):
        nibbles = ([b & 15 for b in raw[at + 1:at + 17]] + [b >> 4 for b in raw[at + 1:at + 17]])
        scales.append(raw[at])
        pairs += bytes(nibbles[i] | nibbles[i + 1] << 4 for i in range(0, 32, 2))
    return bytes(pairs), bytes(scales)


def rows_in_turn(first, second, rows):
    """Join two matrices or vectors so that their rows alternate."""
    size = len(first) // rows
    return b"".join(first[i:i + size] + second[i:i + size] for i in range(0, len(first), size))


def add_published_experts(m, out, name, at):
    """gpt-oss: rows of gates and of what they multiply alternate; weights as MXFP4."""
    shape, kind, raw = m.tensors[name]
    stem = "down_proj"
    if "ffn_gate_exps" in name:
        raw = rows_in_turn(raw, m.tensors[name.replace("gate", "up")][2], math.prod(shape[:-1])
                           if kind == MXFP4 else math.prod(shape))
        stem, axis = "gate_up_proj", 1
        shape = shape[:axis] + [2 * shape[axis]] + shape[axis + 1:]
    if kind != MXFP4:
        out[f"{at}mlp.experts.{stem}_bias"] = ("F32", shape, raw)
        return
    pairs, scales = mxfp4_parts(raw)
    blocks = shape[:2] + [shape[2] // 32]
    both = [("blocks", blocks + [16], pairs), ("scales", blocks, scales)]
    for end, shape, raw in both if stem == "down_proj" else reversed(both):
        out[f"{at}mlp.experts.{stem}_{end}"] = ("U8", shape, raw)


def place(out, name, shape, raw):
    if "#" not in name:
        out[name] = ("F32", shape_of(name, shape), raw)
        return
    size = len(raw) // shape[0]
    for i in range(shape[0]):
        out[name.replace("#", str(i))] = ("F32", shape[1:], raw[i * size:(i + 1) * size])


def full_name(theirs, end):
    if any(theirs.endswith(bare) for bare in BARE):
        return theirs
    return f"{theirs}.{end}"


def add_layer_tensor(m, family, out, name):
    _, number, short = name.split(".", 2)
    stem, _, end = short.rpartition(".")
    stem, end = (short, "weight") if not stem else (stem, end)
    shape, _, raw = m.tensors[name]
    at = f"{family.prefix}layers.{number}."
    raw = change(m, family, short, shape, raw)
    if family.fused is GPT_OSS_FUSED and "_exps" in stem:
        if "ffn_up" not in stem:
            add_published_experts(m, out, name, at)
    elif stem in family.fused:
        other, theirs = family.fused[stem]
        second = m.tensors[f"blk.{number}.{other}.weight"][2]
        n = shape[0] if len(shape) == 3 else 1
        rows = shape[:-2] + [2 * shape[-2], shape[-1]]
        place(out, f"{at}{theirs}.weight", rows, interleave(raw, second, n))
    elif stem == "attn_k_b":
        place(out, at + family.names[stem] + ".weight", *latent(m, number))
    elif stem != "attn_v_b" and not any(stem == other for other, _ in family.fused.values()):
        place(out, at + full_name(family.names[stem], end), shape, raw)


def latent(m, number):
    """kv_b: for each head the rows that make its key, which the file has as columns, then the rows that make its value."""
    (heads, rank, keys), _, k = m.tensors[f"blk.{number}.attn_k_b.weight"]
    (_, values, _), _, v = m.tensors[f"blk.{number}.attn_v_b.weight"]
    k, out, size = array.array("f", k), b"", 4 * values * rank
    for h in range(heads):
        at = k[h * rank * keys:(h + 1) * rank * keys]
        out += array.array("f", [at[r * keys + c] for c in range(keys) for r in range(rank)]).tobytes()
        out += v[h * size:(h + 1) * size]
    return [heads * (keys + values), rank], out


def tensors_of(m, family):
    out = {}
    for name, (shape, _, raw) in m.tensors.items():
        if name.startswith("blk."):
            add_layer_tensor(m, family, out, name)
        elif not name.startswith("rope_"):
            stem, _, end = name.rpartition(".")
            full = "lm_head" if stem == "output" else family.prefix + OUTSIDE[stem]
            place(out, f"{full}.{end}", shape, change(m, family, name, shape, raw))
    return out


def left_over(m):
    """Other tensors of Gemma 4's files: for pictures and sounds, and keys of layers that read another layer's keys."""
    out = {f"model.{name}.weight": ("BF16", [2], bytes(4))
           for name in ("vision_tower.a", "audio_tower.a", "embed_vision.a", "embed_audio.a")}
    last = f"model.language_model.layers.{m.get('block_count') - 1}.self_attn."
    for name in ("k_proj", "v_proj", "k_norm"):
        out[f"{last}{name}.weight"] = ("BF16", [2, 2], bytes(8))
    return out


def make_folder(path, name):
    """The folder of a GGUF whose family is known by the file's name."""
    m, family = Model(path), FAMILIES[name]
    more = left_over(m) if name == "gemma4" else {}
    where = folder("folder-" + name)
    write_json(where, "config.json", {**usual_config(m, family.architecture), **family.config(m)})
    safetensors(os.path.join(where, "model.safetensors"), {**tensors_of(m, family), **more})
    return where
