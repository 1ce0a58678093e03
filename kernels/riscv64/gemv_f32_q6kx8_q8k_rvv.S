/* void gemv_f32_q6kx8_q8k_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                             size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols, a5 ahead. Clobbers a0-a1, a3-a7, t0-t6, ft0-ft1, every
 * vector register.
 *
 * A chunk of 32 bytes holds 4 columns of 8 rows in its low nibbles and the 4 columns 32 further
 * on in the high ones; two chunks are completed by their upper bits at a time, as 32 - q: -31 to
 * 32, of which 8 products with -128 .. 127 lie in -32768 .. 32512, where q - 32 would overflow
 * int16 by one. The scales are negated in return, which changes no bit: y is never -0. The 4
 * activations of a chunk are one 32-bit word, broadcast over the 8 rows.
 *
 * A sub-block has 16 columns, 4 chunks. Those of the low and of the high nibbles are put behind
 * each other, so that one fold by narrowing shifts serves both: first in int16, then times the
 * sub-blocks' scales, widening.
 *
 * VLEN 128 takes one chunk a register group. VLEN >= 256 takes two, lanes 32 and up hold the next.
 * One group of rows at a time: with two, only one chunk at once can be completed, and that costs
 * more than a second broadcast. Instructions per 8 rows and 32 columns: 75 at VLEN 128, 64 from
 * 256 on. */
#include "kernels/riscv64/asm.h"
#include "kernels/riscv64/prefetch.h"

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
#define step_vl t3     /* bytes of a register group */
#define thirty_two t4  /* also the int16 lanes of a sub-block once joined */
#define temp t5
#define temp_1 t6
#define two_steps_vl s0
#define upper_bits s1  /* 0x30 */
#define scales_stride s2 /* 16: from one row of scales to the next but one */
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

#define F32_MINUS_2P112 0xf7800000
#define BLOCK_BYTES 1680
#define ACT_BYTES 304
#define SCALES_AT 16   /* in a block */
#define LOW_AT 144
#define HIGH_AT 1168

/* Words \k and 8 + \k of x to \low and \high. */
.macro take_act_1 k, low, high
    lw temp, 4*(\k)(act)
    lw temp_1, 32 + 4*(\k)(act)
    vmv.v.x \low, temp
    vmv.v.x \high, temp_1
.endm

.macro take_acts_1 k
    vsetivli zero, 8, e32, m2, ta, ma
    take_act_1 \k, act_low, act_high
    take_act_1 \k + 1, act_low_1, act_high_1
.endm

/* The same for two words each, the second in lanes 8-15. */
.macro take_acts_2 k
    vsetivli zero, 16, e32, m2, ta, ma
    take_act_1 \k + 1, act_low, act_high
    take_act_1 \k + 3, act_low_1, act_high_1
    vsetivli zero, 8, e32, m2, tu, ma
    take_act_1 \k, act_low, act_high
    take_act_1 \k + 2, act_low_1, act_high_1
.endm

/* packed and values from the bytes of two steps; \part even or odd 64 columns. */
.macro complete part, k
    addi temp, low_at, 256*\part + 32*(\k)
    vsetvli zero, two_steps_vl, e8, m4, ta, ma
    vle8.v packed, (temp)
    addi temp, high_at, 32*(\k)
    vle8.v upper, (temp)
    vand.vi values, packed, 15
    vsrl.vi packed, packed, 4
    .if \part == 0
    vsll.vi shifted, upper, 4
    vsll.vi upper, upper, 2
    vand.vx shifted, shifted, upper_bits
    .else
    vand.vx shifted, upper, upper_bits
    vsrl.vi upper, upper, 2
    .endif
    vand.vx upper, upper, upper_bits
    vor.vv values, values, shifted
    vor.vv packed, packed, upper
    vrsub.vx values, values, thirty_two
    vrsub.vx packed, packed, thirty_two
.endm

/* Two steps from chunk \k on. */
.macro two_steps chunks, part, k, first
    complete \part, \k
    .if \chunks == 2
    beqz long_vectors, 1f              /* the second step begins a register */
    vsetvli zero, step_vl, e8, m2, ta, ma
    vslidedown.vx values_1, values, step_vl
    vslidedown.vx packed_1, packed, step_vl
1:
    .endif
    take_acts_\chunks 16*\part + \k
    vsetvli zero, step_vl, e8, m2, ta, ma
    .ifnb \first
    vwmul.vv dots_low, act_low, values
    vwmul.vv dots_high, act_high, packed
    .else
    vwmacc.vv dots_low, act_low, values
    vwmacc.vv dots_high, act_high, packed
    .endif
    vwmacc.vv dots_low, act_low_1, values_1
    vwmacc.vv dots_high, act_high_1, packed_1
.endm

/* Dots of both sub-blocks side by side, 32 lanes each. At VLEN 128 they are, in m8. */
.macro join_1
    vsetvli zero, thirty_two, e16, m4, ta, ma
