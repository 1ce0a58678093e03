/* void score_f32_q4_rvv(struct score_row *restrict s, const struct block_q8 *restrict q,
 *                       const void *restrict k, size_t n_q, size_t n, size_t d)
 *
 * a0 s, a1 q, a2 scales, a3 n_q, a4 n, which becomes `lanes`, a5 blocks of 32 dimensions left, a6
 * keys.
 * Clobbers a0, a1, a3-a7, t0-t6, ft0, v0-v31; saves s0-s11.
 *
 * A lane is a position; between blocks, the sums are kept in s. */
#include "kernels/riscv64/attention/attention_int_rvv.h"

#define rows_at a0
#define queries a1
#define scales a2
#define queries_left a3
#define n_blocks a5
#define keys a6
#define query_bytes s0
#define blocks_left s1
#define scale_at s8
#define score_at s9
#define scale_piece s10
#define scale ft0

/* s = fma(sum * scale, q.d, s) of a piece. */
.macro add_piece piece, taken, last
    vsetvli zero, \taken, e16, m4, ta, ma
    vfwcvt.f.x.v floats, \piece
    vsetvli temp, \taken, e32, m8, ta, ma
    vle16.v halves, (scale_piece)
    vzext.vf2 others, halves
    vsll.vi others, others, 16
    vfmul.vv floats, floats, others
    vle32.v others, (piece_at)
    vfmacc.vf others, scale, floats
    vse32.v others, (piece_at)
    .if \last == 0
    sub lanes_left, lanes_left, temp
    slli temp, temp, 1
    add scale_piece, scale_piece, temp
    add piece_at, piece_at, piece_bytes
    .endif
.endm

.macro add_row wide, row, block
    flw scale, 0(\block)
    mv scale_piece, scale_at
    addi piece_at, score_at, \row*SCORE_ROW_BYTES
    .if \wide
    mv lanes_left, lanes
    for_pieces \wide, \row, add_piece, 0
    .else
    for_pieces \wide, \row, add_piece, 1
    .endif
.endm

.macro score_rows wide, count
    lead_blocks \count, queries, query_bytes
    mv score_at, rows_at
    vsetvli temp, zero, e32, m8, ta, ma
    vmv.v.i floats, 0
    .irp row, 0, 1, 2, 3
    .if \row < \count
    addi piece_at, score_at, \row*SCORE_ROW_BYTES
    mv lanes_left, lanes
.Lzero\@_\row:
    vsetvli temp, lanes_left, e32, m8, ta, ma
    vse32.v floats, (piece_at)
    sub lanes_left, lanes_left, temp
    slli temp, temp, 2
    add piece_at, piece_at, temp
    bnez lanes_left, .Lzero\@_\row
    .endif
    .endr
    mv blocks_left, n_blocks
    mv scale_at, scales
    mv group_at, keys
    beqz blocks_left, .Lscored\@
.Lblock\@:
    sum_groups \wide, \count
    add_row \wide, 0, block0
    .if \count > 1
    add_row \wide, 1, block1
    .endif
    .if \count > 2
    add_row \wide, 2, block2
    add_row \wide, 3, block3
    .endif
    next_blocks \count, Q8_BYTES - Q8_SCALE
    addi scale_at, scale_at, 2*KV_TILE
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock\@
.Lscored\@:
    addi rows_at, rows_at, \count*SCORE_ROW_BYTES
    .rept \count
    add queries, queries, query_bytes
    .endr
    addi queries_left, queries_left, -\count
.endm

func score_f32_q4_rvv, v
    push 96, ALL_SAVED
    mv lanes, a4
    beqz lanes, .Ldone
    li group_stride, 2*KV_TILE
    srli n_blocks, n_blocks, 5
    slli temp, n_blocks, 7
    add keys, scales, temp
    li query_bytes, Q8_BYTES
    mul query_bytes, query_bytes, n_blocks
    begin_pieces
    li temp, 128
    bgtu piece_bytes, temp, .Llong
    for_rows 1, score_rows, queries_left, .Ldone
.Llong:
    for_rows 0, score_rows, queries_left, .Ldone
.Ldone:
    pop 96, ALL_SAVED
    ret
endfunc
