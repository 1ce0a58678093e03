/* Per token, x being the normed input:
 *
 *   [z|u|dt] = W_in x, [x|B|C] = SiLU(conv(u) + bias), dt_h = softplus(dt_h + b_h)
 *   S_h = exp(dt_h a_h) S_h + dt_h B_g x_h', y_h = S_h' C_g + d_h x_h, g the group of head h
 *   out = W_out rmsnorm(y SiLU(z)), the norm, if the layer has it, over each group's part of y
 */
#include "runtime/model/mixer_mamba2.h"

#include "kernels/ref/scalar.h"
#include "runtime/model/recurrence.h"

/* The chunk's rows in act.work. */
struct rows {
    struct recurrence_rows in;    /* z, the input of the convolution, dt */
    struct recurrence_rows mixed; /* x, B, C after the convolution */
    struct recurrence_rows y;
    struct recurrence_rows decay; /* decay of each head */
};

static size_t inputs(const struct ingot_layer *l)
{
    return l->inner_dim + recurrent_channels(l) + l->inner_heads;
}

static struct rows take_rows(const struct transformer *t)
{
    const struct ingot_layer *l = t->data;
    uint8_t *at = t->act.work;
    struct rows r;

    r.in = recurrence_take(t, &at, inputs(l));
    r.mixed = recurrence_take(t, &at, recurrent_channels(l));
    r.y = recurrence_take(t, &at, l->inner_dim);
    r.decay = recurrence_take(t, &at, l->inner_heads);
    return r;
}

static size_t work_bytes(const struct ingot_params *p, const struct ingot_layer *l)
{
    (void)p;
    return (recurrence_stride(inputs(l)) + recurrence_stride(recurrent_channels(l)) +
            recurrence_stride(l->inner_dim) + recurrence_stride(l->inner_heads)) *
           sizeof(float);
}

/* Return dt of token i, which is in the rows of W_in's result. */
static float *steps_of(const struct transformer *t, const struct rows *r, size_t i)
{
    return r->in.at + i * r->in.stride + t->data->inner_dim + recurrent_channels(t->data);
}

static void mix_channels(const struct transformer *t, unsigned core, const struct rows *r)
{
    struct recurrence_rows u = { r->in.at + t->data->inner_dim, r->in.stride };
    size_t first, last;

    /* The convolution treats channels separately, so cores share them. */
    recurrence_share(t, core, recurrent_channels(t->data), &first, &last);
    recurrence_convolve(t, &r->mixed, &u, first, last);
    for (size_t i = 0; i < t->n_tokens; i++) {
        float *x = r->mixed.at + i * r->mixed.stride + first;

        t->kernels->silu_f32(x, x, last - first);
    }
}

static void make_steps(const struct transformer *t, unsigned core, const struct rows *r)
{
    const float *a = layer_vector(t, INGOT_SSM_A), *bias = layer_vector(t, INGOT_SSM_DT);
    size_t first, last;

    workers_share(t->workers, core, t->data->inner_heads, 1, &first, &last);
    for (size_t i = 0; i < t->n_tokens; i++) {
        float *dt = steps_of(t, r, i), *decay = r->decay.at + i * r->decay.stride;

        for (size_t h = first; h < last; h++) {
            /* dt > 0 and a < 0, so the decay is below 1. */
            dt[h] = softplus_f32(dt[h] + bias[h]);
            decay[h] = exp_f32(dt[h] * a[h]);
        }
    }
}

/* Step some columns of a head's state through all tokens of a sequence. */
static void step_columns(const struct transformer *t, const struct transformer_part *p,
                         const struct rows *r, const struct recurrence_columns *c)
{
    const struct ingot_layer *l = t->data;
    size_t group = c->head / (l->inner_heads / l->n_groups);
    size_t column = c->head * (l->inner_dim / l->inner_heads) + c->first;
    float through = layer_vector(t, INGOT_SSM_D)[c->head];
    struct state_shape shape;
    float *s = recurrence_matrix(t, p, c, &shape);

    for (size_t i = p->first; i < p->first + p->n; i++) {
        const float *x = r->mixed.at + i * r->mixed.stride;
        /* B and C of the group follow x in the row. */
        const float *b = x + l->inner_dim + group * l->state_dim;
        float *y = r->y.at + i * r->y.stride + column;

        t->kernels->mamba2_f32(s, y, x + column, b, b + (size_t)l->n_groups * l->state_dim, &shape,
                               r->decay.at[i * r->decay.stride + c->head],
                               steps_of(t, r, i)[c->head]);
        /* Add d x, which does not pass through the state. */
        t->kernels->add_scaled_f32(y, x + column, c->n, through);
    }
}

static void step_states(const struct transformer *t, unsigned core, const struct rows *r)
{
    size_t at, last;

    recurrence_share(t, core, t->data->inner_dim, &at, &last);
    while (at < last) {
        struct recurrence_columns c = recurrence_columns(t->data, at, last);

        for (uint32_t i = 0; i < t->n_parts; i++) {
            step_columns(t, &t->parts[i], r, &c);
        }
        at += c.n;
    }
}

/* For this core's tokens, gate by z, then norm each group. */
static void gate_groups(const struct transformer *t, unsigned core, const struct rows *r)
{
    const struct ingot_layer *l = t->data;
    const float *weights = layer_vector(t, INGOT_SSM_NORM);
    size_t n = l->inner_dim / l->n_groups, first, last;

    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *y = r->y.at + i * r->y.stride;

        /* z is the first part of W_in's result. */
        t->kernels->silu_mul_f32(y, r->in.at + i * r->in.stride, y, l->inner_dim);
        for (size_t at = 0; at < l->inner_dim && weights != NULL; at += n) {
            t->kernels->rmsnorm_f32(y + at, y + at, weights + at, n, params(t)->norm_eps, 0.0f);
        }
    }
}

static bool run(const struct transformer *t, unsigned core)
{
    struct rows r = take_rows(t);

    recurrence_copy(t, core);
    recurrence_multiply(t, core, INGOT_SSM_IN, &r.in);
    /* Each of the next steps reads results of other cores. */
    layer_step(t, core);
    recurrence_begin(t, core);
    mix_channels(t, core, &r);
    make_steps(t, core, &r);
    layer_step(t, core);
    step_states(t, core, &r);
    layer_step(t, core);
    gate_groups(t, core, &r);
    return recurrence_finish(t, core, &r.y);
}

const struct layer_block mixer_mamba2 = {
    .kind = INGOT_MIXER_MAMBA2,
    .name = "Mamba2",
    .needs = LAYER_ROLE(INGOT_SSM_IN) | LAYER_ROLE(INGOT_SSM_CONV) | LAYER_ROLE(INGOT_SSM_A) |
             LAYER_ROLE(INGOT_SSM_DT) | LAYER_ROLE(INGOT_SSM_D) | LAYER_ROLE(INGOT_SSM_OUT),
    .reads = LAYER_ROLE(INGOT_SSM_IN),
    .waits = LAYER_ROLE(INGOT_SSM_OUT),
    .state = &state_recurrent,
    .work_bytes = work_bytes,
    .run = run,
};
