/* Formats in plain C, for measurements (docs/KV.md); images of boards lack them. A position is a row
 * of blocks, each of `block` numbers but for the last, which has what is left of the head's width.
 * Scores and attended values are those of the numbers that come back. ALGORITHMS of the formats stand
 * in their files. */
#ifndef INGOT_BENCH_KV_CODE_H
#define INGOT_BENCH_KV_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/compute/kv_format.h"

enum { KV_CODE_MOST = 256 }; /* most numbers of a block */

/* For a block of n numbers, 1 <= n <= block. Bytes need no alignment. */
struct kv_code {
    uint32_t block;
    uint32_t (*bytes)(uint32_t n);
    void (*encode)(uint8_t *to, const float *x, uint32_t n);
    void (*decode)(float *x, const uint8_t *from, uint32_t n);
};

#define KV_CODE_TYPE(NAME, number, name, ...) extern const struct kv_code kv_code_##name;
#include "tests/bench/kv/kv_types.def"

/* The functions of a row of struct kv_format. */
#define KV_CODE_TYPE(NAME, number, name, ...) \
    size_t kv_bytes_##name(uint32_t d); \
    void kv_put_##name(const struct kernels *k, void *tile, uint32_t d, uint32_t j, \
                       const float *x); \
    void kv_get_##name(const void *tile, uint32_t d, uint32_t j, float *x); \
    void kv_score_##name(const struct kernels *k, struct score_row *s, const struct kv_queries *q, \
                         const void *keys, size_t n_q, size_t n, size_t d); \
    void kv_accumulate_##name(const struct kernels *k, float *o, const struct score_row *s, \
                              const void *values, size_t n_q, size_t n, size_t d);
#include "tests/bench/kv/kv_types.def"

/* A row of the table. Formats that rotate do it by themselves. */
#define KV_CODE_ROW(name, block, cosine) \
    { \
#name, block, false, false, cosine, kv_bytes_##name, kv_bytes_##name, kv_put_##name, \
            kv_put_##name, NULL, kv_get_##name, kv_get_##name, kv_score_##name, \
            kv_accumulate_##name \
    }

/* Writes numbers of `bits` bits, the lowest bit first, from bit `at` of zeroed bytes on. */
void kv_put_bits(uint8_t *to, uint32_t at, uint32_t bits, uint32_t value);
uint32_t kv_get_bits(const uint8_t *from, uint32_t at, uint32_t bits);

/* Writes fp16 as two bytes; a number beyond its range becomes the largest. */
void kv_put_half(uint8_t *to, float x);
float kv_get_half(const uint8_t *from);

/* Returns how many of a block of n are kept apart, and finds which: those of largest magnitude, the
 * first of equal ones. indices has kv_n_apart(n); apart (n) was false. */
enum { KV_APART = 4 };
uint32_t kv_n_apart(uint32_t n);
void kv_set_apart(uint8_t *indices, bool *apart, const float *x, uint32_t n);

/* Rotates x (n), for any n: random signs, then the Hadamard matrix over the square root of m, the
 * largest power of two within n, for the first m numbers, and also for the last m unless n is a
 * power of two. And rotates back. */
void kv_turn(float *x, uint32_t n);
void kv_turn_back(float *x, uint32_t n);

#endif
