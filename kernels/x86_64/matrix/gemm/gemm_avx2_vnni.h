// The gemm of Q4_0 and Q8_0 by AVX-VNNI, the VEX coding of vpdpbusd.
//
// Registers and loops: tiles_avx2.h.
// ymm4-ymm7 integer sums of four tokens over chunks 0-3, ymm8-ymm11 over chunks 4-7;
// ymm12, ymm13 weights; ymm14 scratch; ymm15 mask or flip.
// Clobbers rax, rcx, rsi, rdi, r8-r11, ymm0-ymm15; stack: FRAME.
//
// A sum starts at -(the offset that made weights unsigned) * the sum of x. A token has two sums,
// because one chain of eight vpdpbusd of 5 cycles each lasts longer than a core looks ahead. A block
// and 4 tokens take 32 vpdpbusd, 32 broadcasts, 16 (Q4_0) or 8 operations to unpack, and about 40 others.
#ifndef INGOT_KERNELS_X86_64_GEMM_AVX2_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_AVX2_VNNI_H

#define AVX_VNNI
#include "kernels/x86_64/matrix/tiles_avx2.h"

// The frame holds the start values of each token's integer sum, in one cache line.
#define BEGIN 0
#define FRAME (BEGIN + 16 + 31)

.macro begin_sum sum, t
    vpbroadcastd ymm\sum, dword ptr [frame + BEGIN + 4 * \t]
.endm

.macro clear_sum sum
    vpxor   xmm\sum, xmm\sum, xmm\sum
.endm

// The sums of four tokens = -(2^shift) * xmm12.
.macro begin_sums shift
    vpxor   xmm13, xmm13, xmm13
    vpslld  xmm12, xmm12, \shift
    vpsubd  xmm12, xmm13, xmm12
    vmovdqa [frame + BEGIN], xmm12
    .irp    t, 0, 1, 2, 3
    begin_sum %(4 + \t), \t
    clear_sum %(8 + \t)
    .endr
.endm

.macro multiply_four sum, weight, at
    .irp    t, 0, 1, 2, 3
    multiply_token %(\sum + \t), \weight, (\at + 4 * \t), 0
    .endr
.endm

// Q4_0: the low nibbles of 32 bytes are chunk c, the high nibbles chunk c + 4.
.macro columns_q4
    .irp    c, 0, 1, 2, 3
    vmovdqu ymm12, [group + QUANTS + 32 * \c]
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, ymm15
    vpand   ymm13, ymm13, ymm15
    multiply_four 4, 12, (16 * \c)
    multiply_four 8, 13, (16 * \c + 64)
    .endr
.endm

.macro columns_q8
    .irp    c, 0, 1, 2, 3
    vpxor   ymm12, ymm15, [group + QUANTS + 32 * \c]
    vpxor   ymm13, ymm15, [group + QUANTS + 128 + 32 * \c]
    multiply_four 4, 12, (16 * \c)
    multiply_four 8, 13, (16 * \c + 64)
    .endr
.endm

// Add one token's sums to its y. ymm12 has the scales of the rows; `scale` is the address of x's scale.
.macro add_token y, sum, other, scale:vararg
    vpaddd  ymm\sum, ymm\sum, ymm\other
    vbroadcastss ymm14, dword ptr [\scale]
    vcvtdq2ps ymm\sum, ymm\sum
    vmulps  ymm14, ymm12, ymm14
    vfmadd231ps ymm\y, ymm\sum, ymm14
.endm

// `columns` computes the products of a block. Adding 2^shift makes a weight unsigned.
.macro block_vnni columns, shift
    vmovdqu xmm12, [block + Q8X4_SUM]
    begin_sums \shift
    \columns
    vcvtph2ps ymm12, [group]
    .irp    t, 0, 1, 2, 3
    add_token \t, %(4 + \t), %(8 + \t), block + Q8X4_SCALE + 4 * \t
    .endr
.endm

// `constant` is the mask or flip, as a word.
.macro gemm_vnni name, columns, block_bytes, shift, constant
    gemm_tiles \name, <block_vnni \columns, \shift>, 5, \block_bytes, Q8X4_BYTES, FRAME, <broadcast_word 15, \constant>
.endm

#endif
