#include "runtime/compute/kv_format.h"
#include "board/min_max.h"
#include "runtime/compute/kv_format_get.h"
#include "runtime/compute/kv_format_kivi.h"
#include "runtime/compute/kv_format_quantized.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 64 }; /* dimensions of a key that are converted at a time */

/* ---- f16: keys (d, KV_TILE), values (KV_TILE, d) -------------------------------------------- */

static size_t bytes_f16(uint32_t d)
{
    return (size_t)KV_TILE * d * sizeof(uint16_t);
}

static void put_key_f16(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x)
{
    uint16_t *keys = tile, halves[AT_ONCE];

    for (uint32_t at = 0; at < d; at += AT_ONCE) {
        uint32_t n = min_u32(d - at, AT_ONCE);
        uint16_t *column = keys + (size_t)at * KV_TILE + j;

        k->convert_f16_f32(halves, x + at, n);
        for (uint32_t i = 0; i < n; i++) {
            column[(size_t)i * KV_TILE] = halves[i];
        }
    }
}

static void put_value_f16(const struct kernels *k, void *tile, uint32_t d, uint32_t j,
                          const float *x)
{
    k->convert_f16_f32((uint16_t *)tile + (size_t)j * d, x, d);
}

static void score_f16(const struct kernels *k, struct score_row *s, const struct kv_queries *q,
                      const void *keys, size_t n_q, size_t n, size_t d)
{
    k->score_f32_f16(s, q->f32, keys, n_q, n, d);
}

static void accumulate_f16(const struct kernels *k, float *o, const struct score_row *s,
                           const void *values, size_t n_q, size_t n, size_t d)
{
    k->accumulate_f32_f16(o, s, values, n_q, n, d);
}

/* ---- f32, laid out as f16 -------------------------------------------------------------------- */

static size_t bytes_f32(uint32_t d)
{
    return (size_t)KV_TILE * d * sizeof(float);
}

static void put_key_f32(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x)
{
    float *keys = tile;

    (void)k;
    for (uint32_t i = 0; i < d; i++) {
        keys[(size_t)i * KV_TILE + j] = x[i];
    }
}

static void put_value_f32(const struct kernels *k, void *tile, uint32_t d, uint32_t j,
                          const float *x)
{
    (void)k;
    memcpy((float *)tile + (size_t)j * d, x, d * sizeof *x);
}

static void score_f32(const struct kernels *k, struct score_row *s, const struct kv_queries *q,
                      const void *tile, size_t n_q, size_t n, size_t d)
{
    const float *keys = tile, *row = q->f32;

    (void)k;
    for (size_t a = 0; a < n_q; a++, row += d) {
        memset(s[a].s, 0, sizeof s[a].s);
        for (size_t i = 0; i < d; i++) {
            for (size_t j = 0; j < n; j++) {
                s[a].s[j] = fmaf(row[i], keys[i * KV_TILE + j], s[a].s[j]);
            }
        }
    }
}

static void accumulate_f32(const struct kernels *k, float *o, const struct score_row *s,
                           const void *tile, size_t n_q, size_t n, size_t d)
{
    const float *values = tile;

    (void)k;
    for (size_t a = 0; a < n_q; a++, o += d) {
        for (size_t i = 0; i < d; i++) {
            o[i] *= s[a].factor;
        }
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < d; i++) {
                o[i] = fmaf(s[a].s[j], values[j * d + i], o[i]);
            }
        }
    }
}

/* ---- q8: laid out in whole blocks as in kernels.h -------------------------------------------- */

const float *kv_block(const float *x, uint32_t d, uint32_t b, float room[KV_BLOCK])
{
    uint32_t at = b * KV_BLOCK, n = min_u32(d - at, KV_BLOCK);

    if (d % KV_BLOCK == 0) {
        return x + at;
    }
    memset(room, 0, KV_BLOCK * sizeof *room);
    memcpy(room, x + at, n * sizeof *room);
    return room;
}

void kv_quantize_q8(const struct kernels *k, struct block_q8 *q8, const float *x, uint32_t n,
                    uint32_t d)
{
    _Alignas(16) float room[KV_BLOCK];

    if (d % KV_BLOCK == 0) {
        k->quantize_q8_f32(q8, x, (size_t)n * d);
        return;
    }
    for (uint32_t row = 0; row < n; row++) {
        for (uint32_t b = 0; b < kv_blocks(d); b++, q8++) {
            k->quantize_q8_f32(q8, kv_block(x + (size_t)row * d, d, b, room), KV_BLOCK);
        }
    }
}

static size_t bytes_q8(uint32_t d)
{
    return KV_TILE * kv_blocks(d) * (KV_BLOCK + sizeof(float));
}

static void put_key_q8(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x)
{
    float *scales = tile;
    uint32_t n_blocks = kv_blocks(d);
    uint8_t *quants = (uint8_t *)tile + (size_t)n_blocks * KV_TILE * sizeof(float) + (size_t)j * 4;

    for (uint32_t b = 0; b < n_blocks; b++) {
        _Alignas(16) float room[KV_BLOCK];
        struct block_q8 block;

        k->quantize_q8_f32(&block, kv_block(x, d, b, room), KV_BLOCK);
        scales[(size_t)b * KV_TILE + j] = block.d;
        for (uint32_t i = 0; i < KV_BLOCK; i += 4, quants += (size_t)KV_TILE * 4) {
            memcpy(quants, block.q + i, 4);
        }
    }
}

