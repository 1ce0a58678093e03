/* Every row of the table of formats: what it returns for normal numbers, for heads of all kinds of
 * width; scores and attended values against the returned numbers, in double precision; and that a
 * tile has its size and not a byte more. */
/* This test is linked with the types of tests/bench/kv. */
#include "runtime/compute/kv_format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "board/min_max.h"
#include "runtime/compute/kv_rotate.h"
#include "tests/unit/compute/kv_round_trip.h"
#include "tests/unit/tap.h"

enum { GUARD = 64, QUERIES = 3, EDGES = 130, FEW = 16 };

/* Widths that are odd, one, below and beyond a block, those of models, and those that blocks do not
 * divide. */
static const uint32_t widths[] = { 1, 2, 6, 7, 8, 16, 33, 80, 96, 128, 130, 255, 256, 576 };
enum { WIDTHS = sizeof widths / sizeof widths[0] };

/* Narrower heads have blocks of their own or no others to share a scale with: the gate is for these
 * and wider ones. */
enum { GATED = 80 };
/* A range over positions does not give the sign of a single number. */
enum { LEAST_PACKED = 6 };
#define NARROW .01

static struct kernels k;
static float numbers[KV_TILE * ROUND_TRIP_MOST];
static uint64_t state = 88172645463325252u;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

static float normal(void)
{
    return (float)(sqrt(-2.0 * log(1.0 - uniform())) * cos(6.283185307179586 * uniform()));
}

static void fill(uint32_t d, float scale)
{
    for (size_t i = 0; i < (size_t)KV_TILE * d; i++) {
        numbers[i] = scale * normal();
    }
}

/* A tile between guards. */
static uint8_t *guarded(size_t bytes, int with)
{
    uint8_t *all = aligned_alloc(64, (bytes + 2 * GUARD + 63) / 64 * 64);

    memset(all, with, bytes + 2 * GUARD);
    return all + GUARD;
}

static unsigned count_other(const uint8_t *bytes, size_t n, int than)
{
    unsigned other = 0;

    for (size_t i = 0; i < n; i++) {
        other += bytes[i] != than;
    }
    return other;
}

static void put_all(const struct kv_format *f, uint8_t *tile, uint32_t d, bool keys)
{
    round_trip_put(&k, f, tile, d, numbers, keys);
}

/* Counts wrong bytes: those written outside a full tile, and those left inside. */
static unsigned wrong_bytes(const struct kv_format *f, uint32_t d, bool keys)
{
    size_t bytes = (keys ? f->key_bytes : f->value_bytes)(d);
    uint8_t *a = guarded(bytes, 0xa5), *b = guarded(bytes, 0x5a);
    unsigned wrong = bytes % 16 != 0;

    fill(d, 1.0f);
    put_all(f, a, d, keys);
    put_all(f, b, d, keys);
    wrong += count_other(a - GUARD, GUARD, 0xa5) + count_other(a + bytes, GUARD, 0xa5);
    for (size_t i = 0; i < bytes; i++) {
        wrong += a[i] != b[i];
    }
    free(a - GUARD);
    free(b - GUARD);
    return wrong;
}

static void test_bytes(const struct kv_format *f)
{
    unsigned wrong = 0;

    for (unsigned w = 0; w < WIDTHS; w++) {
        wrong += wrong_bytes(f, widths[w], true) + wrong_bytes(f, widths[w], false);
    }
    OK(wrong == 0, "%s: tiles have %zu and %zu bytes for heads of 128, and fill them", f->name,
       f->key_bytes(128), f->value_bytes(128));
}

/* ---- what comes back -------------------------------------------------------------------------- */

/* Returns the mean over the wide heads, which a tile alone gives to a hundredth, and the least of
 * the narrow ones. */
static void test_cosine(const struct kv_format *f)
{
    double sum = 0.0, narrow = 1.0;
    uint32_t tiles = 0, narrow_at = 0;

    for (unsigned w = 0; w < 2 * WIDTHS; w++) {
        uint32_t d = widths[w / 2];
        double cosine;

        fill(d, 1.0f);
        cosine = round_trip_cosine(&k, f, numbers, KV_TILE, d, w % 2 == 0);
        if (d >= GATED) {
            sum += cosine;
            tiles++;
        } else if (!(cosine > narrow) && (f->put_key != NULL || d >= LEAST_PACKED)) {
            narrow = cosine;
            narrow_at = d;
        }
    }
    OK(sum / tiles >= (double)f->cosine, "%s: the mean cosine of normal numbers is %.6f, gate %.6f",
       f->name, sum / tiles, (double)f->cosine);
    OK(narrow >= (double)f->cosine - NARROW, "%s: the mean cosine of narrow heads is %.6f (of %u)",
       f->name, narrow, narrow_at);
}

