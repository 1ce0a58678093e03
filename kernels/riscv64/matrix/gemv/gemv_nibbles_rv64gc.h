/* Shared by the gemvs of Q4_0, Q4_1, Q5_0 and Q5_1 without vectors. A kernel that includes this defines
 * BLOCK_BYTES and QUANTS_AT for a group's block; HIGH_AT if there are fifth bits; MINS_AT if there
 * are minima, else BIAS_LOG2.
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0-a7, t0-t6, ft0-ft10, fa0-fa7; saves s0-s11 and ra in a
 * frame of 7168 bytes.
 *
 * One multiplication computes four products. A doubleword holds 4 columns of two rows, a byte
 * each. Masked to 15 in every other byte, it is the number a0 + a2 B + b0 B^2 + b2 B^3, B = 2^16,
 * of columns 0 and 2 of rows a and b. Times x2 + x0 B, modulo 2^64, the coefficient of B is
 * a0 x0 + a2 x2 and that of B^3 is b0 x0 + b2 x2; those of 1 and B^2 are by-products.
 * Over 16 columns every coefficient stays within 16 * 15 * 128 = 30720. So for each pair
 * of rows, one register sums the products of a block's low nibbles, another those of its
 * high nibbles. 2^15 and 2^47 are added once: they make the parts below B and B^3 positive,
 * so that shifts read the coefficients exactly. Fifth bits are multiplied separately by the same x.
 * One register sums all 32 columns (32 * 128 = 4096), which count 16 times.
 *
 * segments_rv64gc.h has the loops, and keeps the pairs x2 + x0 B of 1536 columns; making them each time
 * would cost 6 more instructions. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_NIBBLES_RV64GC_H
#define INGOT_KERNELS_RISCV64_GEMV_NIBBLES_RV64GC_H

#define TOKENS 1
#define ACT_BYTES Q8_BYTES
#define ACT_COLS_LOG2 COLS_LOG2
#define SEGMENT 48

/* A block of x in the frame: 16 pairs; the bias times x.sum, or with minima x.sum * d as a float; d. */
#define RECORD_BIAS 128
#define RECORD_SCALE 136
#define RECORD_BYTES 144

#include "kernels/riscv64/matrix/segments_rv64gc.h"

#define mask a7        /* 15 in each B */
#define start t0       /* 2^47 + 2^15 */
#define bias t1        /* times x.sum */
#ifdef HIGH_AT
#define fifth_mask a2  /* 1 in each B */
#define fifth0 a4      /* sums of fifth bits, of the pairs of rows */
#define fifth1 ra
#define fifth2 t1
#define fifth3 s11
#endif
#define low_even t2    /* x2 + x0 B of a chunk */
#define low_odd t3     /* x3 + x1 B */
#define high_even t4   /* x2 + x0 B of the columns 16 further on */
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

/* Make a record from a block of x: low_even, low_odd, high_even and high_odd of each chunk. */
.macro pack_block starts
    .irp index, 0, 1, 2, 3
    pack_pair 4*\index, 4*\index
    pack_pair 4*\index + 1, 4*\index + 1
    pack_pair 4*\index + 2, 4*\index + 16
    pack_pair 4*\index + 3, 4*\index + 17
    .endr
    lw t0, Q8_SUM(from)
    lw t1, Q8_SCALE(from)
#ifdef MINS_AT
    fcvt.s.w ft0, t0
    fmv.w.x ft1, t1
    fmul.s ft0, ft0, ft1
    fsw ft0, RECORD_BIAS(to)
#else
    slli t0, t0, BIAS_LOG2
    sd t0, RECORD_BIAS(to)
#endif
    sw t1, RECORD_SCALE(to)
    addi to, to, RECORD_BYTES
.endm

.macro make_masks
    li mask, 0x000f000f000f000f
#ifdef HIGH_AT
    li fifth_mask, 0x0001000100010001
#endif
    li start, (1 << 47) + (1 << 15)
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

/* Add the products of a doubleword to those of the pair of rows. */
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
    ld word0, 32*\index + QUANTS_AT(block)
    ld word1, 32*\index + QUANTS_AT + 8(block)
    .ifnb \first
    pair word0, low0, high0, start, start
    ld word0, 32*\index + QUANTS_AT + 16(block)
    pair word1, low1, high1, start, start
    ld word1, 32*\index + QUANTS_AT + 24(block)
    pair word0, low2, high2, start, start
    pair word1, low3, high3, start, start
    .else
    pair word0, low0, high0, low0, high0
    ld word0, 32*\index + QUANTS_AT + 16(block)
    pair word1, low1, high1, low1, high1
    ld word1, 32*\index + QUANTS_AT + 24(block)
    pair word0, low2, high2, low2, high2
    pair word1, low3, high3, low3, high3
    .endif
.endm

/* Extract the dots of two rows from their packed sums: the first to \low, the second to \high. */
.macro unpack low, high
    sraiw part1, \low, 16
    sraiw part2, \high, 16
    srai \low, \low, 48
    srai \high, \high, 48
    add part1, part1, part2
    add \high, \high, \low
