#include "runtime/model/ffn_dense.h"

/* gpt-oss limits gates to at most `oai_limit` and linear parts to between -`oai_limit` and
 * `oai_limit`, and computes sigmoid(oai_alpha gate). */
static const float oai_limit = 7.0f, oai_alpha = 1.702f;

static void activate_gated(const struct transformer *t, float *gate, const float *up, size_t n)
{
    switch (t->data->activation) {
    case INGOT_GELU: t->kernels->gelu_mul_f32(gate, gate, up, n); return;
    case INGOT_RELU2: t->kernels->relu2_mul_f32(gate, gate, up, n); return;
    case INGOT_SWIGLU_OAI:
        t->kernels->swiglu_oai_f32(gate, gate, up, n, oai_limit, oai_alpha);
        return;
    default: t->kernels->silu_mul_f32(gate, gate, up, n); return;
    }
}

void ffn_activate(const struct transformer *t, float *gate, const float *up, size_t n)
{
    if ((t->data->features & INGOT_GATED) != 0) {
        activate_gated(t, gate, up, n);
    } else if (t->data->activation == INGOT_RELU2) { /* the image reader refuses other activations
                                                      * without a gate */
        t->kernels->relu2_f32(gate, up, n);
    } else {
        t->kernels->gelu_f32(gate, up, n);
    }
}

/* Apply the activation to the rows that this core has just computed. */
static void activate_rows(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t stride = layer_stride(t, INGOT_FFN_DOWN), first, last;

    workers_share(t->workers, core, t->data->hidden, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        ffn_activate(t, a->gate + i * stride + first, a->up + i * stride + first, last - first);
    }
}

bool ffn_dense_run(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    struct linear_input normed = layer_normed(t, core), gated;
    size_t stride = layer_stride(t, INGOT_FFN_DOWN);

    if (t->tensors[INGOT_FFN_GATE] != NULL) {
        layer_multiply(t, core, t->tensors[INGOT_FFN_GATE],
                       t->segment + t->tensors[INGOT_FFN_GATE]->offset, t->data->hidden, &normed,
                       a->gate, stride);
    }
    layer_matrix(t, core, INGOT_FFN_UP, INGOT_FFN_UP_BIAS, &normed, a->up, stride);
    activate_rows(t, core);
    if (!layer_ready(t, core, INGOT_FFN_DOWN, layer_vector(t, INGOT_FFN_SUB_NORM), t->data->hidden,
                     a->gate, &gated)) {
        return false;
    }
    layer_matrix(t, core, INGOT_FFN_DOWN, INGOT_FFN_DOWN_BIAS, &gated, a->out, a->dim_stride);
    return true;
}

const struct layer_block ffn_dense = {
    .kind = INGOT_FFN_DENSE,
    .name = "dense",
    .needs = LAYER_ROLE(INGOT_FFN_UP) | LAYER_ROLE(INGOT_FFN_DOWN),
    .reads = LAYER_ROLE(INGOT_FFN_GATE) | LAYER_ROLE(INGOT_FFN_UP),
    .waits = LAYER_ROLE(INGOT_FFN_DOWN),
    .run = ffn_dense_run,
};
