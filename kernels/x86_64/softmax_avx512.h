// The passes of softmax by AVX-512, each a kernel by itself too.
#ifndef INGOT_KERNELS_X86_64_SOFTMAX_AVX512_H
#define INGOT_KERNELS_X86_64_SOFTMAX_AVX512_H

#include "kernels/x86_64/avx512.h"
#include "kernels/x86_64/exp.h"

// xmm reg = the greatest lane of zmm reg. Destroys zmm other.
.macro fold_max reg, other
    vextractf64x4 ymm\other, zmm\reg, 1
    vmaxps  ymm\reg, ymm\reg, ymm\other
    vextractf128 xmm\other, ymm\reg, 1
    vmaxps  xmm\reg, xmm\reg, xmm\other
    vmovhlps xmm\other, xmm\reg, xmm\reg
    vmaxps  xmm\reg, xmm\reg, xmm\other
    vmovshdup xmm\other, xmm\reg
    vmaxss  xmm\reg, xmm\reg, xmm\other
.endm

// The second operand of vmaxps is the result where the first is NaN, and the maximum so far is
// never NaN; a lane beyond the tail keeps its own.
.macro max_sixteen k, z
    vmovups zmm1\k\z, [rdi]
    add     rdi, 64
    vmaxps  zmm0\k, zmm1, zmm0
.endm

// xmm0 = max of the rsi >= 1 floats from rdi on; destroys both, rax, zmm1, k1.
.macro max_pass
    mov     eax, 0xff800000         // minus infinity
    vpbroadcastd zmm0, eax
    for_sixteens rsi, esi, max_sixteen
    fold_max 0, 1
.endm

.macro exp_sum_sixteen k, z
    vmovups zmm0\k\z, [rdi]
    vsubps  zmm0, zmm0, zmm10
    exp_sixteen 0, 1, 2, 3
    vmovups [rdi]\k, zmm0
    add     rdi, 64
    vaddps  zmm8\k, zmm8, zmm0
.endm

// x = e^(x - max) for the rsi floats from rdi on; the sum in xmm8. Takes max in all of zmm10.
// Destroys rdi, rsi, rax, zmm0-zmm3, ymm9, k1.
.macro exp_sum_pass
    vxorps  xmm8, xmm8, xmm8
    for_sixteens rsi, esi, exp_sum_sixteen
    fold_zmm 8, 9
.endm

#endif
