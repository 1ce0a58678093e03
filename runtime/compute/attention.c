#include "runtime/compute/attention.h"
#include "board/min_max.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = 16 }; /* positions that score kernels take at a time */

static uint32_t n_rows(const struct attention_block *b)
{
    return b->n_tokens * b->rows_per_token;
}

static uint32_t head_dim(const struct attention_block *b)
{
    return b->kv->layers[b->layer].head_dim;
}

static uint32_t value_dim(const struct attention_block *b)
{
    return b->kv->layers[b->layer].value_dim;
}

/* A sink is a position without a value: the softmax begins with it. */
static void begin_row(const struct attention_block *b, uint32_t row, struct score_row *score)
{
    score->max = -INFINITY;
    score->sum = 0.0f;
    if (b->sinks != NULL) {
        score->max = b->sinks[row % b->rows_per_token];
        score->sum = 1.0f;
    }
}

static void begin(const struct kernels *k, const struct attention_block *b,
                  const struct attention_work *work)
{
    uint32_t d = head_dim(b);

    for (uint32_t r = 0; r < n_rows(b); r++) {
        begin_row(b, r, &work->scores[r]);
    }
    memset(work->out, 0, (size_t)n_rows(b) * value_dim(b) * sizeof(float));
    if (b->kv->type == KV_Q8) {
        k->quantize_q8_f32(work->blocks, work->q, (size_t)n_rows(b) * d);
    }
}

/* Positions [from, to) of a tile that token t of the block sees. */
struct span {
    uint32_t from, to;
};

/* The first position before `end` that the window reaches. */
static uint32_t window_begin(const struct attention_block *b, uint32_t end)
{
    if (b->window == 0 || end <= b->window) {
        return 0;
    }
    return end - b->window;
}

static struct span visible(const struct attention_block *b, uint32_t tile, uint32_t t)
{
    uint32_t end = b->first_position + t + 1;
    uint32_t begin = window_begin(b, end);
    uint32_t start = tile * KV_TILE;
    struct span s = { 0, 0 };

    if (end <= start || begin >= start + KV_TILE) {
        return s;
    }
    s.from = max_u32(begin, start) - start;
    s.to = min_u32(end - start, KV_TILE);
    return s;
}

/* Rows that see nothing of this tile keep their result: factor 1, weights 0. */
static void leave_rows(struct score_row *rows, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++) {
        memset(rows[r].s, 0, sizeof rows[r].s);
        rows[r].factor = 1.0f;
    }
}

/* The rows of one token. Positions before its window count as minus infinity, whose exponential
 * is 0. */
static void softmax_token(const struct kernels *k, const struct attention_block *b,
                          struct score_row *rows, struct span span)
{
    if (span.to == 0) {
        leave_rows(rows, b->rows_per_token);
        return;
    }
    for (uint32_t r = 0; r < b->rows_per_token; r++) {
        for (uint32_t j = 0; j < span.from; j++) {
            rows[r].s[j] = -INFINITY;
        }
    }
    k->online_softmax_f32(rows, b->rows_per_token, span.to);
}

static void softmax_rows(const struct kernels *k, const struct attention_block *b,
                         const struct attention_work *work, uint32_t tile)
{
    struct span first = visible(b, tile, 0);
    struct span last = visible(b, tile, b->n_tokens - 1);

    if (first.to == KV_TILE && last.from == 0 && last.to == KV_TILE) {
        k->online_softmax_f32(work->scores, n_rows(b), KV_TILE);
        return;
    }
    for (uint32_t t = 0; t < b->n_tokens; t++) {
        softmax_token(k, b, work->scores + t * b->rows_per_token, visible(b, tile, t));
    }
}

/* kernels.h's score_f32_f16 and accumulate_f32_f16 over floats: in C, for this type is for
 * comparisons alone. */
static void score_f32(struct score_row *s, const float *q, const float *keys, size_t n_q, size_t n,
                      size_t d)
{
    for (size_t a = 0; a < n_q; a++, q += d) {
        memset(s[a].s, 0, sizeof s[a].s);
        for (size_t i = 0; i < d; i++) {
            for (size_t j = 0; j < n; j++) {
                s[a].s[j] = fmaf(q[i], keys[i * KV_TILE + j], s[a].s[j]);
            }
        }
    }
}

static void accumulate_f32(float *o, const struct score_row *s, const float *values, size_t n_q,
                           size_t n, size_t d)
{
    for (size_t a = 0; a < n_q; a++, o += d) {
        for (size_t i = 0; i < d; i++) {
            o[i] *= s[a].factor;
        }
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < d; i++) {
                o[i] = fmaf(s[a].s[j], values[j * d + i], o[i]);
            }
        }
    }
}

static void score(const struct kernels *k, const struct attention_block *b,
                  const struct attention_work *work, const void *keys, uint32_t n)
{
    uint32_t d = head_dim(b);

    switch (b->kv->type) {
    case KV_Q8: k->score_f32_q8(work->scores, work->blocks, keys, n_rows(b), n, d); return;
    case KV_F32: score_f32(work->scores, work->q, keys, n_rows(b), n, d); return;
    default: k->score_f32_f16(work->scores, work->q, keys, n_rows(b), n, d); return;
    }
}

static void accumulate(const struct kernels *k, const struct attention_block *b,
                       const struct attention_work *work, const void *values, uint32_t n)
{
    uint32_t d = value_dim(b);

    switch (b->kv->type) {
    case KV_Q8: k->accumulate_f32_q8(work->out, work->scores, values, n_rows(b), n, d); return;
    case KV_F32: accumulate_f32(work->out, work->scores, values, n_rows(b), n, d); return;
    default: k->accumulate_f32_f16(work->out, work->scores, values, n_rows(b), n, d); return;
    }
}

static void run_tile(const struct kernels *k, const struct attention_block *b,
                     const struct attention_work *work, uint32_t tile)
{
    const void *keys = kv_cache_keys(b->kv, b->layer, b->kv_head, tile);
    const void *values = kv_cache_values(b->kv, b->layer, b->kv_head, tile);
    uint32_t end = b->first_position + b->n_tokens - tile * KV_TILE;
    uint32_t n = min_u32(end, KV_TILE);
    uint32_t lanes = (n + LANES - 1) / LANES * LANES;

    score(k, b, work, keys, lanes);
    for (uint32_t r = 0; r < n_rows(b) && b->softcap != 0.0f; r++) {
        k->softcap_f32(work->scores[r].s, n, b->softcap);
    }
    softmax_rows(k, b, work, tile);
    accumulate(k, b, work, values, n);
}

void attention_run(const struct kernels *k, const struct attention_block *b,
                   const struct attention_work *work)
{
    uint32_t last = b->first_position + b->n_tokens - 1;
    uint32_t first = window_begin(b, b->first_position + 1);

    begin(k, b, work);
    for (uint32_t tile = first / KV_TILE; tile <= last / KV_TILE; tile++) {
        run_tile(k, b, work, tile);
    }
}
