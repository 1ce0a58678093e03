#!/usr/bin/env python3
"""Write seeds for hf_config_fuzz: a Phi-3 with longrope, which has most fields, and OUT-vision, the text part of a model for pictures, which omits
most of them; and OUT-experts, OUT-hybrid, OUT-beside, OUT-ternary, OUT-rounded, OUT-f8, OUT-gemma4 and OUT-latent, configurations of other kinds.
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
BESIDE = {**SIZES, "architectures": ["FalconH1ForCausalLM"], "mamba_d_ssm": 16, "mamba_n_heads": 2,
          "mamba_n_groups": 1, "mamba_d_state": 4, "mamba_rms_norm": True,
          "mamba_norm_before_gate": False, "time_step_limit": [0.0, float("inf")],
          "ssm_multipliers": [0.5, 1, 2, 1.5, 1], "mlp_multipliers": [0.5, 2],
          "key_multiplier": 0.4, "embedding_multiplier": 5.6, "lm_head_multiplier": 0.04}
TERNARY = {**SIZES, "architectures": ["BitNetForCausalLM"], "hidden_act": "relu2",
           "quantization_config": {"quant_method": "bitnet", "linear_class": "autobitlinear",
                                   "quantization_mode": "offline"}}
ROUNDED = {**SIZES, "architectures": ["BitNetForCausalLM"], "hidden_act": "relu2",
           "quantization_config": {"quant_method": "bitnet", "linear_class": "autobitlinear",
                                   "quantization_mode": "online",
                                   "modules_to_not_convert": ["lm_head"]}}
F8 = {**SIZES, "architectures": ["Qwen3ForCausalLM"], "attention_bias": True, "sliding_window": 5,
      "use_sliding_window": True, "max_window_layers": 2, "head_dim": 8,
      "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
GEMMA4 = {"model_type": "gemma4", "vision_config": {}, "text_config": {
    **SIZES, "model_type": "gemma4_text", "head_dim": 8, "global_head_dim": 16,
    "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 13, "num_kv_shared_layers": 1,
    "attention_k_eq_v": True, "num_global_key_value_heads": 2, "use_double_wide_mlp": True,
    "sliding_window": 5, "layer_types": ["sliding_attention", "full_attention"] * 2,
    "rope_parameters": {"full_attention": {"rope_type": "proportional", "rope_theta": 1e6,
                                           "partial_rotary_factor": 0.25},
                        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}}}
LATENT = {**SIZES, "architectures": ["DeepseekV3ForCausalLM"], "kv_lora_rank": 16, "q_lora_rank": 6,
          "qk_nope_head_dim": 4, "qk_rope_head_dim": 4, "v_head_dim": 8, "n_routed_experts": 4,
          "n_shared_experts": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 5,
          "first_k_dense_replace": 1, "moe_layer_freq": 1, "n_group": 2, "topk_group": 1,
          "topk_method": "noaux_tc", "scoring_func": "sigmoid", "norm_topk_prob": True,
          "routed_scaling_factor": 2.5, "num_nextn_predict_layers": 1, "rope_interleave": True,
          "rope_scaling": {"type": "yarn", "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 0.7,
                           "original_max_position_embeddings": 8}}
for ending, config in ("-latent", LATENT), ("-beside", BESIDE), ("-ternary", TERNARY), ("-rounded", ROUNDED), ("-f8", F8), ("-gemma4", GEMMA4), ("-experts", EXPERTS), ("-hybrid", HYBRID):
    with open(sys.argv[1] + ending, "w", encoding="utf-8") as out:
        json.dump(config, out)
