/* RVV gemvs of the K formats that store a weight's bits in separate planes, one group of 8 rows at
 * a time.
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 ahead. Clobbers a0-a1, a3-a7, t0-t6, ft0-ft1, every
 * vector register; 64 bytes of stack.
 *
 * 64 columns are two sets of 32. A chunk of 32 bytes holds bits of 4 columns and 8
 * rows of both sets; the 4 activations of a chunk are one 32-bit word, broadcast over
 * the 8 rows. Products of 16 columns stay in int16: 4 * 31 * 128 = 15872 in a lane,
 * and twice as much after the first fold. The two sets are then placed next to each other in one
 * register group, so that one fold by narrowing shifts serves both. VLEN 128 takes one chunk per
 * step, longer vectors two: lanes 32 and up hold the next chunk.
 *
 * A kernel that includes this defines begin_pairs (sets bytes_at, bits_at, scales_at and shifts),
 * values (unpacks both sets to even and odd), load_scales (loads int16 scales of both sets'
 * sub-blocks \half to v22), next_pair (advances by 64 columns) and finish_block. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_K16_RVV_H
#define INGOT_KERNELS_RISCV64_GEMV_K16_RVV_H

#define dst a0
#define group a1       /* the argument w */
#define act_start a2
#define rows_left a3
#define cols a4
#define pairs_left a4  /* replaces cols, which is no longer needed then */
#define ahead a5
#define act_end a6
#define act a7
#define bytes_at t0
#define bits_at t1
#define scales_at t2
#define step_vl t3     /* bytes of a register group */
#define thirty_two t4  /* 32: int16 lanes of a sub-block after joining */
#define temp t5
#define temp_1 t6
#define shift_even s0  /* shift of the first set's bits */
#define shift_odd s1
#define bit_even s2    /* shift of the first set's single bits */
#define bit_odd s3
#define factor s4      /* of single bits */
#define row_bytes s5   /* set by measure_rows; not used */
#define scale_up ft0   /* 2^112 */
#define act_scale ft1

#define dots_even v0   /* m4, int16: dots of the first set */
#define dots_odd v4    /* m4 */
#define act_even v8    /* m2 */
#define act_odd v10
#define even v12       /* m2: weights of the first set */
#define odd v14
#define packed v16     /* m2: bytes that the step loaded */
#define bits v18
#define part v20       /* m2, free for values */
#define isum v24       /* m4, int32: 8 rows of the first set's sub-blocks, then of the second's */
#define sums v28       /* m4, f32 */

#include "kernels/riscv64/matrix/gemv/gemv_rvv.h"

#define FRAME 64

/* Broadcast words \k and 8 + \k of x to all lanes. */
.macro take_acts_1 k
    vsetivli zero, 8, e32, m2, ta, ma
    broadcast act_even, (\k)
    broadcast act_odd, (\k) + 8
.endm

/* Like take_acts_1; also broadcast the next words to lanes 8-15. */
.macro take_acts_2 k
    vsetivli zero, 16, e32, m2, ta, ma
    broadcast act_even, (\k) + 1
    broadcast act_odd, (\k) + 9
    vsetivli zero, 8, e32, m2, tu, ma
    broadcast act_even, (\k)
    broadcast act_odd, (\k) + 8
.endm

.macro step chunks, k, first
    take_acts_\chunks \k
    addi temp, bytes_at, 32*(\k)
    vsetvli zero, step_vl, e8, m2, ta, ma
    vle8.v packed, (temp)
    values \k
    .ifnb \first
    vwmul.vv dots_even, act_even, even
    vwmul.vv dots_odd, act_odd, odd
    .else
    vwmacc.vv dots_even, act_even, even
    vwmacc.vv dots_odd, act_odd, odd
    .endif
.endm

/* Place the dots of both sets side by side, 32 lanes each. VLEN 128 needs no move: dots fill m8. */
.macro join_1
    vsetvli zero, thirty_two, e16, m4, ta, ma
.endm

.macro join_2
    vsetvli zero, thirty_two, e16, m4, ta, ma
    vslidedown.vx v16, dots_even, thirty_two /* the second chunk's half */
    vslidedown.vx v20, dots_odd, thirty_two
    vadd.vv dots_even, dots_even, v16
    vadd.vv dots_odd, dots_odd, v20
    vsetvli zero, step_vl, e16, m4, ta, ma
    vslideup.vx dots_even, dots_odd, thirty_two
    vsetvli zero, thirty_two, e16, m4, ta, ma
