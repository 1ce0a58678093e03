#include "runtime/model/mixer_attention.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/attention.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/model/state_kv.h"

static const struct kv_cache *cache(const struct transformer *t)
{
    return t->states[t->layer].self;
}

/* The layer's row of a table of rotations, of one token of the chunk; unused without a rotation. */
static const float *rotation(const struct transformer *t, float *const *tables, size_t token)
{
    return tables[t->data->rope] + token * params(t)->head_dim;
}

static void rotate(const struct transformer *t, float *head, float *const *tables, size_t token)
{
    const struct ingot_rope *rope;

    if (t->data->rope == INGOT_NO_ROPE) {
        return;
    }
    rope = &t->image->header->ropes[t->data->rope];
    if (rope->kind == INGOT_ROPE_PAIRS) {
        t->kernels->rope_f32_pairs(head, rotation(t, tables, token), rope->dims);
    } else {
        t->kernels->rope_f32_halves(head, rotation(t, tables, token), rope->dims);
    }
}

/* How many dimensions of a head rotate. */
static uint32_t rotated_dims(const struct transformer *t)
{
    if (t->data->rope == INGOT_NO_ROPE) {
        return 0;
    }
    return t->image->header->ropes[t->data->rope].dims;
}

static bool has(const struct transformer *t, enum ingot_feature feature)
{
    return (t->data->features & (uint32_t)feature) != 0;
}

/* A norm of one head; a wide one has been done for all heads together. */
static void norm_head(const struct transformer *t, float *head, enum ingot_role norm)
{
    const float *weights = layer_vector(t, norm);

    if (weights != NULL && !has(t, INGOT_QK_NORM_WIDE)) {
        t->kernels->rmsnorm_f32(head, head, weights, t->data->head_dim, params(t)->norm_eps, 0.0f);
    }
}

/* Norm, rotate and scale a query: rotated dimensions take their scale from the table, unless a
 * norm follows, which would take it away. */
static void prepare_query(const struct transformer *t, float *q, uint32_t token)
{
    uint32_t d = t->data->head_dim, scaled = rotated_dims(t);

    if (has(t, INGOT_QK_NORM_LATE)) {
        rotate(t, q, t->act.cos_sin, token);
        norm_head(t, q, INGOT_ATTN_Q_NORM);
        scaled = 0;
    } else {
        norm_head(t, q, INGOT_ATTN_Q_NORM);
        rotate(t, q, t->act.cos_sin_query, token);
    }
    if (scaled < d) {
        t->kernels->scale_f32(q + scaled, q + scaled, d - scaled, t->data->attn_scale);
    }
}

/* The value of a head, from its key where it has no matrix of its own. */
static void prepare_value(const struct transformer *t, float *v, const float *k)
{
    uint32_t d = t->data->head_dim;

    if (has(t, INGOT_V_IS_K)) {
        memcpy(v, k, d * sizeof *v);
    }
    if (has(t, INGOT_V_NORM)) {
        t->kernels->rmsnorm_f32(v, v, t->act.zeros, d, params(t)->norm_eps, 1.0f);
    }
}

static void prepare_key(const struct transformer *t, float *k, uint32_t token)
{
    if (has(t, INGOT_QK_NORM_LATE)) {
        rotate(t, k, t->act.cos_sin, token);
        norm_head(t, k, INGOT_ATTN_K_NORM);
        return;
    }
    norm_head(t, k, INGOT_ATTN_K_NORM);
    rotate(t, k, t->act.cos_sin, token);
}

/* Norm, rotate and append this core's share of the chunk's keys and values. */
static void append_kv(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t d = t->data->head_dim;
    size_t first, last;

    workers_share(t->workers, core, (size_t)t->data->n_kv_heads * t->n_tokens, 1, &first, &last);
    for (size_t item = first; item < last; item++) {
        uint32_t head = (uint32_t)(item / t->n_tokens);
        uint32_t i = (uint32_t)(item % t->n_tokens);
        float *k = a->k + i * a->kv_stride + head * d;
        float *v = a->v + i * a->kv_stride + head * d;

        prepare_value(t, v, k);
        prepare_key(t, k, i);
        kv_cache_put(cache(t), t->kernels, t->layer, head, t->position + i, k, v);
    }
}

