#!/usr/bin/env python3
"""Write seeds for gguf_fuzz: models of one layer, OUT-llama with every type that can be packed and
one OUT-... for each architecture that has tensors or values of its own, without weights; the target
puts some behind them. OUT-split is a model in two parts. usage: gguf_seed.py OUT"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_files import BOOL, F32, I32, STRING, Gguf, text

# bytes of 256 columns
BYTES = {"F32": 1024, "F16": 512, "BF16": 512, "Q4_0": 144, "Q4_1": 160, "Q5_0": 176, "Q5_1": 192,
         "Q8_0": 272, "Q2_K": 84, "Q3_K": 110, "Q4_K": 144, "Q5_K": 176, "Q6_K": 210,
         "IQ4_NL": 144, "IQ4_XS": 136, "TQ1_0": 54, "TQ2_0": 66, "Q1_0": 36, "Q2_0": 72, "MXFP4": 136}
TEXTS = ["<unk>", "<s>", "</s>", "<|user|>", "<0x0A>", "\u2581a", "b", "ab"]
KINDS = [2, 3, 3, 4, 6, 1, 1, 1]
OUTER = [("token_embd.weight", 256, 8, "BF16"), ("output_norm.weight", 256, 0, "F32")]
QKV = [("attn_q.weight", 256, 256, "Q4_K"), ("attn_k.weight", 256, 128, "Q4_0"),
       ("attn_v.weight", 256, 128, "Q6_K")]
BLOCK = [("attn_norm.weight", 256, 0, "F32"), ("attn_output.weight", 256, 256, "Q8_0"),
         ("ffn_norm.weight", 256, 0, "F32"), ("ffn_down.weight", 512, 256, "Q3_K")]
GATED = [("ffn_gate.weight", 256, 512, "Q5_K"), ("ffn_up.weight", 256, 512, "Q2_K")]
HEAD_NORMS = [("attn_q_norm.weight", 64, 0, "F32"), ("attn_k_norm.weight", 64, 0, "F32")]
POST_NORMS = [("post_attention_norm.weight", 256, 0, "F32"), ("post_ffw_norm.weight", 256, 0, "F32")]
MODELS = {
    "llama": ([("output.weight", 256, 8, "F16"), ("rope_freqs.weight", 32, 0, "F32")],
              QKV + BLOCK + GATED),
    "types": ([("output.weight", 256, 8, "Q5_1")],
              [("attn_q.weight", 256, 256, "IQ4_NL"), ("attn_k.weight", 256, 128, "IQ4_XS"),
               ("attn_v.weight", 256, 128, "Q5_0")] + BLOCK +
              [("ffn_gate.weight", 256, 512, "Q4_1"), ("ffn_up.weight", 256, 512, "MXFP4")]),
    "qwen2": ([], QKV + BLOCK + GATED +
              [("attn_q.bias", 256, 0, "F32"), ("attn_k.bias", 128, 0, "F32"),
               ("attn_v.bias", 128, 0, "F32")]),
    "gemma3": ([], QKV + BLOCK + GATED + HEAD_NORMS + POST_NORMS),
    "phi3": ([("rope_factors_long.weight", 32, 0, "F32"),
              ("rope_factors_short.weight", 32, 0, "F32")],
             BLOCK + [("attn_qkv.weight", 256, 512, "Q4_K"), ("ffn_up.weight", 256, 1024, "Q4_0")]),
    "gpt2": ([("position_embd.weight", 256, 64, "F32"), ("output_norm.bias", 256, 0, "F32")],
             BLOCK + [("attn_qkv.weight", 256, 512, "Q5_1"), ("attn_qkv.bias", 512, 0, "F32"),
                      ("attn_norm.bias", 256, 0, "F32"), ("ffn_norm.bias", 256, 0, "F32"),
                      ("attn_output.bias", 256, 0, "F32"), ("ffn_up.weight", 256, 512, "Q8_0"),
                      ("ffn_up.bias", 512, 0, "F32"), ("ffn_down.bias", 256, 0, "F32")]),
}


def model(name):
    g = Gguf("llama" if name == "types" else name)
    g.string("tokenizer.ggml.model", "llama")
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t in TEXTS])
    g.array("tokenizer.ggml.scores", F32, [struct.pack("<f", -i) for i in range(len(TEXTS))])
    g.array("tokenizer.ggml.token_type", I32, [struct.pack("<i", k) for k in KINDS])
    g.string("tokenizer.chat_template",
             "{{ '<|user|>\n' + m['content'] + eos_token }}<|assistant|>")
    for key, number in (("context_length", 64), ("embedding_length", 256), ("block_count", 1),
                        ("feed_forward_length", 512), ("attention.head_count", 4),
                        ("attention.head_count_kv", 2)):
        g.u32("." + key, number)
    g.f32(".attention.layer_norm_epsilon" if name == "gpt2" else
          ".attention.layer_norm_rms_epsilon", 1e-5)
    if name == "phi3":
        g.u32(".rope.scaling.original_context_length", 16)
        g.f32(".rope.scaling.attn_factor", 1.2)
    if name == "qwen2":
        g.string(".rope.scaling.type", "yarn")
        g.f32(".rope.scaling.factor", 4)
    if name == "gemma3":
        g.u32(".attention.sliding_window", 16)
        g.array(".attention.sliding_window_pattern", BOOL, [b"\1"])
        g.f32(".rope.freq_base_swa", 10000)
    outer, inner = MODELS[name]
    for tensor, cols, rows, kind in OUTER + outer + [("blk.0." + t[0], *t[1:]) for t in inner]:
        size = cols * max(rows, 1) * BYTES[kind] // 256
        g.tensor(tensor, (cols, rows) if rows else (cols,), kind, bytes(size))
    return g


for name in MODELS:
    with open(f"{sys.argv[1]}-{name}", "wb") as out:
        out.write(b"".join(model(name).parts()[:3]))
# Two parts, one behind the other: the target parts them at the second magic.
with open(f"{sys.argv[1]}-split", "wb") as out:
    out.write(b"".join(b"".join(part.parts()[:3]) for part in model("llama").split(2)))
