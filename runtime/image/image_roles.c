/* The tensors that a model has, their shapes, and their place in the table. */
#include "runtime/image/image.h"

/* A row for each role: its name, when it exists, and its shape. */
enum { LAYER = 1 << 0, MATRIX = 1 << 1, EXPERT = 1 << 2 };
enum extent_of {
    ONE,
    CONTEXT,
    DIM,
    EMBEDDED,
    EMBEDDING_COLS,
    OUTPUTS,
    OUTPUT_COLS,
    TARGET_DIM,
    HIDDEN,
    HEADS,
    HEAD_DIM,
    QUERIES,
    Q_INPUTS,
    Q_RANK,
    KV_RANK,
    LATENT_KEYS,
    UNROTATED,
    LATENT_VALUES,
    KEYS,
    VALUES,
    ATTENDED,
    Q_NORM_DIM,
    K_NORM_DIM,
    TAPS,
    INNER,
    INNER_HEADS,
    CHANNELS,
    SSM_INPUTS,
    SSM_NORM_DIM,
    EXPERTS,
    EXPERT_HIDDEN,
    PER_LAYER_DIM,
    TABLE_ROWS,
    TABLE_COLS,
    ALL_PER_LAYER
};

/* When a tensor exists: always; optionally; if a block has a norm before or after it; for some
 * kinds of blocks. */
enum when {
    ALWAYS,
    IF_MTP,
    IF_ASSISTANT,
    IF_PER_LAYER,
    PERHAPS,
    IF_MIXER_BEFORE,
    IF_MIXER_BEFORE_BIAS,
    IF_ATTENTION,
    IF_ATTENTION_PERHAPS,
    IF_OWN_KEYS,
    IF_OWN_VALUES,
    IF_OWN_KEYS_PERHAPS,
    IF_OWN_VALUES_PERHAPS,
    IF_Q_NORM,
    IF_Q_RANK,
    IF_LATENT,
    IF_K_NORM,
    IF_RECURRENT,
    IF_DELTA,
    IF_RECURRENT_PERHAPS,
    IF_STATEFUL,
    IF_MAMBA2,
    IF_SSM_NORM,
    IF_MIXER_AFTER,
    IF_FFN_BEFORE,
    IF_FFN_BEFORE_BIAS,
    IF_EXPERTS,
    IF_EXPERTS_PERHAPS,
    IF_SHARED_PERHAPS,
    IF_DENSE_GATED,
    IF_DENSE,
    IF_DENSE_PERHAPS,
    IF_EXPERTS_GATED,
    IF_EXPERTS_GATED_PERHAPS,
    IF_FFN_AFTER,
    IF_LAYER_NORM
};

