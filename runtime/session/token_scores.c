#include "runtime/session/token_scores.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/natural_log.h"

enum { BLOCK = 256 /* logits that are copied at a time, because the kernel overwrites them */ };

/* Return true if logit a comes before b. NaN comes last, as in sampling. */
static bool is_before(double a, double b)
{
    return a > b || (isnan(b) && !isnan(a));
}

/* Insert a token in falling order of logits, which log_share holds for now. */
static void offer(struct token_scores *s, uint32_t *n, uint32_t most, uint32_t id, double logit)
{
    uint32_t at = *n;

    while (at > 0 && is_before(logit, s->likeliest[at - 1].log_share)) {
        at--;
    }
    if (at == most) {
        return;
    }
    *n = min_u32(*n + 1, most);
    memmove(&s->likeliest[at + 1], &s->likeliest[at], (*n - 1 - at) * sizeof s->likeliest[0]);
    s->likeliest[at] = (struct token_score){ id, logit };
}

void token_scores_read(struct token_scores *s, uint32_t n, const float *logits, uint32_t vocab,
                       const struct kernels *k)
{
    _Alignas(64) float block[BLOCK];
    float max = k->max_f32(logits, vocab);
    double sum = 0;

    s->n = 0;
    for (uint32_t i = 0; i < vocab; i += BLOCK) {
        size_t here = min_size(BLOCK, vocab - i);

        memcpy(block, logits + i, here * sizeof *block);
        sum += (double)k->exp_sum_f32(block, here, max);
    }
    for (uint32_t i = 0; i < vocab && n != 0; i++) {
        if (s->n < n || is_before((double)logits[i], s->likeliest[n - 1].log_share)) {
            offer(s, &s->n, n, i, (double)logits[i]);
        }
    }
    s->log_sum = sum > 0 ? (double)max + natural_log(sum) : __builtin_nan("");
    for (uint32_t i = 0; i < s->n; i++) {
        s->likeliest[i].log_share -= s->log_sum;
    }
}

void token_scores_take(struct token_scores *s, uint32_t id, float logit)
{
    s->taken = (struct token_score){ id, (double)logit - s->log_sum };
}
