/* void gemv_f32_q6kx8_q8k_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                             size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 ahead. Clobbers a0-a1, a3-a7, t0-t6, ft0-ft1, every
 * vector register; 576 bytes of stack, 3.8 KiB at VLEN 128.
 *
 * A chunk of 32 bytes holds 4 columns of 8 rows in its low nibbles and the 4 columns 32 further
 * on in the high ones; two chunks are completed by their upper bits at a time. A sub-block has 16 columns, 4
 * chunks. Those of the low and of the high nibbles are put after each other, so that one fold by narrowing shifts serves
 * both: first in int16, 8 products, then times the sub-blocks' scales, widening.
 *
 * 8 products of q - 32 and x = -128 would overflow int16 by one. VLEN 128 multiplies q as it is, with sums that begin
 * 32 times x and 2 below 0, and adds 4 scales in return. Their start and each word of x, 4 columns, for the 8
 * rows lie on the stack, spread once for a tile of 16 groups; the int32 sums of a group stay in registers, y in memory.
 *
 * Longer vectors take 32 - q: -31 to 32; the scales are negated in return, which changes no bit: y is never -0. Lanes 32
 * and up hold the next chunk, words of x are broadcast. VLEN 256 has the registers to multiply four chunks whole, and 8
 * broadcasts serve up to 8 groups, whose integer sums wait on the stack, and the others in y.
 * Instructions per 8 rows and 32 columns: 64 at VLEN 128, 47 at 256 in tiles of 8 groups, else
 * 64. */

#define dst a0
#define group a1       /* the argument w */
#define act_start a2
#define rows_left a3
#define cols a4
#define long_vectors a4 /* VLEN > 256; when cols is done with */
#define ahead a5
#define act_end a6
#define act a7
#define low_at t0
#define high_at t1
#define scales_at t2
#define step_vl t3     /* bytes of a register group; one group at a time */
#define thirty_two t4  /* also the int16 lanes of a sub-block once joined */
#define temp t5
#define temp_1 t6
#define four s0
#define upper_bits s1  /* 0x30 */
#define sixteen s2     /* also from one row of scales to the next but one */
#define scale_up ft0   /* -2^112 */
#define act_scale ft1

#define dots_low v0    /* m4, int16: sub-block of the low nibbles */
#define dots_high v4   /* m4: of the high ones */
#define packed v8      /* m4, two steps; in the end the values of the high nibbles */
#define packed_1 v10
#define values v12     /* m4: of the low nibbles */
#define values_1 v14
#define upper v16      /* m4 */
#define shifted v20    /* m4 */
#define act_low v16    /* m2 each, when upper and shifted are done with */
#define act_low_1 v18
#define act_high v20
#define act_high_1 v22
#define isum v24       /* m4, int32: 8 rows of the sub-blocks in low nibbles, then in high ones */
#define sums v28       /* m2, f32 */

/* For a tile at VLEN 256, up to 8 groups. */
#define n_groups s3    /* of the tile */
#define tile_block s4  /* the block of the tile's first group */
#define row_bytes s5   /* of a group */
#define group_at t0
#define low_from t1    /* from the group's block */
#define high_from t2
#define scales_from t3
#define groups_left s6
#define isum_at s7

#include "kernels/riscv64/matrix/gemv/gemv_k_rvv.h"

/* Words \k and 8 + \k of x to \low and \high. */
.macro take_act k, low, high
    lw temp, 4*(\k)(act)
    lw temp_1, 32 + 4*(\k)(act)
    vmv.v.x \low, temp
    vmv.v.x \high, temp_1
.endm

/* The same for two chunks of two steps, the second chunk in lanes 8-15. */
.macro take_acts k
    vsetivli zero, 16, e32, m2, ta, ma
    take_act \k + 1, act_low, act_high
    take_act \k + 3, act_low_1, act_high_1
    vsetivli zero, 8, e32, m2, tu, ma
    take_act \k, act_low, act_high
    take_act \k + 2, act_low_1, act_high_1
.endm

