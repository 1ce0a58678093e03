#include "runtime/model/mixer_attention.h"

#include "board/min_max.h"
#include "runtime/compute/attention.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/model/attention_heads.h"
#include "runtime/model/mtp.h"
#include "runtime/model/state_kv.h"

enum { TOKEN_STEP = 8 };

static const struct kv_cache *cache(const struct transformer *t, const struct transformer_part *p)
{
    return p->states[t->layer].self;
}

/* For one head, append those tokens of a sequence whose positions are in one tile. */
static void append_tile(const struct transformer *t, unsigned core,
                        const struct transformer_part *p, uint32_t head, uint32_t tile)
{
    uint32_t end = min_u32(tile * KV_TILE + KV_TILE, p->position + p->n);

    for (uint32_t at = max_u32(tile * KV_TILE, p->position); at < end; at++) {
        float *k;
        const float *v = attention_key_value(t, head, p->first + at - p->position, &k);

        kv_cache_put(cache(t, p), t->kernels, t->layer, head, at, k, v, t->act.attention[core].q);
    }
}

/* Return how many tiles the tokens of a sequence touch. */
static uint32_t part_tiles(const struct transformer_part *p)
{
    return (p->position + p->n - 1) / KV_TILE + 1 - p->position / KV_TILE;
}

/* Norm, rotate and append this core's share of the chunk's keys and values. One core writes all
 * positions of a tile in order, because positions may share bytes, and the first position clears
 * all scales. */
static void append_kv(const struct transformer *t, unsigned core)
{
    size_t n = 0, at = 0, first, last;

    /* Items are pairs of a head and a tile, over all sequences of the pass in order. */
    for (uint32_t i = 0; i < t->n_parts; i++) {
        n += (size_t)t->data->n_kv_heads * part_tiles(&t->parts[i]);
    }
    workers_share(t->workers, core, n, 1, &first, &last);
    /* Walk the sequences, and process the items in this core's share. */
    for (const struct transformer_part *p = t->parts; at < last; p++) {
        size_t tiles = part_tiles(p), end = at + t->data->n_kv_heads * tiles;

        for (size_t item = max_size(first, at); item < min_size(last, end); item++) {
            append_tile(t, core, p, (uint32_t)((item - at) / tiles),
                        p->position / KV_TILE + (uint32_t)((item - at) % tiles));
        }
        at = end;
    }
}

/* A sequence's query rows are split into blocks of `heads` query heads of one kv head and `tokens`
 * tokens. */
struct attention_split {
    uint32_t group; /* number of query heads of a kv head */
    uint32_t heads; /* number of query heads of a block */
    uint32_t tokens;
    uint32_t head_blocks; /* blocks for each group */
    uint32_t token_blocks;
};

static uint32_t blocks_of(uint32_t n, uint32_t step)
{
    return (n + step - 1) / step;
}

/* Return how many tokens a block with room for `n` takes. Above 8 it takes a multiple of 8, because
 * scores are computed for 16 positions at a time, up to the position of the block's last token. */
static uint32_t whole_tokens(uint32_t n)
{
    return n > TOKEN_STEP ? n / TOKEN_STEP * TOKEN_STEP : n;
}

/* Choose the sizes of blocks. Blocks get smaller if there are fewer blocks than cores. No bit of
 * the result depends on which rows share a block. */
static struct attention_split split_attention(const struct transformer *t,
                                              const struct transformer_part *p)
{
    struct attention_split s = { .group = t->data->n_heads / t->data->n_kv_heads };

    if (attention_has(t, INGOT_LATENT_KV)) {
        /* With latent keys a head's tokens share its matrices: take few heads and many tokens. */
        s.tokens = min_u32(ATTENTION_ROWS, p->n);
        s.heads = min_u32(s.group, ATTENTION_ROWS / s.tokens);
    } else {
        /* Otherwise take all heads of a group, because they read the same keys; tokens fill the
         * other rows. */
        s.heads = min_u32(s.group, ATTENTION_ROWS);
        s.tokens = min_u32(whole_tokens(ATTENTION_ROWS / s.heads), p->n);
    }
    s.token_blocks = blocks_of(p->n, s.tokens);
    /* Halve the heads until there is a block for each core. */
    while (s.heads > 1 &&
           t->n_parts * t->data->n_kv_heads * blocks_of(s.group, s.heads) * s.token_blocks <
               t->workers->n_cores) {
        s.heads = (s.heads + 1) / 2;
    }
    s.head_blocks = blocks_of(s.group, s.heads);
    return s;
}

