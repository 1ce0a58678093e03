/* void online_softmax_f32_rvv(struct score_row *s, size_t n_q, size_t n)
 *
 * a0 s, a1 n_q, a2 n (1 to 64). Clobbers a0-a1, a3-a5, t0-t1, ft0-ft8, fa0-fa6, v0-v31.
 *
 * Computes for each row the maximum, exp in groups of 8 registers, the factor as a group
 * of one lane, and the sum in 16 lanes. The sum covers all 64 scores, because scores
 * from n on are zero then. A row takes 110 instructions, and 29 for each 8 registers. */
#include "kernels/riscv64/vector/exp_rvv.h"

#define row a0
#define rows_left a1
#define count a2
#define position a3
#define left a4
#define vtype_16 a5
#define taken t0
#define temp t1
#define tile_max fa0   /* later the sum of this tile */
#define old_max fa1    /* later its distance to the new maximum, then the factor */
#define new_max fa2
#define sum ft8

func online_softmax_f32_rvv, v
    exp_fall_constants temp
    set_16_lanes vtype_16, temp
    beqz rows_left, .Ldone
.Lrow:
    mv position, row
    mv left, count
    max_of tile_max, position, left, taken, temp
    flw old_max, SCORE_ROW_MAX(row)
    fmv.s new_max, old_max
    flt.s temp, old_max, tile_max
    beqz temp, .Lexp
    fmv.s new_max, tile_max
.Lexp:
    mv position, row
    mv left, count
    exp_all position, left, new_max, exp_of_fall, taken, temp

    li left, KV_TILE
    sub left, left, count
    beqz left, .Lfactor
.Lzero:
    vsetvli taken, left, e32, m8, ta, ma
    vmv.v.i v0, 0
    slli temp, taken, 2
    vse32.v v0, (position)
    sub left, left, taken
    add position, position, temp
    bnez left, .Lzero
.Lfactor:
    fsub.s old_max, old_max, new_max
    vsetivli zero, 1, e32, m1, ta, ma
    vfmv.s.f v0, old_max
    exp_of_fall v3, v0, v1, v2
    vfmv.f.s old_max, v3

    li temp, 16
    vsetvl zero, temp, vtype_16
    vle32.v v0, (row)
    addi position, row, 64
    vle32.v v4, (position)
    addi position, row, 128
    vle32.v v8, (position)
    addi position, row, 192
    vle32.v v12, (position)
    vfadd.vv v0, v0, v4
    vfadd.vv v0, v0, v8
    vfadd.vv v0, v0, v12
    fold_16_lanes tile_max, v0, v4
    flw sum, SCORE_ROW_SUM(row)
    fsw new_max, SCORE_ROW_MAX(row)
    fsw old_max, SCORE_ROW_FACTOR(row)
    fmadd.s sum, old_max, sum, tile_max
    addi rows_left, rows_left, -1
    fsw sum, SCORE_ROW_SUM(row)
    addi row, row, SCORE_ROW_BYTES
    bnez rows_left, .Lrow
.Ldone:
    ret
endfunc
