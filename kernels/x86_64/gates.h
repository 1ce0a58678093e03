// The gates, one body for AVX2 and AVX-512.
//
// rdi y  rsi gate  rdx up  rcx n; all are used up  rax scratch
// ymm or zmm: 0 y  4 gate  1-3 and 5-7 scratch  masks as vectors.h says
// Clobbers rax, rcx, rdx, rsi, rdi, ymm0-ymm7, ymm13, ymm15 (AVX2), zmm0-zmm7, k1 (AVX-512).
//
// A step reads before it writes, so that y may be gate or up. Steps do not depend on each other and
// overlap in the core: silu_mul takes 14 cycles for 8 elements and 15 for 16, gelu_mul 28 and 31.
#ifndef INGOT_KERNELS_X86_64_GATES_H
#define INGOT_KERNELS_X86_64_GATES_H

#include "kernels/x86_64/gelu.h"
#include "kernels/x86_64/vectors.h"

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

.macro gate name, v, step
func \name
    for_vectors \v, left, left_32, \step
endfunc \name
.endm

#endif
