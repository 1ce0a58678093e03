/* Put a tensor of a GGUF into the slots of the roles that it holds. */
#include "flash_image/gguf/gguf_private.h"
#include "flash_image/quantize/source_rows.h"

/* A tensor while it is placed: its name, its first matrix, the number of matrices. */
struct placed {
    struct source_text name;
    const struct source_tensor *all;
    uint32_t n;
};

static enum err refuse_shape(struct gguf *g, const struct placed *t)
{
    return source_refuse(g->s, ERR_BAD_MODEL,
                         "the tensor %.*s has %u rows of %u, which does not match the parameters",
                         SOURCE_SHOW(t->name), t->all->rows, t->all->cols);
}

/* Return the tensor's slot; NULL if the slot is filled, because the tensor appears twice. */
static struct source_tensor *take_slot(struct gguf *g, const struct placed *t, enum ingot_role role,
                                       unsigned layer)
{
    struct source_tensor *slot = source_tensor(g->s, role, layer);

    if (slot->data != NULL) {
        (void)source_refuse(g->s, ERR_BAD_MODEL, "the tensor %.*s appears twice",
                            SOURCE_SHOW(t->name));
        return NULL;
    }
    return slot;
}

/* Place the rows (of a bias: columns) of a fused tensor, slot by slot. */
static enum err place_rows(struct gguf *g, const struct placed *t, const struct gguf_slot *slot)
{
    bool bias = slot->role == INGOT_ATTN_Q_BIAS;
    unsigned n = slot->fusion == GGUF_QKV ? 3 : 2;
    uint32_t total = bias ? t->all->cols : t->all->rows, first = 0;

    for (unsigned i = 0; i < n; i++) {
        enum ingot_role role = source_part_role(slot->role, i);
        struct source_tensor *part = take_slot(g, t, role, slot->layer);
        uint32_t rows, cols, size;

        if (part == NULL) {
            return ERR_BAD_MODEL;
        }
        source_role_shape(g->s, role, slot->layer, &rows, &cols);
        size = bias ? cols : rows;
        if (size > total - first || (i == n - 1 && size != total - first)) {
            return refuse_shape(g, t);
        }
        *part = *t->all;
        *(bias ? &part->cols : &part->rows) = size;
        part->data += source_type_bytes(part->type, (uint64_t)first * (bias ? 1 : part->cols));
        first += size;
    }
    return ERR_OK;
}

/* Place a matrix in which rows of a head's query and rows of its gate alternate. */
static enum err place_query_gate(struct gguf *g, const struct placed *t,
                                 const struct gguf_slot *slot)
{
    struct source_tensor *query = take_slot(g, t, INGOT_ATTN_Q, slot->layer);
    struct source_tensor *gate = take_slot(g, t, INGOT_ATTN_GATE, slot->layer);
    uint32_t rows, cols, width = g->s->params.head_dim;

    if (query == NULL || gate == NULL) {
        return ERR_BAD_MODEL;
    }
    source_role_shape(g->s, INGOT_ATTN_Q, slot->layer, &rows, &cols);
    if (t->all->rows % 2 != 0 || t->all->rows / 2 != rows || t->all->cols != cols) {
        return refuse_shape(g, t);
    }
    *query = *t->all;
    query->rows = rows;
    query->run = width;
    query->run_step = 2 * width;
    *gate = *query;
    gate->data += source_type_bytes(gate->type, (uint64_t)width * cols);
    return ERR_OK;
}

static bool is_bias(enum ingot_role role)
{
    return role == INGOT_EXPERT_GATE_BIAS || role == INGOT_EXPERT_UP_BIAS ||
           role == INGOT_EXPERT_DOWN_BIAS;
}

/* Make a stack with a matrix, or a row, for each expert. */
static struct source_tensor stack_of(const struct placed *t, enum ingot_role role)
{
    struct source_tensor stack = *t->all;

    stack.stack = t->n;
    if (is_bias(role)) {
        stack.stack = t->all->rows;
        stack.rows = 1;
    }
    return stack;
}

static enum err place_experts(struct gguf *g, const struct placed *t, const struct gguf_slot *slot)
{
    struct source_tensor *to = take_slot(g, t, slot->role, slot->layer);

    if (to == NULL) {
        return ERR_BAD_MODEL;
    }
    *to = stack_of(t, slot->role);
    return ERR_OK;
}

/* Place a tensor that has, for each expert, the rows of the gate, then those of the matrix that the
 * gate multiplies. A bias has columns instead of rows. */
static enum err place_fused_experts(struct gguf *g, const struct placed *t,
                                    const struct gguf_slot *slot)
{
    enum ingot_role second = is_bias(slot->role) ? INGOT_EXPERT_UP_BIAS : INGOT_EXPERT_UP;
    struct source_tensor *gate = take_slot(g, t, slot->role, slot->layer);
    struct source_tensor *up = take_slot(g, t, second, slot->layer), all = stack_of(t, slot->role);
    uint32_t *size = is_bias(slot->role) ? &all.cols : &all.rows;

    if (gate == NULL || up == NULL) {
        return ERR_BAD_MODEL;
    }
    if (*size % 2 != 0 || (is_bias(slot->role) && all.type != SOURCE_F32)) {
        return refuse_shape(g, t);
    }
    *size /= 2;
    all.stack_step = 2 * all.rows; /* gate and up; a row of a bias becomes two rows, half as long */
    *gate = *up = all;
    up->data += source_type_bytes(all.type, (uint64_t)all.rows * all.cols);
    return ERR_OK;
}

