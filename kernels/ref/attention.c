/* References of the attention kernels, one tile of the cache at a time. */
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"

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
