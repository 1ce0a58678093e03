/* The code for the K formats without vectors: all gemvs, and the gemms of formats with separate planes of bits, which
 * take one token at a time (TOKENS is 4, because x stores four tokens together).
 *
 * One multiplication computes four products, as in gemv_nibbles_rv64gc.h. Each pair of rows has a register, from
 * which all products of UNIT columns are subtracted. The fields at B, B^2 and B^3 (B = 2^16) start with OFFSET times the
 * sum of these x, and so end with -sum (q - OFFSET) x, from -32768 to 32512. 2^15 keeps the part below B positive, and
 * 2^47 + 2^32 the part below B^3. The fields, times the scale of their row, are summed in one register per row.
 *
 * The including file defines the offsets of a block's scales, its values (LOW) and their upper bits (HIGH), UNIT and
 * OFFSET, and these macros:
 *   value at      bytes = the 8 values of two rows, a byte each (other bits are cleared by even_mask).
 *   scale to, row to = the scale of a row.
 *   next_place    goes on to the next 32 columns.
 * If PLACES is defined, value and next_place get `place`, 0 to PLACES - 1, and have separate code for each place.
 * segments_rv64gc.h has the loops. For each unit a record has the pairs x2 + x0 B and x3 + x1 B, the start and the sum of
 * x; d comes last. */
#ifndef INGOT_KERNELS_RISCV64_GEMV_K_RV64GC_H
#define INGOT_KERNELS_RISCV64_GEMV_K_RV64GC_H

#define UNIT_PAIRS (2 * UNIT)
#define UNIT_BYTES (UNIT_PAIRS + 16)
#define RECORD_D (256 / UNIT * UNIT_BYTES)
#define RECORD_BYTES (RECORD_D + 8)

#include "kernels/riscv64/matrix/segments_rv64gc.h"

#define FRAME_DST FRAME_PARKED
#define FRAME_ROWS_LEFT (FRAME_PARKED + 8)
#define FRAME_BLOCK (FRAME_PARKED + 16)
#define FRAME_PLACE_END (FRAME_PARKED + 24)
#define FRAME_BLOCK_END (FRAME_PARKED + 32)

#define low_at a1      /* the frame saves block, dst and rows_left */
#define high_at a2
#define scales_at a3
#define low_mask a4    /* of each byte */
#define high_mask a0
#define even_mask a7
#define even t0        /* pairs of a chunk */
#define odd t1
#define bytes t2
#define part t3
#define bits t4
#define low_shift t5
#define high_shift t6
#define unit_end ra
#define dots0 s0       /* of pairs of rows */
#define dots1 s1
#define dots2 s2
#define dots3 s3
#define isum0 s4       /* of rows */
#define isum1 s5
#define isum2 s6
#define isum3 s7
#define isum4 s8
#define isum5 s9
#define isum6 s10
#define isum7 s11

/* ---- x ---- */

#define block_end s1
#define pack_end s2    /* of a unit */
#define start_factor s3
#define start_of_sums s4
#define x_sum s6

.macro pack_block
    li start_factor, OFFSET * 0x0001000100010000
    li start_of_sums, (1 << 47) + (1 << 32) + (1 << 15)
    addi block_end, from, TOKENS*256
.Lpack_unit:
    li x_sum, 0
    addi pack_end, from, TOKENS*UNIT
.Lpack_chunk:
    lb t0, 0(from)
    lb t1, 2(from)
    lb t2, 1(from)
    lb t3, 3(from)
    add x_sum, x_sum, t0
    add x_sum, x_sum, t1
    add x_sum, x_sum, t2
    add x_sum, x_sum, t3
    slli t0, t0, 16
    slli t2, t2, 16
    add t0, t0, t1
    add t2, t2, t3
    sw t0, 0(to)
    sw t2, 4(to)
    addi from, from, TOKENS*4
    addi to, to, 8
    bne from, pack_end, .Lpack_chunk
    mul t0, x_sum, start_factor
    add t0, t0, start_of_sums
    sd t0, 0(to)
    sd x_sum, 8(to)
    addi to, to, 16
    bne from, block_end, .Lpack_unit
    addi from, from, -TOKENS*256
    lw t0, ACT_SCALE(from)
    sw t0, 0(to)
    addi to, to, 8
.endm

/* ---- a block ---- */

