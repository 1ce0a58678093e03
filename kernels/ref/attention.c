/* References of the attention kernels, which take one tile of the cache at a time (FlashAttention,
 * arXiv 2205.14135). For a query q and the keys k_j and values v_j of all positions so far:
 *
 *     o = sum_j p_j v_j / sum_j p_j,  p_j = exp(s_j - max s),  s_j = q k_j
 *
 * The maximum over all tiles is not known at the first tile, so each tile uses the maximum so
 * far and corrects the results of earlier tiles by `factor`. Tiles of 64 positions start at
 * position 0 for every query, so decode and prefill compute the same sums in the same order. */
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"

/* s_j = sum_i q[i] k[i][j] by fma, i ascending. The keys are transposed: a vector holds the same
 * dimension of neighbouring positions, so its lanes are never added up, and each sum has the same
 * order at every vector length. */
void score_f32_f16_ref(struct score_row *restrict s, const float *restrict q,
                       const uint16_t *restrict k, size_t n_q, size_t n, size_t d)
{
    assert(n % 16 == 0 && n <= KV_TILE);
    for (size_t a = 0; a < n_q; a++, q += d) {
        for (size_t j = 0; j < n; j++) {
            float dot = 0.0f;

            for (size_t i = 0; i < d; i++) {
                dot = fmaf(q[i], f32_from_f16(k[i * KV_TILE + j]), dot);
            }
            s[a].s[j] = dot;
        }
    }
}

/* The same with integers: per block b of 32 dimensions an exact isum = sum_i q.q[i] k[i][j], then
 * acc = fma((float)isum, scale[b][j] * q.d, acc), blocks ascending. Keys are stored in chunks of
 * four dimensions of a position, which one instruction can multiply and add up. */
void score_f32_q8_ref(struct score_row *restrict s, const struct block_q8 *restrict q,
                      const void *restrict k, size_t n_q, size_t n, size_t d)
{
    const float *scale = k;
    const int8_t *keys = (const int8_t *)(scale + d / 32 * KV_TILE);

    assert(n % 16 == 0 && n <= KV_TILE && d % 32 == 0);
    for (size_t a = 0; a < n_q; a++, q += d / 32) {
        for (size_t j = 0; j < n; j++) {
            float acc = 0.0f;

            for (size_t b = 0; b < d / 32; b++) {
                int32_t sum = 0;

                for (size_t c = 0; c < 32; c++) {
                    size_t i = 32 * b + c;

                    sum += q[b].q[c] * keys[(i / 4 * KV_TILE + j) * 4 + i % 4];
                }
                acc = fmaf((float)sum, scale[b * KV_TILE + j] * q[b].d, acc);
            }
            s[a].s[j] = acc;
        }
    }
}

/* Add one tile: with m' = max(m, s_0..s_n-1) of this tile
 *
 *     factor = exp(m - m'),  p_j = exp(s_j - m'),  sum' = fma(factor, sum, sum_j p_j)
 *
 * sum_j p_j in 16 lanes. In the first tile, m is -infinity and factor is 0. Positions from n on get
 * p = 0. */
void online_softmax_f32_ref(struct score_row *s, size_t n_q, size_t n)
{
    assert(n >= 1 && n <= KV_TILE);
    for (size_t a = 0; a < n_q; a++) {
        float tile_max = max_f32_ref(s[a].s, n);
        float max = tile_max > s[a].max ? tile_max : s[a].max;

        s[a].factor = exp_f32(s[a].max - max);
        s[a].sum = fmaf(s[a].factor, s[a].sum, exp_sum_f32_ref(s[a].s, n, max));
        s[a].max = max;
        for (size_t j = n; j < KV_TILE; j++) {
            s[a].s[j] = 0.0f;
        }
    }
}

/* o[i] = o[i] factor, then o[i] = fma(p_j, v_j[i], o[i]), j ascending: one accumulator per
 * dimension. A lane is a dimension here, so no vector is
 * folded. The division by the sum comes after the last tile. */
void accumulate_f32_f16_ref(float *restrict o, const struct score_row *restrict s,
                            const uint16_t *restrict v, size_t n_q, size_t n, size_t d)
{
    assert(n <= KV_TILE);
    for (size_t a = 0; a < n_q; a++, o += d) {
        for (size_t i = 0; i < d; i++) {
            o[i] *= s[a].factor;
            for (size_t j = 0; j < n; j++) {
                o[i] = fmaf(s[a].s[j], f32_from_f16(v[j * d + i]), o[i]);
            }
        }
    }
}

/* The same with v_j[i] = scale[j][i / 32] times an int8. The product
 * of p_j and the scale is rounded once and used for 32 dimensions. */
void accumulate_f32_q8_ref(float *restrict o, const struct score_row *restrict s,
                           const void *restrict v, size_t n_q, size_t n, size_t d)
{
    const float *scale = v;
    const int8_t *values = (const int8_t *)(scale + d / 32 * KV_TILE);

    assert(n <= KV_TILE && d % 32 == 0);
    for (size_t a = 0; a < n_q; a++, o += d) {
        for (size_t i = 0; i < d; i++) {
            o[i] *= s[a].factor;
            for (size_t j = 0; j < n; j++) {
                float weight = s[a].s[j] * scale[j * (d / 32) + i / 32];

                o[i] = fmaf(weight, (float)values[j * d + i], o[i]);
            }
        }
    }
}
