/* Online elastic weight consolidation (EWC, arXiv 1612.00796) protects weights that mattered to
 * earlier tasks. It adds the penalty lambda / 2 sum F_i (w_i - anchor_i)^2, where F is the running
 * mean of squared gradients.
 *
 * The penalty's step is implicit. With lambda in the thousands an explicit step would overshoot
 * more each time. An implicit step never goes past the anchor. */
#ifndef INGOT_RUNTIME_LEARN_EWC_H
#define INGOT_RUNTIME_LEARN_EWC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EWC_MOST_TASKS = 10, EWC_LEAST_SAMPLES = 50 };

struct ewc {
    size_t n;
    float *fisher, *anchor; /* (n) */
    float *mean, *spread;   /* (n) mean of the task's gradients, and sum of their squared distances
                             * from it */
    uint32_t tasks;         /* number of tasks that have ended; 0 means no EWC penalty */
    uint32_t samples;       /* number of gradients of the current task */
};

/* Return how many floats of memory n weights need. */
size_t ewc_floats(size_t n);
void ewc_open(struct ewc *e, float *memory, size_t n);

/* The penalty's factor lambda: clamp(2000 (1 + tasks / 10), 100, 15000); 0 before the first task
 * has ended. */
float ewc_lambda(const struct ewc *e);

/* Return true if the gradient belongs to a new task. This is so if at least EWC_LEAST_SAMPLES
 * gradients were counted, and the gradient's components are on average more than 2 standard
 * deviations from their means. */
bool ewc_is_new_task(const struct ewc *e, const float *gradient);

/* Count the gradient in F = .999 F + .001 g^2 and in the task's mean and spread. */
void ewc_sample(struct ewc *e, const float *gradient);

/* Make the present weights the anchor of the EWC penalty. If EWC_MOST_TASKS have ended, return
 * false and leave the anchor unchanged. */
bool ewc_end_task(struct ewc *e, const float *weights);

/* w = (w - rate g + p F anchor) / (1 + p F), p = |rate| lambda stiff */
void ewc_step(const struct ewc *e, float *weights, const float *gradient, float rate, float stiff);

#endif
