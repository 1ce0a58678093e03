/* Scores and attended values of one tile of a head, for kv_table.py, which counts the instructions.
 *
 * usage: kv_count KEYS,VALUES TIMES */
#include <stdio.h>
#include <stdlib.h>

#include "board/host/host_board.h"
#include "runtime/compute/kv_format.h"

enum { D = 64, QUERIES = 4, MOST = KV_TILE * D * 8 };

static _Alignas(64) uint8_t keys[MOST], values[MOST];
static _Alignas(64) float queries[QUERIES * D], out[QUERIES * D];
static struct block_q8 q8[QUERIES * D / KV_BLOCK];
static struct score_row rows[QUERIES];

static void fill(float *x, uint32_t seed)
{
    for (uint32_t i = 0; i < D; i++) {
        x[i] = (float)(int)((seed * 131 + i) * 2654435761u >> 16) / 65536.0f - 0.5f;
    }
}

/* Fills a tile of each; keys at once if the format wants that. */
static void put(const struct kernels *k, struct kv_types t)
{
    static _Alignas(64) float floats[KV_TILE * D], work[3 * D];
    const struct kv_format *f32 = &kv_formats[KV_F32], *f = &kv_formats[t.keys];

    for (uint32_t j = 0; j < KV_TILE; j++) {
        _Alignas(16) float x[D];

        fill(x, j);
        if (f->put_key == NULL) {
            f32->put_key(k, floats, D, j, x);
        } else {
            f->put_key(k, keys, D, j, x);
        }
        kv_formats[t.values].put_value(k, values, D, j, x);
    }
    if (f->put_key == NULL) {
        f->pack_keys(keys, D, f32, floats, work);
    }
}

int main(int argc, char **argv)
{
    struct kv_queries q = { queries, q8 };
    struct host_memory memory = { .most = 0 };
    struct machine machine;
    struct kernels k;
    struct kv_types t;

    if (argc != 3 || !kv_types_parse(argv[1], &t) || !host_machine(&machine, &memory)) {
        fputs("usage: kv_count KEYS,VALUES TIMES\n", stderr);
        return 1;
    }
    kernels_select(&k, machine.cpu_features);
    if (t.hot_tiles != 0) {
        t = kv_both(t.cold);
    }
    put(&k, t);
    for (uint32_t a = 0; a < QUERIES; a++) {
        fill(queries + (size_t)a * D, 1000 + a);
        rows[a].factor = 1.0f;
    }
    kv_quantize_q8(&k, q8, queries, QUERIES, D);
    for (int i = 0; i < atoi(argv[2]); i++) {
        kv_formats[t.keys].score(&k, rows, &q, keys, QUERIES, KV_TILE, D);
        kv_formats[t.values].accumulate(&k, out, rows, values, QUERIES, KV_TILE, D);
    }
    return 0;
}
