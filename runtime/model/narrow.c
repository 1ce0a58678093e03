#include "runtime/model/narrow.h"

#include <assert.h>
#include <string.h>

#include "runtime/base/trace.h"
#include "runtime/model/layer.h"

static void first_work(void *arg, struct workers *workers, unsigned core)
{
    const struct transformer *t = arg;

    (void)workers;
    layer_run_first(t, core);
}

static void rest_work(void *arg, struct workers *workers, unsigned core)
{
    const struct transformer *t = arg;
    uint64_t begin = trace_begin(workers->trace);

    (void)workers;
    layer_run_rest(t, core);
    trace_end(workers->trace, TRACE_LAYER, t->layer, core, begin);
}

/* In x and in the embeddings of each layer, move the rows of tokens that continue to the front. */
static void move_rows(const struct transformer *t, uint32_t to, uint32_t from, uint32_t n)
{
    const struct activations *a = &t->act;

    memmove(a->x + to * a->dim_stride, a->x + from * a->dim_stride,
            n * a->dim_stride * sizeof *a->x);
    if (params(t)->per_layer_dim != 0) {
        memmove(a->per_layer + to * a->per_layer_stride, a->per_layer + from * a->per_layer_stride,
                n * a->per_layer_stride * sizeof *a->per_layer);
    }
}

/* Reduce the pass to the tokens that continue. */
static void narrow(struct transformer *t)
{
    uint32_t at = 0, n_parts = 0;

    for (uint32_t i = 0; i < t->n_pass_parts; i++) {
        struct transformer_part p = t->pass_parts[i];
        uint32_t from = p.first + p.skip;

        p.n -= p.skip;
        p.position += p.skip;
        p.skip = 0;
        p.first = at;
        if (p.n != 0) {
            move_rows(t, at, from, p.n);
            t->read_parts[n_parts++] = p;
            at += p.n;
        }
    }
    t->n_tokens = at;
    t->is_narrow = true;
    t->parts = t->read_parts;
    t->n_parts = n_parts;
}

void narrow_run(struct transformer *t)
{
    workers_run(t->workers, first_work, t);
    narrow(t);
}

void narrow_run_rest(struct transformer *t)
{
    if (t->n_tokens == 0) {
        return;
    }
    t->has_keys = true;
    layer_enter_adapters(t, t->layer);
    workers_run(t->workers, rest_work, t);
    t->has_keys = false;
}

const float *narrow_row(const struct transformer *t, uint32_t token)
{
    uint32_t row = token;

    for (uint32_t i = 0; t->is_narrow && i < t->n_pass_parts; i++) {
        const struct transformer_part *p = &t->pass_parts[i];

        if (token >= p->first) {
            assert(token - p->first >= p->skip || token >= p->first + p->n);
            row -= p->skip;
        }
    }
    return t->act.x + row * t->act.dim_stride;
}
