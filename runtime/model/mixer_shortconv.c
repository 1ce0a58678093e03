#include "runtime/model/mixer_shortconv.h"

#include "runtime/model/recurrence.h"

/* The chunk's rows in act.work. */
struct rows {
    struct recurrence_rows in; /* B, C and u; later B u instead of B */
    struct recurrence_rows y;
};

static struct rows take_rows(const struct transformer *t)
{
    uint8_t *at = t->act.work;
    struct rows r;

    r.in = recurrence_take(t, &at, 3 * (size_t)t->data->inner_dim);
    r.y = recurrence_take(t, &at, t->data->inner_dim);
    return r;
}

static size_t work_bytes(const struct ingot_params *p, const struct ingot_layer *l)
{
    (void)p;
    return (recurrence_stride(3 * (size_t)l->inner_dim) + recurrence_stride(l->inner_dim)) *
           sizeof(float);
}

/* Channels are independent, so B u, the convolution and C y need no barrier between them. */
static void mix_channels(const struct transformer *t, unsigned core, const struct rows *r)
{
    size_t d = t->data->inner_dim, first, last;

    recurrence_share(t, core, d, &first, &last);
    for (size_t i = 0; i < t->n_tokens; i++) {
        float *in = r->in.at + i * r->in.stride + first;

        t->kernels->mul_f32(in, in, in + 2 * d, last - first);
    }
    recurrence_convolve(t, &r->y, &r->in, first, last);
    for (size_t i = 0; i < t->n_tokens; i++) {
        float *y = r->y.at + i * r->y.stride + first;

        t->kernels->mul_f32(y, y, r->in.at + i * r->in.stride + d + first, last - first);
    }
}

static bool run(const struct transformer *t, unsigned core)
{
    struct rows r = take_rows(t);

    recurrence_copy(t, core);
    recurrence_multiply(t, core, INGOT_SSM_IN, &r.in);
    layer_step(t, core);
    recurrence_begin(t, core);
    mix_channels(t, core, &r);
    layer_step(t, core);
    return recurrence_finish(t, core, &r.y);
}

const struct layer_block mixer_shortconv = {
    .kind = INGOT_MIXER_SHORTCONV,
    .name = "short convolution",
    .needs = LAYER_ROLE(INGOT_SSM_IN) | LAYER_ROLE(INGOT_SSM_CONV) | LAYER_ROLE(INGOT_SSM_OUT),
    .reads = LAYER_ROLE(INGOT_SSM_IN),
    .waits = LAYER_ROLE(INGOT_SSM_OUT),
    .state = &state_recurrent,
    .work_bytes = work_bytes,
    .run = run,
};
