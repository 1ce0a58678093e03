/* void gemv_f32_q4x8_q8_rv64gc(float *restrict y, const void *restrict w,
 *                              const struct block_q8 *restrict x, size_t rows, size_t cols,
 *                              size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0-a7, t0-t6, ft0-ft9, fa0-fa7; keeps s0-s11 and ra in a
 * frame of 7168 bytes.
 *
 * One multiplication makes four products. A doubleword holds 4 columns of two rows, a byte each;
 * masked to 15 in every other byte it is the number a0 + a2 B + b0 B^2 + b2 B^3, B = 2^16, of
 * columns 0 and 2 of rows a and b. Times x2 + x0 B, modulo 2^64, the coefficient of B is
 * a0 x0 + a2 x2 and that of B^3 is b0 x0 + b2 x2; those of 1 and B^2 are by-products.
 * 16 columns keep every coefficient within 16 * 15 * 128 = 30720, so products of the low
 * nibbles of a block add up in one register a pair of rows, those of the high nibbles in
 * another. 2^15 and 2^47 added once make the parts below B and B^3 positive, so that shifts read
 * the coefficients exactly. Instructions per 32 weights: 47.
 *
 * segments_rv64gc.h has the loops, and keeps the pairs x2 + x0 B of 1536 columns, which would be 6 more. */
#define TOKENS 1
#define ACT_BYTES Q8_BYTES
#define ACT_COLS_LOG2 COLS_LOG2
#define SEGMENT 48

/* A block of x in the frame: 16 pairs, 8 * x.sum, d. */
#define RECORD_BIAS 128
#define RECORD_SCALE 136
#define RECORD_BYTES 144

#include "kernels/riscv64/segments_rv64gc.h"

#define mask a7        /* 15 in each B */
#define start t0       /* 2^47 + 2^15 */
#define bias t1        /* 8 * x.sum */
#define low_even t2    /* x2 + x0 B of a chunk */
#define low_odd t3     /* x3 + x1 B */
#define high_even t4   /* the same of columns 16 further on */
#define high_odd t5
#define word0 t6
#define word1 s8
#define part1 s9
#define part2 s10
#define part3 s11
#define low0 s0        /* sums of the pairs of rows, of low and high nibbles */
#define high0 s1
#define low1 s2
#define high1 s3
#define low2 s4
#define high2 s5
#define low3 s6
#define high3 s7

.macro pack_pair place, column
    lb t0, \column(from)
    lb t1, \column + 2(from)
    slli t0, t0, 16
    add t0, t0, t1
    sd t0, 8*(\place)(to)
.endm

/* A record from a block of x: of each chunk low_even, low_odd, high_even and high_odd. */
.macro pack_block starts
    .irp index, 0, 1, 2, 3
    pack_pair 4*\index, 4*\index
    pack_pair 4*\index + 1, 4*\index + 1
    pack_pair 4*\index + 2, 4*\index + 16
    pack_pair 4*\index + 3, 4*\index + 17
    .endr
    lw t0, Q8_SUM(from)
    lw t1, Q8_SCALE(from)
    slli t0, t0, 3
    sd t0, RECORD_BIAS(to)
    sw t1, RECORD_SCALE(to)
    addi to, to, RECORD_BYTES
.endm

.macro make_masks
    li mask, 0x000f000f000f000f
    li start, (1 << 47) + (1 << 15)
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

/* Products of a doubleword, added to those of the pair of rows. */
.macro pair word, low, high, low_before, high_before
    srli part1, \word, 8
    srli part2, \word, 4
    srli part3, \word, 12
    and \word, \word, mask
    and part1, part1, mask
    and part2, part2, mask
    and part3, part3, mask
    mul \word, \word, low_even
    mul part1, part1, low_odd
    mul part2, part2, high_even
    mul part3, part3, high_odd
    add \low, \low_before, \word
    add \low, \low, part1
    add \high, \high_before, part2
    add \high, \high, part3
.endm

.macro chunk index, first
    ld low_even, 32*\index(act)
    ld low_odd, 32*\index + 8(act)
    ld high_even, 32*\index + 16(act)
    ld high_odd, 32*\index + 24(act)
    ld word0, 32*\index + QUANTS(block)
    ld word1, 32*\index + QUANTS + 8(block)
    .ifnb \first
    pair word0, low0, high0, start, start
    ld word0, 32*\index + QUANTS + 16(block)
    pair word1, low1, high1, start, start
    ld word1, 32*\index + QUANTS + 24(block)
    pair word0, low2, high2, start, start
    pair word1, low3, high3, start, start
    .else
    pair word0, low0, high0, low0, high0
    ld word0, 32*\index + QUANTS + 16(block)
    pair word1, low1, high1, low1, high1
    ld word1, 32*\index + QUANTS + 24(block)
    pair word0, low2, high2, low2, high2
    pair word1, low3, high3, low3, high3
    .endif
.endm

/* The dots of two rows from their packed sums: of the first to \low, of the second to \high. */
.macro unpack low, high
    sraiw part1, \low, 16
    sraiw part2, \high, 16
    srai \low, \low, 48
    srai \high, \high, 48
    add part1, part1, part2
    add \high, \high, \low
    sub \low, part1, bias
    sub \high, \high, bias
.endm

.macro q4_block
    chunk 0, first
    chunk 1
    chunk 2
    chunk 3
    ld bias, RECORD_BIAS(act)
    flw act_scale, RECORD_SCALE(act)
    unpack low0, high0
    unpack low1, high1
    unpack low2, high2
    unpack low3, high3
    finish_rows 0, low0, high0, low1, high1, fa0, fa1, fa2, fa3, word0, word1, part1, part2
    finish_rows 4, low2, high2, low3, high3, fa4, fa5, fa6, fa7, word0, word1, part1, part2
    addi block, block, Q4X8_BYTES
    addi act, act, RECORD_BYTES
.endm

func gemv_f32_q4x8_q8_rv64gc
    open_frame
    gemv_loops q4_block, Q4X8_BYTES, none
    close_frame
    ret
endfunc