static const struct role_rule {
    const char *name;
    uint32_t
        kind; /* LAYER: layers have this tensor; MATRIX: not a norm, bias or position; EXPERT: one
               * per expert */
    enum when when;
    enum extent_of rows, cols;
} role_rules[INGOT_N_ROLES] = {
    [INGOT_TOKEN_EMBEDDING] = { "token_embedding", MATRIX, ALWAYS, EMBEDDED, EMBEDDING_COLS },
    [INGOT_PER_LAYER_EMBEDDING] = { "per_layer_embedding", MATRIX, IF_PER_LAYER, TABLE_ROWS,
                                    TABLE_COLS },
    [INGOT_POSITION_EMBEDDING] = { "position_embedding", 0, PERHAPS, CONTEXT, DIM },
    [INGOT_PER_LAYER_PROJECTION] = { "per_layer_projection", MATRIX, IF_PER_LAYER, ALL_PER_LAYER,
                                     DIM },
    [INGOT_PER_LAYER_NORM] = { "per_layer_norm", 0, IF_PER_LAYER, ONE, PER_LAYER_DIM },
    [INGOT_ATTN_NORM] = { "attn_norm", LAYER, IF_MIXER_BEFORE, ONE, DIM },
    [INGOT_ATTN_NORM_BIAS] = { "attn_norm_bias", LAYER, IF_MIXER_BEFORE_BIAS, ONE, DIM },
    [INGOT_ATTN_Q_A] = { "attn_q_a", LAYER | MATRIX, IF_Q_RANK, Q_RANK, DIM },
    [INGOT_ATTN_Q_A_NORM] = { "attn_q_a_norm", LAYER, IF_Q_RANK, ONE, Q_RANK },
    [INGOT_ATTN_Q] = { "attn_q", LAYER | MATRIX, IF_ATTENTION, QUERIES, Q_INPUTS },
    [INGOT_ATTN_GATE] = { "attn_gate", LAYER | MATRIX, IF_ATTENTION_PERHAPS, ATTENDED, DIM },
    [INGOT_ATTN_K] = { "attn_k", LAYER | MATRIX, IF_OWN_KEYS, KEYS, DIM },
    [INGOT_ATTN_V] = { "attn_v", LAYER | MATRIX, IF_OWN_VALUES, VALUES, DIM },
    [INGOT_ATTN_Q_BIAS] = { "attn_q_bias", LAYER, IF_ATTENTION_PERHAPS, ONE, QUERIES },
    [INGOT_ATTN_K_BIAS] = { "attn_k_bias", LAYER, IF_OWN_KEYS_PERHAPS, ONE, KEYS },
    [INGOT_ATTN_V_BIAS] = { "attn_v_bias", LAYER, IF_OWN_VALUES_PERHAPS, ONE, VALUES },
    [INGOT_ATTN_Q_NORM] = { "attn_q_norm", LAYER, IF_Q_NORM, ONE, Q_NORM_DIM },
    [INGOT_ATTN_K_NORM] = { "attn_k_norm", LAYER, IF_K_NORM, ONE, K_NORM_DIM },
    [INGOT_ATTN_K_B] = { "attn_k_b", LAYER | MATRIX, IF_LATENT, LATENT_KEYS, UNROTATED },
    [INGOT_ATTN_V_B] = { "attn_v_b", LAYER | MATRIX, IF_LATENT, LATENT_VALUES, KV_RANK },
    [INGOT_ATTN_SINKS] = { "attn_sinks", LAYER, IF_ATTENTION_PERHAPS, ONE, HEADS },
    [INGOT_ATTN_SUB_NORM] = { "attn_sub_norm", LAYER, IF_ATTENTION_PERHAPS, ONE, ATTENDED },
    [INGOT_ATTN_OUT] = { "attn_out", LAYER | MATRIX, IF_ATTENTION, DIM, ATTENDED },
    [INGOT_ATTN_OUT_BIAS] = { "attn_out_bias", LAYER, IF_ATTENTION_PERHAPS, ONE, DIM },
    [INGOT_SSM_IN] = { "ssm_in", LAYER | MATRIX, IF_RECURRENT, SSM_INPUTS, DIM },
    [INGOT_SSM_GATE] = { "ssm_gate", LAYER | MATRIX, IF_DELTA, INNER, DIM },
    [INGOT_SSM_BETA] = { "ssm_beta", LAYER | MATRIX, IF_DELTA, INNER_HEADS, DIM },
    [INGOT_SSM_ALPHA] = { "ssm_alpha", LAYER | MATRIX, IF_DELTA, INNER_HEADS, DIM },
    [INGOT_SSM_CONV] = { "ssm_conv", LAYER, IF_RECURRENT, TAPS, CHANNELS },
    [INGOT_SSM_CONV_BIAS] = { "ssm_conv_bias", LAYER, IF_RECURRENT_PERHAPS, ONE, CHANNELS },
    [INGOT_SSM_A] = { "ssm_a", LAYER, IF_STATEFUL, ONE, INNER_HEADS },
    [INGOT_SSM_DT] = { "ssm_dt", LAYER, IF_STATEFUL, ONE, INNER_HEADS },
    [INGOT_SSM_D] = { "ssm_d", LAYER, IF_MAMBA2, ONE, INNER_HEADS },
    [INGOT_SSM_NORM] = { "ssm_norm", LAYER, IF_SSM_NORM, ONE, SSM_NORM_DIM },
    [INGOT_SSM_OUT] = { "ssm_out", LAYER | MATRIX, IF_RECURRENT, DIM, INNER },
    [INGOT_ATTN_POST_NORM] = { "attn_post_norm", LAYER, IF_MIXER_AFTER, ONE, DIM },
    [INGOT_FFN_NORM] = { "ffn_norm", LAYER, IF_FFN_BEFORE, ONE, DIM },
    [INGOT_FFN_NORM_BIAS] = { "ffn_norm_bias", LAYER, IF_FFN_BEFORE_BIAS, ONE, DIM },
    [INGOT_ROUTER] = { "router", LAYER, IF_EXPERTS, EXPERTS, DIM },
    [INGOT_ROUTER_BIAS] = { "router_bias", LAYER, IF_EXPERTS_PERHAPS, ONE, EXPERTS },
    [INGOT_ROUTER_CHOICE_BIAS] = { "router_choice_bias", LAYER, IF_EXPERTS_PERHAPS, ONE, EXPERTS },
    [INGOT_SHARED_SCALE] = { "shared_scale", LAYER, IF_SHARED_PERHAPS, ONE, DIM },
    [INGOT_FFN_GATE] = { "ffn_gate", LAYER | MATRIX, IF_DENSE_GATED, HIDDEN, DIM },
    [INGOT_FFN_UP] = { "ffn_up", LAYER | MATRIX, IF_DENSE, HIDDEN, DIM },
    [INGOT_FFN_UP_BIAS] = { "ffn_up_bias", LAYER, IF_DENSE_PERHAPS, ONE, HIDDEN },
    [INGOT_FFN_SUB_NORM] = { "ffn_sub_norm", LAYER, IF_DENSE_PERHAPS, ONE, HIDDEN },
    [INGOT_FFN_DOWN] = { "ffn_down", LAYER | MATRIX, IF_DENSE, DIM, HIDDEN },
    [INGOT_FFN_DOWN_BIAS] = { "ffn_down_bias", LAYER, IF_DENSE_PERHAPS, ONE, DIM },
    [INGOT_EXPERT_GATE] = { "expert_gate", LAYER | MATRIX | EXPERT, IF_EXPERTS_GATED, EXPERT_HIDDEN,
                            DIM },
    [INGOT_EXPERT_GATE_BIAS] = { "expert_gate_bias", LAYER | EXPERT, IF_EXPERTS_GATED_PERHAPS, ONE,
                                 EXPERT_HIDDEN },
    [INGOT_EXPERT_UP] = { "expert_up", LAYER | MATRIX | EXPERT, IF_EXPERTS, EXPERT_HIDDEN, DIM },
    [INGOT_EXPERT_UP_BIAS] = { "expert_up_bias", LAYER | EXPERT, IF_EXPERTS_PERHAPS, ONE,
                               EXPERT_HIDDEN },
    [INGOT_EXPERT_DOWN] = { "expert_down", LAYER | MATRIX | EXPERT, IF_EXPERTS, DIM,
                            EXPERT_HIDDEN },
    [INGOT_EXPERT_DOWN_BIAS] = { "expert_down_bias", LAYER | EXPERT, IF_EXPERTS_PERHAPS, ONE, DIM },
    [INGOT_FFN_POST_NORM] = { "ffn_post_norm", LAYER, IF_FFN_AFTER, ONE, DIM },
    [INGOT_PER_LAYER_GATE] = { "per_layer_gate", LAYER | MATRIX, IF_PER_LAYER, PER_LAYER_DIM, DIM },
    [INGOT_PER_LAYER_OUT] = { "per_layer_out", LAYER | MATRIX, IF_PER_LAYER, DIM, PER_LAYER_DIM },
    [INGOT_PER_LAYER_POST_NORM] = { "per_layer_post_norm", LAYER, IF_PER_LAYER, ONE, DIM },
    [INGOT_OUTPUT_NORM] = { "output_norm", 0, ALWAYS, ONE, DIM },
    [INGOT_OUTPUT_NORM_BIAS] = { "output_norm_bias", 0, IF_LAYER_NORM, ONE, DIM },
    [INGOT_OUTPUT] = { "output", MATRIX, ALWAYS, OUTPUTS, OUTPUT_COLS },
    [INGOT_MTP_TOKEN_NORM] = { "mtp_token_norm", 0, IF_MTP, ONE, DIM },
    [INGOT_MTP_HIDDEN_NORM] = { "mtp_hidden_norm", 0, IF_MTP, ONE, DIM },
    [INGOT_MTP_STATE] = { "mtp_state", MATRIX, IF_ASSISTANT, TARGET_DIM, DIM },
};

