// void rope_f32_halves_avx2(float *x, const float *cos_sin, size_t d)
//
// rdi x; rsi cos_sin; rdx d, even, then pairs left;
// rcx second half of x, r8 scratch;
// ymm0 and ymm1 x, ymm2 and ymm3 cos and sin, ymm4 and ymm5 scratch and masks of the tail,
// ymm6 mask of the tail's pairs.
// Clobbers rax, rcx, rdx, rdi, rsi, r8, ymm0-ymm6.
//
// Takes eight pairs per step; cos and sin alternate, and two
// shuffles for each separate them. A head of 64 takes 22 cycles.
#include "kernels/x86_64/asm.h"

#define first rdi
#define turns rsi
#define left rdx
#define second rcx
#define mask ymm6

// ymm2, ymm3 = the pairs of ymm0, ymm1 rotated by the eight cos, sin in ymm2, ymm3.
.macro turn
    vshufps ymm4, ymm2, ymm3, 0x88  // cos of pairs 0 1 4 5 2 3 6 7
    vshufps ymm5, ymm2, ymm3, 0xdd
    vpermpd ymm4, ymm4, 0xd8
    vpermpd ymm5, ymm5, 0xd8
    vmulps  ymm2, ymm0, ymm4
    vmulps  ymm3, ymm0, ymm5
    vfnmadd231ps ymm2, ymm1, ymm5
    vfmadd231ps ymm3, ymm1, ymm4
.endm

func rope_f32_halves_avx2
    lea     second, [first + 2*left]
    shr     left, 1
    sub     left, 8
    jb      2f
1:
    vmovups ymm0, [first]
    vmovups ymm1, [second]
    vmovups ymm2, [turns]
    vmovups ymm3, [turns + 32]
    turn
    vmovups [first], ymm2
    vmovups [second], ymm3
    add     first, 32
    add     second, 32
    add     turns, 64
    sub     left, 8
    jae     1b
2:
    add     left, 8
    jz      3f
    lea     r8, [left + left]
    lane_mask 6, left
    lane_masks 4, 5, r8
    vmaskmovps ymm0, mask, [first]
    vmaskmovps ymm1, mask, [second]
    vmaskmovps ymm2, ymm4, [turns]
    vmaskmovps ymm3, ymm5, [turns + 32]
    turn
    vmaskmovps [first], mask, ymm2
    vmaskmovps [second], mask, ymm3
3:
endfunc rope_f32_halves_avx2