.macro two_rows at, dots
    value \at
    and part, bytes, even_mask
    srli bytes, bytes, 8
    mul part, part, even
    and bytes, bytes, even_mask
    mul bytes, bytes, odd
    sub \dots, \dots, part
    sub \dots, \dots, bytes
.endm

.macro chunk index
    lw even, 8*\index(act)
    lw odd, 8*\index + 4(act)
    two_rows 32*\index, dots0
    two_rows (32*\index + 8), dots1
    two_rows (32*\index + 16), dots2
    two_rows (32*\index + 24), dots3
.endm

/* Add the fields of a pair of rows to their sums;
 * if needed, part has OFFSET times the sum of x. */
.macro scale_pair dots, row, sum0, sum1
    scale even, \row
    scale odd, \row + 1
    sraiw bytes, \dots, 16
    srai \dots, \dots, 48
    .if WITH_OFFSET
    sub bytes, part, bytes
    sub \dots, part, \dots
    mul bytes, bytes, even
    mul \dots, \dots, odd
    add \sum0, \sum0, bytes
    add \sum1, \sum1, \dots
    .else
    mul bytes, bytes, even
    mul \dots, \dots, odd
    sub \sum0, \sum0, bytes
    sub \sum1, \sum1, \dots
    .endif
.endm

.macro unit
    ld dots0, UNIT_PAIRS(act)
    .if UNIT > 8
    addi unit_end, act, UNIT_PAIRS
    .endif
    mv dots1, dots0
    mv dots2, dots0
    mv dots3, dots0
.Lchunks\@:
    chunk 0
    chunk 1
    addi act, act, 16
    addi low_at, low_at, 64
    addi high_at, high_at, 64
    .if UNIT > 8
    bne act, unit_end, .Lchunks\@
    .endif
    .if WITH_OFFSET
    ld part, 8(act)
    slli part, part, WITH_OFFSET
    .endif
    at_scales bits
    scale_pair dots0, 0, isum0, isum1
    scale_pair dots1, 2, isum2, isum3
    scale_pair dots2, 4, isum4, isum5
    scale_pair dots3, 6, isum6, isum7
    addi act, act, UNIT_BYTES - UNIT_PAIRS
.endm

/* \to = the scales of this unit; scales_at advances. */
.macro at_scales to
    .if UNIT == SCALED
    mv \to, scales_at
    addi scales_at, scales_at, 8
    .else
    andi \to, scales_at, -8
    addi scales_at, scales_at, 4       /* two units have one scale */
    .endif
.endm

/* 32 columns. */
.macro place_units
    addi part, act, 32/UNIT*UNIT_BYTES
    sd part, FRAME_PLACE_END(sp)
.Lunit\@:
    unit
    ld part, FRAME_PLACE_END(sp)
    bne act, part, .Lunit\@
.endm

.macro k_block mins, block_bytes
    sd dst, FRAME_DST(sp)
    sd rows_left, FRAME_ROWS_LEFT(sp)
    sd block, FRAME_BLOCK(sp)
    addi part, act, RECORD_D
    sd part, FRAME_BLOCK_END(sp)
    make_block_masks
    .irp sum, isum0, isum1, isum2, isum3, isum4, isum5, isum6, isum7
    li \sum, 0
    .endr
    addi scales_at, block, SCALES
    addi high_at, block, HIGH
    addi low_at, block, LOW
#ifdef PLACES
.Lplaces:
    .set place, 0
    .rept PLACES
    place_units
    next_place
    .set place, place + 1
    .endr
    ld part, FRAME_BLOCK_END(sp)
    bne act, part, .Lplaces
#else
    li low_shift, 0
    li high_shift, 0
.Lplace:
    place_units
    ld part, FRAME_BLOCK_END(sp)
    next_place
    bne act, part, .Lplace
#endif
    ld block, FRAME_BLOCK(sp)
    flw act_scale, 0(act)
    finish_rows 0, isum0, isum1, isum2, isum3, fa0, fa1, fa2, fa3, t0, t1, t2, t3
    finish_rows 4, isum4, isum5, isum6, isum7, fa4, fa5, fa6, fa7, t0, t1, t2, t3
    \mins
    ld dst, FRAME_DST(sp)
    ld rows_left, FRAME_ROWS_LEFT(sp)
    addi block, block, \block_bytes
    addi act, act, RECORD_BYTES - RECORD_D
.endm

