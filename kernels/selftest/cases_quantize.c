/* Cases of dequantize, quantize, interleave and the conversions. */
#include "kernels/selftest/cases.h"

/* Return the number of blocks of a row in case i. */
static size_t dequantize_blocks(enum weights type, size_t i)
{
    static const size_t widths[] = { 0, 1, 2, 3, 6, 18 };

    if (weights_format(type)->cols == BLOCK_COLS) {
        return widths[i % 6];
    }
    if (i % 40 == 39) {
        return 8;
    }
    return i % 4;
}

static void test_dequantize(struct tester *t, enum weights type)
{
    for (size_t i = 0; i < 6 * 17; i++) {
        size_t cols = dequantize_blocks(type, i) * weights_format(type)->cols;
        size_t row = i / 6;
        struct tester_case c = {
            .slot = { { TESTER_OUT, TESTER_F32, 4 * cols, 4 },
                      { TESTER_IN, TESTER_BYTES, weights_bytes(type, row + 1, cols), 16 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { row, cols },
            .n_sizes = 2,
            .data = (unsigned)i % BLOCK_KINDS,
        };

        fill_weights(t, 1, type, row + 1, cols, c.data);
        if (weights_format(type)->table) {
            fill_table(t, 2, c.data, 0);
            c.slot[2] = (struct tester_slot){ TESTER_IN, TESTER_BYTES, sizeof(struct nibble_table),
                                              8 };
            c.pointer[2] = 2;
            c.n_slots = c.n_pointers = 3;
            c.pointer_last = true;
        }
        tester_run(t, &c);
    }
}

/* The formats of activations that quantize writes and interleave takes. */
static const struct activations {
    size_t cols, bytes; /* of a block */
    size_t x4_bytes;    /* size of a block of four tokens */
    size_t align;
    size_t n_cases; /* cases of quantize */
    size_t most;    /* only the last 8 cases have so many blocks */
} activations_q8 = { BLOCK_COLS, sizeof(struct block_q8), sizeof(struct block_q8x4), 8, 200, 8 },
  activations_q8k = {
      BLOCK_K_COLS, sizeof(struct block_q8k), sizeof(struct block_q8kx4), 16, 100, 4
  };

/* A block counts as zero if all its magnitudes are below 2^-100. So one case in three is scaled to
 * 2^-101. */
static float quantize_scale(size_t i)
{
    if (i % 3 == 2) {
        return 0x1p-101f;
    }
    if (i % 7 == 6) {
        return 0.0f;
    }
    return 1.0f;
}

/* Make each of the first 32 values halfway between two integers. One value
 * is 127, so that the step of the block is exactly 1 and no tie is lost. */
static void make_ties(float *x, size_t n)
{
    for (size_t j = 0; j < 32; j++) {
        x[j] = (float)j - 15.5f;
    }
    for (size_t j = 32; j < n && j < 256; j++) {
        x[j] = 0.5f;
    }
    x[5] = 127.0f;
}

/* In addition to every fill, test values on both sides of the bound below which a block is zero,
 * blocks of zeros, and ties. */
static void fill_to_quantize(struct tester *t, size_t n, size_t i, unsigned fill)
{
    float scale = quantize_scale(i);
    float *x = tester_source(1);

    fill_floats(t, 1, n, fill);
    for (size_t j = 0; j < n; j++) {
        x[j] *= scale;
    }
    if (n > 0 && i % 4 == 1) {
        make_ties(x, n);
    }
}

static size_t quantize_blocks(const struct activations *a, size_t i)
{
    if (i < a->n_cases - 8) {
        return i / 5 % a->most;
    }
    return 576 / a->cols * (i % 4);
}

static void test_quantize(struct tester *t, const struct activations *a)
{
    /* The contract excludes infinities and NaNs. */
    static const unsigned fills[FILL_KINDS] = { FILL_UNIFORM, FILL_WIDE, FILL_FINITE, FILL_FINITE,
                                                FILL_EQUAL };

    for (size_t i = 0; i < a->n_cases; i++) {
        size_t blocks = quantize_blocks(a, i);
        unsigned fill = fills[i % FILL_KINDS];
        struct tester_case c = {
            .slot = { { TESTER_OUT, TESTER_BYTES, blocks * a->bytes, a->align },
                      { TESTER_IN, TESTER_F32, 4 * a->cols * blocks, 16 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { a->cols * blocks },
            .n_sizes = 1,
            .data = fill,
        };

        fill_to_quantize(t, a->cols * blocks, i, fill);
        tester_run(t, &c);
    }
}

/* The contents do not matter, because these kernels only move bytes. */
static void test_interleave(struct tester *t, const struct activations *a)
{
    static const size_t blocks[] = { 0, 1, 2, 3, 6 };
    static const size_t tokens[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 35 };

    for (size_t i = 0; i < 5 * 15; i++) {
        size_t n_tokens = tokens[i / 5];
        size_t n_blocks = blocks[i % 5];
        struct tester_case c = {
            .slot = { { TESTER_OUT, TESTER_BYTES, (n_tokens + 3) / 4 * n_blocks * a->x4_bytes, 16 },
                      { TESTER_IN, TESTER_BYTES, n_tokens * n_blocks * a->bytes, a->align } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { n_tokens, n_blocks * a->cols },
            .n_sizes = 2,
            .data = 0,
        };

        fill_random_bytes(t, 1, c.slot[1].bytes);
        tester_run(t, &c);
    }
}

static void test_convert_to_f16(struct tester *t)
{
    for (size_t i = 0; i < N_LENGTHS * FILL_KINDS; i++) {
        size_t n = case_length(i / FILL_KINDS);
        unsigned fill = (unsigned)(i % FILL_KINDS);
        struct tester_case c = {
            .slot = { { TESTER_OUT, TESTER_F16, 2 * n, 2 }, { TESTER_IN, TESTER_F32, 4 * n, 4 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { n },
            .n_sizes = 1,
            .data = fill,
        };

        fill_floats(t, 1, n, fill);
        tester_run(t, &c);
    }
}

/* Run every length, then all possible fp16 in 8 cases. */
static void test_convert_to_f32(struct tester *t)
{
    for (size_t i = 0; i < N_LENGTHS + 8; i++) {
        bool all = i >= N_LENGTHS;
        size_t n = all ? 8192 : case_length(i);
        uint16_t *x = tester_source(1);
        struct tester_case c = {
            .slot = { { TESTER_OUT, TESTER_F32, 4 * n, 4 }, { TESTER_IN, TESTER_F16, 2 * n, 2 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { n },
            .n_sizes = 1,
            .data = (unsigned)i % FILL_KINDS,
        };

        fill_halves(t, 1, n, c.data);
        for (size_t j = 0; j < n && all; j++) {
            x[j] = (uint16_t)((i - N_LENGTHS) * 8192 + j);
        }
        tester_run(t, &c);
    }
}

/* Any bytes are a valid packed block, because scales are only copied or unpacked. */
static void test_unpack(struct tester *t, size_t bytes, size_t wide_bytes)
{
    uint8_t *packed = tester_source(1);

    for (size_t i = 0; i < 40; i++) {
        size_t n = i % 8;
        struct tester_case c = {
            .slot = { { TESTER_OUT, TESTER_BYTES, n * wide_bytes, 16 },
                      { TESTER_IN, TESTER_BYTES, n * bytes, 8 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { n },
            .n_sizes = 1,
            .data = BLOCK_RANDOM,
        };

        fill_random_bytes(t, 1, n * bytes);
        for (size_t j = 0; bytes == MX4P_BYTES && j < n * bytes; j++) {
            packed[j] = (uint8_t)(packed[j] % 41); /* MXFP4's powers of two: at most 40 */
        }
        tester_run(t, &c);
    }
}

bool tester_run_quantize(struct tester *t, enum kernel_op op)
{
    switch ((int)op) {
#define TYPE_PACKED(NAME, id, name, layout, cols, act, halves, fit, of, bytes, d, m, WIDE, wide, \
                    ...) \
    case KERNEL_unpack_##wide##x8_##layout##x8: \
        test_unpack(t, sizeof(struct block_##layout##x8), \
                    UNPACKED_BLOCKS_##layout * sizeof(struct block_##wide##x8)); \
        return true;
#define TYPE_WEIGHTS(NAME, id, name, layout, ...) \
    case KERNEL_dequantize_f32_##layout##x8: \
        test_dequantize(t, WEIGHTS_##layout); \
        return true;
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
    case KERNEL_quantize_q8_f32: test_quantize(t, &activations_q8); return true;
    case KERNEL_quantize_q8k_f32: test_quantize(t, &activations_q8k); return true;
    case KERNEL_interleave_q8x4_q8: test_interleave(t, &activations_q8); return true;
    case KERNEL_interleave_q8kx4_q8k: test_interleave(t, &activations_q8k); return true;
    case KERNEL_convert_f16_f32: test_convert_to_f16(t); return true;
    case KERNEL_convert_f32_f16: test_convert_to_f32(t); return true;
    default: return false;
    }
}
