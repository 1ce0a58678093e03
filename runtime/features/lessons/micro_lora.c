#include "runtime/features/lessons/micro_lora.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernels/ref/scalar.h"
#include "runtime/features/lessons/vector.h"

size_t micro_lora_floats(uint32_t dim, uint32_t rank)
{
    return (size_t)2 * rank * dim;
}

void micro_lora_open(struct micro_lora *m, float *weights, uint32_t dim, uint32_t rank,
                     unsigned seed)
{
    size_t half = (size_t)rank * dim;

    assert(rank >= 1 && rank <= MICRO_LORA_RANKS && dim != 0);
    *m = (struct micro_lora){ dim, rank, 1.0f, weights };
    /* A is random and B is zero, so at first the adapter changes nothing, but has a gradient. */
    vector_random(weights, half, 1.0f / sqrtf((float)dim), &seed);
    memset(weights + half, 0, half * sizeof *weights);
}

static const float *row_a(const struct micro_lora *m, uint32_t r)
{
    return m->weights + (size_t)r * m->dim;
}

static const float *row_b(const struct micro_lora *m, uint32_t r)
{
    return m->weights + (size_t)(m->rank + r) * m->dim;
}

void micro_lora_apply(const struct micro_lora *m, float *h)
{
    float u[MICRO_LORA_RANKS];

    for (uint32_t r = 0; r < m->rank; r++) {
        /* Compute all of A h before h changes. */
        u[r] = m->scale * vector_dot(row_a(m, r), h, m->dim);
    }
    for (uint32_t r = 0; r < m->rank; r++) {
        vector_add(h, row_b(m, r), u[r], m->dim);
    }
}

/* Insert a logit into the list, which has the best logit first. A full list loses its last
 * entry. */
static void insert(struct micro_lora_choice *c, uint32_t id, float logit)
{
    uint32_t at = c->n < MICRO_LORA_CANDIDATES ? c->n++ : MICRO_LORA_CANDIDATES - 1;

    for (; at > 0 && c->logits[at - 1] < logit; at--) {
        c->logits[at] = c->logits[at - 1];
        c->ids[at] = c->ids[at - 1];
    }
    c->logits[at] = logit;
    c->ids[at] = id;
}

static void find_best(struct micro_lora_choice *c, const float *logits, uint32_t vocab,
                      uint32_t target)
{
    float least = -INFINITY;

    c->n = 0;
    for (uint32_t id = 0; id < vocab; id++) {
        if (logits[id] > least && id != target) {
            insert(c, id, logits[id]);
            /* The list is full, so only better logits enter. */
            if (c->n == MICRO_LORA_CANDIDATES) {
                least = c->logits[c->n - 1];
            }
        }
    }
}

float micro_lora_slope(const struct micro_lora_head *head, float logit)
{
    float part;

    if (head->cap == 0.0f) {
        return head->scale;
    }
    /* Compute the derivative of cap tanh(x / cap) from the function's value. */
    part = logit / head->cap;
    return head->scale * (1.0f - part * part);
}

void micro_lora_choose(struct micro_lora_choice *c, const struct micro_lora_head *head,
                       const float *logits, uint32_t vocab, uint32_t target)
{
    float most, sum = 0.0f;
    uint32_t last;

    find_best(c, logits, vocab, target);
    /* The target is always in the list, whatever its logit. */
    last = c->n++;
    c->ids[last] = target;
    c->logits[last] = logits[target];
    c->best = last != 0 ? c->logits[0] : -INFINITY;
    most = c->best > logits[target] ? c->best : logits[target];
    /* The softmax is only over the list. */
    for (uint32_t k = 0; k < c->n; k++) {
        c->errors[k] = exp_f32(c->logits[k] - most);
        sum += c->errors[k];
    }
    for (uint32_t k = 0; k < c->n; k++) {
        c->errors[k] /= sum;
    }
    c->loss_p = c->errors[last];
    /* Errors are p - 1 for the target and p for others, times the slope of scale and cap. */
    c->errors[last] -= 1.0f;
    for (uint32_t k = 0; k < c->n; k++) {
        c->errors[k] *= micro_lora_slope(head, c->logits[k]);
    }
}

void micro_lora_hinge(struct micro_lora_choice *c, const struct micro_lora_head *head)
{
    uint32_t last = c->n - 1;

    assert(last != 0);
    memset(c->errors, 0, sizeof c->errors);
    c->errors[0] = micro_lora_slope(head, c->logits[0]);
    c->errors[last] = -micro_lora_slope(head, c->logits[last]);
}

uint32_t micro_lora_draw(const struct micro_lora_choice *c, float at)
{
    float most = c->logits[0] > c->logits[c->n - 1] ? c->logits[0] : c->logits[c->n - 1];
    float sum = 0.0f;

    for (uint32_t k = 0; k < c->n; k++) {
        sum += exp_f32(c->logits[k] - most);
    }
    /* Take the first token at which the running sum exceeds `at` times the total. */
    at *= sum;
    for (uint32_t k = 0; k + 1 < c->n; k++) {
        at -= exp_f32(c->logits[k] - most);
        if (at < 0.0f) {
            return k;
        }
    }
    return c->n - 1;
}

void micro_lora_gradient(const struct micro_lora *m, const float *h, const float *e,
                         float *gradient)
{
    float *of_b = gradient + (size_t)m->rank * m->dim;

    memset(gradient, 0, micro_lora_floats(m->dim, m->rank) * sizeof *gradient);
    for (uint32_t r = 0; r < m->rank; r++) {
        /* d/dA = B' e h', d/dB = e (A h)'. */
        float u = m->scale * vector_dot(row_a(m, r), h, m->dim);
        float t = m->scale * vector_dot(row_b(m, r), e, m->dim);

        vector_add(gradient + (size_t)r * m->dim, h, t, m->dim);
        vector_add(of_b + (size_t)r * m->dim, e, u, m->dim);
    }
}
