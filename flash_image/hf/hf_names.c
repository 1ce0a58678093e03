/* The names of tensors in Hugging Face models. */
#include "flash_image/hf/hf_names.h"

#include <string.h>

static const struct hf_name_rule outside[] = {
    { "embed_tokens.weight", INGOT_TOKEN_EMBEDDING, 1, 0 },
    { "norm.weight", INGOT_OUTPUT_NORM, 1, HF_NORM },
    { "lm_head.weight", INGOT_OUTPUT, 1, 0 },
    { "wte.weight", INGOT_TOKEN_EMBEDDING, 1, 0 },
    { "wpe.weight", INGOT_POSITION_EMBEDDING, 1, 0 },
    { "ln_f.weight", INGOT_OUTPUT_NORM, 1, 0 },
    { "ln_f.bias", INGOT_OUTPUT_NORM_BIAS, 1, 0 },
    { "norm.bias", INGOT_OUTPUT_NORM_BIAS, 1, 0 },
    { "embedding_norm.weight", INGOT_OUTPUT_NORM, 1, 0 },
    { "embeddings.weight", INGOT_TOKEN_EMBEDDING, 1, 0 },
    { "norm_f.weight", INGOT_OUTPUT_NORM, 1, 0 },
    { "final_layernorm.weight", INGOT_OUTPUT_NORM, 1, 0 },
    { "embed_tokens_per_layer.weight", INGOT_PER_LAYER_EMBEDDING, 1, 0 },
    { "per_layer_model_projection.weight", INGOT_PER_LAYER_PROJECTION, 1, 0 },
    { "per_layer_projection_norm.weight", INGOT_PER_LAYER_NORM, 1, 0 },
};

/* Names of a layer's blocks: `theirs` in some families, `ours` in the rules below. */
static const struct {
    const char *theirs, *ours;
} blocks[] = {
    { "mamba.", "mixer." },
    { "linear_attn.", "mixer." },
    { "conv.", "mixer." },
    { "feed_forward.", "mlp." },
    { "block_sparse_moe.", "mlp." },
    { "mlp.shared_expert.", "mlp." }, /* the dense part beside experts */
    { "mlp.shared_experts.", "mlp." },
};

