/* void gemv_f32_q8x8_q8_rvv(float *restrict y, const void *restrict w,
 *                           const struct block_q8 *restrict x, size_t rows, size_t cols,
 *                           size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 ahead. Clobbers a0, a1, a3, a4, a6, a7, t0-t5, ft0-ft1,
 * every vector register.
 *
 * A chunk of 32 bytes holds 4 columns of 8 rows; the 4 activations are one 32-bit word,
 * broadcast over the 8 rows. Two products of -128 and -128 overflow int16, so weights and
 * activations are widened to int16 and multiplied into int32 lanes: for weights that is one
 * instruction more than a chain of bytes, and less than keeping that chain from overflowing.
 * The four lanes of a row fold by narrowing shifts at the end of a block. Two groups (16 rows)
 * share the activations.
 *
 * VLEN 128 takes one chunk a step, longer vectors two: lanes 32 and up hold the next chunk, and
 * the halves are folded last.
 *
 * VLEN 256 multiplies four chunks at once and the other four onto them in int16: sums that start
 * at -1 lie in -32513 .. 32767. 8 broadcasts of activations serve up to 8 groups, y carries their
 * sums, two groups fold together.
 * Instructions for 8 rows and 32 columns: 69 at VLEN 128, 31 at 256, 53 above. */

#define dst a0
#define group1 a1      /* the argument w: ends up where the next groups begin */
#define act_start a2
#define rows_left a3
#define cols a4
#define row_bytes a4   /* of one group of 8 rows; when cols is done with */
#define ahead a5
#define act_end a6
#define half_vl a7     /* int32 lanes after the first fold, two chunks a step */
#define group0 t0
#define step_vl t1     /* bytes a step */
#define word_bits t2   /* 32, a shift too long for an immediate */
#define sign_bits t3   /* F16_SIGN_MAGNITUDE */
#define temp t4
#define act t5
#define scale_up ft0   /* 2^112 */
#define act_scale ft1

#define dots0 v0       /* m8, int32 */
#define dots1 v8
#define act_even v16   /* m4, int16: activations of two steps */
#define act_even_q v18 /* their bytes before they are widened, m2, the upper half */
#define act_odd v20
#define act_odd_q v22
#define wide v24       /* m4, int16: weights */
#define packed v26     /* m2: their bytes, the upper half */
#define sums0 v28      /* m2: the rows' results, 8 lanes of f32 */
#define sums1 v30
#define folded v16     /* m4, int32: the activations are done with when lanes are folded */
#define other_half v20 /* m4 */
#define scales v24     /* m2 */
#define scales_f16 v26 /* m1 */

#define TILE 64        /* rows, at VLEN 256 */
#define SCALES_BYTES 16 /* offsets of a set's scales, then what is saved */
#define FRAME_BYTES (SCALES_BYTES + 64)

#include "kernels/riscv64/matrix/gemv/gemv_rvv.h"

/* Activations of two steps from word \word of x on, as int16. */
.macro take_act_1 word
    vsetivli zero, 8, e32, m2, ta, ma
    broadcast act_even_q, \word
    broadcast act_odd_q, \word + 1
    vsetvli zero, step_vl, e16, m4, ta, ma
    vsext.vf2 act_even, act_even_q
    vsext.vf2 act_odd, act_odd_q
.endm

.macro take_act_2 word
    vsetivli zero, 16, e32, m2, ta, ma
    broadcast act_even_q, \word + 1
    broadcast act_odd_q, \word + 3
    vsetivli zero, 8, e32, m2, tu, ma
    broadcast act_even_q, \word
    broadcast act_odd_q, \word + 2
    vsetvli zero, step_vl, e16, m4, ta, ma
    vsext.vf2 act_even, act_even_q
    vsext.vf2 act_odd, act_odd_q
.endm

.macro step group, dots, offset, act16, first
    addi temp, \group, QUANTS + \offset
    vle8.v packed, (temp)
    vsext.vf2 wide, packed
    .ifnb \first
    vwmul.vv \dots, wide, \act16
    .else
    vwmacc.vv \dots, wide, \act16
    .endif
.endm

/* Two steps of one group or both, from word \word of x on (a word is a chunk). */
.macro two_steps chunks, groups, word, first
    take_act_\chunks \word
    step group0, dots0, 32*(\word), act_even, \first
    step group0, dots0, 32*(\word) + 32*\chunks, act_odd
    .if \groups == 2
    step group1, dots1, 32*(\word), act_even, \first
    step group1, dots1, 32*(\word) + 32*\chunks, act_odd
    .endif
.endm

