#include "runtime/activations.h"

#include <string.h>

enum { PADDING = 32 };

static size_t pad(size_t n)
{
    return (n + PADDING - 1) / PADDING * PADDING;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void set_strides(struct activations *a, const struct ingot_params *p, uint32_t chunk)
{
    a->chunk = chunk;
    a->dim_stride = pad(p->dim);
    a->q_stride = pad((size_t)p->n_heads * p->head_dim);
    a->kv_stride = pad((size_t)p->n_kv_heads * p->head_dim);
    a->hidden_stride = pad(p->hidden);
    a->block_stride = larger(larger(a->dim_stride, a->q_stride), a->hidden_stride) / PADDING;
}

/* One list for both the size and the taking, so that they cannot differ. arena == NULL: only
 * count. */
static void *take(struct arena *arena, size_t *total, size_t count, size_t item_bytes)
{
    size_t bytes = count * item_bytes;
    void *at = NULL;

    *total += arena_take_bytes(bytes);
    if (arena != NULL) {
        at = arena_take(arena, ARENA_SCRATCH, bytes);
        memset(at, 0, bytes);
    }
    return at;
}

static size_t take_all(struct activations *a, const struct ingot_params *p, struct arena *arena)
{
    size_t total = 0;
    size_t n = a->chunk;

    a->x = take(arena, &total, n * a->dim_stride, sizeof(float));
    a->norm = take(arena, &total, n * a->dim_stride, sizeof(float));
    a->q = take(arena, &total, n * a->q_stride, sizeof(float));
    a->k = take(arena, &total, n * a->kv_stride, sizeof(float));
    a->v = take(arena, &total, n * a->kv_stride, sizeof(float));
    a->attended = take(arena, &total, n * a->q_stride, sizeof(float));
    a->gate = take(arena, &total, n * a->hidden_stride, sizeof(float));
    a->up = take(arena, &total, n * a->hidden_stride, sizeof(float));
    a->blocks = take(arena, &total, n * a->block_stride, sizeof(struct block_q8));
    a->cos_sin = take(arena, &total, n * p->head_dim, sizeof(float));
    a->scores = take(arena, &total, (size_t)BOARD_MAX_CORES * ATTENTION_TILE, sizeof(float));
    a->logits = take(arena, &total, p->vocab, sizeof(float));
    return total;
}

size_t activations_bytes(const struct ingot_params *p, uint32_t chunk)
{
    struct activations a;

    set_strides(&a, p, chunk);
    return take_all(&a, p, NULL);
}

void activations_take(struct activations *a, const struct ingot_params *p, uint32_t chunk,
                      struct arena *arena)
{
    set_strides(a, p, chunk);
    take_all(a, p, arena);
}
