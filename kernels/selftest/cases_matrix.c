/* gemv and gemm of every weight format, with every ragged edge up to two groups of rows, tokens
 * and blocks, with sizes above what a kernel takes at a time, and with the widths of a model. */
#include <string.h>

#include "kernels/ref/scalar.h"
#include "kernels/selftest/cases.h"

static bool is_float(enum weights type)
{
    return weights_format(type)->float_bytes != 0;
}

/* Return true if activations come in blocks of 256. */
static bool is_k(enum weights type)
{
    return weights_format(type)->x_bytes == sizeof(struct block_q8k);
}

/* Return the columns of a block of activations. */
static size_t x_cols(enum weights type)
{
    return is_k(type) ? BLOCK_K_COLS : BLOCK_COLS;
}

/* Return the number of blocks of activations in a token; the last may be half a block with FIG4. */
static size_t n_x_blocks(enum weights type, size_t cols)
{
    return (cols + x_cols(type) - 1) / x_cols(type);
}

/* Return true for long blocks, whose cases are slow, so that fewer of them are run. */
static bool is_long(enum weights type)
{
    return weights_format(type)->cols > BLOCK_COLS;
}

/* Return true for weights of one or two bits, which need fewer cases than a K format. */
static bool is_few(enum weights type)
{
    const struct weights_format *f = weights_format(type);

    return f->float_bytes == 0 && 2 * f->bytes < 5 * f->cols; /* below 2.5 bits */
}

/* Sizes larger than one iteration of any kernel, with a remainder; columns in blocks. */
static const struct {
    size_t rows, blocks, n_tokens;
} large[] = {
    { 33, 1, 5 },  { 40, 2, 13 }, { 72, 1, 4 }, { 8, 2, 33 }, { 9, 1, 65 },
    { 17, 2, 66 }, { 8, 1, 130 }, { 9, 9, 9 },  { 4, 17, 6 }, { 65, 3, 2 },
};
enum { N_LARGE = sizeof large / sizeof large[0] };

static unsigned n_fills(enum weights type)
{
    return weights_format(type)->fills;
}

/* Float activations contain no NaN: if weights and x had NaNs, a case would test nothing. */
static unsigned fill_of_x(unsigned fill)
{
    return fill_if(fill != FILL_SPECIAL, fill);
}

static size_t vector_bytes(enum weights type, size_t cols)
{
    if (is_float(type)) {
        return 4 * cols;
    }
    return n_x_blocks(type, cols) * weights_format(type)->x_bytes;
}

static void fill_vector(struct tester *t, size_t slot, enum weights type, size_t cols,
                        unsigned fill)
{
    void *out = tester_source(slot);
    struct block_q8 *q8 = out;
    struct block_q8k *q8k = out;
    size_t n_blocks = n_x_blocks(type, cols);

    if (is_float(type)) {
        fill_floats(t, slot, cols, fill_of_x(fill));
        return;
    }
    for (size_t b = 0; b < n_blocks; b++) {
        bool last = b == n_blocks - 1;

        if (is_k(type)) {
            fill_block_q8k(t, &q8k[b], fill, last);
        } else {
            fill_block_q8(t, &q8[b], fill, last);
        }
    }
}

static const struct tester_slot table_slot = { TESTER_IN, TESTER_BYTES, sizeof(struct nibble_table),
                                               8 };

static void run_gemv(struct tester *t, enum weights type, size_t rows, size_t cols, unsigned fill)
{
    static const size_t ahead[] = { 0, 64, 256, 1024 };
    const struct weights_format *f = weights_format(type);
    struct tester_case c = {
        .slot = { { TESTER_OUT, TESTER_F32, 4 * rows, 4 },
                  { TESTER_IN, TESTER_BYTES, weights_bytes(type, rows, cols), f->align },
                  { TESTER_IN, TESTER_BYTES, vector_bytes(type, cols), f->x_align } },
        .n_slots = 3,
        .pointer = { 0, 1, 2 },
        .n_pointers = 3,
        .size = { rows, cols, ahead[t->n_drawn / 2 % 4] },
        .n_sizes = 3,
        .data = fill,
    };

    fill_weights(t, 1, type, rows, cols, fill);
    fill_vector(t, 2, type, cols, fill);
    if (f->table) {
        fill_table(t, 3, fill, c.size[2]);
        c.slot[3] = table_slot;
        c.pointer[3] = 3;
        c.n_slots = c.n_pointers = 4;
        c.pointer_last = true;
        c.n_sizes = 2;
    }
    tester_run(t, &c);
}