/* int32 lanes (row, column) to lanes (row) in folded; leaves vl = 8. */
.macro fold_1 dots
    vsetivli zero, 16, e32, m4, ta, ma
    vnsrl.wi folded, \dots, 0          /* columns 0 and 2 */
    vnsrl.wx other_half, \dots, word_bits
    vadd.vv folded, folded, other_half
    vsetivli zero, 8, e32, m2, ta, ma
    vnsrl.wi wide, folded, 0
    vnsrl.wx other_half, folded, word_bits
    vadd.vv folded, wide, other_half
.endm

.macro fold_2 dots
    vsetvli zero, half_vl, e32, m4, ta, ma
    vnsrl.wi folded, \dots, 0
    vnsrl.wx other_half, \dots, word_bits
    vadd.vv folded, folded, other_half
    vsetivli zero, 16, e32, m2, ta, ma
    vnsrl.wi wide, folded, 0
    vnsrl.wx other_half, folded, word_bits
    vadd.vv folded, wide, other_half
    vslidedown.vi other_half, folded, 8 /* the second chunk's half */
    vsetivli zero, 8, e32, m1, ta, ma
    vadd.vv folded, folded, other_half
.endm

/* sums = fma((float)dot, scale * x.d, sums); on to the next block of the group. */
.macro finish chunks, group, dots, sums
    fold_\chunks \dots
    vle16.v scales_f16, (\group)
    vfcvt.f.x.v folded, folded
    vsext.vf2 scales, scales_f16
    vsll.vi scales, scales, 13
    vand.vx scales, scales, sign_bits
    vfmul.vf scales, scales, scale_up
    addi \group, \group, Q8X8_BYTES
    vfmul.vf scales, scales, act_scale
    vfmacc.vv \sums, folded, scales
.endm

.macro block chunks, groups
    flw act_scale, Q8_SCALE(act)
    beqz ahead, .Lahead_done\@
    prefetch_lines group0, ahead, Q8X8_BYTES, temp
    .if \groups == 2
    prefetch_lines group1, ahead, Q8X8_BYTES, temp
    .endif
.Lahead_done\@:
    two_steps \chunks, \groups, 0, first
    .if \chunks == 1
    two_steps \chunks, \groups, 2
    two_steps \chunks, \groups, 4
    two_steps \chunks, \groups, 6
    .else
    two_steps \chunks, \groups, 4
    .endif
    finish \chunks, group0, dots0, sums0
    .if \groups == 2
    finish \chunks, group1, dots1, sums1
    .endif
    addi act, act, Q8_BYTES
.endm

/* ---- VLEN 256, sets of two groups: x in v0-v7 ---- */

#define group t0
#define next_group group1
#define n_sets s0      /* of the tile */
#define sets_left s1
#define tile_block s2  /* the block of the tile's first group */
#define out s3
#define set_at s4      /* a set's first group */
#define shift_up s5    /* 2^13 */
#define offset s6      /* what the sums of a row start below 0 */

.macro tile_broadcast n
    lw temp, 4*\n(act)
    vmv.v.x v\n, temp
.endm

/* The dots of a group, 32 lanes of int32; on to the next. Register groups of m4 are 128 bytes. */
.macro tile_group dots
    vsetvli temp, zero, e8, m4, ta, ma
    addi temp, group, QUANTS
    vle8.v v8, (temp)
    addi temp, group, QUANTS + 128
    vle8.v v12, (temp)
    vmv.v.i v16, -1
    vmv.v.i v20, -1
    add group, group, row_bytes
    vwmacc.vv v16, v8, v0
    vwmacc.vv v16, v12, v4
    vsetvli temp, zero, e16, m4, ta, ma
    vwadd.vv v8, v16, v20              /* four lanes of chunks to two, */
    vsetvli temp, zero, e32, m4, ta, ma
    vadd.vv \dots, v8, v12             /* two to one */
.endm

.macro tile_set
    mv set_at, group
    tile_group v24
    tile_group v28
    vnsrl.wi v8, v24, 0                /* columns 0 and 2 */
    vnsrl.wx v12, v24, word_bits       /* columns 1 and 3 */
    vadd.vv v8, v8, v12
    vsetivli zero, 4, e64, m1, ta, ma
    vle32.v v16, (sp)
    vluxei32.v v17, (set_at), v16      /* scales, four at a time */
    vsetivli zero, 16, e16, m1, ta, ma
    vwmul.vx v18, v17, shift_up        /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m2, ta, ma
    vnsrl.wi v12, v8, 0
    vnsrl.wx v14, v8, word_bits
    vle32.v v20, (out)
    vadd.vv v12, v12, v14
    vand.vx v18, v18, sign_bits
    vadd.vx v12, v12, offset
    vfmul.vf v18, v18, scale_up
    vfcvt.f.x.v v12, v12
    vfmul.vf v18, v18, act_scale
    vfmacc.vv v20, v12, v18
    vse32.v v20, (out)
    addi out, out, 64
