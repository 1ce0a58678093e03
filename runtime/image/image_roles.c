/* Which tensors a model has, in which shape, and where in the table. */
#include "runtime/image/image.h"

/* One row a role: its name, when it is there, and its shape. */
enum { LAYER = 1 << 0, MATRIX = 1 << 1 };
enum extent_of { VOCAB, DIM, HIDDEN, QUERIES, KEYS, VALUES, ATTENDED, HEAD_DIM, CONTEXT, ONE };

/* When a tensor is there: in a model always, or perhaps; for norms before and after a block; for
 * one kind of block. */
enum when {
    ALWAYS,
    PERHAPS,
    LAYER_NORM,
    MIXER_BEFORE,
    MIXER_BEFORE_BIAS,
    MIXER_AFTER,
    ATTENTION,
    ATTENTION_PERHAPS,
    QK_NORM,
    FFN_BEFORE,
    FFN_BEFORE_BIAS,
    FFN_AFTER,
    DENSE,
    DENSE_GATED,
    DENSE_PERHAPS
};

static const struct role_rule {
    const char *name;
    uint32_t kind; /* LAYER: a layer has it; MATRIX: not a norm, bias or position */
    enum when when;
    enum extent_of rows, cols;
} role_rules[INGOT_N_ROLES] = {
    [INGOT_TOKEN_EMBEDDING] = { "token_embedding", MATRIX, ALWAYS, VOCAB, DIM },
    [INGOT_POSITION_EMBEDDING] = { "position_embedding", 0, PERHAPS, CONTEXT, DIM },
    [INGOT_ATTN_NORM] = { "attn_norm", LAYER, MIXER_BEFORE, ONE, DIM },
    [INGOT_ATTN_NORM_BIAS] = { "attn_norm_bias", LAYER, MIXER_BEFORE_BIAS, ONE, DIM },
    [INGOT_ATTN_Q] = { "attn_q", LAYER | MATRIX, ATTENTION, QUERIES, DIM },
    [INGOT_ATTN_K] = { "attn_k", LAYER | MATRIX, ATTENTION, KEYS, DIM },
    [INGOT_ATTN_V] = { "attn_v", LAYER | MATRIX, ATTENTION, VALUES, DIM },
    [INGOT_ATTN_Q_BIAS] = { "attn_q_bias", LAYER, ATTENTION_PERHAPS, ONE, QUERIES },
    [INGOT_ATTN_K_BIAS] = { "attn_k_bias", LAYER, ATTENTION_PERHAPS, ONE, KEYS },
    [INGOT_ATTN_V_BIAS] = { "attn_v_bias", LAYER, ATTENTION_PERHAPS, ONE, VALUES },
    [INGOT_ATTN_Q_NORM] = { "attn_q_norm", LAYER, QK_NORM, ONE, HEAD_DIM },
    [INGOT_ATTN_K_NORM] = { "attn_k_norm", LAYER, QK_NORM, ONE, HEAD_DIM },
    [INGOT_ATTN_OUT] = { "attn_out", LAYER | MATRIX, ATTENTION, DIM, ATTENDED },
    [INGOT_ATTN_OUT_BIAS] = { "attn_out_bias", LAYER, ATTENTION_PERHAPS, ONE, DIM },
    [INGOT_ATTN_POST_NORM] = { "attn_post_norm", LAYER, MIXER_AFTER, ONE, DIM },
    [INGOT_FFN_NORM] = { "ffn_norm", LAYER, FFN_BEFORE, ONE, DIM },
    [INGOT_FFN_NORM_BIAS] = { "ffn_norm_bias", LAYER, FFN_BEFORE_BIAS, ONE, DIM },
    [INGOT_FFN_GATE] = { "ffn_gate", LAYER | MATRIX, DENSE_GATED, HIDDEN, DIM },
    [INGOT_FFN_UP] = { "ffn_up", LAYER | MATRIX, DENSE, HIDDEN, DIM },
    [INGOT_FFN_UP_BIAS] = { "ffn_up_bias", LAYER, DENSE_PERHAPS, ONE, HIDDEN },
    [INGOT_FFN_DOWN] = { "ffn_down", LAYER | MATRIX, DENSE, DIM, HIDDEN },
    [INGOT_FFN_DOWN_BIAS] = { "ffn_down_bias", LAYER, DENSE_PERHAPS, ONE, DIM },
    [INGOT_FFN_POST_NORM] = { "ffn_post_norm", LAYER, FFN_AFTER, ONE, DIM },
    [INGOT_OUTPUT_NORM] = { "output_norm", 0, ALWAYS, ONE, DIM },
    [INGOT_OUTPUT_NORM_BIAS] = { "output_norm_bias", 0, LAYER_NORM, ONE, DIM },
    [INGOT_OUTPUT] = { "output", MATRIX, ALWAYS, VOCAB, DIM },
};

const char *image_role_name(unsigned role)
{
    return role < INGOT_N_ROLES ? role_rules[role].name : "unknown";
}

