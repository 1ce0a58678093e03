/* void gemm_f32_fig4x8_q8kx4_rvv(float *restrict y, const void *restrict w,
 *                              const struct block_q8kx4 *restrict x,
 *                              const struct gemm_shape *restrict shape,
 *                              const struct nibble_table *restrict table)
 *
 * a0 y, a1 w, a2 x, a3 shape, a4 table. Clobbers a0-a7, t0-t6, ft0-ft1, every vector register; 9.1 KiB of
 * stack.
 *
 * As the gemm of Q8_0 but for blocks of 128 columns, which are half of one of x. The scratch has them as
 * int8, as int16 would take twice the stack, and a column is extended when it is loaded. */
#define TILE 64            /* rows */
#define SUM_COLUMNS FIG4_COLS
#define COLUMN_BYTES TILE
#define load_column load_bytes
#include "kernels/riscv64/matrix/gemm/gemm_int16_rvv.h"

#define half s6            /* of x's block, in bytes: 0 or HALF_BYTES */
#define HALF_BYTES (4 * FIG4_COLS)
#define TABLE_AT LOCALS
#define TABLE_LOCALS (LOCALS + NIBBLES)
#define runs_left t0       /* while decoding */
#define chunks_left t1

.macro load_bytes reg, at
    vle8.v v24, \at
    vsext.vf2 \reg, v24
.endm

/* Scales of the block at group_at. */
.macro decode_scales
    vsetvli zero, rows, e16, m4, ta, ma
    vle32.v v8, (scale_offsets)
    vluxei32.v v16, (group_at), v8
    li temp, 1 << 13
    vwmul.vx v24, v16, temp            /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m8, ta, ma
    vand.vx v24, v24, sign_bits
    vfmul.vf v24, v24, scale_up
    vse32.v v24, (tile_scales)
.endm

/* Write one column of the tile, bit \shift of its words and above, to \to, and advance \to. */
.macro nibble_column shift, to
    vsetvli zero, zero, e16, m4, ta, ma
    vnsrl.wi v16, v0, \shift
    vsetvli zero, zero, e8, m2, ta, ma
    vnsrl.wi v24, v16, 0
    vand.vi v24, v24, 15
    vrgather.vv v26, v20, v24
    vse8.v v26, (\to)
    addi \to, \to, COLUMN_BYTES
.endm

.macro decode_tile
    decode_scales
    li temp, TABLE_AT
    add temp, temp, sp
    vsetivli zero, NIBBLES, e8, m1, ta, ma
    vle8.v v20, (temp)
    vsetvli zero, rows, e32, m8, ta, ma
    vle32.v v8, (word_offsets)
    mv column_at, scratch
    addi temp, group_at, QUANTS
    li runs_left, FIG4_COLS / BLOCK_COLS
.Lrun\@:
    addi temp_1, column_at, 16 * COLUMN_BYTES
    li chunks_left, 4
.Lchunk\@:
    vsetvli zero, zero, e32, m8, ta, ma
    vluxei32.v v0, (temp), v8
    nibble_column 0, column_at
    nibble_column 4, temp_1
    nibble_column 8, column_at
    nibble_column 12, temp_1
    nibble_column 16, column_at
    nibble_column 20, temp_1
    nibble_column 24, column_at
    nibble_column 28, temp_1
    addi temp, temp, 32
    addi chunks_left, chunks_left, -1
    bnez chunks_left, .Lchunk\@
    mv column_at, temp_1
    addi runs_left, runs_left, -1
    bnez runs_left, .Lrun\@
.endm

.macro multiply_128 eight, at_once /* blank both */
    .irp first, 0, 16, 32, 48, 64, 80, 96, 112
    four_columns \first
    four_columns \first + 4
    four_columns \first + 8
    four_columns \first + 12
    .endr
.endm

.macro scale_half at
    sub temp, act, half
    flw act_scale, Q8KX4_SCALE + \at(temp)
.endm

/* If the tile's last block is a first half, `half` goes back to 0 as well. */
.macro next_half
    addi act_block, act_block, HALF_BYTES
    xori half, half, HALF_BYTES
    bnez half, .Lhalf\@
    addi act_block, act_block, Q8KX4_BYTES - 2 * HALF_BYTES
.Lhalf\@:
    bne act_block, act_end, .Lnext\@
    li half, 0
.Lnext\@:
.endm

/* The first half of a last block without a second is the end of x. */
.macro measure_x
    andi half, temp, 1
    add temp, temp, half
    srli temp, temp, 1
    li group_bytes, Q8KX4_BYTES
    mul group_bytes, group_bytes, temp
    add act_end, act_start, group_bytes
    beqz half, .Lwhole
    addi act_end, act_end, HALF_BYTES - Q8KX4_BYTES
    li half, 0
.Lwhole:
.endm

func gemm_f32_fig4x8_q8kx4_rvv, v
    enter_frame TABLE_LOCALS
    place_locals
    li temp, TABLE_AT
    add temp, temp, sp
    vsetivli zero, NIBBLES, e8, m1, ta, ma
    vle8.v v0, (a4)
    vse8.v v0, (temp)
    load_shape FIG4_COLS_LOG2, FIG4_BYTES, Q8KX4_BYTES
    measure_x
    gemm_loops_32 FIG4_BYTES, e16, multiply_128, scale_half, next_half
    leave_frame TABLE_LOCALS
    ret
endfunc
