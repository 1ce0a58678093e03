/* Integer attention: keys of four bits; values of four and eight bits times weights of int8.
 * Some contents have the largest products, all of one sign, whose sums just fit 16 bits. */
#include <math.h>
#include <string.h>

#include "kernels/selftest/cases.h"

static const size_t widths[] = { 0, 32, 64, 96, 128, 160, 256 };
static const size_t rows[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 17, 30 };
enum { N_WIDTHS = sizeof widths / sizeof widths[0], N_ROWS = sizeof rows / sizeof rows[0] };

static void fill_blocks(struct tester *t, size_t slot, size_t n, unsigned fill)
{
    struct block_q8 *q = tester_source(slot);

    for (size_t b = 0; b < n; b++) {
        fill_quantized_q8(t, &q[b], fill == FILL_EQUAL ? BLOCK_LEAST : BLOCK_RANDOM);
    }
}

/* Fill with random bytes or, with FILL_EQUAL, with the byte of the largest values. */
static void fill_numbers(struct tester *t, size_t slot, size_t at, size_t n, unsigned fill,
                         int most)
{
    uint8_t *bytes = (uint8_t *)tester_source(slot) + at;

    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(fill == FILL_EQUAL ? (uint64_t)most : tester_random(t) >> 40);
        if (most == 0x81 && bytes[i] == 0x80) { /* values of eight bits */
            bytes[i] = 0x81;
        }
    }
}

/* Fill with scales, which are the upper halves of floats. */
static void fill_scales(struct tester *t, size_t slot, size_t n, unsigned fill)
{
    uint16_t *scales = tester_source(slot);

    fill_floats(t, slot, n, fill_if(fill != FILL_EQUAL, fill));
    for (size_t i = 0; i < n; i++) {
        scales[i] = scales[2 * i + 1];
    }
}

/* Only s[0..n) may change. */
static void run_score(struct tester *t, size_t n_q, size_t n, size_t d, unsigned fill)
{
    struct tester_case c = {
        .slot = { { TESTER_INOUT, TESTER_F32, n_q * sizeof(struct score_row), 64 },
                  { TESTER_IN, TESTER_BYTES, n_q * d / BLOCK_COLS * sizeof(struct block_q8), 8 },
                  { TESTER_IN, TESTER_BYTES, KV_TILE * (d / 16 + d / 2), 16 } },
        .n_slots = 3,
        .pointer = { 0, 1, 2 },
        .n_pointers = 3,
        .size = { n_q, n, d },
        .n_sizes = 3,
        .data = fill,
    };

    fill_floats(t, 0, n_q * sizeof(struct score_row) / 4, FILL_UNIFORM);
    fill_blocks(t, 1, n_q * d / BLOCK_COLS, fill);
    fill_scales(t, 2, d / 32 * KV_TILE, fill);
    fill_numbers(t, 2, d / 16 * KV_TILE, d / 2 * KV_TILE, fill, 0x88);
    tester_run(t, &c);
}

static void test_score(struct tester *t)
{
    unsigned fill = 0;

    for (size_t i = 0; i < N_WIDTHS; i++) {
        for (size_t a = 0; a < N_ROWS; a++) {
            run_score(t, rows[a], 16 * ((a + i) % 5), widths[i], fill++ % FILL_KINDS);
        }
        run_score(t, 5, KV_TILE, widths[i], FILL_EQUAL);
    }
    run_score(t, 66, KV_TILE, 64, FILL_UNIFORM);
}

static void run_accumulate(struct tester *t, size_t n_q, size_t d, size_t bits, unsigned fill)
{
    struct score_row *s = tester_source(1);
    size_t blocks = n_q * d / kv_values_block(d) * 2;
    struct tester_case c = {
        .slot = { { TESTER_INOUT, TESTER_F32, 4 * n_q * d, 4 },
                  { TESTER_IN, TESTER_F32, n_q * sizeof(struct score_row), 64 },
                  { TESTER_IN, TESTER_BYTES, blocks * sizeof(struct block_q8), 8 },
                  { TESTER_IN, TESTER_BYTES, KV_TILE * d * bits / 8, 16 } },
        .n_slots = 4,
        .pointer = { 0, 1, 2, 3 },
        .n_pointers = 4,
        .size = { n_q, d },
        .n_sizes = 2,
        .data = fill,
    };

    fill_floats(t, 0, n_q * d, fill);
    fill_floats(t, 1, n_q * sizeof(struct score_row) / 4, FILL_UNIFORM);
    for (size_t a = 0; a < n_q; a++) {
        s[a].factor = a % 3 == 0 ? 1.0f : fabsf(s[a].factor);
    }
    fill_blocks(t, 2, blocks, fill);
    fill_numbers(t, 3, 0, KV_TILE * d * bits / 8, fill, bits == 4 ? 0x88 : 0x81);
    tester_run(t, &c);
}

static void test_accumulate(struct tester *t, size_t bits)
{
    unsigned fill = 0;

    for (size_t i = 0; i < N_WIDTHS; i++) {
        for (size_t a = 0; a < N_ROWS; a++) {
            run_accumulate(t, rows[a], widths[i], bits, fill++ % FILL_KINDS);
        }
        run_accumulate(t, 5, widths[i], bits, FILL_EQUAL);
    }
}

bool tester_run_attention_int(struct tester *t, enum kernel_op op)
{
    switch ((int)op) {
    case KERNEL_score_f32_q4: test_score(t); return true;
    case KERNEL_accumulate_f32_q8_q8: test_accumulate(t, 8); return true;
    case KERNEL_accumulate_f32_q4_q8: test_accumulate(t, 4); return true;
    default: return false;
    }
}
