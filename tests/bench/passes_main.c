/* An image that says what passes over 1 to 8 tokens cost the matrices of smol135: activations quantized
 * and interleaved, 30 layers, and the head of all tokens, as a check of guesses takes them. The boot
 * argument is the type's number. A layer and a piece of the head are run and counted as often as they
 * are there. A line a pass: "pass: TOKENS TICKS HZ". */
#include "board/board.h"
#include "boot/boot.h"
#include "boot/platform.h"
#include "runtime/compute/linear.h"
#include "runtime/console/console.h"

enum { MOST_TOKENS = 8, DIM = 576, HIDDEN = 1536, LAYERS = 30, VOCAB = 49152, PIECE = 512 };

static _Alignas(64) uint8_t weights[PIECE * HIDDEN * 2];
static _Alignas(64) float x[MOST_TOKENS * HIDDEN], y[MOST_TOKENS * PIECE];
static _Alignas(64) struct block_q8 q8[MOST_TOKENS * HIDDEN / 32];
static _Alignas(64) struct block_q8k q8k[MOST_TOKENS * HIDDEN / 256];
static _Alignas(64) struct block_q8x4 q8x4[MOST_TOKENS / 4 * HIDDEN / 32];
static _Alignas(64) struct block_q8kx4 q8kx4[MOST_TOKENS / 4 * HIDDEN / 256];
static const struct activations act = { .q8 = q8, .q8k = q8k, .q8x4 = q8x4, .q8kx4 = q8kx4 };
static struct kernels kernels;
static struct platform platform;
static struct console console;

/* The columns of a K format are whole blocks. */
static size_t whole(uint8_t type, size_t cols)
{
    return (1u << type & ACTIVATIONS_Q8K) != 0 ? (cols + 255) / 256 * 256 : cols;
}

static void prepare(uint8_t type, size_t cols, uint32_t n)
{
    struct linear_input in = { x, whole(type, cols), n, 0 };

    linear_prepare(&kernels, &act, 1u << type, &in, 0, n < 4 ? n : 4);
    if (n > 4) {
        linear_prepare(&kernels, &act, 1u << type, &in, 4, n);
    }
}

/* Uses the same weights again and again, which instructions do not notice. */
static void multiply(uint8_t type, size_t rows, size_t cols, uint32_t n)
{
    struct linear_input in = { x, whole(type, cols), n, 0 };
    struct ingot_tensor w = {
        .type = type, .rows = PIECE, .cols = (uint32_t)in.stride, .cols_padded = (uint32_t)in.stride
    };

    for (size_t r = 0; r < rows; r += PIECE) {
        size_t here = rows - r < PIECE ? rows - r : PIECE;

        linear_rows(&kernels, &act, &w, weights, &in, y, PIECE, 0, here);
    }
}

static void run_layer(uint8_t type, uint32_t n)
{
    prepare(type, DIM, n);
    multiply(type, DIM + 2 * 192, DIM, n);
    prepare(type, DIM, n);
    multiply(type, DIM, DIM, n);
    prepare(type, DIM, n);
    multiply(type, 2 * HIDDEN, DIM, n);
    prepare(type, HIDDEN, n);
    multiply(type, DIM, HIDDEN, n);
}

static void measure(uint8_t type, uint32_t n)
{
    uint64_t start = board.ticks(), layer, head;

    run_layer(type, n);
    layer = board.ticks();
    multiply(type, PIECE, DIM, n);
    head = board.ticks();
    console_printf(&console, "pass: %lu %llu %llu\n", (unsigned long)n,
                   (unsigned long long)(LAYERS * (layer - start) + VOCAB / PIECE * (head - layer)),
                   (unsigned long long)board.ticks_hz());
}

void image_main(const struct machine *machine)
{
    static const struct console_setup setup = { .serial = true };
    uint8_t type = 0;

    board_platform(&platform, machine);
    console_open(&console, &platform, &setup);
    kernels_select(&kernels, machine->cpu_features);
    for (const char *c = machine->args; *c >= '0' && *c <= '9'; c++) {
        type = (uint8_t)(10 * type + (*c - '0'));
    }
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
        x[i] = (float)(i % 97) - 48.0f;
    }
    for (uint32_t n = 1; n <= MOST_TOKENS; n++) {
        measure(type, n);
    }
    board.power_off(0);
}
