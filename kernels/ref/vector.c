/* References of the kernels over vectors: norms, rope, softmax, gates, conversions.
 *
 * Sums are in 16 lanes: lane[i] takes elements i, i + 16, ..., then the lanes fold 16 to 8 to 4 to
 * 2 to 1. Each operation in a loop rounds once; fmaf rounds once for product and sum. */
#include "kernels/kernels.h"
#include "kernels/ref/scalar.h"

/* y = x / rms(x) (offset + w), rms(x) = sqrt(sum x^2 / n + eps). eps keeps a vector of zeros from
 * dividing by zero. As in Llama, x / rms(x) is rounded before it is multiplied by the weight. Gemma
 * stores w - 1, so its offset is 1. */
void rmsnorm_f32_ref(float *y, const float *x, const float *restrict w, size_t n, float eps,
                     float offset)
{
    float lane[16] = { 0 };
    float scale;

    assert(n >= 1);
    for (size_t i = 0; i < n; i++) {
        lane[i % 16] = fmaf(x[i], x[i], lane[i % 16]);
    }
    /* One division and one root for the whole vector, not for each element. */
    scale = 1.0f / sqrtf(fold16(lane) / (float)n + eps);
    for (size_t i = 0; i < n; i++) {
        y[i] = (x[i] * scale) * (offset + w[i]);
    }
}

/* y = (x - m) / sqrt(var + eps) w + b with the mean m = sum x / n and var = sum (x - m)^2 / n.
 * There are two passes over x, because sum x^2 / n - m^2 would cancel
 * if the mean is large. One fma applies both weight and bias. */
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
    /* First pass: the mean. Second pass: the variance around the mean. */
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

/* Multiply x by the Sylvester matrix. The inverse is the matrix itself divided by block. */
void hadamard_f32_ref(float *x, size_t n, size_t block)
{
    for (size_t s = 1; s < block; s *= 2) {
        for (size_t i = 0; i < n; i++) {
            float a = x[i], b;

            /* A butterfly step: the pair (i, i + s) becomes its sum and its difference. */
            if ((i & s) == 0) {
                b = x[i + s];
                x[i] = a + b;
                x[i + s] = a - b;
            }
        }
    }
}

/* Eight rows of an adapter's B are stored together, so that one register holds the factors of one
 * element of u. No vector is ever folded, and the loop is the same for any rank. */
void expand_f32_f32_ref(float *restrict y, const float *restrict b, const float *restrict u,
                        size_t rows, size_t rank)
{
    assert(rank >= 1);
    for (size_t r = 0; r < rows; r++) {
        /* Row r is column r % 8 of its group of eight rows. */
        const float *row = b + r / GROUP_ROWS * rank * GROUP_ROWS + r % GROUP_ROWS;

        for (size_t k = 0; k < rank; k++) {
            y[r] = fmaf(u[k], row[k * GROUP_ROWS], y[r]);
        }
    }
}

void expand_f32_f16_ref(float *restrict y, const uint16_t *restrict b, const float *restrict u,
                        size_t rows, size_t rank)
{
    assert(rank >= 1);
    for (size_t r = 0; r < rows; r++) {
        const uint16_t *row = b + r / GROUP_ROWS * rank * GROUP_ROWS + r % GROUP_ROWS;

        for (size_t k = 0; k < rank; k++) {
            y[r] = fmaf(u[k], f32_from_f16(row[k * GROUP_ROWS]), y[r]);
        }
    }
}

/* y = x / max(|x|, eps): queries and keys of the delta rule. eps keeps a vector of zeros zero; the
 * comparison keeps a NaN. */
void l2norm_f32_ref(float *y, const float *x, size_t n, float eps)
{
    float lane[16] = { 0 };
    float scale;

    assert(n >= 1);
    for (size_t i = 0; i < n; i++) {
        lane[i % 16] = fmaf(x[i], x[i], lane[i % 16]);
    }
    scale = 1.0f / sqrtf(fold16(lane) + eps);
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] * scale;
    }
}

/* (x0, x1) turned by an angle: (x0 cos - x1 sin, x0 sin + x1 cos). The first product is rounded,
 * the other is inside the fma. The contract fixes this order, because the two orders give
 * different bits. */
static void rotate(float *x0, float *x1, const float *cos_sin)
{
    float a = *x0;
    float b = *x1;

    *x0 = fmaf(-b, cos_sin[1], a * cos_sin[0]);
    *x1 = fmaf(b, cos_sin[0], a * cos_sin[1]);
}

/* Rotary positions: pair i of a head is rotated by the angle position * frequency i, whose cosine
 * and sine the caller passes (runtime/compute/rope_table.c). Pairs are neighbours here, as in GPT-J
 * and GGUF's Llama. */
void rope_f32_pairs_ref(float *restrict x, const float *restrict cos_sin, size_t d)
{
    assert(d % 2 == 0);
    for (size_t i = 0; i < d / 2; i++) {
        rotate(&x[2 * i], &x[2 * i + 1], &cos_sin[2 * i]);
    }
}

