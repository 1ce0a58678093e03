#include "runtime/features/lessons/learner.h"

#include <math.h>
#include <string.h>

#include "runtime/features/lessons/vector.h"

#define LONGEST_YIELD 1.0f
enum { SEED = 18 }; /* seed of A, the same on every board */

struct learner_rule learner_default_rule(void)
{
    return (struct learner_rule){ .rate = 0.01f,
                                  .clip = 10.0f,
                                  .quality = 0.7f,
                                  .most = 50.0f,
                                  .ewc_penalty = true,
                                  .stiff = 0.001f };
}

size_t learner_bytes(uint32_t dim, uint32_t rank)
{
    size_t n = micro_lora_floats(dim, rank);

    return (4 * n + ewc_floats(n)) * sizeof(float);
}

void learner_clear(struct learner *l)
{
    micro_lora_open(&l->lora, l->lora.weights, l->lora.dim, l->lora.rank, SEED);
    ewc_open(&l->ewc, l->ewc.fisher, l->ewc.n);
    l->totals = (struct learner_totals){ 0 };
    l->can_undo = false;
}

void learner_open(struct learner *l, void *memory, uint32_t dim, uint32_t rank,
                  const struct learner_rule *rule)
{
    size_t n = micro_lora_floats(dim, rank);
    float *f = memory;

    memset(l, 0, sizeof *l);
    l->rule = *rule;
    /* The order in memory is weights, gradient, weights before a step, weights before the lesson,
     * EWC's memory. */
    l->gradient = f + n;
    l->before = f + 2 * n;
    l->kept = f + 3 * n;
    micro_lora_open(&l->lora, f, dim, rank, SEED);
    ewc_open(&l->ewc, f + 4 * n, n);
}

void learner_begin(struct learner *l)
{
    /* /undo restores this state. */
    memcpy(l->kept, l->lora.weights, l->ewc.n * sizeof(float));
    l->kept_totals = l->totals;
    l->can_undo = true;
    l->totals.lessons++;
}

bool learner_undo(struct learner *l)
{
    if (!l->can_undo) {
        return false;
    }
    memcpy(l->lora.weights, l->kept, l->ewc.n * sizeof(float));
    l->totals = l->kept_totals;
    l->can_undo = false;
    return true;
}

/* Clip the gradient's length. Returns false if the gradient is not valid. */
static bool clip(const struct learner *l)
{
    float square = vector_dot(l->gradient, l->gradient, l->ewc.n);
    float length = sqrtf(square);

    /* The square may overflow although no component does. */
    if (!vector_is_finite(&square, 1) || !vector_is_finite(l->gradient, l->ewc.n)) {
        return false;
    }
    if (length > l->rule.clip) {
        vector_scale(l->gradient, l->rule.clip / length, l->ewc.n);
    }
    return true;
}

bool learner_is_sound(const struct learner *l)
{
    float square = vector_dot(l->lora.weights, l->lora.weights, l->ewc.n);

    return vector_is_finite(l->lora.weights, l->ewc.n) && square <= l->rule.most * l->rule.most;
}

void learner_feel(struct learner *l, const float *h, const float *e)
{
    micro_lora_gradient(&l->lora, h, e, l->gradient);
    if (!l->rule.ewc_penalty || !clip(l)) {
        return;
    }
    /* The gradient's direction is unlike earlier ones, so protect what was learnt so far. */
    if (ewc_is_new_task(&l->ewc, l->gradient)) {
        (void)ewc_end_task(&l->ewc, l->lora.weights);
    }
    ewc_sample(&l->ewc, l->gradient);
}

enum learner_step learner_step(struct learner *l, const float *h, const float *e, float quality,
                               float sign)
{
    size_t n = l->ewc.n;

    /* Because of the negation, NaN counts as poor quality. */
    if (!(quality >= l->rule.quality)) {
        return LEARNER_POOR;
    }
    micro_lora_gradient(&l->lora, h, e, l->gradient);
    if (!clip(l)) {
        l->totals.thrown++;
        return LEARNER_THROWN;
    }
    memcpy(l->before, l->lora.weights, n * sizeof(float));
    /* Weights move less if earlier tasks need them. */
    if (l->rule.ewc_penalty) {
        ewc_step(&l->ewc, l->lora.weights, l->gradient, l->rule.rate * quality * sign,
                 l->rule.stiff);
    } else {
        vector_add(l->lora.weights, l->gradient, -l->rule.rate * quality * sign, n);
    }
    /* If the weights are too large or not finite, restore them. */
    if (!learner_is_sound(l)) {
        memcpy(l->lora.weights, l->before, n * sizeof(float));
        l->totals.thrown++;
        return LEARNER_THROWN;
    }
    l->totals.steps++;
    return LEARNER_LEARNT;
}

bool learner_yield(struct learner *l, const float *h, const float *e, float rise)
{
    size_t n = l->ewc.n;
    float square, step;

    micro_lora_gradient(&l->lora, h, e, l->gradient);
    square = vector_dot(l->gradient, l->gradient, n);
    if (!(square > 0.0f) || !vector_is_finite(&square, 1)) {
        l->totals.thrown++;
        return false;
    }
    /* To first order, a step of this size changes the margin by `rise`. */
    step = rise / square;
    /* A small gradient would make the step too long. */
    if (step * sqrtf(square) > LONGEST_YIELD) {
        step = LONGEST_YIELD / sqrtf(square);
    }
    memcpy(l->before, l->lora.weights, n * sizeof(float));
    vector_add(l->lora.weights, l->gradient, step, n);
    if (!learner_is_sound(l)) {
        memcpy(l->lora.weights, l->before, n * sizeof(float));
        l->totals.thrown++;
        return false;
    }
    l->totals.steps++;
    return true;
}

void learner_step_back(struct learner *l)
{
    memcpy(l->lora.weights, l->before, l->ewc.n * sizeof(float));
    l->totals.steps--;
}

void learner_restart(struct learner *l)
{
    memcpy(l->lora.weights, l->kept, l->ewc.n * sizeof(float));
    l->totals.steps = l->kept_totals.steps;
}

void learner_halve(struct learner *l)
{
    for (size_t i = 0; i < l->ewc.n; i++) {
        l->lora.weights[i] = 0.5f * (l->kept[i] + l->lora.weights[i]);
    }
}
