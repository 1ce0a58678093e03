#include "flash_image/quantize/quantize_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/quantize/least_squares.h"
#include "flash_image/quantize/quantize.h"

enum { LARGEST = FIG4_COLS };

void table_codec_make(struct table_codec *codec, const int8_t values[NIBBLES])
{
    memcpy(codec->values, values, NIBBLES);
    for (int at = TABLE_LEAST; at <= TABLE_MOST; at++) {
        int best = 0;

        for (int i = 1; i < NIBBLES; i++) {
            if (abs(4 * values[i] - (2 * at + 1)) < abs(4 * values[best] - (2 * at + 1))) {
                best = i;
            }
        }
        codec->nearest[at - TABLE_LEAST] = (uint8_t)best;
    }
}

/* A candidate for a block: its stored scale and its nibbles. */
struct candidate {
    uint16_t half;
    uint8_t nibbles[LARGEST];
    double error; /* squared error minus sum h w^2, which is the same for all choices */
    float step;   /* the best scale for these nibbles */
};

static void assign(struct candidate *c, const float *restrict w, const float *restrict h, size_t n,
                   const struct table_codec *codec)
{
    float d = f32_from_f16(c->half), inverse = 2 * fit_inverse(d);
    int32_t q[LARGEST];
    struct fit_sums s;

    for (size_t i = 0; i < n; i++) {
        int32_t at = fit_nearest(w[i] * inverse - 0.5f, TABLE_LEAST, TABLE_MOST);

        c->nibbles[i] = codec->nearest[at - TABLE_LEAST];
        q[i] = codec->values[c->nibbles[i]];
    }
    s = fit_sum(w, h, q, n);
    c->error = (double)d * ((double)d * (double)s.qq - 2 * (double)s.xq);
    c->step = fit_step(&s);
}

/* Replace *best if the scale `half` is better; returns the best scale for the nibbles that `half`
 * gives. */
static float try_scale(struct candidate *best, uint16_t half, const float *w, const float *h,
                       size_t n, const struct table_codec *codec)
{
    struct candidate c = { .half = half };

    if ((half & 0x7c00) == 0x7c00) {
        return 0.0f;
    }
    assign(&c, w, h, n, codec);
    if (c.error < best->error) {
        *best = c;
    }
    return c.step;
}

static void store(uint8_t *block, const struct candidate *c, size_t n)
{
    fit_store_f16(block, c->half);
    for (size_t i = 0; i < n / 2; i++) {
        const uint8_t *run = c->nibbles + i / 16 * 32 + i % 16;

        block[2 + i] = (uint8_t)(run[0] | run[16] << 4);
    }
}

static float extreme_of(const float *w, size_t n)
{
    float extreme = 0.0f;

    for (size_t i = 0; i < n; i++) {
        if (fabsf(w[i]) > extreme) {
            extreme = fabsf(w[i]);
        }
    }
    return extreme;
}

/* The table's value farthest from 0, which is the first or the last. */
static float end_of(const struct table_codec *codec)
{
    int first = abs(codec->values[0]), last = abs(codec->values[NIBBLES - 1]);

    return (float)(first > last ? first : last);
}

/* Try positions of the largest element, in units of a table that ends at 127: from beyond the
 * table's end to where few elements use its outermost values. */
static bool search(const float *w, const float *h, const struct table_codec *codec, size_t n,
                   uint8_t *block)
{
    static const float targets[] = { 127.0f, 133.0f, 142.0f, 120.0f, 113.0f, 106.0f, 98.0f, 90.0f };
    float extreme = extreme_of(w, n) * (127.0f / end_of(codec));
    struct candidate best = { .half = 0, .error = 0 };

    if (extreme / 90.0f > FIT_F16_MOST) {
        return false;
    }
    assign(&best, w, h, n, codec); /* the result is zeros if no scale is better */
    best.error = 0;
    for (size_t i = 0; i < 2 * sizeof targets / sizeof targets[0]; i++) {
        float d = extreme / targets[i / 2];

        for (int round = 0; round < 3; round++) {
            d = try_scale(&best, f16_from_f32(i % 2 == 0 && round == 0 ? -d : d), w, h, n, codec);
        }
    }
    store(block, &best, n);
    return true;
}

bool quantize_block_iq4_nl(const float *w, const float *h, const struct table_codec *codec,
                           uint8_t *block)
{
    return search(w, h, codec, 32, block);
}

bool quantize_block_fig4(const float *w, const float *h, const struct table_codec *codec,
                         uint8_t *block)
{
    return search(w, h, codec, FIG4_COLS, block);
}

/* The table ends at 12; positions of the largest element between 6 and 24 units are tried. */
bool quantize_block_mxfp4(const float *w, const float *h, const struct table_codec *codec,
                          uint8_t *block)
{
    float extreme = extreme_of(w, 32);
    struct candidate best = { .half = 0, .error = 0 };
    int exponent;

    if (extreme > 12 * 0x1p15f) {
        return false;
    }
    assign(&best, w, h, 32, codec);
    best.error = 0;
    (void)frexpf(extreme, &exponent); /* extreme < 2^exponent */
    for (int e = exponent - 5; e <= exponent - 2; e++) {
        if (e >= -24 && e <= 15) {
            (void)try_scale(&best, f16_from_f32(ldexpf(1.0f, e)), w, h, 32, codec);
        }
    }
    store(block, &best, 32);
    return true;
}

void table_read_block(const uint8_t *block, const struct table_codec *codec, size_t n, float *out)
{
    float d = f32_from_f16((uint16_t)(block[0] | block[1] << 8));

    for (size_t i = 0; i < n; i++) {
        uint8_t byte = block[2 + i / 32 * 16 + i % 16];

        out[i] = d * (float)codec->values[i % 32 < 16 ? byte & 15 : byte >> 4];
    }
}

void interleave_fig4(const uint8_t *const blocks[8], void *group)
{
    struct block_fig4x8 *g = group;

    memset(g, 0, sizeof *g); /* the bytes of a padding row */
    for (size_t r = 0; r < 8; r++) {
        if (blocks[r] == NULL) {
            continue;
        }
        g->d[r] = (uint16_t)(blocks[r][0] | blocks[r][1] << 8);
        for (size_t i = 0; i < FIG4_COLS / 2; i++) {
            g->q[i / 16][block_place(r, i % 16)] = blocks[r][2 + i];
        }
    }
}
