#!/usr/bin/env python3
"""Write seeds for hf_config_fuzz: a Phi-3 with longrope, which has most fields, and OUT-vision, the
text part of a model for pictures, which leaves most of them out.
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