static void test_gemv(struct tester *t, enum weights type)
{
    static const size_t wide[] = { 512, 576, 1536, 2048 };
    static const size_t some_rows[] = { 1, 5, 8, 9 };
    size_t step = weights_format(type)->cols;
    size_t most_blocks = is_float(type) ? 5 : 3;

    for (size_t rows = 0; rows <= 17; rows++) {
        for (size_t blocks = 0; blocks <= most_blocks; blocks++) {
            for (unsigned fill = 0; fill < n_fills(type); fill++) {
                if (!is_long(type) || (rows + blocks + fill) % (is_few(type) ? 5 : 3) == 0) {
                    run_gemv(t, type, rows, blocks * step, fill);
                }
            }
        }
    }
    for (size_t i = 0; i < 16; i++) {
        if (wide[i / 4] % step == 0) {
            run_gemv(t, type, some_rows[i % 4], wide[i / 4], (unsigned)i % n_fills(type));
        }
    }
    for (size_t i = 0; i < N_LARGE; i++) {
        run_gemv(t, type, large[i].rows, large[i].blocks * step, (unsigned)i % n_fills(type));
    }
    if (type == WEIGHTS_f16) { /* a single row may have an odd multiple of 16 columns */
        for (size_t cols = 16; cols <= 80; cols += 32) {
            run_gemv(t, type, 1, cols, FILL_WIDE);
        }
    }
}

static void put_token_q8(struct block_q8x4 *out, size_t lane, const struct block_q8 *token)
{
    for (size_t c = 0; c < 32; c++) {
        out->q[c / 4][lane][c % 4] = token->q[c];
    }
    out->d[lane] = token->d;
    out->sum[lane] = token->sum;
}

static void put_token_q8k(struct block_q8kx4 *out, size_t lane, const struct block_q8k *token)
{
    for (size_t c = 0; c < 256; c++) {
        out->q[c / 4][lane][c % 4] = token->q[c];
    }
    for (size_t j = 0; j < 16; j++) {
        out->sum[j][lane] = token->sum[j];
    }
    out->d[lane] = token->d;
}

/* The content of a lane: a token; if there is none, zeros (as interleave writes) or
 * garbage. */
enum lane { LANE_TOKEN, LANE_ZERO, LANE_GARBAGE };

static enum lane lane_of(const struct gemm_shape *shape, size_t i, unsigned fill)
{
    if (i < shape->n_tokens) {
        return LANE_TOKEN;
    }
    if (fill % 2 == 0) {
        return LANE_GARBAGE;
    }
    return LANE_ZERO;
}

static void fill_lane_q8(struct tester *t, struct block_q8x4 *out, size_t i, enum lane lane,
                         unsigned fill, bool last)
{
    struct block_q8 token = { .d = 0.0f };

    if (lane != LANE_ZERO) {
        fill_block_q8(t, &token, fill, last);
    }
    if (lane == LANE_GARBAGE) {
        token.d = NAN;
    }
    put_token_q8(out, i % 4, &token);
}

static void fill_lane_q8k(struct tester *t, struct block_q8kx4 *out, size_t i, enum lane lane,
                          unsigned fill, bool last)
{
    struct block_q8k token = { .d = 0.0f };

    if (lane != LANE_ZERO) {
        fill_block_q8k(t, &token, fill, last);
    }
    if (lane == LANE_GARBAGE) {
        token.d = NAN;
    }
    put_token_q8k(out, i % 4, &token);
}

/* Fill block b of token i's lane. */
static void fill_lane(struct tester *t, enum weights type, const struct gemm_shape *shape, size_t i,
                      size_t b, unsigned fill)
{
    void *out = tester_source(2);
    size_t n_blocks = n_x_blocks(type, shape->cols);
    size_t at = i / 4 * n_blocks + b;
    enum lane lane = lane_of(shape, i, fill);

    if (is_k(type)) {
        fill_lane_q8k(t, (struct block_q8kx4 *)out + at, i, lane, fill, b == n_blocks - 1);
    } else {
        fill_lane_q8(t, (struct block_q8x4 *)out + at, i, lane, fill, b == n_blocks - 1);
    }
}

/* Return the number of values from the first value of
 * n rows to the last value of the last row. */
static size_t span(size_t n, size_t stride, size_t width)
{
    if (n == 0) {
        return 0;
    }
    return (n - 1) * stride + width;
}

/* Fill slot 2 with rows of floats, and with garbage between them; returns the size in bytes. */
static size_t fill_float_matrix(struct tester *t, const struct gemm_shape *shape, unsigned fill)
{
    size_t n = span(shape->n_tokens, shape->x_stride, shape->cols);
    float *x = tester_source(2);

    fill_floats(t, 2, n, fill_of_x(fill));
    for (size_t i = 0; i < n; i++) {
        if (i % shape->x_stride >= shape->cols) {
            x[i] = NAN;
        }
    }
    return 4 * n;
}

/* Fills slot 2; returns its size in bytes. */
static size_t fill_matrix(struct tester *t, enum weights type, const struct gemm_shape *shape,
                          unsigned fill)
{
    size_t n_blocks = n_x_blocks(type, shape->cols);
    size_t groups = (shape->n_tokens + 3) / 4;

    if (is_float(type)) {
        return fill_float_matrix(t, shape, fill);
    }
    for (size_t i = 0; i < 4 * groups; i++) {
        for (size_t b = 0; b < n_blocks; b++) {
            fill_lane(t, type, shape, i, b, fill);
        }
    }
    return groups * n_blocks * weights_format(type)->x4_bytes;
}

