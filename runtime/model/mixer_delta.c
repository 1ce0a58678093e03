/* Per token, x being the normed input:
 *
 *   [q|k|v] = SiLU(conv(W_in x)), z = W_gate x
 *   beta_h = sigmoid(W_beta x)_h, decay_h = exp(a_h softplus((W_alpha x)_h + dt_h))
 *   o_h = delta step of head h's state with l2norm(q) / sqrt(state_dim), l2norm(k), v_h
 *   out = W_out (rmsnorm(o_h) SiLU(z_h))
 */
#include "runtime/model/mixer_delta.h"

#include <math.h>

#include "kernels/ref/scalar.h"
#include "runtime/model/recurrence.h"

/* The chunk's rows in act.work. */
struct rows {
    struct recurrence_rows in;          /* q, k, v before the convolution */
    struct recurrence_rows mixed;       /* q, k, v after the convolution; later o instead of v */
    struct recurrence_rows z;           /* z, and later the gated result */
    struct recurrence_rows beta, decay; /* for each head */
};

static struct rows take_rows(const struct transformer *t)
{
    const struct ingot_layer *l = t->data;
    uint8_t *at = t->act.work;
    struct rows r;

    r.in = recurrence_take(t, &at, recurrent_channels(l));
    r.mixed = recurrence_take(t, &at, recurrent_channels(l));
    r.z = recurrence_take(t, &at, l->inner_dim);
    r.beta = recurrence_take(t, &at, l->inner_heads);
    r.decay = recurrence_take(t, &at, l->inner_heads);
    return r;
}

static size_t work_bytes(const struct ingot_params *p, const struct ingot_layer *l)
{
    (void)p;
    return (2 * recurrence_stride(recurrent_channels(l)) + recurrence_stride(l->inner_dim) +
            2 * recurrence_stride(l->inner_heads)) *
           sizeof(float);
}

static size_t head_dim(const struct ingot_layer *l)
{
    return l->inner_dim / l->inner_heads;
}

/* A part has the channels of one group's q, of one group's k, or of one head's v. There are 2
 * n_groups + inner_heads parts. */
struct part {
    size_t first, n;
};

static struct part part_at(const struct ingot_layer *l, size_t number)
{
    size_t keys = 2 * (size_t)l->n_groups;

    if (number < keys) {
        return (struct part){ number * l->state_dim, l->state_dim };
    }
    return (struct part){ keys * l->state_dim + (number - keys) * head_dim(l), head_dim(l) };
}

/* Prepare one part of every token for the state's step. */
static void mix_part(const struct transformer *t, const struct rows *r, size_t number)
{
    const struct ingot_layer *l = t->data;
    struct part p = part_at(l, number);

    recurrence_convolve(t, &r->mixed, &r->in, p.first, p.first + p.n);
    /* All parts, which are queries, keys and values, get SiLU. Queries and keys are normed, and
     * queries are scaled. */
    for (size_t i = 0; i < t->n_tokens; i++) {
        float *x = r->mixed.at + i * r->mixed.stride + p.first;

        t->kernels->silu_f32(x, x, p.n);
        if (number < 2 * (size_t)l->n_groups) {
            t->kernels->l2norm_f32(x, x, p.n, params(t)->norm_eps);
        }
        if (number < l->n_groups) {
            t->kernels->scale_f32(x, x, p.n, 1.0f / sqrtf((float)l->state_dim));
        }
    }
}

static void mix_parts(const struct transformer *t, unsigned core, const struct rows *r)
{
    size_t n = 2 * (size_t)t->data->n_groups + t->data->inner_heads, first, last;

    workers_share(t->workers, core, n, 1, &first, &last);
    for (size_t i = first; i < last; i++) {
        mix_part(t, r, i);
    }
}

/* Compute how much of each state stays, and how far the state moves towards the new value. */
static void make_gates(const struct transformer *t, unsigned core, const struct rows *r)
{
    const float *a = layer_vector(t, INGOT_SSM_A), *dt = layer_vector(t, INGOT_SSM_DT);
    size_t first, last;

    workers_share(t->workers, core, t->data->inner_heads, 1, &first, &last);
    for (size_t i = 0; i < t->n_tokens; i++) {
        float *beta = r->beta.at + i * r->beta.stride, *decay = r->decay.at + i * r->decay.stride;

        for (size_t h = first; h < last; h++) {
            /* beta and decay overwrite their products. a is negative, so decay is in (0, 1). */
            beta[h] = sigmoid_f32(beta[h]);
            decay[h] = exp_f32(a[h] * softplus_f32(decay[h] + dt[h]));
        }
    }
}

