/* Find the logits that may be picked, but skip most blocks by their maximum, and give the best
 * logits first with a heap. */
#include "runtime/session/sampler_candidates.h"

#include <assert.h>
#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/natural_log.h"

enum {
    BLOCK = SAMPLER_BLOCK,
    BLOCKS_MOST = 128, /* most blocks that are searched; top_k must be smaller */
    STEPS = 8          /* steps, each LEAST_STEP further below the largest logit */
};

/* Without top_k, candidates are searched in steps of LEAST_STEP below the largest logit. A logit
 * that is FAR_BELOW the largest has a negligible weight; even the sum of 250,000 such weights is
 * negligible against e^0. The slacks are much larger than the errors of an exponential and of
 * sums. */
static const float LEAST_STEP = 4.0f, FAR_BELOW = 32.0f, MIN_P_SLACK = 0.01f, MASS_SLACK = 1.001f;

/* Compare by a total order, so that every way of sorting gives the same sequence. */
static bool candidate_before(const struct candidate *a, const struct candidate *b)
{
    return a->logit > b->logit || (a->logit == b->logit && a->id < b->id);
}

/* Put c into its place in heap (n): entry i is free, and the subtrees below it are heaps. */
static void heap_sink(struct candidate *heap, size_t n, size_t i, struct candidate c)
{
    while (2 * i + 1 < n) {
        size_t child = 2 * i + 1;

        /* The better of the two children. */
        if (child + 1 < n && candidate_before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!candidate_before(&heap[child], &c)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = c;
}

void candidates_build(struct candidate *heap, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) {
        heap_sink(heap, n, i, heap[i]);
    }
}

struct candidate candidates_take(struct candidate *heap, size_t n)
{
    struct candidate best = heap[0];

    heap_sink(heap, n - 1, 0, heap[n - 1]);
    heap[n - 1] = best;
    return best;
}

static size_t collect_all(struct candidate *c, size_t n, const float *logits, uint32_t from,
                          uint32_t to, float least)
{
    for (uint32_t i = from; i < to; i++) {
        if (logits[i] >= least) {
            c[n++] = (struct candidate){ logits[i], i };
        }
    }
    return n;
}

/* If blocks are sorted by their maxima, the maximum of block number top_k + 1 is a lower bound of
 * logit number top_k + 1. Logits below the bound are dropped. More than top_k stay, so the filters
 * see that candidates were cut, and all sums stay the same. If maxima are equal, the lower block
 * comes first, like the lower id. Returns 0 if there is no such bound. */
static size_t collect_best(struct candidate *c, const float *logits, uint32_t vocab, uint32_t top_k,
                           const struct kernels *k)
{
    uint32_t blocks[BLOCKS_MOST];
    size_t n = 0, n_blocks = (vocab + BLOCK - 1) / BLOCK;
    float least = 0;

    /* Do not search if top_k is 0 or too large, or if there are too few blocks to leave any out. */
    if (top_k == 0 || top_k >= BLOCKS_MOST || n_blocks < top_k + 2) {
        return 0;
    }
    for (uint32_t i = 0; i < n_blocks; i++) {
        size_t first = (size_t)i * BLOCK;

        c[i] = (struct candidate){ k->max_f32(&logits[first], min_size(BLOCK, vocab - first)), i };
    }
    candidates_build(c, n_blocks);
    /* Take the best top_k + 1 blocks; the maximum of the last one is the bound. */
    for (size_t i = 0; i <= top_k; i++) {
        struct candidate best = candidates_take(c, n_blocks - i);

        blocks[i] = best.id;
        least = best.logit;
    }
    if (least < -FLT_MAX) {
        return 0;
    }
    for (size_t i = 0; i <= top_k; i++) {
        uint32_t first = blocks[i] * BLOCK;

        n = collect_all(c, n, logits, first, (uint32_t)min_size(first + BLOCK, vocab), least);
    }
    assert(n > top_k);
    return n;
}

/* Write the maxima of all blocks to the end of the scratch. Returns the largest. */
static float take_maxima(struct candidate *blocks, const float *logits, uint32_t vocab,
                         const struct kernels *k)
{
    float max = -__builtin_inff();

    for (uint32_t i = 0; (size_t)i * BLOCK < vocab; i++) {
        size_t first = (size_t)i * BLOCK;

        blocks[i] = (struct candidate){ k->max_f32(&logits[first], min_size(BLOCK, vocab - first)),
                                        i };
        max = blocks[i].logit > max ? blocks[i].logit : max;
    }
    return max;
}

/* Return the mass of all logits, block by block. */
static float mass_of_all(const struct candidate *blocks, const float *logits, uint32_t vocab,
                         float max, const struct kernels *k)
{
    _Alignas(64) float block[BLOCK];
    float mass = 0;

    for (uint32_t i = 0; (size_t)i * BLOCK < vocab; i++) {
        size_t first = (size_t)i * BLOCK, n = min_size(BLOCK, vocab - first);

        if (blocks[i].logit >= max - FAR_BELOW) {
            memcpy(block, &logits[first], n * sizeof *block);
            mass += k->exp_sum_f32(block, n, max);
        }
    }
    return mass;
}

static float mass_of(const struct candidate *c, size_t n, float max, const struct kernels *k)
{
    _Alignas(64) float block[BLOCK];
    float mass = 0;

    for (size_t first = 0; first < n; first += BLOCK) {
        size_t some = min_size(BLOCK, n - first);

        for (size_t i = 0; i < some; i++) {
            block[i] = c[first + i].logit;
        }
        mass += k->exp_sum_f32(block, some, max);
    }
    return mass;
}

/* Collect the logits of at least `least`; returns 0 if there are more than `most`. */
static size_t collect_from(struct candidate *c, size_t most, const struct candidate *blocks,
                           const float *logits, uint32_t vocab, float least)
{
    size_t n = 0;

    for (uint32_t i = 0; (size_t)i * BLOCK < vocab; i++) {
        uint32_t first = i * BLOCK;

        /* The block's maximum is too small, and so are all of its logits. */
        if (blocks[i].logit < least) {
            continue;
        }
        if (n + BLOCK > most) {
            return 0;
        }
        n = collect_all(c, n, logits, first, (uint32_t)min_size(first + BLOCK, vocab), least);
    }
    return n;
}

/* Without top_k, min_p limits the candidates by their logits, and top_p limits them as soon as the
 * logits above some value have the share of the mass that top_p names. *mass becomes the mass of
 * all logits, if top_p needs it. Return 0 if there is no limit, or if about half of the vocabulary
 * or more would stay. */
static size_t collect_likely(struct candidate *c, const float *logits, uint32_t vocab,
                             const struct sampler_params *p, float *mass, const struct kernels *k)
{
    size_t n_blocks = (vocab + BLOCK - 1) / BLOCK, most = vocab / 2 - min_size(n_blocks, vocab / 2);
    struct candidate *blocks = c + vocab - n_blocks;
    float max = take_maxima(blocks, logits, vocab, k), bound = max - FAR_BELOW;

    if (max < -FLT_MAX || (p->min_p <= 0 && p->top_p >= 1.0f)) {
        return 0;
    }
    if (p->top_p < 1.0f) {
        *mass = mass_of_all(blocks, logits, vocab, max, k);
    }
    /* min_p is a fraction of the best probability, so in logits it is a difference from `max`. */
    if (p->min_p > 0) {
        float by_min_p = max + (float)natural_log((double)p->min_p) - MIN_P_SLACK;

        bound = by_min_p > bound ? by_min_p : bound;
    }
    for (unsigned step = 1; step <= STEPS; step++) {
        float least = max - (float)step * LEAST_STEP;
        bool last = least <= bound && bound > max - FAR_BELOW;
        size_t n = collect_from(c, most, blocks, logits, vocab, last ? bound : least);

        /* Stop at too many logits, at the bound, or at enough of the mass. */
        if (n == 0 || last ||
            (*mass > 0 && mass_of(c, n, max, k) >= p->top_p * *mass * MASS_SLACK)) {
            return n;
        }
    }
    return 0;
}

size_t candidates_collect(struct candidate *c, const float *logits, uint32_t vocab,
                          const struct sampler_params *p, float *mass, const struct kernels *k)
{
    size_t n;

    *mass = 0;
    if (p->top_k == 0) {
        n = collect_likely(c, logits, vocab, p, mass, k);
    } else {
        n = collect_best(c, logits, vocab, p->top_k, k);
    }
    /* Without a useful limit, take all candidates. */
    if (n == 0) {
        n = collect_all(c, 0, logits, 0, vocab, -FLT_MAX);
    }
    return n;
}
