/* The kernels are the inner loops of the model: a table of functions that is chosen once at boot.
 *
 * ref/ defines the correct results: an assembly kernel equals its reference bit for bit
 * (docs/DESIGN.md, "One result everywhere"). kernels.inc lists every kernel of every ISA.
 *
 * No kernel allocates, keeps state, starts threads or returns errors; only the references assert
 * the caller's preconditions. Pointers are aligned as stated and may not overlap unless stated. "16
 * lanes" below is the reduction order of the contract: lane i adds elements i, i + 16 and so on by
 * fma from +0. A tail is filled with zeros. Then lanes fold from 16 to 8, 4, 2 and 1 by adding the
 * upper half to the lower. */
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
    CPU_ARM64_I8MM = 1 << 5,    /* smmla, usmmla and related instructions for NEON */
    CPU_ARM64_SVE = 1 << 6,     /* SVE, any vector length */
    CPU_RV64_ZVFH = 1 << 7,     /* fp16 conversions in vectors: Zvfhmin, which Zvfh includes */
    CPU_X86_AVX512 = 1 << 8,    /* AVX-512 F, BW, DQ and VL */
    CPU_X86_VNNI = 1 << 9,      /* AVX-512 VNNI */
    CPU_ARM64_CRC =
        1 << 10, /* crc32cb and related instructions; allowed with every name except "ref" */
    CPU_RV64_ZBC = 1 << 11, /* carry-less multiplication; allowed like CRC */
    CPU_RV64_ZBB = 1 << 13, /* rotations; allowed like CRC */
    CPU_ARM64_SHA2 =
        1 << 12, /* sha256h and related instructions; allowed with every name above "neon" */
    CPU_X86_AVX_VNNI =
        1 << 14, /* vpdpbusd and related instructions with VEX coding, without AVX-512 */
    CPU_RV64_ZVKNHA = 1 << 15, /* SHA-256 in vectors, which Zvknhb includes */
};

/* The layout of a tile's keys and values as int8, which kv_cache.c writes:
 *   keys    float scale[d/32][KV_TILE]; int8_t k[d/4][KV_TILE][4];   (dimension i of position j is
 *           k[i/4][j][i%4])
 *   values  float scale[KV_TILE][d/32]; int8_t v[KV_TILE][d];
 * Each is 16-byte aligned and has KV_TILE * (d + d/8) bytes. */

/* Keys and values in four bits, and values in eight bits for int8 weights. A byte holds two numbers
 * from -8 to 7, the first in its low half. B is 64 where d % 64 == 0, else 32: kv_values_block.
 *   keys    bf16 scale[d/32][KV_TILE]; uint8_t k[d/4][KV_TILE][2];   (dimensions 4g + c and 4g + 2 +
 *           c of position j are the halves of k[g][j][c])
 *   values  uint8_t v[d/B][KV_TILE/4][B][2];   (positions 4g + c and 4g + 2 + c of dimension i are
 *           the halves of v[i/B][g][i%B][c])
 *   int8 values  int8_t v[d/B][KV_TILE/4][B][4];   (position j is v[i/B][j/4][i%B][j%4])
 * So numbers that one instruction multiplies and adds up are stored next to each other. */
static inline size_t kv_values_block(size_t d)
{
    return d % 64 == 0 ? 64 : 32;
}

/* The contract of each op is in ops.inc. */
#define KERNEL_OP(op, ret, args) typedef ret op##_fn args;
#include "kernels/ops.inc"
#undef KERNEL_OP

enum kernel_op {
#define KERNEL_OP(op, ret, args) KERNEL_##op,
#include "kernels/ops.inc"
#undef KERNEL_OP
    KERNEL_N_OPS
};

/* The function of each op. `ahead` is the prefetch distance of a gemv on this core, in bytes. A gemm takes
 * gemm_tokens tokens at a time; fewer tokens take as long, but if gemm_pairs is 1, two or three
 * tokens of Q4_0 or Q8_0 take less time. gemv_pairs is 1 if two gemvs of a quantized type take less
 * time than a gemm. */
struct kernels {
    size_t ahead;
    size_t gemm_tokens;
    size_t gemv_pairs;
    size_t gemm_pairs;
    union {
        struct {
#define KERNEL_OP(op, ret, args) op##_fn *op;
#include "kernels/ops.inc"
#undef KERNEL_OP
        };
        void (*function[KERNEL_N_OPS])(void); /* the same functions, by number */
    };
};

/* A row of kernels.inc as a struct, for the tests, the benchmark and the boot log. */
struct kernel_row {
    enum kernel_op op;
    uint32_t features; /* bits of enum cpu_feature, all of which must be present */
    const char *symbol;
    void (*function)(void); /* cast it to the op's type before calling */
};
extern const struct kernel_row kernel_rows[];
extern const size_t kernel_n_rows;

#define KERNEL(op, symbol, features) op##_fn symbol;
#include "kernels/kernels.inc"
#undef KERNEL

/* For each op, put the last row whose features are all in `features` into *k; ahead = 0. */
void kernels_select(struct kernels *k, uint32_t features);

/* Put the reference of op into *k. */
void kernels_use_reference(struct kernels *k, enum kernel_op op);

/* Write the names of `features`, as isa= spells them, to text in ascending order ("neon dotprod"),
 * or "ref" if there are none. Returns text. */
enum { KERNELS_TEXT_BYTES = 80 };
const char *kernels_features_text(char text[KERNELS_TEXT_BYTES], uint32_t features);

/* Restrict `present` to the features that `isa=name` allows. "ref" allows none; "neon", "dotprod",
 * "i8mm", "sve", "rv64gc", "rvv", "zvfh", "zvknha", "avx2", "avxvnni", "avx512" or "vnni" allows
 * its feature and the features of the names before it in its ISA. Returns 0 and leaves *out
 * unchanged if the name is unknown or the feature is absent. */
int kernels_force(uint32_t present, const char *name, uint32_t *out);

#endif
