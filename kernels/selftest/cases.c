/* Shapes and contents for every op. A model's shapes (columns 64, 192, 576, 2048) are among
 * them, and every ragged edge up to two blocks. */
#include "kernels/ref/scalar.h"
#include "kernels/selftest/tester.h"

/* How a buffer of floats is filled. */
enum fill {
    FILL_UNIFORM, /* +-1 */
    FILL_WIDE,    /* exponents from -40 to 40 */
    FILL_FINITE,  /* zeros, subnormals, extremes between ordinary values */
    FILL_SPECIAL, /* the same with infinities and NaNs */
    FILL_EQUAL,   /* one value, so that maxima tie and sums round alike */
    FILL_KINDS
};

/* How integer blocks are filled. */
enum block_fill {
    BLOCK_RANDOM,
    BLOCK_LEAST,    /* -128 everywhere, nibbles 15: the largest sums */
    BLOCK_GREATEST, /* 127 against -128 */
    BLOCK_MIXED,    /* random picks of -128, 127, 0 */
    BLOCK_PAIR,     /* -128 * -128 twice, a chunk apart: the sum of the two is no int16 */
    BLOCK_SCALES,   /* odd scales: 0, subnormal, huge */
    BLOCK_KINDS
};

static const uint32_t odd_floats[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800001, 0x33800000,
    0x3f7fffff, 0x3f800001, 0x477fe000, 0x477ff000, 0x477fefff, 0x38800000, 0x387fffff, 0x33000000,
    0x33000001, 0xc2d00000, 0x42b17218, 0x42b20000, 0xc2aeac50, 0x7f7fffff, 0xff7fffff, 0x5f000000,
    /* from here on not finite */
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
};
enum { N_ODD = sizeof odd_floats / sizeof odd_floats[0], N_ODD_FINITE = N_ODD - 5 };

static const uint16_t odd_halves[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x3c00, 0xbc01,
    0x7c00, 0xfc00, 0x7e00, 0xfd55, /* not finite */
};
enum {
    N_ODD_HALVES = sizeof odd_halves / sizeof odd_halves[0],
    N_HALVES_FINITE = N_ODD_HALVES - 4,
};

static float uniform(struct tester *t)
{
    return (float)(int32_t)(tester_random(t) >> 32) * 0x1p-31f;
}

static float pick_float(struct tester *t, enum fill fill)
{
    uint64_t r = tester_random(t);
    size_t n = fill == FILL_SPECIAL ? N_ODD : N_ODD_FINITE;

    switch (fill) {
    case FILL_WIDE:
        return uniform(t) * f32_from_bits((uint32_t)(127 - 40 + (int)(r % 81)) << 23);
    case FILL_FINITE:
    case FILL_SPECIAL:
        return r & 3 ? uniform(t) * 8.0f : f32_from_bits(odd_floats[(r >> 8) % n]);
    case FILL_EQUAL:
        return 0.7f;
    case FILL_UNIFORM:
    case FILL_KINDS:
    default:
        return uniform(t);
    }
}

static void fill_floats(struct tester *t, size_t slot, size_t n, enum fill fill)
{
    float *out = tester_source(slot);

    for (size_t i = 0; i < n; i++) {
        out[i] = pick_float(t, fill);
    }
}

static void fill_halves(struct tester *t, size_t slot, size_t n, enum fill fill)
{
    uint16_t *out = tester_source(slot);

    for (size_t i = 0; i < n; i++) {
        uint64_t r = tester_random(t);
        size_t n_odd = fill == FILL_SPECIAL ? N_ODD_HALVES : N_HALVES_FINITE;
        uint32_t exponent = fill == FILL_UNIFORM ? 10 : (uint32_t)(r >> 20) % 31;

        out[i] = (uint16_t)((r & 0x83ffu) | exponent << 10);
        if (fill >= FILL_FINITE && (r >> 40 & 3) == 0) {
            out[i] = odd_halves[(r >> 44) % n_odd];
        }
    }
}