const char *image_role_name(unsigned role)
{
    return role < INGOT_N_ROLES ? role_rules[role].name : "unknown";
}

static bool has_mixer(const struct ingot_layer *l, unsigned kind)
{
    return l->mixer == kind || l->parallel == kind;
}

/* The bounds of the fields keep the products within 32 bits. */
static uint32_t channels(const struct ingot_layer *l)
{
    return 2 * l->n_groups * l->state_dim + l->inner_dim;
}

/* Rows of the first matrix of a recurrent mixer. */
static uint32_t ssm_inputs(const struct ingot_layer *l)
{
    if (has_mixer(l, INGOT_MIXER_SHORTCONV)) {
        return 3 * l->inner_dim;
    }
    if (has_mixer(l, INGOT_MIXER_MAMBA2)) {
        return l->inner_dim + channels(l) + l->inner_heads;
    }
    return channels(l);
}

static uint32_t ssm_norm_dim(const struct ingot_layer *l)
{
    if (has_mixer(l, INGOT_MIXER_DELTA) && l->inner_heads != 0) {
        return l->inner_dim / l->inner_heads;
    }
    return l->inner_dim;
}

/* Return how many heads a norm of queries or keys treats as one. */
static uint32_t normed_heads(const struct ingot_layer *l, uint32_t n_heads)
{
    return (l->features & INGOT_QK_NORM_WIDE) != 0 ? n_heads : 1;
}