.endm

.macro join_2
    vsetvli zero, thirty_two, e16, m4, ta, ma
    vslidedown.vx v16, dots_low, thirty_two /* the second chunk's half */
    vslidedown.vx v20, dots_high, thirty_two
    vadd.vv dots_low, dots_low, v16
    vadd.vv dots_high, dots_high, v20
    vsetvli zero, step_vl, e16, m4, ta, ma
    vslideup.vx dots_low, dots_high, thirty_two
    vsetvli zero, thirty_two, e16, m4, ta, ma
.endm

/* isum += scales * dots, of sub-blocks 4 * \part + \half and 2 after it. */
.macro fold chunks, part, half
    join_\chunks
    vnsrl.wi v16, dots_low, 0          /* columns 0 and 2 */
    vnsrl.wi v20, dots_low, 16         /* columns 1 and 3 */
    vadd.vv v16, v16, v20
    addi temp, scales_at, 32*\part + 8*\half
    vsetivli zero, 2, e64, m1, ta, ma
    vlse64.v v20, (temp), scales_stride
    vsetivli zero, 16, e16, m2, ta, ma
    vsext.vf2 v22, v20
    vnsrl.wi v20, v16, 16
    vnsrl.wi v16, v16, 0
    vwmacc.vv isum, v20, v22
    vwmacc.vv isum, v16, v22
.endm

.macro sub_blocks chunks, part, half
    .if \chunks == 1
    two_steps 1, \part, 4*\half, first
    two_steps 1, \part, 4*\half + 2
    .else
    two_steps 2, \part, 4*\half, first
    .endif
    fold \chunks, \part, \half
.endm

/* One block: sums = fma((float)isum, d * x.d, sums). */
.macro block chunks
    addi low_at, group, LOW_AT
    addi high_at, group, HIGH_AT
    addi scales_at, group, SCALES_AT
    vsetivli zero, 16, e32, m4, ta, ma
    vmv.v.i isum, 0
.Lhalf_\chunks:
    beqz ahead, .Lno_prefetch_\chunks
    prefetch_lines low_at, ahead, 512, temp
    prefetch_lines high_at, ahead, 256, temp
.Lno_prefetch_\chunks:
    sub_blocks \chunks, 0, 0
    sub_blocks \chunks, 0, 1
    sub_blocks \chunks, 1, 0
    sub_blocks \chunks, 1, 1
    addi low_at, low_at, 512
    addi high_at, high_at, 256
    addi scales_at, scales_at, 64
    addi act, act, 128
    addi temp, group, HIGH_AT          /* where the low bits end */
    bne low_at, temp, .Lhalf_\chunks
    flw act_scale, 32(act)
    vsetivli zero, 8, e32, m4, ta, ma
    vslidedown.vi v0, isum, 8
    vadd.vv isum, isum, v0
    vsetvli zero, zero, e16, m2, ta, ma
    vle16.v v4, (group)
    li temp, 1 << 13
    vwmul.vx v0, v4, temp              /* sign-extended and shifted left by 13 */
    vsetvli zero, zero, e32, m4, ta, ma
    li temp, F16_SIGN_MAGNITUDE
    vfcvt.f.x.v isum, isum
    vand.vx v0, v0, temp
    vfmul.vf v0, v0, scale_up
    addi group, group, BLOCK_BYTES
    addi act, act, ACT_BYTES - 256
    vfmul.vf v0, v0, act_scale
    vfmacc.vv sums, isum, v0
.endm

.macro all_rows chunks
.Lgroup_\chunks:
    mv act, act_start
    vsetivli zero, 8, e32, m4, ta, ma
    vmv.v.i sums, 0
    beq act, act_end, .Lstore_\chunks
.Lblock_\chunks:
    block \chunks
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

func gemv_f32_q6kx8_q8k_rvv, v
    addi sp, sp, -32
    .cfi_def_cfa_offset 32
    sd s0, 0(sp)
    sd s1, 8(sp)
    sd s2, 16(sp)
    beqz rows_left, .Ldone
    srli temp, cols, 8                 /* blocks of a row */
    li act_end, ACT_BYTES
    mul act_end, act_end, temp
    add act_end, act_end, act_start
    load_float scale_up, F32_MINUS_2P112, temp
    li upper_bits, 0x30
    li scales_stride, 16
    li step_vl, 32
    li two_steps_vl, 64
    li thirty_two, 32
    csrr temp, vlenb
    bgeu temp, thirty_two, .Lwide
    all_rows 1
    j .Ldone
.Lwide:
    sltu long_vectors, thirty_two, temp
    slli step_vl, step_vl, 1
    slli two_steps_vl, two_steps_vl, 1
    all_rows 2
.Ldone:
    ld s0, 0(sp)
    ld s1, 8(sp)
    ld s2, 16(sp)
    addi sp, sp, 32
    .cfi_def_cfa_offset 0
    ret
endfunc
