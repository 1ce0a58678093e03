/* Attention over one tile of the cache: every number of positions, a few of queries, dimensions at
 * every ragged edge where the contract allows any, else a model's. */
#include <string.h>

#include "kernels/ref/scalar.h"
#include "kernels/selftest/cases.h"

/* A tile of int8 keys or values: its scales, then bytes. */
static void fill_tile_q8(struct tester *t, size_t slot, size_t d, unsigned fill)
{
    float *scale = tester_source(slot);
    uint8_t *bytes = (uint8_t *)(scale + d / 32 * KV_TILE);

    fill_floats(t, slot, d / 32 * KV_TILE, fill == FILL_EQUAL ? FILL_UNIFORM : fill);
    for (size_t i = 0; i < d * KV_TILE; i++) {
        bytes[i] = fill == FILL_EQUAL ? 0x80 : (uint8_t)(tester_random(t) >> 40);
    }
}

static size_t tile_bytes(bool is_q8, size_t d)
{
    return is_q8 ? KV_TILE * (d + d / 8) : KV_TILE * d * 2;
}

static void fill_tile(struct tester *t, size_t slot, bool is_q8, size_t d, unsigned fill)
{
    if (is_q8) {
        fill_tile_q8(t, slot, d, fill);
    } else {
        fill_halves(t, slot, KV_TILE * d, fill);
    }
}

/* Only s[0..n) may change. */
static void run_score(struct tester *t, bool is_q8, size_t n_q, size_t n, size_t d, unsigned fill)
{
    size_t query_bytes = is_q8 ? d / 32 * sizeof(struct block_q8) : 4 * d;
    struct block_q8 *q = tester_source(1);
    struct tester_case c = {
        .slot = { { TESTER_INOUT, TESTER_F32, n_q * sizeof(struct score_row), 64 },
                  { TESTER_IN, TESTER_BYTES, n_q * query_bytes, is_q8 ? 8 : 4 },
                  { TESTER_IN, TESTER_BYTES, tile_bytes(is_q8, d), 16 } },
        .n_slots = 3,
        .pointer = { 0, 1, 2 },
        .n_pointers = 3,
        .size = { n_q, n, d },
        .n_sizes = 3,
        .data = fill,
    };

    fill_floats(t, 0, n_q * sizeof(struct score_row) / 4, FILL_UNIFORM);
    fill_tile(t, 2, is_q8, d, fill);
    if (is_q8) {
        for (size_t b = 0; b < n_q * (d / 32); b++) {
            fill_block_q8(t, &q[b], fill == FILL_EQUAL ? BLOCK_LEAST : BLOCK_RANDOM, false);
        }
    } else {
        fill_floats(t, 1, n_q * d, fill == FILL_SPECIAL ? FILL_UNIFORM : fill);
    }
    tester_run(t, &c);
}

/* Queries of a prompt: several tokens times the heads that share keys. */
static const size_t many[] = { 12, 17, 33, 66 };
enum { N_MANY = sizeof many / sizeof many[0] };

static void test_score(struct tester *t, bool is_q8)
{
    static const size_t heads[] = { 48, 64, 80, 96, 128, 256 };
    unsigned fill = 0;

    for (size_t i = 0; i < N_MANY; i++) {
        run_score(t, is_q8, many[i], 16 * (i + 1), 64, fill++ % FILL_KINDS);
    }

    for (size_t n_q = 0; n_q <= 9; n_q++) {
        for (size_t n = 0; n <= KV_TILE; n += 16) {
            for (size_t i = 0; i < 3; i++) {
                size_t d = is_q8 ? 32 * i : (n_q + 7 * i) % 21;

                run_score(t, is_q8, n_q, n, d, fill++ % FILL_KINDS);
            }
        }
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        if (!is_q8 || heads[i] % 32 == 0) {
            run_score(t, is_q8, i + 1, 16 * (i % 4 + 1), heads[i], fill++ % FILL_KINDS);
            run_score(t, is_q8, 8, 64, heads[i], fill++ % FILL_KINDS);
        }
    }
}

