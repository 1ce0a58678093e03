/* void gemv_f32_q4x8_q8_rvv(float *restrict y, const void *restrict w,
 *                           const struct block_q8 *restrict x, size_t rows, size_t cols,
 *                           size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 ahead. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft1, every
 * vector register; 608 bytes of stack.
 *
 * A chunk of 32 bytes holds 4 columns of 8 rows (low nibbles) and the 4 columns 16 further on
 * (high nibbles). The 4 activations of a chunk are one 32-bit word, broadcast over the 8 rows; the
 * 8 broadcasts of a block serve up to 8 groups (a tile of 64 rows), and y carries the sums from
 * block to block. Nibbles stay unsigned and the products of a lane stay in int16 for the whole
 * block: 8 * 15 * 128 = 15360. The dots of a set of groups lie one after the other in 8 registers
 * and their lanes, four to a row, fold at once by narrowing shifts, first in int16 (30720), then
 * widening; the bias 8 of the nibbles is taken off as 8 * x.sum.
 *
 * At VLEN 128 a group is multiplied 64 bytes at a time, two chunks at once; its dots go to the stack, as x
 * fills half of the registers, and the groups of a tile are folded and added to y four at a time. At 256 a
 * set of four groups fills 8 registers, each multiplied whole. Longer vectors and the last groups take one chunk
 * and one group at a time.
 * Instructions for 8 rows and 32 columns, in tiles of 8 groups: 29 at VLEN 128, 22 at 256;
 * a group alone: 68. */

#define dst a0
#define next_group a1  /* the argument w */
#define act_start a2
#define rows_left a3
#define cols a4
#define row_bytes a4   /* of one group of 8 rows; when cols is done with */
#define ahead a5
#define act_end a6
#define act a7
#define group t0
#define tile_block t1  /* the block of the tile's first group */
#define out t2
#define bias t3        /* 8 * x.sum */
#define sets_left t4
#define temp t5
#define sign_bits t6   /* F16_SIGN_MAGNITUDE */
#define n_sets s0      /* of the tile */
#define set_rows s1
#define shift_up s2    /* 2^13 */
#define set_at s3      /* a set's first group */
#define spill_at n_sets /* VLEN 128: dots of a group */
#define tile_rows set_rows
#define tile_left sets_left /* rows */
#define words_left s4  /* four scales each, of the tile's groups */
#define tile_bytes s5  /* of its groups */
#define set_bytes s6
#define group_end s7
#define scale_up ft0   /* 2^112 */
#define act_scale ft1

#define TILE 64        /* rows */
#define SCALES_BYTES 32 /* offsets of a set's scales, then what is saved, then dots of a tile's groups */
#define DOTS_AT (SCALES_BYTES + 64)
#define GROUP_DOTS 64
#define FRAME_BYTES (DOTS_AT + TILE / GROUP_ROWS * GROUP_DOTS)

#include "kernels/riscv64/gemv_rvv.h"

/* Word k of x to all lanes of the k-th group of registers from v0 on: of m2, or of m1. */
.macro take_act_m2
    vsetivli zero, 8, e32, m2, ta, ma
    broadcast v0, 0
    broadcast v2, 1
    broadcast v4, 2
    broadcast v6, 3
    broadcast v8, 4
    broadcast v10, 5
    broadcast v12, 6
    broadcast v14, 7
    take_act_sums
.endm

.macro take_act_m1
    vsetivli zero, 8, e32, m1, ta, ma
    broadcast v0, 0
    broadcast v1, 1
    broadcast v2, 2
    broadcast v3, 3
    broadcast v4, 4
    broadcast v5, 5
    broadcast v6, 6
    broadcast v7, 7
    take_act_sums
.endm

.macro take_act_sums
    lw bias, Q8_SUM(act)
    flw act_scale, Q8_SCALE(act)
    slli bias, bias, 3
.endm

/* ---- VLEN 128: x in v0-v15, dots of a group in v16-v23 ---- */

/* The dots of a group, whose nibbles are at group, to spill_at. 128 bytes fill eight registers; x of two chunks
 * fills four, and so does what is made of two chunks, low nibbles or high ones. The first product may lie over the
 * upper half of its sums. */