/* Compares a position as get returns it with the scores and attended values of it, and returns the
 * worst difference over the largest number. The values that get writes beyond the head are
 * infinite. */
static double get_error(const struct kv_format *f, const uint8_t *tile, const float *reference,
                        uint32_t d, bool keys)
{
    static float one[ROUND_TRIP_MOST + 1];
    double worst = 0, largest = 1e-20;

    for (uint32_t j = 0; j < KV_TILE; j++) {
        one[d] = 77.0f;
        (keys ? f->get_key : f->get_value)(tile, d, j, one);
        for (uint32_t i = 0; i < d; i++) {
            double x = (double)reference[(size_t)j * d + i];

            worst = fmax(worst, fabs(x - (double)one[i]));
            largest = fmax(largest, fabs(x));
        }
        worst = one[d] == 77.0f ? worst : INFINITY;
    }
    return worst / largest;
}

static void test_get(const struct kv_format *f)
{
    static float reference[KV_TILE * ROUND_TRIP_MOST];
    double worst = 0;

    for (unsigned w = 0; w < 2 * WIDTHS; w++) {
        uint32_t d = widths[w / 2];
        bool keys = w % 2 == 0;
        size_t bytes = (keys ? f->key_bytes : f->value_bytes)(d);
        uint8_t *tile = guarded(bytes, 0xff);

        fill(d, 1.0f);
        put_all(f, tile, d, keys);
        (keys ? round_trip_keys : round_trip_values)(&k, f, reference, tile, KV_TILE, d);
        worst = fmax(worst, get_error(f, tile, reference, d, keys));
        free(tile - GUARD);
    }
    OK(worst < 1e-6, "%s: get_key and get_value are off by %.2g at most", f->name, worst);
}

/* Nothing but zeros, equal numbers, very large and very small ones: finite numbers come back, and
 * zeros stay zeros. */
static void test_edges(const struct kv_format *f)
{
    static const float scales[] = { 0.0f, 1e-30f, 1e-6f, 1e4f };
    unsigned wrong = 0;

    for (unsigned w = 0; w < WIDTHS && widths[w] <= EDGES; w++) {
        for (unsigned s = 0; s < 5; s++) {
            fill(widths[w], s < 4 ? scales[s] : 0.0f);
            for (size_t i = 0; s == 4 && i < (size_t)KV_TILE * widths[w]; i++) {
                numbers[i] = -3.0f;
            }
            for (int keys = 0; keys < 2; keys++) {
                double cosine = round_trip_cosine(&k, f, numbers, FEW, widths[w], keys != 0);

                wrong += !isfinite(cosine) || (s == 0 && cosine != 1.0);
            }
        }
    }
    OK(wrong == 0, "%s: zeros, equal numbers, large and small ones come back", f->name);
}

/* ---- scores, attended values --------------------------------------------------------------------- */

static float queries[QUERIES * ROUND_TRIP_MOST + 1];
static float back[KV_TILE * ROUND_TRIP_MOST];
static struct block_q8 q8[QUERIES * (ROUND_TRIP_MOST / 32 + 1)];
static struct score_row rows[QUERIES];

/* Returns number i of query a, as the format reads it. */
static double asked(const struct kv_format *f, uint32_t d, size_t a, size_t i)
{
    const struct block_q8 *b = &q8[a * kv_blocks(d) + i / KV_BLOCK];

    return f->integer_query ? (double)b->d * b->q[i % KV_BLOCK] : (double)queries[a * d + i];
}

/* Returns the largest difference of n positions' scores from the sums in double precision, over the
 * lengths of query and key. */
static double score_error(const struct kv_format *f, const uint8_t *tile, uint32_t d, uint32_t n)
{
    struct kv_queries q = { queries, q8 };
    double worst = 0;

    kv_quantize_q8(&k, q8, queries, QUERIES, d);
    f->score(&k, rows, &q, tile, QUERIES, n, d);
    for (size_t a = 0; a < QUERIES; a++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0, length_q = 0, length_k = 0;

            for (size_t i = 0; i < d; i++) {
                double x = asked(f, d, a, i), y = (double)back[j * d + i];

                sum += x * y;
                length_q += x * x;
                length_k += y * y;
            }
            worst = fmax(worst,
                         fabs(sum - (double)rows[a].s[j]) / (sqrt(length_q * length_k) + 1e-20));
        }
    }
    return worst;
}