.endm

/* isum += scales * the dots of 16 columns of each set. */
.macro fold chunks, half
    join_\chunks
    vnsrl.wi v16, dots_even, 0         /* columns 0 and 2 */
    vnsrl.wi v20, dots_even, 16        /* columns 1 and 3 */
    vadd.vv v16, v16, v20
    load_scales \half
    vsetivli zero, 16, e16, m2, ta, ma
    vnsrl.wi v20, v16, 16
    vnsrl.wi v16, v16, 0
    vwmacc.vv isum, v20, v22
    vwmacc.vv isum, v16, v22
.endm

.macro sub_blocks chunks, half
    .if \chunks == 1
    step 1, 4*\half, first
    step 1, 4*\half + 1
    step 1, 4*\half + 2
    step 1, 4*\half + 3
    .else
    step 2, 4*\half, first
    step 2, 4*\half + 2
    .endif
    fold \chunks, \half
.endm

/* \scales (m2, 8 rows) = the fp16 at \from times x.d. Clobbers v22. */
.macro take_scales scales, from
    vsetivli zero, 8, e16, m1, ta, ma
    vle16.v v22, (\from)
    li temp, 1 << 13
    vwmul.vx \scales, v22, temp       /* sign-extended and shifted left by 13 */
    li temp, F16_SIGN_MAGNITUDE
    vsetvli zero, zero, e32, m2, ta, ma
    vand.vx \scales, \scales, temp
    vfmul.vf \scales, \scales, scale_up
    vfmul.vf \scales, \scales, act_scale
.endm

/* sums = fma((float)isum, d * x.d, sums); act points to the sums of x. */
.macro add_products
    flw act_scale, Q8K_SCALE - Q8K_SUM(act)
    vsetivli zero, 8, e32, m4, ta, ma
    vslidedown.vi v0, isum, 8
    vadd.vv isum, isum, v0
    take_scales v4, group
    vfcvt.f.x.v isum, isum
    vfmacc.vv sums, isum, v4
.endm

/* sums = fma(-imin, dmin * x.d, sums), imin in v8 (m2). */
.macro subtract_mins
    addi temp_1, group, K_DMIN
    take_scales v4, temp_1
    vfcvt.f.x.v v8, v8
    vfnmsac.vv sums, v8, v4
.endm

.macro block chunks, block_bytes
    vsetivli zero, 16, e32, m4, ta, ma
    vmv.v.i isum, 0
    begin_pairs
    li pairs_left, 4
.Lpair_\chunks:
    beqz ahead, .Lno_prefetch_\chunks
    prefetch_lines bytes_at, ahead, 256, temp
.Lno_prefetch_\chunks:
    sub_blocks \chunks, 0
    sub_blocks \chunks, 1
    next_pair
    addi act, act, 64
    addi pairs_left, pairs_left, -1
    bnez pairs_left, .Lpair_\chunks
    finish_block
    li temp, \block_bytes
    add group, group, temp
    addi act, act, Q8K_BYTES - Q8K_SUM
.endm

.macro all_rows chunks, block_bytes
.Lgroup_\chunks:
    mv act, act_start
    vsetivli zero, 8, e32, m4, ta, ma
    vmv.v.i sums, 0
    beq act, act_end, .Lstore_\chunks
.Lblock_\chunks:
    block \chunks, \block_bytes
    bne act, act_end, .Lblock_\chunks
.Lstore_\chunks:
    li temp, 8
    bgeu rows_left, temp, .Lrows_\chunks
    mv temp, rows_left
.Lrows_\chunks:
    vsetvli zero, temp, e32, m4, ta, ma
    vse32.v sums, (dst)
    addi dst, dst, 32
    sub rows_left, rows_left, temp
    bnez rows_left, .Lgroup_\chunks
.endm

/* Body of a gemv. \multiplier is the factor of single bits. */
.macro gemv_k16 block_bytes, multiplier
    push FRAME, s0, s1, s2, s3, s4, s5
    measure_rows COLS_K_LOG2, Q8K_BYTES, \block_bytes
    li thirty_two, 32
    li step_vl, 32
    li factor, \multiplier
    beqz rows_left, .Ldone
    csrr temp, vlenb
    bltu temp, thirty_two, .Lnarrow
    li step_vl, 64
    all_rows 2, \block_bytes
    j .Ldone
.Lnarrow:
    all_rows 1, \block_bytes
.Ldone:
    pop FRAME, s0, s1, s2, s3, s4, s5
.endm

#endif