/* The chunk's query rows as blocks: of one kv head, `heads` query heads, `tokens` tokens. */
struct attention_split {
    uint32_t group; /* query heads of a kv head */
    uint32_t heads; /* of a block */
    uint32_t tokens;
    uint32_t head_blocks; /* blocks per group */
    uint32_t token_blocks;
};

static uint32_t blocks_of(uint32_t n, uint32_t step)
{
    return (n + step - 1) / step;
}

/* Smaller blocks if there were fewer than cores otherwise; no bit depends on which rows share a
 * block. */
static struct attention_split split_attention(const struct transformer *t)
{
    struct attention_split s = { .group = t->data->n_heads / t->data->n_kv_heads };

    s.heads = min_u32(s.group, ATTENTION_ROWS);
    s.tokens = min_u32(ATTENTION_ROWS / s.heads, t->n_tokens);
    s.token_blocks = blocks_of(t->n_tokens, s.tokens);
    while (s.heads > 1 && t->data->n_kv_heads * blocks_of(s.group, s.heads) * s.token_blocks <
                              t->workers->n_cores) {
        s.heads = (s.heads + 1) / 2;
    }
    s.head_blocks = blocks_of(s.group, s.heads);
    return s;
}

/* Query heads head .. head + heads of tokens token .. token + tokens. */
static void attend_block(const struct transformer *t, unsigned core, uint32_t head, uint32_t heads,
                         uint32_t token, uint32_t tokens)
{
    const struct activations *a = &t->act;
    const struct attention_work *work = &a->attention[core];
    size_t d = t->data->head_dim, stride = layer_stride(t, INGOT_ATTN_OUT);
    const float *sinks = layer_vector(t, INGOT_ATTN_SINKS);
    struct attention_block b = { .kv = cache(t),
                                 .layer = t->data->kv_layer,
                                 .kv_head = head / (t->data->n_heads / t->data->n_kv_heads),
                                 .first_position = t->position + token,
                                 .n_tokens = tokens,
                                 .rows_per_token = heads,
                                 .window = t->data->window,
                                 .softcap = t->data->attn_softcap,
                                 .sinks = sinks != NULL ? sinks + head : NULL };
    uint32_t row = 0;

    for (uint32_t i = token; i < token + tokens; i++) {
        for (uint32_t h = head; h < head + heads; h++, row++) {
            float *q = work->q + row * d;

            memcpy(q, a->q + i * a->q_stride + h * d, d * sizeof *q);
            prepare_query(t, q, i);
        }
    }
    attention_run(t->kernels, &b, work);
    row = 0;
    for (uint32_t i = token; i < token + tokens; i++) {
        for (uint32_t h = head; h < head + heads; h++, row++) {
            t->kernels->scale_f32(a->attended + i * stride + h * d, work->out + row * d, d,
                                  1.0f / work->scores[row].sum);
        }
    }
}

/* This core's share of the blocks. */
static void attend(const struct transformer *t, unsigned core)
{
    struct attention_split s = split_attention(t);
    size_t first, last;

    workers_share(t->workers, core, (size_t)t->data->n_kv_heads * s.head_blocks * s.token_blocks, 1,
                  &first, &last);
    for (size_t item = first; item < last; item++) {
        uint32_t token = (uint32_t)(item % s.token_blocks) * s.tokens;
        uint32_t block = (uint32_t)(item / s.token_blocks);
        uint32_t within = block % s.head_blocks * s.heads;
        uint32_t heads = min_u32(s.group - within, s.heads);

        attend_block(t, core, block / s.head_blocks * s.group + within, heads, token,
                     min_u32(t->n_tokens - token, s.tokens));
    }
}

