/* Attention by tiles against the textbook softmax in double precision, over a cache of either type;
 * and that some things change no bit: which rows share a block, and stale memory. */
#include "runtime/compute/attention.h"

#include <math.h>
#include <string.h>

#include "tests/unit/tap.h"

enum { MOST_N = 200, MOST_D = 128, HEADS = 3, TOKENS = 10 };

static struct ingot_layer table[2];
static const struct kv_layers layers = { table, 2 };
static struct kv_cache kv;
static _Alignas(64) uint8_t memory[2 * 2 * 2 * 256 * MOST_D * 4];
static _Alignas(64) struct score_row scores[ATTENTION_ROWS];
static _Alignas(64) float queries[ATTENTION_ROWS * MOST_D], out[ATTENTION_ROWS * MOST_D + 1];
static struct block_q8 blocks[ATTENTION_ROWS * MOST_D / 32];
static float turned[MOST_D], asked[ATTENTION_ROWS * MOST_D];
static float keys[MOST_N][MOST_D], values[MOST_N][MOST_D];
static const struct attention_work work = { scores, queries, out, blocks };
static uint32_t state = 1;

static float uniform(float scale)
{
    state = state * 1664525u + 1013904223u;
    return scale * ((float)(int32_t)(state >> 8) - 8388608.0f) / 8388608.0f;
}

/* Makes a number that fp16 holds, so that the cache of that type loses nothing. */
static float representable(void)
{
    return (float)(int)uniform(1024.0f) / 1024.0f;
}

/* Fills n positions of a cache in layer 1, head 1, and keeps what was put in. */
static void fill(const struct kernels *k, uint32_t n, uint32_t d, enum kv_type type)
{
    for (unsigned i = 0; i < layers.n; i++)
        table[i] = (struct ingot_layer){
            .mixer = INGOT_MIXER_ATTENTION, .n_heads = 6, .n_kv_heads = 2, .head_dim = d
        };
    memset(memory, 0xff, sizeof memory); /* NaN in everything that is not written */
    kv_cache_open(&kv, &layers, MOST_N, kv_both(type), memory);
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = 0; i < d; i++) {
            keys[j][i] = type == KV_F32 ? uniform(1.0f) : representable();
            values[j][i] = type == KV_F32 ? uniform(1.0f) : representable();
        }
        kv_cache_put(&kv, k, 1, 1, j, keys[j], values[j], turned);
    }
}

static void ask(uint32_t n_rows, float scale)
{
    for (uint32_t i = 0; i < n_rows * table[1].head_dim; i++) {
        queries[i] = uniform(scale) / sqrtf((float)table[1].head_dim);
    }
    memcpy(asked, queries, sizeof asked); /* attention_run may rotate them */
}

/* Returns the largest difference of row r from the plain computation over positions [from, n). */
static double difference_from(uint32_t r, uint32_t from, uint32_t n, double softcap)
{
    double p[MOST_N], max = -INFINITY, sum = 0, worst = 0;
    uint32_t d = table[1].head_dim;

    for (uint32_t j = from; j < n; j++) {
        p[j] = 0;
        for (uint32_t i = 0; i < d; i++) {
            p[j] += (double)asked[r * d + i] * (double)keys[j][i];
        }
        p[j] = softcap != 0 ? softcap * tanh(p[j] / softcap) : p[j];
        max = p[j] > max ? p[j] : max;
    }
    for (uint32_t j = from; j < n; j++) {
        p[j] = exp(p[j] - max);
        sum += p[j];
    }
    for (uint32_t i = 0; i < d; i++) {
        double o = 0;

        for (uint32_t j = from; j < n; j++) {
            o += p[j] / sum * (double)values[j][i];
        }
        worst = fmax(worst, fabs(o - (double)(out[r * d + i] / scores[r].sum)));
    }
    return worst;
}

static double difference(uint32_t r, uint32_t n)
{
    return difference_from(r, 0, n, 0);
}

static struct attention_block block(uint32_t first, uint32_t tokens, uint32_t heads)
{
    return (struct attention_block){ &kv, 1, 1, first, tokens, heads, 0, 0.0f, NULL };
}

static void test_against_softmax(const struct kernels *k, enum kv_type type, double bound)
{
    static const uint32_t lengths[] = { 1, 2, 15, 16, 63, 64, 65, 127, 128, 129, 200 };
    static const uint32_t sizes[] = { 2, 7, 8, 33, 64, 80, 96, 128 };
    double worst = 0;

    for (size_t c = 0; c < sizeof sizes / sizeof sizes[0]; c++) {
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
            struct attention_block b = block(lengths[l] - 1, 1, HEADS);

            fill(k, lengths[l], sizes[c], type);
            ask(HEADS, l % 3 == 0 ? 0.01f : l % 3 == 1 ? 1.0f : 30.0f);
            attention_run(k, &b, &work);
            for (uint32_t r = 0; r < HEADS; r++) {
                worst = fmax(worst, difference(r, lengths[l]));
            }
        }
    }
    OK(worst < bound, "%s: attention is off by %d e-6 at most, bound %d", kv_formats[type].name,
       (int)ceil(worst * 1e6), (int)ceil(bound * 1e6));
}