.endm

/* Tiles of up to 64 rows in whole sets. */
.macro tiles_256
    find_scales 4
    li shift_up, 1 << 13
    li offset, 16
.Ltile:
    srli n_sets, rows_left, 4
    beqz n_sets, .Ltiles_done
    li temp, TILE / 16
    bleu n_sets, temp, .Lsome_sets
    mv n_sets, temp
.Lsome_sets:
    mv act, act_start
    mv tile_block, next_group
    mv out, dst
    mv sets_left, n_sets
    vsetivli zero, 16, e32, m2, ta, ma
    vmv.v.i v0, 0
.Lclear:
    vse32.v v0, (out)
    addi out, out, 64
    addi sets_left, sets_left, -1
    bnez sets_left, .Lclear
    beq act, act_end, .Lnext_tile
.Ltile_block:
    vsetivli zero, 8, e32, m1, ta, ma
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    tile_broadcast \n
    .endr
    flw act_scale, Q8_SCALE(act)
    mv group, tile_block
    mv out, dst
    mv sets_left, n_sets
.Ltile_set:
    beqz ahead, .Lno_prefetch
    prefetch_lines group, ahead, Q8X8_BYTES, temp
    add temp, group, row_bytes
    prefetch_lines temp, ahead, Q8X8_BYTES, temp
.Lno_prefetch:
    tile_set
    addi sets_left, sets_left, -1
    bnez sets_left, .Ltile_set
    addi act, act, Q8_BYTES
    addi tile_block, tile_block, Q8X8_BYTES
    bne act, act_end, .Ltile_block
.Lnext_tile:
    slli temp, n_sets, 4
    sub rows_left, rows_left, temp
    slli temp, temp, 2
    add dst, dst, temp
    slli temp, n_sets, 1
    mul temp, temp, row_bytes
    add next_group, next_group, temp
    j .Ltile
.Ltiles_done:
.endm

/* ---- any VLEN ---- */

/* All rows: groups by two, then the last one with 1 to 8 rows. */
.macro all_rows chunks
.Lgroups_\chunks:
    beqz rows_left, .Ldone
    mv act, act_start
    mv group0, group1
    vsetivli zero, 8, e32, m2, ta, ma
    vmv.v.i sums0, 0
    vmv.v.i sums1, 0
    li temp, 16
    bltu rows_left, temp, .Lone_group_\chunks
    add group1, group0, row_bytes
    beq act, act_end, .Lstore_two_\chunks
.Lblock_two_\chunks:
    block \chunks, 2
    bne act, act_end, .Lblock_two_\chunks
.Lstore_two_\chunks:
    vsetivli zero, 8, e32, m2, ta, ma
    vse32.v sums0, (dst)
    addi dst, dst, 32
    vse32.v sums1, (dst)
    addi dst, dst, 32
    addi rows_left, rows_left, -16
    j .Lgroups_\chunks

.Lone_group_\chunks:
    beq act, act_end, .Lstore_one_\chunks
.Lblock_one_\chunks:
    block \chunks, 1
    bne act, act_end, .Lblock_one_\chunks
.Lstore_one_\chunks:
    mv group1, group0
    li temp, 8
    bgeu rows_left, temp, .Lstore_rows_\chunks
    mv temp, rows_left
.Lstore_rows_\chunks:
    vsetvli zero, temp, e32, m2, ta, ma
    vse32.v sums0, (dst)
    addi dst, dst, 32
    sub rows_left, rows_left, temp
    j .Lgroups_\chunks
.endm

func gemv_f32_q8x8_q8_rvv, v
    push_at SCALES_BYTES, FRAME_BYTES, s0, s1, s2, s3, s4, s5, s6
    measure_rows COLS_LOG2, Q8_BYTES, Q8X8_BYTES
    li sign_bits, F16_SIGN_MAGNITUDE
    li word_bits, 32
    li step_vl, 32
    li half_vl, 32
    csrr temp, vlenb
    bltu temp, half_vl, .Lnarrow
    slli step_vl, step_vl, 1
    bne temp, half_vl, .Lwide
    tiles_256
.Lwide:
    all_rows 2
.Lnarrow:
    all_rows 1
.Ldone:
    pop_at SCALES_BYTES, FRAME_BYTES, s0, s1, s2, s3, s4, s5, s6
    ret
endfunc