/* Attend with query heads [head, head + heads) of a sequence's tokens [token, token + tokens). */
static void attend_block(const struct transformer *t, unsigned core,
                         const struct transformer_part *p, uint32_t head, uint32_t heads,
                         uint32_t token, uint32_t tokens)
{
    const struct attention_work *work = &t->act.attention[core];
    size_t d = t->data->head_dim, value_dim = kv_cache_value_dim(t->data);
    const float *sinks = layer_vector(t, INGOT_ATTN_SINKS);
    struct attention_block b = { .kv = cache(t, p),
                                 .layer = t->data->kv_layer,
                                 .kv_head = head / (t->data->n_heads / t->data->n_kv_heads),
                                 .first_position = p->position + token,
                                 .n_tokens = tokens,
                                 .rows_per_token = heads,
                                 .window = t->data->window,
                                 .softcap = t->data->attn_softcap,
                                 .sinks = sinks != NULL ? sinks + head : NULL };
    uint32_t row = 0;

    if (mtp_is_assistant(t->image)) {
        mtp_take_keys(t, &b);
    }
    /* Collect the queries of the block, rotated and scaled. */
    for (uint32_t i = token; i < token + tokens; i++) {
        for (uint32_t h = head; h < head + heads; h++, row++) {
            attention_query(t, core, h, p->first + i, work->q + row * d);
        }
    }
    /* Compute scores, softmax and the weighted sum of values, tile by tile. */
    attention_run(t->kernels, &b, work);
    /* Distribute the results to their tokens and heads, times 1 / sum. */
    row = 0;
    for (uint32_t i = token; i < token + tokens; i++) {
        for (uint32_t h = head; h < head + heads; h++, row++) {
            attention_result(t, core, h, p->first + i, work->out + row * value_dim,
                             work->scores[row].sum);
        }
    }
}

static size_t blocks_of_part(const struct transformer *t, const struct attention_split *s)
{
    return (size_t)t->data->n_kv_heads * s->head_blocks * s->token_blocks;
}

/* Return the nth block of tokens in the order first, last, second and so on. Later blocks attend
 * to more positions, so with this order cores that take consecutive numbers have about equal
 * work. */
static uint32_t token_block(const struct attention_split *s, uint32_t nth)
{
    return nth % 2 == 0 ? nth / 2 : s->token_blocks - 1 - nth / 2;
}

/* Attend with block number `item` of a sequence. */
static void attend_item(const struct transformer *t, unsigned core,
                        const struct transformer_part *p, const struct attention_split *s,
                        size_t item)
{
    /* Blocks are numbered by head block, then by token block, so that neighbours share
     * keys. */
    uint32_t token = token_block(s, (uint32_t)(item % s->token_blocks)) * s->tokens;
    uint32_t block = (uint32_t)(item / s->token_blocks);
    uint32_t within = block % s->head_blocks * s->heads;
    uint32_t heads = min_u32(s->group - within, s->heads);

    attend_block(t, core, p, block / s->head_blocks * s->group + within, heads, token,
                 min_u32(p->n - token, s->tokens));
}

/* Attend with this core's share of the blocks of all sequences. */
static void attend(const struct transformer *t, unsigned core)
{
    size_t n = 0, at = 0, first, last;

    /* Distribute all sequences' blocks at once, so that a short sequence leaves no core idle. */
    for (uint32_t i = 0; i < t->n_parts; i++) {
        struct attention_split s = split_attention(t, &t->parts[i]);

        n += blocks_of_part(t, &s);
    }
    workers_share(t->workers, core, n, 1, &first, &last);
    for (const struct transformer_part *p = t->parts; at < last; p++) {
        struct attention_split s = split_attention(t, p);
        size_t end = at + blocks_of_part(t, &s);

        for (size_t item = max_size(first, at); item < min_size(last, end); item++) {
            attend_item(t, core, p, &s, item - at);
        }
        at = end;
    }
}

/* Norm the rows of this core's tokens, all n numbers of a row together. */
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

/* Compute queries through a low rank. The low-rank numbers are stored where the attended sum will
 * be. */
static void project_low(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t stride = layer_stride(t, INGOT_ATTN_Q);
    struct linear_input low = { a->attended, stride, t->n_tokens, layer_normed(t, core).first };

    norm_rows(t, core, a->attended, stride, INGOT_ATTN_Q_A_NORM, t->data->q_rank);
    /* Quantized rows are whole blocks, so numbers beyond the rank are zeroed. */
    layer_pad(t, core, a->attended, stride, INGOT_ATTN_Q);
    /* Wait if there is a single token: one core norms it, and every core quantizes it. */
    if (layer_alone(t)) {
        layer_step(t, core);
    }
    layer_quantize(t, core, LAYER_ROLE(INGOT_ATTN_Q), &low);
    layer_step_shared(t, core);
    layer_matrix(t, core, INGOT_ATTN_Q, INGOT_ATTN_Q_BIAS, &low, a->q, a->q_stride);
    layer_step(t, core);
}

/* Return true if this run computes keys and values. Otherwise the layer reads another layer's keys
 * and values, or its own were computed before. */
static bool makes_keys(const struct transformer *t)
{
    return !attention_has(t, INGOT_SHARED_KV) && !t->has_keys;
}

/* Multiply the input by the matrices of keys and values. */
static void project_keys(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = layer_normed(t, core);

    layer_matrix(t, core, INGOT_ATTN_K, INGOT_ATTN_K_BIAS, &normed, a->k, a->kv_stride);
    if (t->tensors[INGOT_ATTN_V] != NULL) {
        layer_matrix(t, core, INGOT_ATTN_V, INGOT_ATTN_V_BIAS, &normed, a->v, a->kv_stride);
    }
}

