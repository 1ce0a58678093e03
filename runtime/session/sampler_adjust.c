/* Changes of logits before tokens are filtered: biases, and penalties on earlier tokens. Uses only
 * sums, products and quotients of f32, in a fixed order for each token, so that every ISA gets the
 * same bits. */
#include <stdbool.h>

#include "board/min_max.h"
#include "runtime/session/sampler.h"

/* The part of the recent tokens that a penalty counts. */
struct window {
    const uint32_t *ids;
    size_t n;
};

static struct window repeat_window(const struct sampler_params *p, const uint32_t *recent, size_t n)
{
    size_t last = min_size(n, p->repeat_last);

    return (struct window){ recent + n - last, last };
}

static struct window reply_window(const struct sampler *s, const uint32_t *recent, size_t n)
{
    size_t before = min_size(n, s->reply);

    return (struct window){ recent + before, n - before };
}

static bool has_repeat(const struct sampler_params *p)
{
    return p->repeat != 1.0f && p->repeat_last != 0;
}

static bool has_counts(const struct sampler_params *p)
{
    return p->presence != 0 || p->frequency != 0;
}

static float repeated(const struct sampler_params *p, float logit)
{
    return logit > 0 ? logit / p->repeat : logit * p->repeat;
}

/* Return the penalty for a token that is n times in the reply, n > 0. */
static float count_penalty(const struct sampler_params *p, uint32_t n)
{
    float often = (float)n * p->frequency;

    return often + p->presence;
}

/* Count how often each token is in the window. Only the counts of the window's tokens are set, so
 * that the whole vocabulary need not be visited; invalid ids are ignored. */
static void count_tokens(uint32_t *counts, uint32_t vocab, struct window w)
{
    for (size_t i = 0; i < w.n; i++) {
        if (w.ids[i] < vocab) {
            counts[w.ids[i]] = 0;
        }
    }
    for (size_t i = 0; i < w.n; i++) {
        if (w.ids[i] < vocab) {
            counts[w.ids[i]]++;
        }
    }
}

/* Return a token's count at its first place in the window, and 0 at its other places, so that its
 * logit changes once. */
static uint32_t take_count(uint32_t *counts, uint32_t vocab, uint32_t id)
{
    uint32_t n = id < vocab ? counts[id] : 0;

    if (n != 0) {
        counts[id] = 0;
    }
    return n;
}

void sampler_adjust(const struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                    size_t n_recent, void *scratch)
{
    const struct sampler_params *p = &s->params;
    uint32_t *counts = scratch;
    struct window w;

    for (uint32_t i = 0; i < p->n_biases; i++) {
        if (p->biases[i].id < vocab) {
            logits[p->biases[i].id] += p->biases[i].add;
        }
    }
    if (has_repeat(p)) {
        w = repeat_window(p, recent, n_recent);
        count_tokens(counts, vocab, w);
        for (size_t i = 0; i < w.n; i++) {
            if (take_count(counts, vocab, w.ids[i]) != 0) {
                logits[w.ids[i]] = repeated(p, logits[w.ids[i]]);
            }
        }
    }
    if (has_counts(p)) {
        w = reply_window(s, recent, n_recent);
        count_tokens(counts, vocab, w);
        for (size_t i = 0; i < w.n; i++) {
            uint32_t n = take_count(counts, vocab, w.ids[i]);

            if (n != 0) {
                logits[w.ids[i]] -= count_penalty(p, n);
            }
        }
    }
}

static uint32_t count_of(struct window w, uint32_t id)
{
    uint32_t n = 0;

    for (size_t i = 0; i < w.n; i++) {
        n += w.ids[i] == id;
    }
    return n;
}

float sampler_logit(const struct sampler *s, uint32_t id, const uint32_t *recent, size_t n_recent)
{
    const struct sampler_params *p = &s->params;
    float logit = s->logit;
    uint32_t n = has_counts(p) ? count_of(reply_window(s, recent, n_recent), id) : 0;

    if (n != 0) {
        logit += count_penalty(p, n);
    }
    if (has_repeat(p) && count_of(repeat_window(p, recent, n_recent), id) != 0) {
        logit = logit > 0 ? logit * p->repeat : logit / p->repeat; /* no penalty changes the sign */
    }
    for (uint32_t i = p->n_biases; i-- > 0;) {
        logit -= p->biases[i].id == id ? p->biases[i].add : 0;
    }
    return logit;
}
