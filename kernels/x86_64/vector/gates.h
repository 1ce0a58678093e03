// The gates; AVX2 and AVX-512 share one body.
//
// rdi y; rsi gate; rdx up; rcx n; all are changed; rax scratch;
// ymm or zmm: 0 y; 4 gate; 1-3 and 5-7 scratch; 8-10 some gates' constants; masks as in vectors.h.
// Clobbers rax, rcx, rdx, rsi, rdi, ymm0-ymm10, ymm13, ymm15 (AVX2), zmm0-zmm10, k1, k7 (AVX-512).
//
// A step reads before it writes, so y may be gate or up. Steps do not depend on each other and
// overlap in the core: silu_mul takes 14 cycles for 8 elements and 15 for 16, gelu_mul 28 and 31.
#ifndef INGOT_KERNELS_X86_64_GATES_H
#define INGOT_KERNELS_X86_64_GATES_H

#include "kernels/x86_64/vector/gelu.h"
#include "kernels/x86_64/vector/vectors.h"

#define out rdi
#define gates rsi
#define ups rdx
#define left rcx
#define left_32 ecx

// gate / (1 + e^-gate) * up
.macro silu_mul_step v, tail, y=0, int=1, tmp=2, sum=3, gate=4
    load    \v, \gate, gates, \tail
    op_constant vxorps, \v, \y, \gate, exp_sign
    exp_lanes \v, \y, \int, \tmp, \sum
    op_constant vaddps, \v, \y, \y, exp_one
    vdivps  \v\y, \v\gate, \v\y
    apply   vmulps, \v, \y, \y, ups, \tail
    store   \v, \y, out, \tail
    advance \v, gates, ups, out
.endm

.macro gelu_mul_step v, tail, y=0, gate=4
    load    \v, \gate, gates, \tail
    gelu_lanes \v
    apply   vmulps, \v, \y, \y, ups, \tail
    store   \v, \y, out, \tail
    advance \v, gates, ups, out
.endm

// x / (1 + e^-gate). Here `ups` points to gate, and `gates` points to x.
.macro sigmoid_mul_step v, tail, y=0, int=1, tmp=2, sum=3, x=4
    load    \v, \y, ups, \tail
    op_constant vxorps, \v, \y, \y, exp_sign
    exp_lanes \v, \y, \int, \tmp, \sum
    op_constant vaddps, \v, \y, \y, exp_one
    load    \v, \x, gates, \tail
    vdivps  \v\y, \v\x, \v\y
    store   \v, \y, out, \tail
    advance \v, gates, ups, out
.endm

// g / (1 + e^-(alpha g)) * (u + 1), where g and u are first limited. If one operand of min or max
// is NaN, the result is the second operand, so NaNs are kept.
.macro swiglu_oai_step v, tail, y=0, int=1, tmp=2, sum=3, gate=4, up=5, limit=8, lower=9, alpha=10
    apply   vminps, \v, \gate, \limit, gates, \tail
    apply   vminps, \v, \up, \limit, ups, \tail
    vmulps  \v\y, \v\gate, \v\alpha
    vmaxps  \v\up, \v\lower, \v\up
    op_constant vxorps, \v, \y, \y, exp_sign
    exp_lanes \v, \y, \int, \tmp, \sum
    op_constant vaddps, \v, \y, \y, exp_one
    op_constant vaddps, \v, \up, \up, exp_one
    vdivps  \v\y, \v\gate, \v\y
    vmulps  \v\y, \v\y, \v\up
    store   \v, \y, out, \tail
    advance \v, gates, ups, out
.endm

// max(gate, 0)^2 * up. If gate, the second operand of max, is NaN, the result is NaN.
.macro relu2_mul_step v, tail, y=0, none=8
    apply   vmaxps, \v, \y, \none, gates, \tail
    vmulps  \v\y, \v\y, \v\y
    apply   vmulps, \v, \y, \y, ups, \tail
    store   \v, \y, out, \tail
    advance \v, gates, ups, out
.endm

// gate * up alone
.macro mul_step v, tail, y=0
    load    \v, \y, gates, \tail
    apply   vmulps, \v, \y, \y, ups, \tail
    store   \v, \y, out, \tail
    advance \v, gates, ups, out
.endm

.macro gate name, v, step
func \name
    for_vectors \v, left, left_32, \step
endfunc \name
.endm

#endif
