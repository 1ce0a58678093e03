/* The names of a GGUF's tensors. */
#include "flash_image/gguf/gguf_private.h"

/* Split "blk.12.attn_q.weight" into 12 and the rest. False if the name has another form. */
static bool split_layer(struct source_text name, unsigned *layer, struct source_text *rest)
{
    size_t at = 4;
    unsigned n = 0;

    if (name.bytes < 6 || memcmp(name.data, "blk.", 4) != 0) {
        return false;
    }
    for (; at < name.bytes && name.data[at] >= '0' && name.data[at] <= '9' && n < 1000; at++) {
        n = n * 10 + (unsigned)(name.data[at] - '0');
    }
    if (at == 4 || at >= name.bytes || name.data[at] != '.' || n >= INGOT_MAX_LAYERS) {
        return false;
    }
    *layer = n;
    *rest = (struct source_text){ name.data + at + 1, name.bytes - at - 1 };
    return true;
}

static const struct name_rule {
    const char *name;
    enum ingot_role role;
} outside[] = {
    { "token_embd.weight", INGOT_TOKEN_EMBEDDING },
    { "position_embd.weight", INGOT_POSITION_EMBEDDING },
    { "per_layer_token_embd.weight", INGOT_PER_LAYER_EMBEDDING },
    { "per_layer_model_proj.weight", INGOT_PER_LAYER_PROJECTION },
    { "per_layer_proj_norm.weight", INGOT_PER_LAYER_NORM },
    { "output_norm.weight", INGOT_OUTPUT_NORM },
    { "output_norm.bias", INGOT_OUTPUT_NORM_BIAS },
    { "output.weight", INGOT_OUTPUT },
}, inside[] = {
    { "attn_norm.weight", INGOT_ATTN_NORM },
    { "attn_norm.bias", INGOT_ATTN_NORM_BIAS },
    { "attn_q.weight", INGOT_ATTN_Q },
    { "attn_q.bias", INGOT_ATTN_Q_BIAS },
    { "attn_k.weight", INGOT_ATTN_K },
    { "attn_k.bias", INGOT_ATTN_K_BIAS },
    { "attn_v.weight", INGOT_ATTN_V },
    { "attn_v.bias", INGOT_ATTN_V_BIAS },
    { "attn_qkv.weight", INGOT_ATTN_Q },
    { "attn_qkv.bias", INGOT_ATTN_Q_BIAS },
    { "attn_q_norm.weight", INGOT_ATTN_Q_NORM },
    { "attn_k_norm.weight", INGOT_ATTN_K_NORM },
    { "attn_sinks.weight", INGOT_ATTN_SINKS },
    { "attn_sub_norm.weight", INGOT_ATTN_SUB_NORM },
    { "attn_output.weight", INGOT_ATTN_OUT },
    { "attn_output.bias", INGOT_ATTN_OUT_BIAS },
    { "post_attention_norm.weight", INGOT_ATTN_POST_NORM },
    { "ssm_in.weight", INGOT_SSM_IN },
    { "shortconv.in_proj.weight", INGOT_SSM_IN },
    { "attn_gate.weight", INGOT_SSM_GATE },
    { "ssm_beta.weight", INGOT_SSM_BETA },
    { "ssm_alpha.weight", INGOT_SSM_ALPHA },
    { "ssm_conv1d.weight", INGOT_SSM_CONV },
    { "shortconv.conv.weight", INGOT_SSM_CONV },
    { "ssm_conv1d.bias", INGOT_SSM_CONV_BIAS },
    { "ssm_a", INGOT_SSM_A },
    { "ssm_dt.bias", INGOT_SSM_DT },
    { "ssm_d", INGOT_SSM_D },
    { "ssm_norm.weight", INGOT_SSM_NORM },
    { "ssm_out.weight", INGOT_SSM_OUT },
    { "shortconv.out_proj.weight", INGOT_SSM_OUT },
    { "ffn_norm.weight", INGOT_FFN_NORM },
    { "ffn_norm", INGOT_FFN_NORM }, /* in Falcon-H1, where llama.cpp knows no other name */
    { "ffn_norm.bias", INGOT_FFN_NORM_BIAS },
    { "ffn_gate.weight", INGOT_FFN_GATE },
    { "ffn_up.weight", INGOT_FFN_UP },
    { "ffn_up.bias", INGOT_FFN_UP_BIAS },
    { "ffn_sub_norm.weight", INGOT_FFN_SUB_NORM },
    { "ffn_down.weight", INGOT_FFN_DOWN },
    { "ffn_down.bias", INGOT_FFN_DOWN_BIAS },
    { "ffn_gate_inp.weight", INGOT_ROUTER },
    { "ffn_gate_inp.bias", INGOT_ROUTER_BIAS },
    { "exp_probs_b.bias", INGOT_ROUTER_CHOICE_BIAS },
    { "ffn_gate_inp_shexp.weight", INGOT_SHARED_SCALE },
    { "ffn_gate_shexp.weight", INGOT_FFN_GATE },
    { "ffn_up_shexp.weight", INGOT_FFN_UP },
    { "ffn_down_shexp.weight", INGOT_FFN_DOWN },
    { "ffn_gate_exps.weight", INGOT_EXPERT_GATE },
    { "ffn_gate_exps.bias", INGOT_EXPERT_GATE_BIAS },
    { "ffn_up_exps.weight", INGOT_EXPERT_UP },
    { "ffn_up_exps.bias", INGOT_EXPERT_UP_BIAS },
    { "ffn_down_exps.weight", INGOT_EXPERT_DOWN },
    { "ffn_down_exps.bias", INGOT_EXPERT_DOWN_BIAS },
    { "ffn_gate_up_exps.weight", INGOT_EXPERT_GATE },
    { "ffn_gate_up_exps.bias", INGOT_EXPERT_GATE_BIAS },
    { "post_ffw_norm.weight", INGOT_FFN_POST_NORM },
    { "inp_gate.weight", INGOT_PER_LAYER_GATE },
    { "proj.weight", INGOT_PER_LAYER_OUT },
    { "post_norm.weight", INGOT_PER_LAYER_POST_NORM },
};

