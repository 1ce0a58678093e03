#include "runtime/features/lessons/ewc.h"

#include <math.h>
#include <string.h>

#define FISHER_KEPT 0.999f
#define FISHER_NEW 0.001f
#define LEAST_VARIANCE 1e-20f /* avoids division by 0 if a weight's gradient never changed */
#define NEW_TASK_Z 2.0f

size_t ewc_floats(size_t n)
{
    return 4 * n;
}

void ewc_open(struct ewc *e, float *memory, size_t n)
{
    memset(memory, 0, ewc_floats(n) * sizeof *memory);
    *e = (struct ewc){ n, memory, memory + n, memory + 2 * n, memory + 3 * n, 0, 0 };
}

float ewc_lambda(const struct ewc *e)
{
    float lambda = 2000.0f * (1.0f + 0.1f * (float)e->tasks);

    if (e->tasks == 0) {
        return 0.0f;
    }
    lambda = lambda > 100.0f ? lambda : 100.0f;
    return lambda < 15000.0f ? lambda : 15000.0f;
}

bool ewc_is_new_task(const struct ewc *e, const float *gradient)
{
    float sum = 0.0f;

    if (e->samples < EWC_LEAST_SAMPLES) {
        return false;
    }
    for (size_t i = 0; i < e->n; i++) {
        float variance = e->spread[i] / (float)(e->samples - 1) + LEAST_VARIANCE;

        sum += fabsf(gradient[i] - e->mean[i]) / sqrtf(variance);
    }
    return sum > NEW_TASK_Z * (float)e->n;
}

/* Welford's form of the variance avoids differences of large sums. */
void ewc_sample(struct ewc *e, const float *gradient)
{
    float share;

    e->samples++;
    share = 1.0f / (float)e->samples;
    for (size_t i = 0; i < e->n; i++) {
        float g = gradient[i], off = g - e->mean[i];

        e->fisher[i] = FISHER_KEPT * e->fisher[i] + FISHER_NEW * (g * g);
        e->mean[i] += off * share;
        e->spread[i] += off * (g - e->mean[i]);
    }
}

bool ewc_end_task(struct ewc *e, const float *weights)
{
    e->samples = 0;
    memset(e->mean, 0, e->n * sizeof *e->mean);
    memset(e->spread, 0, e->n * sizeof *e->spread);
    if (e->tasks == EWC_MOST_TASKS) {
        return false;
    }
    memcpy(e->anchor, weights, e->n * sizeof *weights);
    e->tasks++;
    return true;
}

void ewc_step(const struct ewc *e, float *weights, const float *gradient, float rate, float stiff)
{
    float pull = fabsf(rate) * ewc_lambda(e) * stiff; /* the penalty also limits steps away from a
                                                       * target */

    for (size_t i = 0; i < e->n; i++) {
        float penalty = pull * e->fisher[i];

        weights[i] = (weights[i] - rate * gradient[i] + penalty * e->anchor[i]) / (1.0f + penalty);
    }
}
