// Shared by the gemvs whose nibbles are indices into a table, with AVX-VNNI.
//
// gemv_rows.h names the registers of the loops.
// ymm1, ymm2 integer sums; ymm3, ymm4 nibbles and values; ymm5-ymm7 x and scratch; ymm10 table;
// ymm13 -128 as int16; ymm15 mask of low nibbles.
// Clobbers the same as gemv_rows.h, and ymm2-ymm7, ymm10, ymm13, ymm15.
//
// vpdpbusd multiplies unsigned by signed bytes, so the table has value + 128, and 128 * sum(x) is
// subtracted.
#ifndef INGOT_KERNELS_X86_64_GEMV_TABLE_AVX2_VNNI_H
#define INGOT_KERNELS_X86_64_GEMV_TABLE_AVX2_VNNI_H

#include "kernels/x86_64/matrix/gemv/gemv_table.h"

.macro chunk w_at, x_at
    vmovdqu ymm3, [weights + \w_at]
    vpbroadcastd ymm5, dword ptr [block + \x_at]
    vpbroadcastd ymm6, dword ptr [block + 16 + \x_at]
    vpsrlw  ymm4, ymm3, 4
    vpand   ymm3, ymm3, ymm15
    vpand   ymm4, ymm4, ymm15
    vpshufb ymm3, ymm10, ymm3
    vpshufb ymm4, ymm10, ymm4
    {vex} vpdpbusd ymm1, ymm3, ymm5
    {vex} vpdpbusd ymm2, ymm4, ymm6
.endm

// ymm1 and ymm2 += 32 columns at `w_at` * x at `x_at`.
.macro collect_run w_at, x_at
    chunk   \w_at, \x_at
    chunk   (\w_at + 32), (\x_at + 4)
    chunk   (\w_at + 64), (\x_at + 8)
    chunk   (\w_at + 96), (\x_at + 12)
.endm

// y += the sums * ymm7, which is the scales of the rows * the scale of x.
.macro add_sums
    vpaddd  ymm1, ymm1, ymm2
    vcvtdq2ps ymm1, ymm1
    vfmadd231ps ymm0, ymm1, ymm7
.endm

.macro load_both_scales scale
    vcvtph2ps ymm7, [weights]
    vbroadcastss ymm3, dword ptr [block + \scale]
    vmulps  ymm7, ymm7, ymm3
.endm

.macro block_t4
    vpbroadcastd ymm7, dword ptr [block + Q8_SUM]
    vpxor   xmm1, xmm1, xmm1
    vpslld  ymm7, ymm7, 7
    vpsubd  ymm2, ymm1, ymm7
    load_both_scales Q8_SCALE
    collect_run QUANTS, 0
    add_sums
.endm

// On entry eax is 16 for the second half of the block of x, else 0.
.macro begin_fig4
    vpxor   xmm1, xmm1, xmm1
    vbroadcasti128 ymm2, [block + rax + Q8K_SUM]
    vpmaddwd ymm2, ymm2, ymm13      // sums of x * -128, in four lanes
    load_both_scales Q8K_SCALE
    lea     block, [block + 8 * rax]
    vphaddd ymm2, ymm2, ymm2
    vphaddd ymm2, ymm2, ymm2
.endm

.macro gemv_table body, columns, block_bytes, x_bytes
    take_table
    broadcast_word 15, 0x0f0f0f0f
    broadcast_word 3, 0x80808080
    vpsraw  ymm13, ymm3, 8
    vbroadcasti128 ymm10, [table_at]
    vpxor   ymm10, ymm10, ymm3
    gemv_rows \body, \columns, \block_bytes, \x_bytes
.endm

#endif
