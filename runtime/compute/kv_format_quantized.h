/* Formats whose keys and values are integers of a few bits, which attention uses directly;
 * kernels.h describes the layouts. */
#ifndef INGOT_RUNTIME_KV_FORMAT_QUANTIZED_H
#define INGOT_RUNTIME_KV_FORMAT_QUANTIZED_H

#include "kernels/ref/scalar.h"
#include "runtime/compute/kv_format.h"

/* Return the integer in [least, most] that is nearest to x; of two equally near, the even one. */
static inline int32_t kv_nearest(float x, float least, float most)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23 */

    x = x > least ? x : least;
    x = x < most ? x : most;
    return (int32_t)(f32_bits(x + magic) - f32_bits(magic));
}

/* Keys of four bits: a bf16 scale for 32 dimensions. */
size_t kv_key_bytes_q4(uint32_t d);
void kv_put_key_q4(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x);
void kv_score_q4(const struct kernels *k, struct score_row *s, const struct kv_queries *q,
                 const void *keys, size_t n_q, size_t n, size_t d);

/* Values of four and of eight bits: float scale[d/B][KV_TILE], then v; B is kv_values_block.
 * Weights are rounded to int8, with errors of up to 1/254 of the largest of 32 weights. */
size_t kv_value_bytes_q4(uint32_t d);
size_t kv_value_bytes_q8(uint32_t d);
void kv_put_value_q4(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x);
void kv_put_value_q8(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x);
void kv_accumulate_q4(const struct kernels *k, float *o, const struct score_row *s,
                      const void *values, size_t n_q, size_t n, size_t d);
void kv_accumulate_q8(const struct kernels *k, float *o, const struct score_row *s,
                      const void *values, size_t n_q, size_t n, size_t d);

/* uniform_4b: 16 steps from a block's least number to its largest; blocks of 32 for keys, B for
 * values. */
size_t kv_key_bytes_uniform(uint32_t d);
size_t kv_value_bytes_uniform(uint32_t d);
void kv_put_key_uniform(const struct kernels *k, void *tile, uint32_t d, uint32_t j,
                        const float *x);
void kv_put_value_uniform(const struct kernels *k, void *tile, uint32_t d, uint32_t j,
                          const float *x);
void kv_score_uniform(const struct kernels *k, struct score_row *s, const struct kv_queries *q,
                      const void *keys, size_t n_q, size_t n, size_t d);
void kv_accumulate_uniform(const struct kernels *k, float *o, const struct score_row *s,
                           const void *values, size_t n_q, size_t n, size_t d);

#endif
