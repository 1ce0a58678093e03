#include "runtime/attention.h"

#include <math.h>
#include <string.h>

enum { LANES = 16 }; /* positions that score kernels take at a time */

static uint32_t n_rows(const struct attention_block *b)
{
    return b->n_tokens * b->rows_per_token;
}

static void begin(const struct kernels *k, const struct attention_block *b,
                  const struct attention_work *work)
{
    uint32_t d = b->kv->head_dim;

    for (uint32_t r = 0; r < n_rows(b); r++) {
        work->scores[r].max = -INFINITY;
        work->scores[r].sum = 0.0f;
    }
    memset(work->out, 0, (size_t)n_rows(b) * d * sizeof(float));
    if (b->kv->type == KV_Q8) {
        k->quantize_q8_f32(work->blocks, work->q, (size_t)n_rows(b) * d);
    }
}

/* How many of a tile's positions token t of the block sees. */
static uint32_t visible(const struct attention_block *b, uint32_t tile, uint32_t t)
{
    uint32_t end = b->first_position + t + 1;
    uint32_t start = tile * KV_TILE;

    if (end <= start) {
        return 0;
    }
    return end - start < KV_TILE ? end - start : KV_TILE;
}

/* Rows that do not reach this tile keep what they have: factor 1, weights 0. */
static void leave_rows(struct score_row *rows, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++) {
        memset(rows[r].s, 0, sizeof rows[r].s);
        rows[r].factor = 1.0f;
    }
}

static void softmax_rows(const struct kernels *k, const struct attention_block *b,
                         const struct attention_work *work, uint32_t tile)
{
    if (visible(b, tile, 0) == KV_TILE || b->n_tokens == 1) {
        k->online_softmax_f32(work->scores, n_rows(b), visible(b, tile, 0));
        return;
    }
    for (uint32_t t = 0; t < b->n_tokens; t++) {
        struct score_row *rows = work->scores + t * b->rows_per_token;
        uint32_t n = visible(b, tile, t);

        if (n == 0) {
            leave_rows(rows, b->rows_per_token);
        } else {
            k->online_softmax_f32(rows, b->rows_per_token, n);
        }
    }
}

static void run_tile(const struct kernels *k, const struct attention_block *b,
                     const struct attention_work *work, uint32_t tile)
{
    const void *keys = kv_cache_keys(b->kv, b->layer, b->kv_head, tile);
    const void *values = kv_cache_values(b->kv, b->layer, b->kv_head, tile);
    uint32_t n = visible(b, tile, b->n_tokens - 1);
    uint32_t lanes = (n + LANES - 1) / LANES * LANES;
    uint32_t d = b->kv->head_dim;

    if (b->kv->type == KV_Q8) {
        k->score_f32_q8(work->scores, work->blocks, keys, n_rows(b), lanes, d);
        softmax_rows(k, b, work, tile);
        k->accumulate_f32_q8(work->out, work->scores, values, n_rows(b), n, d);
    } else {
        k->score_f32_f16(work->scores, work->q, keys, n_rows(b), lanes, d);
        softmax_rows(k, b, work, tile);
        k->accumulate_f32_f16(work->out, work->scores, values, n_rows(b), n, d);
    }
}

void attention_run(const struct kernels *k, const struct attention_block *b,
                   const struct attention_work *work)
{
    uint32_t last = b->first_position + b->n_tokens - 1;

    begin(k, b, work);
    for (uint32_t tile = 0; tile <= last / KV_TILE; tile++) {
        run_tile(k, b, work, tile);
    }
}
