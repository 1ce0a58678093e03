/* Reads a tile's keys and values back, for tests of the table of formats: keys by the scores of
 * unit vectors, values by attending one position. */
#ifndef INGOT_TESTS_UNIT_COMPUTE_KV_ROUND_TRIP_H
#define INGOT_TESTS_UNIT_COMPUTE_KV_ROUND_TRIP_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compute/kv_format.h"
#include "runtime/compute/kv_rotate.h"

enum { ROUND_TRIP_MOST = 576, AT_ONCE = 32 };

/* Reads the keys of a tile to back (n, d); positions beyond n need not have been put. */
static inline void round_trip_keys(const struct kernels *k, const struct kv_format *f, float *back,
                                   const void *tile, uint32_t n, uint32_t d)
{
    static _Alignas(64) float units[AT_ONCE * ROUND_TRIP_MOST];
    static struct block_q8 q8[AT_ONCE * (ROUND_TRIP_MOST / KV_BLOCK + 1)];
    static struct score_row rows[AT_ONCE];
    struct kv_queries q = { units, q8 };

    for (uint32_t i = 0; i < d; i += AT_ONCE) {
        uint32_t n_units = d - i < AT_ONCE ? d - i : AT_ONCE;

        memset(units, 0, sizeof units);
        for (uint32_t u = 0; u < n_units; u++) {
            units[u * d + i + u] = 1.0f;
        }
        kv_quantize_q8(k, q8, units, n_units, d);
        f->score(k, rows, &q, tile, n_units, (n + 15) / 16 * 16, d);
        for (uint32_t j = 0; j < n * n_units; j++) {
            back[(size_t)(j / n_units) * d + i + j % n_units] = rows[j % n_units].s[j / n_units];
        }
    }
}

/* The same for values. */
static inline void round_trip_values(const struct kernels *k, const struct kv_format *f,
                                     float *back, const void *tile, uint32_t n, uint32_t d)
{
    static struct score_row rows[KV_TILE];

    memset(back, 0, (size_t)n * d * sizeof *back);
    for (uint32_t j = 0; j < n; j++) {
        rows[j].factor = 1.0f;
        memset(rows[j].s, 0, sizeof rows[j].s);
        rows[j].s[j] = 1.0f;
    }
    f->accumulate(k, back, rows, tile, n, n, d);
}

static inline double cosine_of(const float *x, const float *y, uint32_t d)
{
    double xy = 0, xx = 0, yy = 0;

    for (uint32_t i = 0; i < d; i++) {
        xy += (double)x[i] * (double)y[i];
        xx += (double)x[i] * (double)x[i];
        yy += (double)y[i] * (double)y[i];
    }
    if (xx <= 0 || !isfinite(yy)) { /* of nothing nothing comes back */
        return yy <= 0 ? 1.0 : NAN;
    }
    return yy <= 0 ? 0.0 : xy / sqrt(xx * yy);
}

/* Fills a tile with keys or values x (KV_TILE, d), at once if the format wants that. */
static inline void round_trip_put(const struct kernels *k, const struct kv_format *f, void *tile,
                                  uint32_t d, const float *x, bool keys)
{
    static _Alignas(64) float one[ROUND_TRIP_MOST], work[3 * ROUND_TRIP_MOST];
    static _Alignas(64) float floats[KV_TILE * ROUND_TRIP_MOST];
    const struct kv_format *f32 = &kv_formats[KV_F32], *to = f;

    if (keys && f->put_key == NULL)
        to = f32;
    for (uint32_t j = 0; j < KV_TILE; j++) {
        memcpy(one, x + (size_t)j * d, d * sizeof *one);
        (keys ? to->put_key : to->put_value)(k, to == f ? tile : floats, d, j, one);
    }
    if (to != f)
        f->pack_keys(tile, d, f32, floats, work);
}

/* Returns the mean cosine between x (n, d), n <= KV_TILE, and what comes back of it as keys or as
 * values, rotated and back if the format wants that. */
static inline double round_trip_cosine(const struct kernels *k, const struct kv_format *f,
                                       const float *x, uint32_t n, uint32_t d, bool keys)
{
    static float back[KV_TILE * ROUND_TRIP_MOST];
    static float all[KV_TILE * ROUND_TRIP_MOST];
    size_t bytes = (keys ? f->key_bytes : f->value_bytes)(d);
    void *tile = aligned_alloc(64, (bytes + 63) / 64 * 64);
    uint32_t block = f->rotated ? kv_rotation(d) : 1;
    double sum = 0;

    memset(tile, 0, bytes);
    for (uint32_t j = 0; j < KV_TILE; j++) {
        memcpy(all + (size_t)j * d, x + (size_t)(j % n) * d, d * sizeof *all);
    }
    kv_rotate(all, KV_TILE, d, block);
    round_trip_put(k, f, tile, d, all, keys);
    (keys ? round_trip_keys : round_trip_values)(k, f, back, tile, n, d);
    kv_rotate(back, n, d, block);
    for (uint32_t j = 0; j < n; j++) {
        sum += cosine_of(x + (size_t)j * d, back + (size_t)j * d, d);
    }
    free(tile);
    return sum / n;
}

#endif
