// Shared by the gemms whose nibbles are indices into a table, with AVX-VNNI.
//
// Registers and loops: tiles_avx2.h.
// ymm4-ymm11 integer sums of four tokens; ymm12, ymm13 nibbles and values; ymm14 scratch; ymm15 table.
// Clobbers rax, rcx, rsi, rdi, r8-r11, ymm0-ymm15; stack: TABLE_FRAME.
//
// As in gemv_table_avx2_vnni.h, the table has value + 128; after the lookup, a block
// is treated as in gemm_avx2_vnni.h. With FIG4, a sum continues over the four runs of a block.
#ifndef INGOT_KERNELS_X86_64_GEMM_TABLE_AVX2_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_TABLE_AVX2_VNNI_H

#include "kernels/x86_64/matrix/gemm/gemm_avx2_vnni.h"
#include "kernels/x86_64/matrix/gemm/gemm_table.h"

#define SCALES (BEGIN + 16)         // of four tokens
#define LOW_NIBBLES (SCALES + 16)       // 32 bytes of low nibbles
#define TABLE_FRAME (LOW_NIBBLES + 32 + 31)

#define table_at r8

.macro place_table
    broadcast_word 15, 0x0f0f0f0f
    vmovdqa [frame + LOW_NIBBLES], ymm15
    broadcast_word 14, 0x80808080
    vbroadcasti128 ymm15, [table_at]
    vpxor   ymm15, ymm15, ymm14
.endm

.macro chunk_table w_at, x_at
    vmovdqu ymm12, [group + \w_at]
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, [frame + LOW_NIBBLES]
    vpand   ymm13, ymm13, [frame + LOW_NIBBLES]
    vpshufb ymm12, ymm15, ymm12
    vpshufb ymm13, ymm15, ymm13
    multiply_four 4, 12, \x_at
    multiply_four 8, 13, (\x_at + 64)
.endm

// Sums += 32 columns.
.macro collect_run w_at, x_at
    chunk_table \w_at, \x_at
    chunk_table (\w_at + 32), (\x_at + 16)
    chunk_table (\w_at + 64), (\x_at + 32)
    chunk_table (\w_at + 96), (\x_at + 48)
.endm

.macro block_t4
    block_vnni <collect_run QUANTS, 0>, 7
.endm

// Load the four tokens' scales and sums. Afterwards `block` points to the half in use.
.macro begin_fig4
    sum_half_of_x
    vmovups xmm13, [block + Q8KX4_SCALE]
    vpmovsxwd xmm12, xmm12
    vmovaps [frame + SCALES], xmm13
    begin_sums 7
    lea     block, [block + 8 * rax]
.endm

.macro finish_token t
    add_token \t, %(4 + \t), %(8 + \t), frame + SCALES + 4 * \t
.endm

.macro gemm_table name, body, columns, block_bytes, x_bytes
    gemm_tiles \name, \body, \columns, \block_bytes, \x_bytes, TABLE_FRAME, place_table
.endm

#endif
