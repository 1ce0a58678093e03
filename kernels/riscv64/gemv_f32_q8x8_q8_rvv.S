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
 * VLEN 128 takes one chunk a step, VLEN >= 256 two: lanes 32 and up hold the next chunk, and
 * the halves are folded last. Instructions per 32 weights, for 16 rows or more: 8.3 at
 * VLEN 128, 6.4 from 256 on. */
#include "kernels/riscv64/prefetch.h"
#include "kernels/riscv64/vector.h"

#define dst a0
#define group1 a1      /* the argument w: ends up where the next groups begin */
#define act_start a2
#define rows_left a3
#define row_bytes a4   /* of one group of 8 rows */
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

#define BLOCK_BYTES 272
#define ACT_BYTES 40

.macro broadcast reg, word
    lw temp, 4*(\word)(act)
    vmv.v.x \reg, temp
.endm

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
    addi temp, \group, 16 + \offset
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
    addi \group, \group, BLOCK_BYTES
    vfmul.vf scales, scales, act_scale
    vfmacc.vv \sums, folded, scales
.endm

.macro block chunks, groups
    flw act_scale, 32(act)
    beqz ahead, 1f
    prefetch_lines group0, ahead, BLOCK_BYTES, temp
    .if \groups == 2
    prefetch_lines group1, ahead, BLOCK_BYTES, temp
    .endif
1:
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
    addi act, act, ACT_BYTES
.endm

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
    srli temp, a4, 5                   /* blocks of a row */
    li act_end, ACT_BYTES
    mul act_end, act_end, temp
    add act_end, act_end, act_start
    li row_bytes, BLOCK_BYTES
    mul row_bytes, row_bytes, temp
    load_float scale_up, F32_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
    li word_bits, 32
    li step_vl, 32
    li half_vl, 32
    csrr temp, vlenb
    bgeu temp, half_vl, .Lwide
    all_rows 1
.Lwide:
    slli step_vl, step_vl, 1
    all_rows 2
.Ldone:
    ret
endfunc
