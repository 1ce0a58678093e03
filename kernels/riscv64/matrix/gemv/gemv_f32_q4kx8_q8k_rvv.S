/* void gemv_f32_q4kx8_q8k_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                             size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 ahead. Clobbers a0-a7, t0-t6, ft0-ft1, every vector
 * register; 576 bytes of stack.
 *
 * A chunk of 32 bytes holds 4 columns of 8 rows of a sub-block (low nibbles) and of the next
 * sub-block (high nibbles). The 4 activations of a chunk are one 32-bit word, broadcast over
 * the 8 rows of one or two groups. A lane's products of a sub-block stay in int16: 8 * 15 *
 * 128 = 15360. The two sub-blocks are then placed next to each other in one register group,
 * so that one fold by narrowing shifts serves both: first in int16 (30720), then times the
 * sub-blocks' scales, widening. Between blocks of 256 columns, y holds the sums.
 *
 * The 6-bit mins, in lanes (sub-block, row), are multiplied by the sums of the
 * sub-blocks' activations, which are spread over the lanes once for both groups.
 *
 * VLEN 128 takes one chunk per step, longer vectors two: lanes 32 and up hold the next chunk. At
 * VLEN 256, the broadcasts of 64 columns fit 16 registers; they serve up to 8 groups, whose integer
 * sums are kept on the stack. Instructions per 8 rows and 32 columns: 52 at VLEN 128 for 16 rows or
 * more, 31 at 256 in tiles of 8 groups, else 44. */

#define dst a0
#define next_group a1
#define act_start a2
#define rows_left a3
#define cols a4
#define row_bytes a4   /* bytes of one group of 8 rows; reuses the register of cols */
#define ahead a5
#define act_end a6
#define act a7
#define quants0 t0     /* quants of each group: the next 64 columns */
#define quants1 t1
#define scales0 t2     /* two rows of scales of these columns */
#define scales1 t3
#define parts_left t4  /* 64 columns each */
#define single_rows scales1 /* of a single group */
#define temp t5
#define temp_1 t6
#define step_vl s0     /* bytes per step */
#define join_vl s1     /* 32: int16 lanes of a sub-block after joining */
#define scale_up ft0   /* 2^112 */
#define act_scale ft1

#define low0 v0        /* m4, int16: dots of group 0, sub-block of the low nibbles */
#define high0 v4       /* m4: the same for the high nibbles */
#define low1 v8
#define high1 v12
#define act_low v16    /* m2 */
#define act_high v18
#define packed v20     /* m2 */
#define nibbles v22    /* m2 */
#define isum0 v24      /* m4, int32: 8 rows of the even sub-blocks, then of the odd ones */
#define isum1 v28

/* For a tile at VLEN 256, up to 8 groups. */
#define group_at quants0
#define quants_from quants1 /* from the group's block */
#define scales_from scales0
#define mins_at scales1
#define n_groups s2    /* of the tile */
#define tile_block s3  /* points to the block of the tile's first group */
#define isum_at s4
#define groups_left s5
#define y_at s6
#define mask s7        /* 63 */

#include "kernels/riscv64/matrix/gemv/gemv_k_rvv.h"

/* One chunk per step: broadcast words \k and 8 + \k of x to all lanes. */
.macro take_act_1 k
    vsetivli zero, 8, e32, m2, ta, ma
    lw temp, 4*(\k)(act)
    lw temp_1, 32 + 4*(\k)(act)
    vmv.v.x act_low, temp
    vmv.v.x act_high, temp_1
.endm

/* Two chunks per step: also broadcast the next words, to lanes 8-15. */
.macro take_act_2 k
    vsetivli zero, 16, e32, m2, ta, ma
    lw temp, 4*(\k) + 4(act)
    lw temp_1, 32 + 4*(\k) + 4(act)
    vmv.v.x act_low, temp
    vmv.v.x act_high, temp_1
    lw temp, 4*(\k)(act)
    lw temp_1, 32 + 4*(\k)(act)
    vsetivli zero, 8, e32, m2, tu, ma
    vmv.v.x act_low, temp
    vmv.v.x act_high, temp_1
.endm

.macro multiply quants, k, low, high
    addi temp, \quants, 32*(\k)
    vle8.v packed, (temp)
    vand.vi nibbles, packed, 15
    vsrl.vi packed, packed, 4
    .if \k == 0
    vwmulsu.vv \low, act_low, nibbles
    vwmulsu.vv \high, act_high, packed
    .else
    vwmaccsu.vv \low, act_low, nibbles
    vwmaccsu.vv \high, act_high, packed
    .endif
.endm

