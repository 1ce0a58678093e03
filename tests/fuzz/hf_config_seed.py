#!/usr/bin/env python3
"""Write seeds for hf_config_fuzz: a Phi-3 with longrope, which has most fields, and OUT-vision, the
text part of a model for pictures, which leaves most of them out; OUT-experts and OUT-hybrid.
usage: hf_config_seed.py OUT"""
import json
import sys

CONFIG = {"architectures": ["Phi3ForCausalLM"], "model_type": "phi3", "hidden_size": 32,
          "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 13, "rms_norm_eps": 1e-05,
          "max_position_embeddings": 64, "original_max_position_embeddings": 16,
          "partial_rotary_factor": 0.75, "rope_theta": 10000.0, "sliding_window": 2047,
          "hidden_act": "silu", "tie_word_embeddings": True, "attention_bias": False,
          "rope_scaling": {"type": "longrope", "short_factor": [1, 1.5, 2],
                           "long_factor": [2, 3, 4.5], "attention_factor": 1.2},
          "layer_types": ["full_attention", "full_attention"]}
with open(sys.argv[1], "w", encoding="utf-8") as out:
    json.dump(CONFIG, out)
VISION = {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3",
          "image_token_index": 7, "vision_config": {"depth": 1}, "tie_word_embeddings": True,
          "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
                          "intermediate_size": 10240, "num_hidden_layers": 34,
                          "sliding_window": 1024,
                          "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}}
with open(sys.argv[1] + "-vision", "w", encoding="utf-8") as out:
    json.dump(VISION, out)
SIZES = {"hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 4, "vocab_size": 13,
         "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 16}
EXPERTS = {**SIZES, "architectures": ["Qwen3MoeForCausalLM"], "num_experts": 4,
           "num_experts_per_tok": 2, "moe_intermediate_size": 5, "norm_topk_prob": True,
           "mlp_only_layers": [1], "decoder_sparse_step": 1}
HYBRID = {**SIZES, "architectures": ["NemotronHForCausalLM"], "hybrid_override_pattern": "M*-M",
          "mlp_hidden_act": "relu2", "ssm_state_size": 4, "mamba_num_heads": 2,
          "mamba_head_dim": 4, "n_groups": 1, "conv_kernel": 4}
for ending, config in ("-experts", EXPERTS), ("-hybrid", HYBRID):
    with open(sys.argv[1] + ending, "w", encoding="utf-8") as out:
        json.dump(config, out)
