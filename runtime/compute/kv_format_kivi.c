#include "runtime/compute/kv_format_kivi.h"
#include "board/min_max.h"
#include "kernels/ref/scalar.h"
#include "runtime/compute/kv_format_quantized.h"

#include <math.h>
#include <string.h>

enum {
    BLOCKS = 64, /* blocks of queries that are rounded together before the kernel runs */
    BF16_ONE = 0x3f80
};

static uint32_t padded(uint32_t d)
{
    return kv_blocks(d) * KV_BLOCK;
}

static uint16_t *scales_of(void *tile, uint32_t d)
{
    return (uint16_t *)((float *)tile + padded(d));
}

static uint8_t *quants_of(void *tile, uint32_t d)
{
    return (uint8_t *)(scales_of(tile, d) + padded(d)) + sizeof(uint16_t) * kv_blocks(d) * KV_TILE;
}

size_t kv_key_bytes_kivi(uint32_t d)
{
    return padded(d) * (sizeof(float) + sizeof(uint16_t)) + kv_key_bytes_q4(d);
}

/* ---- packing --------------------------------------------------------------------------------- */

/* Find each dimension's least and largest number. work (3, d). */
static void find_ranges(float *work, uint32_t d, const struct kv_format *from, const void *keys)
{
    float *least = work, *most = work + d, *x = work + 2 * (size_t)d;

    for (uint32_t j = 0; j < KV_TILE; j++) {
        from->get_key(keys, d, j, x);
        for (uint32_t i = 0; i < d; i++) {
            least[i] = j == 0 ? x[i] : min_float(least[i], x[i]);
            most[i] = j == 0 ? x[i] : max_float(most[i], x[i]);
        }
    }
}

/* Divide each dimension's range, from its least number to its largest, into 16 steps. The padding
 * has middles and scales of 0. */
static void set_ranges(void *tile, uint32_t d, const float *work)
{
    float *middles = tile;
    uint16_t *scales = scales_of(tile, d), *ones = scales + padded(d);

    memset(tile, 0, padded(d) * (sizeof *middles + sizeof *scales));
    for (uint32_t i = 0; i < d; i++) {
        float least = work[i], scale = (work[d + i] - least) / 16.0f;

        scale = scale < 0x1p-100f ? 0.0f : scale;
        scales[i] = bf16_from_f32(scale);
        middles[i] = least + 8.5f * scale;
    }
    for (size_t i = 0; i < (size_t)kv_blocks(d) * KV_TILE; i++) {
        ones[i] = BF16_ONE;
    }
}

static uint32_t round_one(const void *tile, uint32_t d, uint32_t i, float x)
{
    float scale = f32_from_bf16(scales_of((void *)(uintptr_t)tile, d)[i]);
    float inverse = scale == 0.0f ? 0.0f : 1.0f / scale;

    return (uint32_t)kv_nearest((x - ((const float *)tile)[i]) * inverse, -8.0f, 7.0f) & 15u;
}

static void put(void *tile, uint32_t d, uint32_t j, const float *x)
{
    uint8_t *quants = quants_of(tile, d) + (size_t)j * 2;

    for (uint32_t i = 0; i < d; i++) {
        uint8_t *byte = quants + (size_t)i / 4 * 2 * KV_TILE + i % 2;

        *byte = (uint8_t)(*byte | round_one(tile, d, i, x[i]) << (i % 4 >= 2 ? 4 : 0));
    }
}

void kv_pack_keys_kivi(void *tile, uint32_t d, const struct kv_format *from, const void *keys,
                       float *work)
{
    find_ranges(work, d, from, keys);
    set_ranges(tile, d, work);
    memset(quants_of(tile, d), 0, (size_t)padded(d) * KV_TILE / 2);
    for (uint32_t j = 0; j < KV_TILE; j++) {
        from->get_key(keys, d, j, work);
        put(tile, d, j, work);
    }
}

static float number(const void *tile, uint32_t d, uint32_t i, uint32_t j)
{
    void *t = (void *)(uintptr_t)tile;
    uint8_t byte = quants_of(t, d)[((size_t)i / 4 * KV_TILE + j) * 2 + i % 2];
    uint32_t half = i % 4 >= 2 ? byte >> 4 : byte & 15u;

    return fmaf((float)(half ^ 8u) - 8.0f, f32_from_bf16(scales_of(t, d)[i]),
                ((const float *)tile)[i]);
}

void kv_get_key_kivi(const void *tile, uint32_t d, uint32_t j, float *x)
{
    for (uint32_t i = 0; i < d; i++) {
        x[i] = number(tile, d, i, j);
    }
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* Multiply a row of queries by the scales and round it to int8; returns the middles' part of
 * q.k. */
static float fold(const struct kernels *k, struct block_q8 *to, const float *q, const void *tile,
                  uint32_t d)
{
    const float *middles = tile;
    const uint16_t *scales = (const uint16_t *)(middles + padded(d));
    float sum = 0.0f;

    for (uint32_t at = 0; at < d; at += KV_BLOCK, to++) {
        _Alignas(16) float x[KV_BLOCK] = { 0 };

        for (uint32_t i = at; i < min_u32(d, at + KV_BLOCK); i++) {
            x[i - at] = q[i] * f32_from_bf16(scales[i]);
            sum = fmaf(q[i], middles[i], sum);
        }
        k->quantize_q8_f32(to, x, KV_BLOCK);
    }
    return sum;
}

/* Compute the scores of heads that have more than BLOCKS blocks. */
static void score_wide(struct score_row *s, const float *q, const void *keys, size_t n, uint32_t d)
{
    for (uint32_t j = 0; j < n; j++) {
        s->s[j] = 0.0f;
        for (uint32_t i = 0; i < d; i++) {
            s->s[j] = fmaf(q[i], number(keys, d, i, j), s->s[j]);
        }
    }
}

void kv_score_kivi(const struct kernels *k, struct score_row *s, const struct kv_queries *q,
                   const void *keys, size_t n_q, size_t n, size_t d)
{
    struct block_q8 rows[BLOCKS];
    float sums[BLOCKS];
    uint32_t width = (uint32_t)d, n_blocks = kv_blocks(width), at_once = BLOCKS / n_blocks;
    const uint16_t *quants = (const uint16_t *)((const float *)keys + padded(width)) +
                             padded(width);

    for (size_t a = 0; a < n_q && at_once == 0; a++) {
        score_wide(&s[a], q->f32 + a * d, keys, n, width);
    }
    for (size_t a = 0; a < n_q && at_once != 0; a += at_once) {
        size_t n_rows = min_size(n_q - a, at_once);

        for (size_t r = 0; r < n_rows; r++) {
            sums[r] = fold(k, rows + r * n_blocks, q->f32 + (a + r) * d, keys, width);
        }
        k->score_f32_q4(s + a, rows, quants, n_rows, n, padded(width));
        for (size_t r = 0; r < n_rows; r++) {
            for (size_t j = 0; j < n; j++) {
                s[a + r].s[j] += sums[r];
            }
        }
    }
}
