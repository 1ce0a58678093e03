/* Logarithms of probabilities against the C library's, for logits of all sizes. */
#include "runtime/session/token_scores.h"

#include <math.h>
#include <string.h>

#include "board/host/host_cpu.h"
#include "runtime/session/sampler.h"
#include "tests/unit/tap.h"

enum { MOST = 5000 };

static _Alignas(64) float logits[MOST];
static struct kernels kernels;
static uint32_t random_state = 1;

static float next_float(float spread)
{
    random_state = random_state * 1664525u + 1013904223u;
    return ((float)(random_state >> 8) / 8388608.0f - 1.0f) * spread;
}

static double log_share(uint32_t vocab, uint32_t id)
{
    double sum = 0;

    for (uint32_t i = 0; i < vocab; i++)
        sum += exp((double)logits[i] - (double)logits[id]);
    return -log(sum);
}

static bool is_right(uint32_t vocab, uint32_t n, uint32_t taken)
{
    static float before[MOST];
    struct token_scores s;
    bool good;

    memcpy(before, logits, sizeof before);
    token_scores_read(&s, n, logits, vocab, &kernels);
    token_scores_take(&s, taken, logits[taken]);
    good = memcmp(before, logits, sizeof before) == 0 && s.n == (n < vocab ? n : vocab) &&
           fabs(s.taken.log_share - log_share(vocab, taken)) < 2e-5;
    for (uint32_t i = 0; i < s.n && good; i++) {
        unsigned before_it = 0;

        for (uint32_t j = 0; j < vocab; j++)
            before_it += logits[j] > logits[s.likeliest[i].id] ||
                         (logits[j] == logits[s.likeliest[i].id] && j < s.likeliest[i].id);
        good = before_it == i &&
               fabs(s.likeliest[i].log_share - log_share(vocab, s.likeliest[i].id)) < 2e-5;
    }
    return good;
}

static void test_random(void)
{
    static const uint32_t sizes[] = { 1, 3, 255, 256, 257, MOST };
    static const float spreads[] = { 0.001f, 1.0f, 8.0f, 60.0f };
    bool good = true;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t j = 0; j < sizeof spreads / sizeof spreads[0]; j++)
            for (uint32_t n = 0; n <= TOKEN_SCORES_MOST; n++) {
                for (uint32_t k = 0; k < MOST; k++)
                    logits[k] = next_float(spreads[j]);
                good = is_right(sizes[i], n, random_state % sizes[i]) && good;
            }
    OK(good, "random logits are scored");
    for (uint32_t k = 0; k < MOST; k++)
        logits[k] = (float)(k % 7);
    OK(is_right(MOST, 5, 3), "equal logits are listed by the lower id");
}

static void test_damaged(void)
{
    struct token_scores s;

    for (uint32_t k = 0; k < 300; k++)
        logits[k] = -INFINITY;
    token_scores_read(&s, 5, logits, 300, &kernels);
    token_scores_take(&s, 1, logits[1]);
    OK(isnan(s.taken.log_share), "logits that are not numbers give no score");
    logits[299] = 2.0f;
    token_scores_read(&s, 2, logits, 300, &kernels);
    OK(s.likeliest[0].id == 299 && fabs(s.likeliest[0].log_share) < 1e-9 &&
           s.likeliest[1].log_share < -1e9,
       "a token that is the only one possible has the whole share");
    for (uint32_t k = 0; k < 300; k++)
        logits[k] = k % 3 == 0 ? NAN : (float)(k % 50);
    token_scores_read(&s, 3, logits, 300, &kernels);
    OK(s.n == 3 && s.likeliest[0].id == 49 && s.likeliest[1].id == 149 && s.likeliest[2].id == 199,
       "NaN keeps no number out of the list: %u %u %u", s.likeliest[0].id, s.likeliest[1].id,
       s.likeliest[2].id);
    for (uint32_t k = 2; k < 300; k++)
        logits[k] = NAN;
    token_scores_read(&s, 3, logits, 300, &kernels);
    OK(s.n == 3 && s.likeliest[0].id == 1 && s.likeliest[1].id == 0 && s.likeliest[2].id == 2,
       "NaN comes after the numbers");
}

/* A pick keeps the logit from before the penalty. */
static void test_sampler(void)
{
    static float copy[MOST] __attribute__((aligned(64)));
    static uint64_t scratch[MOST];
    struct sampler_params p;
    struct sampler s;
    uint32_t recent[100];
    bool good = true;

    sampler_params_default(&p);
    p.repeat = 1.3f;
    p.temp = 1.5f;
    p.top_p = 1.0f;
    p.min_p = 0.0f;
    for (unsigned round = 0; round < 300; round++) {
        uint32_t id;

        p.top_k = round % 3 == 0 ? 0 : 40;
        p.temp = round % 5 == 0 ? 0.0f : 1.5f;
        p.seed = round;
        sampler_init(&s, &p);
        for (uint32_t k = 0; k < MOST; k++)
            logits[k] = copy[k] = next_float(5.0f);
        for (uint32_t k = 0; k < 100; k++)
            recent[k] = (round * 31 + k * 17) % MOST;
        id = sampler_pick(&s, copy, MOST, recent, 100, &kernels, scratch);
        if (round % 2 == 0) { /* it is among the recent ones, and comes again */
            recent[60] = id;
            memcpy(copy, logits, sizeof copy);
            id = sampler_pick(&s, copy, MOST, recent, 100, &kernels, scratch);
        }
        good = good && fabsf(sampler_logit(&s, id, recent, 100) - logits[id]) < 1e-5f;
    }
    OK(good, "the logit of a pick is the model's");
}

int main(void)
{
    kernels_select(&kernels, CPU_ANY);
    test_random();
    test_damaged();
    test_sampler();
    return tap_done();
}