static int8_t pick_weight(struct tester *t, enum block_fill fill, int8_t greatest)
{
    static const int8_t mixed[4] = { -128, 127, -128, 0 };
    uint64_t r = tester_random(t);

    switch (fill) {
    case BLOCK_LEAST:
    case BLOCK_PAIR:
        return -128;
    case BLOCK_GREATEST:
        return greatest;
    case BLOCK_MIXED:
        return mixed[r >> 10 & 3];
    case BLOCK_RANDOM:
    case BLOCK_SCALES:
    case BLOCK_KINDS:
    default:
        return (int8_t)((int)(r >> 32 & 255) - 128);
    }
}

/* fp16 scales are finite by contract. */
static uint16_t pick_scale(struct tester *t, enum block_fill fill)
{
    uint64_t r = tester_random(t);

    if (fill == BLOCK_SCALES) {
        return odd_halves[r % N_HALVES_FINITE];
    }
    return (uint16_t)(0x1800u + (r & 0x0fffu)); /* 0.002 to 0.03 */
}

static void fill_groups(struct tester *t, size_t slot, size_t n, size_t quant_bytes,
                        enum block_fill fill)
{
    uint8_t *out = tester_source(slot);

    for (size_t b = 0; b < n; b++, out += 16 + quant_bytes) {
        for (size_t r = 0; r < 8; r++) {
            uint16_t scale = pick_scale(t, fill);

            memcpy(out + 2 * r, &scale, 2);
        }
        for (size_t i = 0; i < quant_bytes; i++) {
            int8_t q = pick_weight(t, fill, 127);

            /* For nibbles: all 15 where Q8 has its extremes. */
            out[16 + i] = (uint8_t)(quant_bytes == 128 && fill != BLOCK_RANDOM && q < 0 ? 255 : q);
        }
    }
}

static void fill_activations(struct tester *t, size_t slot, size_t n, enum block_fill fill)
{
    struct block_q8 *out = tester_source(slot);

    for (size_t b = 0; b < n; b++) {
        out[b].sum = 0;
        for (size_t i = 0; i < 32; i++) {
            out[b].q[i] = fill == BLOCK_PAIR ? 127 : pick_weight(t, fill, -128);
        }
        if (fill == BLOCK_PAIR && b == n - 1) {
            size_t at = tester_random(t) % 32;

            out[b].q[at] = -128;
            out[b].q[at ^ 4] = -128;
        }
        for (size_t i = 0; i < 32; i++) {
            out[b].sum += out[b].q[i];
        }
        out[b].d = fill == BLOCK_SCALES ? fabsf(pick_float(t, FILL_FINITE))
                                        : fabsf(uniform(t)) * 0.1f;
    }
}

/* Quantized gemvs. quant_bytes per group: 256 (q8x8) or 128 (q4x8). */
static void run_gemv_blocks(struct tester *t, size_t quant_bytes, size_t rows, size_t cols,
                            enum block_fill fill)
{
    size_t groups = (rows + 7) / 8 * (cols / 32);
    struct tester_case c = {
        .slot = { { TESTER_OUT, TESTER_F32, 4 * rows, 4 },
                  { TESTER_IN, TESTER_BYTES, groups * (16 + quant_bytes), 16 },
                  { TESTER_IN, TESTER_BYTES, cols / 32 * sizeof(struct block_q8), 8 } },
        .n_slots = 3, .pointer = { 0, 1, 2 }, .n_pointers = 3,
        .size = { rows, cols }, .n_sizes = 2, .data = fill,
    };

    fill_groups(t, 1, groups, quant_bytes, fill);
    fill_activations(t, 2, cols / 32, fill);
    tester_run(t, &c);
}

static void test_gemv_blocks(struct tester *t, size_t quant_bytes)
{
    static const size_t wide[] = { 192, 576, 2048 };
    static const size_t some_rows[] = { 1, 7, 8, 9, 16, 23 };

    for (size_t rows = 0; rows <= 17; rows++) {
        for (size_t cols = 0; cols <= 96; cols += 32) {
            for (unsigned fill = 0; fill < BLOCK_KINDS; fill++) {
                run_gemv_blocks(t, quant_bytes, rows, cols, fill);
            }
        }
    }
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        for (size_t j = 0; j < sizeof some_rows / sizeof some_rows[0]; j++) {
            run_gemv_blocks(t, quant_bytes, some_rows[j], wide[i], (unsigned)(i + j) % BLOCK_KINDS);
        }
    }
}

