/* Fills the buffers with ordinary values, and with values at which kernels tend to fail. */
#include <string.h>

#include "kernels/ref/dot.h"
#include "kernels/selftest/cases.h"

static const uint32_t odd_floats[] = {
    0x00000000,
    0x80000000,
    0x00000001,
    0x80000001,
    0x007fffff,
    0x00800000,
    0x80800001,
    0x33800000,
    0x3f7fffff,
    0x3f800001,
    0x477fe000,
    0x477ff000,
    0x477fefff,
    0x38800000,
    0x387fffff,
    0x33000000,
    0x33000001,
    0xc2d00000,
    0x42b17218,
    0x42b20000,
    0xc2aeac50,
    0x7f7fffff,
    0xff7fffff,
    0x5f000000,
    /* values from here on are not finite */
    0x7f800000,
    0xff800000,
    0x7fc00000,
    0xffc12345,
    0x7f800001,
};
enum { N_ODD = sizeof odd_floats / sizeof odd_floats[0], N_ODD_FINITE = N_ODD - 5 };

static const uint16_t odd_halves[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff,
    0xfbff, 0x3c00, 0xbc01, 0x7c00, 0xfc00, 0x7e00, 0xfd55, /* not finite */
};
enum {
    N_ODD_HALVES = sizeof odd_halves / sizeof odd_halves[0],
    N_HALVES_FINITE = N_ODD_HALVES - 4,
};

