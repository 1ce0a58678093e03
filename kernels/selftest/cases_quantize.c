/* dequantize, quantize, interleave and the conversions. */
#include "kernels/selftest/cases.h"

static void test_dequantize(struct tester *t, enum weights type)
{
    static const size_t widths[] = { 0, 1, 2, 3, 6, 18 }; /* blocks */

    for (size_t i = 0; i < 6 * 17; i++) {
        size_t blocks = weights_block_cols(type) == 32 ? widths[i % 6] : i % 40 == 39 ? 8 : i % 4;
        size_t cols = blocks * weights_block_cols(type);
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
        tester_run(t, &c);
    }
}

/* Beside what every fill has: values on either side of the bound below which a block is zero,
 * blocks of zeros, and ties, halves of the step that 127 sets. */
static void fill_to_quantize(struct tester *t, size_t n, size_t i, unsigned fill)
{
    float scale = i % 3 == 2 ? 0x1p-101f : i % 7 == 6 ? 0.0f : 1.0f;
    float *x = tester_source(1);

    fill_floats(t, 1, n, fill);
    for (size_t j = 0; j < n; j++) {
        x[j] *= scale;
    }
    if (n && i % 4 == 1) {
        for (size_t j = 0; j < 32; j++) {
            x[j] = (float)j - 15.5f;
        }
        for (size_t j = 32; j < n; j++) {
            x[j] = j < 256 ? 0.5f : x[j];
        }
        x[5] = 127.0f;
    }
}

static void test_quantize(struct tester *t, size_t block, size_t block_bytes)
{
    size_t n_cases = block == 32 ? 200 : 100;

    for (size_t i = 0; i < n_cases; i++) {
        size_t blocks = i < n_cases - 8 ? i / 5 % (block == 32 ? 8 : 4) : 576 / block * (i % 4);
        unsigned fill = i % 5 == FILL_SPECIAL ? FILL_FINITE : (unsigned)i % 5;
        struct tester_case c = {
            .slot = { { TESTER_OUT, TESTER_BYTES, blocks * block_bytes, block == 32 ? 8 : 16 },
                      { TESTER_IN, TESTER_F32, 4 * block * blocks, 16 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { block * blocks },
            .n_sizes = 1,
            .data = fill,
        };

        fill_to_quantize(t, block * blocks, i, fill);
        tester_run(t, &c);
    }
}

/* A kernel only moves bytes, so any bytes do. */
static void test_interleave(struct tester *t, size_t block, size_t block_bytes, size_t group_bytes)
{
    static const size_t blocks[] = { 0, 1, 2, 3, 6 };

    for (size_t i = 0; i < 5 * 15; i++) {
        size_t n_tokens = i / 5 == 14 ? 35 : i / 5;
        size_t n_blocks = blocks[i % 5];
        struct tester_case c = {
            .slot = { { TESTER_OUT, TESTER_BYTES, (n_tokens + 3) / 4 * n_blocks * group_bytes, 16 },
                      { TESTER_IN, TESTER_BYTES, n_tokens * n_blocks * block_bytes,
                        block == 32 ? 8 : 16 } },
            .n_slots = 2,
            .pointer = { 0, 1 },
            .n_pointers = 2,
            .size = { n_tokens, n_blocks * block },
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

/* Every length, then every fp16 there is, in 8 cases. */
static void test_convert_to_f32(struct tester *t)
{
    for (size_t i = 0; i < N_LENGTHS + 8; i++) {
        size_t n = i < N_LENGTHS ? case_length(i) : 8192;
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
        for (size_t j = 0; j < n && i >= N_LENGTHS; j++) {
            x[j] = (uint16_t)((i - N_LENGTHS) * 8192 + j);
        }
        tester_run(t, &c);
    }
}

bool tester_run_quantize(struct tester *t, enum kernel_op op)
{
    switch ((int)op) {
    case KERNEL_dequantize_f32_q8x8: test_dequantize(t, WEIGHTS_Q8); return true;
    case KERNEL_dequantize_f32_q4x8: test_dequantize(t, WEIGHTS_Q4); return true;
    case KERNEL_dequantize_f32_q4kx8: test_dequantize(t, WEIGHTS_Q4K); return true;
    case KERNEL_dequantize_f32_q6kx8: test_dequantize(t, WEIGHTS_Q6K); return true;
    case KERNEL_quantize_q8_f32: test_quantize(t, 32, sizeof(struct block_q8)); return true;
    case KERNEL_quantize_q8k_f32: test_quantize(t, 256, sizeof(struct block_q8k)); return true;
    case KERNEL_interleave_q8x4_q8:
        test_interleave(t, 32, sizeof(struct block_q8), sizeof(struct block_q8x4));
        return true;
    case KERNEL_interleave_q8kx4_q8k:
        test_interleave(t, 256, sizeof(struct block_q8k), sizeof(struct block_q8kx4));
        return true;
    case KERNEL_convert_f16_f32: test_convert_to_f16(t); return true;
    case KERNEL_convert_f32_f16: test_convert_to_f32(t); return true;
    default: return false;
    }
}
