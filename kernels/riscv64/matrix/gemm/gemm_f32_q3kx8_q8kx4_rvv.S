/* void gemm_f32_q3kx8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                               const struct block_q8kx4 *restrict x,
 *                               const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 7.7 KiB
 * of stack.
 *
 * As gemm_rvv.h says, with tiles of 64 rows, 32 columns (two sub-blocks) at a time. 16 products of -4 .. 3 sum in int16,
 * before they go with the sub-block's scale into the int32 sums of 16 tokens, which wait in the scratch. */
#define TILE 64           /* rows */
#define COLUMN_BYTES TILE
#define load_column vle8.v
#define SUM_COLUMNS 16   /* that are summed up before they are folded */
#include "kernels/riscv64/matrix/gemm/gemm_q6k_rvv.h"

.macro locate_part
    srli temp, part, 2
    slli temp, temp, 8
    add act, group_at, temp
    li step, Q3K_HIGH - Q3K_LOW
    sub step, step, temp
    addi act, act, Q3K_LOW
.endm

/* 16 columns from act on, signs at act + step, of one group to column_at. */
.macro decode_half
    li temp, 128
    add temp_1, act, step
    vsetvli zero, temp, e8, m8, ta, ma
    vle8.v v16, (act)
    vle8.v v24, (temp_1)
    slli temp, part, 1
    vsrl.vx v16, v16, temp             /* by 0, 2, 4, 6: the shift is taken modulo 8 */
    vsrl.vx v24, v24, part
    vand.vi v16, v16, 3
    vand.vi v24, v24, 1
    li temp, 4
    vnmsac.vx v16, temp, v24
    store_half
.endm

/* Weights of 32 columns of the tile, and the scales of their two sub-blocks as int16. */
.macro decode_part
    locate_part
    decode_weights
    slli temp_1, part, 7               /* 2 * TILE */
    scratch temp, SCALES_AT
    add temp_1, temp_1, temp
    vsetvli zero, rows, e16, m8, ta, ma
    vle8.v v0, (temp_1)
    addi temp_1, temp_1, TILE
    vle8.v v4, (temp_1)
    vsext.vf2 v8, v0
    vsext.vf2 v16, v4
    vse16.v v8, (scale_at)
    addi temp, scale_at, 2 * TILE
    vse16.v v16, (temp)
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

func gemm_f32_q3kx8_q8kx4_rvv, v
    enter_frame LOCALS
    scratch scale_at, SCALE_AT
    load_shape COLS_K_LOG2, Q3K_BYTES, Q8KX4_BYTES
    load_float scale_up, F32_2P112, temp
    gemm_loops_k Q3K_BYTES, whole=1
    leave_frame LOCALS
    ret
endfunc