static const struct hf_name_rule inside[] = {
    { "input_layernorm.weight", INGOT_ATTN_NORM, 1, HF_NORM },
    { "self_attn.q_proj.weight", INGOT_ATTN_Q, 1, 0 },
    { "self_attn.k_proj.weight", INGOT_ATTN_K, 1, 0 },
    { "self_attn.v_proj.weight", INGOT_ATTN_V, 1, 0 },
    { "self_attn.qkv_proj.weight", INGOT_ATTN_Q, 3, 0 },
    { "self_attn.q_a_proj.weight", INGOT_ATTN_Q_A, 1, 0 },
    { "self_attn.q_a_layernorm.weight", INGOT_ATTN_Q_A_NORM, 1, HF_NORM },
    { "self_attn.q_b_proj.weight", INGOT_ATTN_Q, 1, 0 },
    { "self_attn.kv_a_proj_with_mqa.weight", INGOT_ATTN_K, 1, 0 },
    { "self_attn.kv_a_layernorm.weight", INGOT_ATTN_K_NORM, 1, HF_NORM },
    { "self_attn.kv_b_proj.weight", INGOT_ATTN_K_B, 1, HF_LATENT },
    { "self_attn.q_proj.bias", INGOT_ATTN_Q_BIAS, 1, 0 },
    { "self_attn.k_proj.bias", INGOT_ATTN_K_BIAS, 1, 0 },
    { "self_attn.v_proj.bias", INGOT_ATTN_V_BIAS, 1, 0 },
    { "self_attn.q_norm.weight", INGOT_ATTN_Q_NORM, 1, HF_NORM },
    { "self_attn.k_norm.weight", INGOT_ATTN_K_NORM, 1, HF_NORM },
    { "self_attn.o_proj.weight", INGOT_ATTN_OUT, 1, 0 },
    { "self_attn.o_proj.bias", INGOT_ATTN_OUT_BIAS, 1, 0 },
    { "post_attention_layernorm.weight", INGOT_FFN_NORM, 1, HF_NORM }, /* see role_of() */
    { "pre_feedforward_layernorm.weight", INGOT_FFN_NORM, 1, HF_NORM },
    { "post_feedforward_layernorm.weight", INGOT_FFN_POST_NORM, 1, HF_NORM },
    { "mlp.gate_proj.weight", INGOT_FFN_GATE, 1, 0 },
    { "mlp.up_proj.weight", INGOT_FFN_UP, 1, 0 },
    { "mlp.gate_up_proj.weight", INGOT_FFN_GATE, 2, 0 },
    { "mlp.down_proj.weight", INGOT_FFN_DOWN, 1, 0 },
    { "ln_1.weight", INGOT_ATTN_NORM, 1, 0 },
    { "ln_1.bias", INGOT_ATTN_NORM_BIAS, 1, 0 },
    { "attn.c_attn.weight", INGOT_ATTN_Q, 3, HF_TRANSPOSED },
    { "attn.c_attn.bias", INGOT_ATTN_Q_BIAS, 3, 0 },
    { "attn.c_proj.weight", INGOT_ATTN_OUT, 1, HF_TRANSPOSED },
    { "attn.c_proj.bias", INGOT_ATTN_OUT_BIAS, 1, 0 },
    { "ln_2.weight", INGOT_FFN_NORM, 1, 0 },
    { "ln_2.bias", INGOT_FFN_NORM_BIAS, 1, 0 },
    { "mlp.c_fc.weight", INGOT_FFN_UP, 1, HF_TRANSPOSED },
    { "mlp.c_fc.bias", INGOT_FFN_UP_BIAS, 1, 0 },
    { "mlp.c_proj.weight", INGOT_FFN_DOWN, 1, HF_TRANSPOSED },
    { "mlp.c_proj.bias", INGOT_FFN_DOWN_BIAS, 1, 0 },
    /* Layer norms; other names for the norms of heads; norms before the last matrix. */
    { "input_layernorm.bias", INGOT_ATTN_NORM_BIAS, 1, 0 },
    { "post_attention_layernorm.bias", INGOT_FFN_NORM_BIAS, 1, 0 },
    { "operator_norm.weight", INGOT_ATTN_NORM, 1, 0 },
    { "ffn_norm.weight", INGOT_FFN_NORM, 1, 0 },
    { "norm.weight", INGOT_ATTN_NORM, 1, 0 }, /* for a layer of one block, see role_of() */
    { "self_attn.query_layernorm.weight", INGOT_ATTN_Q_NORM, 1, 0 },
    { "self_attn.key_layernorm.weight", INGOT_ATTN_K_NORM, 1, 0 },
    { "self_attn.q_layernorm.weight", INGOT_ATTN_Q_NORM, 1, 0 },
    { "self_attn.k_layernorm.weight", INGOT_ATTN_K_NORM, 1, 0 },
    { "self_attn.out_proj.weight", INGOT_ATTN_OUT, 1, 0 },
    { "self_attn.attn_sub_norm.weight", INGOT_ATTN_SUB_NORM, 1, 0 },
    { "self_attn.sinks", INGOT_ATTN_SINKS, 1, 0 },
    { "mlp.ffn_sub_norm.weight", INGOT_FFN_SUB_NORM, 1, 0 },
    { "self_attn.inner_attn_ln.weight", INGOT_ATTN_SUB_NORM, 1, 0 },
    { "mlp.ffn_layernorm.weight", INGOT_FFN_SUB_NORM, 1, 0 },
    { "mixer.q_proj.weight", INGOT_ATTN_Q, 1, 0 },
    { "mixer.k_proj.weight", INGOT_ATTN_K, 1, 0 },
    { "mixer.v_proj.weight", INGOT_ATTN_V, 1, 0 },
    { "mixer.o_proj.weight", INGOT_ATTN_OUT, 1, 0 },
    { "mixer.up_proj.weight", INGOT_FFN_UP, 1, 0 },
    { "mixer.down_proj.weight", INGOT_FFN_DOWN, 1, 0 },
    { "mlp.w1.weight", INGOT_FFN_GATE, 1, 0 },
    { "mlp.w3.weight", INGOT_FFN_UP, 1, 0 },
    { "mlp.w2.weight", INGOT_FFN_DOWN, 1, 0 },
    { "pre_ff_layernorm.weight", INGOT_FFN_NORM, 1, 0 },
    { "shared_mlp.input_linear.weight", INGOT_FFN_GATE, 2, 0 },
    { "shared_mlp.output_linear.weight", INGOT_FFN_DOWN, 1, 0 },
    { "per_layer_input_gate.weight", INGOT_PER_LAYER_GATE, 1, 0 },
    { "per_layer_projection.weight", INGOT_PER_LAYER_OUT, 1, 0 },
    { "post_per_layer_input_norm.weight", INGOT_PER_LAYER_POST_NORM, 1, 0 },
    { "layer_scalar", INGOT_PER_LAYER_GATE, 1, HF_OUTPUT_SCALE },
    /* Recurrent mixers. */
    { "mixer.in_proj_qkv.weight", INGOT_SSM_IN, 1, 0 },
    { "mixer.in_proj_z.weight", INGOT_SSM_GATE, 1, 0 },
    { "mixer.in_proj_b.weight", INGOT_SSM_BETA, 1, 0 },
    { "mixer.in_proj_a.weight", INGOT_SSM_ALPHA, 1, 0 },
    { "mixer.conv.weight", INGOT_SSM_CONV, 1, HF_CONVOLUTION },
    { "mixer.in_proj.weight", INGOT_SSM_IN, 1, 0 },
    { "mixer.conv1d.weight", INGOT_SSM_CONV, 1, HF_CONVOLUTION },
    { "mixer.conv1d.bias", INGOT_SSM_CONV_BIAS, 1, 0 },
    { "mixer.A_log", INGOT_SSM_A, 1, HF_MINUS_EXP },
    { "mixer.D", INGOT_SSM_D, 1, 0 },
    { "mixer.dt_bias", INGOT_SSM_DT, 1, 0 },
    { "mixer.norm.weight", INGOT_SSM_NORM, 1, 0 },
    { "mixer.out_proj.weight", INGOT_SSM_OUT, 1, 0 },
    /* Experts are in one tensor, or each is in a tensor of its own, with its number for "#". */
    { "mlp.gate.weight", INGOT_ROUTER, 1, 0 },
    { "mlp.gate.e_score_correction_bias", INGOT_ROUTER_CHOICE_BIAS, 1, 0 },
    { "mlp.router.weight", INGOT_ROUTER, 1, 0 },
    { "mlp.router.bias", INGOT_ROUTER_BIAS, 1, 0 },
    { "mlp.expert_bias", INGOT_ROUTER_CHOICE_BIAS, 1, 0 },
    { "mlp.router.layer.weight", INGOT_ROUTER, 1, 0 },
    { "mlp.input_linear.weight", INGOT_EXPERT_GATE, 2, HF_STACK },
    { "mlp.output_linear.weight", INGOT_EXPERT_DOWN, 1, HF_STACK },
    { "mlp.experts.gate_up_proj", INGOT_EXPERT_GATE, 2, HF_STACK },
    { "mlp.experts.down_proj", INGOT_EXPERT_DOWN, 1, HF_STACK },
    { "mlp.experts.gate_up_proj_blocks", INGOT_EXPERT_GATE, 2, HF_BLOCKS },
    { "mlp.experts.gate_up_proj_scales", INGOT_EXPERT_GATE, 2, HF_BLOCK_SCALES },
    { "mlp.experts.down_proj_blocks", INGOT_EXPERT_DOWN, 1, HF_BLOCKS },
    { "mlp.experts.down_proj_scales", INGOT_EXPERT_DOWN, 1, HF_BLOCK_SCALES },
    { "mlp.experts.gate_up_proj_bias", INGOT_EXPERT_GATE_BIAS, 2, HF_STACK },
    { "mlp.experts.down_proj_bias", INGOT_EXPERT_DOWN_BIAS, 1, HF_STACK },
    { "mlp.experts.#.gate_proj.weight", INGOT_EXPERT_GATE, 1, HF_EACH },
    { "mlp.experts.#.up_proj.weight", INGOT_EXPERT_UP, 1, HF_EACH },
    { "mlp.experts.#.down_proj.weight", INGOT_EXPERT_DOWN, 1, HF_EACH },
    { "mlp.experts.#.w1.weight", INGOT_EXPERT_GATE, 1, HF_EACH },
    { "mlp.experts.#.w3.weight", INGOT_EXPERT_UP, 1, HF_EACH },
    { "mlp.experts.#.w2.weight", INGOT_EXPERT_DOWN, 1, HF_EACH },
    { "mlp.shared_expert_gate.weight", INGOT_SHARED_SCALE, 1, HF_ONE_ROW },
};