static double accumulate_error(const struct kv_format *f, const uint8_t *tile, uint32_t d,
                               uint32_t n)
{
    static float o[QUERIES * ROUND_TRIP_MOST + 1];
    double worst = 0;

    for (size_t i = 0; i < QUERIES * d; i++) {
        o[i] = queries[i];
    }
    o[QUERIES * d] = 77.0f;
    for (size_t a = 0; a < QUERIES; a++) {
        rows[a].factor = 0.5f;
        for (size_t j = 0; j < KV_TILE; j++) {
            rows[a].s[j] = j < n ? (float)uniform() : 0.0f; /* as the softmax leaves them */
        }
    }
    f->accumulate(&k, o, rows, tile, QUERIES, n, d);
    for (size_t i = 0; i < QUERIES * d; i++) {
        double sum = 0.5 * (double)queries[i];

        for (size_t j = 0; j < n; j++) {
            sum += (double)rows[i / d].s[j] * (double)back[j * d + i % d];
        }
        worst = fmax(worst, fabs(sum - (double)o[i]) / (1.0 + n));
    }
    return o[QUERIES * d] == 77.0f ? worst : INFINITY;
}

/* Weights become int8 (kv_format_quantized.h). */
static bool rounds_weights(const struct kv_format *f)
{
    return f->rotated || f == &kv_formats[KV_UNIFORM_4B] || f == &kv_formats[KV_KIVI];
}

static void test_products(const struct kv_format *f)
{
    static const uint32_t lengths[] = { 0, 1, 16, 33, 48, 64 };
    double score = 0, accumulate = 0;

    for (unsigned w = 0; w < WIDTHS; w++) {
        uint32_t d = widths[w];
        uint8_t *tile = guarded(max_size(f->key_bytes(d), f->value_bytes(d)), 0xff);

        for (size_t i = 0; i < QUERIES * d; i++) {
            queries[i] = normal();
        }
        fill(d, 1.0f);
        put_all(f, tile, d, true);
        round_trip_keys(&k, f, back, tile, KV_TILE, d);
        for (unsigned l = 0; l < 6; l++) {
            if (lengths[l] % 16 == 0) {
                score = fmax(score, score_error(f, tile, d, lengths[l]));
            }
        }
        put_all(f, tile, d, false);
        round_trip_values(&k, f, back, tile, KV_TILE, d);
        for (unsigned l = 0; l < 6; l++) {
            accumulate = fmax(accumulate, accumulate_error(f, tile, d, lengths[l]));
        }
        free(tile - GUARD);
    }
    OK(score < (f->put_key == NULL ? 2e-2 : 2e-6), "%s: scores are off by %.2g at most", f->name,
       score);
    OK(accumulate < (rounds_weights(f) ? 4e-3 : 2e-6),
       "%s: attended values are off by %.2g at most", f->name, accumulate);
}

/* ---- names ------------------------------------------------------------------------------------ */

static void test_names(uint8_t type)
{
    struct kv_types both, apart;
    char text[KV_TYPES_NAME_BYTES], name[KV_TYPES_NAME_BYTES];

    snprintf(text, sizeof text, "f16,%s", kv_formats[type].name);
    OK(kv_types_parse(kv_formats[type].name, &both) && both.keys == type && both.values == type &&
           kv_types_parse(text, &apart) && apart.keys == KV_F16 && apart.values == type &&
           (type == KV_F16 || strcmp(kv_types_name(apart, name), text) == 0),
       "kv=%s and kv=%s are read", kv_formats[type].name, text);
}

/* For tiers alone. */
static void test_no_name(const struct kv_format *f)
{
    struct kv_types types;
    char text[KV_TYPES_NAME_BYTES];

    snprintf(text, sizeof text, "f16,%s", f->name);
    OK(!kv_types_parse(f->name, &types) && !kv_types_parse(text, &types) && f->pack_keys != NULL,
       "kv=%s is refused", f->name);
}

int main(void)
{
    unsigned n = 0;

    kernels_select(&k, CPU_ANY);
    for (uint8_t type = 0; type < KV_N_NUMBERS; type++) {
        const struct kv_format *f = &kv_formats[type];

        if (f->name == NULL) {
            continue;
        }
        n++;
        if (f->put_key != NULL) {
            test_names(type);
        } else {
            test_no_name(f);
        }
        test_bytes(f);
        test_cosine(f);
        test_get(f);
        test_edges(f);
        test_products(f);
    }
    OK(n >= 11, "there are %u formats", n);
    return tap_done();
}
