// The gemm of Q4_1, Q5_0 and Q5_1 with AVX2, or with AVX-VNNI if a kernel defines AVX_VNNI before it
// includes this header.
//
// Registers and loops: tiles_avx2.h.
// ymm4-ymm7 sums of four tokens over low nibbles, ymm8-ymm11 over high nibbles, in int16 (AVX2) or int32;
// then ymm8 minima; ymm12, ymm13 weights, then scales; ymm14 scratch; ymm15 mask of low nibbles.
// Clobbers rax, rcx, rsi, rdi, r8-r11, ymm0-ymm15.
//
// The arithmetic is that of gemv_mins_avx2.h. Weights of a block are unpacked once for 4 tokens.
#ifndef INGOT_KERNELS_X86_64_GEMM_MINS_AVX2_H
#define INGOT_KERNELS_X86_64_GEMM_MINS_AVX2_H

#include "kernels/x86_64/matrix/tiles_avx2.h"

    .section .rodata.kernels_gemm_mins, "aG", @progbits, kernels_gemm_mins, comdat
    .p2align 5
    .weak   kernels_gemm_mins
    .hidden kernels_gemm_mins
    .type   kernels_gemm_mins, @object
kernels_gemm_mins:
    .fill   32, 1, 0x10
    .fill   16, 2, 1
    .size   kernels_gemm_mins, . - kernels_gemm_mins

#define FIFTH [rip + kernels_gemm_mins]
#define ONES [rip + kernels_gemm_mins + 32]

// Add bit `bit` of the bytes at group + high to ymm weight, as the fifth bit.
.macro add_fifth weight, bit, high
    vmovdqu ymm14, [group + \high]
    .if \bit < 4
    vpsllw  ymm14, ymm14, 4 - \bit
    .elseif \bit > 4
    vpsrlw  ymm14, ymm14, \bit - 4
    .endif
    vpand   ymm14, ymm14, FIFTH
    vpor    ymm\weight, ymm\weight, ymm14
.endm

.macro multiply_four sum, weight, at, begin
    .irp    t, 0, 1, 2, 3
    multiply_token %(\sum + \t), \weight, (\at + 4 * \t), \begin
    .endr
.endm

// The low nibbles of 32 bytes are chunk c, the high nibbles chunk c + 4.
.macro columns_mins quants, high
    .irp    c, 0, 1, 2, 3
    vmovdqu ymm12, [group + \quants + 32 * \c]
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, ymm15
    vpand   ymm13, ymm13, ymm15
    .if \high
    add_fifth 12, \c, \high
    add_fifth 13, (\c + 4), \high
    .endif
    multiply_four 4, 12, (16 * \c), (\c == 0)
    multiply_four 8, 13, (16 * \c + 64), (\c == 0)
    .endr
.endm

.macro add_halves sum, other, high
#ifdef AVX_VNNI
    vpaddd  ymm\sum, ymm\sum, ymm\other
#else
    .if \high
    vpmaddwd ymm\sum, ymm\sum, ONES
    vpmaddwd ymm\other, ymm\other, ONES
    vpaddd  ymm\sum, ymm\sum, ymm\other
    .else
    vpaddw  ymm\sum, ymm\sum, ymm\other
    vpmaddwd ymm\sum, ymm\sum, ONES
    .endif
#endif
.endm

// Add one token's block to its y. ymm12 has the scales of the rows, ymm8 their minima.
.macro add_token y, sum, at, mins
    vbroadcastss ymm14, dword ptr [block + Q8X4_SCALE + \at]
    vpbroadcastd ymm13, dword ptr [block + Q8X4_SUM + \at]
    .if \mins
    vcvtdq2ps ymm13, ymm13
    vmulps  ymm13, ymm13, ymm14
    .else
    vpslld  ymm13, ymm13, 4
    vpsubd  ymm\sum, ymm\sum, ymm13
    .endif
    vmulps  ymm14, ymm12, ymm14
    vcvtdq2ps ymm\sum, ymm\sum
    vfmadd231ps ymm\y, ymm\sum, ymm14
    .if \mins
    vfmadd231ps ymm\y, ymm8, ymm13
    .endif
.endm

// The arguments are offsets in a block of w: of the quants, of the fifth bits (0: none) and of the
// minima (0: none).
.macro block_mins quants, high, mins
    columns_mins \quants, \high
    .irp    t, 0, 1, 2, 3
    add_halves %(4 + \t), %(8 + \t), \high
    .endr
    vcvtph2ps ymm12, [group]
    .if \mins
    vcvtph2ps ymm8, [group + \mins]
    .endif
    .irp    t, 0, 1, 2, 3
    add_token \t, %(4 + \t), (4 * \t), \mins
    .endr
.endm

.macro gemm_mins name, block_bytes, quants, high, mins
    gemm_tiles \name, <block_mins \quants, \high, \mins>, 5, \block_bytes, Q8X4_BYTES, 0, <broadcast_word 15, 0x0f0f0f0f>
.endm

#endif
