// The passes of softmax, each a kernel by itself too.
#ifndef INGOT_KERNELS_X86_64_SOFTMAX_PASSES_H
#define INGOT_KERNELS_X86_64_SOFTMAX_PASSES_H

#include "kernels/x86_64/asm.h"
#include "kernels/x86_64/exp.h"

// xmm0 = max of the `left` >= 1 floats from cursor on; destroys both, rax, ymm0-ymm6. The second
// operand of vmaxps is the result where the first is NaN, and the maximum so far is never NaN.
.macro max_pass cursor, left
    broadcast_word 0, 0xff800000    // minus infinity
    vmovaps ymm1, ymm0
    sub     \left, 16
    jb      812f
811:
    vmovups ymm2, [\cursor]
    vmovups ymm3, [\cursor + 32]
    add     \cursor, 64
    vmaxps  ymm0, ymm2, ymm0
    vmaxps  ymm1, ymm3, ymm1
    sub     \left, 16
    jae     811b
812:
    add     \left, 16
    jz      813f
    lane_masks 4, 5, \left
    vmaskmovps ymm2, ymm4, [\cursor]
    vmaskmovps ymm3, ymm5, [\cursor + 32]
    vblendvps ymm2, ymm0, ymm2, ymm4 // a lane beyond the tail meets itself
    vblendvps ymm3, ymm1, ymm3, ymm5
    vmaxps  ymm0, ymm2, ymm0
    vmaxps  ymm1, ymm3, ymm1
813:
    vmaxps  ymm0, ymm0, ymm1
    vextractf128 xmm1, ymm0, 1
    vmaxps  xmm0, xmm0, xmm1
    vmovhlps xmm1, xmm0, xmm0
    vmaxps  xmm0, xmm0, xmm1
    vmovshdup xmm1, xmm0
    vmaxss  xmm0, xmm0, xmm1
.endm

// x = e^(x - max) for the `left` floats from cursor on; the sum in xmm8. Takes max in all of
// ymm10. Destroys cursor, left, rax, ymm0-ymm9, ymm11, ymm12.
.macro exp_sum_pass cursor, left
    vxorps  xmm8, xmm8, xmm8
    vxorps  xmm9, xmm9, xmm9
    sub     \left, 16
    jb      822f
821:
    vmovups ymm0, [\cursor]
    vmovups ymm1, [\cursor + 32]
    vsubps  ymm0, ymm0, ymm10
    vsubps  ymm1, ymm1, ymm10
    exp_eight 0, 2, 3, 4
    exp_eight 1, 5, 6, 7
    vmovups [\cursor], ymm0
    vmovups [\cursor + 32], ymm1
    add     \cursor, 64
    vaddps  ymm8, ymm8, ymm0
    vaddps  ymm9, ymm9, ymm1
    sub     \left, 16
    jae     821b
822:
    add     \left, 16
    jz      823f
    lane_masks 11, 12, \left
    vmaskmovps ymm0, ymm11, [\cursor]
    vmaskmovps ymm1, ymm12, [\cursor + 32]
    vsubps  ymm0, ymm0, ymm10
    vsubps  ymm1, ymm1, ymm10
    exp_eight 0, 2, 3, 4
    exp_eight 1, 5, 6, 7
    vmaskmovps [\cursor], ymm11, ymm0
    vmaskmovps [\cursor + 32], ymm12, ymm1
    vandps  ymm0, ymm0, ymm11       // what lies beyond adds 0
    vandps  ymm1, ymm1, ymm12
    vaddps  ymm8, ymm8, ymm0
    vaddps  ymm9, ymm9, ymm1
823:
    fold_lanes 8, 9
.endm

#endif
