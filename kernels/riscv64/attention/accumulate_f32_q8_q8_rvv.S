/* void accumulate_f32_q8_q8_rvv(float *restrict o, const struct score_row *restrict s,
 *                               const struct block_q8 *restrict w, const void *restrict v,
 *                               size_t n_q, size_t d)
 *
 * a0 o, a1 s, a2 w, a3 v, a4 rows left, a5 d, then bytes of a row of o.
 * Clobbers a0-a7, t0-t6, ft0, ft1, v0-v31; saves s0-s11.
 *
 * A lane is a dimension: registers of 128 bits hold 32 dimensions of a block, longer registers
 * hold the whole block. Two rows are computed at a time. A segment load splits four positions;
 * the products of two are added in 16 bits, then widened: 12 instructions for a row. */
#include "kernels/riscv64/asm.h"

#define outs a0
#define factors a1
#define blocks a2
#define values a3
#define rows_left a4
#define row_bytes a5
#define block_row_bytes a6 /* of w */
#define lanes a7
#define group_at t0
#define group_stride t1
#define temp t2
#define element0 t3
#define element1 t4
#define block0 t5
#define block1 t6
#define out_at s0
#define blocks_at s1
#define strip_at s2        /* values of these lanes */
#define dims_left s3       /* in bytes of a row of o */
#define groups_left s4
#define width_left s5      /* dimensions of a block */
#define width s6
#define values_at s7
#define place s8
#define scale ft0
#define factor ft1

#define field0 v0          /* m2 each */
#define field1 v2
#define field2 v4
#define field3 v6
#define low v8             /* m4, 16 bits */
#define high v12
#define sums0 v16          /* m8, 32 bits */
#define sums1 v24
#define floats v8          /* m8 */

.macro add_group block, sums
    lb element0, 0(\block)
    lb element1, 1(\block)
    vwmul.vx low, field0, element0
    lb element0, 2(\block)
    vwmacc.vx low, element1, field1
    lb element1, 3(\block)
    vwmul.vx high, field2, element0
    addi \block, \block, 4
    vwmacc.vx high, element1, field3
    vsetvli zero, lanes, e16, m4, ta, ma
    vwadd.wv \sums, \sums, low
    vwadd.wv \sums, \sums, high
.endm

/* o = fma(sum, w.d, o); in the first half, o * factor replaces o. */
.macro add_row half, row, block, sums
    flw scale, 0(\block)
    .if \row == 0
    mv place, out_at
    .else
    add place, place, row_bytes
    .endif
    vfcvt.f.x.v \sums, \sums
    vle32.v floats, (place)
    .if \half == 0
    flw factor, \row*SCORE_ROW_BYTES + SCORE_ROW_FACTOR(factors)
    vfmul.vf floats, floats, factor
    .endif
    addi \block, \block, Q8_BYTES - Q8_SCALE
    vfmacc.vf floats, scale, \sums
    vse32.v floats, (place)
.endm

.macro add_half count, half
    vsetvli zero, lanes, e32, m8, ta, ma
    vmv.v.i sums0, 0
    vmv.v.i sums1, 0
    li groups_left, 8
.Lgroup\@:
    vsetvli zero, lanes, e8, m2, ta, ma
    vlseg4e8.v field0, (group_at)
    add group_at, group_at, group_stride
    addi groups_left, groups_left, -1
    add_group block0, sums0
    .if \count > 1
    vsetvli zero, lanes, e8, m2, ta, ma
    add_group block1, sums1
    .endif
    bnez groups_left, .Lgroup\@
    vsetvli zero, lanes, e32, m8, ta, ma
    add_row \half, 0, block0, sums0
    .if \count > 1
    add_row \half, 1, block1, sums1
    .endif
.endm

.macro accumulate_rows count
    mv out_at, outs
    mv blocks_at, blocks
    mv values_at, values
    mv dims_left, row_bytes
.Lblock\@:
    mv width_left, width
    mv strip_at, values_at
.Lstrip\@:
    mv group_at, strip_at
    mv block0, blocks_at
    .if \count > 1
    add block1, block0, block_row_bytes
    .endif
    add_half \count, 0
    add_half \count, 1
    slli temp, lanes, 2
    add out_at, out_at, temp
    add strip_at, strip_at, temp
    sub dims_left, dims_left, temp
    sub width_left, width_left, lanes
    bnez width_left, .Lstrip\@
    slli temp, width, 6
    add values_at, values_at, temp
    addi blocks_at, blocks_at, 2*Q8_BYTES
    bnez dims_left, .Lblock\@
    .rept \count
    add outs, outs, row_bytes
    add blocks, blocks, block_row_bytes
    .endr
    addi factors, factors, \count*SCORE_ROW_BYTES
    addi rows_left, rows_left, -\count
.endm

func accumulate_f32_q8_q8_rvv, v
    push 96, ALL_SAVED
    beqz row_bytes, .Ldone
    li width, 64
    andi temp, row_bytes, 32
    beqz temp, .Lwidth
    li width, 32
.Lwidth:
    vsetvli lanes, zero, e8, m2, ta, ma
    bleu lanes, width, .Llanes
    mv lanes, width
.Llanes:
    slli group_stride, width, 2
    divu block_row_bytes, row_bytes, width
    li temp, 2*Q8_BYTES
    mul block_row_bytes, block_row_bytes, temp
    slli row_bytes, row_bytes, 2
.Lrows:
    li temp, 2
    bltu rows_left, temp, .Lone
    accumulate_rows 2
    j .Lrows
.Lone:
    beqz rows_left, .Ldone
    accumulate_rows 1
.Ldone:
    pop 96, ALL_SAVED
    ret
endfunc