static void run_gemv_f32(struct tester *t, size_t rows, size_t cols, enum fill fill)
{
    struct tester_case c = {
        .slot = { { TESTER_OUT, TESTER_F32, 4 * rows, 4 },
                  { TESTER_IN, TESTER_F32, 4 * rows * cols, 64 },
                  { TESTER_IN, TESTER_F32, 4 * cols, 16 } },
        .n_slots = 3, .pointer = { 0, 1, 2 }, .n_pointers = 3,
        .size = { rows, cols }, .n_sizes = 2, .data = fill,
    };

    fill_floats(t, 1, rows * cols, fill);
    fill_floats(t, 2, cols, fill == FILL_SPECIAL ? FILL_UNIFORM : fill);
    tester_run(t, &c);
}

static void test_gemv_f32(struct tester *t)
{
    for (size_t rows = 0; rows <= 17; rows++) {
        for (size_t cols = 0; cols <= 80; cols += 16) {
            for (unsigned fill = 0; fill < FILL_KINDS; fill++) {
                run_gemv_f32(t, rows, cols, fill);
            }
        }
        run_gemv_f32(t, rows, 192, FILL_WIDE);
        run_gemv_f32(t, rows, 576, FILL_UNIFORM);
    }
    for (size_t rows = 1; rows <= 9; rows += 2) {
        run_gemv_f32(t, rows, 2048, FILL_UNIFORM);
    }
}

static void test_dequantize(struct tester *t, size_t quant_bytes)
{
    static const size_t widths[] = { 0, 32, 64, 192, 576, 2048 };

    for (size_t i = 0; i < 6 * 17; i++) {
        size_t cols = widths[i % 6];
        size_t row = i / 6;
        size_t groups = (row / 8 + 1) * (cols / 32);
        struct tester_case c = {
            .slot = { { TESTER_OUT, TESTER_F32, 4 * cols, 4 },
                      { TESTER_IN, TESTER_BYTES, groups * (16 + quant_bytes), 16 } },
            .n_slots = 2, .pointer = { 0, 1 }, .n_pointers = 2,
            .size = { row, cols }, .n_sizes = 2, .data = (unsigned)i % BLOCK_KINDS,
        };

        fill_groups(t, 1, groups, quant_bytes, c.data);
        tester_run(t, &c);
    }
}

static void test_quantize(struct tester *t)
{
    for (size_t i = 0; i < 200; i++) {
        size_t blocks = i < 160 ? i / 5 % 8 : 18 * (i % 4);
        unsigned fill = i % 5 == FILL_SPECIAL ? FILL_FINITE : (unsigned)i % 5;
        float scale = i % 3 == 2 ? 0x1p-101f : i % 7 == 6 ? 0.0f : 1.0f;
        float *x = tester_source(1);
        struct tester_case c = {
            .slot = { { TESTER_OUT, TESTER_BYTES, blocks * sizeof(struct block_q8), 8 },
                      { TESTER_IN, TESTER_F32, 128 * blocks, 16 } },
            .n_slots = 2, .pointer = { 0, 1 }, .n_pointers = 2,
            .size = { 32 * blocks }, .n_sizes = 1, .data = fill,
        };

        fill_floats(t, 1, 32 * blocks, fill);
        for (size_t j = 0; j < 32 * blocks; j++) {
            x[j] *= scale; /* on either side of the bound below which a block is zero */
        }
        if (blocks && i % 4 == 1) { /* ties: halves of the step that 127 sets */
            for (size_t j = 0; j < 32; j++) {
                x[j] = (float)j - 15.5f;
            }
            x[5] = 127.0f;
        }
        tester_run(t, &c);
    }
}

/* Lengths of the vector ops: 0 to 70, then a model's, then beside them. */
static size_t length(size_t i)
{
    static const size_t more[] = { 192, 576, 2048, 2047, 575, 1000 };

    return i <= 70 ? i : more[i - 71];
}
enum { N_LENGTHS = 77 };