/* Constants in old files: frequencies of rotation, and GPT-2's triangular masks. */
static const char *const needless[] = {
    "self_attn.rotary_emb.inv_freq",
    "rotary_emb.inv_freq",
    "attn.bias",
    "attn.masked_bias",
};

static const char *skip(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);

    if (strncmp(text, prefix, n) != 0) {
        return text;
    }
    return text + n;
}

/* Split "layers.12.mlp.up_proj.weight" into 12 and the rest; false: the name is not of a layer. */
static bool split_layer(const char *name, unsigned *layer, const char **rest)
{
    const char *digits = skip(name, "layers.");
    const char *at;
    unsigned n = 0;

    if (digits == name) {
        digits = skip(name, "h.");
    }
    at = digits;
    for (; *at >= '0' && *at <= '9' && n < INGOT_MAX_LAYERS; at++) {
        n = n * 10 + (unsigned)(*at - '0');
    }
    if (digits == name || at == digits || *at != '.' || n >= INGOT_MAX_LAYERS) {
        return false;
    }
    *layer = n;
    *rest = at + 1;
    return true;
}

/* True if the name matches the rule's name, in which "#" stands for a number; the number goes to
 * *number. */
static bool is_named(const char *name, const char *rule, uint32_t *number)
{
    uint32_t n = 0;

    while (*rule != '#') {
        if (*name != *rule++) {
            return false;
        }
        if (*name++ == '\0') {
            return true;
        }
    }
    if (*name < '0' || *name > '9') {
        return false;
    }
    for (; *name >= '0' && *name <= '9' && n < INGOT_MAX_EXPERTS; name++) {
        n = n * 10 + (uint32_t)(*name - '0');
    }
    *number = n;
    return strcmp(name, rule + 1) == 0;
}