/* Norm the rows of this core's tokens, all n numbers of each as one. */
static void norm_rows(const struct transformer *t, unsigned core, float *rows, size_t stride,
                      enum ingot_role norm, size_t n)
{
    const float *weights = layer_vector(t, norm);
    size_t first, last;

    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last && weights != NULL; i++) {
        float *row = rows + i * stride;

        t->kernels->rmsnorm_f32(row, row, weights, n, params(t)->norm_eps, 0.0f);
    }
}

/* Queries, keys and values of the chunk, but for what each head does by itself. */
static void project(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    const struct ingot_layer *l = t->data;
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens, 0 };

    layer_matrix(t, core, INGOT_ATTN_Q, INGOT_ATTN_Q_BIAS, &normed, a->q, a->q_stride);
    if (!has(t, INGOT_SHARED_KV)) {
        layer_matrix(t, core, INGOT_ATTN_K, INGOT_ATTN_K_BIAS, &normed, a->k, a->kv_stride);
    }
    if (t->tensors[INGOT_ATTN_V] != NULL) {
        layer_matrix(t, core, INGOT_ATTN_V, INGOT_ATTN_V_BIAS, &normed, a->v, a->kv_stride);
    }
    layer_step(t, core);
    if (has(t, INGOT_QK_NORM_WIDE)) {
        norm_rows(t, core, a->q, a->q_stride, INGOT_ATTN_Q_NORM, (size_t)l->n_heads * l->head_dim);
        norm_rows(t, core, a->k, a->kv_stride, INGOT_ATTN_K_NORM,
                  (size_t)l->n_kv_heads * l->head_dim);
        layer_step(t, core);
    }
}

/* What is attended times the sigmoid of its gate, this core's rows. The queries, which are no
 * longer needed, make room. */
static void gate_attended(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens, 0 };
    size_t stride = layer_stride(t, INGOT_ATTN_OUT), first, last;

    layer_multiply(t, core, t->tensors[INGOT_ATTN_GATE],
                   t->segment + t->tensors[INGOT_ATTN_GATE]->offset,
                   t->tensors[INGOT_ATTN_GATE]->rows, &normed, a->q, a->q_stride);
    workers_share(t->workers, core, t->tensors[INGOT_ATTN_GATE]->rows, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        float *o = a->attended + i * stride + first;

        t->kernels->sigmoid_mul_f32(o, o, a->q + i * a->q_stride + first, last - first);
    }
    layer_step(t, core);
}

/* Each core runs some of the queries over all cached keys, also the other cores' new ones. */
static bool run(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t stride = layer_stride(t, INGOT_ATTN_OUT);
    struct linear_input attended = { a->attended, stride, t->n_tokens, 0 };

    project(t, core);
    if (!has(t, INGOT_SHARED_KV)) {
        append_kv(t, core);
        layer_step(t, core);
    }
    attend(t, core);
    layer_step(t, core);
    if (t->tensors[INGOT_ATTN_GATE] != NULL) {
        gate_attended(t, core);
    }
    norm_rows(t, core, a->attended, stride, INGOT_ATTN_SUB_NORM,
              (size_t)t->data->n_heads * t->data->value_dim);
    layer_pad(t, core, a->attended, stride, INGOT_ATTN_OUT);
    layer_quantize(t, core, LAYER_ROLE(INGOT_ATTN_OUT), &attended);
    if (!layer_wait(t, core, INGOT_ATTN_OUT)) {
        return false;
    }
    layer_matrix(t, core, INGOT_ATTN_OUT, INGOT_ATTN_OUT_BIAS, &attended, a->out, a->dim_stride);
    return true;
}

const struct layer_block mixer_attention = {
    .kind = INGOT_MIXER_ATTENTION,
    .name = "attention",
    .needs = LAYER_ROLE(INGOT_ATTN_Q) | LAYER_ROLE(INGOT_ATTN_OUT),
    .reads = LAYER_ROLE(INGOT_ATTN_Q) | LAYER_ROLE(INGOT_ATTN_GATE) | LAYER_ROLE(INGOT_ATTN_K) |
             LAYER_ROLE(INGOT_ATTN_V),
    .waits = LAYER_ROLE(INGOT_ATTN_OUT),
    .state = &state_kv,
    .run = run,
};