#ifdef MINS_AT
    mv \low, part1
#elif defined(HIGH_AT)
    mv \low, part1
#else
    sub \low, part1, bias
    sub \high, \high, bias
#endif
.endm

#ifdef HIGH_AT
/* Multiply the fifth bits of two rows by x, for a chunk and the
 * chunk 16 columns further on, and add to their packed sum. */
.macro fifth_pair index, pair, fifth, fifth_before
    ld word0, HIGH_AT + 8*\pair(block)
    .if \index
    srli word1, word0, \index
    and word1, word1, fifth_mask
    .else
    and word1, word0, fifth_mask
    .endif
    srli part1, word0, 8 + \index
    srli part2, word0, 4 + \index
    srli word0, word0, 12 + \index
    and part1, part1, fifth_mask
    and part2, part2, fifth_mask
    and word0, word0, fifth_mask
    mul word1, word1, low_even
    mul part1, part1, low_odd
    mul part2, part2, high_even
    mul word0, word0, high_odd
    add \fifth, \fifth_before, word1
    add \fifth, \fifth, part1
    add \fifth, \fifth, part2
    add \fifth, \fifth, word0
.endm

.macro fifth_chunk index, first
    ld low_even, 32*\index(act)
    ld low_odd, 32*\index + 8(act)
    ld high_even, 32*\index + 16(act)
    ld high_odd, 32*\index + 24(act)
    .ifnb \first
    fifth_pair \index, 0, fifth0, start
    fifth_pair \index, 1, fifth1, start
    fifth_pair \index, 2, fifth2, start
    fifth_pair \index, 3, fifth3, start
    .else
    fifth_pair \index, 0, fifth0, fifth0
    fifth_pair \index, 1, fifth1, fifth1
    fifth_pair \index, 2, fifth2, fifth2
    fifth_pair \index, 3, fifth3, fifth3
    .endif
.endm

/* Add 16 times the dots of the fifth bits to the dots of two
 * rows; for Q5_0 subtract the bias, which is in word0. */
.macro add_fifths fifth, low, high
    sraiw part1, \fifth, 16
    srai \fifth, \fifth, 48
    slli part1, part1, 4
    slli \fifth, \fifth, 4
    add \low, \low, part1
    add \high, \high, \fifth
#ifndef MINS_AT
    sub \low, \low, word0
    sub \high, \high, word0
#endif
.endm
#endif

#ifdef MINS_AT
/* Four rows from \first on: sum = fma(m, x.sum * x.d, sum); ft10 has x.sum * x.d. */
.macro finish_mins first, sum0, sum1, sum2, sum3
    lh word0, MINS_AT + 2*\first(block)
    lh word1, MINS_AT + 2*\first + 2(block)
    lh part1, MINS_AT + 2*\first + 4(block)
    lh part2, MINS_AT + 2*\first + 6(block)
    .irp word, word0, word1, part1, part2
    slli \word, \word, 13
    .endr
    .irp word, word0, word1, part1, part2
    and \word, \word, sign_bits
    .endr
    fmv.w.x ft0, word0
    fmv.w.x ft1, word1
    fmv.w.x ft2, part1
    fmv.w.x ft3, part2
    .irp min, ft0, ft1, ft2, ft3
    fmul.s \min, \min, scale_up
    .endr
    fmadd.s \sum0, ft0, ft10, \sum0
    fmadd.s \sum1, ft1, ft10, \sum1
    fmadd.s \sum2, ft2, ft10, \sum2
    fmadd.s \sum3, ft3, ft10, \sum3
.endm
#endif

.macro nibbles_block
    chunk 0, first
    chunk 1
    chunk 2
    chunk 3
#if !defined(MINS_AT) && !defined(HIGH_AT)
    ld bias, RECORD_BIAS(act)
#endif
    flw act_scale, RECORD_SCALE(act)
    unpack low0, high0
    unpack low1, high1
    unpack low2, high2
    unpack low3, high3
#ifdef HIGH_AT
    fifth_chunk 0, first
    fifth_chunk 1
    fifth_chunk 2
    fifth_chunk 3
    ld word0, RECORD_BIAS(act)
    add_fifths fifth0, low0, high0
    add_fifths fifth1, low1, high1
    add_fifths fifth2, low2, high2
    add_fifths fifth3, low3, high3
#endif
    finish_rows 0, low0, high0, low1, high1, fa0, fa1, fa2, fa3, word0, word1, part1, part2
    finish_rows 4, low2, high2, low3, high3, fa4, fa5, fa6, fa7, word0, word1, part1, part2
#ifdef MINS_AT
    flw ft10, RECORD_BIAS(act)
    finish_mins 0, fa0, fa1, fa2, fa3
    finish_mins 4, fa4, fa5, fa6, fa7
#endif
    addi block, block, BLOCK_BYTES
    addi act, act, RECORD_BYTES
.endm

/* Body of a gemv. */
.macro gemv_nibbles
    open_frame
    gemv_loops nibbles_block, BLOCK_BYTES, none
    close_frame
    ret
.endm

#endif