.macro group_128
    vl8re8.v v24, (group)
    vsetvli temp, zero, e8, m4, ta, ma
    add group, group, row_bytes
    vand.vi v20, v24, 15
    vwmulsu.vv v16, v0, v20
    vsrl.vi v24, v24, 4
    vwmaccsu.vv v16, v8, v24
    vand.vi v24, v28, 15
    vwmaccsu.vv v16, v4, v24
    vsrl.vi v28, v28, 4
    vwmaccsu.vv v16, v12, v28
    vsetvli temp, zero, e16, m4, ta, ma
    vadd.vv v16, v16, v20              /* two chunks to one */
    vs4r.v v16, (spill_at)
    addi spill_at, spill_at, GROUP_DOTS
.endm

/* y += (float)(dots - bias) * (scales * x.d) for a set of four groups, or what is left of the tile; on to the next.
 * v0-v15 are free: x is done with. */
.macro set_128
    vsetvli temp, zero, e16, m4, ta, ma
    vl8re16.v v0, (spill_at)
    addi spill_at, spill_at, 2 * GROUP_DOTS
    vl8re16.v v8, (spill_at)
    addi spill_at, spill_at, 2 * GROUP_DOTS
    vnsrl.wi v16, v0, 0                /* columns 0 and 2 */
    vnsrl.wi v24, v0, 16               /* columns 1 and 3 */
    vnsrl.wi v20, v8, 0
    vnsrl.wi v28, v8, 16
    vadd.vv v16, v16, v24
    vadd.vv v20, v20, v28
    vnsrl.wi v0, v16, 0
    vnsrl.wi v4, v16, 16
    vwadd.vv v8, v0, v4
    vsetvli temp, words_left, e64, m4, ta, ma
    vle32.v v16, (sp)
    vluxei32.v v20, (set_at), v16      /* scales, four at a time */
    vsetvli temp, zero, e16, m4, ta, ma
    vwmul.vx v24, v20, shift_up        /* sign-extended and shifted left by 13 */
    vsetvli temp, tile_left, e32, m8, ta, ma
    finish v8, v24, v16
    addi out, out, 128
    add set_at, set_at, set_bytes
    addi tile_left, tile_left, -32
    addi words_left, words_left, -8
.endm

.macro finish dots, scales, sums
    vle32.v \sums, (out)
    vand.vx \scales, \scales, sign_bits
    vsub.vx \dots, \dots, bias
    vfmul.vf \scales, \scales, scale_up
    vfcvt.f.x.v \dots, \dots
    vfmul.vf \scales, \scales, act_scale
    vfmacc.vv \sums, \dots, \scales
    vse32.v \sums, (out)
.endm

/* ---- VLEN 256, a set of four groups: x in v0-v7, dots in v8-v15 ---- */

.macro group_256 dots
    vsetvli temp, zero, e8, m4, ta, ma /* 128 bytes */
    addi temp, group, QUANTS
    vle8.v v16, (temp)
    add group, group, row_bytes
    vand.vi v20, v16, 15
    vsrl.vi v16, v16, 4
    vwmulsu.vv v24, v0, v20
    vwmaccsu.vv v24, v4, v16
    vsetvli temp, zero, e16, m4, ta, ma
    vadd.vv v24, v24, v28              /* four chunks to two, */
    vsetvli temp, zero, e16, m2, ta, ma
    vadd.vv \dots, v24, v26            /* two to one */
.endm

.macro set_256
    mv set_at, group
    group_256 v8
    group_256 v10
    group_256 v12
    group_256 v14
    vsetvli temp, zero, e16, m4, ta, ma
    vnsrl.wi v16, v8, 0                /* columns 0 and 2 */
    vnsrl.wi v20, v8, 16               /* columns 1 and 3 */
    vadd.vv v16, v16, v20
    vsetivli zero, 8, e64, m2, ta, ma
    vle32.v v20, (sp)
    vluxei32.v v30, (set_at), v20      /* scales, four at a time */
    vsetvli temp, zero, e16, m2, ta, ma
    vnsrl.wi v24, v16, 0
    vnsrl.wi v26, v16, 16
    vwmul.vx v20, v30, shift_up        /* sign-extended and shifted left by 13 */
    vwadd.vv v16, v24, v26
    vsetvli zero, zero, e32, m4, ta, ma
    finish v16, v20, v24
    addi out, out, 128
