/* Steps of an adapter, guarded: a gradient is clipped, held by the EWC penalty of earlier tasks, and a step
 * that leaves NaN or a weight too large is thrown away. Before a lesson the weights are kept, and one
 * lesson can be undone. */
#ifndef INGOT_RUNTIME_LEARN_LEARNER_H
#define INGOT_RUNTIME_LEARN_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/features/lessons/ewc.h"
#include "runtime/features/lessons/micro_lora.h"

struct learner_rule {
    float rate;
    float clip;       /* longest gradient */
    float quality;    /* least one of a lesson: .7 */
    float most;       /* longest weights, as a vector: a step beyond is thrown away */
    bool ewc_penalty; /* EWC ... */
    float stiff;      /* ... whose lambda counts so much */
};

enum learner_step { LEARNER_LEARNT, LEARNER_POOR, LEARNER_THROWN };

struct learner_totals {
    uint32_t lessons, steps, thrown;
};

struct learner {
    struct micro_lora lora;
    struct ewc ewc;
    struct learner_rule rule;
    struct learner_totals totals;
    float *gradient, *before, *kept; /* (n): of a step, before it, before the lesson */
    struct learner_totals kept_totals;
    bool can_undo;
};

struct learner_rule learner_default_rule(void);

/* memory: learner_bytes(), for floats. */
size_t learner_bytes(uint32_t dim, uint32_t rank);
void learner_open(struct learner *l, void *memory, uint32_t dim, uint32_t rank,
                  const struct learner_rule *rule);

/* A lesson begins: what learner_undo goes back to. The EWC penalty, too, stays as it is when the lesson is undone:
 * they say what matters, not what is known. */
void learner_begin(struct learner *l);
/* False: there is no lesson to take back. */
bool learner_undo(struct learner *l);

/* Whether the weights are such as a step may leave. */
bool learner_is_sound(const struct learner *l);

/* Everything that was learnt is forgotten. */
void learner_clear(struct learner *l);

/* No step: the gradient counts in the EWC penalty, and may show that a new task begins, whose anchor is
 * what is known now. Once for each example: steps that practise it again would count it as often. */
void learner_feel(struct learner *l, const float *h, const float *e);

/* One step from the hidden state h (dim) and the error e (dim). quality: of what is learnt from, below
 * the rule's nothing is. sign: 1 towards the target, -1 away from it. */
enum learner_step learner_step(struct learner *l, const float *h, const float *e, float quality,
                               float sign);

/* One step from h along a margin's error e (chat_learn_make_margin) that is as long as the margin has to rise by `rise`, were it
 * linear, and no longer than 1. False: thrown away. */
bool learner_yield(struct learner *l, const float *h, const float *e, float rise);
/* The weights are as before the latest step, which was not thrown away. */
void learner_step_back(struct learner *l);

#endif
