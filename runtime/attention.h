/* One query head over the cached positions, by tiles with an online softmax
 * (FlashAttention, arXiv 2205.14135). */
#ifndef INGOT_RUNTIME_ATTENTION_H
#define INGOT_RUNTIME_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* out (d) = softmax(q keys' / sqrt(d)) values over positions 0 .. n-1, n >= 1.
 * q (d) f32; keys, values (n, d) fp16; scores: ATTENTION_TILE floats of work space.
 * Tiles of 64 positions aligned at position 0, values added in ascending position: the same
 * operations for decode and prefill, so chunking changes no bit. */
void attention_head(const struct kernels *k, float *out, const float *q, const uint16_t *keys,
                    const uint16_t *values, uint32_t n, uint32_t d, float *scores);

#endif