.macro step chunks, groups, k
    take_act_\chunks \k
    vsetvli zero, step_vl, e8, m2, ta, ma
    multiply quants0, \k, low0, high0
    .if \groups == 2
    multiply quants1, \k, low1, high1
    .endif
.endm

/* Place the dots of both sub-blocks side by side, 32 lanes each. VLEN 128 needs no move: the dots
 * fill m8. */
.macro join_1 low, high
    vsetvli zero, join_vl, e16, m4, ta, ma
.endm

.macro join_2 low, high
    vsetvli zero, join_vl, e16, m4, ta, ma
    vslidedown.vx v16, \low, join_vl   /* the second chunk's half */
    vslidedown.vx v20, \high, join_vl
    vadd.vv \low, \low, v16
    vadd.vv \high, \high, v20
    vsetvli zero, step_vl, e16, m4, ta, ma
    vslideup.vx \low, \high, join_vl
    vsetvli zero, join_vl, e16, m4, ta, ma
.endm

/* isum += scales * dots, for both sub-blocks. */
.macro fold chunks, low, high, isum, scales
    join_\chunks \low, \high
    li temp, 63
    vnsrl.wi v16, \low, 0              /* columns 0 and 2 */
    vnsrl.wi v20, \low, 16             /* columns 1 and 3 */
    vadd.vv v16, v16, v20
    vsetivli zero, 16, e8, m1, ta, ma
    vle8.v v20, (\scales)
    addi \scales, \scales, 16
    vand.vx v20, v20, temp
    vsetvli zero, zero, e16, m2, ta, ma
    vzext.vf2 v22, v20
    vnsrl.wi v20, v16, 16
    vnsrl.wi v16, v16, 0
    vwmacc.vv \isum, v20, v22
    vwmacc.vv \isum, v16, v22
.endm

/* v8, v12 (m4, int16) = the sums of the sub-blocks' activations, lanes (sub-block, row). */
.macro spread_sums
    vsetivli zero, 8, e32, m2, ta, ma
    vle32.v v4, (act)                  /* two sums over 16 columns each */
    vsetvli zero, zero, e16, m1, ta, ma
    vnsrl.wi v0, v4, 0
    vnsrl.wi v1, v4, 16
    vadd.vv v0, v0, v1
    vsetvli zero, join_vl, e16, m4, ta, ma
    vid.v v4
    vsrl.vi v4, v4, 3
    vrgather.vv v8, v0, v4
    vadd.vi v4, v4, 4
    vrgather.vv v12, v0, v4
.endm

/* Add the upper halves to the lower: 32 lanes of v16 to 8, 16 of \isum to 8 in v20. The lanes of
 * VLEN 128 and 256 fill registers, so none has to move. */
.macro add_halves_128 isum, isum_high
    vsetivli zero, 16, e32, m4, ta, ma
    vadd.vv v16, v16, v20
    vsetivli zero, 8, e32, m2, ta, ma
    vadd.vv v20, \isum, \isum_high
    vadd.vv v16, v16, v18
.endm

.macro add_halves_256 isum, isum_high
    vsetivli zero, 16, e32, m2, ta, ma
    vadd.vv v16, v16, v18
    vsetivli zero, 8, e32, m1, ta, ma
    vadd.vv v20, \isum, \isum_high
    vadd.vv v16, v16, v17
.endm

.macro add_halves_any isum, isum_high
    vsetivli zero, 16, e32, m8, ta, ma
    vslidedown.vi v0, v16, 16
    vadd.vv v16, v16, v0
    vsetivli zero, 8, e32, m4, ta, ma
    vslidedown.vi v0, v16, 8
    vslidedown.vi v4, \isum, 8
    vadd.vv v16, v16, v0
    vadd.vv v20, \isum, v4
.endm

/* The end of a block: y = fma(-imin, dmin * x.d, fma(isum, d * x.d, y)), for 8 rows if
 * there are two groups, for `rows` rows if there is one. \mins points to the group's mins. \vlen is
 * 128, 256 or any; \isum_high (unused if \vlen is any) has lanes 8 to 15 of \isum, \dmin those of
 * v0. */