/* What lies beyond n is stale: scores of another tile, values that may be NaN. */
static void run_accumulate(struct tester *t, bool is_q8, size_t n_q, size_t n, size_t d,
                           unsigned fill)
{
    struct score_row *s = tester_source(1);
    struct tester_case c = {
        .slot = { { TESTER_INOUT, TESTER_F32, 4 * n_q * d, 4 },
                  { TESTER_IN, TESTER_F32, n_q * sizeof(struct score_row), 64 },
                  { TESTER_IN, TESTER_BYTES, tile_bytes(is_q8, d), is_q8 ? 16 : 2 } },
        .n_slots = 3,
        .pointer = { 0, 1, 2 },
        .n_pointers = 3,
        .size = { n_q, n, d },
        .n_sizes = 3,
        .data = fill,
    };

    fill_floats(t, 0, n_q * d, fill);
    fill_tile(t, 2, is_q8, d, fill);
    fill_floats(t, 1, n_q * sizeof(struct score_row) / 4, fill == FILL_SPECIAL ? FILL_WIDE : fill);
    for (size_t a = 0; a < n_q; a++) {
        for (size_t j = n; j < KV_TILE; j++) {
            s[a].s[j] = fill % 2 ? NAN : 0.0f;
        }
        s[a].factor = n % 3 == 0 ? 1.0f : fabsf(fill_uniform(t));
    }
    if (!is_q8 && fill % 2 == 0) {
        memset((uint8_t *)tester_source(2) + 2 * n * d, 0x7e, 2 * (KV_TILE - n) * d);
    }
    tester_run(t, &c);
}

static void test_accumulate(struct tester *t, bool is_q8)
{
    static const size_t heads[] = { 48, 64, 80, 96, 128, 256 };
    unsigned fill = 0;

    for (size_t i = 0; i < N_MANY; i++) {
        run_accumulate(t, is_q8, many[i], 13 * (i + 1), 64, fill++ % FILL_KINDS);
    }

    for (size_t n = 0; n <= KV_TILE; n++) {
        run_accumulate(t, is_q8, n % 10, n, is_q8 ? 32 * (n % 3) : n * 3 % 36, fill++ % FILL_KINDS);
    }
    for (size_t d = 0; d <= 70; d += is_q8 ? 32 : 1) {
        for (size_t n_q = 0; n_q <= 9; n_q++) {
            run_accumulate(t, is_q8, n_q, (n_q * 5 + d) % 13, d, fill++ % FILL_KINDS);
        }
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        if (!is_q8 || heads[i] % 32 == 0) {
            run_accumulate(t, is_q8, i + 1, 16 * i % 61, heads[i], fill++ % FILL_KINDS);
            run_accumulate(t, is_q8, 8, 64, heads[i], fill++ % FILL_KINDS);
        }
    }
}

/* max decides by its bits here, so zeros are all +0: which zero wins is open. */
static void run_online_softmax(struct tester *t, size_t n_q, size_t n, unsigned fill)
{
    size_t n_values = n_q * sizeof(struct score_row) / 4;
    struct score_row *s = tester_source(0);
    float *values = tester_source(0);
    struct tester_case c = {
        .slot = { { TESTER_INOUT, TESTER_F32, n_q * sizeof(struct score_row), 64 } },
        .n_slots = 1,
        .pointer = { 0 },
        .n_pointers = 1,
        .size = { n_q, n },
        .n_sizes = 2,
        .data = fill,
    };

    fill_floats(t, 0, n_values, fill);
    for (size_t i = 0; i < n_values; i++) {
        values[i] = values[i] == 0.0f ? 0.0f : values[i] * (fill == FILL_UNIFORM ? 30.0f : 1.0f);
        if (n % 4 == 1) { /* so that a lane of zeros would win */
            values[i] = -1.0f - fabsf(values[i]);
        }
    }
    for (size_t a = 0; a < n_q; a++) {
        bool first = (a + n) % 3 == 0;

        s[a].max = first ? -INFINITY : s[a].max;
        s[a].sum = first ? 0.0f : fabsf(s[a].sum);
        for (size_t i = 0; i < sizeof s->reserved / sizeof s->reserved[0]; i++) {
            s[a].reserved[i] = fill_uniform(t); /* no NaN: all of it must stay */
        }
        for (size_t j = n; j < KV_TILE; j++) {
            s[a].s[j] = fill % 2 ? INFINITY : s[a].s[j];
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
    case KERNEL_score_f32_f16: test_score(t, false); return true;
    case KERNEL_score_f32_q8: test_score(t, true); return true;
    case KERNEL_accumulate_f32_f16: test_accumulate(t, false); return true;
    case KERNEL_accumulate_f32_q8: test_accumulate(t, true); return true;
    case KERNEL_online_softmax_f32: test_online_softmax(t); return true;
    default: return false;
    }
}
