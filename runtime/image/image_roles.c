/* Which tensors a model has, in which shape, and where in the table. */
#include "runtime/image/image.h"

/* One row a role: its name, when it is there, and its shape. */
enum { LAYER = 1 << 0, MATRIX = 1 << 1 };
enum extent_of { VOCAB, DIM, HIDDEN, QUERIES, KEYS, HEAD_DIM, CONTEXT, ONE };

static const struct role_rule {
    const char *name;
    uint32_t kind;    /* LAYER: every layer has one; MATRIX: not a norm, bias or position */
    uint32_t feature; /* 0: always there */
    enum extent_of rows, cols;
} role_rules[INGOT_N_ROLES] = {
    [INGOT_TOKEN_EMBEDDING] = { "token_embedding", MATRIX, 0, VOCAB, DIM },
    [INGOT_POSITION_EMBEDDING] = { "position_embedding", 0, INGOT_POSITIONS, CONTEXT, DIM },
    [INGOT_ATTN_NORM] = { "attn_norm", LAYER, 0, ONE, DIM },
    [INGOT_ATTN_NORM_BIAS] = { "attn_norm_bias", LAYER, INGOT_LAYER_NORM, ONE, DIM },
    [INGOT_ATTN_Q] = { "attn_q", LAYER | MATRIX, 0, QUERIES, DIM },
    [INGOT_ATTN_K] = { "attn_k", LAYER | MATRIX, 0, KEYS, DIM },
    [INGOT_ATTN_V] = { "attn_v", LAYER | MATRIX, 0, KEYS, DIM },
    [INGOT_ATTN_Q_BIAS] = { "attn_q_bias", LAYER, INGOT_QKV_BIAS, ONE, QUERIES },
    [INGOT_ATTN_K_BIAS] = { "attn_k_bias", LAYER, INGOT_QKV_BIAS, ONE, KEYS },
    [INGOT_ATTN_V_BIAS] = { "attn_v_bias", LAYER, INGOT_QKV_BIAS, ONE, KEYS },
    [INGOT_ATTN_Q_NORM] = { "attn_q_norm", LAYER, INGOT_QK_NORM, ONE, HEAD_DIM },
    [INGOT_ATTN_K_NORM] = { "attn_k_norm", LAYER, INGOT_QK_NORM, ONE, HEAD_DIM },
    [INGOT_ATTN_OUT] = { "attn_out", LAYER | MATRIX, 0, DIM, QUERIES },
    [INGOT_ATTN_OUT_BIAS] = { "attn_out_bias", LAYER, INGOT_OUT_BIAS, ONE, DIM },
    [INGOT_ATTN_POST_NORM] = { "attn_post_norm", LAYER, INGOT_POST_NORMS, ONE, DIM },
    [INGOT_FFN_NORM] = { "ffn_norm", LAYER, 0, ONE, DIM },
    [INGOT_FFN_NORM_BIAS] = { "ffn_norm_bias", LAYER, INGOT_LAYER_NORM, ONE, DIM },
    [INGOT_FFN_GATE] = { "ffn_gate", LAYER | MATRIX, 0, HIDDEN, DIM },
    [INGOT_FFN_UP] = { "ffn_up", LAYER | MATRIX, 0, HIDDEN, DIM },
    [INGOT_FFN_UP_BIAS] = { "ffn_up_bias", LAYER, INGOT_FFN_BIAS, ONE, HIDDEN },
    [INGOT_FFN_DOWN] = { "ffn_down", LAYER | MATRIX, 0, DIM, HIDDEN },
    [INGOT_FFN_DOWN_BIAS] = { "ffn_down_bias", LAYER, INGOT_FFN_BIAS, ONE, DIM },
    [INGOT_FFN_POST_NORM] = { "ffn_post_norm", LAYER, INGOT_POST_NORMS, ONE, DIM },
    [INGOT_OUTPUT_NORM] = { "output_norm", 0, 0, ONE, DIM },
    [INGOT_OUTPUT_NORM_BIAS] = { "output_norm_bias", 0, INGOT_LAYER_NORM, ONE, DIM },
    [INGOT_OUTPUT] = { "output", MATRIX, 0, VOCAB, DIM },
};

const char *image_role_name(unsigned role)
{
    return role < INGOT_N_ROLES ? role_rules[role].name : "unknown";
}

static uint32_t extent_of(const struct ingot_params *p, enum extent_of what)
{
    switch (what) {
    case VOCAB: return p->vocab;
    case DIM: return p->dim;
    case HIDDEN: return p->hidden;
    case QUERIES: return p->n_heads * p->head_dim;
    case KEYS: return p->n_kv_heads * p->head_dim;
    case HEAD_DIM: return p->head_dim;
    case CONTEXT: return p->context;
    case ONE: break;
    }
    return 1;
}

void image_role_shape(const struct ingot_params *p, enum ingot_role role, uint32_t *rows,
                      uint32_t *cols)
{
    *rows = extent_of(p, role_rules[role].rows);
    *cols = extent_of(p, role_rules[role].cols);
}

bool image_has_role(const struct ingot_params *p, enum ingot_role role)
{
    uint32_t feature = role_rules[role].feature;

    if (role == INGOT_FFN_GATE) {
        return (p->features & INGOT_UNGATED) == 0;
    }
    return feature == 0 || (p->features & feature) != 0;
}

uint32_t image_layer_window(const struct ingot_params *p, uint32_t layer)
{
    bool global = p->global_every != 0 && layer % p->global_every == p->global_every - 1;

    return global ? 0 : p->window;
}

bool image_role_is_layer(enum ingot_role role)
{
    return (role_rules[role].kind & LAYER) != 0;
}

bool image_role_is_matrix(enum ingot_role role)
{
    return (role_rules[role].kind & MATRIX) != 0;
}

/* Roles in [first, last) that are there. */
static uint32_t count_roles(const struct ingot_params *p, unsigned first, unsigned last)
{
    uint32_t n = 0;

    for (unsigned role = first; role < last; role++) {
        n += image_has_role(p, (enum ingot_role)role);
    }
    return n;
}

uint32_t image_tensor_count(const struct ingot_params *p)
{
    return count_roles(p, 0, INGOT_ATTN_NORM) +
           p->n_layers * count_roles(p, INGOT_ATTN_NORM, INGOT_OUTPUT_NORM) +
           count_roles(p, INGOT_OUTPUT_NORM, INGOT_N_ROLES);
}

static size_t tensor_index(const struct ingot_params *p, enum ingot_role role, unsigned layer)
{
    uint32_t before = count_roles(p, 0, INGOT_ATTN_NORM);
    uint32_t per_layer = count_roles(p, INGOT_ATTN_NORM, INGOT_OUTPUT_NORM);

    if (role < INGOT_ATTN_NORM) {
        return count_roles(p, 0, role);
    }
    if (role >= INGOT_OUTPUT_NORM) {
        return before + (size_t)per_layer * p->n_layers + count_roles(p, INGOT_OUTPUT_NORM, role);
    }
    return before + (size_t)per_layer * layer + count_roles(p, INGOT_ATTN_NORM, role);
}

const struct ingot_tensor *image_tensor(const struct image *img, enum ingot_role role,
                                        unsigned layer)
{
    const struct ingot_params *p = &img->header->params;

    return image_has_role(p, role) ? &img->tensors[tensor_index(p, role, layer)] : NULL;
}

uint32_t image_types(const struct image *img)
{
    uint32_t n = image_tensor_count(&img->header->params);
    uint32_t types = 0;

    for (uint32_t i = 0; i < n; i++) {
        types |= 1u << img->tensors[i].type;
    }
    return types;
}
