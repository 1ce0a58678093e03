/* void gemv_f32_q4x8_q8_rvv(float *restrict y, const void *restrict w,
 *                           const struct block_q8 *restrict x, size_t rows, size_t cols)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft1, every vector register.
 *
 * A chunk of 32 bytes holds 4 columns of 8 rows (low nibbles) and the 4 columns 16 further on
 * (high nibbles). The 4 activations of a chunk are one 32-bit word, broadcast over the 8 rows;
 * the 8 broadcasts of a block serve four groups (32 rows) before the next block is taken.
 * Nibbles stay unsigned and the products of a lane stay in int16 for the whole block:
 * 8 * 15 * 128 = 15360. The four lanes of a row then fold by narrowing shifts, first in int16
 * (30720), then widening; the bias 8 of the nibbles is taken off as 8 * x.sum.
 *
 * VLEN 128 takes one chunk a step. VLEN >= 256 takes two: lanes 32 and up hold the next chunk,
 * a lane has half the products, and the halves are folded last.
 * Instructions per 32 weights, for 32 rows or more: 6.2 at VLEN 128, 5.1 from 256 on. */
#include "kernels/riscv64/vector.h"

#define dst a0
#define act_start a2
#define rows_left a3
#define row_bytes a4   /* of one group of 8 rows */
#define act a5
#define act_end a6
#define group0 t0      /* next block of each group */
#define group1 t1
#define group2 t2
#define group3 a1      /* the argument w: ends up where the next groups begin */
#define bias t3        /* 8 * x.sum */
#define step_vl t4     /* bytes a step */
#define temp t5
#define sign_bits t6   /* F16_SIGN_MAGNITUDE */
#define half_vl a7     /* int16 lanes after the first fold, two chunks a step */
#define scale_up ft0   /* 2^112 */
#define act_scale ft1

/* v0-v15: broadcasts of m2, low columns then high. */
#define sums0 v16      /* the rows' results, 8 lanes of f32 */
#define sums1 v18
#define sums2 v20
#define sums3 v22
#define dots v24       /* m4, int16; later m2, int32 */
#define scales v26     /* m2, the upper half of dots when that is done */
#define packed v28     /* m2 */
#define nibbles v30    /* m2 */
#define nibbles_1 v31

#define BLOCK_BYTES 144
#define ACT_BYTES 40

.macro broadcast reg, word
    lw temp, 4*\word(act)
    vmv.v.x \reg, temp
.endm

/* One chunk a step: word k of x to all lanes of v(2k). */
.macro take_act_1
    vsetivli zero, 8, e32, m2, ta, ma
    broadcast v0, 0
    broadcast v2, 1
    broadcast v4, 2
    broadcast v6, 3
    broadcast v8, 4
    broadcast v10, 5
    broadcast v12, 6
    broadcast v14, 7
.endm

/* Two chunks a step: word 2k to lanes 0-7 of v(2k), word 2k + 1 to lanes 8-15. */
.macro take_act_2
    vsetivli zero, 16, e32, m2, ta, ma
    broadcast v0, 1
    broadcast v2, 3
    broadcast v4, 5
    broadcast v6, 7
    vsetivli zero, 8, e32, m2, tu, ma
    broadcast v0, 0
    broadcast v2, 2
    broadcast v4, 4
    broadcast v6, 6
.endm

/* dots (op)= x[low] * low nibbles + x[high] * high nibbles of the bytes at \offset. */
.macro step group, offset, low, high, first
    addi temp, \group, 16 + \offset
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

/* int16 lanes (row, column) to int32 lanes (row), and the scales half widened. */
.macro fold_1 group
    vsetivli zero, 16, e16, m2, ta, ma
    vnsrl.wi packed, dots, 0           /* columns 0 and 2 */
    vnsrl.wi nibbles, dots, 16         /* columns 1 and 3 */
    vadd.vv packed, packed, nibbles
    vsetivli zero, 8, e16, m1, ta, ma
    vnsrl.wi nibbles, packed, 0
    vnsrl.wi nibbles_1, packed, 16
    vle16.v packed, (\group)
    vwadd.vv dots, nibbles, nibbles_1
    vwmul.vx scales, packed, temp      /* sign-extended and shifted left by 13 */
    vsetivli zero, 8, e32, m2, ta, ma
.endm

