/* void gemv_f32_q8x8_q8_rv64gc(float *restrict y, const void *restrict w,
 *                              const struct block_q8 *restrict x, size_t rows, size_t cols,
 *                              size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft9, fa0-fa7; keeps
 * s0-s11 on the stack.
 *
 * One multiplication makes two products. A doubleword holds 4 columns of two rows, a byte each;
 * with the sign bits flipped a byte is w + 128, and masked to one column of both rows the
 * number is a + b 2^32. Times x it adds up over a block in one register a pair of rows; 128 is
 * taken off through x.sum before the first product, and 2^31 added to keep the lower dot
 * positive until the upper one is read. Instructions per 32 weights: 82. */
#include "kernels/riscv64/matrix/gemv_rv64gc.h"

#define column_mask a7 /* the lowest byte of both rows */
#define sign_flip t0   /* 0x80 in every byte */
#define start t1       /* 2^31 */
#define before t2      /* the packed sums before the first product */
#define word0 t3
#define word1 t4
#define part1 t5
#define part2 t6
#define part3 s0
#define act0 s1        /* x of a chunk */
#define act1 s2
#define act2 s3
#define act3 s4
#define pair0 s5       /* packed sums of two rows each */
#define pair1 s6
#define pair2 s7
#define pair3 s8
#define upper0 s9
#define upper1 s10

.macro pair word, sum, sum_before
    xor \word, \word, sign_flip
    srli part1, \word, 8
    srli part2, \word, 16
    srli part3, \word, 24
    and \word, \word, column_mask
    and part1, part1, column_mask
    and part2, part2, column_mask
    and part3, part3, column_mask
    mul \word, \word, act0
    mul part1, part1, act1
    mul part2, part2, act2
    mul part3, part3, act3
    add \sum, \sum_before, \word
    add \sum, \sum, part1
    add \sum, \sum, part2
    add \sum, \sum, part3
.endm

.macro chunk index, first
    ld word0, 32*\index + QUANTS(block)
    lb act0, 4*\index(act)
    lb act1, 4*\index + 1(act)
    lb act2, 4*\index + 2(act)
    lb act3, 4*\index + 3(act)
    ld word1, 32*\index + QUANTS + 8(block)
    .ifnb \first
    pair word0, pair0, before
    ld word0, 32*\index + QUANTS + 16(block)
    pair word1, pair1, before
    ld word1, 32*\index + QUANTS + 24(block)
    pair word0, pair2, before
    pair word1, pair3, before
    .else
    pair word0, pair0, pair0
    ld word0, 32*\index + QUANTS + 16(block)
    pair word1, pair1, pair1
    ld word1, 32*\index + QUANTS + 24(block)
    pair word0, pair2, pair2
    pair word1, pair3, pair3
    .endif
.endm

/* The dots of two rows: the second to \upper, the first stays in \packed. */
.macro unpack packed, upper
    srai \upper, \packed, 32
    subw \packed, \packed, start
.endm

func gemv_f32_q8x8_q8_rv64gc
    push ALL_SAVED_BYTES, ALL_SAVED
    start_rows part1, part2
    li column_mask, 0x000000ff000000ff
    li sign_flip, 0x8080808080808080
    li start, 1 << 31
    beqz rows_left, .Ldone
.Lgroup:
    clear_sums
    mv act, act_start
    beq act, act_end, .Lstore
.Lblock:
    lw part1, Q8_SUM(act)
    flw act_scale, Q8_SCALE(act)
    slli part1, part1, 7
    slli part2, part1, 32
    sub before, start, part1
    sub before, before, part2          /* 2^31 - 128 * x.sum in both */
    chunk 0, first
    chunk 1
    chunk 2
    chunk 3
    chunk 4
    chunk 5
    chunk 6
    chunk 7
    unpack pair0, upper0
    unpack pair1, upper1
    finish_rows 0, pair0, upper0, pair1, upper1, fa0, fa1, fa2, fa3, word0, word1, part1, part2
    unpack pair2, upper0
    unpack pair3, upper1
    finish_rows 4, pair2, upper0, pair3, upper1, fa4, fa5, fa6, fa7, word0, word1, part1, part2
    addi block, block, Q8X8_BYTES
    addi act, act, Q8_BYTES
    bne act, act_end, .Lblock
.Lstore:
    store_sums .Ldone
    j .Lgroup
.Ldone:
    pop ALL_SAVED_BYTES, ALL_SAVED
    ret
endfunc
