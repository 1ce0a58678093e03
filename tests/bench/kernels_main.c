/* An image that times every kernel the CPU supports on the shapes of a model with dim 576, hidden
 * 1536 and heads of 64, at 128 positions. Under `-icount shift=0` the counter counts instructions.
 * A line a kernel: "kernel: SYMBOL ROWS COLS ITEMS CALLS TICKS EMPTY HZ"; EMPTY is what as many
 * calls of a function that returns at once take. kernels.py reads them. */
#include <assert.h>
#include <string.h>

#include "board/board.h"
#include "boot/boot.h"
#include "kernels/kernels.h"
#include "runtime/console.h"

enum {
    DIM = 576, HIDDEN = 1536, HEAD = 64, POSITIONS = 128,
    ITEMS = 1 << 20,            /* about as many per measurement */
    SPACE = 4 * HIDDEN * DIM,   /* bytes of one buffer: a matrix of f32 */
};

/* What a call takes; the buffers lie in the arena. */
static struct bench_state {
    void *y;
    void *w;
    void *x;
    uint64_t random;
} state;

/* Rows and columns of each op, or one length. Items are weights or elements. */
static const struct shape {
    size_t rows, cols;
} shapes[KERNEL_N_OPS] = {
    [KERNEL_gemv_f32_f32_f32] = { DIM, DIM },
    [KERNEL_gemv_f32_q8x8_q8] = { DIM, HIDDEN },
    [KERNEL_gemv_f32_q4x8_q8] = { DIM, HIDDEN },
    [KERNEL_dequantize_f32_q8x8] = { 1, DIM },
    [KERNEL_dequantize_f32_q4x8] = { 1, DIM },
    [KERNEL_quantize_q8_f32] = { 1, DIM },
    [KERNEL_rmsnorm_f32] = { 1, DIM },
    [KERNEL_rope_f32_pairs] = { 1, HEAD },
    [KERNEL_rope_f32_halves] = { 1, HEAD },
    [KERNEL_max_f32] = { 1, POSITIONS },
    [KERNEL_exp_sum_f32] = { 1, POSITIONS },
    [KERNEL_softmax_f32] = { 1, POSITIONS },
    [KERNEL_silu_mul_f32] = { 1, HIDDEN },
    [KERNEL_add_f32] = { 1, DIM },
    [KERNEL_score_f32_f16] = { POSITIONS, HEAD },
    [KERNEL_accumulate_f32_f16] = { POSITIONS, HEAD },
    [KERNEL_convert_f16_f32] = { 1, DIM },
};

static uint32_t random_word(void)
{
    state.random = state.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state.random >> 32);
}

static void fill_floats(float *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (float)(int32_t)random_word() * 0x1p-31f;
    }
}

/* Halves of ordinary size, as scales of blocks and as cached keys. */
static void fill_halves(uint16_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint16_t)(0x2000u + (random_word() & 0x8fffu));
    }
}

static void fill_groups(uint8_t *out, size_t n, size_t quant_bytes)
{
    for (size_t i = 0; i < n; i++, out += 16 + quant_bytes) {
        uint16_t scales[8];

        fill_halves(scales, 8);
        memcpy(out, scales, sizeof scales);
        for (size_t j = 0; j < quant_bytes; j++) {
            out[16 + j] = (uint8_t)random_word();
        }
    }
}

/* Inputs as the op of this measurement reads them. */
static void fill(enum kernel_op op)
{
    const struct shape *s = &shapes[op];
    size_t groups = (s->rows + 7) / 8 * (s->cols / 32);

    fill_floats(state.y, s->rows * s->cols);
    fill_floats(state.x, s->rows + s->cols);
    if (op == KERNEL_gemv_f32_q8x8_q8 || op == KERNEL_dequantize_f32_q8x8) {
        fill_groups(state.w, groups, 256);
    } else if (op == KERNEL_gemv_f32_q4x8_q8 || op == KERNEL_dequantize_f32_q4x8) {
        fill_groups(state.w, groups, 128);
    } else if (op == KERNEL_score_f32_f16 || op == KERNEL_accumulate_f32_f16) {
        fill_halves(state.w, s->rows * s->cols);
    } else {
        fill_floats(state.w, s->rows * s->cols);
    }
    if (op == KERNEL_gemv_f32_q8x8_q8 || op == KERNEL_gemv_f32_q4x8_q8) {
        float *from = (float *)state.y;

        quantize_q8_f32_ref(state.x, from, s->cols);
    }
}

