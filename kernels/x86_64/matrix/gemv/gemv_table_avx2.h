// Shared by the gemvs whose nibbles are indices into a table, with AVX2.
//
// gemv_rows.h names the registers of the loops.
// ymm1, ymm2 sums in int16; ymm3-ymm8 nibbles, values and x; ymm9 scales of the rows; ymm10, ymm11
// tables; ymm12 sums of FIG4 in int32; ymm13 sixteens; ymm14 ones; ymm15 mask of low nibbles.
// Clobbers the same as gemv_rows.h, and ymm2-ymm15.
//
// vpmaddubsw multiplies unsigned by signed bytes and saturates at 16 bits. So a value v is written
// as v + 128 = 16 h + l; one table in a register gives h, another gives l. A pair of products is at
// most 2 * 15 * 128, and an int16 adds the 8 pairs of 32 columns: 30720. sum v x = 16 sum h x + sum
// l x - 128 sum x. FIG4 adds the sums of four runs in int32, ymm12.
#ifndef INGOT_KERNELS_X86_64_GEMV_TABLE_AVX2_H
#define INGOT_KERNELS_X86_64_GEMV_TABLE_AVX2_H

#include "kernels/x86_64/matrix/gemv/gemv_table.h"

#define acc ymm0
#define sums_low ymm1
#define sums_high ymm2
#define low ymm3
#define high ymm4
#define scales ymm9
#define dots ymm12
#define table_low ymm10
#define table_high ymm11
#define sixteens ymm13
#define ones ymm14
#define nibble ymm15

// Sums += (or =) values of `nibbles` * the 4 columns of x at `x_at`.
.macro add_values nibbles, x_at, begin
    vpbroadcastd ymm5, dword ptr [block + \x_at]
    vpshufb ymm6, table_low, \nibbles
    vpshufb ymm7, table_high, \nibbles
    .if \begin
    vpmaddubsw sums_low, ymm6, ymm5
    vpmaddubsw sums_high, ymm7, ymm5
    .else
    vpmaddubsw ymm6, ymm6, ymm5
    vpmaddubsw ymm7, ymm7, ymm5
    vpaddw  sums_low, sums_low, ymm6
    vpaddw  sums_high, sums_high, ymm7
    .endif
.endm

.macro chunk w_at, x_at, begin
    vmovdqu low, [weights + \w_at]
    vpsrlw  high, low, 4
    vpand   low, low, nibble
    vpand   high, high, nibble
    add_values low, \x_at, \begin
    add_values high, (\x_at + 16), 0
.endm

// sums_low, sums_high = 32 columns at `w_at` * x at `x_at`, as int32.
.macro multiply_run w_at, x_at
    chunk   \w_at, \x_at, 1
    chunk   (\w_at + 32), (\x_at + 4), 0
    chunk   (\w_at + 64), (\x_at + 8), 0
    chunk   (\w_at + 96), (\x_at + 12), 0
    vpmaddwd sums_low, sums_low, ones
    vpmaddwd sums_high, sums_high, sixteens
.endm

// y += 32 columns at `w_at` * x at `x_at`.
.macro add_run w_at, x_at
    multiply_run \w_at, \x_at
    vpbroadcastd ymm5, dword ptr [block + \x_at + Q8_SUM]
    vpslld  ymm5, ymm5, 7           // 128 * sum of x
    vpaddd  sums_low, sums_low, sums_high
    vbroadcastss ymm6, dword ptr [block + \x_at + Q8_SCALE]
    vpsubd  sums_low, sums_low, ymm5
    vmulps  ymm6, scales, ymm6      // scale of a row * scale of x
    vcvtdq2ps sums_low, sums_low
    vfmadd231ps acc, sums_low, ymm6
.endm

.macro block_t4
    vcvtph2ps scales, [weights]
    add_run QUANTS, 0
.endm

// dots += 32 columns.
.macro collect_run w_at, x_at
    multiply_run \w_at, \x_at
    vpaddd  dots, dots, sums_low
    vpaddd  dots, dots, sums_high
.endm

// On entry eax is 16 for the second half of the block of x, else 0.
.macro begin_fig4
    vbroadcasti128 dots, [block + rax + Q8K_SUM]
    vbroadcastss scales, dword ptr [block + Q8K_SCALE]
    lea     block, [block + 8 * rax]
    vpmaddwd dots, dots, ones
    vcvtph2ps ymm3, [weights]
    vphaddd dots, dots, dots
    vmulps  scales, scales, ymm3    // scale of a row * scale of x
    vphaddd dots, dots, dots        // sum of x
    vpslld  dots, dots, 7
    vpxor   xmm3, xmm3, xmm3
    vpsubd  dots, ymm3, dots
.endm

.macro add_sums
    vcvtdq2ps dots, dots
    vfmadd231ps acc, dots, scales
.endm

.macro gemv_table body, columns, block_bytes, x_bytes
    take_table
    broadcast_word 15, 0x0f0f0f0f
    broadcast_word 14, 0x00010001
    broadcast_word 3, 0x80808080
    vpsllw  sixteens, ones, 4
    vbroadcasti128 table_low, [table_at]
    vpxor   table_low, table_low, ymm3 // values + 128
    vpsrlw  table_high, table_low, 4
    vpand   table_low, table_low, nibble
    vpand   table_high, table_high, nibble
    gemv_rows \body, \columns, \block_bytes, \x_bytes
.endm

#endif
