/* Attention by tiles against the softmax as books write it, in double precision. */
#include "runtime/attention.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "runtime/activations.h"
#include "tests/unit/tap.h"

enum { MOST_N = 200, MOST_D = 80 };

static _Alignas(64) float q[MOST_D], out[MOST_D + 1], again[MOST_D], floats[MOST_N * MOST_D];
static _Alignas(64) float scores[ATTENTION_TILE];
static _Alignas(64) uint16_t keys[MOST_N * MOST_D], values[MOST_N * MOST_D];
static uint32_t state = 1;

static float uniform(float scale)
{
    state = state * 1664525u + 1013904223u;
    return scale * ((float)(int32_t)(state >> 8) - 8388608.0f) / 8388608.0f;
}

static double half(uint16_t h)
{
    int exponent = h >> 10 & 31;
    double m = exponent == 0 ? (h & 1023) / 1024.0 : 1.0 + (h & 1023) / 1024.0;

    return ldexp((h & 0x8000) != 0 ? -m : m, exponent == 0 ? -14 : exponent - 15);
}

static void fill(const struct kernels *k, uint16_t *to, float scale)
{
    for (size_t i = 0; i < MOST_N * MOST_D; i++) {
        floats[i] = uniform(scale);
    }
    k->convert_f16_f32(to, floats, MOST_N * MOST_D);
}

/* The largest difference to the plain computation, relative to the largest |value| = 1. */
static double difference(uint32_t n, uint32_t d)
{
    double p[MOST_N], max = -INFINITY, sum = 0, worst = 0;

    for (uint32_t j = 0; j < n; j++) {
        p[j] = 0;
        for (uint32_t i = 0; i < d; i++) {
            p[j] += (double)q[i] * half(keys[j * d + i]);
        }
        p[j] /= sqrt(d);
        max = p[j] > max ? p[j] : max;
    }
    for (uint32_t j = 0; j < n; j++) {
        p[j] = exp(p[j] - max);
        sum += p[j];
    }
    for (uint32_t i = 0; i < d; i++) {
        double o = 0;

        for (uint32_t j = 0; j < n; j++) {
            o += p[j] / sum * half(values[j * d + i]);
        }
        worst = fmax(worst, fabs(o - (double)out[i]));
    }
    return worst;
}

static void test_against_softmax(const struct kernels *k)
{
    static const uint32_t lengths[] = { 1, 2, 63, 64, 65, 127, 128, 129, 200 };
    static const uint32_t sizes[] = { 2, 8, 64, 80 };
    static const float query_scales[] = { 0.01f, 1.0f, 30.0f };

    for (size_t s = 0; s < 3; s++) {
        double worst = 0;

        for (size_t c = 0; c < 4; c++) {
            for (size_t l = 0; l < 9; l++) {
                for (uint32_t i = 0; i < sizes[c]; i++) {
                    q[i] = uniform(query_scales[s]);
                }
                attention_head(k, out, q, keys, values, lengths[l], sizes[c], scores);
                worst = fmax(worst, difference(lengths[l], sizes[c]));
            }
        }
        OK(worst < 3e-6, "9 lengths, 4 head sizes, queries up to %d/100: off by %d e-9 at most",
           (int)(100 * query_scales[s]), (int)(worst * 1e9));
    }
}

/* The tiles' maxima ascend, so that every tile rescales what was there; then descend. */
static void test_rescaling(const struct kernels *k)
{
    for (int up = 0; up < 2; up++) {
        for (uint32_t i = 0; i < 8; i++) {
            q[i] = 20.0f;
        }
        for (uint32_t j = 0; j < MOST_N; j++) {
            for (uint32_t i = 0; i < 8; i++) {
                floats[j * 8 + i] = 0.01f * (float)(up ? j : MOST_N - j);
            }
        }
        k->convert_f16_f32(keys, floats, MOST_N * 8);
        attention_head(k, out, q, keys, values, MOST_N, 8, scores);
        OK(difference(MOST_N, 8) < 3e-6, "scores that %s over four tiles: off by %d e-9",
           up ? "ascend" : "descend", (int)(difference(MOST_N, 8) * 1e9));
    }
}

static void test_bits(const struct kernels *k)
{
    for (uint32_t i = 0; i < 8; i++) {
        q[i] = 0.0f;
    }
    out[8] = 77.0f;
    attention_head(k, out, q, keys, values, 1, 8, scores);
    OK(difference(1, 8) == 0, "one position is its value, exactly");
    OK(out[8] == 77.0f, "nothing is written behind the head");
    for (uint32_t i = 0; i < MOST_D; i++) {
        q[i] = uniform(2.0f);
    }
    attention_head(k, out, q, keys, values, 150, 64, scores);
    memset(scores, 0xff, sizeof scores);
    memset(again, 0xff, sizeof again);
    memset(keys + 150 * 64, 0xff, 64 * sizeof *keys); /* NaN in the next position */
    memset(values + 150 * 64, 0xff, 64 * sizeof *values);
    attention_head(k, again, q, keys, values, 150, 64, scores);
    OK(memcmp(out, again, 64 * sizeof(float)) == 0,
       "what work space, output and later positions held does not matter");
}

int main(void)
{
    struct kernels k;

    kernels_select(&k, CPU_ANY);
    fill(&k, keys, 1.0f);
    fill(&k, values, 1.0f);
    test_against_softmax(&k);
    test_rescaling(&k);
    fill(&k, keys, 1.0f);
    test_bits(&k);
    return tap_done();
}
