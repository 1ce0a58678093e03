/* turbo_4b, turbo_3b (TurboQuant, arXiv 2504.19874): a block of 128 numbers is rotated at random, after
 * which each number over |x| / sqrt(n) is nearly normal; it takes the nearest of the 16 or 8 numbers
 * that are best for a normal distribution (Lloyd, Max). fp16 factor, then the indices: a sign above the
 * magnitude's. The factor is not |x| / sqrt(n) itself but the one that brings what comes back nearest
 * to x. No second stage for what is left over: it harms (docs/KV.md).
 *
 * qjl_1b (arXiv 2406.03482): of a block of 256 numbers the signs of random projections, here the rows
 * of a random rotation R times sqrt(m):
 *
 *     <q, k> ~ sqrt(pi/2) / m |k| sum_i (sqrt(m) R q)_i sign((R k)_i)
 *
 * with the query as it is, so that k may as well come back as sqrt(pi/2) |k| / sqrt(m) R' sign(R k). The
 * numbers of largest magnitude, an eighth and four at most, are split off before, with their own norm
 * and signs. fp16 norm, fp16 norm of those, their u8 indices, n signs: theirs, then those of the rest. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "board/min_max.h"
#include "tests/bench/kv/kv_code.h"

enum { BLOCK = 128, HALF_BYTES = 2 };

static float dot(const float *x, const float *y, uint32_t n)
{
    float sum = 0.0f;

    for (uint32_t i = 0; i < n; i++) {
        sum = fmaf(x[i], y[i], sum);
    }
    return sum;
}

/* ---- turbo ------------------------------------------------------------------------------------ */

static const float centroids_4b[8] = { .1284f,  .3880f,  .6568f,  .9423f,
                                       1.2562f, 1.6180f, 2.0690f, 2.7326f };
static const float centroids_3b[4] = { .2451f, .7560f, 1.3439f, 2.1519f };

/* Centroids of one sign, ascending. */
struct codebook {
    const float *centroids;
    uint32_t bits; /* bits of an index, with its sign */
};

static const struct codebook book_4b = { centroids_4b, 4 }, book_3b = { centroids_3b, 3 };

static float from_index(const struct codebook *b, uint32_t index)
{
    uint32_t n = 1u << (b->bits - 1);
    float magnitude = b->centroids[index % n];

    return index >= n ? -magnitude : magnitude;
}

static uint32_t nearest(const struct codebook *b, float x)
{
    uint32_t n = 1u << (b->bits - 1), i = 0;

    while (i + 1 < n && fabsf(x) > (b->centroids[i] + b->centroids[i + 1]) / 2.0f) {
        i++;
    }
    return x < 0.0f ? n + i : i;
}

static void encode(const struct codebook *b, uint8_t *to, const float *x, uint32_t n)
{
    float y[BLOCK], c[BLOCK], norm, per_one;

    memcpy(y, x, n * sizeof *y);
    kv_turn(y, n);
    norm = sqrtf(dot(y, y, n));
    per_one = norm > 0.0f ? sqrtf((float)n) / norm : 0.0f;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = nearest(b, y[i] * per_one);

        c[i] = from_index(b, index);
        kv_put_bits(to + HALF_BYTES, i * b->bits, b->bits, index);
    }
    kv_put_half(to, dot(y, c, n) / dot(c, c, n));
}

static void decode(const struct codebook *b, float *x, const uint8_t *from, uint32_t n)
{
    float factor = kv_get_half(from);

    for (uint32_t i = 0; i < n; i++) {
        x[i] = factor * from_index(b, kv_get_bits(from + HALF_BYTES, i * b->bits, b->bits));
    }
    kv_turn_back(x, n);
}

static uint32_t bytes_4b(uint32_t n)
{
    return HALF_BYTES + (n + 1) / 2;
}

static void encode_4b(uint8_t *to, const float *x, uint32_t n)
{
    encode(&book_4b, to, x, n);
}

static void decode_4b(float *x, const uint8_t *from, uint32_t n)
{
    decode(&book_4b, x, from, n);
}

static uint32_t bytes_3b(uint32_t n)
{
    return HALF_BYTES + (3 * n + 7) / 8;
}

static void encode_3b(uint8_t *to, const float *x, uint32_t n)
{
    encode(&book_3b, to, x, n);
}

static void decode_3b(float *x, const uint8_t *from, uint32_t n)
{
    decode(&book_3b, x, from, n);
}

const struct kv_code kv_code_turbo_4b = { BLOCK, bytes_4b, encode_4b, decode_4b };
const struct kv_code kv_code_turbo_3b = { BLOCK, bytes_3b, encode_3b, decode_3b };

/* ---- qjl_1b ----------------------------------------------------------------------------------- */

enum { QJL_BLOCK = 256, NORMS_BYTES = 4 };
#define SQRT_PI_2 1.2533141f

static uint32_t bytes_1b(uint32_t n)
{
    return NORMS_BYTES + kv_n_apart(n) + (n + 7) / 8;
}

/* Lists the numbers that are not apart, one after the other. */
static void gather(float *rest, const float *x, uint32_t n, const bool *apart)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!apart[i]) {
            *rest++ = x[i];
        }
    }
}

static void encode_1b(uint8_t *to, const float *x, uint32_t n)
{
    uint32_t apart_n = kv_n_apart(n), m = n - apart_n;
    uint8_t *indices = to + NORMS_BYTES, *signs = indices + apart_n;
    float rest[QJL_BLOCK], outliers[KV_APART];
    bool apart[QJL_BLOCK] = { false };

    kv_set_apart(indices, apart, x, n);
    for (uint32_t i = 0; i < apart_n; i++) {
        outliers[i] = x[indices[i]];
        kv_put_bits(signs, i, 1, outliers[i] < 0.0f);
    }
    gather(rest, x, n, apart);
    kv_put_half(to, sqrtf(dot(rest, rest, m)));
    kv_put_half(to + HALF_BYTES, sqrtf(dot(outliers, outliers, apart_n)));
    kv_turn(rest, m);
    for (uint32_t i = 0; i < m; i++) {
        kv_put_bits(signs, apart_n + i, 1, rest[i] < 0.0f);
    }
}

static void decode_1b(float *x, const uint8_t *from, uint32_t n)
{
    uint32_t apart_n = kv_n_apart(n), m = n - apart_n;
    const uint8_t *indices = from + NORMS_BYTES, *signs = indices + apart_n;
    float each = SQRT_PI_2 * kv_get_half(from) / sqrtf((float)m);
    float outlier = kv_get_half(from + HALF_BYTES) / sqrtf((float)max_u32(apart_n, 1));
    bool apart[QJL_BLOCK] = { false };
    float rest[QJL_BLOCK], *next = rest;

    for (uint32_t i = 0; i < m; i++) {
        rest[i] = kv_get_bits(signs, apart_n + i, 1) != 0 ? -each : each;
    }
    kv_turn_back(rest, m);
    for (uint32_t i = 0; i < apart_n; i++) {
        apart[indices[i]] = true;
        x[indices[i]] = kv_get_bits(signs, i, 1) != 0 ? -outlier : outlier;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!apart[i]) {
            x[i] = *next++;
        }
    }
}

const struct kv_code kv_code_qjl_1b = { QJL_BLOCK, bytes_1b, encode_1b, decode_1b };
