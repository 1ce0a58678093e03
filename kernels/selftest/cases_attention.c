/* Attention over one tile of the cache: every number of positions and a few numbers of queries.
 * The number of dimensions is one of a model, or has a remainder that the contract allows. */
#include <string.h>

#include "kernels/ref/scalar.h"
#include "kernels/selftest/cases.h"

/* The differences between tiles of fp16 and of int8. */
static const struct tile_format {
    bool is_q8;
    size_t dimensions; /* the number of dimensions is a multiple of this */
    size_t query_align, value_align;
} tile_f16 = { false, 1, 4, 2 }, tile_q8 = { true, BLOCK_COLS, 8, 16 };

static const size_t heads[] = { 48, 64, 80, 96, 128, 256 };
enum { N_HEADS = sizeof heads / sizeof heads[0] };

/* A tile of int8 keys or values: its scales, then bytes. */
static void fill_tile_q8(struct tester *t, size_t slot, size_t d, unsigned fill)
{
    float *scale = tester_source(slot);
    uint8_t *bytes = (uint8_t *)(scale + d / 32 * KV_TILE);

    fill_floats(t, slot, d / 32 * KV_TILE, fill_if(fill != FILL_EQUAL, fill));
    if (fill == FILL_EQUAL) {
        memset(bytes, 0x80, d * KV_TILE);
        return;
    }
    for (size_t i = 0; i < d * KV_TILE; i++) {
        bytes[i] = (uint8_t)(tester_random(t) >> 40);
    }
}

static size_t tile_bytes(const struct tile_format *tile, size_t d)
{
    if (tile->is_q8) {
        return KV_TILE * (d + d / 8);
    }
    return KV_TILE * d * 2;
}

static void fill_tile(struct tester *t, size_t slot, const struct tile_format *tile, size_t d,
                      unsigned fill)
{
    if (tile->is_q8) {
        fill_tile_q8(t, slot, d, fill);
    } else {
        fill_halves(t, slot, KV_TILE * d, fill);
    }
}

static size_t query_bytes(const struct tile_format *tile, size_t d)
{
    if (tile->is_q8) {
        return d / BLOCK_COLS * sizeof(struct block_q8);
    }
    return 4 * d;
}

/* Fill slot 1 with n_q queries of d dimensions. */
static void fill_queries(struct tester *t, const struct tile_format *tile, size_t n_q, size_t d,
                         unsigned fill)
{
    struct block_q8 *q = tester_source(1);
    enum block_fill of_blocks = fill == FILL_EQUAL ? BLOCK_LEAST : BLOCK_RANDOM;

    if (!tile->is_q8) {
        fill_floats(t, 1, n_q * d, fill_if(fill != FILL_SPECIAL, fill));
        return;
    }
    for (size_t b = 0; b < n_q * (d / BLOCK_COLS); b++) {
        fill_quantized_q8(t, &q[b], of_blocks);
    }
}

/* Only s[0..n) may change. */
static void run_score(struct tester *t, const struct tile_format *tile, size_t n_q, size_t n,
                      size_t d, unsigned fill)
{
    struct tester_case c = {
        .slot = { { TESTER_INOUT, TESTER_F32, n_q * sizeof(struct score_row), 64 },
                  { TESTER_IN, TESTER_BYTES, n_q * query_bytes(tile, d), tile->query_align },
                  { TESTER_IN, TESTER_BYTES, tile_bytes(tile, d), 16 } },
        .n_slots = 3,
        .pointer = { 0, 1, 2 },
        .n_pointers = 3,
        .size = { n_q, n, d },
        .n_sizes = 3,
        .data = fill,
    };

    fill_floats(t, 0, n_q * sizeof(struct score_row) / 4, FILL_UNIFORM);
    fill_tile(t, 2, tile, d, fill);
    fill_queries(t, tile, n_q, d, fill);
    tester_run(t, &c);
}

/* The queries of a prompt: several tokens times the heads that share keys. */
static const size_t many[] = { 12, 17, 33, 66 };
enum { N_MANY = sizeof many / sizeof many[0] };

/* Return the number of dimensions for n_q queries in case i, which is 0 to 2. */
static size_t score_dimensions(const struct tile_format *tile, size_t n_q, size_t i)
{
    if (tile->is_q8) {
        return BLOCK_COLS * i;
    }
    return (n_q + 7 * i) % 21;
}

static void test_score(struct tester *t, const struct tile_format *tile)
{
    unsigned fill = 0;

    for (size_t i = 0; i < N_MANY; i++) {
        run_score(t, tile, many[i], 16 * (i + 1), 64, fill++ % FILL_KINDS);
    }

    for (size_t n_q = 0; n_q <= 9; n_q++) {
        for (size_t n = 0; n <= KV_TILE; n += 16) {
            for (size_t i = 0; i < 3; i++) {
                run_score(t, tile, n_q, n, score_dimensions(tile, n_q, i), fill++ % FILL_KINDS);
            }
        }
    }
    for (size_t i = 0; i < N_HEADS; i++) {
        if (heads[i] % tile->dimensions == 0) {
            run_score(t, tile, i + 1, 16 * (i % 4 + 1), heads[i], fill++ % FILL_KINDS);
            run_score(t, tile, 8, 64, heads[i], fill++ % FILL_KINDS);
        }
    }
}

/* Give a row stale scores beyond n, and a factor of at most 1. */
static void end_score_row(struct tester *t, struct score_row *s, size_t n, float stale)
{
    for (size_t j = n; j < KV_TILE; j++) {
        s->s[j] = stale;
    }
    s->factor = 1.0f;
    if (n % 3 != 0) {
        s->factor = fabsf(fill_uniform(t));
    }
}

