"""Hugging Face's names for the tensors of GGUF files, if a family's names differ from Llama's."""

OUTSIDE = {"token_embd": "embed_tokens", "output_norm": "norm", "token_embd_norm": "embedding_norm",
           "per_layer_token_embd": "embed_tokens_per_layer",
           "per_layer_model_proj": "per_layer_model_projection",
           "per_layer_proj_norm": "per_layer_projection_norm"}
LAYER = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_qkv": "self_attn.qkv_proj", "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "ffn_gate_inp": "mlp.gate", "ffn_gate_exps": "mlp.experts.#.gate_proj",
    "ffn_up_exps": "mlp.experts.#.up_proj", "ffn_down_exps": "mlp.experts.#.down_proj",
    "ffn_gate_shexp": "mlp.shared_expert.gate_proj", "ffn_up_shexp": "mlp.shared_expert.up_proj",
    "ffn_down_shexp": "mlp.shared_expert.down_proj",
    "ffn_gate_inp_shexp": "mlp.shared_expert_gate",
}
MIXTRAL = {"ffn_gate_inp": "block_sparse_moe.gate",
           "ffn_gate_exps": "block_sparse_moe.experts.#.w1",
           "ffn_up_exps": "block_sparse_moe.experts.#.w3",
           "ffn_down_exps": "block_sparse_moe.experts.#.w2"}
LFM2 = {"attn_norm": "operator_norm", "ffn_norm": "ffn_norm",
        "attn_output": "self_attn.out_proj", "attn_q_norm": "self_attn.q_layernorm",
        "attn_k_norm": "self_attn.k_layernorm", "shortconv.conv": "conv.conv",
        "shortconv.in_proj": "conv.in_proj", "shortconv.out_proj": "conv.out_proj",
        "ffn_gate": "feed_forward.w1", "ffn_up": "feed_forward.w3", "ffn_down": "feed_forward.w2",
        "ffn_gate_inp": "feed_forward.gate", "ffn_gate_exps": "feed_forward.experts.#.w1",
        "ffn_up_exps": "feed_forward.experts.#.w3", "ffn_down_exps": "feed_forward.experts.#.w2",
        "exp_probs_b": "feed_forward.expert_bias"}
QWEN35 = {"attn_qkv": "linear_attn.in_proj_qkv", "attn_gate": "linear_attn.in_proj_z",
          "ssm_beta": "linear_attn.in_proj_b", "ssm_alpha": "linear_attn.in_proj_a",
          "ssm_conv1d": "linear_attn.conv1d", "ssm_a": "linear_attn.A_log",
          "ssm_dt": "linear_attn.dt_bias", "ssm_norm": "linear_attn.norm",
          "ssm_out": "linear_attn.out_proj"}
MAMBA = {"ssm_in": "mamba.in_proj", "ssm_conv1d": "mamba.conv1d", "ssm_a": "mamba.A_log",
         "ssm_d": "mamba.D", "ssm_dt": "mamba.dt_bias", "ssm_norm": "mamba.norm",
         "ssm_out": "mamba.out_proj"}
GRANITE = {"ffn_gate_inp": "block_sparse_moe.router.layer",
           "ffn_down_exps": "block_sparse_moe.output_linear",
           "ffn_down_shexp": "shared_mlp.output_linear", **MAMBA}
HYBRID = {**GRANITE, "ffn_down": "shared_mlp.output_linear"}
GEMMA4 = {"ffn_norm": "pre_feedforward_layernorm", "inp_gate": "per_layer_input_gate",
          "proj": "per_layer_projection", "post_norm": "post_per_layer_input_norm",
          "layer_output_scale": "layer_scalar"}
HUNYUAN = {"attn_q_norm": "self_attn.query_layernorm", "attn_k_norm": "self_attn.key_layernorm"}
STARCODER2 = {"ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}
DEEPSEEK = {"attn_q_a": "self_attn.q_a_proj", "attn_q_a_norm": "self_attn.q_a_layernorm",
            "attn_q_b": "self_attn.q_b_proj", "attn_kv_a_mqa": "self_attn.kv_a_proj_with_mqa",
            "attn_kv_a_norm": "self_attn.kv_a_layernorm", "attn_k_b": "self_attn.kv_b_proj",
            "exp_probs_b": "mlp.gate.e_score_correction_bias",
            "ffn_gate_shexp": "mlp.shared_experts.gate_proj",
            "ffn_up_shexp": "mlp.shared_experts.up_proj",
            "ffn_down_shexp": "mlp.shared_experts.down_proj"}
PHI3 = {"ffn_up": "mlp.gate_up_proj"}
GPT_OSS = {"ffn_gate_inp": "mlp.router", "attn_sinks": "self_attn.sinks",
           "ffn_down_exps": "mlp.experts.down_proj"}
GPT_OSS_FUSED = {"ffn_gate_exps": ("ffn_up_exps", "mlp.experts.gate_up_proj")}
# Two tensors in one: the first tensor, the tensor whose rows follow, and the name of both together.
FUSED = {"ffn_gate_exps": ("ffn_up_exps", "block_sparse_moe.input_linear"),
         "ffn_gate_shexp": ("ffn_up_shexp", "shared_mlp.input_linear")}
FUSED_DENSE = {**FUSED, "ffn_gate": ("ffn_up", "shared_mlp.input_linear")}
BARE = ("A_log", ".D", "dt_bias", "expert_bias", "sinks", "layer_scalar",
        "correction_bias")  # tensors whose names do not end in ".weight"