static void test_rmsnorm(struct tester *t)
{
    static const float epsilons[] = { 1e-5f, 0.0f, 1e-6f };

    for (size_t i = 1; i < N_LENGTHS; i++) {
        for (unsigned fill = 0; fill < FILL_KINDS; fill++) {
            size_t n = length(i);
            bool in_place = (i + fill) % 2;
            struct tester_case c = {
                .slot = { { TESTER_IN, TESTER_F32, 4 * n, 4 }, { TESTER_IN, TESTER_F32, 4 * n, 4 },
                          { TESTER_OUT, TESTER_F32, 4 * n, 4 } },
                .n_slots = in_place ? 2 : 3, .pointer = { in_place ? 0 : 2, 0, 1 },
                .n_pointers = 3, .size = { n }, .n_sizes = 1,
                .scalar = epsilons[i % 3], .data = fill,
            };

            if (in_place) {
                c.slot[0].use = TESTER_INOUT;
            }
            fill_floats(t, 0, n, fill);
            fill_floats(t, 1, n, FILL_UNIFORM);
            tester_run(t, &c);
        }
    }
}

static void test_rope(struct tester *t)
{
    for (size_t i = 0; i < N_LENGTHS; i++) {
        for (unsigned fill = 0; fill < FILL_KINDS; fill++) {
            size_t d = length(i) / 2 * 2;
            struct tester_case c = {
                .slot = { { TESTER_INOUT, TESTER_F32, 4 * d, 4 },
                          { TESTER_IN, TESTER_F32, 4 * d, 4 } },
                .n_slots = 2, .pointer = { 0, 1 }, .n_pointers = 2,
                .size = { d }, .n_sizes = 1, .data = fill,
            };

            fill_floats(t, 0, d, fill);
            fill_floats(t, 1, d, fill == FILL_SPECIAL ? FILL_SPECIAL : FILL_UNIFORM);
            tester_run(t, &c);
        }
    }
}

/* max, exp_sum and softmax: one vector, which all but max change. */
static void test_softmax_parts(struct tester *t, enum kernel_op op)
{
    for (size_t i = op == KERNEL_exp_sum_f32 ? 0 : 1; i < N_LENGTHS; i++) {
        for (unsigned fill = 0; fill < FILL_KINDS; fill++) {
            size_t n = length(i);
            float *x = tester_source(0);
            enum tester_use use = op == KERNEL_max_f32 ? TESTER_IN : TESTER_INOUT;
            struct tester_case c = {
                .slot = { { use, TESTER_F32, 4 * n, 4 } },
                .n_slots = 1, .pointer = { 0 }, .n_pointers = 1, .size = { n }, .n_sizes = 1,
                .scalar = fill == FILL_WIDE ? 3.5f : fill == FILL_SPECIAL ? 20.0f : 0.25f,
                .returns_float = op != KERNEL_softmax_f32, .data = fill,
            };

            fill_floats(t, 0, n, fill);
            for (size_t j = 0; j < n; j++) {
                x[j] *= fill == FILL_UNIFORM ? 20.0f : 1.0f;
            }
            tester_run(t, &c);
        }
    }
}

static void test_silu_mul(struct tester *t)
{
    for (size_t i = 0; i < N_LENGTHS; i++) {
        for (unsigned fill = 0; fill < FILL_KINDS; fill++) {
            size_t n = length(i);
            size_t alias = (i + fill) % 3; /* y is gate, up, or neither */
            float *gate = tester_source(0);
            struct tester_case c = {
                .slot = { { alias == 0 ? TESTER_INOUT : TESTER_IN, TESTER_F32, 4 * n, 4 },
                          { alias == 1 ? TESTER_INOUT : TESTER_IN, TESTER_F32, 4 * n, 4 },
                          { TESTER_OUT, TESTER_F32, 4 * n, 4 } },
                .n_slots = alias == 2 ? 3 : 2, .pointer = { alias, 0, 1 }, .n_pointers = 3,
                .size = { n }, .n_sizes = 1, .data = fill,
            };

            fill_floats(t, 0, n, fill);
            fill_floats(t, 1, n, FILL_UNIFORM);
            for (size_t j = 0; j < n; j++) {
                gate[j] *= fill == FILL_UNIFORM ? 100.0f : 1.0f;
            }
            tester_run(t, &c);
        }
    }
}