/* Names of an MTP head: those outside blocks, then those that only its block has. */
static const struct name_rule mtp_outside[] = {
    { "token_embd.weight", INGOT_TOKEN_EMBEDDING },
    { "output.weight", INGOT_OUTPUT },
    { "output_norm.weight", INGOT_OUTPUT_NORM },
}, mtp_inside[] = {
    { "nextn.eh_proj.weight", INGOT_TOKEN_EMBEDDING },
    { "nextn.enorm.weight", INGOT_MTP_TOKEN_NORM },
    { "nextn.hnorm.weight", INGOT_MTP_HIDDEN_NORM },
    { "nextn.shared_head_norm.weight", INGOT_OUTPUT_NORM },
};

/* Names outside the blocks of an assistant, which uses its embedding only as output. */
static const struct name_rule assistant[] = {
    { "token_embd.weight", INGOT_OUTPUT },
    { "output_norm.weight", INGOT_OUTPUT_NORM },
    { "nextn.pre_projection.weight", INGOT_TOKEN_EMBEDDING },
    { "nextn.post_projection.weight", INGOT_MTP_STATE },
};

/* Only for latent keys: other families have no such names. */
static const struct name_rule latent[] = {
    { "attn_q_a.weight", INGOT_ATTN_Q_A },
    { "attn_q_a_norm.weight", INGOT_ATTN_Q_A_NORM },
    { "attn_q_b.weight", INGOT_ATTN_Q },
    { "attn_kv_a_mqa.weight", INGOT_ATTN_K },
    { "attn_kv_a_norm.weight", INGOT_ATTN_K_NORM },
    { "attn_k_b.weight", INGOT_ATTN_K_B },
    { "attn_v_b.weight", INGOT_ATTN_V_B },
    { "attn_kv_b.weight", INGOT_ATTN_K_B },
};

/* Return the role of a name, or INGOT_N_ROLES if none of the n rules has the name. */
static enum ingot_role find_role(const struct name_rule *rules, size_t n, struct source_text name)
{
    for (size_t i = 0; i < n; i++) {
        if (source_text_is(name, rules[i].name)) {
            return rules[i].role;
        }
    }
    return INGOT_N_ROLES;
}

/* True if the slot has keys or values of a layer that uses another layer's keys and values. */
static bool is_left_over(const struct gguf *g, const struct gguf_slot *slot)
{
    return slot->layer < g->s->params.n_layers &&
           g->s->params.layers[slot->layer].kv_layer != slot->layer &&
           (slot->role == INGOT_ATTN_K || slot->role == INGOT_ATTN_V ||
            slot->role == INGOT_ATTN_K_NORM);
}

/* Return the role of a norm: two names mean different norms in different models or layers. */
static enum ingot_role norm_of(const struct gguf *g, const struct gguf_slot *slot)
{
    if (slot->role == INGOT_ATTN_POST_NORM && family_has(g->family, FAMILY_LATE_FFN_NORM)) {
        return INGOT_FFN_NORM;
    }
    if (slot->role == INGOT_ATTN_NORM &&
        g->s->params.layers[slot->layer].mixer == INGOT_MIXER_NONE) {
        return INGOT_FFN_NORM; /* a layer of one block has one norm */
    }
    return slot->role;
}

/* attn_qkv holds q, k and v of attention, or the one matrix of a gated delta net. */
static void find_qkv(const struct gguf *g, struct gguf_slot *slot)
{
    slot->fusion = GGUF_QKV;
    if (slot->role == INGOT_ATTN_Q && g->s->params.layers[slot->layer].mixer == INGOT_MIXER_DELTA) {
        slot->role = INGOT_SSM_IN;
        slot->fusion = GGUF_ALONE;
    }
}

