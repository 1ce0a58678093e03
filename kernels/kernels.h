/* The kernels: every inner loop of the model, as a table of functions chosen once at boot.
 *
 * ref/ is the definition of correct: an assembly kernel equals its reference bit for bit
 * (docs/DESIGN.md, "Numerical contract"). kernels.inc lists every kernel of every ISA.
 *
 * All kernels: no allocation, no state, no threads, no errors; the caller's preconditions
 * are asserted by the reference only. Pointers are aligned as said and may not overlap
 * unless said. "16 lanes" below is the reduction order of the contract: lane i takes
 * elements i, i+16, ... by fma from +0, a tail is filled with zeros, then lanes fold
 * 16 to 8 to 4 to 2 to 1 by adding the upper half to the lower. */
#ifndef INGOT_KERNELS_KERNELS_H
#define INGOT_KERNELS_KERNELS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/blocks.h"

/* Features of the CPU that a row of kernels.inc may require. */
enum cpu_feature {
    CPU_ANY = 0,
    CPU_ARM64_NEON = 1 << 0,    /* ARMv8.0-A Advanced SIMD */
    CPU_RV64_GC = 1 << 1,       /* scalar assembly for rv64gc */
    CPU_RV64_V = 1 << 2,        /* RVV 1.0, VLEN >= 128 */
    CPU_X86_AVX2 = 1 << 3,      /* AVX2, FMA and F16C */
    CPU_ARM64_DOTPROD = 1 << 4, /* sdot, udot */
    CPU_ARM64_I8MM = 1 << 5,    /* smmla, usmmla and their kin for NEON */
    CPU_ARM64_SVE = 1 << 6,     /* SVE, any vector length */
    CPU_RV64_ZVFH = 1 << 7,     /* fp16 conversions in vectors: Zvfhmin, which Zvfh includes */
    CPU_X86_AVX512 = 1 << 8,    /* AVX-512 F, BW, DQ and VL */
    CPU_X86_VNNI = 1 << 9,      /* AVX-512 VNNI */
    CPU_ARM64_CRC = 1 << 10,    /* crc32cb and its kin; goes with every name of kernels_force */
    CPU_RV64_ZBC = 1 << 11,     /* multiplication without carries; so does this */
    CPU_RV64_ZBB = 1 << 13,     /* rotations; as ZBC */
    CPU_ARM64_SHA2 = 1 << 12,   /* sha256h and its kin; goes with every name above "neon" */
    CPU_X86_AVX_VNNI = 1 << 14, /* vpdpbusd and its kin with VEX coding, without AVX-512 */
    CPU_RV64_ZVKNHA = 1 << 15,  /* SHA-256 in vectors, which Zvknhb includes */
};

/* OP(name, return type, arguments). In every gemv `ahead` is how many bytes of weights before
 * their use a kernel prefetches (kernels/tuning.h; 0: none); it changes no result. A gemm gives
 * each token the result of the gemv, bit for bit. */