static bool is_latent(const struct ingot_layer *l)
{
    return (l->features & INGOT_LATENT_KV) != 0;
}

/* Return how many numbers a head's query has before it is multiplied by ATTN_K_B. */
static uint32_t query_dim(const struct ingot_layer *l)
{
    return is_latent(l) ? l->query_dim : l->head_dim;
}

static uint32_t k_norm_dim(const struct ingot_layer *l)
{
    return is_latent(l) ? l->kv_rank : normed_heads(l, l->n_kv_heads) * l->head_dim;
}

static uint32_t layer_extent(const struct ingot_layer *l, enum extent_of what)
{
    switch (what) {
    case HIDDEN: return l->hidden;
    case HEADS: return l->n_heads;
    case HEAD_DIM: return l->head_dim;
    case QUERIES: return l->n_heads * query_dim(l);
    case Q_RANK: return l->q_rank;
    case KV_RANK: return l->kv_rank;
    case LATENT_KEYS: return l->n_heads * l->kv_rank;
    case UNROTATED: return l->query_dim + l->kv_rank - l->head_dim;
    case LATENT_VALUES: return l->n_heads * l->value_dim;
    case KEYS: return l->n_kv_heads * l->head_dim;
    case VALUES: return l->n_kv_heads * l->value_dim;
    case ATTENDED: return l->n_heads * l->value_dim;
    case Q_NORM_DIM: return normed_heads(l, l->n_heads) * l->head_dim;
    case K_NORM_DIM: return k_norm_dim(l);
    case TAPS: return l->conv_taps;
    case INNER: return l->inner_dim;
    case INNER_HEADS: return l->inner_heads;
    case CHANNELS: return channels(l);
    case SSM_INPUTS: return ssm_inputs(l);
    case SSM_NORM_DIM: return ssm_norm_dim(l);
    case EXPERTS: return l->n_experts;
    case EXPERT_HIDDEN: return l->expert_hidden;
    default: return 1;
    }
}

