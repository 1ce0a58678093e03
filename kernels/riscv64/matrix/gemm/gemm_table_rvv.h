/* The RVV gemm of block_q4x8 whose nibbles are indices into a table. The table is stored as int16
 * after the scratch; vrgather looks up a column of the scratch in the table. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_TABLE_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_TABLE_RVV_H

#include "kernels/riscv64/matrix/gemm/gemm_int16_rvv.h"

#define TABLE_AT LOCALS
#define TABLE_LOCALS (LOCALS + 32)

#define column_bytes out /* while decoding */

/* Write one column of the tile, from bit \shift of its words, to \to, and advance \to. */
.macro nibble_column shift, to
    vnsrl.wi v16, v0, \shift
    vand.vi v16, v16, 15
    vrgather.vv v24, v20, v16
    vse16.v v24, (\to)
    add \to, \to, column_bytes
.endm

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

.macro decode_tile
    decode_scales
    vsetvli zero, rows, e32, m8, ta, ma
    vle32.v v8, (word_offsets)
    li temp, TABLE_AT
    add temp, temp, sp
    vsetivli zero, 16, e16, m4, ta, ma
    vle16.v v20, (temp)
    mv column_at, scratch
    srli column_bytes, pair_bytes, 1
    slli temp_1, pair_bytes, 3         /* 16 columns */
    add temp_1, temp_1, column_at
    addi temp, group_at, QUANTS
    li tokens_left, 4                  /* chunks */
.Lchunk\@:
    vsetvli zero, rows, e32, m8, ta, ma
    vluxei32.v v0, (temp), v8
    vsetvli zero, zero, e16, m4, ta, ma
    nibble_column 0, column_at
    nibble_column 4, temp_1
    nibble_column 8, column_at
    nibble_column 12, temp_1
    nibble_column 16, column_at
    nibble_column 20, temp_1
    nibble_column 24, column_at
    nibble_column 28, temp_1
    addi temp, temp, 32
    addi tokens_left, tokens_left, -1
    bnez tokens_left, .Lchunk\@
.endm

/* Body of a gemm; a4 is the table. */
.macro gemm_table
    enter_frame TABLE_LOCALS
    place_locals
    li temp, TABLE_AT
    add temp, temp, sp
    vsetivli zero, 16, e16, m2, ta, ma
    vle8.v v0, (a4)
    vsext.vf2 v2, v0
    vse16.v v2, (temp)
    load_shape COLS_LOG2, Q4X8_BYTES, Q8X4_BYTES
    add act_end, act_start, group_bytes
    measure_columns pair_bytes
    gemm_loops_32 Q4X8_BYTES, e16, eight=pair_bytes
    leave_frame TABLE_LOCALS
    ret
.endm

#endif