static bool begins_with(struct source_text t, const char *text)
{
    return t.bytes >= strlen(text) && memcmp(t.data, text, strlen(text)) == 0;
}

/* Find how the tensor stores its role. */
static void find_fusion(const struct gguf *g, struct source_text rest, struct gguf_slot *slot)
{
    slot->role = norm_of(g, slot);
    if (begins_with(rest, "attn_qkv.")) {
        find_qkv(g, slot);
    } else if (slot->role == INGOT_ATTN_K_B || slot->role == INGOT_ATTN_V_B) {
        slot->fusion = begins_with(rest, "attn_kv_b.") ? GGUF_LATENT : GGUF_HEADS;
    } else if (begins_with(rest, "ffn_gate_up_exps.")) {
        slot->fusion = GGUF_EXPERTS_FUSED;
    } else if (slot->role >= INGOT_EXPERT_GATE && slot->role <= INGOT_EXPERT_DOWN_BIAS) {
        slot->fusion = GGUF_EXPERTS;
    } else if (slot->role == INGOT_ATTN_Q && family_has(g->family, FAMILY_GATED_QUERY)) {
        slot->fusion = GGUF_QUERY_GATE;
    } else if (slot->role == INGOT_FFN_UP && family_has(g->family, FAMILY_FUSED_GATE_UP)) {
        slot->role = INGOT_FFN_GATE;
        slot->fusion = GGUF_GATE_UP;
    } else if (is_left_over(g, slot)) {
        slot->fusion = GGUF_IGNORED;
    }
}

/* Find the slot of a tensor if only the MTP head is read. A head uses the model's embedding and
 * output, and the model's last norm if the head has none. */
static bool find_mtp_slot(const struct gguf *g, struct source_text name, struct gguf_slot *slot)
{
    struct source_text rest;

    slot->role = find_role(mtp_outside, sizeof mtp_outside / sizeof mtp_outside[0], name);
    slot->fusion = slot->role == INGOT_OUTPUT_NORM ? GGUF_UNLESS : GGUF_IGNORED;
    if (slot->role != INGOT_N_ROLES) {
        return true;
    }
    if (!split_layer(name, &slot->layer, &rest) || slot->layer != g->first_block) {
        return true;
    }
    slot->role = find_role(mtp_inside, sizeof mtp_inside / sizeof mtp_inside[0], rest);
    slot->fusion = slot->role == INGOT_OUTPUT_NORM ? GGUF_INSTEAD : GGUF_ALONE;
    if (slot->role != INGOT_N_ROLES) {
        slot->layer = INGOT_NO_LAYER;
        return true;
    }
    slot->layer = 0;
    slot->role = find_role(inside, sizeof inside / sizeof inside[0], rest);
    if (slot->role == INGOT_N_ROLES) {
        return false;
    }
    find_fusion(g, rest, slot);
    return true;
}

static enum ingot_role find_outside(const struct gguf *g, struct source_text name)
{
    if (family_has(g->family, FAMILY_ASSISTANT)) {
        return find_role(assistant, sizeof assistant / sizeof assistant[0], name);
    }
    return find_role(outside, sizeof outside / sizeof outside[0], name);
}

bool gguf_find_slot(const struct gguf *g, struct source_text name, struct gguf_slot *slot)
{
    struct source_text rest;

    *slot = (struct gguf_slot){ INGOT_N_ROLES, INGOT_NO_LAYER, GGUF_ALONE };
    if (g->s->wants_mtp) {
        return find_mtp_slot(g, name, slot);
    }
    slot->role = find_outside(g, name);
    if (slot->role == INGOT_N_ROLES && g->family->mixer == INGOT_MIXER_SHORTCONV &&
        source_text_is(name, "token_embd_norm.weight")) {
        slot->role = INGOT_OUTPUT_NORM; /* not a norm of the embedding */
    }
    if (slot->role != INGOT_N_ROLES) {
        return true;
    }
    if (!split_layer(name, &slot->layer, &rest)) {
        return false;
    }
    if (slot->layer >= g->s->params.n_layers && slot->layer < g->n_blocks) {
        slot->fusion = GGUF_IGNORED; /* the block guesses further tokens */
        return true;
    }
    if (source_text_is(rest, "layer_output_scale.weight")) {
        slot->fusion = GGUF_OUTPUT_SCALE;
        return true;
    }
    slot->role = find_role(inside, sizeof inside / sizeof inside[0], rest);
    if (slot->role == INGOT_N_ROLES && family_has(g->family, FAMILY_LATENT)) {
        slot->role = find_role(latent, sizeof latent / sizeof latent[0], rest);
    }
    if (slot->role == INGOT_N_ROLES) {
        return false;
    }
    find_fusion(g, rest, slot);
    return true;
}