static uint32_t extent_of(const struct ingot_params *p, const struct ingot_layer *l,
                          enum extent_of what)
{
    switch (what) {
    case VOCAB: return p->vocab;
    case DIM: return p->dim;
    case HIDDEN: return l->hidden;
    case QUERIES: return l->n_heads * l->head_dim;
    case KEYS: return l->n_kv_heads * l->head_dim;
    case VALUES: return l->n_kv_heads * l->value_dim;
    case ATTENDED: return l->n_heads * l->value_dim;
    case HEAD_DIM: return l->head_dim;
    case CONTEXT: return p->context;
    case ONE: break;
    }
    return 1;
}

void image_role_shape(const struct ingot_params *p, const struct ingot_layer *l,
                      enum ingot_role role, uint32_t *rows, uint32_t *cols)
{
    *rows = extent_of(p, l, role_rules[role].rows);
    *cols = extent_of(p, l, role_rules[role].cols);
}

/* A condition of one kind of block: kinds of a program's own may have the tensors of any. */
static enum image_presence of_kind(unsigned kind, unsigned wanted, unsigned own,
                                   enum image_presence presence)
{
    if (kind == wanted) {
        return presence;
    }
    if (kind >= own) {
        return IMAGE_OPTIONAL;
    }
    return IMAGE_ABSENT;
}

static enum image_presence demanded_if(bool condition)
{
    return condition ? IMAGE_DEMANDED : IMAGE_ABSENT;
}

enum image_presence image_role_presence(const struct ingot_params *p, const struct ingot_layer *l,
                                        enum ingot_role role)
{
    bool before = l != NULL && (l->norms & INGOT_NORM_BEFORE) != 0;
    bool after = l != NULL && (l->norms & INGOT_NORM_AFTER) != 0;
    bool biased = p->norm == INGOT_NORM_LAYER;
    enum when when = role_rules[role].when;

    switch (when) {
    case ALWAYS: return IMAGE_DEMANDED;
    case PERHAPS: return IMAGE_OPTIONAL;
    case LAYER_NORM: return demanded_if(biased);
    case MIXER_BEFORE: return demanded_if(before && l->mixer != INGOT_MIXER_NONE);
    case MIXER_BEFORE_BIAS: return demanded_if(before && biased && l->mixer != INGOT_MIXER_NONE);
    case MIXER_AFTER: return demanded_if(after && l->mixer != INGOT_MIXER_NONE);
    case FFN_BEFORE: return demanded_if(before && l->ffn != INGOT_FFN_NONE);
    case FFN_BEFORE_BIAS: return demanded_if(before && biased && l->ffn != INGOT_FFN_NONE);
    case FFN_AFTER: return demanded_if(after && l->ffn != INGOT_FFN_NONE);
    case QK_NORM: return demanded_if((l->features & INGOT_QK_NORM) != 0);
    case ATTENTION:
        return of_kind(l->mixer, INGOT_MIXER_ATTENTION, INGOT_MIXER_OWN, IMAGE_DEMANDED);
    case ATTENTION_PERHAPS:
        return of_kind(l->mixer, INGOT_MIXER_ATTENTION, INGOT_MIXER_OWN, IMAGE_OPTIONAL);
    case DENSE: return of_kind(l->ffn, INGOT_FFN_DENSE, INGOT_FFN_OWN, IMAGE_DEMANDED);
    case DENSE_GATED:
        return of_kind(l->ffn, INGOT_FFN_DENSE, INGOT_FFN_OWN,
                       demanded_if((l->features & INGOT_GATED) != 0));
    case DENSE_PERHAPS: break;
    }
    return of_kind(l->ffn, INGOT_FFN_DENSE, INGOT_FFN_OWN, IMAGE_OPTIONAL);
}

bool image_role_is_layer(enum ingot_role role)
{
    return (role_rules[role].kind & LAYER) != 0;
}

bool image_role_is_matrix(enum ingot_role role)
{
    return (role_rules[role].kind & MATRIX) != 0;
}

/* Entries of the tensor table that may have the role: those of a layer, or before or after all
 * layers. */
static void find_range(const struct image *img, enum ingot_role role, unsigned layer,
                       uint32_t *first, uint32_t *end)
{
    const struct ingot_layer *last = &img->layers[img->header->params.n_layers - 1];

    if (role < INGOT_ATTN_NORM) {
        *first = 0;
        *end = img->layers[0].first_tensor;
        return;
    }
    if (role >= INGOT_OUTPUT_NORM) {
        *first = last->first_tensor + last->n_tensors;
        *end = img->header->tensors.count;
        return;
    }
    *first = img->layers[layer].first_tensor;
    *end = *first + img->layers[layer].n_tensors;
}

const struct ingot_tensor *image_tensor(const struct image *img, enum ingot_role role,
                                        unsigned layer)
{
    uint32_t first, end;

    find_range(img, role, layer, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        if (img->tensors[i].role == role) {
            return &img->tensors[i];
        }
    }
    return NULL;
}

unsigned image_main_type(const struct image *img)
{
    for (uint32_t i = 0; i < img->header->tensors.count; i++) {
        if (img->tensors[i].role == INGOT_FFN_UP) {
            return img->tensors[i].type;
        }
    }
    return image_tensor(img, INGOT_OUTPUT, INGOT_NO_LAYER)->type;
}

uint32_t image_types(const struct image *img)
{
    uint32_t types = 0;

    for (uint32_t i = 0; i < img->header->tensors.count; i++) {
        types |= 1u << img->tensors[i].type;
    }
    return types;
}
