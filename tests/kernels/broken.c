/* The test of the tester: each of these kernels is wrong in one way, and must be caught for
 * that way. The last rows are assembly, broken_<isa>.S. */
#include "tests/kernels/broken.h"

#include <stdio.h>

#include "kernels/ref/scalar.h"
#include "kernels/selftest/tester.h"

void broken_saved(void);
void broken_stack(void);
void broken_control(void);
#ifndef __x86_64__ /* that ABI has no such registers */
void broken_saved_float(void);
void broken_platform(void);
#endif

static void gemv_misses_last_row(float *restrict y, const void *restrict w,
                                 const struct block_q8 *restrict x, size_t rows, size_t cols,
                                 size_t ahead)
{
    gemv_f32_q4x8_q8_ref(y, w, x, rows ? rows - 1 : 0, cols, ahead);
}

static void gemv_writes_whole_groups(float *restrict y, const void *restrict w,
                                     const struct block_q8 *restrict x, size_t rows, size_t cols,
                                     size_t ahead)
{
    gemv_f32_q4x8_q8_ref(y, w, x, (rows + 7) / 8 * 8, cols, ahead);
}

/* Pairs of products in 16 bits: right until both are -128 * -128. */
static void gemv_wraps_pairs(float *restrict y, const void *restrict w,
                             const struct block_q8 *restrict x, size_t rows, size_t cols,
                             size_t ahead)
{
    const uint8_t *groups = w;

    (void)ahead;
    for (size_t r = 0; r < rows; r++) {
        float acc = 0.0f;

        for (size_t b = 0; b < cols / 32; b++) {
            const uint8_t *group = groups + (r / 8 * (cols / 32) + b) * 272;
            const int8_t *q = (const int8_t *)group + 16;
            uint16_t half;
            int32_t sum = 0;

            memcpy(&half, group + 2 * (r % 8), 2);
            for (size_t c = 0; c < 32; c++) {
                size_t at = c / 8 * 64 + r % 8 * 4 + c % 4;

                if (c % 8 < 4) {
                    sum += (int16_t)(q[at] * x[b].q[c] + q[at + 32] * x[b].q[c + 4]);
                }
            }
            acc = fmaf((float)sum, f32_from_f16(half) * x[b].d, acc);
        }
        y[r] = acc;
    }
}

/* One sum in order where the contract has 16 lanes. */
static void gemv_sums_in_order(float *restrict y, const void *restrict w, const float *restrict x,
                               size_t rows, size_t cols, size_t ahead)
{
    const float *row = w;

    (void)ahead;
    for (size_t r = 0; r < rows; r++, row += cols) {
        y[r] = 0.0f;
        for (size_t c = 0; c < cols; c++) {
            y[r] = fmaf(row[c], x[c], y[r]);
        }
    }
}

/* Multiply and add, each rounded, where the contract has fma. */
static void accumulate_rounds_twice(float *restrict o, const struct score_row *restrict s,
                                    const uint16_t *restrict v, size_t n_q, size_t n, size_t d)
{
    for (size_t a = 0; a < n_q; a++, o += d) {
        for (size_t i = 0; i < d; i++) {
            o[i] *= s[a].factor;
            for (size_t j = 0; j < n; j++) {
                o[i] += s[a].s[j] * f32_from_f16(v[j * d + i]);
            }
        }
    }
}

static void add_forgets_tail(float *restrict y, const float *restrict x, size_t n)
{
    add_f32_ref(y, x, n / 4 * 4);
}

static void add_writes_past_end(float *restrict y, const float *restrict x, size_t n)
{
    add_f32_ref(y, x, n);
    memset(y + n, 0, 1);
}

static void add_writes_before_start(float *restrict y, const float *restrict x, size_t n)
{
    add_f32_ref(y, x, n);
    memset((char *)y - 1, 0, 1);
}

