#include "runtime/compute/kv_format_quantized.h"
#include "board/min_max.h"
#include "kernels/ref/scalar.h"

#include <string.h>

enum {
    MOST_BLOCK = 64, /* values that share a scale */
    AT_ONCE = 64,    /* blocks of weights that are prepared together before the kernel runs */
};

/* Return how many numbers are stored for a head of width d, including the padding. */
static uint32_t padded(uint32_t d)
{
    return kv_blocks(d) * KV_BLOCK;
}

static size_t at_most(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- rounding -------------------------------------------------------------------------------- */

/* Return the number with the largest magnitude; if several are equal, the first of them. */
static float largest(const float *x, uint32_t n)
{
    float most = 0.0f;

    for (uint32_t i = 0; i < n; i++) {
        most = fabsf(x[i]) > fabsf(most) ? x[i] : most;
    }
    /* Smaller numbers count as zero, because their inverse would overflow. */
    return fabsf(most) < 0x1p-100f ? 0.0f : most;
}

/* Round n numbers, divided by the scale, to integers from -8 to 7. */
static void round_q4(int8_t *q, const float *x, uint32_t n, float scale)
{
    float inverse = scale == 0.0f ? 0.0f : 1.0f / scale;

    for (uint32_t i = 0; i < n; i++) {
        q[i] = (int8_t)kv_nearest(x[i] * inverse, -8.0f, 7.0f);
    }
}

static void round_q8(int8_t *q, const float *x, uint32_t n, float scale)
{
    float inverse = scale == 0.0f ? 0.0f : 1.0f / scale;

    for (uint32_t i = 0; i < n; i++) {
        q[i] = (int8_t)kv_nearest(x[i] * inverse, -127.0f, 127.0f);
    }
}

/* Find the scale of x (n); it may be negative. There are two candidates: the number of largest
 * magnitude becomes -8 or -7 steps, x is rounded to integers q, and least squares then give the
 * scale for q. Take the candidate with the smaller error, |x|^2 - (x q)^2 / |q|^2. */
static float fit_least_squares(const float *x, uint32_t n)
{
    float most = largest(x, n), best = 0.0f, scale = 0.0f;

    for (int32_t steps = 8; steps >= 7 && fabsf(most) > 0.0f; steps--) {
        float inverse = (float)-steps / most, xq = 0.0f, qq = 0.0f;

        /* The sums are in units of the step, so that no square can overflow. */
        for (uint32_t i = 0; i < n; i++) {
            float q = (float)kv_nearest(x[i] * inverse, -8.0f, 7.0f);

            xq += x[i] * inverse * q;
            qq += q * q;
        }
        /* The larger this quotient is, the smaller is the error. */
        if (xq * xq / (qq * (float)(steps * steps)) > best) {
            best = xq * xq / (qq * (float)(steps * steps));
            scale = xq / qq / inverse;
        }
    }
    return scale;
}

/* Find the scale of x (n). With a middle, x becomes its difference from the middle, so that 16
 * steps span the least to the largest number: x ~ least + (q + 8 + 1/2) scale. */
static float fit(float *x, uint32_t n, float *middle)
{
    float least = x[0], most = x[0], scale;

    if (middle == NULL) {
        return fit_least_squares(x, n);
    }
    for (uint32_t i = 1; i < n; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    /* The range has 16 steps; a stored number stands for the middle of its step. */
    scale = (most - least) / 16.0f;
    scale = scale < 0x1p-100f ? 0.0f : scale;
    *middle = least + 8.5f * scale;
    for (uint32_t i = 0; i < n; i++) {
        x[i] -= *middle;
    }
    return scale;
}

/* Write the lower or the upper half of a byte. */
static void put_half(uint8_t *byte, bool upper, int8_t q)
{
    unsigned half = (uint8_t)q & 15u;

    *byte = (uint8_t)(upper ? (*byte & 15u) | half << 4 : (*byte & 0xf0u) | half);
}

/* ---- keys of four bits ----------------------------------------------------------------------- */

size_t kv_key_bytes_q4(uint32_t d)
{
    return (size_t)KV_TILE * kv_blocks(d) * (sizeof(uint16_t) + KV_BLOCK / 2);
}

/* With `middles` (KV_TILE per block), the differences to these are rounded. */
static void put_key(void *tile, float *middles, uint32_t d, uint32_t j, const float *x)
{
    uint16_t *scales = tile;
    uint32_t n_blocks = kv_blocks(d);
    uint8_t *keys = (uint8_t *)(scales + (size_t)n_blocks * KV_TILE) + (size_t)j * 2;

    for (uint32_t b = 0; b < n_blocks; b++) {
        size_t place = (size_t)b * KV_TILE + j;
        _Alignas(16) float room[KV_BLOCK];
        float y[KV_BLOCK];
        int8_t q[KV_BLOCK];

        /* Copy the block, because the middle is subtracted from it. */
        memcpy(y, kv_block(x, d, b, room), sizeof y);
        scales[place] = bf16_from_f32(fit(y, KV_BLOCK, middles == NULL ? NULL : middles + place));
        round_q4(q, y, KV_BLOCK, f32_from_bf16(scales[place]));
        /* Two bytes hold four dimensions of a position; adjacent positions are lanes. */
        for (uint32_t i = 0; i < KV_BLOCK; i += 4, keys += 2 * KV_TILE) {
            for (uint32_t c = 0; c < 4; c++) {
                put_half(&keys[c % 2], c >= 2, q[i + c]);
            }
        }
    }
}

void kv_put_key_q4(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x)
{
    (void)k;
    put_key(tile, NULL, d, j, x);
}

void kv_score_q4(const struct kernels *k, struct score_row *s, const struct kv_queries *q,
                 const void *keys, size_t n_q, size_t n, size_t d)
{
    k->score_f32_q4(s, q->q8, keys, n_q, n, padded((uint32_t)d));
}

/* ---- values ---------------------------------------------------------------------------------- */

static size_t value_bytes(uint32_t d, size_t bits)
{
    size_t width = padded(d), block = kv_values_block(width);

    return width / block * KV_TILE * sizeof(float) + width * KV_TILE * bits / 8;
}

size_t kv_value_bytes_q4(uint32_t d)
{
    return value_bytes(d, 4);
}

size_t kv_value_bytes_q8(uint32_t d)
{
    return value_bytes(d, 8);
}

/* Return block b of a head's value, padded with zeros. */
static const float *value_block(const float *x, uint32_t d, uint32_t b, uint32_t block,
                                float room[MOST_BLOCK])
{
    uint32_t at = b * block, n = min_u32(d - at, block);

    if (n == block) {
        return x + at;
    }
    memset(room, 0, block * sizeof *room);
    memcpy(room, x + at, n * sizeof *room);
    return room;
}

/* Clear the blocks at the start of a tile. Positions that are not written yet get weights of 0,
 * and scales of 0 too, so that old memory cannot give a NaN. */
static uint8_t *begin_value(float *scales, uint32_t width, uint32_t j)
{
    size_t n = width / kv_values_block(width) * KV_TILE;

    if (j == 0) {
        memset(scales, 0, n * sizeof *scales);
    }
    return (uint8_t *)(scales + n);
}

static void put_value(void *tile, float *middles, uint32_t d, uint32_t j, const float *x)
{
    uint32_t width = padded(d), block = (uint32_t)kv_values_block(width);
    float *scales = tile;
    uint8_t *values = begin_value(scales, width, j) + (size_t)j / 4 * 2 * block + j % 2;

    for (uint32_t b = 0; b < width / block; b++, values += (size_t)block * KV_TILE / 2) {
        size_t place = (size_t)b * KV_TILE + j;
        float room[MOST_BLOCK], y[MOST_BLOCK];
        int8_t q[MOST_BLOCK];

        memcpy(y, value_block(x, d, b, block, room), block * sizeof *y);
        /* There is a scale for each block of dimensions at each position. */
        scales[place] = fit(y, block, middles == NULL ? NULL : middles + place);
        round_q4(q, y, block, scales[place]);
        for (uint32_t i = 0; i < block; i++) {
            /* Four positions share two bytes of a dimension. */
            put_half(&values[2 * i], j % 4 >= 2, q[i]);
        }
    }
}

void kv_put_value_q4(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x)
{
    (void)k;
    put_value(tile, NULL, d, j, x);
}

void kv_put_value_q8(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x)
{
    uint32_t width = padded(d), block = (uint32_t)kv_values_block(width);
    float *scales = tile;
    uint8_t *values = begin_value(scales, width, j) + (size_t)j / 4 * 4 * block + j % 4;

    (void)k;
    for (uint32_t b = 0; b < width / block; b++, values += (size_t)block * KV_TILE) {
        float room[MOST_BLOCK];
        const float *from = value_block(x, d, b, block, room);
        float scale = fabsf(largest(from, block)) / 127.0f;
        int8_t q[MOST_BLOCK];

        scales[(size_t)b * KV_TILE + j] = scale;
        round_q8(q, from, block, scale);
        for (uint32_t i = 0; i < block; i++) {
            /* Four positions of a dimension are adjacent, as a dot product reads them. */
            values[(size_t)4 * i] = (uint8_t)q[i];
        }
    }
}

/* ---- the attended sum ------------------------------------------------------------------------ */

typedef void accumulate_fn(float *restrict o, const struct score_row *restrict s,
                           const struct block_q8 *restrict w, const void *restrict v, size_t n_q,
                           size_t d);

struct values {
    accumulate_fn *accumulate;
    const float *scales;
    const uint8_t *v;
    size_t block, n_blocks; /* of dimensions */
    size_t block_bytes;
};

/* Multiply a row's weights by a block's scales, and round to int8. */
static void weigh(const struct kernels *k, struct block_q8 w[2], const struct score_row *s,
                  const float *scales)
{
    _Alignas(64) float x[KV_TILE];

    k->mul_f32(x, s->s, scales, KV_TILE);
    k->quantize_q8_f32(w, x, KV_TILE);
}

/* Compute as many rows at a time as fit into `w`. */
static void accumulate_rows(const struct kernels *k, const struct values *t, float *o,
                            const struct score_row *s, size_t n_q)
{
    struct block_q8 w[AT_ONCE][2];
    size_t d = t->n_blocks * t->block, at_once = AT_ONCE / t->n_blocks;

    for (size_t a = 0; a < n_q; a += at_once, o += at_once * d) {
        size_t rows = n_q - a < at_once ? n_q - a : at_once;

        for (size_t i = 0; i < rows * t->n_blocks; i++) {
            /* The scale is multiplied into the weight, so that the products are of integers. */
            weigh(k, w[i], &s[a + i / t->n_blocks], t->scales + i % t->n_blocks * KV_TILE);
        }
        t->accumulate(o, s + a, w[0], t->v, rows, d);
    }
}

/* Compute a row block by block if its width ends within a block, or if it does not fit into w. */
static void accumulate_blocks(const struct kernels *k, const struct values *t, float *o,
                              const struct score_row *s, size_t d)
{
    for (size_t b = 0; b < t->n_blocks; b++) {
        size_t at = b * t->block, n = d - at < t->block ? d - at : t->block;
        struct block_q8 w[2];
        float room[MOST_BLOCK] = { 0 };

        /* The kernel writes whole blocks: numbers beyond the row stay in the extra room. */
        memcpy(room, o + at, n * sizeof *o);
        weigh(k, w, s, t->scales + b * KV_TILE);
        t->accumulate(room, s, w, t->v + b * t->block_bytes, 1, t->block);
        memcpy(o + at, room, n * sizeof *o);
    }
}

static void accumulate(const struct kernels *k, const struct values *t, float *o,
                       const struct score_row *s, size_t n_q, size_t d)
{
    if (d == t->n_blocks * t->block && t->n_blocks <= AT_ONCE) {
        accumulate_rows(k, t, o, s, n_q);
        return;
    }
    for (size_t a = 0; a < n_q; a++) {
        accumulate_blocks(k, t, o + a * d, s + a, d);
    }
}

static struct values values_of(const void *tile, size_t d, size_t bits)
{
    size_t width = padded((uint32_t)d), block = kv_values_block(width);
    const float *scales = tile;

    return (struct values){
        .scales = scales,
        .v = (const uint8_t *)(scales + width / block * KV_TILE),
        .block = block,
        .n_blocks = width / block,
        .block_bytes = block * KV_TILE * bits / 8,
    };
}

void kv_accumulate_q4(const struct kernels *k, float *o, const struct score_row *s,
                      const void *values, size_t n_q, size_t n, size_t d)
{
    struct values t = values_of(values, d, 4);

    (void)n; /* weights from n on are 0 */
    t.accumulate = k->accumulate_f32_q4_q8;
    accumulate(k, &t, o, s, n_q, d);
}

void kv_accumulate_q8(const struct kernels *k, float *o, const struct score_row *s,
                      const void *values, size_t n_q, size_t n, size_t d)
{
    struct values t = values_of(values, d, 8);

    (void)n;
    t.accumulate = k->accumulate_f32_q8_q8;
    accumulate(k, &t, o, s, n_q, d);
}

/* ---- uniform_4b: float middle[blocks][KV_TILE], then a tile of four bits --------------------- */

static size_t key_middles(size_t d)
{
    return (size_t)kv_blocks((uint32_t)d) * KV_TILE;
}

static size_t value_middles(size_t d)
{
    size_t width = padded((uint32_t)d);

    return width / kv_values_block(width) * KV_TILE;
}

size_t kv_key_bytes_uniform(uint32_t d)
{
    return key_middles(d) * sizeof(float) + kv_key_bytes_q4(d);
}

size_t kv_value_bytes_uniform(uint32_t d)
{
    return value_middles(d) * sizeof(float) + kv_value_bytes_q4(d);
}

void kv_put_key_uniform(const struct kernels *k, void *tile, uint32_t d, uint32_t j, const float *x)
{
    float *middles = tile;

    (void)k;
    put_key(middles + key_middles(d), middles, d, j, x);
}

void kv_put_value_uniform(const struct kernels *k, void *tile, uint32_t d, uint32_t j,
                          const float *x)
{
    float *middles = tile;

    (void)k;
    if (j == 0) {
        memset(middles, 0, value_middles(d) * sizeof *middles);
    }
    put_value(middles + value_middles(d), middles, d, j, x);
}

/* Add each middle times the sum of the rounded query over its block. */
void kv_score_uniform(const struct kernels *k, struct score_row *s, const struct kv_queries *q,
                      const void *keys, size_t n_q, size_t n, size_t d)
{
    const struct block_q8 *block = q->q8;
    const float *middles = keys;

    /* First compute the part of the steps, then the part of the middles. */
    kv_score_q4(k, s, q, middles + key_middles(d), n_q, n, d);
    for (size_t a = 0; a < n_q; a++) {
        for (size_t b = 0; b < kv_blocks((uint32_t)d); b++, block++) {
            k->add_scaled_f32(s[a].s, middles + b * KV_TILE, n, (float)block->sum * block->d);
        }
    }
}

static void add_to_all(float *o, size_t n, float x)
{
    for (size_t i = 0; i < n; i++) {
        o[i] += x;
    }
}

/* Add each middle times its weight: one sum for all dimensions of a block. */
void kv_accumulate_uniform(const struct kernels *k, float *o, const struct score_row *s,
                           const void *values, size_t n_q, size_t n, size_t d)
{
    const float *middles = values;
    size_t block = kv_values_block(padded((uint32_t)d));

    kv_accumulate_q4(k, o, s, middles + value_middles(d), n_q, n, d);
    for (size_t a = 0; a < n_q; a++, o += d) {
        for (size_t at = 0; at < d; at += block) {
            _Alignas(64) float row[KV_TILE], sum;

            /* The copy is aligned, as the kernel requires. */
            memcpy(row, middles + at / block * KV_TILE, sizeof row);
            k->gemv_f32_f32_f32(&sum, row, s[a].s, 1, KV_TILE, 0);
            add_to_all(o + at, at_most(block, d - at), sum);
        }
    }
}
