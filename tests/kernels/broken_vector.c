/* Vector and attention kernels that are wrong on purpose, in one way each; the list is in
 * broken.c. */
#include <string.h>

#include "kernels/ref/scalar.h"
#include "tests/kernels/broken_kernels.h"

void add_forgets_tail(float *restrict y, const float *restrict x, size_t n)
{
    add_f32_ref(y, x, n / 4 * 4);
}

void add_writes_past_end(float *restrict y, const float *restrict x, size_t n)
{
    add_f32_ref(y, x, n);
    memset(y + n, 0, 1);
}

void add_writes_before_start(float *restrict y, const float *restrict x, size_t n)
{
    add_f32_ref(y, x, n);
    memset((char *)y - 1, 0, 1);
}

void add_changes_input(float *restrict y, const float *restrict x, size_t n)
{
    add_f32_ref(y, x, n);
    if (n > 40) {
        memset((float *)(uintptr_t)x + 40, 0, 1);
    }
}

void add_flushes_subnormals(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += x[i];
        if ((f32_bits(y[i]) & 0x7f800000u) == 0) {
            y[i] = f32_from_bits(f32_bits(y[i]) & 0x80000000u);
        }
    }
}

float max_lets_nan_win(const float *x, size_t n)
{
    float max = x[0];

    for (size_t i = 1; i < n; i++) {
        max = x[i] <= max ? max : x[i];
    }
    return max;
}

void convert_truncates(uint16_t *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = f16_from_f32(f32_from_bits(f32_bits(x[i]) & 0xffffe000u));
    }
}

/* Reads one float too many: the sum is right, the read may trap. */
float max_reads_past_end(const float *x, size_t n)
{
    volatile float beyond = x[n];

    (void)beyond;
    return max_f32_ref(x, n);
}

void rmsnorm_ignores_offset(float *y, const float *x, const float *restrict w, size_t n, float eps,
                            float offset)
{
    (void)offset;
    rmsnorm_f32_ref(y, x, w, n, eps, 0.0f);
}

/* Computes the mean of squares less the square of the mean, in one pass. */
void layernorm_cancels(float *y, const float *x, const float *restrict w, const float *restrict b,
                       size_t n, float eps)
{
    float sum = 0.0f;
    float squares = 0.0f;
    float mean, scale;

    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        squares = fmaf(x[i], x[i], squares);
    }
    mean = sum / (float)n;
    scale = 1.0f / sqrtf(squares / (float)n - mean * mean + eps);
    for (size_t i = 0; i < n; i++) {
        y[i] = fmaf((x[i] - mean) * scale, w[i], b[i]);
    }
}

/* u in one float. */
void gelu_carries_one_float(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float u = x[i] * fmaf(0x1.2444f2p-4f, x[i] * x[i], 0x1.988454p+0f);

        y[i] = x[i] / (1.0f + exp_f32(-u));
    }
}

void quantize_forgets_reserved(struct block_q8k *restrict y, const float *restrict x, size_t n)
{
    for (size_t b = 0; b < n / 256; b++) {
        struct block_q8k block;

        quantize_q8k_f32_ref(&block, x + 256 * b, 256);
        memcpy(&y[b], &block, offsetof(struct block_q8k, reserved));
    }
}

void interleave_forgets_zeros(struct block_q8x4 *restrict y, const struct block_q8 *restrict x,
                              size_t n_tokens, size_t cols)
{
    for (size_t t = 0; t < n_tokens; t++) {
        for (size_t b = 0; b < cols / 32; b++) {
            struct block_q8x4 *to = &y[t / 4 * (cols / 32) + b];
            const struct block_q8 *from = &x[t * (cols / 32) + b];

            for (size_t c = 0; c < 32; c++) {
                to->q[c / 4][t % 4][c % 4] = from->q[c];
            }
            to->d[t % 4] = from->d;
            to->sum[t % 4] = from->sum;
        }
    }
}

/* Multiplies and adds, each rounded, where the contract has fma. */
void accumulate_rounds_twice(float *restrict o, const struct score_row *restrict s,
                             const uint16_t *restrict v, size_t n_q, size_t n, size_t d)
{
    for (size_t a = 0; a < n_q; a++, o += d) {
        for (size_t i = 0; i < d; i++) {
            o[i] *= s[a].factor;
            for (size_t j = 0; j < n; j++) {
                o[i] += s[a].s[j] * f32_from_f16(v[j * d + i]);
            }
        }
    }
}

/* Reads the whole tile, as if nothing stale were beyond n. */
void accumulate_reads_stale(float *restrict o, const struct score_row *restrict s,
                            const void *restrict v, size_t n_q, size_t n, size_t d)
{
    accumulate_f32_q8_ref(o, s, v, n_q, n ? KV_TILE : 0, d);
}

void score_writes_whole_tile(struct score_row *restrict s, const float *restrict q,
                             const uint16_t *restrict k, size_t n_q, size_t n, size_t d)
{
    score_f32_f16_ref(s, q, k, n_q, n ? KV_TILE : 0, d);
}

void softmax_writes_reserved(struct score_row *s, size_t n_q, size_t n)
{
    online_softmax_f32_ref(s, n_q, n);
    for (size_t a = 0; a < n_q; a++) {
        s[a].reserved[0] = 0.0f;
    }
}

void softmax_keeps_stale(struct score_row *s, size_t n_q, size_t n)
{
    for (size_t a = 0; a < n_q; a++) {
        float last = s[a].s[KV_TILE - 1];

        online_softmax_f32_ref(&s[a], 1, n);
        s[a].s[KV_TILE - 1] = n < KV_TILE ? last : s[a].s[KV_TILE - 1];
    }
}
