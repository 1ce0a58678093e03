#include "runtime/compute/attention.h"
#include "board/min_max.h"
#include "runtime/compute/kv_rotate.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = 16 }; /* positions that a score kernel computes at a time */

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

/* The softmax begins with the sink, which is a score without a value. */
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
    kv_rotate_heads(k, work->q, n_rows(b), d, kv_cache_key_rotation(b->kv, b->layer));
    if (kv_cache_integer_query(b->kv)) {
        kv_quantize_q8(k, work->blocks, work->q, n_rows(b), d);
    }
}

/* The positions [from, to) of a tile that a token sees. */
struct span {
    uint32_t from, to;
};

/* Return the first position before `end` that is within the window. */
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

/* Rows that see no position of this tile keep their result: factor 1, weights 0. */
static void leave_rows(struct score_row *rows, uint32_t n)
{
    for (uint32_t r = 0; r < n; r++) {
        memset(rows[r].s, 0, sizeof rows[r].s);
        rows[r].factor = 1.0f;
    }
}

/* Compute the softmax of one token's rows. Positions before the token's window get the score minus
 * infinity, whose exponential is 0. */
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

static void run_tile(const struct kernels *k, const struct attention_block *b,
                     const struct attention_work *work, uint32_t tile)
{
    struct kv_tile keys = kv_cache_keys(b->kv, b->layer, b->kv_head, tile);
    struct kv_tile values = kv_cache_values(b->kv, b->layer, b->kv_head, tile);
    struct kv_queries q = { work->q, work->blocks };
    uint32_t end = b->first_position + b->n_tokens - tile * KV_TILE;
    uint32_t n = min_u32(end, KV_TILE);
    uint32_t lanes = (n + LANES - 1) / LANES * LANES;

    keys.format->score(k, work->scores, &q, keys.data, n_rows(b), lanes, head_dim(b));
    for (uint32_t r = 0; r < n_rows(b) && b->softcap != 0.0f; r++) {
        k->softcap_f32(work->scores[r].s, n, b->softcap);
    }
    softmax_rows(k, b, work, tile);
    values.format->accumulate(k, work->out, work->scores, values.data, n_rows(b), n, value_dim(b));
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
    kv_rotate_heads(k, work->out, n_rows(b), value_dim(b),
                    kv_cache_value_rotation(b->kv, b->layer));
}