/* next_place: a run of 256 bytes has two places if values are nibbles, and four if they have two
 * bits; single bits have one run. */
.macro next_nibbles at, shift
    xori \shift, \shift, 4
    beqz \shift, .Lnibbles\@
    addi \at, \at, -256
.Lnibbles\@:
.endm

.macro next_two_bits at, shift
    addi \shift, \shift, 2
    andi \shift, \shift, 7
    beqz \shift, .Ltwo_bits\@
    addi \at, \at, -256
.Ltwo_bits\@:
.endm

.macro next_bit at, shift
    addi \shift, \shift, 1
    addi \at, \at, -256
.endm

/* ---- mins ---- */

#define mins t0        /* mins of 8 rows, a byte each */
#define sum_of_x t1
#define mins_at a2
#define sums_at a3
#define mins_left a4
#define row_mask s4    /* 0xff in both halves of a register */
#define mask_2 s5      /* 0x03 in each byte */
#define mask_4 s6      /* 0x0f */

/* Multiply the mins of rows r and r + 4 by the sum of their x, and add to dots0 to dots3. */
.macro add_mins
    and t2, mins, row_mask
    srli t3, mins, 8
    srli t4, mins, 16
    srli t5, mins, 24
    and t3, t3, row_mask
    and t4, t4, row_mask
    and t5, t5, row_mask
    mul t2, t2, sum_of_x
    mul t3, t3, sum_of_x
    mul t4, t4, sum_of_x
    mul t5, t5, sum_of_x
    add dots0, dots0, t2
    add dots1, dots1, t3
    add dots2, dots2, t4
    add dots3, dots3, t5
.endm

.macro start_mins count, at
    li row_mask, 0x000000ff000000ff
    li mask_4, 0x0f0f0f0f0f0f0f0f
    .irp sum, dots0, dots1, dots2, dots3
    li \sum, 0
    .endr
    li mins_left, \count
    addi mins_at, block, \at
    addi sums_at, act, UNIT_PAIRS + 8 - RECORD_D
.endm

/* sum = fma(-imin, dmin x.d, sum); dmin follows d. */
.macro split_mins sums, low
    sext.w \low, \sums
    sub \sums, \sums, \low
    srai \sums, \sums, 32
.endm

.macro finish_mins
    split_mins dots0, isum0
    split_mins dots1, isum1
    split_mins dots2, isum2
    split_mins dots3, isum3
    finish_rows 8, isum0, isum1, isum2, isum3, fa0, fa1, fa2, fa3, t0, t1, t2, t3, fnmsub.s
    finish_rows 12, dots0, dots1, dots2, dots3, fa4, fa5, fa6, fa7, t0, t1, t2, t3, fnmsub.s
.endm

/* The min of 32 columns of a K45 type: two bits above the scale, four bits in a nibble. */
.macro mins_6 scales, nibble
    ld mins, \scales(mins_at)
    ld t2, K45_MINS - K45_SCALES(mins_at)
    srli mins, mins, 6
    .if \nibble
    srli t2, t2, 4
    .endif
    and mins, mins, mask_2
    and t2, t2, mask_4
    slli t2, t2, 2
    or mins, mins, t2
    ld sum_of_x, \scales/8*(32/UNIT)*UNIT_BYTES(sums_at)
    .if UNIT == 16
    ld t2, \scales/8*(32/UNIT)*UNIT_BYTES + UNIT_BYTES(sums_at)
    add sum_of_x, sum_of_x, t2
    .endif
    add_mins
.endm

.macro mins_of_32
    start_mins 4, K45_SCALES
    li mask_2, 0x0303030303030303
.Lmins:
    mins_6 0, 0
    mins_6 32, 1
    addi mins_at, mins_at, 8
    addi sums_at, sums_at, 32/UNIT*UNIT_BYTES
    addi mins_left, mins_left, -1
    bnez mins_left, .Lmins
    finish_mins
.endm

.macro mins_of_16
    start_mins 16, Q2K_SCALES
.Lmins:
    ld mins, 0(mins_at)
    ld sum_of_x, 0(sums_at)
    srli mins, mins, 4
    and mins, mins, mask_4
    add_mins
    addi mins_at, mins_at, 8
    addi sums_at, sums_at, UNIT_BYTES
    addi mins_left, mins_left, -1
    bnez mins_left, .Lmins
    finish_mins
.endm

.macro no_mins
.endm

#endif