/* Return the group whose query and key an inner head uses. */
static size_t group_of(const struct ingot_layer *l, size_t head)
{
    if ((l->features & INGOT_TILED_GROUPS) != 0) {
        return head % l->n_groups;
    }
    return head / (l->inner_heads / l->n_groups);
}

/* Step some columns of a head's state through all tokens of a sequence. */
static void step_columns(const struct transformer *t, const struct transformer_part *p,
                         const struct rows *r, const struct recurrence_columns *c)
{
    const struct ingot_layer *l = t->data;
    size_t keys = (size_t)l->n_groups * l->state_dim, group = group_of(l, c->head);
    struct state_shape shape;
    float *s = recurrence_matrix(t, p, c, &shape);

    /* Go token by token, because each step reads the state after the step before. */
    for (size_t i = p->first; i < p->first + p->n; i++) {
        float *row = r->mixed.at + i * r->mixed.stride;
        const float *q = row + group * l->state_dim;
        float *v = row + 2 * keys + c->head * head_dim(l) + c->first;

        /* o overwrites v, which is read first. */
        t->kernels->delta_f32(s, v, q, q + keys, v, &shape,
                              r->decay.at[i * r->decay.stride + c->head],
                              r->beta.at[i * r->beta.stride + c->head]);
    }
}

static void step_states(const struct transformer *t, unsigned core, const struct rows *r)
{
    size_t at, last;

    recurrence_share(t, core, t->data->inner_dim, &at, &last);
    /* Columns of a state are independent. Cores take adjacent columns, of one head at a time. */
    while (at < last) {
        struct recurrence_columns c = recurrence_columns(t->data, at, last);

        for (uint32_t i = 0; i < t->n_parts; i++) {
            step_columns(t, &t->parts[i], r, &c);
        }
        at += c.n;
    }
}

/* For this core's tokens, norm each head and gate it by z. The result replaces z. */
static void gate_heads(const struct transformer *t, unsigned core, const struct rows *r)
{
    const struct ingot_layer *l = t->data;
    const float *weights = layer_vector(t, INGOT_SSM_NORM);
    size_t d = head_dim(l), first, last;

    layer_share_tokens(t, core, &first, &last);
    for (size_t i = first; i < last; i++) {
        float *o = r->mixed.at + i * r->mixed.stride + 2 * (size_t)l->n_groups * l->state_dim;
        float *z = r->z.at + i * r->z.stride;

        for (size_t h = 0; h < l->inner_heads; h++) {
            t->kernels->rmsnorm_f32(o + h * d, o + h * d, weights, d, params(t)->norm_eps, 0.0f);
        }
        /* Compute out = SiLU(z) o for all heads at once. */
        t->kernels->silu_mul_f32(z, z, o, l->inner_dim);
    }
}

static bool run(const struct transformer *t, unsigned core)
{
    struct rows r = take_rows(t);

    /* 1. Copy the state, so that the pass can be taken back, and compute the four products. */
    recurrence_copy(t, core);
    recurrence_multiply(t, core, INGOT_SSM_IN, &r.in);
    recurrence_multiply(t, core, INGOT_SSM_GATE, &r.z);
    recurrence_multiply(t, core, INGOT_SSM_BETA, &r.beta);
    recurrence_multiply(t, core, INGOT_SSM_ALPHA, &r.decay);
    /* 2. The convolution reads rows of other cores. */
    layer_step(t, core);
    recurrence_begin(t, core);
    /* 3. Compute queries, keys, values and gates of every token. */
    mix_parts(t, core, &r);
    make_gates(t, core, &r);
    layer_step(t, core);
    /* 4. The recurrence itself. */
    step_states(t, core, &r);
    layer_step(t, core);
    /* 5. Norm and gate, then multiply by the output matrix. */
    gate_heads(t, core, &r);
    return recurrence_finish(t, core, &r.z);
}

#define READS \
    (LAYER_ROLE(INGOT_SSM_IN) | LAYER_ROLE(INGOT_SSM_GATE) | LAYER_ROLE(INGOT_SSM_BETA) | \
     LAYER_ROLE(INGOT_SSM_ALPHA))

const struct layer_block mixer_delta = {
    .kind = INGOT_MIXER_DELTA,
    .name = "gated delta net",
    .needs = READS | LAYER_ROLE(INGOT_SSM_CONV) | LAYER_ROLE(INGOT_SSM_A) |
             LAYER_ROLE(INGOT_SSM_DT) | LAYER_ROLE(INGOT_SSM_NORM) | LAYER_ROLE(INGOT_SSM_OUT),
    .reads = READS,
    .waits = LAYER_ROLE(INGOT_SSM_OUT),
    .state = &state_recurrent,
    .work_bytes = work_bytes,
    .run = run,
};