#define FORMAT(layout, columns, act, is_table) \
    [WEIGHTS_##layout] = { .cols = (columns), \
                           .bytes = sizeof(struct block_##layout##x8), \
                           .align = 16, \
                           .table = (is_table), \
                           .x_bytes = sizeof(struct block_##act), \
                           .x4_bytes = sizeof(struct block_##act##x4), \
                           .x_align = sizeof(struct block_##act) == Q8K_BYTES ? 16 : 8, \
                           .fills = BLOCK_KINDS },

static const struct weights_format formats[] = {
#define TYPE_FLOATS(NAME, id, name, columns, float_size, ...) \
    [WEIGHTS_##name] = { .cols = (columns), \
                         .float_bytes = (float_size), \
                         .align = 64, \
                         .x_align = 16, \
                         .fills = FILL_KINDS },
#define TYPE_WEIGHTS(NAME, id, name, layout, columns, act, ...) FORMAT(layout, columns, act, false)
#define TYPE_TABLED(NAME, id, name, layout, columns, act, ...) FORMAT(layout, columns, act, true)
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
};

const struct weights_format *weights_format(enum weights type)
{
    return &formats[type];
}

size_t weights_bytes(enum weights type, size_t rows, size_t cols)
{
    const struct weights_format *f = weights_format(type);

    if (f->float_bytes != 0) {
        return rows * cols * f->float_bytes;
    }
    return (rows + GROUP_ROWS - 1) / GROUP_ROWS * (cols / f->cols) * f->bytes;
}

size_t case_length(size_t i)
{
    static const size_t more[] = { 192, 576, 2048, 2047, 575, 1000 };

    if (i <= 70) {
        return i;
    }
    return more[i - 71];
}

unsigned fill_if(bool wanted, unsigned fill)
{
    return wanted ? fill : FILL_UNIFORM;
}

float fill_factor(unsigned fill, float range)
{
    return fill == FILL_UNIFORM ? range : 1.0f;
}

float fill_uniform(struct tester *t)
{
    return (float)(int32_t)(tester_random(t) >> 32) * 0x1p-31f;
}

/* Return a float of magnitude up to 8 or, one time in four, one of the first n special values. */
static float pick_odd(struct tester *t, uint64_t r, size_t n)
{
    if (r & 3) {
        return fill_uniform(t) * 8.0f;
    }
    return f32_from_bits(odd_floats[(r >> 8) % n]);
}

static float pick_float(struct tester *t, enum fill fill)
{
    uint64_t r = tester_random(t);

    switch (fill) {
    case FILL_WIDE:
        return fill_uniform(t) * f32_from_bits((uint32_t)(127 - 40 + (int)(r % 81)) << 23);
    case FILL_FINITE: return pick_odd(t, r, N_ODD_FINITE);
    case FILL_SPECIAL: return pick_odd(t, r, N_ODD);
    case FILL_EQUAL: return 0.7f;
    case FILL_UNIFORM:
    case FILL_KINDS:
    default: return fill_uniform(t);
    }
}

void fill_floats(struct tester *t, size_t slot, size_t n, enum fill fill)
{
    float *out = tester_source(slot);

    for (size_t i = 0; i < n; i++) {
        out[i] = pick_float(t, fill);
    }
}

void fill_halves(struct tester *t, size_t slot, size_t n, enum fill fill)
{
    uint16_t *out = tester_source(slot);
    size_t n_odd = fill == FILL_SPECIAL ? N_ODD_HALVES : N_HALVES_FINITE;

    for (size_t i = 0; i < n; i++) {
        uint64_t r = tester_random(t);
        uint32_t exponent = fill == FILL_UNIFORM ? 10 : (uint32_t)(r >> 20) % 31;

        out[i] = (uint16_t)((r & 0x83ffu) | exponent << 10);
        if (fill >= FILL_FINITE && (r >> 40 & 3) == 0) {
            out[i] = odd_halves[(r >> 44) % n_odd];
        }
    }
}

void fill_random_bytes(struct tester *t, size_t slot, size_t n)
{
    uint8_t *out = tester_source(slot);

    for (size_t i = 0; i < n; i += 8) {
        uint64_t r = tester_random(t);

        memcpy(out + i, &r, n - i < 8 ? n - i : 8);
    }
}

static int8_t pick_value(struct tester *t, enum block_fill fill, int8_t greatest)
{
    static const int8_t mixed[4] = { -128, 127, -128, 0 };
    uint64_t r = tester_random(t);

    switch (fill) {
    case BLOCK_LEAST:
    case BLOCK_PAIR: return -128;
    case BLOCK_GREATEST: return greatest;
    case BLOCK_MIXED: return mixed[r >> 10 & 3];
    case BLOCK_RANDOM:
    case BLOCK_SCALES:
    case BLOCK_KINDS:
    default: return (int8_t)((int)(r >> 32 & 255) - 128);
    }
}

/* fp16 scales are finite by contract. */
static void fill_scales(struct tester *t, uint16_t out[8], enum block_fill fill)
{
    for (size_t r = 0; r < 8; r++) {
        uint64_t word = tester_random(t);

        out[r] = (uint16_t)(0x1800u + (word & 0x0fffu)); /* 0.002 to 0.03 */
        if (fill == BLOCK_SCALES) {
            out[r] = odd_halves[word % N_HALVES_FINITE];
        }
    }
}

/* Fill packed fields. A negative extreme value sets all bits, so that nibbles are 15 and
 * scales 63. */
static void fill_packed(struct tester *t, uint8_t *out, size_t n, enum block_fill fill)
{
    for (size_t i = 0; i < n; i++) {
        int8_t q = pick_value(t, fill, 127);

        out[i] = (uint8_t)q;
        if (fill != BLOCK_RANDOM && q < 0) {
            out[i] = 255;
        }
    }
}

static void fill_signed(struct tester *t, int8_t *out, size_t n, enum block_fill fill)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = pick_value(t, fill, 127);
    }
}

static void fill_q6k(struct tester *t, struct block_q6kx8 *out, enum block_fill fill)
{
    fill_scales(t, out->d, fill);
    fill_signed(t, &out->scales[0][0], sizeof out->scales, fill);
    fill_packed(t, out->low, sizeof out->low, fill);
    fill_packed(t, out->high, sizeof out->high, fill);
    if (fill == BLOCK_LEAST) { /* q = -32 gives larger sums than q = 31 */
        memset(out->low, 0, sizeof out->low);
        memset(out->high, 0, sizeof out->high);
    }
}

static void fill_q3k(struct tester *t, struct block_q3kx8 *out, enum block_fill fill)
{
    fill_scales(t, out->d, fill);
    fill_signed(t, &out->scales[0][0], sizeof out->scales, fill);
    fill_packed(t, out->low, sizeof out->low, fill);
    fill_packed(t, out->high, sizeof out->high, fill);
    if (fill == BLOCK_LEAST) { /* -4, as above */
        memset(out->low, 0, sizeof out->low);
    }
}

/* Fill the fp16 numbers at a block's start, then packed fields. */
static void fill_plain(struct tester *t, void *out, enum weights type, enum block_fill fill)
{
    static const size_t n_halves[] = {
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, halves, ...) [WEIGHTS_##layout] = halves,
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
    };
    uint16_t *scales = out;
    size_t n = n_halves[type];

    for (size_t i = 0; i < n; i += 8) {
        fill_scales(t, scales + i, fill);
    }
    fill_packed(t, (uint8_t *)out + 2 * n, weights_format(type)->bytes - 2 * n, fill);
}

/* Fill one group. Layouts with signed fields need functions of their own. */
static void fill_group(struct tester *t, void *out, enum weights type, enum block_fill fill)
{
    struct block_q8x8 *q8 = out;

    switch ((int)type) {
    case WEIGHTS_q8:
        fill_scales(t, q8->d, fill);
        fill_signed(t, q8->q, sizeof q8->q, fill);
        return;
    case WEIGHTS_q3k: fill_q3k(t, out, fill); return;
    case WEIGHTS_q6k: fill_q6k(t, out, fill); return;
    default: fill_plain(t, out, type, fill); return;
    }
}

void fill_weights(struct tester *t, size_t slot, enum weights type, size_t rows, size_t cols,
                  unsigned fill)
{
    size_t bytes = weights_bytes(type, rows, cols);
    uint8_t *out = tester_source(slot);

    if (type == WEIGHTS_f32) {
        fill_floats(t, slot, rows * cols, fill);
        return;
    }
    if (type == WEIGHTS_f16) {
        fill_halves(t, slot, rows * cols, fill);
        return;
    }
    for (size_t at = 0; at < bytes; at += weights_format(type)->bytes) {
        fill_group(t, out + at, type, fill);
    }
}

/* If activations are extreme, nibbles 0 and 15 get the largest value and its negative. */
void fill_table(struct tester *t, size_t slot, unsigned fill, size_t ahead)
{
    static const int mosts[] = { 127, TABLE_NARROW, TABLE_NARROW + 1 };
    struct nibble_table *table = tester_source(slot);
    int most = mosts[(tester_random(t) >> 40) % 3];

    for (size_t i = 0; i < NIBBLES; i++) {
        table->values[i] = (int8_t)((int)(tester_random(t) >> 40) % (most + 1));
        if ((tester_random(t) & 1) != 0) {
            table->values[i] = (int8_t)-table->values[i];
        }
    }
    if (fill != BLOCK_RANDOM) {
        table->values[0] = (int8_t)most;
        table->values[NIBBLES - 1] = (int8_t)-most;
    }
    table->ahead = ahead;
}

/* Fill with 127 except for two -128, one chunk apart, in the last block of a row. */
static void fill_pair(struct tester *t, int8_t *q, size_t n, bool last)
{
    size_t at;

    memset(q, 127, n);
    if (!last) {
        return;
    }
    at = tester_random(t) % n;
    q[at] = -128;
    q[at ^ 4] = -128;
}

static void fill_values(struct tester *t, int8_t *q, size_t n, enum block_fill fill, bool last)
{
    if (fill == BLOCK_PAIR) {
        fill_pair(t, q, n, last);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        q[i] = pick_value(t, fill, -128);
    }
}

static float pick_activation_scale(struct tester *t, enum block_fill fill)
{
    if (fill == BLOCK_SCALES) {
        return fabsf(pick_float(t, FILL_FINITE));
    }
    return fabsf(fill_uniform(t)) * 0.1f;
}

void fill_block_q8(struct tester *t, struct block_q8 *out, enum block_fill fill, bool last)
{
    fill_values(t, out->q, 32, fill, last);
    out->sum = 0;
    for (size_t i = 0; i < 32; i++) {
        out->sum += out->q[i];
    }
    out->d = pick_activation_scale(t, fill);
}

void fill_quantized_q8(struct tester *t, struct block_q8 *out, enum block_fill fill)
{
    fill_block_q8(t, out, fill, false);
    out->sum = 0;
    for (size_t i = 0; i < 32; i++) {
        out->q[i] = out->q[i] < -127 ? -127 : out->q[i];
        out->sum += out->q[i];
    }
}

void fill_block_q8k(struct tester *t, struct block_q8k *out, enum block_fill fill, bool last)
{
    memset(out, 0, sizeof *out);
    fill_values(t, out->q, 256, fill, last);
    for (size_t i = 0; i < 256; i++) {
        out->sum[i / 16] = (int16_t)(out->sum[i / 16] + out->q[i]);
    }
    out->d = pick_activation_scale(t, fill);
}