/* Return the distance between two rows of x in floats, sometimes more than cols; rows of blocks
 * have no gaps. */
static size_t x_stride_of(const struct tester *t, enum weights type, size_t cols)
{
    if (!is_float(type)) {
        return 0;
    }
    return cols + t->n_drawn / 2 % 4 * 4;
}

static void run_gemm(struct tester *t, enum weights type, size_t rows, size_t cols, size_t n_tokens,
                     unsigned fill)
{
    struct gemm_shape shape = { .rows = rows,
                                .cols = cols,
                                .n_tokens = n_tokens,
                                .y_stride = rows + t->n_drawn / 2 % 3 * 5,
                                .x_stride = x_stride_of(t, type, cols) };
    size_t y_values = span(n_tokens, shape.y_stride, rows);
    struct tester_case c = {
        .slot = { { TESTER_INOUT, TESTER_F32, 4 * y_values, 4 },
                  { TESTER_IN, TESTER_BYTES, weights_bytes(type, rows, cols),
                    weights_format(type)->align },
                  { TESTER_IN, TESTER_BYTES, fill_matrix(t, type, &shape, fill), 16 },
                  { TESTER_IN, TESTER_BYTES, sizeof shape, 8 } },
        .n_slots = 4,
        .pointer = { 0, 1, 2, 3 },
        .n_pointers = 4,
        .size = { rows, cols, n_tokens },
        .n_sizes = 3,
        .sizes_in_slot = true,
        .data = fill,
    };

    fill_floats(t, 0, y_values, FILL_UNIFORM); /* no NaN: bytes between rows must be kept */
    fill_weights(t, 1, type, rows, cols, fill);
    memcpy(tester_source(3), &shape, sizeof shape);
    if (weights_format(type)->table) {
        fill_table(t, 4, fill, 0);
        c.slot[4] = table_slot;
        c.pointer[4] = 4;
        c.n_slots = c.n_pointers = 5;
    }
    tester_run(t, &c);
}

/* Return true if a pair of sizes is to be run. With long blocks, one pair in two or four is run; of
 * the larger pairs, one in six or twelve. Three is coprime to the periods of rows, tokens and
 * blocks. */
static bool is_drawn(enum weights type, size_t pair, size_t values)
{
    size_t of = is_few(type) ? 4 : 2;

    if (!is_long(type)) {
        return true;
    }
    return pair % (values > 96 ? 3 * of : of) == 0;
}

/* Run pairs of numbers of rows and of tokens, up to two tiles of each, which
 * is_drawn() selects. Blocks from 0 to 3 and contents alternate. The seed
 * selects the start; all combinations would take an emulator minutes. */
static void test_gemm(struct tester *t, enum weights type)
{
    static const size_t rows[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                                   10, 11, 12, 13, 14, 15, 16, 17, 24, 25 };
    static const size_t tokens[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 24 };
    static const struct {
        size_t rows, cols, n_tokens;
    } wide[] = { { 8, 576, 8 }, { 9, 576, 5 }, { 17, 512, 4 }, { 17, 768, 5 }, { 5, 2048, 3 } };
    size_t step = weights_format(type)->cols;
    unsigned fill = (unsigned)(tester_random(t) % n_fills(type));
    size_t first = tester_random(t) % 8;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t j = 0; j < sizeof tokens / sizeof tokens[0]; j++, fill++) {
            size_t blocks = (first / 2 + i + j + j / 4) % 4;

            if (is_drawn(type, first + i + j, rows[i] * tokens[j])) {
                run_gemm(t, type, rows[i], blocks * step, tokens[j], fill % n_fills(type));
            }
        }
    }
    for (size_t i = 0; i < N_LARGE; i++, fill++) {
        run_gemm(t, type, large[i].rows, large[i].blocks * step, large[i].n_tokens,
                 fill % n_fills(type));
    }
    for (size_t i = 0; i < 10 && type == WEIGHTS_f16; i++) { /* as in test_gemv() */
        run_gemm(t, type, 1, 16 + i % 3 * 32, i, FILL_WIDE);
    }
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++, fill++) {
        if (wide[i].cols % step == 0) {
            run_gemm(t, type, wide[i].rows, wide[i].cols, wide[i].n_tokens, fill % n_fills(type));
        }
    }
}

bool tester_run_matrix(struct tester *t, enum kernel_op op)
{
    switch ((int)op) {
#define MATRIX_CASES(layout, gemv, gemm) \
    case KERNEL_##gemv: test_gemv(t, WEIGHTS_##layout); return true; \
    case KERNEL_##gemm: \
        test_gemm(t, WEIGHTS_##layout); \
        return true;
#define TYPE_FLOATS(NAME, id, name, ...) \
    MATRIX_CASES(name, gemv_f32_##name##_f32, gemm_f32_##name##_f32)
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) \
    MATRIX_CASES(layout, gemv_f32_##layout##x8_##act, gemm_f32_##layout##x8_##act##x4)
#define TYPE_TABLED_AGAIN(...)
#include "flash_image/format/types.def"
#undef MATRIX_CASES
    default: return false;
    }
}
