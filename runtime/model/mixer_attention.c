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

static void norm_head(const struct transformer *t, float *head, enum ingot_role norm)
{
    const float *weights = layer_vector(t, norm);

    if (weights != NULL) {
        t->kernels->rmsnorm_f32(head, head, weights, t->data->head_dim, params(t)->norm_eps, 0.0f);
    }
}

/* Norm, rotate and scale a query: rotated dimensions take their scale from the table. */
static void prepare_query(const struct transformer *t, float *q, uint32_t token)
{
    uint32_t d = t->data->head_dim, rotated = rotated_dims(t);

    norm_head(t, q, INGOT_ATTN_Q_NORM);
    rotate(t, q, t->act.cos_sin_query, token);
    if (rotated < d) {
        t->kernels->scale_f32(q + rotated, q + rotated, d - rotated, t->data->attn_scale);
    }
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

        norm_head(t, k, INGOT_ATTN_K_NORM);
        rotate(t, k, a->cos_sin, i);
        kv_cache_put(cache(t), t->kernels, t->layer, head, t->position + i, k,
                     a->v + i * a->kv_stride + head * d);
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
    size_t d = t->data->head_dim;
    struct attention_block b = { cache(t),
                                 t->layer,
                                 head / (t->data->n_heads / t->data->n_kv_heads),
                                 t->position + token,
                                 tokens,
                                 heads,
                                 t->data->window,
                                 t->data->attn_softcap };
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
            t->kernels->scale_f32(a->attended + i * a->q_stride + h * d, work->out + row * d, d,
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

/* Queries, keys and values of the chunk; then each core runs some of the queries over all cached
 * keys, also the other cores' new ones. */
static bool run(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens };
    struct linear_input attended = { a->attended, a->q_stride, t->n_tokens };

    layer_matrix(t, core, INGOT_ATTN_Q, INGOT_ATTN_Q_BIAS, &normed, a->q, a->q_stride);
    layer_matrix(t, core, INGOT_ATTN_K, INGOT_ATTN_K_BIAS, &normed, a->k, a->kv_stride);
    layer_matrix(t, core, INGOT_ATTN_V, INGOT_ATTN_V_BIAS, &normed, a->v, a->kv_stride);
    layer_step(t, core);
    append_kv(t, core);
    layer_step(t, core);
    attend(t, core);
    layer_step(t, core);
    layer_quantize(t, core, LAYER_ROLE(INGOT_ATTN_OUT), &attended);
    if (!layer_wait(t, core, INGOT_ATTN_OUT)) {
        return false;
    }
    layer_matrix(t, core, INGOT_ATTN_OUT, INGOT_ATTN_OUT_BIAS, &attended, a->norm, a->dim_stride);
    return true;
}

#define READS (LAYER_ROLE(INGOT_ATTN_Q) | LAYER_ROLE(INGOT_ATTN_K) | LAYER_ROLE(INGOT_ATTN_V))

const struct layer_block mixer_attention = {
    .kind = INGOT_MIXER_ATTENTION,
    .name = "attention",
    .needs = READS | LAYER_ROLE(INGOT_ATTN_OUT),
    .reads = READS,
    .waits = LAYER_ROLE(INGOT_ATTN_OUT),
    .state = &state_kv,
    .run = run,
};
