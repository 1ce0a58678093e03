// Shared by the gemms whose nibbles are indices into a table, with AVX2.
//
// Registers and loops: tiles_avx2.h.
// ymm4-ymm7 sums of four tokens in int16, ymm8-ymm11 those of high halves  ymm12, ymm13 weights  ymm14,
// ymm15 scratch; r15 the tables on the stack
// Clobbers rax, rcx, rsi, rdi, r8-r11, ymm0-ymm15.
//
// As in gemv_table_avx2.h, a value plus 128 is two nibbles, each from its own table. From there on the
// block is that of Q8_0 in gemm_avx2.h; FIG4 adds the sums of four runs in int32 on the stack.
#ifndef INGOT_KERNELS_X86_64_GEMM_TABLE_AVX2_H
#define INGOT_KERNELS_X86_64_GEMM_TABLE_AVX2_H

#include "kernels/x86_64/matrix/gemm/gemm_avx2.h"
#include "kernels/x86_64/matrix/gemm/gemm_table.h"

#define TOTALS 64                   // int32 of 8 rows by four tokens
#define X_SUMS (TOTALS + 128)       // of four tokens, times 128
#define X_SCALES (X_SUMS + 16)
#define FRAME (X_SCALES + 16 + 31)

// Store to the frame the low halves of the values + 128, then the high ones; x_at and w_at are as
// before the call.
.macro place_tables
    vbroadcasti128 ymm0, [r8]
    vpxor   ymm0, ymm0, FLIP
    vpsrlw  ymm1, ymm0, 4
    vpand   ymm0, ymm0, NIBBLE
    vpand   ymm1, ymm1, NIBBLE
    vmovdqa [frame], ymm0
    vmovdqa [frame + 32], ymm1
.endm

// ymm15: nibbles of 8 rows by 4 columns, times these columns of the tokens, 16 bytes per chunk.
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

.macro multiply_run w_at, x_at
    chunk_table \w_at, \x_at, 1
    chunk_table (\w_at + 32), (\x_at + 16), 0
    chunk_table (\w_at + 64), (\x_at + 32), 0
    chunk_table (\w_at + 96), (\x_at + 48), 0
.endm

.macro add_run w_at, x_at
    multiply_run \w_at, \x_at
    vcvtph2ps ymm12, [group]
    .irp    t, 0, 1, 2, 3
    add_block \t, %(4 + \t), %(8 + \t), finish_q8, (\x_at + 4 * \t), 7
    .endr
.endm

.macro block_t4
    add_run QUANTS, 0
.endm

.macro collect_token t, sum, high
    finish_q8 \sum, \high
    vpaddd  ymm\sum, ymm\sum, [frame + TOTALS + 32 * \t]
    vmovdqa [frame + TOTALS + 32 * \t], ymm\sum
.endm

// Totals += 32 columns.
.macro collect_run w_at, x_at
    multiply_run \w_at, \x_at
    .irp    t, 0, 1, 2, 3
    collect_token \t, %(4 + \t), %(8 + \t)
    .endr
.endm

// Copy the data that follow the four tokens' columns to the frame. Afterwards block points to their
// half.
.macro begin_fig4
    sum_half_of_x
    vpmovsxwd xmm12, xmm12
    vpslld  xmm12, xmm12, 7
    vmovups xmm13, [block + Q8KX4_SCALE]
    vmovdqa [frame + X_SUMS], xmm12
    vmovaps [frame + X_SCALES], xmm13
    vpxor   xmm12, xmm12, xmm12
    .irp    t, 0, 1, 2, 3
    vmovdqa [frame + TOTALS + 32 * \t], ymm12
    .endr
    lea     block, [block + 8 * rax]
.endm

.macro finish_token t
    vmovdqa ymm13, [frame + TOTALS + 32 * \t]
    vpbroadcastd ymm14, dword ptr [frame + X_SUMS + 4 * \t]
    vbroadcastss ymm15, dword ptr [frame + X_SCALES + 4 * \t]
    vpsubd  ymm13, ymm13, ymm14
    vmulps  ymm15, ymm12, ymm15
    vcvtdq2ps ymm13, ymm13
    vfmadd231ps ymm\t, ymm13, ymm15
.endm

.macro gemm_table name, body, columns, block_bytes, x_bytes
    gemm_tiles \name, \body, \columns, \block_bytes, \x_bytes, FRAME, place_tables
.endm

#endif