/* Norm all keys of a token together. */
static void norm_wide_keys(const struct transformer *t, unsigned core)
{
    const struct ingot_layer *l = t->data;

    norm_rows(t, core, t->act.k, t->act.kv_stride, INGOT_ATTN_K_NORM,
              (size_t)l->n_kv_heads * l->head_dim);
}

/* Compute the products for the chunk's queries and, if this layer has its own, for keys and
 * values. */
static void project(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    const struct ingot_layer *l = t->data;
    struct linear_input normed = layer_normed(t, core);

    /* Compute queries, directly from the input or through the low rank (DeepSeek). */
    if (l->q_rank != 0) {
        const struct ingot_tensor *w = t->tensors[INGOT_ATTN_Q_A];

        layer_multiply(t, core, w, t->segment + w->offset, w->rows, &normed, a->attended,
                       layer_stride(t, INGOT_ATTN_Q));
    } else {
        layer_matrix(t, core, INGOT_ATTN_Q, INGOT_ATTN_Q_BIAS, &normed, a->q, a->q_stride);
    }
    /* Keys and values read the same input, so no barrier is needed. */
    if (makes_keys(t)) {
        project_keys(t, core);
    }
    layer_step(t, core);
    if (l->q_rank != 0) {
        project_low(t, core);
    }
    /* A norm over all heads needs the rows of all cores. */
    if (attention_has(t, INGOT_QK_NORM_WIDE)) {
        norm_rows(t, core, a->q, a->q_stride, INGOT_ATTN_Q_NORM, (size_t)l->n_heads * l->head_dim);
        if (makes_keys(t)) {
            norm_wide_keys(t, core);
        }
        layer_step(t, core);
    }
}

/* Multiply the attention's result by the sigmoid of its gate, for this core's rows. The gate
 * overwrites the queries, which are no longer needed. */
static void gate_attended(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = layer_normed(t, core);
    size_t stride = layer_stride(t, INGOT_ATTN_OUT), first, last;

    layer_multiply(t, core, t->tensors[INGOT_ATTN_GATE],
                   t->segment + t->tensors[INGOT_ATTN_GATE]->offset,
                   t->tensors[INGOT_ATTN_GATE]->rows, &normed, a->q, a->q_stride);
    /* A core gates the rows that it has multiplied itself, so no barrier is needed. */
    workers_share(t->workers, core, t->tensors[INGOT_ATTN_GATE]->rows, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        float *o = a->attended + i * stride + first;

        t->kernels->sigmoid_mul_f32(o, o, a->q + i * a->q_stride + first, last - first);
    }
}

/* Return true if each core attends with exactly the heads whose keys it has appended, so that no
 * barrier is needed. */
static bool keeps_heads(const struct transformer *t)
{
    struct attention_split s = split_attention(t, t->parts);

    return t->n_tokens == 1 && s.head_blocks == 1;
}

/* Run attention: each core takes some of the queries over all cached keys, including new keys of
 * other cores. */
static bool run(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input attended;

    /* 1. Queries, keys, values. */
    project(t, core);
    if (makes_keys(t)) {
        /* 2. Store keys and values in the cache, before any query attends to them. */
        append_kv(t, core);
        if (!keeps_heads(t)) {
            layer_step(t, core);
        }
    }
    /* 3. Softmax(q k) v. */
    attend(t, core);
    /* 4. Apply the output gate, if the model has one (Qwen3-Next). */
    if (t->tensors[INGOT_ATTN_GATE] != NULL) {
        layer_step(t, core);
        gate_attended(t, core);
    }
    /* 5. Multiply by the output matrix once its weights have arrived. */
    if (!layer_ready(t, core, INGOT_ATTN_OUT, layer_vector(t, INGOT_ATTN_SUB_NORM),
                     (size_t)t->data->n_heads * t->data->value_dim, a->attended, &attended)) {
        return false;
    }
    layer_matrix(t, core, INGOT_ATTN_OUT, INGOT_ATTN_OUT_BIAS, &attended, a->out, a->dim_stride);
    return true;
}

static void keys(const struct transformer *t, unsigned core)
{
    project_keys(t, core);
    layer_step(t, core);
    if (attention_has(t, INGOT_QK_NORM_WIDE)) {
        norm_wide_keys(t, core);
        layer_step(t, core);
    }
    append_kv(t, core);
}

const struct layer_block mixer_attention = {
    .kind = INGOT_MIXER_ATTENTION,
    .name = "attention",
    .needs = LAYER_ROLE(INGOT_ATTN_Q) | LAYER_ROLE(INGOT_ATTN_OUT),
    .reads = LAYER_ROLE(INGOT_ATTN_Q_A) | LAYER_ROLE(INGOT_ATTN_Q) | LAYER_ROLE(INGOT_ATTN_GATE) |
             LAYER_ROLE(INGOT_ATTN_K) | LAYER_ROLE(INGOT_ATTN_V),
    .waits = LAYER_ROLE(INGOT_ATTN_OUT),
    .state = &state_kv,
    .run = run,
    .keys = keys,
};
