/* void gemm_f32_q5kx8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                               const struct block_q8kx4 *restrict x,
 *                               const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 8.4 KiB
 * of stack.
 *
 * As gemm_rvv.h says, with tiles of 64 rows, a sub-block of 32 columns at a time. 8 products of
 * 0 .. 31 and -128 .. 127 sum in int16, before they go with the sub-block's scale into the int32
 * sums of 16 tokens. */
#define TILE 64           /* rows */
#define COLUMN_BYTES TILE
#define load_column vle8.v
#define SUM_COLUMNS 8     /* that are summed up before they are folded */
#define MINS 8
#include "kernels/riscv64/matrix/gemm/gemm_k16_rvv.h"

.macro decode_scales
    decode_six_bits
.endm

/* 16 columns from act on, fifth bits at act + step, of one group to column_at. */
.macro decode_half
    li temp, 128
    add temp_1, act, step
    vsetvli zero, temp, e8, m8, ta, ma
    vle8.v v16, (act)
    vle8.v v24, (temp_1)
    slli temp, part, 2
    vsrl.vx v16, v16, temp             /* by 0 or 4: the shift is taken modulo 8 */
    vsrl.vx v24, v24, part
    vand.vi v16, v16, 15
    vand.vi v24, v24, 1
    li temp, 16
    vmacc.vx v16, temp, v24
    store_half
.endm

.macro decode_part
    srli temp, part, 1
    slli temp, temp, 8
    add act, group_at, temp
    addi act, act, Q4K_QUANTS
    li step, Q5K_HIGH - Q4K_QUANTS
    sub step, step, temp
    decode_weights
    mv temp_1, part
    take_scales 0
.endm

.macro eight_columns c, eight, at_once
    begin_columns \at_once
    four_columns \c, \eight, \at_once
    four_columns (\c) + 4, \eight, \at_once
    mv out, scale_at
    combine dots_a, v4, 0
    combine dots_b, v12, 1
.endm

.macro multiply_pair eight, at_once
    eight_columns 0, \eight, \at_once
    eight_columns 8, \eight, \at_once
    eight_columns 16, \eight, \at_once
    eight_columns 24, \eight, \at_once
.endm

func gemm_f32_q5kx8_q8kx4_rvv, v
    enter_frame LOCALS
    scratch scale_at, SCALE_AT
    load_shape COLS_K_LOG2, Q5K_BYTES, Q8KX4_BYTES
    load_float scale_up, F32_2P112, temp
    gemm_loops_k Q5K_BYTES, whole=1
    leave_frame LOCALS
    ret
endfunc
