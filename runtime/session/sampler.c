/* Logits are processed in blocks. A block's maximum shows whether a logit of the block may be
 * picked at all; most blocks have no such logit, and need no cleaning.
 *
 * All filters keep a prefix of the candidates in order of falling logits. So one walk down a heap
 * finds the end of the shortest prefix, and only kept candidates are sorted
 * (sampler_candidates.c). */
#include "runtime/session/sampler.h"

#include <assert.h>
#include <float.h>
#include <stdbool.h>

#include "board/min_max.h"
#include "runtime/session/sampler_candidates.h"

enum {
    BLOCK = SAMPLER_BLOCK,
    BLOCKS_AT_ONCE = 32,
    SHARES = 16, /* exponentials that are computed at once */
};

void sampler_params_default(struct sampler_params *p)
{
    *p = (struct sampler_params){
        .temp = 0.8f,
        .top_p = 0.95f,
        .min_p = 0.05f,
        .repeat = 1.0f,
        .top_k = 40,
        .repeat_last = SAMPLER_REPEAT_LAST,
    };
}

/* One step of splitmix64 separates neighbouring seeds; xorshift must not start at 0. */
static uint64_t spread_seed(uint64_t seed)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return z != 0 ? z : 1;
}

void sampler_init(struct sampler *s, const struct sampler_params *params)
{
    *s = (struct sampler){ .params = *params, .state = spread_seed(params->seed) };
}

size_t sampler_scratch_bytes(uint32_t vocab)
{
    return (size_t)vocab * sizeof(struct candidate);
}

/* xorshift64* (Vigna 2016): 24 high bits as a number in [0, 1), exact in f32. */
static float next_random(struct sampler *s)
{
    s->state ^= s->state >> 12;
    s->state ^= s->state << 25;
    s->state ^= s->state >> 27;
    return (float)((s->state * 0x2545f4914f6cdd1du) >> 40) * 0x1p-24f;
}

/* NaN becomes minus infinity, which no step picks; plus infinity becomes the largest number, so
 * that differences stay defined. */
static void clean_block(struct sampler *s, float *logits, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (logits[i] != logits[i]) {
            s->n_nan++;
            logits[i] = -__builtin_inff();
        } else if (logits[i] > FLT_MAX) {
            logits[i] = FLT_MAX;
        }
    }
}

/* 0 times a number is 0, but 0 times infinity or NaN is NaN. So a product with zeros shows
 * which blocks need cleaning; a matrix kernel computes it faster than a loop here. */
static void clean_logits(struct sampler *s, float *logits, uint32_t vocab, const struct kernels *k)
{
    static const _Alignas(64) float zeros[BLOCK] = { 0 };
    float sums[BLOCKS_AT_ONCE];
    size_t n_blocks = vocab / BLOCK, n;

    assert((uintptr_t)logits % 64 == 0);
    for (size_t first = 0; first < n_blocks; first += n) {
        n = min_size(BLOCKS_AT_ONCE, n_blocks - first);
        /* Rows of the matrix are blocks of logits. */
        k->gemv_f32_f32_f32(sums, logits + first * BLOCK, zeros, n, BLOCK, 0);
        for (size_t i = 0; i < n; i++) {
            if (sums[i] != 0) {
                clean_block(s, logits + (first + i) * BLOCK, BLOCK);
            }
        }
    }
    clean_block(s, logits + n_blocks * BLOCK, vocab % BLOCK);
}

/* Return the first of the largest logits: in the first block that has the largest maximum. */
static uint32_t pick_greedy(struct sampler *s, const float *logits, uint32_t vocab,
                            const struct kernels *k)
{
    float max = -__builtin_inff();
    uint32_t at = 0;

    for (uint32_t i = 0; i < vocab; i += BLOCK) {
        float most = k->max_f32(&logits[i], min_size(BLOCK, vocab - i));

        /* Strictly greater, so that the first of equal blocks wins. */
        if (most > max) {
            max = most;
            at = i;
        }
    }
    s->logit = max;
    /* Every logit is minus infinity. */
    if (max < -FLT_MAX) {
        return SAMPLER_NO_TOKEN;
    }
    while (logits[at] != max) {
        at++;
    }
    return at;
}

