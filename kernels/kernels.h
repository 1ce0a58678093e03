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

/* Activations as the integer kernels take them: 32 columns. */
struct block_q8 {
    int8_t q[32];
    float d;     /* x ~ d * q */
    int32_t sum; /* of q[] */
};
static_assert(sizeof(struct block_q8) == 40 && offsetof(struct block_q8, d) == 32 &&
              offsetof(struct block_q8, sum) == 36, "assembly relies on this layout");

/* What a row of kernels.inc may require of the CPU. */
enum cpu_feature {
    CPU_ANY = 0,
    CPU_ARM64_NEON = 1 << 0, /* ARMv8.0-A Advanced SIMD */
    CPU_RV64_GC = 1 << 1,    /* scalar assembly for rv64gc */
    CPU_RV64_V = 1 << 2,     /* RVV 1.0, VLEN >= 128 */
    CPU_X86_AVX2 = 1 << 3,   /* AVX2, FMA and F16C */
};

/* OP(name, return type, arguments). */
#define KERNEL_OPS(OP)                                                                            \
    /* y = W x. W (rows, cols) f32, row-major, 64-byte aligned rows; x (cols), 16-byte aligned;   \
     * y (rows). cols % 16 == 0, rows any. Each dot product in 16 lanes. */                       \
    OP(gemv_f32_f32_f32, void,                                                                    \
       (float *restrict y, const void *restrict w, const float *restrict x, size_t rows,          \
        size_t cols))                                                                             \
    /* y = W x. W (rows, cols) as struct ingot_q8x8[rows/8][cols/32] (flash_image/format.h), rows \
     * padded to 8, 16-byte aligned; x (cols/32 blocks), 8-byte aligned; y (rows), only rows      \
     * entries are written. cols % 32 == 0, rows any. Scales finite.                              \
     * Per row, blocks ascending: acc = fma((float)isum, sw * x.d, acc), isum = sum w.q x.q. */   \
    OP(gemv_f32_q8x8_q8, void,                                                                    \
       (float *restrict y, const void *restrict w, const struct block_q8 *restrict x, size_t rows, \
        size_t cols))                                                                             \
    /* The same over struct ingot_q4x8: isum = sum nibble x.q - 8 * x.sum. */                     \
    OP(gemv_f32_q4x8_q8, void,                                                                    \
       (float *restrict y, const void *restrict w, const struct block_q8 *restrict x, size_t rows, \
        size_t cols))                                                                             \
    /* y = row `row` of W (.., cols) in the layouts above, as f32; y (cols), cols % 32 == 0. */   \
    OP(dequantize_f32_q8x8, void,                                                                 \
       (float *restrict y, const void *restrict w, size_t row, size_t cols))                      \
    OP(dequantize_f32_q4x8, void,                                                                 \
       (float *restrict y, const void *restrict w, size_t row, size_t cols))                      \
    /* x (n) f32 to n/32 blocks, n % 32 == 0: d = max|x| / 127 (0 stays 0), q = nearest even of   \
     * x * (127 / max|x|), sum = sum q. x finite, 16-byte aligned; y 8-byte aligned. A block      \
     * whose max|x| is below 2^-100 counts as zero: d = 0, q = 0. */                              \
    OP(quantize_q8_f32, void, (struct block_q8 *restrict y, const float *restrict x, size_t n))   \
    /* y = (x * s) * w, s = 1 / sqrt(sum x^2 / n + eps), the sum in 16 lanes; n >= 1. y may be x. \
     * 4-byte aligned. */                                                                         \
    OP(rmsnorm_f32, void, (float *y, const float *x, const float *restrict w, size_t n, float eps)) \
    /* Rotate pairs (x[2i], x[2i+1]) of one head in place, i < d/2, d even, by cos_sin[2i] =      \
     * cos, cos_sin[2i+1] = sin: (fma(-x1, sin, x0 * cos), fma(x1, cos, x0 * sin)). */            \
    OP(rope_f32_pairs, void, (float *restrict x, const float *restrict cos_sin, size_t d))        \
    /* The same for pairs (x[i], x[i + d/2]). */                                                  \
    OP(rope_f32_halves, void, (float *restrict x, const float *restrict cos_sin, size_t d))       \
    /* max(x[0..n)), n >= 1; NaNs are passed over, which zero wins is open. */                    \
    OP(max_f32, float, (const float *x, size_t n))                                                \
    /* x[i] = exp(x[i] - max) in place; returns their sum in 16 lanes (plain adds). n any. */     \
    OP(exp_sum_f32, float, (float *x, size_t n, float max))                                       \
    /* x = softmax(x) in place, n >= 1: max_f32, exp_sum_f32, then each times 1 / sum. */         \
    OP(softmax_f32, void, (float *x, size_t n))                                                   \
    /* y = (gate / (1 + exp(-gate))) * up; n any. y may be gate or up. */                         \
    OP(silu_mul_f32, void, (float *y, const float *gate, const float *up, size_t n))              \
    /* y += x; n any. */                                                                          \
    OP(add_f32, void, (float *restrict y, const float *restrict x, size_t n))                     \
    /* y[j] = dot(q, k[j]) * scale for j < n; q (d) f32, k (n, d) fp16 row-major, stride d; the   \
     * dot in 16 lanes. d any, 2-byte aligned k. */                                               \
    OP(score_f32_f16, void,                                                                       \
       (float *restrict y, const float *restrict q, const uint16_t *restrict k, size_t n, size_t d, \
        float scale))                                                                             \
    /* o[i] = fma(p[j], v[j][i], o[i]) for j = 0 .. n-1 ascending; o (d) f32, v (n, d) fp16. */   \
    OP(accumulate_f32_f16, void,                                                                  \
       (float *restrict o, const float *restrict p, const uint16_t *restrict v, size_t n, size_t d)) \
    /* y = x as fp16, nearest even, overflow to infinity; n any. */                               \
    OP(convert_f16_f32, void, (uint16_t *restrict y, const float *restrict x, size_t n))