.macro fold_2 group
    vsetvli zero, half_vl, e16, m2, ta, ma
    vnsrl.wi packed, dots, 0
    vnsrl.wi nibbles, dots, 16
    vadd.vv packed, packed, nibbles
    vsetivli zero, 16, e16, m1, ta, ma
    vnsrl.wi nibbles, packed, 0
    vnsrl.wi nibbles_1, packed, 16
    vadd.vv nibbles, nibbles, nibbles_1
    vslidedown.vi nibbles_1, nibbles, 8 /* the second chunk's half */
    vsetivli zero, 8, e16, mf2, ta, ma
    vle16.v packed, (\group)
    vwadd.vv dots, nibbles, nibbles_1
    vwmul.vx scales, packed, temp
    vsetivli zero, 8, e32, m1, ta, ma
.endm

/* One block of one group into its sums: fma((float)(dot - bias), scale * x.d, sums). */
.macro block group, sums, chunks
    vsetvli zero, step_vl, e8, m2, ta, ma
    .if \chunks == 1
    step \group, 0, v0, v8, first
    step \group, 32, v2, v10
    step \group, 64, v4, v12
    step \group, 96, v6, v14
    .else
    step \group, 0, v0, v4, first
    step \group, 64, v2, v6
    .endif
    li temp, 1 << 13
    fold_\chunks \group
    vsub.vx dots, dots, bias
    vand.vx scales, scales, sign_bits
    vfcvt.f.x.v dots, dots
    vfmul.vf scales, scales, scale_up
    addi \group, \group, BLOCK_BYTES
    vfmul.vf scales, scales, act_scale
    vfmacc.vv \sums, dots, scales
.endm

.macro take_act chunks
    take_act_\chunks
    lw bias, 36(act)
    flw act_scale, 32(act)
    slli bias, bias, 3
.endm

/* All rows: groups by four, then one by one, the last with 1 to 8 rows. */
.macro all_rows chunks
.Lfour_groups_\chunks:
    li temp, 32
    bltu rows_left, temp, .Lone_group_\chunks
    mv group0, group3
    add group1, group0, row_bytes
    add group2, group1, row_bytes
    add group3, group2, row_bytes
    mv act, act_start
    vsetivli zero, 8, e32, m2, ta, ma
    vmv.v.i sums0, 0
    vmv.v.i sums1, 0
    vmv.v.i sums2, 0
    vmv.v.i sums3, 0
    beq act, act_end, .Lstore_four_\chunks
.Lblock_four_\chunks:
    take_act \chunks
    block group0, sums0, \chunks
    block group1, sums1, \chunks
    block group2, sums2, \chunks
    block group3, sums3, \chunks
    addi act, act, ACT_BYTES
    bne act, act_end, .Lblock_four_\chunks
.Lstore_four_\chunks:
    vsetivli zero, 8, e32, m2, ta, ma
    vse32.v sums0, (dst)
    addi dst, dst, 32
    vse32.v sums1, (dst)
    addi dst, dst, 32
    vse32.v sums2, (dst)
    addi dst, dst, 32
    vse32.v sums3, (dst)
    addi dst, dst, 32
    addi rows_left, rows_left, -32
    j .Lfour_groups_\chunks

.Lone_group_\chunks:
    beqz rows_left, .Ldone
    mv act, act_start
    vsetivli zero, 8, e32, m2, ta, ma
    vmv.v.i sums0, 0
    beq act, act_end, .Lstore_one_\chunks
.Lblock_one_\chunks:
    take_act \chunks
    block group3, sums0, \chunks
    addi act, act, ACT_BYTES
    bne act, act_end, .Lblock_one_\chunks
.Lstore_one_\chunks:
    li temp, 8
    bgeu rows_left, temp, .Lstore_rows_\chunks
    mv temp, rows_left
.Lstore_rows_\chunks:
    vsetvli zero, temp, e32, m2, ta, ma
    vse32.v sums0, (dst)
    addi dst, dst, 32
    sub rows_left, rows_left, temp
    j .Lone_group_\chunks
.endm

func gemv_f32_q4x8_q8_rvv, v
    srli temp, a4, 5                   /* blocks of a row */
    li act_end, ACT_BYTES
    mul act_end, act_end, temp
    add act_end, act_end, act_start
    li row_bytes, BLOCK_BYTES
    mul row_bytes, row_bytes, temp
    load_float scale_up, F32_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
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
