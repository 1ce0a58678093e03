// void dequantize_f32_q4kx8_avx2(float *y, const void *w, size_t row, size_t cols)
//
// rdi y; rsi w, at the row's bytes; rdx row; rcx cols, then blocks left;
// r8 quants of the row, r9 scales d and dmin of the row, rax, r10 scratch;
// xmm0, xmm1 nibbles, ymm2, ymm3 scratch, ymm4 d, ymm5 dmin, ymm6 scale and ymm7 minimum of a
// sub-block, xmm8 mask of low nibbles.
// Clobbers rax, rcx, rdx, rdi, rsi, r8-r10, ymm0-ymm8.
//
// Takes two sub-blocks of 32 at a time: the low and high nibbles of the same 8 words, which are
// 32 bytes apart. A product of a scale and a nibble is exact in f32. A block takes 91 cycles.
#include "kernels/x86_64/matrix/dequantize_avx2.h"

#define out rdi
#define weights rsi
#define number rdx
#define blocks_left rcx
#define quants r8
#define halves r9
#define scale_32 eax
#define min_32 r10d

// ymm6 = (float)scale, ymm7 = dmin * (float)minimum of sub-block j.
.macro load_scales j
    movzx   scale_32, byte ptr [weights + K45_SCALES + 8 * (\j)]
    movzx   min_32, byte ptr [weights + K45_MINS + 8 * ((\j) % 4)]
    .if (\j) < 4
    and     min_32, 15
    .else
    shr     min_32, 4
    .endif
    lea     min_32, [4*r10]
    vmovd   xmm6, scale_32
    shr     scale_32, 6
    or      min_32, scale_32
    vpslld  xmm6, xmm6, 26          // keep six bits of the byte
    vpsrld  xmm6, xmm6, 26
    vmovd   xmm7, min_32
    vcvtdq2ps xmm6, xmm6
    vcvtdq2ps xmm7, xmm7
    vbroadcastss ymm6, xmm6
    vbroadcastss ymm7, xmm7
    vmulps  ymm7, ymm7, ymm5
.endm

.macro put_eight at, reg
    vpmovzxbd ymm2, xmm\reg
    vcvtdq2ps ymm2, ymm2
    vmulps  ymm2, ymm2, ymm6
    vfmsub213ps ymm2, ymm4, ymm7
    vmovups [out + \at], ymm2
.endm

// Store 16 columns from the bytes of xmm reg, which it destroys.
.macro put_sixteen_k at, reg
    put_eight \at, \reg
    vpsrldq xmm\reg, xmm\reg, 8
    put_eight \at+32, \reg
.endm

func dequantize_f32_q4kx8_avx2
    find_row weights, number, blocks_left, Q4K_BYTES, 8
    test    blocks_left, blocks_left
    jz      2f
    lea     quants, [weights + 4*number + K45_QUANTS]
    lea     halves, [weights + 2*number]
    add     weights, number
    broadcast_word 8, 0x0f0f0f0f
1:
    broadcast_half 4, halves
    broadcast_half 5, halves + K_DMIN
    .irp    p, 0, 1, 2, 3
    load_scales 2*\p
    gather_row 0, quants + 256 * \p
    gather_row 1, quants + 256 * \p + 128
    vpand   xmm3, xmm0, xmm8
    put_sixteen_k 256*\p, 3
    vpand   xmm3, xmm1, xmm8
    put_sixteen_k 256*\p+64, 3
    load_scales 2*\p+1
    vpsrlw  xmm0, xmm0, 4
    vpsrlw  xmm1, xmm1, 4
    vpand   xmm0, xmm0, xmm8
    vpand   xmm1, xmm1, xmm8
    put_sixteen_k 256*\p+128, 0
    put_sixteen_k 256*\p+192, 1
    .endr
    add     weights, Q4K_BYTES
    add     halves, Q4K_BYTES
    add     quants, Q4K_BYTES
    add     out, 1024
    dec     blocks_left
    jnz     1b
2:
endfunc dequantize_f32_q4kx8_avx2
