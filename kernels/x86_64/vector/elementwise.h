// Kernels that apply one operation to each element, with one body for AVX2 and AVX-512.
//
// rdi y; rsi x; rdx n; all are changed; rax scratch;
// ymm or zmm: 0 y; 8 factor of scale, zeros of relu2; 4 x and 1-3, 5-7 scratch of gelu and silu;
// masks as in vectors.h.
// Clobbers rax, rdx, rsi, rdi, ymm0-ymm8, ymm13, ymm15 (AVX2), zmm0-zmm8, k1, k7 (AVX-512).
//
// A step reads before it writes, so y may be x. Steps do not depend on each other and overlap in
// the core: gelu takes 26 cycles for 8 elements (AVX2) and 30 for 16 (AVX-512).
#ifndef INGOT_KERNELS_X86_64_ELEMENTWISE_H
#define INGOT_KERNELS_X86_64_ELEMENTWISE_H

#include "kernels/x86_64/vector/gelu.h"
#include "kernels/x86_64/vector/vectors.h"

#define out rdi
#define vector rsi
#define left rdx
#define left_32 edx

.macro add_step v, tail, y=0
    load    \v, \y, out, \tail
    apply   vaddps, \v, \y, \y, vector, \tail
    store   \v, \y, out, \tail
    advance \v, vector, out
.endm

.macro scale_step v, tail, y=0, factor=8
    apply   vmulps, \v, \y, \factor, vector, \tail
    store   \v, \y, out, \tail
    advance \v, vector, out
.endm

.macro add_scaled_step v, tail, y=0, factor=8
    load    \v, \y, out, \tail
    apply   vfmadd231ps, \v, \y, \factor, vector, \tail
    store   \v, \y, out, \tail
    advance \v, vector, out
.endm

// If x, the second operand of max, is NaN, the result is NaN.
.macro relu2_step v, tail, y=0, none=8
    apply   vmaxps, \v, \y, \none, vector, \tail
    vmulps  \v\y, \v\y, \v\y
    store   \v, \y, out, \tail
    advance \v, vector, out
.endm

.macro silu_step v, tail, y=0, int=1, tmp=2, sum=3, x=4
    load    \v, \x, vector, \tail
    op_constant vxorps, \v, \y, \x, exp_sign
    exp_lanes \v, \y, \int, \tmp, \sum
    op_constant vaddps, \v, \y, \y, exp_one
    vdivps  \v\y, \v\x, \v\y
    store   \v, \y, out, \tail
    advance \v, vector, out
.endm

.macro gelu_step v, tail, y=0, x=4
    load    \v, \x, vector, \tail
    gelu_lanes \v
    store   \v, \y, out, \tail
    advance \v, vector, out
.endm

.macro elementwise name, v, step
func \name
    for_vectors \v, left, left_32, \step
endfunc \name
.endm

#endif