/* packed and values = q, from packed and upper; \part even or odd 64 columns. */
.macro combine_bits part
    vand.vi values, packed, 15
    vsrl.vi packed, packed, 4
    .if \part == 0
    vand.vi shifted, upper, 3
    vand.vi upper, upper, 12
    vmacc.vx values, sixteen, shifted
    vmacc.vx packed, four, upper
    .else
    vand.vx shifted, upper, upper_bits
    vsrl.vi upper, upper, 6
    vor.vv values, values, shifted
    vmacc.vx packed, sixteen, upper
    .endif
.endm

/* packed and values = 32 - q. */
.macro negate_bits
    vrsub.vx values, values, thirty_two
    vrsub.vx packed, packed, thirty_two
.endm

/* The bytes of two steps. */
.macro complete part, k
    addi temp, low_at, 256*\part + 32*(\k)
    li temp_1, 128
    vsetvli zero, temp_1, e8, m4, ta, ma
    vle8.v packed, (temp)
    addi temp, high_at, 32*(\k)
    vle8.v upper, (temp)
    combine_bits \part
    negate_bits
.endm

/* A sub-block of the low nibbles and one of the high ones, from chunk \k on. */
.macro two_steps part, k
    complete \part, \k
    beqz long_vectors, .Lin_place\@    /* the second step begins a register */
    vsetvli zero, step_vl, e8, m2, ta, ma
    vslidedown.vx values_1, values, step_vl
    vslidedown.vx packed_1, packed, step_vl
.Lin_place\@:
    take_acts 16*\part + \k
    vsetvli zero, step_vl, e8, m2, ta, ma
    vwmul.vv dots_low, act_low, values
    vwmul.vv dots_high, act_high, packed
    vwmacc.vv dots_low, act_low_1, values_1
    vwmacc.vv dots_high, act_high_1, packed_1
.endm

/* Dots of both sub-blocks side by side, 32 lanes each, as they are at VLEN 128 in m8. */
.macro join
    vsetvli zero, thirty_two, e16, m4, ta, ma
    vslidedown.vx v16, dots_low, thirty_two /* the second chunk's half */
    vslidedown.vx v20, dots_high, thirty_two
    vadd.vv dots_low, dots_low, v16
    vadd.vv dots_high, dots_high, v20
    vsetvli zero, step_vl, e16, m4, ta, ma
    vslideup.vx dots_low, dots_high, thirty_two
    vsetvli zero, thirty_two, e16, m4, ta, ma
.endm

/* isum += scales * dots, of sub-blocks 4 * \part + \half and 2 after it, whose 64 dots are joined. */
.macro fold part, half
    vnsrl.wi v16, dots_low, 0          /* columns 0 and 2 */
    vnsrl.wi v20, dots_low, 16         /* columns 1 and 3 */
    vadd.vv v16, v16, v20
    addi temp, scales_at, 32*\part + 8*\half
    vsetivli zero, 2, e64, m1, ta, ma
    vlse64.v v20, (temp), sixteen
    vsetivli zero, 16, e16, m2, ta, ma
    vsext.vf2 v22, v20
    vnsrl.wi v20, v16, 16
    vnsrl.wi v16, v16, 0
    vwmacc.vv isum, v20, v22
    vwmacc.vv isum, v16, v22
.endm

.macro sub_blocks part, half
    two_steps \part, 4*\half
    join
    fold \part, \half
.endm

/* sums = fma((float)isum, d * x.d, sums), d being 8 halves. */
.macro finish_rows isum, d, scales, sums, half_lmul, lmul
    li temp, 1 << 13
    vsetvli zero, zero, e16, \half_lmul, ta, ma
    vwmul.vx \scales, \d, temp         /* sign-extended and shifted left by 13 */
    li temp, F16_SIGN_MAGNITUDE
    vsetvli zero, zero, e32, \lmul, ta, ma
    vfcvt.f.x.v \isum, \isum
    vand.vx \scales, \scales, temp
    vfmul.vf \scales, \scales, scale_up
    vfmul.vf \scales, \scales, act_scale
    vfmacc.vv \sums, \isum, \scales