/* Pairs are i and i + d/2 here, as in GPT-NeoX and most later models. */
void rope_f32_halves_ref(float *restrict x, const float *restrict cos_sin, size_t d)
{
    assert(d % 2 == 0);
    for (size_t i = 0; i < d / 2; i++) {
        rotate(&x[i], &x[i + d / 2], &cos_sin[2 * i]);
    }
}

/* A maximum does not depend on the order, except for NaNs, which never win a comparison, and for
 * the sign of a zero, which the contract leaves open. */
float max_f32_ref(const float *x, size_t n)
{
    float max = -INFINITY;

    assert(n >= 1);
    for (size_t i = 0; i < n; i++) {
        /* The comparison is not fmaxf, because a NaN on either side must leave max unchanged. */
        if (x[i] > max) {
            max = x[i];
        }
    }
    return max;
}

/* x = exp(x - max), at most 1, so nothing overflows; returns sum x in 16 lanes. */
float exp_sum_f32_ref(float *x, size_t n, float max)
{
    float lane[16] = { 0 };

    for (size_t i = 0; i < n; i++) {
        x[i] = exp_f32(x[i] - max);
        lane[i % 16] += x[i];
    }
    return fold16(lane);
}

/* x_i = exp(x_i - max) / sum_j exp(x_j - max), by one division and n products. */
void softmax_f32_ref(float *x, size_t n)
{
    float inverse = 1.0f / exp_sum_f32_ref(x, n, max_f32_ref(x, n));

    for (size_t i = 0; i < n; i++) {
        x[i] *= inverse;
    }
}

/* SiLU x sigmoid(x) = x / (1 + exp(-x)), times the other half of a gated feed-forward. */
void silu_mul_f32_ref(float *y, const float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = (gate[i] / (1.0f + exp_f32(-gate[i]))) * up[i];
    }
}

/* GELU in its tanh form: x / (1 + exp(-u)), u = 2 sqrt(2 / pi) (x + 0.044715 x^3). */
void gelu_f32_ref(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = gelu_tanh_f32(x[i]);
    }
}

/* GELU times the other half of a gated feed-forward (Gemma). */
void gelu_mul_f32_ref(float *y, const float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = gelu_tanh_f32(gate[i]) * up[i];
    }
}

/* SiLU by itself, after a convolution: x / (1 + exp(-x)). */
void silu_f32_ref(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] / (1.0f + exp_f32(-x[i]));
    }
}

/* The output gate of attention: x * sigmoid(gate), with one division. */
void sigmoid_mul_f32_ref(float *y, const float *x, const float *gate, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] / (1.0f + exp_f32(-gate[i]));
    }
}

/* The gate of gpt-oss: SiLU with a slope alpha, times 1 + up; gate and up are clamped first. The
 * comparisons keep a NaN. */
void swiglu_oai_f32_ref(float *y, const float *gate, const float *up, size_t n, float limit,
                        float alpha)
{
    assert(limit > 0.0f);
    for (size_t i = 0; i < n; i++) {
        float g = gate[i] > limit ? limit : gate[i];
        float u = up[i] > limit ? limit : up[i];

        /* The gate has only an upper bound, because SiLU itself bounds it from below. */
        u = u < -limit ? -limit : u;
        y[i] = (g / (1.0f + exp_f32(-(alpha * g)))) * (u + 1.0f);
    }
}

/* max(x, 0)^2 lets a NaN through. */
static float relu2(float x)
{
    /* The other way round, x > 0 ? x : 0 would turn a NaN into 0. */
    float r = x < 0.0f ? 0.0f : x;

    return r * r;
}

/* The squared ReLU of a feed-forward without a gate (Nemotron-H). */
void relu2_f32_ref(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = relu2(x[i]);
    }
}

/* The squared ReLU of a gate, times the other half (BitNet). */
void relu2_mul_f32_ref(float *y, const float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = relu2(gate[i]) * up[i];
    }
}

/* The gates of a short convolution. */
void mul_f32_ref(float *y, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = a[i] * b[i];
    }
}

/* Adds the result of a block times its multiplier, or of an expert times its weight. */
void add_scaled_f32_ref(float *restrict y, const float *restrict x, size_t n, float factor)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = fmaf(factor, x[i], y[i]);
    }
}

/* Adds the result of a block to the block's input, the residual stream. */
void add_f32_ref(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += x[i];
    }
}

/* Scales embeddings, attention's sum p v (by 1 / sum p), and the cosines and sines of queries, so
 * that rotating a query also multiplies it by 1 / sqrt(d). */
void scale_f32_ref(float *y, const float *x, size_t n, float factor)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] * factor;
    }
}

/* cap tanh(x / cap): about x near 0, and close to +-cap for large x (Gemma 2). */
void softcap_f32_ref(float *x, size_t n, float cap)
{
    assert(cap > 0.0f);
    for (size_t i = 0; i < n; i++) {
        x[i] = cap * tanh_f32(x[i] / cap);
    }
}

/* Rounds to nearest even; from 65520 on the result is infinity. Conversion to f32 is exact. */
void convert_f16_f32_ref(uint16_t *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = f16_from_f32(x[i]);
    }
}

/* Keys, values and weights in fp16 are widened before any sum: no sum is ever kept in fp16. */
void convert_f32_f16_ref(float *restrict y, const uint16_t *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = f32_from_f16(x[i]);
    }
}