.macro finish isum, mins, y, groups, vlen, isum_high, dmin
    addi temp, \mins, K45_SCALES - K45_MINS
    vsetvli zero, join_vl, e8, m2, ta, ma
    vle8.v v0, (temp)
    addi temp, temp, 32
    vle8.v v2, (temp)
    vle8.v v4, (\mins)
    vsrl.vi v0, v0, 6
    vsrl.vi v2, v2, 6
    vand.vi v6, v4, 15
    vsrl.vi v4, v4, 4
    vsll.vi v6, v6, 2
    vsll.vi v4, v4, 2
    vor.vv v0, v0, v6                  /* mins of sub-blocks 0-3 */
    vor.vv v2, v2, v4                  /* 4-7 */
    vsetvli zero, zero, e16, m4, ta, ma
    vzext.vf2 v4, v0
    vzext.vf2 v0, v2
    vwmul.vv v16, v4, v8
    vwmacc.vv v16, v0, v12
    add_halves_\vlen \isum, \isum_high
    addi temp, \mins, -K45_MINS
    vsetivli zero, 16, e16, m2, ta, ma
    vle16.v v4, (temp)                 /* d and dmin */
    li temp, 1 << 13
    vwmul.vx v0, v4, temp              /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m4, ta, ma
    li temp, F16_SIGN_MAGNITUDE
    vand.vx v0, v0, temp
    vfmul.vf v0, v0, scale_up
    vfmul.vf v0, v0, act_scale
    .ifc \vlen, any
    vslidedown.vi \dmin, v0, 8
    .endif
    .ifc \vlen, 256
    vsetivli zero, 8, e32, m1, ta, ma
    .elseif \groups == 2
    vsetivli zero, 8, e32, m2, ta, ma
    .else
    vsetvli zero, single_rows, e32, m2, ta, ma
    .endif
    vle32.v v6, (\y)
    vfcvt.f.x.v v20, v20
    vfcvt.f.x.v v16, v16
    vfmacc.vv v6, v20, v0
    vfnmsac.vv v6, v16, \dmin
    vse32.v v6, (\y)
.endm

.macro finish_1 isum, mins, y, groups, isum_high
    finish \isum, \mins, \y, \groups, 128, \isum_high, v2
.endm

.macro finish_2 isum, mins, y, groups, isum_high
    finish \isum, \mins, \y, \groups, any, , v4
.endm

/* Multiply one block of 256 columns of one or two groups. */
.macro block chunks, groups
    vsetivli zero, 16, e32, m4, ta, ma
    vmv.v.i isum0, 0
    .if \groups == 2
    vmv.v.i isum1, 0
    .endif
    li parts_left, 4
.Lpart_\chunks\()_\groups:
    beqz ahead, .Lno_prefetch_\chunks\()_\groups
    prefetch_lines quants0, ahead, 256, temp
    .if \groups == 2
    prefetch_lines quants1, ahead, 256, temp
    .endif
.Lno_prefetch_\chunks\()_\groups:
    .if \chunks == 1
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7
    step 1, \groups, \k
    .endr
    .else
    .irp k, 0, 2, 4, 6
    step 2, \groups, \k
    .endr
    .endif
    fold \chunks, low0, high0, isum0, scales0
    addi quants0, quants0, 256
    .if \groups == 2
    fold \chunks, low1, high1, isum1, scales1
    addi quants1, quants1, 256
    .endif
    addi act, act, 64
    addi parts_left, parts_left, -1
    bnez parts_left, .Lpart_\chunks\()_\groups
    flw act_scale, Q8K_SCALE - Q8K_SUM(act)
    spread_sums
    finish_\chunks isum0, scales0, dst, \groups, v26
    addi scales0, quants0, K45_SCALES  /* quants point to the next block */
    addi quants0, quants0, K45_QUANTS
    .if \groups == 2
    addi dst, dst, 32
    finish_\chunks isum1, scales1, dst, \groups, v30
    addi dst, dst, -32
    addi scales1, quants1, K45_SCALES
    addi quants1, quants1, K45_QUANTS
    .endif
    addi act, act, Q8K_BYTES - Q8K_SUM
.endm

/* ---- VLEN 256, up to 8 groups: x in v0-v15 ---- */

.macro take_tile_acts
    vsetivli zero, 8, e32, m1, ta, ma
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    broadcast v\n, \n
    .endr
.endm

/* Four chunks at temp: at VLEN 256 a register group of m4 is 128 bytes, one of m2 is 64. */
.macro four_chunks op, low0, low1, high0, high1
    vsetvli temp_1, zero, e8, m4, ta, ma
    vle8.v v16, (temp)
    vand.vi v20, v16, 15
    vsrl.vi v16, v16, 4
    vsetvli temp_1, zero, e8, m2, ta, ma
    \op v24, \low0, v20
    vwmaccsu.vv v24, \low1, v22
    \op v28, \high0, v16
    vwmaccsu.vv v28, \high1, v18
.endm

/* Add the group's two sub-blocks at quants_from to its integer sums, and move to the next
 * group. */