static void test_add(struct tester *t)
{
    for (size_t i = 0; i < N_LENGTHS; i++) {
        for (unsigned fill = 0; fill < FILL_KINDS; fill++) {
            size_t n = length(i);
            struct tester_case c = {
                .slot = { { TESTER_INOUT, TESTER_F32, 4 * n, 4 },
                          { TESTER_IN, TESTER_F32, 4 * n, 4 } },
                .n_slots = 2, .pointer = { 0, 1 }, .n_pointers = 2,
                .size = { n }, .n_sizes = 1, .data = fill,
            };

            fill_floats(t, 0, n, fill);
            fill_floats(t, 1, n, fill);
            tester_run(t, &c);
        }
    }
}

static void test_convert(struct tester *t)
{
    for (size_t i = 0; i < N_LENGTHS; i++) {
        for (unsigned fill = 0; fill < FILL_KINDS; fill++) {
            size_t n = length(i);
            struct tester_case c = {
                .slot = { { TESTER_OUT, TESTER_F16, 2 * n, 2 },
                          { TESTER_IN, TESTER_F32, 4 * n, 4 } },
                .n_slots = 2, .pointer = { 0, 1 }, .n_pointers = 2,
                .size = { n }, .n_sizes = 1, .data = fill,
            };

            fill_floats(t, 1, n, fill);
            tester_run(t, &c);
        }
    }
}

/* score and accumulate take (vector, vector, matrix); they differ in which is written. */
static void run_attention(struct tester *t, enum kernel_op op, size_t n, size_t d, enum fill fill)
{
    bool score = op == KERNEL_score_f32_f16;
    size_t first = score ? n : d;
    size_t second = score ? d : n;
    struct tester_case c = {
        .slot = { { score ? TESTER_OUT : TESTER_INOUT, TESTER_F32, 4 * first, 4 },
                  { TESTER_IN, TESTER_F32, 4 * second, 4 },
                  { TESTER_IN, TESTER_F16, 2 * n * d, 2 } },
        .n_slots = 3, .pointer = { 0, 1, 2 }, .n_pointers = 3,
        .size = { n, d }, .n_sizes = 2, .scalar = 0.125f + uniform(t), .data = fill,
    };

    fill_floats(t, 0, first, fill);
    fill_floats(t, 1, second, fill);
    fill_halves(t, 2, n * d, fill);
    tester_run(t, &c);
}

static void test_attention(struct tester *t, enum kernel_op op)
{
    static const size_t positions[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9 };
    static const size_t heads[] = { 8, 48, 64, 80, 128 };

    for (size_t d = 0; d <= 35; d++) {
        for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
            run_attention(t, op, positions[i], d, (unsigned)(d + i) % FILL_KINDS);
        }
    }
    for (size_t d = 36; d <= 70; d++) {
        run_attention(t, op, d % 11, d, (unsigned)d % FILL_KINDS);
    }
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        for (unsigned fill = 0; fill < FILL_KINDS; fill++) {
            run_attention(t, op, 64 + fill, heads[i], fill);
        }
    }
}

void tester_run_op(struct tester *t, enum kernel_op op)
{
    switch (op) {
    case KERNEL_gemv_f32_f32_f32: test_gemv_f32(t); return;
    case KERNEL_gemv_f32_q8x8_q8: test_gemv_blocks(t, 256); return;
    case KERNEL_gemv_f32_q4x8_q8: test_gemv_blocks(t, 128); return;
    case KERNEL_dequantize_f32_q8x8: test_dequantize(t, 256); return;
    case KERNEL_dequantize_f32_q4x8: test_dequantize(t, 128); return;
    case KERNEL_quantize_q8_f32: test_quantize(t); return;
    case KERNEL_rmsnorm_f32: test_rmsnorm(t); return;
    case KERNEL_rope_f32_pairs:
    case KERNEL_rope_f32_halves: test_rope(t); return;
    case KERNEL_max_f32:
    case KERNEL_exp_sum_f32:
    case KERNEL_softmax_f32: test_softmax_parts(t, op); return;
    case KERNEL_silu_mul_f32: test_silu_mul(t); return;
    case KERNEL_add_f32: test_add(t); return;
    case KERNEL_score_f32_f16:
    case KERNEL_accumulate_f32_f16: test_attention(t, op); return;
    case KERNEL_convert_f16_f32: test_convert(t); return;
    case KERNEL_N_OPS: break;
    }
    t->faults |= TESTER_UNKNOWN; /* an op without cases must not pass */
}
