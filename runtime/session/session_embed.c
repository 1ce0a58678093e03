/* Compute a text's embedding in the states of the sequence. Meanwhile the text's ids are
 * stored before the sequence's ids. */
#include <assert.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/session/session_private.h"
#include "runtime/session/session_rope.h"

static void reverse(uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t id = ids[i];

        ids[i] = ids[n - 1 - i];
        ids[n - 1 - i] = id;
    }
}

/* Swap the first a ids and the b ids after them. */
static void swap_parts(uint32_t *ids, uint32_t a, uint32_t b)
{
    reverse(ids, a);
    reverse(ids + a, b);
    reverse(ids, a + b);
}

/* Add the hidden states of the next n tokens, which are cached afterwards. */
static enum err add_chunk(struct session *s, uint32_t n, double *sum, uint32_t dim,
                          const struct stop *stop)
{
    enum err e = session_run_layers(s, n, n, false, stop);

    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        const float *hidden = transformer_hidden(&s->model->transformer, i);

        for (uint32_t j = 0; j < dim; j++) {
            sum[j] += (double)hidden[j];
        }
    }
    if (e == ERR_OK) {
        s->n_cached += n;
    }
    return e;
}

enum err session_embed(struct session *s, uint32_t n, const struct stop *stop, const float **mean)
{
    uint32_t dim = s->model->image.header->params.dim, rest = s->n_ids;
    struct session_hash hash = s->hash;
    double *sum = s->scratch.memory;
    uint8_t *out = s->scratch.memory; /* `out` overwrites the sums; each sum is read first */
    enum err e = ERR_OK;

    assert(n != 0 && n <= s->context - rest && dim * sizeof *sum <= s->scratch.bytes);
    memset(sum, 0, dim * sizeof *sum);
    session_forget_guesses(s);
    session_prefix_settle(s);
    swap_parts(s->ids, rest, n);
    session_clear(s);
    session_prefix_settle(s);
    s->n_ids = n;
    session_rope_settle(s);
    while (s->n_cached < n && e == ERR_OK) {
        uint32_t chunk = min_u32(n - s->n_cached, s->model->plan.chunk);

        e = add_chunk(s, session_pass_limit(s, chunk), sum, dim, stop);
    }
    session_clear(s);
    session_prefix_settle(s);
    swap_parts(s->ids, n, rest);
    s->n_ids = rest;
    s->hash = hash;
    for (uint32_t j = 0; j < dim; j++) {
        float value = (float)(sum[j] / (double)n);

        memcpy(out + j * sizeof value, &value, sizeof value);
    }
    *mean = s->scratch.memory;
    return e;
}