static uint32_t extent_of(const struct ingot_params *p, const struct ingot_layer *l,
                          enum extent_of what)
{
    switch (what) {
    case EMBEDDED: return p->mtp != 0 ? p->dim : p->vocab;
    case EMBEDDING_COLS: return p->mtp != 0 ? image_mtp_inputs(p) : p->dim;
    case OUTPUTS: return image_has_output(p) ? p->vocab : p->dim;
    case OUTPUT_COLS: return image_has_output(p) ? p->dim : 2 * p->dim;
    case TARGET_DIM: return p->target_dim;
    case CONTEXT: return p->context;
    case DIM: return p->dim;
    case Q_INPUTS: return l->q_rank != 0 ? l->q_rank : p->dim;
    case PER_LAYER_DIM: return p->per_layer_dim;
    case ALL_PER_LAYER: return p->n_layers * p->per_layer_dim;
    case TABLE_ROWS: return INGOT_TABLE_ROWS * p->vocab;
    case TABLE_COLS: return p->n_layers * p->per_layer_dim / INGOT_TABLE_ROWS;
    default: return layer_extent(l, what);
    }
}

void image_role_shape(const struct ingot_params *p, const struct ingot_layer *l,
                      enum ingot_role role, uint32_t *rows, uint32_t *cols)
{
    *rows = extent_of(p, l, role_rules[role].rows);
    *cols = extent_of(p, l, role_rules[role].cols);
}

static enum image_presence demanded_if(bool condition)
{
    return condition ? IMAGE_DEMANDED : IMAGE_ABSENT;
}

static enum image_presence perhaps_if(bool condition)
{
    return condition ? IMAGE_OPTIONAL : IMAGE_ABSENT;
}

/* The properties of a layer that decide which tensors it has. */
struct traits {
    bool before, after, biased; /* norms */
    bool mixes, attends, delta, mamba2, recurrent;
    bool own_keys, own_values, qk_norm, latent, q_rank;
    bool feeds, dense, experts, gated;
    bool per_layer;
};

static struct traits traits_of(const struct ingot_params *p, const struct ingot_layer *l)
{
    bool attends = has_mixer(l, INGOT_MIXER_ATTENTION);
    bool own_keys = attends && (l->features & INGOT_SHARED_KV) == 0;
    bool delta = has_mixer(l, INGOT_MIXER_DELTA), mamba2 = has_mixer(l, INGOT_MIXER_MAMBA2);

    return (struct traits){
        .before = (l->norms & INGOT_NORM_BEFORE) != 0,
        .after = (l->norms & INGOT_NORM_AFTER) != 0,
        .biased = p->norm == INGOT_NORM_LAYER,
        .mixes = l->mixer != INGOT_MIXER_NONE,
        .attends = attends,
        .delta = delta,
        .mamba2 = mamba2,
        .recurrent = delta || mamba2 || has_mixer(l, INGOT_MIXER_SHORTCONV),
        .own_keys = own_keys,
        .own_values = own_keys && (l->features & (INGOT_V_IS_K | INGOT_LATENT_KV)) == 0,
        .latent = attends && is_latent(l),
        .q_rank = l->q_rank != 0,
        .qk_norm = (l->features & INGOT_QK_NORM) != 0,
        .feeds = l->ffn != INGOT_FFN_NONE,
        .dense = l->ffn == INGOT_FFN_DENSE || (l->ffn == INGOT_FFN_EXPERTS && l->hidden != 0),
        .experts = l->ffn == INGOT_FFN_EXPERTS,
        .gated = (l->features & INGOT_GATED) != 0,
        .per_layer = p->per_layer_dim != 0,
    };
}

