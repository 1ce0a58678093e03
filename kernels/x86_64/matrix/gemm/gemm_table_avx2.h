// Shared by the gemms whose nibbles are indices into a table, with AVX2.
//
// Registers and loops: tiles_avx2.h.
// ymm4-ymm7 sums of four tokens in int32; ymm8 ones; ymm9 the table; ymm10 mask of low nibbles;
// ymm11 nibbles; ymm12, ymm13 values; ymm14, ymm15 scratch.
// Clobbers rax, rcx, rsi, rdi, r8-r11, ymm0-ymm15.
//
// A value is a signed byte; after the lookup, a block is treated like one
// of Q8_0 in gemm_avx2.h. A block of FIG4 adds the sums of its four runs.
#ifndef INGOT_KERNELS_X86_64_GEMM_TABLE_AVX2_H
#define INGOT_KERNELS_X86_64_GEMM_TABLE_AVX2_H

#include "kernels/x86_64/matrix/gemm/gemm_avx2.h"
#include "kernels/x86_64/matrix/gemm/gemm_table.h"

#define FRAME (16 + 31)             // the scales of four tokens, and 31 bytes to align them

.macro place_table
    vbroadcasti128 ymm9, [r8]
    vmovdqu ymm10, NIBBLE
.endm

.macro multiply_values multiply, x_at, begin
    vpand   ymm13, ymm13, ymm10
    vpshufb ymm13, ymm9, ymm13
    \multiply \x_at, \begin
.endm

// The low nibbles of 32 bytes are chunk c, the high nibbles chunk c + 4.
.macro chunk_table multiply, w_at, x_at, begin
    vmovdqu ymm11, [group + \w_at]
    vmovdqa ymm13, ymm11
    multiply_values \multiply, \x_at, \begin
    vpsrlw  ymm13, ymm11, 4
    multiply_values \multiply, (\x_at + 64), 0
.endm

.macro multiply_run multiply, w_at, x_at, begin
    chunk_table \multiply, \w_at, \x_at, \begin
    chunk_table \multiply, (\w_at + 32), (\x_at + 16), 0
    chunk_table \multiply, (\w_at + 64), (\x_at + 32), 0
    chunk_table \multiply, (\w_at + 96), (\x_at + 48), 0
.endm

.macro block_t4 multiply
    multiply_run \multiply, QUANTS, 0, 1
    finish_signed
.endm

.macro collect multiply, w_at, x_at
    multiply_run \multiply, \w_at, \x_at, (\x_at == 0)
.endm

.macro block_fig4_signed multiply
    block_fig4 <collect \multiply,>
.endm

// Copy the four tokens' scales from the block to the frame. block then points to the half.
.macro begin_fig4
    half_of_block
    vmovups xmm13, [block + Q8KX4_SCALE]
    shl     eax, 9
    vmovaps [frame], xmm13
    add     block, rax
.endm

.macro finish_token t
    add_scaled \t, %(4 + \t), frame + 4 * \t
.endm

.macro gemm_table name, body, columns, block_bytes, tile_bytes, x_shift, x_columns, x_bytes
    gemm_signed \name, \body, \columns, \block_bytes, \tile_bytes, \x_shift, \x_columns, \x_bytes, FRAME, place_table
.endm

#endif
