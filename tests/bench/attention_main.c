/* An image that measures what a position costs a head's attention, 2048 positions long: preparing
 * queries, scores, softmax, attended values. Heads have 64 numbers, as in smol135. The boot argument
 * is the type of keys and values, as for kv=. It prints a line for each block of queries, of one token
 * or as a prompt has them: "attention: HEADS TOKENS POSITIONS TICKS HZ". POSITIONS counts each
 * position once for each query of each head that sees it. */
#include <assert.h>

#include "board/board.h"
#include "boot/boot.h"
#include "boot/platform.h"
#include "runtime/compute/attention.h"
#include "runtime/console/console.h"

enum { POSITIONS = 2048, HEAD = 64, MOST_NUMBER_BYTES = 4 };

static _Alignas(64) uint8_t memory[2 * POSITIONS * HEAD * MOST_NUMBER_BYTES];
static _Alignas(64) struct score_row scores[ATTENTION_ROWS];
static _Alignas(64) float queries[ATTENTION_ROWS * HEAD], out[ATTENTION_ROWS * HEAD];
static _Alignas(64) struct block_q8 blocks[ATTENTION_ROWS * HEAD / KV_BLOCK];
static const struct attention_work work = { scores, queries, out, blocks };
static const struct ingot_layer layer = {
    .mixer = INGOT_MIXER_ATTENTION, .n_heads = ATTENTION_ROWS, .n_kv_heads = 1, .head_dim = HEAD
};
static const struct kv_layers layers = { &layer, 1 };
static struct kv_cache kv;
static struct kernels kernels;
static struct platform platform;
static struct console console;
static uint32_t random_state = 1;

static void fill(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        random_state = random_state * 1664525u + 1013904223u;
        x[i] = (float)(random_state >> 16) / 32768.0f - 1.0f;
    }
}

static void fill_cache(void)
{
    static _Alignas(64) float key[HEAD], value[HEAD], room[HEAD];

    for (uint32_t at = 0; at < POSITIONS; at++) {
        fill(key, HEAD);
        fill(value, HEAD);
        kv_cache_put(&kv, &kernels, 0, 0, at, key, value, room);
    }
}

/* `heads` query heads for the last n_tokens positions. */
static void measure(uint32_t heads, uint32_t n_tokens)
{
    struct attention_block b = { .kv = &kv,
                                 .first_position = POSITIONS - n_tokens,
                                 .n_tokens = n_tokens,
                                 .rows_per_token = heads };
    unsigned long seen = 0;
    uint64_t start, end;

    for (uint32_t t = 0; t < n_tokens; t++) {
        seen += heads * (b.first_position + t + 1);
    }
    fill(queries, (size_t)heads * n_tokens * HEAD);
    start = board.ticks();
    attention_run(&kernels, &b, &work);
    end = board.ticks();
    console_printf(&console, "attention: %lu %lu %lu %llu %llu\n", (unsigned long)heads,
                   (unsigned long)n_tokens, seen, (unsigned long long)(end - start),
                   (unsigned long long)board.ticks_hz());
}

void image_main(const struct machine *machine)
{
    static const struct console_setup setup = { .serial = true };
    struct kv_types types;

    board_platform(&platform, machine);
    console_open(&console, &platform, &setup);
    kernels_select(&kernels, machine->cpu_features);
    if (!kv_types_parse(machine->args, &types)) {
        board.power_off(1);
    }
    assert(kv_cache_bytes(&layers, POSITIONS, types) <= sizeof memory);
    kv_cache_open(&kv, &layers, POSITIONS, types, memory);
    fill_cache();
    measure(1, 1);
    measure(3, 1);
    measure(4, 1);
    measure(8, 1);
    measure(3, 10);
    board.power_off(0);
}