#define AS(op) ((op##_fn *)function)

static void call(enum kernel_op op, void (*function)(void))
{
    size_t rows = shapes[op].rows;
    size_t n = shapes[op].cols;
    void *y = state.y;
    void *w = state.w;
    void *x = state.x;

    switch (op) {
    case KERNEL_gemv_f32_f32_f32: AS(gemv_f32_f32_f32)(y, w, x, rows, n); return;
    case KERNEL_gemv_f32_q8x8_q8: AS(gemv_f32_q8x8_q8)(y, w, x, rows, n); return;
    case KERNEL_gemv_f32_q4x8_q8: AS(gemv_f32_q4x8_q8)(y, w, x, rows, n); return;
    case KERNEL_dequantize_f32_q8x8: AS(dequantize_f32_q8x8)(y, w, 0, n); return;
    case KERNEL_dequantize_f32_q4x8: AS(dequantize_f32_q4x8)(y, w, 0, n); return;
    case KERNEL_quantize_q8_f32: AS(quantize_q8_f32)(y, x, n); return;
    case KERNEL_rmsnorm_f32: AS(rmsnorm_f32)(y, x, w, n, 1e-5f); return;
    case KERNEL_rope_f32_pairs: AS(rope_f32_pairs)(y, x, n); return;
    case KERNEL_rope_f32_halves: AS(rope_f32_halves)(y, x, n); return;
    case KERNEL_max_f32: (void)AS(max_f32)(x, n); return;
    case KERNEL_exp_sum_f32: (void)AS(exp_sum_f32)(y, n, 1.0f); return;
    case KERNEL_softmax_f32: AS(softmax_f32)(y, n); return;
    case KERNEL_silu_mul_f32: AS(silu_mul_f32)(y, x, w, n); return;
    case KERNEL_add_f32: AS(add_f32)(y, x, n); return;
    case KERNEL_score_f32_f16: AS(score_f32_f16)(y, x, w, rows, n, 0.125f); return;
    case KERNEL_accumulate_f32_f16: AS(accumulate_f32_f16)(y, x, w, rows, n); return;
    case KERNEL_convert_f16_f32: AS(convert_f16_f32)(y, x, n); return;
    case KERNEL_N_OPS: return;
    }
}

static void return_at_once(void)
{
}

static uint64_t measure(enum kernel_op op, void (*function)(void), size_t calls)
{
    uint64_t start = board.ticks();

    for (size_t i = 0; i < calls; i++) {
        call(op, function);
    }
    return board.ticks() - start;
}

static void measure_row(const struct kernel_row *row)
{
    const struct shape *s = &shapes[row->op];
    size_t items = s->rows * s->cols;
    size_t calls = ITEMS / items + 1;
    uint64_t ticks;

    assert(items != 0 && "every op has a shape");
    fill(row->op);
    ticks = measure(row->op, row->function, calls);
    console_printf("kernel: %s %lu %lu %lu %lu %llu %llu %llu\n", row->symbol,
                   (unsigned long)s->rows, (unsigned long)s->cols, (unsigned long)items,
                   (unsigned long)calls, (unsigned long long)ticks,
                   (unsigned long long)measure(row->op, return_at_once, calls),
                   (unsigned long long)board.ticks_hz());
}

void image_main(const struct machine *machine)
{
    struct console_port port = { .putc = board.putc, .getc = board.getc, .ticks = board.ticks,
                                 .ticks_hz = board.ticks_hz, .serial = true };
    uint8_t *base = machine->ram[0].base;

    console_init(&port);
    assert(machine->ram[0].bytes >= 3 * SPACE && (uintptr_t)base % 64 == 0);
    state.y = base;
    state.w = base + SPACE;
    state.x = base + 2 * (size_t)SPACE;
    console_printf("cpu: %s\n", machine->cpu_name);
    for (size_t i = 0; i < kernel_n_rows; i++) {
        if ((kernel_rows[i].features & ~machine->cpu_features) == 0) {
            measure_row(&kernel_rows[i]);
        }
    }
    board.power_off(0);
}