static enum image_presence mixer_presence(const struct traits *t, enum when when)
{
    switch (when) {
    case IF_MIXER_BEFORE: return demanded_if(t->mixes && t->before);
    case IF_MIXER_BEFORE_BIAS: return demanded_if(t->mixes && t->before && t->biased);
    case IF_MIXER_AFTER: return demanded_if(t->mixes && t->after);
    case IF_ATTENTION: return demanded_if(t->attends);
    case IF_ATTENTION_PERHAPS: return perhaps_if(t->attends);
    case IF_OWN_KEYS: return demanded_if(t->own_keys);
    case IF_OWN_KEYS_PERHAPS: return perhaps_if(t->own_keys);
    case IF_OWN_VALUES: return demanded_if(t->own_values);
    case IF_OWN_VALUES_PERHAPS: return perhaps_if(t->own_values);
    case IF_Q_NORM: return demanded_if(t->attends && t->qk_norm);
    case IF_K_NORM: return demanded_if(t->own_keys && (t->qk_norm || t->latent));
    case IF_LATENT: return demanded_if(t->latent);
    case IF_Q_RANK: return demanded_if(t->latent && t->q_rank);
    case IF_RECURRENT: return demanded_if(t->recurrent);
    case IF_RECURRENT_PERHAPS: return perhaps_if(t->recurrent);
    case IF_STATEFUL: return demanded_if(t->delta || t->mamba2);
    case IF_DELTA: return demanded_if(t->delta);
    case IF_MAMBA2: return demanded_if(t->mamba2);
    case IF_SSM_NORM: return t->delta ? IMAGE_DEMANDED : perhaps_if(t->mamba2);
    default: return IMAGE_ABSENT;
    }
}

static enum image_presence ffn_presence(const struct traits *t, enum when when)
{
    switch (when) {
    case IF_FFN_BEFORE: return demanded_if(t->feeds && t->before);
    case IF_FFN_BEFORE_BIAS: return demanded_if(t->feeds && t->before && t->biased);
    case IF_FFN_AFTER: return demanded_if(t->feeds && t->after);
    case IF_DENSE: return demanded_if(t->dense);
    case IF_DENSE_GATED: return demanded_if(t->dense && t->gated);
    case IF_DENSE_PERHAPS: return perhaps_if(t->dense);
    case IF_SHARED_PERHAPS: return perhaps_if(t->dense && t->experts);
    case IF_EXPERTS: return demanded_if(t->experts);
    case IF_EXPERTS_GATED: return demanded_if(t->experts && t->gated);
    case IF_EXPERTS_PERHAPS: return perhaps_if(t->experts);
    case IF_EXPERTS_GATED_PERHAPS: return perhaps_if(t->experts && t->gated);
    case IF_PER_LAYER: return demanded_if(t->per_layer);
    default: return IMAGE_ABSENT;
    }
}

/* A program's own kinds may have the tensors of any kind. */
static bool is_own(const struct ingot_layer *l, enum ingot_role role)
{
    return (l->mixer >= INGOT_MIXER_OWN && role >= INGOT_ATTN_Q_A && role <= INGOT_SSM_OUT) ||
           (l->ffn >= INGOT_FFN_OWN && role >= INGOT_ROUTER && role <= INGOT_EXPERT_DOWN_BIAS);
}

enum image_presence image_role_presence(const struct ingot_params *p, const struct ingot_layer *l,
                                        enum ingot_role role)
{
    static const struct ingot_layer none;
    struct traits t = traits_of(p, l != NULL ? l : &none);
    enum when when = role_rules[role].when;
    enum image_presence presence;

    switch (when) {
    case ALWAYS: return IMAGE_DEMANDED;
    case PERHAPS:
        return perhaps_if(p->target_dim == 0); /* an assistant has no positions of its own */
    case IF_LAYER_NORM: return demanded_if(t.biased);
    case IF_MTP: return demanded_if(!image_has_output(p));
    case IF_ASSISTANT: return demanded_if(p->target_dim != 0);
    default: break;
    }
    presence = mixer_presence(&t, when);
    if (presence == IMAGE_ABSENT) {
        presence = ffn_presence(&t, when);
    }
    if (presence == IMAGE_ABSENT && l != NULL && is_own(l, role)) {
        return IMAGE_OPTIONAL;
    }
    return presence;
}

bool image_role_is_layer(enum ingot_role role)
{
    return (role_rules[role].kind & LAYER) != 0;
}

bool image_role_is_expert(enum ingot_role role)
{
    return (role_rules[role].kind & EXPERT) != 0;
}

bool image_role_is_matrix(enum ingot_role role)
{
    return (role_rules[role].kind & MATRIX) != 0;
}
