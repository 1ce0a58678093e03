#!/usr/bin/python3
"""Hostile tables of layers in GGUF files of architectures whose layers differ: mixers without a width, shared keys that do not exist, too many
experts. The program, built with ASan and UBSan, refuses each with one error message that names the value."""

import os
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, os.path.join(HERE, "../fuzz/seeds"))
from gguf_files import BOOL, F32, I32
from gguf_seed import KEYS, model
from hostile import check, pack
from machine import WORK, Tap

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def made(name):
    """The fuzzer's seed, with its weights."""
    g = model(name)
    for tensor in g.tensors:
        if tensor[0].startswith("rope_freqs"):
            tensor[3] = struct.pack("<f", 1) * (len(tensor[3]) // 4)
    return g


def whole(key, number):
    return lambda g: g.u32("." + key, number)


def numbers(key, *items):
    return lambda g: g.array("." + key, I32, [struct.pack("<i", n) for n in items])


def real(key, number):
    return lambda g: g.f32("." + key, number)


def shape(name, *dims, kind=None):
    def change(g):
        tensor = next(t for t in g.tensors if t[0] == name)
        tensor[1] = list(dims)
        tensor[2] = tensor[2] if kind is None else kind
    return change


def without(name):
    def change(g):
        g.tensors = [t for t in g.tensors if t[0] != name]
    return change


KV = "attention.head_count_kv"
ROWS = [
    ("gemma4-assistant", "a model of 2 billion numbers", whole("embedding_length_out", 1 << 31), ["target_dim is 2147483648, must be at most 65536"]),
    ("gemma4-assistant", "a model of another width", whole("embedding_length_out", 64), ["256 rows of 64, the parameters demand 256 of 128"]),
    ("gemma4-assistant", "a model of no width", whole("embedding_length_out", 0), ["embedding_length_out is missing"]),
    ("gemma4-assistant", "more blocks that guess than blocks", whole("nextn_predict_layers", 3), ["nextn_predict_layers is 3", "number of blocks, 2"]),
    ("gemma4-assistant", "more input than a feed-forward may have", whole("embedding_length_out", 65536), ["demand 256 of 131072"]),
    ("gemma4-assistant", "no second projection", without("nextn.post_projection.weight"), ["mtp_state is missing"]),
    ("gemma4", "all layers read others' keys", whole("attention.shared_kv_layers", 2),
     ["shared_kv_layers is 2, of 2 layers"]),
    ("gemma4", "keys of nobody", lambda g: g.array(
        ".attention.sliding_window_pattern", BOOL, [b"\1", b"\0"]), ["layer 1 has no keys"]),
    ("gemma4", "a pattern for other layers", lambda g: g.array(
        ".attention.sliding_window_pattern", BOOL, [b"\1"]), ["sliding_window_pattern"]),
    ("gemma4", "local heads of 33", lambda g: (
        g.u32(".attention.key_length_swa", 33),
        g.array(".attention.sliding_window_pattern", BOOL, [b"\1", b"\1"])), ["head_dim is 33"]),
    ("gemma4", "a local rope wider than the other", whole("rope.dimension_count_swa", 128),
     ["rope.dimension_count_swa is 128"]),
    ("gemma4", "an output scale of two", shape("blk.0.layer_output_scale.weight", 2),
     ["layer_output_scale", "does not match the parameters"]),
    ("gemma4", "4 billion numbers a layer", whole("embedding_length_per_layer_input", 0xffffffff),
     ["per_layer_dim"]),
    ("qwen35moe", "4 billion experts", whole("expert_count", 4000000000),
     ["expert_count is 4000000000"]),
    ("qwen35moe", "513 experts", whole("expert_count", 513), ["expert_count is 513", "at most 512"]),
    ("qwen35moe", "no expert used", whole("expert_used_count", 0), [".expert_used_count is 0"]),
    ("qwen35moe", "more used than there are", whole("expert_used_count", 3),
     [".expert_used_count is 3"]),
    ("qwen35moe", "another number of experts than the tensors", whole("expert_count", 3),
     ["router of layer 0 has 2 rows"]),
    ("qwen35moe", "an expert too few", shape("blk.0.ffn_up_exps.weight", 256, 32, 1),
     ["1 experts, but the parameters say 2"]),
    ("qwen35moe", "experts without a width", whole("expert_feed_forward_length", 0),
     ["expert_hidden is 0"]),
    ("qwen35moe", "experts in groups", whole("expert_group_count", 4), ["expert_group_count is 4"]),
    ("qwen35moe", "all blocks guess", whole("nextn_predict_layers", 3), ["is 3, of 3 blocks"]),
    ("qwen35moe", "no layer attends at intervals of 0", whole("full_attention_interval", 0),
     ["full_attention_interval is 0"]),
    ("qwen35moe", "a mixer of width 0", whole("ssm.inner_size", 0), ["inner_dim is 0"]),
    ("qwen35moe", "groups that do not divide the heads", whole("ssm.group_count", 3),
     ["do not divide"]),
    ("qwen35moe", "an inner width that the heads do not divide", whole("ssm.inner_size", 66),
     ["do not divide"]),
    ("qwen35moe", "4 billion numbers of state", whole("ssm.state_size", 0xffffffff),
     ["state_dim is 4294967295"]),
    ("qwen35", "a query without its gate", shape("blk.0.attn_q.weight", 256, 256),
     ["attn_q.weight has 256 rows"]),
    ("lfm2moe", "a convolution of no position", whole("shortconv.l_cache", 0), ["conv_taps is 0"]),
    ("lfm2moe", "a convolution of 200", whole("shortconv.l_cache", 200),
     ["convolutions have 200 taps, but may have at most 8"]),
    ("lfm2moe", "a quantized convolution", shape("blk.0.shortconv.conv.weight", 32, 24, kind=8),
     ["convolution must be F32"]),
    ("lfm2moe", "experts chosen otherwise", whole("expert_gating_func", 1),
     ["expert_gating_func is 1"]),
    ("lfm2moe", "heads for one layer of two", numbers(KV, 0), ["lists 1 numbers for 2 layers"]),
    ("lfm2moe", "heads for three layers", numbers(KV, 0, 2, 2), ["lists 3 numbers for 2 layers"]),
    ("lfm2moe", "heads for no layer", numbers(KV), ["lists 0 numbers for 2 layers"]),
    ("lfm2moe", "-1 heads", numbers(KV, 0, -1), ["n_kv_heads is 4294967295"]),
    ("lfm2moe", "heads as fractions", lambda g: g.array(
        "." + KV, F32, [struct.pack("<f", 2)] * 2), [KV, "whole number"]),
    ("lfm2moe", "layers beyond the table that are dense", whole("leading_dense_block_count", 9),
     ["leading_dense_block_count is 9, more than the model has layers"]),
    ("granitehybrid", "an expert's bias without experts", lambda g: g.floats(
        "blk.0.ffn_up_exps.bias", [4], [0] * 4), ["expert_up_bias"]),
    ("granitehybrid", "a vector of the wrong length", shape("blk.0.ssm_a", 1, 3), ["ssm_a of layer 0"]),
    ("granitehybrid", "a matrix in three dimensions", shape("blk.0.ssm_out.weight", 64, 128, 2),
     ["three dimensions"]),
    ("nemotron_h", "a layer of nothing", numbers("feed_forward_length", 0, 0, 0),
     ["hidden is 0"]),
    ("gpt-oss", "a router without experts' matrices", without("blk.0.ffn_down_exps.weight"),
     ["expert_down of layer 0 is missing"]),
    ("gpt-oss", "gates and ups of odd rows", shape("blk.0.ffn_gate_up_exps.weight", 256, 63, 2),
     ["63 rows"]),
    ("gpt-oss", "a recurrent mixer", whole("ssm.inner_size", 64), ["its family does not have"]),
    ("deepseek2", "no latent numbers", whole("attention.kv_lora_rank", 0),
     ["attention.kv_lora_rank is missing"]),
    ("deepseek2", "4 billion of them", whole("attention.kv_lora_rank", 0xffffffff),
     ["head_dim is"]),
    ("deepseek2", "no whole groups of rows", whole("attention.kv_lora_rank", 60),
     ["kv_rank 60", "multiples of 8"]),
    ("deepseek2", "no whole groups of a value's rows", whole("attention.value_length_mla", 12),
     ["value_dim 12", "multiples of 8"]),
    ("deepseek2", "keys of an odd width", whole("rope.dimension_count", 14), ["head_dim 78 of 4"]),
    ("deepseek2", "rotations of no width", whole("rope.dimension_count", 0),
     ["rope.dimension_count is missing"]),
    ("deepseek2", "queries that only rotate", whole("attention.key_length_mla", 16),
     ["query_dim is 16, must be 17"]),
    ("deepseek2", "queries of 4 billion", whole("attention.key_length_mla", 0xffffffff),
     ["query_dim is 4294967295"]),
    ("deepseek2", "4 billion numbers before queries", whole("attention.q_lora_rank", 0xffffffff),
     ["q_rank is 4294967295"]),
    ("deepseek2", "queries without those numbers", whole("attention.q_lora_rank", 0),
     ["a tensor attn_q_a, which"]),
    ("deepseek2", "groups that do not divide the experts", whole("expert_group_count", 3),
     ["expert_groups 3, 1 used, cannot"]),
    ("deepseek2", "4 billion groups", whole("expert_group_count", 4000000000),
     ["expert_groups is 4000000000"]),
    ("deepseek2", "groups of one, which count by two", whole("expert_group_count", 4),
     ["expert_groups 4, 1 used, cannot"]),
    ("deepseek2", "no group used", whole("expert_group_used_count", 0),
     ["expert_groups_used is 0, must be 1 to 2"]),
    ("deepseek2", "more groups used than there are", whole("expert_group_used_count", 3),
     ["expert_groups_used is 3"]),
    ("deepseek2", "more experts used than the groups have", whole("expert_used_count", 3),
     ["expert_groups 2, 1 used, cannot give 3 of 4 experts"]),
    ("deepseek2", "experts chosen in a third way", whole("expert_gating_func", 3),
     ["expert_gating_func is 3"]),
    ("deepseek2", "4 billion shared experts", whole("expert_shared_count", 4000000000),
     ["hidden is 4000000000"]),
    ("deepseek2", "a row too few for all heads", shape("blk.1.attn_kv_b.weight", 64, 255),
     ["attn_kv_b.weight has 255 rows"]),
    ("deepseek2", "keys of three heads", shape("blk.0.attn_k_b.weight", 32, 64, 3),
     ["attn_k_b of layer 0 has 192 rows"]),
    ("deepseek2", "keys of 512 heads", shape("blk.0.attn_k_b.weight", 32, 64, 512),
     ["attn_k_b.weight"]),
    ("deepseek2", "keys without values", without("blk.0.attn_v_b.weight"),
     ["attn_v_b of layer 0 is missing"]),
    ("deepseek2", "values twice", lambda g: g.floats("blk.1.attn_v_b.weight", [128, 64], [0] * 8192),
     ["attn_v_b.weight appears twice"]),
    ("deepseek2", "the widths of DeepSeek-V3, which are within bounds", lambda g: [
        g.u32("." + key, n) for key, n in (
            ("attention.head_count", 128), ("attention.kv_lora_rank", 512),
            ("attention.q_lora_rank", 1536), ("rope.dimension_count", 64),
            ("attention.key_length", 576), ("attention.value_length", 512),
            ("attention.key_length_mla", 192), ("attention.value_length_mla", 128))],
     ["attn_kv_b.weight has 256 rows of 64, which does not match the parameters"]),
    ("llama", "latent keys", whole("attention.kv_lora_rank", 64),
     ["kv_lora_rank", "its family does not have"]),
    ("llama", "scores scaled with the rotation", real("rope.scaling.yarn_log_multiplier", 0.1),
     ["yarn_log_multiplier", "its family does not have"]),
    ("llama", "a multiplier", real("residual_scale", 0.5), ["llama.residual_scale"]),
    ("llama", "keys of other layers", whole("attention.shared_kv_layers", 1),
     ["shared_kv_layers", "its family does not have"]),
    ("qwen2", "experts", whole("expert_count", 4), ["expert_count is 4"]),
]


def run(job):
    number, (name, _, change, _) = job
    g = made(name)
    if change is not None:
        change(g)
    path = os.path.join(WORK, f"layers-{number}.gguf")
    g.write(path)
    result = pack(path)
    os.unlink(path)
    return result


with ThreadPoolExecutor(os.cpu_count()) as pool:
    good = [(name, "", None, []) for name in KEYS]
    for (name, *_), (status, said) in zip(good, pool.map(run, enumerate(good))):
        tap.ok(status == 0, f"{name}: the file that others are made of is packed", said)
    for (name, what, _, words), (status, said) in zip(ROWS, pool.map(run, enumerate(ROWS, 100))):
        check(tap, f"{name}, {what}", words, status, said)
tap.done()
