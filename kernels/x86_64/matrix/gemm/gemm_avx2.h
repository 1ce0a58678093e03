// The gemm of Q4_0 and Q8_0 with AVX2.
//
// Registers and loops: tiles_avx2.h.
// ymm4-ymm7 sums of four tokens in int16, ymm8-ymm11 those of high nibbles (Q8_0)  ymm12, ymm13
// weights  ymm14, ymm15 scratch
// Clobbers rax, rcx, rsi, rdi, r8-r11, ymm0-ymm15.
//
// A byte of Q8_0 plus 128 is split into two nibbles, so the sum is exact for every byte: sum w x =
// 16 sum high x + sum low x - 128 sum x. The weights of a block are unpacked once for 4 tokens. Per
// block and 4 tokens: 32 (Q4_0) or 64 (Q8_0) vpmaddubsw, the same number of additions, 32
// broadcasts and about 60 others: 35 and 60 cycles, four vector operations per cycle.
#ifndef INGOT_KERNELS_X86_64_GEMM_AVX2_H
#define INGOT_KERNELS_X86_64_GEMM_AVX2_H

#include "kernels/x86_64/matrix/tiles_avx2.h"

    .section .rodata.kernels_gemm_avx2, "aG", @progbits, kernels_gemm_avx2, comdat
    .p2align 5
    .weak   kernels_gemm_avx2
    .hidden kernels_gemm_avx2
    .type   kernels_gemm_avx2, @object
kernels_gemm_avx2:
    .fill   32, 1, 0x0f
    .fill   32, 1, 0x80
    .fill   16, 2, 1
    .fill   16, 2, 16
    .size   kernels_gemm_avx2, . - kernels_gemm_avx2

#define NIBBLE [rip + kernels_gemm_avx2]
#define FLIP [rip + kernels_gemm_avx2 + 32]
#define ONES [rip + kernels_gemm_avx2 + 64]
#define SIXTEENS [rip + kernels_gemm_avx2 + 96]

.macro multiply_four weight, chunk, begin
    .irp    t, 0, 1, 2, 3
    multiply_token %(4 + \t), \weight, (16 * \chunk + 4 * \t), \begin
    .endr
.endm

// Q4_0: 32 bytes are the chunks c and c + 4.
.macro block_q4
    .irp    c, 0, 1, 2, 3
    vmovdqu ymm12, [group + QUANTS + 32 * \c]
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, NIBBLE
    vpand   ymm13, ymm13, NIBBLE
    multiply_four 12, \c, (\c == 0)
    multiply_four 13, (\c + 4), 0
    .endr
.endm

.macro finish_q4 sum, high
    vpmaddwd ymm\sum, ymm\sum, ONES
.endm

.macro multiply_both low, high, at, begin
    vpbroadcastd ymm14, dword ptr [block + \at]
    .if \begin
    vpmaddubsw ymm\low, ymm12, ymm14
    vpmaddubsw ymm\high, ymm13, ymm14
    .else
    vpmaddubsw ymm15, ymm12, ymm14
    vpmaddubsw ymm14, ymm13, ymm14
    vpaddw  ymm\low, ymm\low, ymm15
    vpaddw  ymm\high, ymm\high, ymm14
    .endif
.endm

.macro block_q8
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    vmovdqu ymm12, [group + QUANTS + 32 * \c]
    vpxor   ymm12, ymm12, FLIP
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, NIBBLE
    vpand   ymm13, ymm13, NIBBLE
    .irp    t, 0, 1, 2, 3
    multiply_both %(4 + \t), %(8 + \t), (16 * \c + 4 * \t), (\c == 0)
    .endr
    .endr
.endm

.macro finish_q8 sum, high
    vpmaddwd ymm\sum, ymm\sum, ONES
    vpmaddwd ymm\high, ymm\high, SIXTEENS
    vpaddd  ymm\sum, ymm\sum, ymm\high
.endm

// Add one token's block to its y; ymm12: scales of the rows.
.macro add_block y, sum, high, finish, at, shift
    \finish \sum, \high
    vpbroadcastd ymm14, dword ptr [block + Q8X4_SUM + \at]
    vbroadcastss ymm13, dword ptr [block + Q8X4_SCALE + \at]
    vpslld  ymm14, ymm14, \shift
    vpsubd  ymm\sum, ymm\sum, ymm14
    vmulps  ymm13, ymm12, ymm13
    vcvtdq2ps ymm\sum, ymm\sum
    vfmadd231ps ymm\y, ymm\sum, ymm13
.endm

// columns: computes the products of a block. shift: 2^shift was added to make a weight unsigned.
.macro block_avx2 columns, finish, shift
    \columns
    vcvtph2ps ymm12, [group]
    .irp    t, 0, 1, 2, 3
    add_block \t, %(4 + \t), %(8 + \t), \finish, (4 * \t), \shift
    .endr
.endm

.macro gemm_avx2 name, columns, finish, block_bytes, shift
    gemm_tiles \name, <block_avx2 \columns, \finish, \shift>, 5, \block_bytes, Q8X4_BYTES
.endm

#endif
