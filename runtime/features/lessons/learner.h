/* Guarded steps of an adapter. A gradient is clipped and limited by the EWC penalty of earlier
 * tasks. A step that gives NaN or too large weights is dropped. The weights before a lesson are
 * kept, so that one lesson can be undone. */
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
    float quality;    /* the least quality of an example from which a step is taken */
    float most;       /* greatest norm of the weights; a step beyond it is dropped */
    bool ewc_penalty; /* whether steps use the EWC penalty */
    float stiff;      /* multiplies lambda */
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
    float *gradient, *before, *kept; /* (n) gradient of a step, weights before the step, and weights
                                      * before the lesson */
    struct learner_totals kept_totals;
    bool can_undo;
};

struct learner_rule learner_default_rule(void);

/* `memory` is learner_bytes(), aligned for floats. */
size_t learner_bytes(uint32_t dim, uint32_t rank);
void learner_open(struct learner *l, void *memory, uint32_t dim, uint32_t rank,
                  const struct learner_rule *rule);

/* Begin a lesson; learner_undo returns to this state. Undoing a lesson keeps the EWC penalty,
 * because the penalty says which weights matter, not what was learnt. */
void learner_begin(struct learner *l);
/* Take the last lesson back. Returns false if there is none to take back. */
bool learner_undo(struct learner *l);

/* Return true if the weights are valid after a step. */
bool learner_is_sound(const struct learner *l);

/* Forget everything that was learnt. */
void learner_clear(struct learner *l);

/* Count the gradient in the EWC penalty, without a step. If the gradient shows that a new task
 * begins, the present weights become the anchor of the penalty. Call once for each example, but not
 * for later practice of the example. */
void learner_feel(struct learner *l, const float *h, const float *e);

/* Take one step from the hidden state h (dim) and the error e (dim). No step is taken if the
 * example's quality is below the rule's minimum. sign is 1 towards the target, -1 away from it. */
enum learner_step learner_step(struct learner *l, const float *h, const float *e, float quality,
                               float sign);

/* Take one step at the hidden state h, where e is the derivative of a margin
 * (chat_learn_make_margin). To first order the step raises the margin by `rise`, but the step is
 * never longer than 1. Returns false if the step was dropped. */
bool learner_yield(struct learner *l, const float *h, const float *e, float rise);
/* Restore the weights from before the latest step, which must not have been dropped. */
void learner_step_back(struct learner *l);

/* Restore the weights from before the lesson. The lesson goes on. */
void learner_restart(struct learner *l);
/* Keep half of what the lesson changed so far. */
void learner_halve(struct learner *l);

#endif
