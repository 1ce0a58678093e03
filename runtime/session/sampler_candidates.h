/* For sampler.c: the logits that its filters may keep, as candidates in a heap. */
#ifndef INGOT_RUNTIME_SAMPLER_CANDIDATES_H
#define INGOT_RUNTIME_SAMPLER_CANDIDATES_H

#include "runtime/session/sampler.h"

enum { SAMPLER_BLOCK = 64 }; /* logits that are examined together */

struct candidate {
    float logit;
    uint32_t id;
};

/* Write all logits that top_k, top_p and min_p may keep, in any order, to c (vocab). The logits
 * have neither NaN nor plus infinity. Returns their number; 0 if all logits are minus infinity.
 * *mass: the sum of e^(logit - largest) over all logits; 0: not computed. */
size_t candidates_collect(struct candidate *c, const float *logits, uint32_t vocab,
                          const struct sampler_params *p, float *mass, const struct kernels *k);

/* Make c (n) a heap with the best candidate in c[0]:
 * the largest logit, and the lower id of equals. */
void candidates_build(struct candidate *c, size_t n);

/* Move the best candidate of the heap c (n) to c[n - 1], and return it; the rest is a
 * heap of n - 1. */
struct candidate candidates_take(struct candidate *c, size_t n);

#endif