/* The tiles' maxima ascend, so that every tile rescales the earlier ones; then they descend. */
static void test_rescaling(const struct kernels *k)
{
    for (int up = 0; up < 2; up++) {
        struct attention_block b = block(MOST_N - 1, 1, 1);

        fill(k, MOST_N, 8, KV_F16);
        for (uint32_t i = 0; i < 8; i++) {
            queries[i] = asked[i] = 60.0f;
        }
        for (uint32_t j = 0; j < MOST_N; j++) {
            for (uint32_t i = 0; i < 8; i++) {
                keys[j][i] = 0.0009765625f * (float)(up ? j : MOST_N - j);
            }
            kv_cache_put(&kv, k, 1, 1, j, keys[j], values[j], turned);
        }
        attention_run(k, &b, &work);
        OK(difference(0, MOST_N) < 5e-6,
           "attention of scores that %s over four tiles is off by %d e-6",
           up ? "ascend" : "descend", (int)(difference(0, MOST_N) * 1e6));
    }
}

/* A chunk of tokens across a tile's border gives each row the bits that it has alone. */
static void test_blocks(const struct kernels *k, enum kv_type type)
{
    static float whole[ATTENTION_ROWS * MOST_D];
    static float sums[ATTENTION_ROWS];
    struct attention_block b = block(58, TOKENS, HEADS);
    uint32_t wrong = 0;

    fill(k, 58 + TOKENS, 64, type);
    ask(TOKENS * HEADS, 3.0f);
    out[TOKENS * HEADS * 64] = 77.0f;
    attention_run(k, &b, &work);
    OK(out[TOKENS * HEADS * 64] == 77.0f, "nothing is written behind the last row");
    memcpy(whole, out, sizeof whole);
    for (uint32_t r = 0; r < TOKENS * HEADS; r++) {
        sums[r] = scores[r].sum;
    }
    for (uint32_t r = 0; r < TOKENS * HEADS; r++) {
        struct attention_block alone = block(58 + r / HEADS, 1, 1);

        memset(scores, 0xff, sizeof scores);
        memset(out, 0xff, sizeof out);
        memcpy(queries, asked + r * 64, 64 * sizeof *asked);
        attention_run(k, &alone, &work);
        wrong += memcmp(out, whole + r * 64, 64 * sizeof *out) != 0 || scores[0].sum != sums[r];
    }
    OK(wrong == 0, "%s: %u of %u rows differ when they are alone", kv_formats[type].name, wrong,
       TOKENS * HEADS);
}

/* Windows that begin inside a tile, at its border, and beyond the first tile; and capped scores. */
static void test_windows(const struct kernels *k)
{
    static const uint32_t windows[] = { 1, 7, 63, 64, 65, 100, 199, 500 };
    struct attention_block b = block(190, TOKENS, HEADS);
    double worst = 0;

    fill(k, 200, 64, KV_F16);
    b.softcap = 2.0f;
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        ask(TOKENS * HEADS, 5.0f);
        b.window = windows[i];
        attention_run(k, &b, &work);
        for (uint32_t r = 0; r < TOKENS * HEADS; r++) {
            uint32_t end = 190 + r / HEADS + 1;
            uint32_t from = end > windows[i] ? end - windows[i] : 0;

            worst = fmax(worst, difference_from(r, from, end, 2.0));
        }
    }
    OK(worst < 5e-6, "attention with 8 windows and scores capped at 2 is off by %d e-6 at most",
       (int)ceil(worst * 1e6));
}

static void test_one_position(const struct kernels *k)
{
    struct attention_block b = block(0, 1, 1);

    fill(k, 1, 8, KV_F16);
    for (uint32_t i = 0; i < 8; i++) {
        values[0][i] = 0.25f * (float)i;
    }
    kv_cache_put(&kv, k, 1, 1, 0, keys[0], values[0], turned);
    ask(1, 0.0f);
    attention_run(k, &b, &work);
    OK(difference(0, 1) == 0, "attention to one position is that position's value, exactly");
}

int main(void)
{
    struct kernels k;

    kernels_select(&k, CPU_ANY);
    test_against_softmax(&k, KV_F16, 5e-6);
    test_against_softmax(&k, KV_Q8, 8e-2);
    test_against_softmax(&k, KV_F32, 5e-6);
    test_against_softmax(&k, KV_ROT_Q8, 8e-2);
    test_against_softmax(&k, KV_ROT_Q4, 8e-1);
    test_against_softmax(&k, KV_UNIFORM_4B, 8e-1);
    test_rescaling(&k);
    test_blocks(&k, KV_F16);
    test_blocks(&k, KV_Q8);
    test_blocks(&k, KV_F32);
    test_blocks(&k, KV_ROT_Q8);
    test_blocks(&k, KV_ROT_Q4);
    test_blocks(&k, KV_UNIFORM_4B);
    test_windows(&k);
    test_one_position(&k);
    return tap_done();
}