static void add_changes_input(float *restrict y, const float *restrict x, size_t n)
{
    add_f32_ref(y, x, n);
    if (n > 40) {
        memset((float *)(uintptr_t)x + 40, 0, 1);
    }
}

static void add_flushes_subnormals(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += x[i];
        if ((f32_bits(y[i]) & 0x7f800000u) == 0) {
            y[i] = f32_from_bits(f32_bits(y[i]) & 0x80000000u);
        }
    }
}

static float max_lets_nan_win(const float *x, size_t n)
{
    float max = x[0];

    for (size_t i = 1; i < n; i++) {
        max = x[i] <= max ? max : x[i];
    }
    return max;
}

static void convert_truncates(uint16_t *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = f16_from_f32(f32_from_bits(f32_bits(x[i]) & 0xffffe000u));
    }
}

static const struct broken_row {
    const char *name;
    enum kernel_op op;
    void (*function)(void);
    void (*reference)(void);
    uint32_t fault;
} broken_rows[] = {
#define BROKEN(function, op, fault) \
    { #function, KERNEL_##op, (void (*)(void))(function), (void (*)(void))(op##_ref), fault },
    BROKEN(gemv_misses_last_row, gemv_f32_q4x8_q8, TESTER_VALUE)
    BROKEN(gemv_writes_whole_groups, gemv_f32_q4x8_q8, TESTER_GUARD_HIT)
    BROKEN(gemv_wraps_pairs, gemv_f32_q8x8_q8, TESTER_VALUE)
    BROKEN(gemv_sums_in_order, gemv_f32_f32_f32, TESTER_VALUE)
    BROKEN(accumulate_rounds_twice, accumulate_f32_f16, TESTER_VALUE)
    BROKEN(add_forgets_tail, add_f32, TESTER_VALUE)
    BROKEN(add_writes_past_end, add_f32, TESTER_GUARD_HIT)
    BROKEN(add_writes_before_start, add_f32, TESTER_GUARD_HIT)
    BROKEN(add_changes_input, add_f32, TESTER_INPUT)
    BROKEN(add_flushes_subnormals, add_f32, TESTER_VALUE)
    BROKEN(max_lets_nan_win, max_f32, TESTER_VALUE)
    BROKEN(convert_truncates, convert_f16_f32, TESTER_VALUE)
    BROKEN(broken_saved, add_f32, TESTER_SAVED)
    BROKEN(broken_stack, add_f32, TESTER_STACK)
    BROKEN(broken_control, add_f32, TESTER_CONTROL)
#ifndef __x86_64__
    BROKEN(broken_saved_float, add_f32, TESTER_SAVED_FLOAT)
    BROKEN(broken_platform, add_f32, TESTER_PLATFORM)
#endif
#undef BROKEN
};

/* Nothing but the intended fault may be seen, save that the assembly rows compute nothing. */
static bool is_caught(const struct broken_row *row, uint32_t faults)
{
    uint32_t of_data = TESTER_VALUE | TESTER_GUARD_HIT | TESTER_INPUT;

    return row->fault & of_data ? faults == row->fault : (faults & ~of_data) == row->fault;
}

int broken_test(uint64_t seed, int *tap_number)
{
    int missed = 0;

    for (size_t i = 0; i < sizeof broken_rows / sizeof broken_rows[0]; i++) {
        const struct broken_row *row = &broken_rows[i];
        struct tester t = { .function = row->function, .reference = row->reference,
                            .symbol = row->name, .random = seed + i,
                            .ignored = row->fault == TESTER_PLATFORM ? 0 : TESTER_PLATFORM };
        char faults[120];
        bool good;

        tester_run_op(&t, row->op);
        good = is_caught(row, t.faults);
        missed += !good;
        tester_faults_text(t.faults, faults, sizeof faults);
        printf("%sok %d - the tester catches %s: %s\n", good ? "" : "not ", ++*tap_number,
               row->name, faults);
    }
    return missed;
}
