/* void accumulate_f32_q4_q8_rvv(float *restrict o, const struct score_row *restrict s,
 *                               const struct block_q8 *restrict w, const void *restrict v,
 *                               size_t n_q, size_t d)
 *
 * a0 o, a1 s, a2 w, a3 v, a4 rows left, a5 d, then bytes of a row of o.
 * Clobbers a0-a7, t0-t6, ft0, ft1, v0-v31; saves s0-s11.
 *
 * A lane is a dimension of a block; the second half of the tile follows the first. */
#include "kernels/riscv64/attention/attention_int_rvv.h"

#define outs a0
#define factors a1
#define blocks a2
#define values a3
#define rows_left a4
#define row_bytes a5
#define block_row_bytes a6 /* of w */
#define out_at s0
#define blocks_at s1
#define dims_left s8       /* in bytes of a row of o */
#define value_bytes s9     /* of a block */
#define row_at s10
#define scale ft0
#define factor ft1

/* o = fma(sum, w.d, o); in the first half, o * factor replaces o. */
.macro add_piece piece, taken, half, last
    vsetvli zero, \taken, e16, m4, ta, ma
    vfwcvt.f.x.v floats, \piece
    vsetvli temp, \taken, e32, m8, ta, ma
    vle32.v others, (piece_at)
    .if \last == 0
    sub lanes_left, lanes_left, temp
    .endif
    .if \half == 0
    vfmul.vf others, others, factor
    .endif
    vfmacc.vf others, scale, floats
    vse32.v others, (piece_at)
    .if \last == 0
    add piece_at, piece_at, piece_bytes
    .endif
.endm

.macro add_piece_0 piece, taken, more
    add_piece \piece, \taken, 0, 0
.endm
.macro add_piece_1 piece, taken, more
    add_piece \piece, \taken, 1, 0
.endm
.macro add_last_piece_0 piece, taken, more
    add_piece \piece, \taken, 0, 1
.endm
.macro add_last_piece_1 piece, taken, more
    add_piece \piece, \taken, 1, 1
.endm

.macro add_row wide, half, row, block
    flw scale, 0(\block)
    .if \half == 0
    flw factor, \row*SCORE_ROW_BYTES + SCORE_ROW_FACTOR(factors)
    .endif
    mv lanes_left, lanes
    mv piece_at, row_at
    .if \wide
    for_pieces \wide, \row, add_piece_\half
    .else
    for_pieces \wide, \row, add_last_piece_\half
    .endif
    add row_at, row_at, row_bytes
.endm

.macro add_half wide, count, half
    sum_groups \wide, \count
    mv row_at, out_at
    add_row \wide, \half, 0, block0
    .if \count > 1
    add_row \wide, \half, 1, block1
    .endif
    .if \count > 2
    add_row \wide, \half, 2, block2
    add_row \wide, \half, 3, block3
    .endif
    next_blocks \count, Q8_BYTES - Q8_SCALE
.endm

.macro accumulate_rows wide, count
    mv out_at, outs
    mv blocks_at, blocks
    mv group_at, values
    mv dims_left, row_bytes
.Lblock\@:
    lead_blocks \count, blocks_at, block_row_bytes
    add_half \wide, \count, 0
    add_half \wide, \count, 1
    slli temp, lanes, 2
    add out_at, out_at, temp
    sub dims_left, dims_left, temp
    addi blocks_at, blocks_at, 2*Q8_BYTES
    bnez dims_left, .Lblock\@
    .rept \count
    add outs, outs, row_bytes
    add blocks, blocks, block_row_bytes
    .endr
    addi factors, factors, \count*SCORE_ROW_BYTES
    addi rows_left, rows_left, -\count
.endm

func accumulate_f32_q4_q8_rvv, v
    push 96, ALL_SAVED
    beqz row_bytes, .Ldone
    li lanes, 64
    andi temp, row_bytes, 32
    beqz temp, .Lwidth
    li lanes, 32
.Lwidth:
    slli group_stride, lanes, 1
    divu block_row_bytes, row_bytes, lanes
    li temp, 2*Q8_BYTES
    mul block_row_bytes, block_row_bytes, temp
    slli row_bytes, row_bytes, 2
    begin_pieces
    li temp, 128
    bgtu piece_bytes, temp, .Llong
    for_rows 1, accumulate_rows, rows_left, .Ldone
.Llong:
    for_rows 0, accumulate_rows, rows_left, .Ldone
.Ldone:
    pop 96, ALL_SAVED
    ret
endfunc