static void put_value_q8(const struct kernels *k, void *tile, uint32_t d, uint32_t j,
                         const float *x)
{
    uint32_t n_blocks = kv_blocks(d);
    float *scales = (float *)tile + (size_t)j * n_blocks;
    uint8_t *quants = (uint8_t *)tile + (size_t)n_blocks * KV_TILE * sizeof(float) +
                      (size_t)j * n_blocks * KV_BLOCK;

    for (uint32_t b = 0; b < n_blocks; b++) {
        _Alignas(16) float room[KV_BLOCK];
        struct block_q8 block;

        k->quantize_q8_f32(&block, kv_block(x, d, b, room), KV_BLOCK);
        scales[b] = block.d;
        memcpy(quants + (size_t)b * KV_BLOCK, block.q, KV_BLOCK);
    }
}

static void score_q8(const struct kernels *k, struct score_row *s, const struct kv_queries *q,
                     const void *keys, size_t n_q, size_t n, size_t d)
{
    k->score_f32_q8(s, q->q8, keys, n_q, n, (size_t)kv_blocks((uint32_t)d) * KV_BLOCK);
}

/* Like accumulate_f32_q8, for heads whose last block is not full. */
static void accumulate_ragged_q8(float *o, const struct score_row *s, const void *tile, size_t n_q,
                                 size_t n, size_t d)
{
    size_t n_blocks = kv_blocks((uint32_t)d);
    const float *scales = tile;
    const int8_t *values = (const int8_t *)(scales + n_blocks * KV_TILE);

    for (size_t a = 0; a < n_q; a++, o += d) {
        for (size_t i = 0; i < d; i++) {
            o[i] *= s[a].factor;
        }
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < d; i++) {
                float weight = s[a].s[j] * scales[j * n_blocks + i / KV_BLOCK];

                o[i] = fmaf(weight, (float)values[j * n_blocks * KV_BLOCK + i], o[i]);
            }
        }
    }
}

static void accumulate_q8(const struct kernels *k, float *o, const struct score_row *s,
                          const void *values, size_t n_q, size_t n, size_t d)
{
    if (d % KV_BLOCK == 0) {
        k->accumulate_f32_q8(o, s, values, n_q, n, d);
    } else {
        accumulate_ragged_q8(o, s, values, n_q, n, d);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

#define KV_FUNCTIONS_F16 \
    bytes_f16, bytes_f16, put_key_f16, put_value_f16, NULL, kv_get_key_f16, kv_get_value_f16, \
        score_f16, accumulate_f16
#define KV_FUNCTIONS_Q8 \
    bytes_q8, bytes_q8, put_key_q8, put_value_q8, NULL, kv_get_key_q8, kv_get_value_q8, score_q8, \
        accumulate_q8
#define KV_FUNCTIONS_F32 \
    bytes_f32, bytes_f32, put_key_f32, put_value_f32, NULL, kv_get_key_f32, kv_get_value_f32, \
        score_f32, accumulate_f32
#define KV_FUNCTIONS_ROT_Q8 \
    bytes_q8, kv_value_bytes_q8, put_key_q8, kv_put_value_q8, NULL, kv_get_key_q8, \
        kv_get_value_rot_q8, score_q8, kv_accumulate_q8
#define KV_FUNCTIONS_ROT_Q4 \
    kv_key_bytes_q4, kv_value_bytes_q4, kv_put_key_q4, kv_put_value_q4, NULL, kv_get_key_q4, \
        kv_get_value_q4, kv_score_q4, kv_accumulate_q4
#define KV_FUNCTIONS_UNIFORM_4B \
    kv_key_bytes_uniform, kv_value_bytes_uniform, kv_put_key_uniform, kv_put_value_uniform, NULL, \
        kv_get_key_uniform, kv_get_value_uniform, kv_score_uniform, kv_accumulate_uniform
#define KV_FUNCTIONS_KIVI \
    kv_key_bytes_kivi, kv_value_bytes_uniform, NULL, kv_put_value_uniform, kv_pack_keys_kivi, \
        kv_get_key_kivi, kv_get_value_uniform, kv_score_kivi, kv_accumulate_uniform

#define AS_IS false
#define ROTATED true
#define FLOATS false
#define INTEGER true
const struct kv_format kv_formats[KV_N_NUMBERS] = {
#define KV_TYPE(NAME, number, name, block, rotated, query, cosine) \
    [KV_##NAME] = { #name, block, rotated, query, cosine, KV_FUNCTIONS_##NAME },
#include "flash_image/format/kv_types.def"
#ifdef KV_MORE_ROWS /* additional rows for the measurements of tests/bench/kv/kv_formats.c */
#include KV_MORE_ROWS
#endif
};
