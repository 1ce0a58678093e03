/* References of the kernels over vectors: norms, rope, softmax, gates, conversions. */
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"

void rmsnorm_f32_ref(float *y, const float *x, const float *restrict w, size_t n, float eps,
                     float offset)
{
    float lane[16] = { 0 };
    float scale;

    assert(n >= 1);
    for (size_t i = 0; i < n; i++) {
        lane[i % 16] = fmaf(x[i], x[i], lane[i % 16]);
    }
    scale = 1.0f / sqrtf(fold16(lane) / (float)n + eps);
    for (size_t i = 0; i < n; i++) {
        y[i] = (x[i] * scale) * (offset + w[i]);
    }
}

void layernorm_f32_ref(float *y, const float *x, const float *restrict w, const float *restrict b,
                       size_t n, float eps)
{
    float lane[16] = { 0 };
    float square[16] = { 0 };
    float mean, scale;

    assert(n >= 1);
    for (size_t i = 0; i < n; i++) {
        lane[i % 16] += x[i];
    }
    mean = fold16(lane) / (float)n;
    for (size_t i = 0; i < n; i++) {
        float centred = x[i] - mean;

        square[i % 16] = fmaf(centred, centred, square[i % 16]);
    }
    scale = 1.0f / sqrtf(fold16(square) / (float)n + eps);
    for (size_t i = 0; i < n; i++) {
        y[i] = fmaf((x[i] - mean) * scale, w[i], b[i]);
    }
}

static void rotate(float *x0, float *x1, const float *cos_sin)
{
    float a = *x0;
    float b = *x1;

    *x0 = fmaf(-b, cos_sin[1], a * cos_sin[0]);
    *x1 = fmaf(b, cos_sin[0], a * cos_sin[1]);
}

void rope_f32_pairs_ref(float *restrict x, const float *restrict cos_sin, size_t d)
{
    assert(d % 2 == 0);
    for (size_t i = 0; i < d / 2; i++) {
        rotate(&x[2 * i], &x[2 * i + 1], &cos_sin[2 * i]);
    }
}

void rope_f32_halves_ref(float *restrict x, const float *restrict cos_sin, size_t d)
{
    assert(d % 2 == 0);
    for (size_t i = 0; i < d / 2; i++) {
        rotate(&x[i], &x[i + d / 2], &cos_sin[2 * i]);
    }
}

float max_f32_ref(const float *x, size_t n)
{
    float max = -INFINITY;

    assert(n >= 1);
    for (size_t i = 0; i < n; i++) {
        max = x[i] > max ? x[i] : max;
    }
    return max;
}

float exp_sum_f32_ref(float *x, size_t n, float max)
{
    float lane[16] = { 0 };

    for (size_t i = 0; i < n; i++) {
        x[i] = exp_f32(x[i] - max);
        lane[i % 16] += x[i];
    }
    return fold16(lane);
}

void softmax_f32_ref(float *x, size_t n)
{
    float inverse = 1.0f / exp_sum_f32_ref(x, n, max_f32_ref(x, n));

    for (size_t i = 0; i < n; i++) {
        x[i] *= inverse;
    }
}

void silu_mul_f32_ref(float *y, const float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = (gate[i] / (1.0f + exp_f32(-gate[i]))) * up[i];
    }
}

void gelu_f32_ref(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = gelu_tanh_f32(x[i]);
    }
}

void gelu_mul_f32_ref(float *y, const float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = gelu_tanh_f32(gate[i]) * up[i];
    }
}

void add_f32_ref(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += x[i];
    }
}

void scale_f32_ref(float *y, const float *x, size_t n, float factor)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] * factor;
    }
}

void softcap_f32_ref(float *x, size_t n, float cap)
{
    assert(cap > 0.0f);
    for (size_t i = 0; i < n; i++) {
        x[i] = cap * tanh_f32(x[i] / cap);
    }
}

void convert_f16_f32_ref(uint16_t *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = f16_from_f32(x[i]);
    }
}

void convert_f32_f16_ref(float *restrict y, const uint16_t *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = f32_from_f16(x[i]);
    }
}