/* Return the mass of the candidates that top_k leaves; top_p is a fraction of this mass. The
 * candidates are taken off the heap if top_k cuts some, otherwise they stay in it. */
static float mass_of_candidates(float *logits, struct candidate *c, size_t n, size_t kept,
                                float max, const struct kernels *k)
{
    for (size_t i = 0; i < kept; i++) {
        logits[i] = kept < n ? candidates_take(c, n - i).logit : c[i].logit;
    }
    return k->exp_sum_f32(logits, kept, max);
}

/* Compute e^(logit - max) for the next best candidates from number `first` on, at most SHARES of
 * them. Candidates that are still in the heap are taken off it. */
static void take_shares(float *shares, struct candidate *c, size_t n, size_t first, size_t kept,
                        float max, const struct kernels *k)
{
    size_t some = min_size(SHARES, kept - first);

    for (size_t i = 0; i < some; i++) {
        size_t at = first + i;

        shares[i] = (kept < n ? c[n - 1 - at] : candidates_take(c, n - at)).logit;
    }
    k->exp_sum_f32(shares, some, max);
}

/* Return how many of the best candidates top_k, top_p and min_p leave, at least 1; they are in c[n
 * - 1], c[n - 2] ... from the best down. n >= 1. mass: the mass that top_k leaves; 0: not known
 * yet. top_p keeps the candidate that reaches its limit, as in llama.cpp. */
static size_t filter_candidates(const struct sampler_params *p, float *logits, struct candidate *c,
                                size_t n, float mass, const struct kernels *k)
{
    size_t kept = p->top_k > 0 && p->top_k < n ? p->top_k : n;
    float max = c[0].logit, sum = 0;
    _Alignas(64) float shares[SHARES];

    /* The mass is not known yet: sum the candidates that top_k leaves. */
    if (!(mass > 0)) {
        mass = mass_of_candidates(logits, c, n, kept, max, k);
    }
    for (size_t i = 0; i < kept; i++) {
        if (i % SHARES == 0) {
            take_shares(shares, c, n, i, kept, max, k);
        }
        if (i > 0 && shares[i % SHARES] < p->min_p) { /* the best candidate has e^0 = 1 */
            return i;
        }
        /* Include the candidate that reaches top_p. */
        sum += shares[i % SHARES];
        if (p->top_p < 1.0f && sum >= p->top_p * mass) {
            return i + 1;
        }
    }
    return kept;
}

/* The candidates to pick from: number i is best[-i], and its weight (not yet divided by the sum)
 * is stored in place of logits[i]. */
struct choice {
    const struct candidate *best;
    const float *weights;
    size_t n; /* 0: nothing */
    float sum;
};

static struct choice choose(struct sampler *s, const struct sampler_params *p, float *logits,
                            uint32_t vocab, const struct kernels *k, struct candidate *c)
{
    struct choice choice = { .weights = logits };
    float mass = 0;
    size_t n;

    assert((uintptr_t)c % 8 == 0);
    n = candidates_collect(c, logits, vocab, p, &mass, k);
    if (n == 0) {
        return choice;
    }
    /* Use a heap, so that only kept candidates are sorted. */
    candidates_build(c, n);
    choice.n = filter_candidates(p, logits, c, n, mass, k);
    choice.best = c + n - 1;
    /* The temperature applies to the candidates that the filters leave. */
    for (size_t i = 0; i < choice.n; i++) {
        logits[i] = (choice.best[-(ptrdiff_t)i].logit - choice.best->logit) / s->params.temp;
    }
    choice.sum = k->exp_sum_f32(logits, choice.n, 0.0f);
    return choice;
}

static uint32_t choice_id(const struct choice *c, size_t i)
{
    return c->best[-(ptrdiff_t)i].id;
}

static uint32_t take_choice(struct sampler *s, const struct choice *c, size_t i)
{
    s->logit = c->best[-(ptrdiff_t)i].logit;
    return choice_id(c, i);
}