.macro tile_sub_blocks
    add temp, group_at, quants_from
    four_chunks vwmulsu.vv, v0, v2, v8, v10
    addi temp, temp, 128
    four_chunks vwmaccsu.vv, v4, v6, v12, v14
    add temp, group_at, scales_from
    vsetvli temp_1, zero, e16, m2, ta, ma
    vadd.vv v24, v24, v26              /* add two chunks; sub-blocks side by side */
    vadd.vv v26, v28, v30
    vnsrl.wi v16, v24, 0               /* columns 0 and 2 */
    vnsrl.wi v18, v24, 16              /* columns 1 and 3 */
    vadd.vv v16, v16, v18
    vsetivli zero, 16, e16, m1, ta, ma
    vle8.v v20, (temp)
    vle32.v v28, (isum_at)
    vzext.vf2 v21, v20
    vnsrl.wi v22, v16, 0
    vand.vx v21, v21, mask
    vnsrl.wi v23, v16, 16
    vwmacc.vv v28, v22, v21
    vwmacc.vv v28, v23, v21
    vse32.v v28, (isum_at)
    addi isum_at, isum_at, 64
    add group_at, group_at, row_bytes
.endm

.macro begin_groups
    mv group_at, tile_block
    mv groups_left, n_groups
    mv isum_at, sp
.endm

.macro tile_block_256
    begin_groups
    clear_isums
    li quants_from, K45_QUANTS
    li scales_from, K45_SCALES
.Ltile_part:
    take_tile_acts
    begin_groups
.Ltile_group:
    beqz ahead, .Lno_tile_prefetch
    add temp, group_at, quants_from
    prefetch_lines temp, ahead, 256, temp
.Lno_tile_prefetch:
    tile_sub_blocks
    addi groups_left, groups_left, -1
    bnez groups_left, .Ltile_group
    addi quants_from, quants_from, 256
    addi scales_from, scales_from, 16
    addi act, act, 64
    li temp, K45_MINS
    bne scales_from, temp, .Ltile_part
    flw act_scale, Q8K_SCALE - Q8K_SUM(act)
    spread_sums
    begin_groups
    mv y_at, dst
.Lfinish_group:
    vsetivli zero, 16, e32, m4, ta, ma
    vle32.v isum0, (isum_at)
    addi mins_at, group_at, K45_MINS
    finish isum0, mins_at, y_at, 2, 256, v25, v1
    addi y_at, y_at, 32
    addi isum_at, isum_at, 64
    add group_at, group_at, row_bytes
    addi groups_left, groups_left, -1
    bnez groups_left, .Lfinish_group
    addi act, act, Q8K_BYTES - Q8K_SUM
    addi tile_block, tile_block, Q4K_BYTES
.endm

/* ---- any VLEN ---- */

/* Compute all rows: groups in pairs, then the last group with 1 to 8 rows. */
.macro all_rows chunks
.Lgroups_\chunks:
    beqz rows_left, .Ldone
    mv act, act_start
    addi quants0, next_group, K45_QUANTS
    addi scales0, next_group, K45_SCALES
    add next_group, next_group, row_bytes
    li temp, 16
    bltu rows_left, temp, .Lone_group_\chunks
    addi quants1, next_group, K45_QUANTS
    addi scales1, next_group, K45_SCALES
    add next_group, next_group, row_bytes
    vsetivli zero, 16, e32, m4, ta, ma
    vmv.v.i v0, 0
    vse32.v v0, (dst)
    beq act, act_end, .Lnext_two_\chunks
.Lblock_two_\chunks:
    block \chunks, 2
    bne act, act_end, .Lblock_two_\chunks
.Lnext_two_\chunks:
    addi dst, dst, 64
    addi rows_left, rows_left, -16
    j .Lgroups_\chunks

.Lone_group_\chunks:
    li single_rows, 8
    bgeu rows_left, single_rows, .Lrows_\chunks
    mv single_rows, rows_left
.Lrows_\chunks:
    vsetvli zero, single_rows, e32, m2, ta, ma
    vmv.v.i v0, 0
    vse32.v v0, (dst)
    beq act, act_end, .Lnext_one_\chunks
.Lblock_one_\chunks:
    block \chunks, 1
    bne act, act_end, .Lblock_one_\chunks
.Lnext_one_\chunks:
    addi dst, dst, 32
    sub rows_left, rows_left, single_rows
    j .Lgroups_\chunks
.endm

func gemv_f32_q4kx8_q8k_rvv, v
    enter_frame
    measure_rows COLS_K_LOG2, Q8K_BYTES, Q4K_BYTES
    li step_vl, 32
    li join_vl, 32
    csrr temp, vlenb
    bltu temp, join_vl, .Lnarrow
    bne temp, join_vl, .Lwide
    li mask, 63
    tiles_256 next_group, y_at
.Lwide:
    li step_vl, 64
    all_rows 2
.Lnarrow:
    all_rows 1
.Ldone:
    leave_frame
    ret
endfunc
