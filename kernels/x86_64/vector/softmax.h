// Softmax and its passes, each of which is also a kernel by itself, for AVX2 and AVX-512.
//
// rdi current x; rsi n left, both changed by each pass; rdx x; rcx n; rax scratch.
// AVX2: ymm0-ymm7 as in exp.h; ymm8, ymm9 16 lanes of the sum; ymm10 max; ymm13-ymm15 as
// vectors.h says.
// AVX-512: zmm0-zmm3 as in exp.h; zmm8 the sum; ymm9 scratch; zmm10 max; k1 mask.
#ifndef INGOT_KERNELS_X86_64_SOFTMAX_H
#define INGOT_KERNELS_X86_64_SOFTMAX_H

#include "kernels/x86_64/vector/exp.h"
#include "kernels/x86_64/vector/vectors.h"

#define cursor rdi
#define left rsi
#define left_32 esi
#define vector rdx
#define length rcx

#define MINUS_INFINITY 0xff800000

// xmm reg = the greatest lane of v reg. Destroys ymm other.
.macro fold_max v, reg, other
    .ifc \v, zmm
    vextractf64x4 ymm\other, zmm\reg, 1
    vmaxps  ymm\reg, ymm\reg, ymm\other
    .endif
    vextractf128 xmm\other, ymm\reg, 1
    vmaxps  xmm\reg, xmm\reg, xmm\other
    vmovhlps xmm\other, xmm\reg, xmm\reg
    vmaxps  xmm\reg, xmm\reg, xmm\other
    vmovshdup xmm\other, xmm\reg
    vmaxss  xmm\reg, xmm\reg, xmm\other
.endm

// vmaxps returns the second operand if the first is NaN, and the maximum so far is never NaN; a
// lane beyond the tail keeps its value.
.macro max_step_avx2 tail
    load_lanes 2, 3, cursor, \tail
    add     cursor, 64
    .ifnb \tail
    vblendvps ymm2, ymm0, ymm2, ymm14
    vblendvps ymm3, ymm1, ymm3, ymm15
    .endif
    vmaxps  ymm0, ymm2, ymm0
    vmaxps  ymm1, ymm3, ymm1
.endm

.macro max_step_avx512 v, tail
    load    zmm, 1, cursor, \tail
    add     cursor, 64
    .ifb \tail
    vmaxps  zmm0, zmm1, zmm0
    .else
    vmaxps  zmm0{k1}, zmm1, zmm0
    .endif
.endm

// xmm0 = max of the `left` >= 1 floats from cursor on. Destroys ymm1-ymm3 and the masks.
.macro max_pass_avx2
    broadcast_word 0, MINUS_INFINITY
    vmovaps ymm1, ymm0
    for_lanes left, max_step_avx2
    vmaxps  ymm0, ymm0, ymm1
    fold_max ymm, 0, 1
.endm

.macro max_pass_avx512
    mov     eax, MINUS_INFINITY
    vpbroadcastd zmm0, eax
    for_vectors zmm, left, left_32, max_step_avx512
    fold_max zmm, 0, 1
.endm

// ymm0, ymm1 = e^(x - max) of the x in ymm0, ymm1. Destroys ymm2-ymm7.
.macro exp_pair
    vsubps  ymm0, ymm0, ymm10
    vsubps  ymm1, ymm1, ymm10
    exp_lanes ymm, 0, 2, 3, 4
    exp_lanes ymm, 1, 5, 6, 7
.endm

// Elements beyond the tail add 0.
.macro exp_sum_step_avx2 tail
    load_lanes 0, 1, cursor, \tail
    exp_pair
    store_lanes 0, 1, cursor, \tail
    add     cursor, 64
    .ifnb \tail
    vandps  ymm0, ymm0, ymm14
    vandps  ymm1, ymm1, ymm15
    .endif
    vaddps  ymm8, ymm8, ymm0
    vaddps  ymm9, ymm9, ymm1
.endm

.macro exp_sum_step_avx512 v, tail
    load    zmm, 0, cursor, \tail
    vsubps  zmm0, zmm0, zmm10
    exp_lanes zmm, 0, 1, 2, 3
    store   zmm, 0, cursor, \tail
    add     cursor, 64
    .ifb \tail
    vaddps  zmm8, zmm8, zmm0
    .else
    vaddps  zmm8{k1}, zmm8, zmm0
    .endif
.endm

// x = e^(x - max) for the `left` floats from cursor on; xmm8 = their sum.
.macro exp_sum_pass_avx2
    vxorps  xmm8, xmm8, xmm8
    vxorps  xmm9, xmm9, xmm9
    for_lanes left, exp_sum_step_avx2
    fold_lanes 8, 9
.endm

.macro exp_sum_pass_avx512
    vxorps  xmm8, xmm8, xmm8
    for_vectors zmm, left, left_32, exp_sum_step_avx512
    fold_zmm 8, 9
.endm

.macro divide_step v, tail, y=0, inverse=8
    apply   vmulps, \v, \y, \inverse, cursor, \tail
    store   \v, \y, cursor, \tail
    advance \v, cursor
.endm

// Makes three passes over x, which stays in the first-level cache: max, e^(x - max) with its sum,
// then times 1 / sum.
.macro softmax name, isa, v, max=10, inverse=8
func \name
    mov     vector, cursor
    mov     length, left
    max_pass_\isa
    vbroadcastss \v\max, xmm0
    mov     cursor, vector
    mov     left, length
    exp_sum_pass_\isa
    vmovss  xmm0, dword ptr [rip + exp_one]
    vdivss  xmm8, xmm0, xmm8
    vbroadcastss \v\inverse, xmm8
    mov     cursor, vector
    mov     left, length
    for_vectors \v, left, left_32, divide_step
endfunc \name
.endm

#endif
