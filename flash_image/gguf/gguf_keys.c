/* The names of a GGUF's values. */
#include "flash_image/gguf/gguf_private.h"

/* A name that begins with a dot is prefixed by the architecture: "llama.context_length". */
static const char *const numbers[N_NUMBERS] = {
    [N_CONTEXT] = ".context_length",
    [N_DIM] = ".embedding_length",
    [N_LAYERS] = ".block_count",
    [N_VOCAB] = ".vocab_size",
    [N_HIDDEN] = ".feed_forward_length",
    [N_HEADS] = ".attention.head_count",
    [N_KV_HEADS] = ".attention.head_count_kv",
    [N_KEY_LENGTH] = ".attention.key_length",
    [N_VALUE_LENGTH] = ".attention.value_length",
    [N_ROPE_DIMS] = ".rope.dimension_count",
    [N_ROPE_CONTEXT] = ".rope.scaling.original_context_length",
    [N_WINDOW] = ".attention.sliding_window",
    [N_CAUSAL] = ".attention.causal",
    [N_MAY_ROPE] = ".rope.scaling.finetuned",
    [N_MORE_PREDICTED] = ".nextn_predict_layers",
    [N_EXPERTS] = ".expert_count",
    [N_EXPERTS_USED] = ".expert_used_count",
    [N_EXPERT_HIDDEN] = ".expert_feed_forward_length",
    [N_SHARED_HIDDEN] = ".expert_shared_feed_forward_length",
    [N_SHARED_EXPERTS] = ".expert_shared_count",
    [N_EXPERT_SCORES] = ".expert_gating_func",
    [N_EXPERT_NORM] = ".expert_weights_norm",
    [N_DENSE_LAYERS] = ".leading_dense_block_count",
    [N_EXPERT_GROUPS] = ".expert_group_count",
    [N_EXPERT_GROUPS_USED] = ".expert_group_used_count",
    [N_CONV_TAPS] = ".ssm.conv_kernel",
    [N_STATE_DIM] = ".ssm.state_size",
    [N_GROUPS] = ".ssm.group_count",
    [N_INNER_HEADS] = ".ssm.time_step_rank",
    [N_INNER_DIM] = ".ssm.inner_size",
    [N_SHORTCONV_TAPS] = ".shortconv.l_cache",
    [N_ATTENTION_EVERY] = ".full_attention_interval",
    [N_KEY_LENGTH_LOCAL] = ".attention.key_length_swa",
    [N_VALUE_LENGTH_LOCAL] = ".attention.value_length_swa",
    [N_ROPE_DIMS_LOCAL] = ".rope.dimension_count_swa",
    [N_SHARED_KV] = ".attention.shared_kv_layers",
    [N_PER_LAYER] = ".embedding_length_per_layer_input",
    [N_TARGET_DIM] = ".embedding_length_out",
    [N_KV_RANK] = ".attention.kv_lora_rank",
    [N_Q_RANK] = ".attention.q_lora_rank",
    [N_KEY_LENGTH_LATENT] = ".attention.key_length_mla",
    [N_VALUE_LENGTH_LATENT] = ".attention.value_length_mla",
    [N_ALIGNMENT] = "general.alignment",
    [N_BOS] = "tokenizer.ggml.bos_token_id",
    [N_EOS] = "tokenizer.ggml.eos_token_id",
    [N_UNK] = "tokenizer.ggml.unknown_token_id",
    [N_EOT] = "tokenizer.ggml.eot_token_id",
    [N_EOM] = "tokenizer.ggml.eom_token_id",
    [N_ADD_BOS] = "tokenizer.ggml.add_bos_token",
    [N_ADD_EOS] = "tokenizer.ggml.add_eos_token",
    [N_ADD_SPACE] = "tokenizer.ggml.add_space_prefix",
    [N_SQUEEZE_SPACES] = "tokenizer.ggml.remove_extra_whitespaces",
    [N_SPLIT_PART] = "split.no",
    [N_SPLIT_COUNT] = "split.count",
    [N_SPLIT_TENSORS] = "split.tensors.count",
};

static const char *const reals[N_REALS] = {
    [R_RMS_EPS] = ".attention.layer_norm_rms_epsilon",
    [R_LAYER_EPS] = ".attention.layer_norm_epsilon",
    [R_ROPE_BASE] = ".rope.freq_base",
    [R_ROPE_BASE_LOCAL] = ".rope.freq_base_swa",
    [R_ROPE_FACTOR] = ".rope.scaling.factor",
    [R_ROPE_LINEAR] = ".rope.scale_linear",
    [R_ROPE_MAGNITUDE] = ".rope.scaling.attn_factor",
    [R_BETA_FAST] = ".rope.scaling.yarn_beta_fast",
    [R_BETA_SLOW] = ".rope.scaling.yarn_beta_slow",
    [R_YARN_PART] = ".rope.scaling.yarn_ext_factor",
    [R_YARN_LOG] = ".rope.scaling.yarn_log_multiplier",
    [R_ATTN_SCALE] = ".attention.scale",
    [R_ATTN_SOFTCAP] = ".attn_logit_softcapping",
    [R_FINAL_SOFTCAP] = ".final_logit_softcapping",
    [R_EMBEDDING_SCALE] = ".embedding_scale",
    [R_RESIDUAL_SCALE] = ".residual_scale",
    [R_LOGITS_SCALE] = ".logit_scale",
    [R_EXPERT_SCALE] = ".expert_weights_scale",
};

/* Other values of the architecture that do not change the computation. */
static const char *const idle[] = {
    ".tensor_data_layout",
    ".rope.scaling.yarn_attn_factor", /* other readers ignore it, so it has no effect */
    ".rope.dimension_sections",       /* for text, all sections have the same position */
};

const char *gguf_number_name(enum gguf_number which)
{
    return numbers[which];
}

const char *gguf_real_name(enum gguf_real which)
{
    return reals[which];
}

static struct source_text text_after(struct source_text t, size_t bytes)
{
    return (struct source_text){ t.data + bytes, t.bytes - bytes };
}

bool gguf_begins_with_architecture(const struct gguf *g, struct source_text key)
{
    return key.bytes > g->architecture.bytes &&
           memcmp(key.data, g->architecture.data, g->architecture.bytes) == 0;
}

bool gguf_key_is(const struct gguf *g, struct source_text key, const char *name)
{
    if (name[0] != '.') {
        return source_text_is(key, name);
    }
    return gguf_begins_with_architecture(g, key) &&
           source_text_is(text_after(key, g->architecture.bytes), name);
}

/* Return the index of the key among n names, or n. */
static size_t find_key(const struct gguf *g, struct source_text key, const char *const *names,
                       size_t n)
{
    size_t i = 0;

    while (i < n && !gguf_key_is(g, key, names[i])) {
        i++;
    }
    return i;
}

size_t gguf_find_number(const struct gguf *g, struct source_text key)
{
    return find_key(g, key, numbers, N_NUMBERS);
}

size_t gguf_find_real(const struct gguf *g, struct source_text key)
{
    return find_key(g, key, reals, N_REALS);
}

bool gguf_is_idle(const struct gguf *g, struct source_text key)
{
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++) {
        if (gguf_key_is(g, key, idle[i])) {
            return true;
        }
    }
    return false;
}
