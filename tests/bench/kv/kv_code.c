#include "tests/bench/kv/kv_code.h"
#include "board/min_max.h"
#include "kernels/ref/scalar.h"
#include "runtime/compute/kv_rotate.h"

#include <math.h>
#include <string.h>

/* ---- bits, halves --------------------------------------------------------------------------- */

void kv_put_bits(uint8_t *to, uint32_t at, uint32_t bits, uint32_t value)
{
    for (uint32_t i = 0; i < bits; i++) {
        to[(at + i) / 8] |= (uint8_t)((value >> i & 1) << (at + i) % 8);
    }
}

uint32_t kv_get_bits(const uint8_t *from, uint32_t at, uint32_t bits)
{
    uint32_t value = 0;

    for (uint32_t i = 0; i < bits; i++) {
        value |= (uint32_t)(from[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    }
    return value;
}

void kv_put_half(uint8_t *to, float x)
{
    uint16_t half = f16_from_f32(max_float(min_float(x, 65504.0f), -65504.0f));

    memcpy(to, &half, sizeof half);
}

float kv_get_half(const uint8_t *from)
{
    uint16_t half;

    memcpy(&half, from, sizeof half);
    return f32_from_f16(half);
}

/* ---- outliers --------------------------------------------------------------------------------- */

uint32_t kv_n_apart(uint32_t n)
{
    return min_u32(n / 8, KV_APART);
}

/* The largest number that is not apart yet; the first of equal ones. */
static uint32_t largest(const float *x, uint32_t n, const bool *apart)
{
    uint32_t best = n;

    for (uint32_t i = 0; i < n; i++) {
        if (!apart[i] && (best == n || fabsf(x[i]) > fabsf(x[best]))) {
            best = i;
        }
    }
    return best;
}

void kv_set_apart(uint8_t *indices, bool *apart, const float *x, uint32_t n)
{
    for (uint32_t i = 0; i < kv_n_apart(n); i++) {
        indices[i] = (uint8_t)largest(x, n, apart);
        apart[indices[i]] = true;
    }
}

/* ---- the rotation --------------------------------------------------------------------------- */

static uint32_t power_within(uint32_t n)
{
    uint32_t p = 1;

    while (2 * p <= n) {
        p *= 2;
    }
    return p;
}

/* Returns the top bit of xorshift32 (Marsaglia). The signs must come before the Hadamard matrix;
 * after it they would do nothing. */
static void change_signs(float *x, uint32_t n)
{
    uint32_t state = 0x9e3779b9u;

    for (uint32_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        x[i] = state >> 31 != 0 ? -x[i] : x[i];
    }
}

void kv_turn(float *x, uint32_t n)
{
    uint32_t p = power_within(n);

    change_signs(x, n);
    kv_rotate(x, 1, p, p);
    if (p < n) {
        kv_rotate(x + n - p, 1, p, p);
    }
}

void kv_turn_back(float *x, uint32_t n)
{
    uint32_t p = power_within(n);

    if (p < n) {
        kv_rotate(x + n - p, 1, p, p);
    }
    kv_rotate(x, 1, p, p);
    change_signs(x, n);
}

/* ---- a tile: (KV_TILE, blocks) ---------------------------------------------------------------- */

static size_t bytes_of(const struct kv_code *c, uint32_t d)
{
    uint32_t rest = d % c->block;
    size_t bytes = (size_t)(d / c->block) * c->bytes(c->block);

    return rest == 0 ? bytes : bytes + c->bytes(rest);
}

static void put(const struct kv_code *c, uint8_t *tile, uint32_t d, uint32_t j, const float *x)
{
    uint8_t *to = tile + j * bytes_of(c, d);

    memset(to, 0, bytes_of(c, d));
    for (uint32_t at = 0; at < d; at += c->block) {
        uint32_t n = min_u32(c->block, d - at);

        c->encode(to, x + at, n);
        to += c->bytes(n);
    }
}

/* Numbers `at` to `at` + n of position j. */
static void get(const struct kv_code *c, float *x, const uint8_t *tile, uint32_t d, uint32_t j,
                uint32_t at)
{
    const uint8_t *from = tile + j * bytes_of(c, d) + at / c->block * c->bytes(c->block);

    c->decode(x, from, min_u32(c->block, d - at));
}

static void get_all(const struct kv_code *c, float *x, const uint8_t *tile, uint32_t d, uint32_t j)
{
    for (uint32_t at = 0; at < d; at += c->block) {
        get(c, x + at, tile, d, j, at);
    }
}

/* By fma, numbers ascending. */
static void score(const struct kv_code *c, struct score_row *s, const float *q, const void *keys,
                  size_t n_q, size_t n, size_t d)
{
    float x[KV_CODE_MOST];

    for (size_t a = 0; a < n_q; a++) {
        memset(s[a].s, 0, n * sizeof s[a].s[0]);
    }
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t at = 0; at < d; at += c->block) {
            uint32_t width = min_u32(c->block, (uint32_t)d - at);

            get(c, x, keys, (uint32_t)d, j, at);
            for (size_t a = 0; a < n_q; a++) {
                for (uint32_t i = 0; i < width; i++) {
                    s[a].s[j] = fmaf(q[a * d + at + i], x[i], s[a].s[j]);
                }
            }
        }
    }
}

/* By fma, positions ascending. */
static void accumulate(const struct kv_code *c, float *o, const struct score_row *s,
                       const void *values, size_t n_q, size_t n, size_t d)
{
    float x[KV_CODE_MOST];

    for (size_t i = 0; i < n_q * d; i++) {
        o[i] *= s[i / d].factor;
    }
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t at = 0; at < d; at += c->block) {
            uint32_t width = min_u32(c->block, (uint32_t)d - at);

            get(c, x, values, (uint32_t)d, j, at);
            for (size_t a = 0; a < n_q; a++) {
                for (uint32_t i = 0; i < width; i++) {
                    o[a * d + at + i] = fmaf(s[a].s[j], x[i], o[a * d + at + i]);
                }
            }
        }
    }
}

/* ---- the functions of each ------------------------------------------------------------------ */

#define KV_CODE_DEFINE(name) \
    size_t kv_bytes_##name(uint32_t d) \
    { \
        return KV_TILE * bytes_of(&kv_code_##name, d); \
    } \
    void kv_put_##name(const struct kernels *k, void *tile, uint32_t d, uint32_t j, \
                       const float *x) \
    { \
        (void)k; \
        put(&kv_code_##name, tile, d, j, x); \
    } \
    void kv_get_##name(const void *tile, uint32_t d, uint32_t j, float *x) \
    { \
        get_all(&kv_code_##name, x, tile, d, j); \
    } \
    void kv_score_##name(const struct kernels *k, struct score_row *s, const struct kv_queries *q, \
                         const void *keys, size_t n_q, size_t n, size_t d) \
    { \
        (void)k; \
        score(&kv_code_##name, s, q->f32, keys, n_q, n, d); \
    } \
    void kv_accumulate_##name(const struct kernels *k, float *o, const struct score_row *s, \
                              const void *values, size_t n_q, size_t n, size_t d) \
    { \
        (void)k; \
        accumulate(&kv_code_##name, o, s, values, n_q, n, d); \
    }

#define KV_CODE_TYPE(NAME, number, name, ...) KV_CODE_DEFINE(name)
#include "tests/bench/kv/kv_types.def"