/* Positions beyond n hold stale data: scores of another tile, and values that may be NaN. */
static void run_accumulate(struct tester *t, const struct tile_format *tile, size_t n_q, size_t n,
                           size_t d, unsigned fill)
{
    struct score_row *s = tester_source(1);
    float stale = fill % 2 == 0 ? 0.0f : NAN;
    struct tester_case c = {
        .slot = { { TESTER_INOUT, TESTER_F32, 4 * n_q * d, 4 },
                  { TESTER_IN, TESTER_F32, n_q * sizeof(struct score_row), 64 },
                  { TESTER_IN, TESTER_BYTES, tile_bytes(tile, d), tile->value_align } },
        .n_slots = 3,
        .pointer = { 0, 1, 2 },
        .n_pointers = 3,
        .size = { n_q, n, d },
        .n_sizes = 3,
        .data = fill,
    };

    fill_floats(t, 0, n_q * d, fill);
    fill_tile(t, 2, tile, d, fill);
    fill_floats(t, 1, n_q * sizeof(struct score_row) / 4, fill == FILL_SPECIAL ? FILL_WIDE : fill);
    for (size_t a = 0; a < n_q; a++) {
        end_score_row(t, &s[a], n, stale);
    }
    if (!tile->is_q8 && fill % 2 == 0) {
        memset((uint8_t *)tester_source(2) + 2 * n * d, 0x7e, 2 * (KV_TILE - n) * d);
    }
    tester_run(t, &c);
}

static size_t accumulate_dimensions(const struct tile_format *tile, size_t n)
{
    if (tile->is_q8) {
        return BLOCK_COLS * (n % 3);
    }
    return n * 3 % 36;
}

static void test_accumulate(struct tester *t, const struct tile_format *tile)
{
    unsigned fill = 0;

    for (size_t i = 0; i < N_MANY; i++) {
        run_accumulate(t, tile, many[i], 13 * (i + 1), 64, fill++ % FILL_KINDS);
    }

    for (size_t n = 0; n <= KV_TILE; n++) {
        run_accumulate(t, tile, n % 10, n, accumulate_dimensions(tile, n), fill++ % FILL_KINDS);
    }
    for (size_t d = 0; d <= 70; d += tile->dimensions) {
        for (size_t n_q = 0; n_q <= 9; n_q++) {
            run_accumulate(t, tile, n_q, (n_q * 5 + d) % 13, d, fill++ % FILL_KINDS);
        }
    }
    for (size_t i = 0; i < N_HEADS; i++) {
        if (heads[i] % tile->dimensions == 0) {
            run_accumulate(t, tile, i + 1, 16 * i % 61, heads[i], fill++ % FILL_KINDS);
            run_accumulate(t, tile, 8, 64, heads[i], fill++ % FILL_KINDS);
        }
    }
}

/* Make a row as it is before its first tile, or between two tiles. */
static void begin_softmax_row(struct tester *t, struct score_row *s, bool first)
{
    s->sum = fabsf(s->sum);
    if (first) {
        s->max = -INFINITY;
        s->sum = 0.0f;
    }
    for (size_t i = 0; i < sizeof s->reserved / sizeof s->reserved[0]; i++) {
        s->reserved[i] = fill_uniform(t); /* no NaN: all bytes must be kept */
    }
}

/* All zeros are +0 here, because max is compared bit by bit, and the contract allows either
 * zero. */
static void fill_softmax_rows(struct tester *t, size_t n_values, size_t n, unsigned fill)
{
    float factor = fill_factor(fill, 30.0f);
    float *values = tester_source(0);

    fill_floats(t, 0, n_values, fill);
    for (size_t i = 0; i < n_values; i++) {
        values[i] *= factor;
        if (values[i] == 0.0f) {
            values[i] = 0.0f;
        }
        if (n % 4 == 1) { /* all negative, so that a wrong lane of zeros would be the maximum */
            values[i] = -1.0f - fabsf(values[i]);
        }
    }
}

static void run_online_softmax(struct tester *t, size_t n_q, size_t n, unsigned fill)
{
    struct score_row *s = tester_source(0);
    struct tester_case c = {
        .slot = { { TESTER_INOUT, TESTER_F32, n_q * sizeof(struct score_row), 64 } },
        .n_slots = 1,
        .pointer = { 0 },
        .n_pointers = 1,
        .size = { n_q, n },
        .n_sizes = 2,
        .data = fill,
    };

    fill_softmax_rows(t, n_q * sizeof(struct score_row) / 4, n, fill);
    for (size_t a = 0; a < n_q; a++) {
        begin_softmax_row(t, &s[a], (a + n) % 3 == 0);
        for (size_t j = n; j < KV_TILE && fill % 2 != 0; j++) {
            s[a].s[j] = INFINITY;
        }
    }
    tester_run(t, &c);
}

static void test_online_softmax(struct tester *t)
{
    for (size_t n = 1; n <= KV_TILE; n++) {
        for (unsigned fill = 0; fill < FILL_KINDS; fill++) {
            run_online_softmax(t, (n + fill) % 5, n, fill);
        }
    }
    for (size_t n_q = 0; n_q <= 33; n_q++) {
        run_online_softmax(t, n_q, n_q % KV_TILE + 1, (unsigned)n_q % FILL_KINDS);
    }
}

bool tester_run_attention(struct tester *t, enum kernel_op op)
{
    switch ((int)op) {
    case KERNEL_score_f32_f16: test_score(t, &tile_f16); return true;
    case KERNEL_score_f32_q8: test_score(t, &tile_q8); return true;
    case KERNEL_accumulate_f32_f16: test_accumulate(t, &tile_f16); return true;
    case KERNEL_accumulate_f32_q8: test_accumulate(t, &tile_q8); return true;
    case KERNEL_online_softmax_f32: test_online_softmax(t); return true;
    default: return false;
    }
}
