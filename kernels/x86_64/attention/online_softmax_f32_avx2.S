// void online_softmax_f32_avx2(struct score_row *s, size_t n_q, size_t n)
//
// rdi s; rsi n_q; rdx n, then its last 1 to 16; rcx bytes of s before these; r8 bytes into s;
// ymm0-ymm7 as in exp.h, ymm8 and ymm9 16 lanes of max and of the sum, ymm10 max, ymm11 and ymm12
// mask of the last 1 to 16 scores, ymm13 minus infinity, xmm14 max before.
// Clobbers rax, rcx, rdx, rdi, rsi, r8, ymm0-ymm14.
//
// Makes two passes over a row, 16 scores per step. Elements beyond n count as
// minus infinity: their e^x is +0, which adds nothing and is the
// required result. Steps beyond n store zeros. A row of 64 takes 125 cycles.
#include "kernels/x86_64/attention/attention.h"
#include "kernels/x86_64/vector/softmax.h"

#define row rdi
#define rows_left rsi
#define last rdx
#define whole rcx
#define position r8
#define position_32 r8d
#define minus_infinity ymm13
#define row_max ymm10
#define max_before xmm14

// ymm0, ymm1 = the last 16 scores, minus infinity beyond n.
.macro load_last
    vblendvps ymm0, minus_infinity, [row + whole], ymm11
    vblendvps ymm1, minus_infinity, [row + whole + 32], ymm12
.endm

// Replace the 16 scores x at `at`, which are in ymm0 and ymm1, by e^(x - max), and add these to
// the sum.
.macro put_exp at
    exp_pair
    vmovaps [row + \at], ymm0
    vmovaps [row + \at + 32], ymm1
    vaddps  ymm8, ymm8, ymm0
    vaddps  ymm9, ymm9, ymm1
.endm

func online_softmax_f32_avx2
    test    rows_left, rows_left
    jz      9f
    lea     whole, [last - 1]
    and     whole, -16
    sub     last, whole
    shl     whole, 2
    lane_masks 11, 12, last
    broadcast_word 13, MINUS_INFINITY
1:
    vmovaps ymm8, minus_infinity
    vmovaps ymm9, minus_infinity
    xor     position_32, position_32
    test    whole, whole
    jz      3f
2:                                  // vmaxps: the first operand may be NaN, the second may not
    vmovaps ymm2, [row + position]
    vmovaps ymm3, [row + position + 32]
    add     position, 64
    vmaxps  ymm8, ymm2, ymm8
    vmaxps  ymm9, ymm3, ymm9
    cmp     position, whole
    jb      2b
3:
    load_last
    vmaxps  ymm8, ymm0, ymm8
    vmaxps  ymm9, ymm1, ymm9
    vmaxps  ymm8, ymm8, ymm9
    vmovss  max_before, dword ptr [row + SCORE_ROW_MAX]
    fold_max ymm, 8, 9
    vmaxss  xmm8, xmm8, max_before // keep the old max if it is NaN
    vmovss  dword ptr [row + SCORE_ROW_MAX], xmm8
    vbroadcastss row_max, xmm8

    vxorps  xmm8, xmm8, xmm8
    vxorps  xmm9, xmm9, xmm9
    xor     position_32, position_32
    test    whole, whole
    jz      5f
4:
    vmovaps ymm0, [row + position]
    vmovaps ymm1, [row + position + 32]
    put_exp position
    add     position, 64
    cmp     position, whole
    jb      4b
5:
    load_last
    put_exp whole
    fold_lanes 8, 9
    vsubps  xmm0, max_before, xmm10
    exp_lanes ymm, 0, 2, 3, 4
    vmovss  dword ptr [row + SCORE_ROW_FACTOR], xmm0
    vfmadd132ss xmm0, xmm8, dword ptr [row + SCORE_ROW_SUM]
    vmovss  dword ptr [row + SCORE_ROW_SUM], xmm0

    vxorps  xmm0, xmm0, xmm0
    lea     position, [whole + 64]
    cmp     position, SCORE_ROW_MAX
    jae     7f
6:
    vmovaps [row + position], ymm0
    vmovaps [row + position + 32], ymm0
    add     position, 64
    cmp     position, SCORE_ROW_MAX
    jb      6b
7:
    add     row, SCORE_ROW_BYTES
    dec     rows_left
    jnz     1b
9:
endfunc online_softmax_f32_avx2
