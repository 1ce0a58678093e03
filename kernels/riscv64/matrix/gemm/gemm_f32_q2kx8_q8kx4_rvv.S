/* void gemm_f32_q2kx8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                               const struct block_q8kx4 *restrict x,
 *                               const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 9.4 KiB
 * of stack.
 *
 * As gemm_rvv.h says, with tiles of 64 rows, 32 columns (two sub-blocks) at a time. The 16 products
 * of a sub-block sum in int16, before they go with its scale into the int32 sums of 16 tokens. */
#define TILE 64           /* rows */
#define COLUMN_BYTES TILE
#define load_column vle8.v
#define SUM_COLUMNS 16    /* that are summed up before they are folded */
#define MINS 16
#include "kernels/riscv64/matrix/gemm/gemm_k16_rvv.h"

/* Scales, mins, d and dmin of the tile's block. */
.macro decode_scales
    mv act, group_at
    mv tokens_left, rows
    scratch out, SCALES_AT
    scratch step, D_AT
.Lgroup\@:
    li temp, 128
    addi temp_1, act, Q2K_SCALES
    vsetvli zero, temp, e8, m8, ta, ma
    vle8.v v0, (temp_1)
    vsrl.vi v8, v0, 4
    vand.vi v0, v0, 15
    li temp, TILE
    vsetivli zero, 16, e64, m8, ta, ma
    vsse64.v v0, (out), temp
    addi temp_1, out, MINS_AT - SCALES_AT
    vsse64.v v8, (temp_1), temp
    addi out, out, 8
    decode_d
    addi step, step, 32
    add act, act, row_bytes
    addi tokens_left, tokens_left, -8
    bgtz tokens_left, .Lgroup\@
.endm

/* 16 columns from act on, of one group to column_at. */
.macro decode_half
    li temp, 128
    vsetvli zero, temp, e8, m8, ta, ma
    vle8.v v16, (act)
    slli temp, part, 1
    vsrl.vx v16, v16, temp             /* by 0, 2, 4, 6: the shift is taken modulo 8 */
    vand.vi v16, v16, 3
    store_half
.endm

.macro decode_part
    srli temp, part, 2
    slli temp, temp, 8
    add act, group_at, temp
    addi act, act, Q2K_QUANTS
    decode_weights
    slli temp_1, part, 1
    take_scales 0
    slli temp_1, part, 1
    addi temp_1, temp_1, 1
    take_scales 1
.endm

.macro sixteen_columns c, eight, at_once
    begin_columns \at_once
    .irp first, 0, 4, 8, 12
    four_columns (\c) + \first, \eight, \at_once
    .endr
    addi out, scale_at, (\c) / 16 * 2 * TILE
    combine dots_a, v4, 0
    combine dots_b, v12, 1
.endm

.macro multiply_pair eight, at_once
    sixteen_columns 0, \eight, \at_once
    sixteen_columns 16, \eight, \at_once
.endm

func gemm_f32_q2kx8_q8kx4_rvv, v
    enter_frame LOCALS
    scratch scale_at, SCALE_AT
    load_shape COLS_K_LOG2, Q2K_BYTES, Q8KX4_BYTES
    load_float scale_up, F32_2P112, temp
    gemm_loops_k Q2K_BYTES, whole=1
    leave_frame LOCALS
    ret
endfunc
