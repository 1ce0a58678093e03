// Shared by the gemms whose nibbles go through a table, by AVX2.
//
// Registers and loops: tiles_avx2.h.
// ymm4-ymm7 sums of four tokens in int16, ymm8-ymm11 those of high halves  ymm12, ymm13 weights  ymm14,
// ymm15 scratch; r15 the tables on the stack
// Clobbers rax, rcx, rsi, rdi, r8-r11, ymm0-ymm15.
//
// As in gemv_table_avx2.h, a value plus 128 is two nibbles, each from a table of its own. From there on
// the block is that of Q8_0 in gemm_avx2.h.
#ifndef INGOT_KERNELS_X86_64_GEMM_TABLE_AVX2_H
#define INGOT_KERNELS_X86_64_GEMM_TABLE_AVX2_H

#include "kernels/x86_64/gemm_avx2.h"

#define FRAME (64 + 31)

// To the frame, low halves of the values + 128, then high ones; x_at and w_at as before the call.
.macro place_tables
    vbroadcasti128 ymm0, [r8]
    vpxor   ymm0, ymm0, FLIP
    vpsrlw  ymm1, ymm0, 4
    vpand   ymm0, ymm0, NIBBLE
    vpand   ymm1, ymm1, NIBBLE
    vmovdqa [frame], ymm0
    vmovdqa [frame + 32], ymm1
.endm

// ymm15: nibbles of 8 rows by 4 columns, by these columns of the tokens, 16 bytes each chunk.
.macro multiply_values x_at, begin
    vmovdqa ymm12, [frame]
    vmovdqa ymm13, [frame + 32]
    vpshufb ymm12, ymm12, ymm15
    vpshufb ymm13, ymm13, ymm15
    .irp    t, 0, 1, 2, 3
    multiply_both %(4 + \t), %(8 + \t), (\x_at + 4 * \t), \begin
    .endr
.endm

.macro chunk_table w_at, x_at, begin
    vmovdqu ymm15, [group + \w_at]
    vpand   ymm15, ymm15, NIBBLE
    multiply_values \x_at, \begin
    vmovdqu ymm15, [group + \w_at]
    vpsrlw  ymm15, ymm15, 4
    vpand   ymm15, ymm15, NIBBLE
    multiply_values (\x_at + 64), 0
.endm

.macro add_run w_at, x_at
    chunk_table \w_at, \x_at, 1
    chunk_table (\w_at + 32), (\x_at + 16), 0
    chunk_table (\w_at + 64), (\x_at + 32), 0
    chunk_table (\w_at + 96), (\x_at + 48), 0
    vcvtph2ps ymm12, [group]
    .irp    t, 0, 1, 2, 3
    add_block \t, %(4 + \t), %(8 + \t), finish_q8, (\x_at + 4 * \t), 7
    .endr
.endm

.macro block_t4
    add_run QUANTS, 0
.endm

.macro block_fig4
    add_run QUANTS, 0
    add_run (QUANTS + 128), Q8X4_BYTES
    add_run (QUANTS + 256), (2 * Q8X4_BYTES)
    add_run (QUANTS + 384), (3 * Q8X4_BYTES)
.endm

.macro gemm_table name, body, columns, block_bytes, x_bytes
    gemm_tiles \name, \body, \columns, \block_bytes, \x_bytes, FRAME, place_tables
.endm

#endif
