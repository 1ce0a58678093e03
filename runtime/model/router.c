#include "runtime/model/router.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/ref/scalar.h"

/* The least divisor of the weights is the smallest normal f16 number. */
static const float least_sum = 6.103515625e-5f;

/* Turn logits into the scores for the weights, and compute the scores for the choice. */
static void score(const struct kernels *k, const struct ingot_layer *l, float *logits,
                  const float *choice_bias, float *scores)
{
    if (l->router == INGOT_ROUTER_SOFTMAX) {
        k->softmax_f32(logits, l->n_experts);
    }
    for (uint32_t i = 0; i < l->n_experts && l->router == INGOT_ROUTER_SIGMOID; i++) {
        logits[i] = sigmoid_f32(logits[i]);
    }
    /* The bias affects the choice, but not the weights. */
    for (uint32_t i = 0; i < l->n_experts; i++) {
        scores[i] = logits[i] + (choice_bias != NULL ? choice_bias[i] : 0.0f);
    }
}

/* Find the highest score that is not taken yet. A NaN is lower than any number. */
static uint32_t best(uint32_t n, const float *scores, const uint8_t *taken)
{
    uint32_t found = n;

    for (uint32_t i = 0; i < n; i++) {
        if ((taken[i / 8] >> i % 8 & 1) == 0 &&
            (found == n || scores[i] > scores[found] || isnan(scores[found]))) {
            found = i;
        }
    }
    return found;
}

/* Return a group's score, that of its best expert or the sum of its best two. */
static float group_score(const struct ingot_layer *l, const float *scores)
{
    uint32_t n = l->n_experts / l->expert_groups;
    float first = -INFINITY, second = -INFINITY;

    for (uint32_t i = 0; i < n; i++) {
        if (scores[i] > first) {
            second = first;
            first = scores[i];
        } else if (scores[i] > second) {
            second = scores[i];
        }
    }
    if ((l->features & INGOT_GROUPS_BY_TWO) == 0) {
        return first;
    }
    return first + second;
}

static void take(uint8_t *taken, uint32_t i)
{
    taken[i / 8] |= (uint8_t)(1u << i % 8);
}

/* Mark all experts as taken except those of the best groups. If groups are equal, the lower number
 * is better. */
static void leave_groups(const struct ingot_layer *l, const float *scores, uint8_t *taken)
{
    uint32_t n = l->expert_groups, each = n == 0 ? 0 : l->n_experts / n;
    uint8_t left[INGOT_MAX_EXPERTS / 8] = { 0 };
    float groups[INGOT_MAX_EXPERTS];

    for (uint32_t i = 0; i < n; i++) {
        groups[i] = group_score(l, scores + i * each);
    }
    /* Find the best groups, as many as may be used. */
    for (uint32_t i = 0; i < l->expert_groups_used; i++) {
        take(left, best(n, groups, left));
    }
    /* Mark the experts of the other groups. */
    for (uint32_t i = 0; i < n * each; i++) {
        if ((left[i / each / 8] >> i / each % 8 & 1) == 0) {
            take(taken, i);
        }
    }
}

static void weigh(const struct kernels *k, const struct ingot_layer *l, float *weights)
{
    float sum = 0.0f;

    if (l->router == INGOT_ROUTER_SOFTMAX_CHOSEN) {
        k->softmax_f32(weights, l->n_experts_used);
    }
    for (uint32_t i = 0; i < l->n_experts_used; i++) {
        sum += weights[i];
    }
    /* The sum of the scores may be zero. */
    if (sum < least_sum) {
        sum = least_sum;
    }
    for (uint32_t i = 0; i < l->n_experts_used; i++) {
        if ((l->features & INGOT_RENORMALIZE) != 0) {
            weights[i] /= sum;
        }
        weights[i] *= l->expert_scale;
    }
}

/* Insert a choice among the first n, in ascending order of experts. */
static void insert(struct router_choice *chosen, uint32_t n, struct router_choice c)
{
    while (n > 0 && chosen[n - 1].expert > c.expert) {
        chosen[n] = chosen[n - 1];
        n--;
    }
    chosen[n] = c;
}

void router_choose(const struct kernels *k, const struct ingot_layer *l, float *logits,
                   const float *choice_bias, float *scores, struct router_choice *chosen)
{
    uint8_t taken[INGOT_MAX_EXPERTS / 8] = { 0 };
    uint32_t ranked[INGOT_MAX_EXPERTS];
    float weights[INGOT_MAX_EXPERTS];

    score(k, l, logits, choice_bias, scores);
    leave_groups(l, scores, taken);
    for (uint32_t rank = 0; rank < l->n_experts_used; rank++) {
        uint32_t expert = best(l->n_experts, scores, taken);

        take(taken, expert);
        ranked[rank] = expert;
        /* The weight is the score without the bias. */
        weights[rank] = logits[expert];
    }
    weigh(k, l, weights);
    for (uint32_t rank = 0; rank < l->n_experts_used; rank++) {
        insert(chosen, rank, (struct router_choice){ ranked[rank], weights[rank] });
    }
}