static bool is_plain(enum source_type type)
{
    return type == SOURCE_F32 || type == SOURCE_F16 || type == SOURCE_BF16;
}

/* Place a convolution: the file stores it channel by channel, the image position by position. */
static enum err place_convolution(struct gguf *g, const struct placed *t, struct source_tensor *to)
{
    if (!is_plain(t->all->type)) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "the tensor %.*s is %s: a convolution must be F32, F16 or BF16",
                             SOURCE_SHOW(t->name), source_type_name(t->all->type));
    }
    *to = *t->all;
    to->rows = t->all->cols;
    to->cols = t->all->rows;
    to->stride = t->all->cols;
    return ERR_OK;
}

/* Turn a recurrent mixer's tensor, which may have one, two or three dimensions, into a vector. */
static void make_vector(struct source_tensor *t)
{
    if (is_plain(t->type) && t->rows <= INGOT_MAX_HIDDEN / t->cols) {
        t->cols *= t->rows;
        t->rows = 1;
    }
}

static enum err place_alone(struct gguf *g, const struct placed *t, const struct gguf_slot *slot)
{
    struct source_tensor *to = take_slot(g, t, slot->role, slot->layer);

    if (to == NULL) {
        return ERR_BAD_MODEL;
    }
    if (slot->role == INGOT_SSM_CONV) {
        return place_convolution(g, t, to);
    }
    *to = *t->all;
    if (slot->role == INGOT_SSM_A || slot->role == INGOT_SSM_D || slot->role == INGOT_SSM_NORM ||
        slot->role == INGOT_SHARED_SCALE) {
        make_vector(to);
    }
    return ERR_OK;
}

/* Place the matrices of all heads as one matrix, whose shape is checked later. */
static enum err place_heads(struct gguf *g, const struct placed *t, const struct gguf_slot *slot)
{
    struct source_tensor *to = take_slot(g, t, slot->role, slot->layer);

    if (to == NULL) {
        return ERR_BAD_MODEL;
    }
    if (t->n > INGOT_MAX_HEADS || t->all->rows > INGOT_MAX_DIM) {
        return refuse_shape(g, t);
    }
    *to = *t->all;
    to->rows *= t->n;
    return ERR_OK;
}

/* Place a matrix that serves keys and values. Only older files have one: newer files have a matrix
 * for each. */
static enum err place_latent(struct gguf *g, const struct placed *t, unsigned layer)
{
    struct source_tensor *k = take_slot(g, t, INGOT_ATTN_K_B, layer);
    struct source_tensor *v = take_slot(g, t, INGOT_ATTN_V_B, layer);

    if (k == NULL || v == NULL) {
        return ERR_BAD_MODEL;
    }
    if (source_split_latent(&g->s->params, t->all, k, v) != ERR_OK) {
        return refuse_shape(g, t);
    }
    return ERR_OK;
}

static enum err take_output_scale(struct gguf *g, const struct placed *t, unsigned layer)
{
    if (t->all->rows != 1 || t->all->cols != 1) {
        return refuse_shape(g, t);
    }
    if (layer >= g->s->params.n_layers || !family_has(g->family, FAMILY_PER_LAYER)) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "there is a tensor %.*s, which this family "
                             "does not have",
                             SOURCE_SHOW(t->name));
    }
    source_read_row(t->all, 0, &g->s->params.layers[layer].output_scale);
    return ERR_OK;
}

/* Place the last norm of an MTP head: the head's own, else the model's. */
static enum err place_norm(struct gguf *g, const struct placed *t, const struct gguf_slot *slot)
{
    struct source_tensor *to = source_tensor(g->s, slot->role, slot->layer);

    if (slot->fusion == GGUF_INSTEAD || to->data == NULL) {
        *to = *t->all;
    }
    return ERR_OK;
}

enum err gguf_place(struct gguf *g, struct source_text name, const struct source_tensor *all,
                    uint32_t n, const struct gguf_slot *slot)
{
    const struct placed t = { name, all, n };

    if (n != 1 && slot->fusion != GGUF_IGNORED && slot->fusion != GGUF_EXPERTS &&
        slot->fusion != GGUF_EXPERTS_FUSED && slot->fusion != GGUF_HEADS) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the tensor %.*s has three dimensions",
                             SOURCE_SHOW(name));
    }
    switch (slot->fusion) {
    case GGUF_QKV:
    case GGUF_GATE_UP: return place_rows(g, &t, slot);
    case GGUF_QUERY_GATE: return place_query_gate(g, &t, slot);
    case GGUF_EXPERTS: return place_experts(g, &t, slot);
    case GGUF_EXPERTS_FUSED: return place_fused_experts(g, &t, slot);
    case GGUF_HEADS: return place_heads(g, &t, slot);
    case GGUF_LATENT: return place_latent(g, &t, slot->layer);
    case GGUF_OUTPUT_SCALE: return take_output_scale(g, &t, slot->layer);
    case GGUF_IGNORED: return ERR_OK;
    case GGUF_INSTEAD:
    case GGUF_UNLESS: return place_norm(g, &t, slot);
    case GGUF_ALONE: break;
    }
    return place_alone(g, &t, slot);
}
