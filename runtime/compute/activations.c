#include "runtime/compute/activations.h"
#include "board/min_max.h"
#include "runtime/compute/packed.h"

#include <string.h>

enum {
    PADDING = 32,
    K_COLS = 256, /* columns of a K format's block */
    GROUP = 4,    /* tokens that a gemm computes together */
};

static size_t round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

static void set_strides(struct activations *a, const struct activations_request *r)
{
    const struct ingot_params *p = r->params;

    memset(a, 0, sizeof *a);
    a->chunk = r->chunk;
    a->dim_stride = round_up(p->dim, PADDING);
    a->q_stride = round_up(r->queries, PADDING);
    a->kv_stride = round_up((size_t)p->n_kv_heads * p->head_dim, PADDING);
    a->hidden_stride = round_up(p->hidden, PADDING);
    a->per_layer_stride = round_up((size_t)p->n_layers * p->per_layer_dim, PADDING);
    a->logits_stride = round_up(p->vocab, PADDING);
}

/* The same code counts and takes memory, so that both always agree. If arena is NULL, it only
 * counts. */
struct taker {
    struct arena *arena;
    size_t total;
};

static void *take(struct taker *t, size_t count, size_t item_bytes)
{
    size_t bytes = count * item_bytes;
    void *at = NULL;

    t->total += arena_take_bytes(bytes);
    if (t->arena != NULL) {
        at = arena_take(t->arena, ARENA_SCRATCH, bytes);
        memset(at, 0, bytes);
    }
    return at;
}

/* Columns of the widest matrix, padded. */
static size_t widest_input(const struct activations *a, const struct activations_request *r)
{
    return max_size(max_size(a->dim_stride, a->q_stride),
                    max_size(a->hidden_stride, round_up(r->inner_dim, PADDING)));
}

static void take_blocks(struct activations *a, const struct activations_request *r, struct taker *t)
{
    size_t widest = widest_input(a, r);
    size_t tokens = max_size(a->chunk, r->experts);
    size_t groups = round_up(tokens, GROUP) / GROUP;

    if (r->types & ACTIVATIONS_Q8) {
        a->q8 = take(t, tokens * (widest / PADDING), sizeof *a->q8);
        a->q8x4 = take(t, groups * (widest / PADDING), sizeof *a->q8x4);
    }
    if (r->types & ACTIVATIONS_Q8K) {
        a->q8k = take(t, tokens * (round_up(widest, K_COLS) / K_COLS), sizeof *a->q8k);
        a->q8kx4 = take(t, groups * (round_up(widest, K_COLS) / K_COLS), sizeof *a->q8kx4);
    }
    a->unpacked_bytes = round_up(packed_space_bytes(r->types, widest), ARENA_ALIGN);
    if (a->unpacked_bytes != 0) {
        a->unpacked = take(t, BOARD_MAX_CORES, a->unpacked_bytes);
    }
}

/* Take the additional memory for experts. */
static void take_gathered(struct activations *a, const struct activations_request *r,
                          struct taker *t)
{
    size_t n = a->chunk;

    if (r->experts == 0) {
        return;
    }
    a->gathered = take(t, n * a->dim_stride, sizeof(float));
    if (r->types & ACTIVATIONS_Q8) {
        a->kept_q8 = take(t, n * (a->dim_stride / PADDING), sizeof *a->kept_q8);
    }
    if (r->types & ACTIVATIONS_Q8K) {
        a->kept_q8k = take(t, n * (round_up(a->dim_stride, K_COLS) / K_COLS), sizeof *a->kept_q8k);
    }
}

static void take_attention(struct activations *a, const struct ingot_params *p, struct taker *t)
{
    for (size_t i = 0; i < BOARD_MAX_CORES; i++) {
        struct attention_work *w = &a->attention[i];
        size_t n = ATTENTION_ROWS * round_up(p->head_dim, PADDING);

        w->scores = take(t, ATTENTION_ROWS, sizeof *w->scores);
        w->q = take(t, n, sizeof *w->q);
        w->out = take(t, n, sizeof *w->out);
        w->blocks = take(t, n / PADDING, sizeof *w->blocks);
    }
}

static void take_all(struct activations *a, const struct activations_request *r, struct taker *t)
{
    size_t n = a->chunk, rows = max_size(n, r->experts);

    a->x = take(t, n * a->dim_stride, sizeof(float));
    a->saved = take(t, min_size(n, ACTIVATIONS_SAVED) * a->dim_stride, sizeof(float));
    a->norm = take(t, n * a->dim_stride, sizeof(float));
    a->out = take(t, n * a->dim_stride, sizeof(float));
    a->q = take(t, n * a->q_stride, sizeof(float));
    a->k = take(t, n * a->kv_stride, sizeof(float));
    a->v = take(t, n * a->kv_stride, sizeof(float));
    a->attended = take(t, n * a->q_stride, sizeof(float));
    a->gate = take(t, rows * a->hidden_stride, sizeof(float));
    a->up = take(t, rows * a->hidden_stride, sizeof(float));
    take_gathered(a, r, t);
    a->zeros = take(t, r->params->head_dim, sizeof(float));
    if (a->per_layer_stride != 0) {
        a->rows_per_layer = take(t, n * a->per_layer_stride, sizeof(float));
        a->per_layer = take(t, n * a->per_layer_stride, sizeof(float));
    }
    a->work = take(t, n, r->work_bytes);
    take_blocks(a, r, t);
    for (size_t i = 0; i < r->params->n_ropes; i++) {
        a->cos_sin[i] = take(t, n * r->params->head_dim, sizeof(float));
        a->cos_sin_query[i] = take(t, n * r->params->head_dim, sizeof(float));
    }
    take_attention(a, r->params, t);
    a->logits = take(t, max_size(r->logits_rows, 1) * a->logits_stride, sizeof(float));
}

size_t activations_bytes(const struct activations_request *r)
{
    struct activations a;
    struct taker t = { NULL, 0 };

    set_strides(&a, r);
    take_all(&a, r, &t);
    return t.total;
}

/* A model in a quantized type has a few matrices of floats, too. */
size_t activations_input_bytes(const struct activations_request *r)
{
    struct activations a;
    size_t widest, bytes = 0;

    set_strides(&a, r);
    widest = widest_input(&a, r);
    if (r->types & ACTIVATIONS_Q8) {
        bytes = widest / PADDING * (sizeof *a.q8x4 / GROUP);
    }
    if (r->types & ACTIVATIONS_Q8K) {
        bytes = max_size(bytes, round_up(widest, K_COLS) / K_COLS * (sizeof *a.q8kx4 / GROUP));
    }
    return bytes != 0 ? bytes : widest * sizeof(float);
}

void activations_take(struct activations *a, const struct activations_request *r,
                      struct arena *arena)
{
    struct taker t = { arena, 0 };

    set_strides(a, r);
    take_all(a, r, &t);
}