/* Remove a block's name from the front of *name; returns the rules' name for the block, or "". */
static const char *split_block(const char **name)
{
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        const char *rest = skip(*name, blocks[i].theirs);

        if (rest != *name) {
            *name = rest;
            return blocks[i].ours;
        }
    }
    return "";
}

/* True if a name in a block matches the rule's name. */
static bool is_block_rule(const char *block, const char *name, const char *rule, uint32_t *number)
{
    return strncmp(rule, block, strlen(block)) == 0 && is_named(name, skip(rule, block), number);
}

const struct hf_name_rule *hf_find_rule(const char *name, unsigned *layer, uint32_t *expert)
{
    const struct hf_name_rule *rules = outside;
    size_t n = sizeof outside / sizeof outside[0];
    const char *block = "";

    *layer = INGOT_NO_LAYER;
    *expert = 0;
    if (split_layer(name, layer, &name)) {
        rules = inside;
        n = sizeof inside / sizeof inside[0];
        block = split_block(&name);
    }
    for (size_t i = 0; i < n; i++) {
        if (is_block_rule(block, name, rules[i].name, expert)) {
            return &rules[i];
        }
    }
    return NULL;
}

bool hf_is_needless(const char *name)
{
    unsigned layer;

    split_layer(name, &layer, &name);
    for (size_t i = 0; i < sizeof needless / sizeof needless[0]; i++) {
        if (strcmp(name, needless[i]) == 0) {
            return true;
        }
    }
    return false;
}
