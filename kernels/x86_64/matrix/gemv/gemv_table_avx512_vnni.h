// Shared by the gemvs whose nibbles are indices into a table, with AVX-512 VNNI on vectors of 256
// bits.
//
// gemv_rows.h names the registers of the loops.
// ymm1, ymm2 integer sums; ymm16-ymm19 nibbles and values; ymm24 scales of the rows, ymm26 these
// times the scale of x; ymm25 sums of x; ymm27 mask of low nibbles; ymm28 table; ymm29 -128 as int16.
// Clobbers the same as gemv_rows.h, and ymm2, ymm16-ymm19, ymm24-ymm29.
//
// vpdpbusd multiplies unsigned by signed bytes, so the table has value + 128, and 128 * sum(x) is
// subtracted.
#ifndef INGOT_KERNELS_X86_64_GEMV_TABLE_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMV_TABLE_AVX512_VNNI_H

#include "kernels/x86_64/matrix/gemv/gemv_table.h"

.macro chunk w_at, x_at
    vmovdqu32 ymm16, [weights + \w_at]
    vpsrlw  ymm17, ymm16, 4
    vpandd  ymm16, ymm16, ymm27
    vpandd  ymm17, ymm17, ymm27
    vpshufb ymm16, ymm28, ymm16
    vpshufb ymm17, ymm28, ymm17
    vpdpbusd ymm1, ymm16, dword ptr [block + \x_at]{1to8}
    vpdpbusd ymm2, ymm17, dword ptr [block + 16 + \x_at]{1to8}
.endm

// ymm1 and ymm2 += 32 columns.
.macro collect_run w_at, x_at
    chunk   \w_at, \x_at
    chunk   (\w_at + 32), (\x_at + 4)
    chunk   (\w_at + 64), (\x_at + 8)
    chunk   (\w_at + 96), (\x_at + 12)
.endm

// y += the sums * ymm26, which is the scales of the rows * the scale of x.
.macro add_sums
    vpaddd  ymm1, ymm1, ymm2
    vcvtdq2ps ymm1, ymm1
    vfmadd231ps ymm0, ymm1, ymm26
.endm

.macro block_t4
    vcvtph2ps ymm24, [weights]
    vpbroadcastd ymm25, dword ptr [block + Q8_SUM]
    vpxor   xmm1, xmm1, xmm1
    vpslld  ymm25, ymm25, 7
    vmulps  ymm26, ymm24, dword ptr [block + Q8_SCALE]{1to8}
    vpsubd  ymm2, ymm1, ymm25
    collect_run QUANTS, 0
    add_sums
.endm

// On entry eax is 16 for the second half of the block of x, else 0.
.macro begin_fig4
    vpxor   xmm1, xmm1, xmm1
    vpxor   xmm2, xmm2, xmm2
    vbroadcasti32x4 ymm25, [block + rax + Q8K_SUM]
    vpdpwssd ymm2, ymm25, ymm29     // sums of x * -128, in four lanes
    vcvtph2ps ymm24, [weights]
    vmulps  ymm26, ymm24, dword ptr [block + Q8K_SCALE]{1to8}
    lea     block, [block + 8 * rax]
    vphaddd ymm2, ymm2, ymm2
    vphaddd ymm2, ymm2, ymm2
.endm

.macro gemv_table body, columns, block_bytes, x_bytes
    take_table
    mov     eax, 0x0f0f0f0f
    vpbroadcastd ymm27, eax
    mov     eax, 0x80808080
    vpbroadcastd ymm16, eax
    vpsraw  ymm29, ymm16, 8
    vbroadcasti32x4 ymm28, [table_at]
    vpxord  ymm28, ymm28, ymm16
    gemv_rows \body, \columns, \block_bytes, \x_bytes
.endm

#endif