.endm

/* isum = both halves of the block at `at`, whose sub-blocks `products` adds; x moves on by `bytes` each. */
.macro halves at, products, x, bytes
    addi low_at, \at, Q6K_LOW
    addi high_at, \at, Q6K_HIGH
    addi scales_at, \at, Q6K_SCALES
    vsetivli zero, 16, e32, m4, ta, ma
    vmv.v.i isum, 0
.Lhalf\@:
    beqz ahead, .Lno_prefetch\@
    prefetch_lines low_at, ahead, 512, temp
    prefetch_lines high_at, ahead, 256, temp
.Lno_prefetch\@:
    \products 0, 0
    \products 0, 1
    \products 1, 0
    \products 1, 1
    addi low_at, low_at, 512
    addi high_at, high_at, 256
    addi scales_at, scales_at, 64
    addi \x, \x, \bytes
    addi temp, \at, Q6K_HIGH            /* where the low bits end */
    bne low_at, temp, .Lhalf\@
.endm

/* One block of a group alone. */
.macro block
    halves group, sub_blocks, act, 128
    flw act_scale, Q8K_SCALE - Q8K_SUM(act)
    vsetivli zero, 8, e32, m4, ta, ma
    vslidedown.vi v0, isum, 8
    vadd.vv isum, isum, v0
    vle16.v v4, (group)
    finish_rows isum, v4, v0, sums, m2, m4
    addi group, group, Q6K_BYTES
    addi act, act, Q8K_BYTES - Q8K_SUM
.endm

.macro all_rows
.Lgroup_alone:
    mv act, act_start
    vsetivli zero, 8, e32, m4, ta, ma
    vmv.v.i sums, 0
    beq act, act_end, .Lstore_alone
.Lblock_alone:
    block
    bne act, act_end, .Lblock_alone
.Lstore_alone:
    li temp, 8
    bgeu rows_left, temp, .Lrows_alone
    mv temp, rows_left
.Lrows_alone:
    vsetvli zero, temp, e32, m4, ta, ma
    vse32.v sums, (dst)
    addi dst, dst, 32
    sub rows_left, rows_left, temp
    bnez rows_left, .Lgroup_alone
.endm

/* ---- VLEN 256, up to 8 groups: x in v0-v7 ---- */

/* Words \k to \k + 3 of x, and 8 to 11 after these. */
.macro take_tile_acts k
    vsetivli zero, 8, e32, m1, ta, ma
    broadcast v0, \k
    broadcast v1, \k + 1
    broadcast v2, \k + 2
    broadcast v3, \k + 3
    broadcast v4, \k + 8
    broadcast v5, \k + 9
    broadcast v6, \k + 10
    broadcast v7, \k + 11
.endm

/* Sub-blocks 4 * \part + \half and 2 after it, of every group. Register groups of m4 of bytes
 * are 128 bytes long, four chunks. */
.macro tile_sub_blocks part, half
    take_tile_acts 16*\part + 4*\half
    mv group_at, tile_block
    mv groups_left, n_groups
    mv isum_at, sp
.Lgroup\@:
    vsetvli temp, zero, e8, m4, ta, ma
    add temp, group_at, low_from
    vle8.v packed, (temp)
    beqz ahead, .Llow_ahead\@
    prefetch_lines temp, ahead, 128, temp
.Llow_ahead\@:
    add temp, group_at, high_from
    vle8.v upper, (temp)
    .if \part == 1
    beqz ahead, .Lhigh_ahead\@
    prefetch_lines temp, ahead, 128, temp
