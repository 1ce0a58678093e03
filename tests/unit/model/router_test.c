/* The experts that a token takes: the router against the plain definition, which ranks all experts
 * and all groups by counting who is better; with scores of any sign, ties, and NaN. */
#include "runtime/model/router.h"

#include <math.h>
#include <string.h>

#include "tests/unit/tap.h"

enum { MOST = 256, ROUNDS = 200 };

static struct kernels kernels;
static uint32_t state = 7;

/* -1 .. 1 in steps of 1/16, so that equal scores are common. */
static float coarse(void)
{
    state = state * 1664525u + 1013904223u;
    return (float)((int)(state >> 16) % 33 - 16) / 16.0f;
}

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

/* Returns the weight of an expert before it is divided by the sum. */
static void weigh_plainly(const struct ingot_layer *l, const float *logits, double *weights)
{
    double sum = 0.0;

    for (uint32_t i = 0; i < l->n_experts; i++)
        sum += exp((double)logits[i]);
    for (uint32_t i = 0; i < l->n_experts; i++)
        weights[i] = l->router == INGOT_ROUTER_SIGMOID ? sigmoid((double)logits[i])
                                                       : exp((double)logits[i]) / sum;
}

/* Counts how many of n come before number i. */
static uint32_t rank(const double *values, const bool *open, uint32_t n, uint32_t i)
{
    uint32_t before = 0;

    for (uint32_t j = 0; j < n; j++)
        before += open[j] && (values[j] > values[i] || (j < i && !(values[j] < values[i])));
    return before;
}

/* Returns the sum of the `two` best experts of a group, or its best one. */
static double group_value(const double *values, uint32_t n, bool two)
{
    double best = -INFINITY;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            if (two && i != j)
                best = fmax(best, values[i] + values[j]);
        }
        if (!two)
            best = fmax(best, values[i]);
    }
    return best;
}

/* Finds the experts that may be chosen. */
static void open_groups(const struct ingot_layer *l, const double *values, bool *open)
{
    uint32_t n = l->expert_groups, each = n == 0 ? 0 : l->n_experts / n;
    bool two = (l->features & INGOT_GROUPS_BY_TWO) != 0, all[MOST];
    double groups[MOST];

    for (uint32_t i = 0; i < l->n_experts; i++)
        open[i] = all[i] = true;
    for (uint32_t g = 0; g < n; g++)
        groups[g] = group_value(values + g * each, each, two);
    for (uint32_t i = 0; i < n * each; i++)
        open[i] = rank(groups, all, n, i / each) < l->expert_groups_used;
}

/* Whether the choice agrees with the definition. */
static bool agrees(const struct ingot_layer *l, const float *logits, const float *bias,
                   const struct router_choice *chosen)
{
    double weights[MOST], values[MOST], sum = 0.0;
    bool open[MOST], good = true;
    uint32_t n = 0;

    weigh_plainly(l, logits, weights);
    for (uint32_t i = 0; i < l->n_experts; i++)
        values[i] = weights[i] + (bias != NULL ? (double)bias[i] : 0.0);
    open_groups(l, values, open);
    for (uint32_t i = 0; i < l->n_experts; i++) {
        if (open[i] && rank(values, open, l->n_experts, i) < l->n_experts_used)
            sum += weights[i];
    }
    for (uint32_t i = 0; i < l->n_experts; i++) {
        bool takes = open[i] && rank(values, open, l->n_experts, i) < l->n_experts_used;
        double want = weights[i] * (double)l->expert_scale;

        if ((l->features & INGOT_RENORMALIZE) != 0)
            want /= sum;
        if (takes && n < l->n_experts_used) {
            good = good && chosen[n].expert == i &&
                   fabs((double)chosen[n].weight - want) < 1e-5 * want + 1e-9;
            n++;
        }
    }
    return good && n == l->n_experts_used;
}

static void test_form(const char *name, const struct ingot_layer *l, bool biased)
{
    unsigned wrong = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        float logits[MOST], given[MOST], bias[MOST], scores[MOST];
        struct router_choice chosen[MOST];

        for (uint32_t i = 0; i < l->n_experts; i++) {
            given[i] = logits[i] = 2.0f * coarse();
            bias[i] = biased ? coarse() - 1.5f : 0.0f; /* most of what chooses is below zero */
        }
        router_choose(&kernels, l, logits, biased ? bias : NULL, scores, chosen);
        wrong += !agrees(l, given, biased ? bias : NULL, chosen);
    }
    OK(wrong == 0, "%s: %u of %u choices are wrong", name, wrong, (unsigned)ROUNDS);
}

/* Experts whose scores are not numbers are taken last, in their groups too. */
static void test_nan(const struct ingot_layer *l)
{
    float logits[MOST], scores[MOST];
    struct router_choice chosen[MOST];
    bool finite = true;

    for (uint32_t i = 0; i < l->n_experts; i++)
        logits[i] = i % 4 == 0 ? NAN : (float)i;
    router_choose(&kernels, l, logits, NULL, scores, chosen);
    for (uint32_t i = 0; i < l->n_experts_used; i++)
        finite = finite && chosen[i].expert < l->n_experts && chosen[i].expert % 4 != 0;
    OK(finite, "no NaN is chosen if there are numbers");
    for (uint32_t i = 0; i < l->n_experts; i++)
        logits[i] = NAN;
    router_choose(&kernels, l, logits, NULL, scores, chosen);
    for (uint32_t i = 1; i < l->n_experts_used; i++)
        finite = finite && chosen[i].expert > chosen[i - 1].expert;
    OK(finite && chosen[l->n_experts_used - 1].expert < l->n_experts,
       "each expert is chosen once if all logits are NaN");
}

int main(void)
{
    struct ingot_layer l = {
        .n_experts = 16, .n_experts_used = 4, .router = INGOT_ROUTER_SOFTMAX, .expert_scale = 1.0f
    };

    kernels_select(&kernels, CPU_ANY);
    test_form("softmax", &l, false);
    l.features = INGOT_RENORMALIZE;
    l.router = INGOT_ROUTER_SIGMOID;
    l.expert_scale = 2.5f;
    test_form("sigmoid", &l, true);
    l.features = 0;
    l.router = INGOT_ROUTER_SOFTMAX;
    l.expert_groups = 4;
    l.expert_groups_used = 2;
    test_form("softmax, groups by their best", &l, false);
    l.features = INGOT_RENORMALIZE | INGOT_GROUPS_BY_TWO;
    l.router = INGOT_ROUTER_SIGMOID;
    test_form("sigmoid, groups by their best two", &l, true);
    l.router = INGOT_ROUTER_SOFTMAX_CHOSEN;
    test_nan(&l);
    l.router = INGOT_ROUTER_SIGMOID;
    l.n_experts = 256;
    l.n_experts_used = 8;
    l.expert_groups = 8;
    l.expert_groups_used = 4;
    test_form("as DeepSeek-V3", &l, true);
    l.features = INGOT_GROUPS_BY_TWO;
    l.expert_groups_used = 8;
    test_form("all groups", &l, true);
    return tap_done();
}