#define KERNEL_TYPE(op, ret, args) typedef ret op##_fn args;
KERNEL_OPS(KERNEL_TYPE)
#undef KERNEL_TYPE

/* One function per op. */
struct kernels {
#define KERNEL_MEMBER(op, ret, args) op##_fn *op;
    KERNEL_OPS(KERNEL_MEMBER)
#undef KERNEL_MEMBER
};

enum kernel_op {
#define KERNEL_OP(op, ret, args) KERNEL_##op,
    KERNEL_OPS(KERNEL_OP)
#undef KERNEL_OP
    KERNEL_N_OPS
};

/* A row of kernels.inc as data, for the tester, the bench and the boot log. */
struct kernel_row {
    enum kernel_op op;
    const char *op_name;
    const char *symbol;
    uint32_t features;      /* bits of enum cpu_feature that all must be present */
    void (*function)(void); /* cast to the op's type before calling */
};
extern const struct kernel_row kernel_rows[];
extern const size_t kernel_n_rows;

#define KERNEL(op, symbol, features) op##_fn symbol;
#include "kernels/kernels.inc"
#undef KERNEL

/* Fill *k with the last row of each op whose features are all in `features`. */
void kernels_select(struct kernels *k, uint32_t features);

/* Put the reference of op in its place in *k. */
void kernels_use_reference(struct kernels *k, enum kernel_op op);

/* Name of the highest of `features` as isa= takes it ("neon", "rvv"), "ref" for none. */
const char *kernels_features_text(uint32_t features);

/* Restrict `present` to what `isa=name` allows: "ref" none, "neon", "rv64gc", "rvv", "avx2"
 * that and below. Returns 0 and leaves *out alone for an unknown or absent one. */
int kernels_force(uint32_t present, const char *name, uint32_t *out);

#endif