static uint32_t pick_choice(struct sampler *s, const struct choice *c)
{
    float goal = next_random(s) * c->sum;

    for (size_t i = 0; i + 1 < c->n; i++) {
        /* Take the first candidate at which the running sum exceeds the goal. */
        goal -= c->weights[i];
        if (goal < 0) {
            return take_choice(s, c, i);
        }
    }
    return take_choice(s, c, c->n - 1);
}

static void prepare_logits(struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                           size_t n_recent, const struct kernels *k, void *scratch)
{
    sampler_adjust(s, logits, vocab, recent, n_recent, scratch);
    clean_logits(s, logits, vocab, k); /* clean after penalties, because a penalty below 1 can
                                        * overflow */
}

uint32_t sampler_pick(struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                      size_t n_recent, const struct kernels *k, void *scratch)
{
    struct choice c;

    prepare_logits(s, logits, vocab, recent, n_recent, k, scratch);
    if (!(s->params.temp > 0)) {
        return pick_greedy(s, logits, vocab, k);
    }
    c = choose(s, &s->params, logits, vocab, k, scratch);
    return c.n == 0 ? SAMPLER_NO_TOKEN : pick_choice(s, &c);
}

uint32_t sampler_guess(struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                       size_t n_recent, const struct kernels *k, void *scratch,
                       struct sampler_guess *g)
{
    struct sampler_params p = s->params;
    struct choice c;

    prepare_logits(s, logits, vocab, recent, n_recent, k, scratch);
    g->n = 0;
    if (!(p.temp > 0)) {
        return pick_greedy(s, logits, vocab, k);
    }
    /* Limit candidates to what a guess can remember. */
    p.top_k = p.top_k > 0 && p.top_k < SAMPLER_GUESS_MOST ? p.top_k : SAMPLER_GUESS_MOST;
    c = choose(s, &p, logits, vocab, k, scratch);
    for (; g->n < c.n; g->n++) {
        g->ids[g->n] = choice_id(&c, g->n);
        g->share[g->n] = c.weights[g->n] / c.sum;
    }
    return c.n == 0 ? SAMPLER_NO_TOKEN : pick_choice(s, &c);
}

static float guess_share(const struct sampler_guess *g, uint32_t id)
{
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->ids[i] == id) {
            return g->share[i];
        }
    }
    return 0;
}

/* Pick by the part of p that exceeds q. If p and q differ only by rounding, nothing is left of p:
 * then pick the best candidate. */
static uint32_t pick_rest(struct sampler *s, struct choice *c, float *rest,
                          const struct sampler_guess *g)
{
    float sum = 0;

    for (size_t i = 0; i < c->n; i++) {
        float more = rest[i] / c->sum - guess_share(g, choice_id(c, i));

        rest[i] = more > 0 ? more : 0;
        sum += rest[i];
    }
    c->sum = sum;
    while (c->n > 1 && rest[c->n - 1] == 0) {
        c->n--; /* pick_choice may return the last candidate because of rounding */
    }
    return pick_choice(s, c);
}

uint32_t sampler_judge(struct sampler *s, float *logits, uint32_t vocab, const uint32_t *recent,
                       size_t n_recent, const struct kernels *k, void *scratch,
                       const struct sampler_guess *g, uint32_t id)
{
    struct choice c;
    size_t at = 0;

    if (g->n == 0 || !(s->params.temp > 0)) {
        return sampler_pick(s, logits, vocab, recent, n_recent, k, scratch);
    }
    prepare_logits(s, logits, vocab, recent, n_recent, k, scratch);
    c = choose(s, &s->params, logits, vocab, k, scratch);
    if (c.n == 0) {
        return SAMPLER_NO_TOKEN;
    }
    /* Find the guess's index among the tokens that the model could pick. */
    while (at < c.n && choice_id(&c, at) != id) {
        at++;
    }
    /* Accept the guess with probability min(1, p / q), without the division. */
    if (next_random(s) * guess_share(g, id) < (at < c.n ? c.weights[at] / c.sum : 0)) {
        return take_choice(s, &c, at);
    }
    return pick_rest(s, &c, logits, g);
}