.endm

/* ---- any VLEN, one group: x in v0-v15 ---- */

#define sums v16       /* m2 */
#define dots v24       /* m4, int16; later m2, int32 */
#define scales v26     /* m2, the upper half of dots when that is done */
#define packed v28     /* m2 */
#define nibbles v30    /* m2 */
#define nibbles_1 v31

.macro chunk offset, low, high, first
    addi temp, group, QUANTS + \offset
    vle8.v packed, (temp)
    vand.vi nibbles, packed, 15
    vsrl.vi packed, packed, 4
    .ifnb \first
    vwmulsu.vv dots, \low, nibbles
    .else
    vwmaccsu.vv dots, \low, nibbles
    .endif
    vwmaccsu.vv dots, \high, packed
.endm

.macro single_group
    li temp, 32
    vsetvli zero, temp, e8, m2, ta, ma
    chunk 0, v0, v8, first
    chunk 32, v2, v10
    chunk 64, v4, v12
    chunk 96, v6, v14
    vsetivli zero, 16, e16, m2, ta, ma
    vnsrl.wi packed, dots, 0           /* columns 0 and 2 */
    vnsrl.wi nibbles, dots, 16         /* columns 1 and 3 */
    vadd.vv packed, packed, nibbles
    vsetivli zero, 8, e16, m1, ta, ma
    vnsrl.wi nibbles, packed, 0
    vnsrl.wi nibbles_1, packed, 16
    vle16.v packed, (group)
    vwadd.vv dots, nibbles, nibbles_1
    vwmul.vx scales, packed, shift_up
    vsetvli zero, zero, e32, m2, ta, ma
    vand.vx scales, scales, sign_bits
    vsub.vx dots, dots, bias
    vfmul.vf scales, scales, scale_up
    vfcvt.f.x.v dots, dots
    vfmul.vf scales, scales, act_scale
    vfmacc.vv sums, dots, scales
.endm

/* ---- the loops ---- */

/* Tiles of up to 64 rows in whole sets of \rows_of_set. */
.macro tiles vlen, words, rows_of_set
    li set_rows, \rows_of_set
.Ltile_\vlen:
    bltu rows_left, set_rows, .Lone_group
    li temp, TILE
    bleu temp, rows_left, .Lwhole_tile_\vlen
    mv temp, rows_left
.Lwhole_tile_\vlen:
    divu n_sets, temp, set_rows
    mv act, act_start
    mv tile_block, next_group
    mv out, dst
    mv sets_left, n_sets
    vsetvli zero, set_rows, e32, m4, ta, ma
    vmv.v.i v16, 0
.Lclear_\vlen:
    vse32.v v16, (out)
    addi out, out, 4 * \rows_of_set
    addi sets_left, sets_left, -1
    bnez sets_left, .Lclear_\vlen
    beq act, act_end, .Lnext_tile_\vlen
.Lblock_\vlen:
    take_act_\words
    mv group, tile_block
    mv out, dst
    mv sets_left, n_sets
    bnez ahead, .Lprefetch_\vlen
.Lset_\vlen:
    set_\vlen
    addi sets_left, sets_left, -1
    bnez sets_left, .Lset_\vlen
    addi act, act, Q8_BYTES
    addi tile_block, tile_block, Q4X8_BYTES
    bne act, act_end, .Lblock_\vlen
.Lnext_tile_\vlen:
    mul temp, n_sets, set_rows
    sub rows_left, rows_left, temp
    slli out, temp, 2
    add dst, dst, out
    srli temp, temp, 3
    mul temp, temp, row_bytes
    add next_group, next_group, temp
    j .Ltile_\vlen

.Lprefetch_\vlen:
    srli temp, set_rows, 3
    mul sets_left, n_sets, temp        /* groups now */
.Lprefetch_group_\vlen:
    prefetch_lines group, ahead, Q4X8_BYTES, temp
    add group, group, row_bytes
    addi sets_left, sets_left, -1
    bnez sets_left, .Lprefetch_group_\vlen
    mv group, tile_block
    mv sets_left, n_sets
    j .Lset_\vlen