.Lhigh_ahead\@:
    .endif
    combine_bits \part
    negate_bits
    vwmul.vv v16, values, v0
    vwmul.vv v24, packed, v4
    add temp, group_at, scales_from
    vsetvli temp_1, zero, e16, m4, ta, ma
    vadd.vv v16, v16, v20              /* four chunks to two, */
    vadd.vv v24, v24, v28
    vsetvli temp_1, zero, e16, m2, ta, ma
    vadd.vv v16, v16, v18              /* two to one; and the sub-blocks side by side */
    vadd.vv v18, v24, v26
    vnsrl.wi v20, v16, 0               /* columns 0 and 2 */
    vnsrl.wi v22, v16, 16              /* columns 1 and 3 */
    vadd.vv v20, v20, v22
    vsetivli zero, 2, e64, m1, ta, ma
    vlse64.v v24, (temp), sixteen
    vsetivli zero, 16, e16, m1, ta, ma
    vsext.vf2 v25, v24
    vle32.v v28, (isum_at)
    vnsrl.wi v26, v20, 0
    vnsrl.wi v27, v20, 16
    vwmacc.vv v28, v26, v25
    vwmacc.vv v28, v27, v25
    vse32.v v28, (isum_at)
    addi isum_at, isum_at, 64
    add group_at, group_at, row_bytes
    addi groups_left, groups_left, -1
    bnez groups_left, .Lgroup\@
    addi low_from, low_from, 128
    .if \half == 0
    addi high_from, high_from, 128
    addi scales_from, scales_from, 8
    .elseif \part == 0
    addi high_from, high_from, -128
    addi scales_from, scales_from, 24
    .else
    addi high_from, high_from, 128
    addi scales_from, scales_from, 24
    .endif
.endm

.macro tile_block_256
    mv groups_left, n_groups
    mv isum_at, sp
    clear_isums
    li low_from, Q6K_LOW
    li high_from, Q6K_HIGH
    li scales_from, Q6K_SCALES
.Ltile_half:
    tile_sub_blocks 0, 0
    tile_sub_blocks 0, 1
    tile_sub_blocks 1, 0
    tile_sub_blocks 1, 1
    addi act, act, 128
    li temp, Q6K_HIGH                  /* where the low bits end */
    bne low_from, temp, .Ltile_half
    flw act_scale, Q8K_SCALE - Q8K_SUM(act)
    mv group_at, tile_block
    mv groups_left, n_groups
    mv isum_at, sp
    mv temp_1, dst
.Lgroup\@:
    vsetivli zero, 16, e32, m2, ta, ma
    vle32.v v4, (isum_at)
    vslidedown.vi v0, v4, 8
    vsetivli zero, 8, e32, m1, ta, ma
    vadd.vv v0, v0, v4
    vle32.v v6, (temp_1)
    vle16.v v2, (group_at)
    finish_rows v0, v2, v4, v6, mf2, m1
    vse32.v v6, (temp_1)
    addi temp_1, temp_1, 32
    addi isum_at, isum_at, 64
    add group_at, group_at, row_bytes
    addi groups_left, groups_left, -1
    bnez groups_left, .Lgroup\@
    addi act, act, Q8K_BYTES - Q8K_SUM
    addi tile_block, tile_block, Q6K_BYTES
.endm

#include "kernels/riscv64/matrix/gemv/gemv_q6k_128_rvv.h"

func gemv_f32_q6kx8_q8k_rvv, v
    enter_frame
    srli temp_1, cols, 8               /* blocks of a row */
    li act_end, Q8K_BYTES
    mul act_end, act_end, temp_1
    add act_end, act_end, act_start
    li upper_bits, 0x30
    li sixteen, 16
    li four, 4
    li thirty_two, 32
    li row_bytes, Q6K_BYTES
    mul row_bytes, row_bytes, temp_1
    beqz rows_left, .Ldone
    csrr temp, vlenb
    bltu temp, thirty_two, .Lnarrow
    load_float scale_up, F32_MINUS_2P112, temp_1
    sltu long_vectors, thirty_two, temp
    bnez long_vectors, .Lwide
    tiles_256 group, temp
    beqz rows_left, .Ldone
.Lwide:
    li step_vl, 64
    all_rows
    j .Ldone
.Lnarrow:
    load_float scale_up, F32_2P112, temp
    tiles_128
.Ldone:
    leave_frame
    ret
endfunc
