#!/usr/bin/env python3
"""Write seeds for gguf_fuzz: models of one or a few layers, without weights, which the target appends: OUT-llama has every type that can be packed,
OUT-split has two parts, and each architecture with tensors or values of its own has an OUT-.... usage: gguf_seed.py OUT"""
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from gguf_files import BOOL, F32, I32, IN_GGUF, STRING, Gguf, text

# the bytes that 256 columns take in each type
BYTES = {t.NAME: 256 // t.of * t.bytes for t in IN_GGUF}
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
MOE = [("ffn_gate_inp.weight", 256, 2, "F32"), ("ffn_gate_exps.weight", 256, 32, "Q4_0", 2),
       ("ffn_up_exps.weight", 256, 32, "Q8_0", 2), ("ffn_down_exps.weight", 32, 256, "F16", 2)]
SHARED = [("ffn_gate_shexp.weight", 256, 32, "Q4_0"), ("ffn_up_shexp.weight", 256, 32, "Q4_0"),
          ("ffn_down_shexp.weight", 32, 256, "F32")]
NORMS = [("attn_norm.weight", 256, 0, "F32"), ("ffn_norm.weight", 256, 0, "F32")]
MAMBA2 = [("ssm_in.weight", 256, 164, "Q8_0"), ("ssm_conv1d.weight", 4, 96, "F32"),
          ("ssm_conv1d.bias", 96, 0, "F32"), ("ssm_dt.bias", 4, 0, "F32"), ("ssm_a", 1, 4, "F32"),
          ("ssm_d", 1, 4, "F32"), ("ssm_norm.weight", 64, 1, "F32"), ("ssm_out.weight", 64, 256, "F16")]
SSM = {"ssm.conv_kernel": 4, "ssm.state_size": 16, "ssm.group_count": 1, "ssm.time_step_rank": 4,
       "ssm.inner_size": 64}
EXPERTS = {"expert_count": 2, "expert_used_count": 1, "expert_feed_forward_length": 32}
LATENT = NORMS + [("attn_q_a.weight", 256, 32, "Q4_0"), ("attn_q_a_norm.weight", 32, 0, "F32"),
                  ("attn_q_b.weight", 32, 192, "Q8_0"), ("attn_kv_a_mqa.weight", 256, 80, "Q8_0"),
                  ("attn_kv_a_norm.weight", 64, 0, "F32"), ("attn_output.weight", 128, 256, "F16")]
# Each architecture's fields except sizes: numbers, or lists with a number for each layer.
KEYS = {
    "qwen35moe": {**SSM, **EXPERTS, "full_attention_interval": 2, "nextn_predict_layers": 1,
                  "block_count": 3, "expert_shared_feed_forward_length": 32},
    "qwen35": {"full_attention_interval": 1, **SSM},
    "lfm2moe": {"attention.head_count_kv": [0, 2], "leading_dense_block_count": 1, **EXPERTS,
                "shortconv.l_cache": 3,
                "expert_gating_func": 2},
    "granitehybrid": {"attention.head_count_kv": [0, 2], "rope.scaling.finetuned": 0, **SSM},
    "gpt-oss": {**EXPERTS, "attention.sliding_window": 8},
    "gemma4": {"attention.key_length": 64, "attention.key_length_swa": 32,
               "rope.dimension_count_swa": 32, "attention.sliding_window": 16,
               "attention.sliding_window_pattern": 1, "attention.shared_kv_layers": 1,
               "embedding_length_per_layer_input": 32, "feed_forward_length": [512, 512]},
    "gemma4-assistant": {"embedding_length_out": 32, "nextn_predict_layers": 2, "attention.shared_kv_layers": 2,
                         "attention.key_length": 64, "attention.key_length_swa": 64,
                         "attention.sliding_window": 16},
    "deepseek2": {"attention.kv_lora_rank": 64, "attention.q_lora_rank": 32,
                  "rope.dimension_count": 16, "attention.key_length": 80,
                  "attention.value_length": 64, "attention.key_length_mla": 48,
                  "attention.value_length_mla": 32, "leading_dense_block_count": 1,
                  "expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 32,
                  "expert_shared_count": 1, "expert_gating_func": 2, "expert_group_count": 2,
                  "expert_group_used_count": 1},
    "nemotron_h": {"attention.head_count_kv": [0, 2, 0], "feed_forward_length": [0, 0, 512], **SSM},
}
MODELS = {
    "llama": ([("output.weight", 256, 8, "F16"), ("rope_freqs.weight", 32, 0, "F32")],
              QKV + BLOCK + GATED),
    "types": ([("output.weight", 256, 8, "Q5_1")],
              [("attn_q.weight", 256, 256, "IQ4_NL"), ("attn_k.weight", 256, 128, "IQ4_XS"),
               ("attn_v.weight", 256, 128, "Q5_0")] + BLOCK +
              [("ffn_gate.weight", 256, 512, "Q4_1"), ("ffn_up.weight", 256, 512, "MXFP4")]),
    "few": ([], [("attn_q.weight", 256, 256, "TQ1_0"), ("attn_k.weight", 256, 128, "TQ2_0"),
                 ("attn_v.weight", 256, 128, "Q1_0")] + BLOCK +
            [("ffn_gate.weight", 256, 512, "Q2_0"), ("ffn_up.weight", 256, 512, "F32")]),
    "codebooks": ([], [("attn_q.weight", 256, 256, "IQ2_XXS"), ("attn_k.weight", 256, 128, "IQ2_XS"),
                       ("attn_v.weight", 256, 128, "IQ2_S")] + BLOCK +
                  [("ffn_gate.weight", 256, 512, "IQ3_XXS"), ("ffn_up.weight", 256, 512, "IQ3_S")]),
    "asked": ([], [("attn_q.weight", 256, 256, "IQ1_S"), ("attn_k.weight", 256, 128, "IQ1_M"),
                   ("attn_v.weight", 256, 128, "F32")] + BLOCK +
              [("ffn_gate.weight", 256, 512, "NVFP4"), ("ffn_up.weight", 256, 512, "Q8_1")]),
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
    "qwen35": ([], [("attn_q.weight", 256, 512, "Q6_K")] + QKV[1:] + BLOCK[:2] + BLOCK[3:] + GATED +
               HEAD_NORMS + POST_NORMS[:1]),
    "qwen35moe": ([("blk.2.nextn.eh_proj.weight", 256, 256, "Q4_0")], NORMS[:1] + POST_NORMS[:1] +
                  [("attn_qkv.weight", 256, 96, "Q8_0"), ("attn_gate.weight", 256, 64, "Q8_0"),
                   ("ssm_alpha.weight", 256, 4, "F32"), ("ssm_beta.weight", 256, 4, "F32")] +
                  MAMBA2[1:2] + MAMBA2[3:5] + [("ssm_norm.weight", 16, 0, "F32")] + MAMBA2[-1:] +
                  MOE + SHARED + [("ffn_gate_inp_shexp.weight", 256, 0, "F32")],
                  [("attn_q.weight", 256, 512, "Q6_K")] + QKV[1:] + BLOCK[:2] + HEAD_NORMS + POST_NORMS[:1] +
                  MOE + SHARED),
    "lfm2moe": ([("token_embd_norm.weight", 256, 0, "F32")], NORMS + GATED + BLOCK[3:] +
                [("shortconv.in_proj.weight", 256, 768, "Q4_0"), ("shortconv.conv.weight", 3, 256, "F16"),
                 ("shortconv.out_proj.weight", 256, 256, "Q4_0")],
                QKV + BLOCK[:3] + HEAD_NORMS + MOE + [("exp_probs_b.bias", 2, 0, "F32")]),
    "granitehybrid": ([], NORMS + MAMBA2 + GATED + BLOCK[3:], QKV + BLOCK + GATED),
    "gpt-oss": ([], QKV + BLOCK[:2] + POST_NORMS[:1] + MOE[:1] + MOE[3:] +
                [("attn_q.bias", 256, 0, "F32"), ("attn_k.bias", 128, 0, "F32"),
                 ("attn_v.bias", 128, 0, "F32"), ("attn_output.bias", 256, 0, "F32"),
                 ("attn_sinks.weight", 4, 0, "F32"), ("ffn_gate_inp.bias", 2, 0, "F32"),
                 ("ffn_gate_up_exps.weight", 256, 64, "Q4_0", 2), ("ffn_gate_up_exps.bias", 64, 2, "F32"),
                 ("ffn_down_exps.bias", 256, 2, "F32")]),
    "gemma4": ([("per_layer_token_embd.weight", 64, 8, "Q8_0"), ("rope_freqs.weight", 32, 0, "F32"),
                ("per_layer_model_proj.weight", 256, 64, "BF16"),
                ("per_layer_proj_norm.weight", 32, 0, "F32")],
               QKV[:2] + BLOCK + GATED + HEAD_NORMS + POST_NORMS +
               [("inp_gate.weight", 256, 32, "F32"), ("proj.weight", 32, 256, "F32"),
                ("post_norm.weight", 256, 0, "F32"), ("layer_output_scale.weight", 1, 0, "F32")],
               QKV[:1] + BLOCK + GATED + HEAD_NORMS[:1] + POST_NORMS +
               [("inp_gate.weight", 256, 32, "F32"), ("proj.weight", 32, 256, "F32"),
                ("post_norm.weight", 256, 0, "F32")]),
    "gemma4-assistant": ([("nextn.pre_projection.weight", 64, 256, "Q8_0"), ("nextn.post_projection.weight", 256, 32, "Q4_0"),
                          ("rope_freqs.weight", 32, 0, "F32")],
                         *[QKV[:1] + BLOCK + GATED + HEAD_NORMS[:1] + POST_NORMS + [("layer_output_scale.weight", 1, 0, "F32")]] * 2),
    "deepseek2": ([], LATENT + GATED + BLOCK[3:] +
                  [("attn_k_b.weight", 32, 64, "Q8_0", 4), ("attn_v_b.weight", 64, 32, "Q4_0", 4)],
                  LATENT + SHARED + [("attn_kv_b.weight", 64, 256, "Q8_0")] +
                  [(*t[:-1], 4) for t in MOE[1:]] +
                  [("ffn_gate_inp.weight", 256, 4, "F32"), ("exp_probs_b.bias", 4, 0, "F32")]),
    "nemotron_h": ([], NORMS[:1] + MAMBA2, NORMS[:1] + QKV + BLOCK[1:2],
                   NORMS[:1] + GATED[1:] + BLOCK[3:]),
}


def model(name):
    g = Gguf("llama" if name in ("types", "few", "codebooks", "asked") else name)
    g.string("tokenizer.ggml.model", "llama")
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t in TEXTS])
    g.array("tokenizer.ggml.scores", F32, [struct.pack("<f", -i) for i in range(len(TEXTS))])
    g.array("tokenizer.ggml.token_type", I32, [struct.pack("<i", k) for k in KINDS])
    g.string("tokenizer.chat_template",
             "{{ '<|user|>\n' + m['content'] + eos_token }}<|assistant|>")
    for key, number in (("context_length", 64), ("embedding_length", 256),
                        ("block_count", len(MODELS[name]) - 1), ("feed_forward_length", 512),
                        ("attention.head_count", 4), ("attention.head_count_kv", 2)):
        g.u32("." + key, number)
    g.f32(".attention.layer_norm_epsilon" if name == "gpt2" else
          ".attention.layer_norm_rms_epsilon", 1e-5)
    if name == "phi3":
        g.u32(".rope.scaling.original_context_length", 16)
        g.f32(".rope.scaling.attn_factor", 1.2)
    if name == "deepseek2":
        g.f32(".rope.scaling.yarn_log_multiplier", 0.1)
    if name in ("qwen2", "deepseek2"):
        g.string(".rope.scaling.type", "yarn")
        g.f32(".rope.scaling.factor", 4)
    if name == "gemma3":
        g.u32(".attention.sliding_window", 16)
        g.array(".attention.sliding_window_pattern", BOOL, [b"\1"])
        g.f32(".rope.freq_base_swa", 10000)
    for key, number in KEYS.get(name, {}).items():
        if isinstance(number, list):
            g.array("." + key, I32, [struct.pack("<i", n) for n in number])
        else:
            g.u32("." + key, number)
    outer, *layers = MODELS[name]
    outer = OUTER[:1 if name == "lfm2moe" else 2] + outer  # the last norm of lfm2moe has another name
    inner = [(f"blk.{i}.{t[0]}", *t[1:]) for i, tensors in enumerate(layers) for t in tensors]
    for tensor, *dims, kind in outer + inner:
        if not isinstance(kind, str):  # `kind` is a number of experts here
            dims, kind = [*dims[:2], kind], dims[2]
        dims = [n for n in dims if n]
        g.tensor(tensor, dims, kind, bytes(math.prod(dims) * BYTES[kind] // 256))
    return g


if __name__ == "__main__":
    for name in MODELS:
        with open(f"{sys.argv[1]}-{name}", "wb") as out:
            out.write(b"".join(model(name).parts()[:3]))
    # Two parts, one after the other: the target splits them at the second magic.
    with open(f"{sys.argv[1]}-split", "wb") as out:
        out.write(b"".join(b"".join(part.parts()[:3]) for part in model("llama").split(2)))
