/* void gemm_f32_q6kx8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                               const struct block_q8kx4 *restrict x,
 *                               const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 7.7 KiB
 * of stack.
 *
 * As gemm_rvv.h says, with tiles of 64 rows, 32 columns (two sub-blocks) at a time. The scratch
 * holds 32 - q: 8 products of -31 .. 32 and -128 .. 127 lie in -32768 .. 32512, so that 8 columns
 * sum in int16, before they go with the sub-block's scale into the int32 sums of 16 tokens, which
 * wait in the scratch. The scales of the block are negated in return, which changes no bit: y is
 * never -0.
 *
 * For 8 rows, 32 columns and a token: 25 instructions at VLEN 128, 19.5 at 256, of which decoding
 * is 4. */
#define TILE 64           /* rows */
#define COLUMN_BYTES TILE
#define load_column vle8.v
#define SUM_COLUMNS 8    /* that are summed up before they are folded */
#include "kernels/riscv64/gemm_q6k_rvv.h"

/* Where 32 columns are. */
.macro locate_part
    srli temp, part, 1
    slli temp, temp, 8
    srli temp_1, part, 2
    slli temp_1, temp_1, 8
    add act, group_at, temp
    sub step, temp_1, temp
    addi act, act, Q6K_LOW
    addi step, step, Q6K_HIGH - Q6K_LOW
.endm

/* 16 columns from act on, high bits at act + step, of one group to column_at. */
.macro decode_half
    li temp, 128
    add temp_1, act, step
    vsetvli zero, temp, e8, m8, ta, ma
    vle8.v v16, (act)
    vle8.v v24, (temp_1)
    slli temp, part, 2
    slli temp_1, part, 1
    vsrl.vx v16, v16, temp             /* by 0 or 4: the shift is taken modulo 8 */
    vsrl.vx v24, v24, temp_1           /* by 0, 2, 4, 6 */
    vand.vi v16, v16, 15
    li temp, 0x30
    vsll.vi v24, v24, 4
    vand.vx v24, v24, temp
    li temp, 32
    vor.vv v16, v16, v24
    vrsub.vx v16, v16, temp
    store_half
.endm

.macro eight_columns c, eight, at_once
    begin_columns \at_once
    four_columns \c, \eight, \at_once
    four_columns (\c) + 4, \eight, \at_once
    addi out, scale_at, (\c) / 16 * 2 * TILE
    combine dots_a, v4, 0
    combine dots_b, v12, 1
.endm

.macro multiply_pair eight, at_once
    eight_columns 0, \eight, \at_once
    eight_columns 8, \eight, \at_once
    eight_columns 16, \eight, \at_once
    eight_columns 24, \eight, \at_once
.endm

func gemm_f32_q6kx8_q8kx4_rvv, v
    enter_frame LOCALS
    scratch scale_at, SCALE_AT
    load_shape COLS_K_LOG2, Q6K_BYTES, Q8KX4_BYTES
    load_float scale_up, F32_MINUS_2P112, temp
    gemm_loops_k Q6K_BYTES, whole=1
    leave_frame LOCALS
    ret
endfunc
