/* uniform_2b: of a block of 128 numbers fp16 scale and least number, then two bits each:
 *
 *     s = (max - min) / 4,  q = clamp(floor((x - min) / s), 0, 3),  x' = min + (q + 1/2) s
 *
 * mixed_4b8: four bits each and 16 in the place of 4, and the numbers of largest magnitude, an eighth
 * of the block and four at most, apart: u8 indices, then fp16; they do not widen the range of the
 * others. Scale and least number are those that fp16 holds when q is chosen. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "board/min_max.h"
#include "tests/bench/kv/kv_code.h"

enum { BLOCK = 128, RANGE_BYTES = 4 };

struct range {
    float min, scale;
};

/* Works on the numbers that are not `apart`; NULL: on all. */
static struct range put_range(uint8_t *to, const float *x, uint32_t n, const bool *apart,
                              uint32_t bits)
{
    float min = INFINITY, max = -INFINITY;

    for (uint32_t i = 0; i < n; i++) {
        if (apart == NULL || !apart[i]) {
            min = min_float(x[i], min);
            max = max_float(x[i], max);
        }
    }
    kv_put_half(to, (max - min) / (float)(1u << bits));
    kv_put_half(to + 2, min);
    return (struct range){ kv_get_half(to + 2), kv_get_half(to) };
}

static uint32_t level(const struct range *r, float x, uint32_t bits)
{
    float most = (float)((1u << bits) - 1), q;

    if (r->scale <= 0.0f) { /* all the same */
        return 0;
    }
    q = floorf((x - r->min) / r->scale);
    return (uint32_t)max_float(min_float(q, most), 0.0f);
}

static void put_levels(uint8_t *to, const struct range *r, const float *x, uint32_t n,
                       uint32_t bits)
{
    for (uint32_t i = 0; i < n; i++) {
        kv_put_bits(to, i * bits, bits, level(r, x[i], bits));
    }
}

static void get_levels(float *x, const uint8_t *from, const uint8_t *levels, uint32_t n,
                       uint32_t bits)
{
    float scale = kv_get_half(from), min = kv_get_half(from + 2);

    for (uint32_t i = 0; i < n; i++) {
        x[i] = fmaf((float)kv_get_bits(levels, i * bits, bits) + 0.5f, scale, min);
    }
}

/* ---- uniform_2b ------------------------------------------------------------------------------- */

static uint32_t bytes_2b(uint32_t n)
{
    return RANGE_BYTES + (n + 3) / 4;
}

static void encode_2b(uint8_t *to, const float *x, uint32_t n)
{
    struct range r = put_range(to, x, n, NULL, 2);

    put_levels(to + RANGE_BYTES, &r, x, n, 2);
}

static void decode_2b(float *x, const uint8_t *from, uint32_t n)
{
    get_levels(x, from, from + RANGE_BYTES, n, 2);
}

const struct kv_code kv_code_uniform_2b = { BLOCK, bytes_2b, encode_2b, decode_2b };

/* ---- mixed_4b8 -------------------------------------------------------------------------------- */

static uint32_t bytes_4b8(uint32_t n)
{
    return RANGE_BYTES + kv_n_apart(n) * 3 + (n + 1) / 2;
}

static void encode_4b8(uint8_t *to, const float *x, uint32_t n)
{
    uint8_t *indices = to + RANGE_BYTES, *numbers = indices + kv_n_apart(n);
    bool apart[BLOCK] = { false };
    struct range r;

    kv_set_apart(indices, apart, x, n);
    for (uint32_t i = 0; i < kv_n_apart(n); i++) {
        kv_put_half(numbers + (size_t)2 * i, x[indices[i]]);
    }
    r = put_range(to, x, n, apart, 4);
    put_levels(numbers + (size_t)2 * kv_n_apart(n), &r, x, n, 4);
}

static void decode_4b8(float *x, const uint8_t *from, uint32_t n)
{
    const uint8_t *indices = from + RANGE_BYTES, *numbers = indices + kv_n_apart(n);

    get_levels(x, from, numbers + (size_t)2 * kv_n_apart(n), n, 4);
    for (uint32_t i = 0; i < kv_n_apart(n); i++) {
        x[indices[i]] = kv_get_half(numbers + (size_t)2 * i);
    }
}

const struct kv_code kv_code_mixed_4b8 = { BLOCK, bytes_4b8, encode_4b8, decode_4b8 };