#define KERNEL_OPS(OP) \
    /* y = W x. W (rows, cols) f32 or fp16, row-major, 64-byte aligned rows; x (cols) f32, \
     * 16-byte aligned; y (rows). cols % 16 == 0 (f32) or % 32 == 0 (fp16), rows any. Each dot \
     * product in 16 lanes. */ \
    OP(gemv_f32_f32_f32, void, \
       (float *restrict y, const void *restrict w, const float *restrict x, size_t rows, \
        size_t cols, size_t ahead)) \
    OP(gemv_f32_f16_f32, void, \
       (float *restrict y, const void *restrict w, const float *restrict x, size_t rows, \
        size_t cols, size_t ahead)) \
    /* y = W x. W (rows, cols) as struct block_q8x8[rows/8][cols/32] (kernels/blocks.h), rows \
     * padded to 8, 16-byte aligned; x (cols/32 blocks), 8-byte aligned; y (rows), only rows \
     * entries are written. cols % 32 == 0, rows any. Scales finite. \
     * Per row, blocks ascending: acc = fma((float)isum, sw * x.d, acc), isum = sum w.q x.q. */ \
    OP(gemv_f32_q8x8_q8, void, \
       (float *restrict y, const void *restrict w, const struct block_q8 *restrict x, size_t rows, \
        size_t cols, size_t ahead)) \
    /* The same over struct block_q4x8: isum = sum nibble x.q - 8 * x.sum. */ \
    OP(gemv_f32_q4x8_q8, void, \
       (float *restrict y, const void *restrict w, const struct block_q8 *restrict x, size_t rows, \
        size_t cols, size_t ahead)) \
    /* Over struct block_q41x8: isum = sum nibble x.q; acc = fma((float)isum, d * x.d, acc), then \
     * acc = fma(m, (float)x.sum * x.d, acc). */ \
    OP(gemv_f32_q41x8_q8, void, \
       (float *restrict y, const void *restrict w, const struct block_q8 *restrict x, size_t rows, \
        size_t cols, size_t ahead)) \
    /* Over struct block_q50x8: isum = sum q x.q - 16 * x.sum, q of 5 bits. */ \
    OP(gemv_f32_q50x8_q8, void, \
       (float *restrict y, const void *restrict w, const struct block_q8 *restrict x, size_t rows, \
        size_t cols, size_t ahead)) \
    /* Over struct block_q51x8 as over block_q41x8, with q of 5 bits. */ \
    OP(gemv_f32_q51x8_q8, void, \
       (float *restrict y, const void *restrict w, const struct block_q8 *restrict x, size_t rows, \
        size_t cols, size_t ahead)) \
    /* Over struct block_q4x8 whose nibbles go through a table, 8-byte aligned, which also says       \
     * `ahead`: isum = sum values[nibble] x.q. */ \
    OP(gemv_f32_t4x8_q8, void, \
       (float *restrict y, const void *restrict w, const struct block_q8 *restrict x, size_t rows, \
        size_t cols, const struct nibble_table *restrict table)) \
    /* Over struct block_fig4x8[rows/8][cols/128], cols % 128 == 0: one isum for 128 columns. Block i \
     * takes half i % 2 of block i / 2 of x, whose last half is not read where cols has none. */ \
    OP(gemv_f32_fig4x8_q8k, void, \
       (float *restrict y, const void *restrict w, const struct block_q8k *restrict x, \
        size_t rows, size_t cols, const struct nibble_table *restrict table)) \
    /* The same over struct block_q4kx8[rows/8][cols/256] and 256 columns of x at a time, cols % \
     * 256 == 0: isum = sum_j scale_j dot_j, imin = sum_j min_j sum_j over the 8 sub-blocks; \
     * acc = fma((float)isum, d * x.d, acc), then acc = fma(-(float)imin, dmin * x.d, acc). */ \
    OP(gemv_f32_q4kx8_q8k, void, \
       (float *restrict y, const void *restrict w, const struct block_q8k *restrict x, \
        size_t rows, size_t cols, size_t ahead)) \
    /* Over struct block_q6kx8: isum = sum_j scale_j dot_j over 16 sub-blocks of (q - 32). */ \
    OP(gemv_f32_q6kx8_q8k, void, \
       (float *restrict y, const void *restrict w, const struct block_q8k *restrict x, \
        size_t rows, size_t cols, size_t ahead)) \
    /* Over struct block_q5kx8 as over block_q4kx8, with q of 5 bits. */ \
    OP(gemv_f32_q5kx8_q8k, void, \
       (float *restrict y, const void *restrict w, const struct block_q8k *restrict x, \
        size_t rows, size_t cols, size_t ahead)) \
    /* Over struct block_q3kx8: isum = sum_j scale_j dot_j over 16 sub-blocks. */ \
    OP(gemv_f32_q3kx8_q8k, void, \
       (float *restrict y, const void *restrict w, const struct block_q8k *restrict x, \
        size_t rows, size_t cols, size_t ahead)) \
    /* Over struct block_q2kx8: isum = sum_j scale_j dot_j, imin = sum_j min_j sum_j over the 16   * \
     * sub-blocks; then as of block_q4kx8. */ \
    OP(gemv_f32_q2kx8_q8k, void, \
       (float *restrict y, const void *restrict w, const struct block_q8k *restrict x, \
        size_t rows, size_t cols, size_t ahead)) \
    /* Over struct block_tq2x8: isum = sum (two - 1) x.q. */ \
    OP(gemv_f32_tq2x8_q8k, void, \
       (float *restrict y, const void *restrict w, const struct block_q8k *restrict x, \
        size_t rows, size_t cols, size_t ahead)) \
    /* Over struct block_q2x8: of each 64 columns in turn acc = fma((float)isum, d * x.d, acc). */ \
    OP(gemv_f32_q2x8_q8k, void, \
       (float *restrict y, const void *restrict w, const struct block_q8k *restrict x, \
        size_t rows, size_t cols, size_t ahead)) \
    /* Over struct block_q1x8: the same of each 128 columns, isum = sum (2 bit - 1) x.q. */ \
    OP(gemv_f32_q1x8_q8k, void, \
       (float *restrict y, const void *restrict w, const struct block_q8k *restrict x, \
        size_t rows, size_t cols, size_t ahead)) \
    /* y = x W' for a chunk of tokens; W as in the gemv of the same name. x (n_tokens, cols) f32, \
     * rows 16-byte aligned; y (n_tokens, rows), 4-byte aligned, only rows entries of a row are \
     * written. Any rows and n_tokens. */ \
    OP(gemm_f32_f32_f32, void, \
       (float *restrict y, const void *restrict w, const float *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_f16_f32, void, \
       (float *restrict y, const void *restrict w, const float *restrict x, \
        const struct gemm_shape *restrict shape)) \
    /* The same; x as struct block_q8x4[n_tokens/4 rounded up][cols/32], 16-byte aligned. */ \
    OP(gemm_f32_q8x8_q8x4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8x4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_q4x8_q8x4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8x4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_q41x8_q8x4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8x4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_q50x8_q8x4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8x4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_q51x8_q8x4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8x4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_t4x8_q8x4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8x4 *restrict x, \
        const struct gemm_shape *restrict shape, const struct nibble_table *restrict table)) \
    /* x as struct block_q8kx4[n_tokens/4 rounded up][cols/256 rounded up], 16-byte aligned. */ \
    OP(gemm_f32_fig4x8_q8kx4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8kx4 *restrict x, \
        const struct gemm_shape *restrict shape, const struct nibble_table *restrict table)) \
    /* The same with cols % 256 == 0. */ \
    OP(gemm_f32_q4kx8_q8kx4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8kx4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_q6kx8_q8kx4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8kx4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_q5kx8_q8kx4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8kx4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_q3kx8_q8kx4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8kx4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_q2kx8_q8kx4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8kx4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_tq2x8_q8kx4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8kx4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_q2x8_q8kx4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8kx4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    OP(gemm_f32_q1x8_q8kx4, void, \
       (float *restrict y, const void *restrict w, const struct block_q8kx4 *restrict x, \
        const struct gemm_shape *restrict shape)) \
    /* y = row `row` of W (.., cols) in the layouts above, as f32; y (cols), cols as there. */ \
    OP(dequantize_f32_q8x8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    OP(dequantize_f32_q4x8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    OP(dequantize_f32_q41x8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    OP(dequantize_f32_q50x8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    OP(dequantize_f32_q51x8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    OP(dequantize_f32_t4x8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols, \
        const struct nibble_table *restrict table)) \
    OP(dequantize_f32_fig4x8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols, \
        const struct nibble_table *restrict table)) \
    /* fma((float)(scale * q), d, -(dmin * (float)min)); scale * q is an integer. */ \
    OP(dequantize_f32_q4kx8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    /* (float)(scale * (q - 32)) * d */ \
    OP(dequantize_f32_q6kx8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    OP(dequantize_f32_q5kx8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    OP(dequantize_f32_q3kx8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    OP(dequantize_f32_q2kx8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    /* d * (float)(two - 1), and of bits */ \
    OP(dequantize_f32_tq2x8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    OP(dequantize_f32_q2x8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    OP(dequantize_f32_q1x8, void, \
       (float *restrict y, const void *restrict w, size_t row, size_t cols)) \
    /* x (n) f32 to n/32 blocks, n % 32 == 0: d = max|x| / 127 (0 stays 0), q = nearest even of \
     * x * (127 / max|x|), sum = sum q. x finite, 16-byte aligned; y 8-byte aligned. A block \
     * whose max|x| is below 2^-100 counts as zero: d = 0, q = 0. */ \
    OP(quantize_q8_f32, void, (struct block_q8 *restrict y, const float *restrict x, size_t n)) \
    /* The same with blocks of 256, n % 256 == 0; y 16-byte aligned, reserved[] is zero. */ \
    OP(quantize_q8k_f32, void, (struct block_q8k *restrict y, const float *restrict x, size_t n)) \
    /* x (n_tokens, cols/32 blocks) to y (n_tokens/4 rounded up, cols/32); tokens beyond the last \
     * are zero in y. x 8-byte, y 16-byte aligned. */ \
    OP(interleave_q8x4_q8, void, \
       (struct block_q8x4 *restrict y, const struct block_q8 *restrict x, size_t n_tokens, \
        size_t cols)) \
    /* The same in blocks of 256, both 16-byte aligned. */ \
    OP(interleave_q8kx4_q8k, void, \
       (struct block_q8kx4 *restrict y, const struct block_q8k *restrict x, size_t n_tokens, \
        size_t cols)) \
    /* y = (x * s) * (offset + w), s = 1 / sqrt(sum x^2 / n + eps), the sum in 16 lanes; n >= 1; \
     * offset 0 or 1. y may be x. 4-byte aligned. */ \
    OP(rmsnorm_f32, void, \
       (float *y, const float *x, const float *restrict w, size_t n, float eps, float offset)) \
    /* y = fma((x - m) * s, w, b), m = sum x / n, s = 1 / sqrt(sum (x - m)^2 / n + eps), both \
     * sums in 16 lanes, the first by adding; n >= 1. y may be x. 4-byte aligned. */ \
    OP(layernorm_f32, void, \
       (float *y, const float *x, const float *restrict w, const float *restrict b, size_t n, \
        float eps)) \
    /* Rotate pairs (x[2i], x[2i+1]) of one head in place, i < d/2, d even, by cos_sin[2i] = \
     * cos, cos_sin[2i+1] = sin: (fma(-x1, sin, x0 * cos), fma(x1, cos, x0 * sin)). */ \
    OP(rope_f32_pairs, void, (float *restrict x, const float *restrict cos_sin, size_t d)) \
    /* The same for pairs (x[i], x[i + d/2]). */ \
    OP(rope_f32_halves, void, (float *restrict x, const float *restrict cos_sin, size_t d)) \
    /* max(x[0..n)), n >= 1; NaNs are passed over, which zero wins is open. */ \
    OP(max_f32, float, (const float *x, size_t n)) \
    /* x[i] = exp(x[i] - max) in place; returns their sum in 16 lanes (plain adds). n any. */ \
    OP(exp_sum_f32, float, (float *x, size_t n, float max)) \
    /* x = softmax(x) in place, n >= 1: max_f32, exp_sum_f32, then each times 1 / sum. */ \
    OP(softmax_f32, void, (float *x, size_t n)) \
    /* y = (gate / (1 + exp(-gate))) * up; n any. y may be gate or up. */ \
    OP(silu_mul_f32, void, (float *y, const float *gate, const float *up, size_t n)) \
    /* y = gelu(x), the tanh form, x / (1 + exp(-u)) with u = x (c1 + c3 x^2) carried in two \
     * floats (kernels/ref/scalar.h); n any. y may be x. */ \
    OP(gelu_f32, void, (float *y, const float *x, size_t n)) \
    /* y = gelu(gate) * up; n any. y may be gate or up. */ \
    OP(gelu_mul_f32, void, (float *y, const float *gate, const float *up, size_t n)) \
    /* y += x; n any. */ \
    OP(add_f32, void, (float *restrict y, const float *restrict x, size_t n)) \
    /* y = x * factor; n any. y may be x. */ \
    OP(scale_f32, void, (float *y, const float *x, size_t n, float factor)) \
    /* x = cap * tanh(x / cap) in place, tanh by exp (kernels/ref/scalar.h); cap > 0, n any. */ \
    OP(softcap_f32, void, (float *x, size_t n, float cap)) \
    /* y = x / (1 + exp(-x)); n any. y may be x. */ \
    OP(silu_f32, void, (float *y, const float *x, size_t n)) \
    /* y = x / (1 + exp(-gate)); n any. y may be x or gate. A NaN in gate counts as infinity. */ \
    OP(sigmoid_mul_f32, void, (float *y, const float *x, const float *gate, size_t n)) \
    /* y = (g / (1 + exp(-(alpha * g)))) * (u + 1), g = min(gate, limit), u = up within +-limit, \
     * NaNs kept (gpt-oss); limit > 0, n any. y may be gate or up. */ \
    OP(swiglu_oai_f32, void, \
       (float *y, const float *gate, const float *up, size_t n, float limit, float alpha)) \
    /* y = r * r, r = max(x, 0), NaNs kept; n any. y may be x. */ \
    OP(relu2_f32, void, (float *y, const float *x, size_t n)) \
    /* y = (r * r) * up, r = max(gate, 0), NaNs kept; n any. y may be gate or up. */ \
    OP(relu2_mul_f32, void, (float *y, const float *gate, const float *up, size_t n)) \
    /* y = a * b; n any. y may be a or b. */ \
    OP(mul_f32, void, (float *y, const float *a, const float *b, size_t n)) \
    /* y = fma(factor, x, y); n any. */ \
    OP(add_scaled_f32, void, (float *restrict y, const float *restrict x, size_t n, float factor)) \
    /* y += B u, the second half of an adapter's product: y[r] = fma(u[k], b[r / 8][k][r % 8], y[r]), \
     * k = 0 .. rank-1 ascending. b fp16 or f32 [rows / 8][rank][8], finite, rows padded to 8, 16-byte \
     * aligned; y (rows), u (rank) 4-byte aligned. rows any, only rows entries are written; rank >= \
     * 1. */ \
    OP(expand_f32_f32, void, \
       (float *restrict y, const float *restrict b, const float *restrict u, size_t rows, \
        size_t rank)) \
    OP(expand_f32_f16, void, \
       (float *restrict y, const uint16_t *restrict b, const float *restrict u, size_t rows, \
        size_t rank)) \
    /* y = x * (1 / sqrt(sum x^2 + eps)), the sum in 16 lanes; n >= 1. y may be x. */ \
    OP(l2norm_f32, void, (float *y, const float *x, size_t n, float eps)) \
    /* x (n / block, block), n % block == 0, block a power of two from 16 to 512: for strides s = 1, 2, \
     * 4 .. block / 2 in turn x[i], x[i + s] = x[i] + x[i + s], x[i] - x[i + s] for each i without \
     * the bit s. 4-byte aligned. */ \
    OP(hadamard_f32, void, (float *x, size_t n, size_t block)) \
    /* One position of a causal convolution of each channel by itself: y = bias, or +0 where bias \
     * is NULL, then fma(w[j], x[j], y) for taps j ascending, the oldest row of x first. 4-byte \
     * aligned. */ \
    OP(conv_f32, void, \
       (float *restrict y, const float *restrict x, const float *restrict w, \
        const float *restrict bias, const struct conv_shape *restrict shape)) \
    /* One step of the gated delta rule over columns of a head's state s (rows, columns); q, k \
     * (rows), o, v (columns). Per column j, sums by fma from +0, i = 0 .. rows-1 ascending: \
     *   m = sum_i s[i][j] k[i];  d = beta * fma(-decay, m, v[j]); \
     *   s[i][j] = fma(k[i], d, s[i][j] * decay);  o[j] = sum_i s[i][j] q[i]. \
     * 4-byte aligned. o may be v. */ \
    OP(delta_f32, void, \
       (float *restrict s, float *o, const float *q, const float *k, const float *v, \
        const struct state_shape *restrict shape, float decay, float beta)) \
    /* One step of Mamba2 over columns of a head's state s (rows, columns); b, c (rows), x, y \
     * (columns): s[n][p] = fma(dt * x[p], b[n], s[n][p] * decay), y[p] = sum_n s[n][p] c[n] by \
     * fma from +0, n ascending. 4-byte aligned. y may be x. */ \
    OP(mamba2_f32, void, \
       (float *restrict s, float *y, const float *x, const float *b, const float *c, \
        const struct state_shape *restrict shape, float decay, float dt)) \
    /* Attention over one tile of the cache, n positions of KV_TILE, for n_q queries of one kv \
     * head; s (n_q), 64-byte aligned rows; q, o (n_q, d) f32, 4-byte aligned. \
     * \
     * s[a].s[j] = dot(q[a], key j) for j < n, n % 16 == 0, n <= KV_TILE. k (d, KV_TILE) fp16, \
     * 16-byte aligned: the tile's keys transposed. By fma from +0, i = 0 .. d-1 ascending: a \
     * lane is a position, so no vector is ever folded. */ \
    OP(score_f32_f16, void, \
       (struct score_row *restrict s, const float *restrict q, const uint16_t *restrict k, \
        size_t n_q, size_t n, size_t d)) \
    /* The same over int8 keys, keys as below of d % 32 == 0: per block b of 32 dimensions \
     * acc = fma((float)isum, scale[b][j] * q.d, acc). q (n_q, d/32 blocks), 8-byte aligned; no q is \
     * -128. */ \
    OP(score_f32_q8, void, \
       (struct score_row *restrict s, const struct block_q8 *restrict q, const void *restrict k, \
        size_t n_q, size_t n, size_t d)) \
    /* One step of the online softmax of each row, 1 <= n <= KV_TILE: m = max(s.max, max s[0..n)) \
     * with NaNs passed over; factor = exp(s.max - m); s[j] = exp(s[j] - m) for j < n, 0 from \
     * there to KV_TILE; sum = fma(factor, sum, sum of s[0..n) in 16 lanes); max = m. */ \
    OP(online_softmax_f32, void, (struct score_row * s, size_t n_q, size_t n)) \
    /* o[a][i] *= s[a].factor, then o[a][i] = fma(s[a].s[j], v[j][i], o[a][i]) for j = 0 .. n-1 \
     * ascending. v (KV_TILE, d) fp16, 2-byte aligned. */ \
    OP(accumulate_f32_f16, void, \
       (float *restrict o, const struct score_row *restrict s, const uint16_t *restrict v, \
        size_t n_q, size_t n, size_t d)) \
    /* The same over int8 values, values as below of d % 32 == 0: fma(s[j] * scale[j][i/32], \
     * (float)v[j][i], o). */ \
    OP(accumulate_f32_q8, void, \
       (float *restrict o, const struct score_row *restrict s, const void *restrict v, size_t n_q, \
        size_t n, size_t d)) \
    /* score_f32_q8 over keys of four bits, as below, d % 32 == 0: acc = fma((float)isum * \
     * scale[b][j], q.d, acc). */ \
    OP(score_f32_q4, void, \
       (struct score_row *restrict s, const struct block_q8 *restrict q, const void *restrict k, \
        size_t n_q, size_t n, size_t d)) \
    /* o[a][i] *= s[a].factor, then o[a][i] = fma((float)isum, w[a][i/B][h].d, o[a][i]) for the \
     * halves h = 0, 1 of the tile, isum = sum w[a][i/B][h].q[j] v[32 h + j][i] over j = 0 .. 31. w \
     * (n_q, d/B, 2), 8-byte aligned; v int8 as below, of d % 32 == 0, 16-byte aligned. No byte of \
     * w and v is -128. */ \
    OP(accumulate_f32_q8_q8, void, \
       (float *restrict o, const struct score_row *restrict s, const struct block_q8 *restrict w, \
        const void *restrict v, size_t n_q, size_t d)) \
    /* The same over values of four bits. */ \
    OP(accumulate_f32_q4_q8, void, \
       (float *restrict o, const struct score_row *restrict s, const struct block_q8 *restrict w, \
        const void *restrict v, size_t n_q, size_t d)) \
    /* y = x as fp16, nearest even, overflow to infinity; n any. */ \
    OP(convert_f16_f32, void, (uint16_t *restrict y, const float *restrict x, size_t n)) \
    /* y = fp16 x as f32, exact; n any. */ \
    OP(convert_f32_f16, void, (float *restrict y, const uint16_t *restrict x, size_t n)) \
    /* Carry the register of a CRC-32C (RFC 3720, 12.1; neither end inverted here) over data: any \
     * alignment, any n. */ \
    OP(crc32c_u8, void, (uint32_t * crc, const void *data, size_t n)) \
    /* Carry the eight words h of SHA-256 (FIPS 180-4, 6.2.2), 4-byte aligned, over n blocks of 64 bytes, \
     * 8-byte aligned; n any. */ \
    OP(sha256_u8, void, (uint32_t *restrict h, const void *restrict blocks, size_t n))

/* Keys and values of a tile as int8; kv_cache.c writes them.
 *   keys    float scale[d/32][KV_TILE]; int8_t k[d/4][KV_TILE][4];   (dimension i of position j is
 *           k[i/4][j][i%4])
 *   values  float scale[KV_TILE][d/32]; int8_t v[KV_TILE][d];
 * Both 16-byte aligned, KV_TILE * (d + d/8) bytes. */

/* And in four bits, or for weights of int8. A byte holds two numbers -8 .. 7, the first in its low
 * half. B is 64 where d % 64 == 0, else 32: kv_values_block.
 *   keys    bf16 scale[d/32][KV_TILE]; uint8_t k[d/4][KV_TILE][2];   (dimensions 4g + c and 4g + 2 +
 *           c of position j are the halves of k[g][j][c])
 *   values  uint8_t v[d/B][KV_TILE/4][B][2];   (positions 4g + c and 4g + 2 + c of dimension i are
 *           the halves of v[i/B][g][i%B][c])
 *   int8 values  int8_t v[d/B][KV_TILE/4][B][4];   (position j is v[i/B][j/4][i%B][j%4])
 * So the two or four numbers that one multiplication takes lie together. */
static inline size_t kv_values_block(size_t d)
{
    return d % 64 == 0 ? 64 : 32;
}

#define KERNEL_TYPE(op, ret, args) typedef ret op##_fn args;
KERNEL_OPS(KERNEL_TYPE)
#undef KERNEL_TYPE

enum kernel_op {
#define KERNEL_OP(op, ret, args) KERNEL_##op,
    KERNEL_OPS(KERNEL_OP)
#undef KERNEL_OP
        KERNEL_N_OPS
};

/* One function per op, how far a gemv prefetches on this core, in bytes, and how many tokens a gemm
 * computes together: fewer cost it as much. gemm_pairs: but two or three do not where weights are Q4_0 or Q8_0,
 * and of other quantized types two gemvs cost less than a gemm of four. */
struct kernels {
    size_t ahead;
    size_t gemm_tokens;
    size_t gemm_pairs;
    union {
        struct {
#define KERNEL_MEMBER(op, ret, args) op##_fn *op;
            KERNEL_OPS(KERNEL_MEMBER)
#undef KERNEL_MEMBER
        };
        void (*function[KERNEL_N_OPS])(void); /* the same by number */
    };
};

/* A row of kernels.inc as data, for the tester, the bench and the boot log. */
struct kernel_row {
    enum kernel_op op;
    uint32_t features; /* bits of enum cpu_feature that all must be present */
    const char *symbol;
    void (*function)(void); /* cast to the op's type before calling */
};
extern const struct kernel_row kernel_rows[];
extern const size_t kernel_n_rows;

#define KERNEL(op, symbol, features) op##_fn symbol;
#include "kernels/kernels.inc"
#undef KERNEL

/* Fill *k with the last row of each op whose features are all in `features`; ahead = 0. */
void kernels_select(struct kernels *k, uint32_t features);

/* Put the reference of op in its place in *k. */
void kernels_use_reference(struct kernels *k, enum kernel_op op);

/* The names of all `features` as isa= takes them, in ascending order ("neon dotprod"), "ref" for
 * none, in text; returns it. */
enum { KERNELS_TEXT_BYTES = 80 };
const char *kernels_features_text(char text[KERNELS_TEXT_BYTES], uint32_t features);

/* Restrict `present` to the features that `isa=name` allows: "ref" none; "neon", "dotprod",
 * "i8mm", "sve", "rv64gc", "rvv", "zvfh", "zvknha", "avx2", "avxvnni", "avx512", "vnni" that and
 * below. Returns 0 and leaves *out alone for an unknown or absent one. */
int kernels_force(uint32_t present, const char *name, uint32_t *out);

#endif
