// void online_softmax_f32_avx512(struct score_row *s, size_t n_q, size_t n)
//
// rdi s; rsi n_q; rdx n; all are changed; rax, rcx scratch;
// zmm0-zmm3 64 scores, zmm4-zmm6 scratch, xmm7 max, xmm8 max before, zmm9 minus infinity, zmm10 sum;
// k1-k4 the first n of 64 lanes.
// Clobbers rax, rcx, rdx, rdi, rsi, zmm0-zmm10, k1-k4, k7.
//
// Takes one row at a time, all in registers. Elements beyond n count as minus infinity: their e^x
// is +0, which adds nothing and is the required result. A row takes 120 instructions and 96 cycles.
#include "kernels/x86_64/attention/attention.h"
#include "kernels/x86_64/vector/softmax.h"

#define row rdi
#define rows_left rsi
#define n_positions_32 edx
#define minus_infinity zmm9

func online_softmax_f32_avx512
    test    rows_left, rows_left
    jz      9f
    mov     rax, -1
    mov     ecx, KV_TILE
    sub     ecx, n_positions_32
    shr     rax, cl
    kmovq   k1, rax
    kshiftrq k2, k1, 16
    kshiftrq k3, k1, 32
    kshiftrq k4, k1, 48
    mov     eax, MINUS_INFINITY
    vpbroadcastd minus_infinity, eax
1:
    vblendmps zmm0{k1}, minus_infinity, [row]
    vblendmps zmm1{k2}, minus_infinity, [row + 64]
    vblendmps zmm2{k3}, minus_infinity, [row + 128]
    vblendmps zmm3{k4}, minus_infinity, [row + 192]
    vmovss  xmm8, dword ptr [row + SCORE_ROW_MAX]
    vmaxps  zmm4, zmm0, minus_infinity // a NaN becomes the second operand, minus infinity
    vmaxps  zmm5, zmm1, minus_infinity
    vmaxps  zmm4, zmm2, zmm4
    vmaxps  zmm5, zmm3, zmm5
    vmaxps  zmm4, zmm4, zmm5
    fold_max zmm, 4, 5
    vmaxss  xmm7, xmm4, xmm8        // keep the old max if it is NaN
    vmovss  dword ptr [row + SCORE_ROW_MAX], xmm7
    vsubss  xmm8, xmm8, xmm7
    vbroadcastss zmm7, xmm7
    vsubps  zmm0, zmm0, zmm7
    vsubps  zmm1, zmm1, zmm7
    vsubps  zmm2, zmm2, zmm7
    vsubps  zmm3, zmm3, zmm7
    .irp    reg, 0, 1, 2, 3, 8
    exp_lanes zmm, \reg, 4, 5, 6
    .endr
    vmovaps [row], zmm0
    vmovaps [row + 64], zmm1
    vmovaps [row + 128], zmm2
    vmovaps [row + 192], zmm3
    vaddps  zmm10, zmm0, zmm1       // each lane adds in order; the +0 beyond n change nothing
    vaddps  zmm10, zmm10, zmm2
    vaddps  zmm10, zmm10, zmm3
    fold_zmm 10, 4
    vmovss  dword ptr [row + SCORE_ROW_FACTOR], xmm8
    vfmadd132ss xmm8, xmm10, dword ptr [row + SCORE_ROW_SUM]
    vmovss  dword ptr [row + SCORE_ROW_SUM], xmm8
    add     row, SCORE_ROW_BYTES
    dec     rows_left
    jnz     1b
9:
endfunc online_softmax_f32_avx512
