#include "runtime/model/ffn_dense.h"

/* The activation of n elements: of gate times up, or of up alone, to gate. */
static void activate(const struct transformer *t, float *gate, float *up, size_t n)
{
    if (t->tensors[INGOT_FFN_GATE] == NULL) { /* GELU: the reader refuses SiLU without a gate */
        t->kernels->gelu_f32(gate, up, n);
    } else if (t->data->activation == INGOT_GELU) {
        t->kernels->gelu_mul_f32(gate, gate, up, n);
    } else {
        t->kernels->silu_mul_f32(gate, gate, up, n);
    }
}

/* The rows that this core has just computed. */
static void activate_rows(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t first, last;

    workers_share(t->workers, core, t->data->hidden, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        activate(t, a->gate + i * a->hidden_stride + first, a->up + i * a->hidden_stride + first,
                 last - first);
    }
}

static bool run(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = { a->norm, a->dim_stride, t->n_tokens };
    struct linear_input gated = { a->gate, a->hidden_stride, t->n_tokens };

    if (t->tensors[INGOT_FFN_GATE] != NULL) {
        layer_multiply(t, core, t->tensors[INGOT_FFN_GATE],
                       t->segment + t->tensors[INGOT_FFN_GATE]->offset, t->data->hidden, &normed,
                       a->gate, a->hidden_stride);
    }
    layer_matrix(t, core, INGOT_FFN_UP, INGOT_FFN_UP_BIAS, &normed, a->up, a->hidden_stride);
    activate_rows(t, core);
    layer_step(t, core);
    layer_quantize(t, core, LAYER_ROLE(INGOT_FFN_DOWN), &gated);
    if (!layer_wait(t, core, INGOT_FFN_DOWN)) {
        return false;
    }
    layer_matrix(t, core, INGOT_FFN_DOWN, INGOT_FFN_DOWN_BIAS, &gated, a->norm, a->dim_stride);
    return true;
}

const struct layer_block ffn_dense = {
    .kind = INGOT_FFN_DENSE,
    .name = "dense",
    .needs = LAYER_ROLE(INGOT_FFN_UP) | LAYER_ROLE(INGOT_FFN_DOWN),
    .reads = LAYER_ROLE(INGOT_FFN_GATE) | LAYER_ROLE(INGOT_FFN_UP),
    .waits = LAYER_ROLE(INGOT_FFN_DOWN),
    .run = run,
};