.endm

/* The same at VLEN 128: the dots of all groups of a tile, then y of up to 32 rows at once. The last tile, and the last
 * group, have what rows are left. */
.macro tiles_128
    slli set_bytes, row_bytes, 2
.Ltile_128:
    beqz rows_left, .Ldone
    li tile_rows, TILE
    bleu tile_rows, rows_left, .Lwhole_tile_128
    mv tile_rows, rows_left
.Lwhole_tile_128:
    addi tile_bytes, tile_rows, GROUP_ROWS - 1
    srli tile_bytes, tile_bytes, 3
    mul tile_bytes, tile_bytes, row_bytes
    mv act, act_start
    addi tile_block, next_group, QUANTS
    mv out, dst
    mv tile_left, tile_rows
    vsetvli temp, zero, e32, m8, ta, ma
    vmv.v.i v16, 0
.Lclear_128:
    vsetvli temp, tile_left, e32, m8, ta, ma
    vse32.v v16, (out)
    addi out, out, 128
    sub tile_left, tile_left, temp
    bnez tile_left, .Lclear_128
    beq act, act_end, .Lnext_tile_128
.Lblock_128:
    take_act_m2
    mv group, tile_block
    add group_end, tile_block, tile_bytes
    bnez ahead, .Lprefetch_128
.Lgroups_128:
    addi spill_at, sp, DOTS_AT
.Lgroup_128:
    group_128
    bne group, group_end, .Lgroup_128
    addi spill_at, sp, DOTS_AT
    addi set_at, tile_block, -QUANTS
    mv out, dst
    mv tile_left, tile_rows
    addi words_left, tile_rows, GROUP_ROWS - 1
    srli words_left, words_left, 3
    slli words_left, words_left, 1
.Lset_128:
    set_128
    bgtz tile_left, .Lset_128
    addi act, act, Q8_BYTES
    addi tile_block, tile_block, Q4X8_BYTES
    bne act, act_end, .Lblock_128
.Lnext_tile_128:
    sub rows_left, rows_left, tile_rows
    slli temp, tile_rows, 2
    add dst, dst, temp
    add next_group, next_group, tile_bytes
    j .Ltile_128

.Lprefetch_128:
    prefetch_lines group, ahead, Q4X8_BYTES, temp
    add group, group, row_bytes
    bne group, group_end, .Lprefetch_128
    mv group, tile_block
    j .Lgroups_128
.endm

func gemv_f32_q4x8_q8_rvv, v
    push_at SCALES_BYTES, FRAME_BYTES, s0, s1, s2, s3, s4, s5, s6, s7
    measure_rows COLS_LOG2, Q8_BYTES, Q4X8_BYTES
    li sign_bits, F16_SIGN_MAGNITUDE
    li shift_up, 1 << 13
    csrr temp, vlenb
    addi temp, temp, -16
    beqz temp, .Ltiles_128
    addi temp, temp, -16
    bnez temp, .Lone_group
    find_scales 8
    tiles 256, m1, 32
.Ltiles_128:
    find_scales 8
    tiles_128

.Lone_group:
    beqz rows_left, .Ldone
    mv act, act_start
    mv group, next_group
    add next_group, next_group, row_bytes
    vsetivli zero, 8, e32, m2, ta, ma
    vmv.v.i sums, 0
    beq act, act_end, .Lstore_one
.Lblock_one:
    take_act_m2
    single_group
    beqz ahead, .Lno_prefetch
    prefetch_lines group, ahead, Q4X8_BYTES, temp
.Lno_prefetch:
    addi group, group, Q4X8_BYTES
    addi act, act, Q8_BYTES
    bne act, act_end, .Lblock_one
.Lstore_one:
    li temp, 8
    bgeu rows_left, temp, .Lstore_rows
    mv temp, rows_left
.Lstore_rows:
    vsetvli zero, temp, e32, m2, ta, ma
    vse32.v sums, (dst)
    addi dst, dst, 32
    sub rows_left, rows_left, temp
    j .Lone_group
.Ldone:
    pop_at SCALES_BYTES, FRAME_BYTES, s0, s1, s2, s3, s4, s5, s6, s7
    ret
endfunc
