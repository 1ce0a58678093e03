/* Weights of one and two bits without vectors: TQ2_0, Q2_0 and Q1_0. A gemm (TOKENS is 4, as x has
 * them) is a gemv for each token.
 *
 * As in gemv_f32_q4x8_q8_rv64gc.S one multiplication makes four products: a word has 4 columns of
 * rows a and b, a byte each; masked in every other byte it is a0 + a2 B + b0 B^2 + b2 B^3, B = 2^16,
 * and times x2 + x0 B it has the products of a at B and those of b at B^3. The sums start with -S at
 * B, B^2 and B^3, S the sum of all x that enter, so that the fields are sums of (two - 1) x in the
 * end, whatever passes through them before: of 128 columns -32768 to 32512, an int16. The field at 1
 * holds one product of two, at most 64 * 3 * 128 = 24576; 2^15 keeps it positive, 2^47 + 2^32 what
 * is below B^3.
 *
 * With so few bits the pairs x2 + x0 B would cost a quarter of all. They are made once for SEGMENT
 * blocks of x and lie in the frame while all rows pass; y has the sums between the segments. */
#ifndef INGOT_KERNELS_RISCV64_FEW_RV64GC_H
#define INGOT_KERNELS_RISCV64_FEW_RV64GC_H

#include "kernels/riscv64/gemv_rv64gc.h"

#define mask a7        /* the lowest bits of each B */
#define act0 t0        /* pairs: place 0, columns 0 and 2, then 1 and 3; place 1, ... */
#define act1 t1
#define act2 t2
#define act3 t3
#define act4 t4
#define act5 t5
#define act6 t6
#define act7 a2
#define sums0 s0       /* of pairs of rows, as the kernel has them */
#define sums1 s1
#define sums2 s2
#define sums3 s3
#define sums4 s4
#define sums5 s5
#define sums6 s6
#define sums7 s7
#define word s8
#define part0 ra
#define part1 s9
#define part2 s10
#define part3 s11

#if TOKENS == 4
#define ACT_SUM Q8KX4_SUM
#define ACT_SCALE Q8KX4_SCALE
#define ACT_BYTES Q8KX4_BYTES
#else
#define ACT_SUM Q8K_SUM
#define ACT_SCALE Q8K_SCALE
#define ACT_BYTES Q8K_BYTES
#endif

/* A block of x in the frame: 128 pairs, the starts of the sums, d. */
#define SEGMENT 4
#define RECORD_STARTS 512
#define RECORD_SCALE 544
#define RECORD_BYTES 552
#define RECORDS_BYTES (SEGMENT * RECORD_BYTES)
#define PAIRS_BYTES 32 /* of one turn of a loop */

#define FRAME_RA 96
#define FRAME_X 104    /* of the next segment */
#define FRAME_Y 112
#define FRAME_W 120    /* of this segment, first rows */
#define FRAME_ROWS 128
#define FRAME_LEFT 136 /* bytes of a group of rows from this segment on */
#define FRAME_END 144  /* of the records of this segment */
#define FRAME_GROUP 152 /* of these rows */
#define FRAME_GROUP_BYTES 160
#define FRAME_FIRST 168 /* 0 in the first segment */
#define FRAME_PARKED 176 /* the kernel's */
#define FRAME_ALL_W 208  /* for each token */
#define FRAME_TOKEN_X 216
#define FRAME_LANE 224   /* of four in x */
#define FRAME_Y_BYTES 232
#define FRAME_TOKENS 240 /* left */
#define FRAME_BYTES 256

.macro open_frame
    li t0, -RECORDS_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset RECORDS_BYTES
    push FRAME_BYTES, ALL_SAVED
    sd ra, FRAME_RA(sp)
    .cfi_rel_offset ra, FRAME_RA
.endm

.macro close_frame
    ld ra, FRAME_RA(sp)
    .cfi_restore ra
    pop FRAME_BYTES, ALL_SAVED
    li t0, RECORDS_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset -RECORDS_BYTES
.endm

/* ---- a segment of x, made into pairs ---- */

#define from a2
#define to a5
#define x_left s0      /* blocks of this segment to go */
#define chunk_end s1
#define places_left s2
#define start_factor s3
#define start_of_sums s4
#define lane s5        /* of TOKENS == 4 */
#define sums_at t3

/* Four columns, times 2^\doubled. */
.macro pack_four doubled
    lb t0, 0(from)
    lb t1, 2(from)
    lb t2, 1(from)
    lb t3, 3(from)
    slli t0, t0, 16
    slli t2, t2, 16
    add t0, t0, t1
    add t2, t2, t3
    .if \doubled
    slli t0, t0, 1
    slli t2, t2, 1
    .endif
    sw t0, 0(to)
    sw t2, 4(to)
    addi from, from, TOKENS*256/PLACES
    addi to, to, 8
.endm

/* Start number \index from the sums of 16 columns \first and \others. */
.macro put_start index, first, others:vararg
    lh t0, ACT_SUM + 2*TOKENS*\first(sums_at)
    .irp at, \others
    lh t1, ACT_SUM + 2*TOKENS*\at(sums_at)
    add t0, t0, t1
    .endr
    mul t0, t0, start_factor
    sub t0, start_of_sums, t0
    sd t0, 8*\index(to)
.endm

/* x_left blocks; \starts puts the starts of each. */
.macro pack_segment starts
    ld from, FRAME_X(sp)
    addi to, sp, FRAME_BYTES
    li start_factor, 0x0001000100010000
    li start_of_sums, (1 << 47) + (1 << 32) + (1 << 15)
    .if TOKENS == 4
    ld lane, FRAME_LANE(sp)
    slli lane, lane, 1
    add from, from, lane
    add from, from, lane               /* bytes: 4 of q and d, 2 of sum */
    .endif
.Lpack_block:
    addi chunk_end, from, TOKENS*256/PLACES
.Lpack_chunk:
    li places_left, PLACES
.Lpack_place:
    pack_four DOUBLED
    pack_four 0
    addi places_left, places_left, -2
    bnez places_left, .Lpack_place
    addi from, from, TOKENS*(4 - 256)
    bne from, chunk_end, .Lpack_chunk
    addi from, from, -TOKENS*256/PLACES
    .if TOKENS == 4
    sub sums_at, from, lane
    .else
    mv sums_at, from
    .endif
    \starts
    lw t0, ACT_SCALE(from)
    sw t0, RECORD_SCALE - RECORD_STARTS(to)
    addi from, from, ACT_BYTES
    addi to, to, RECORD_BYTES - RECORD_STARTS
    addi x_left, x_left, -1
    bnez x_left, .Lpack_block
    .if TOKENS == 4
    sub from, from, lane
    sub from, from, lane
    .endif
    sd from, FRAME_X(sp)
    sd to, FRAME_END(sp)
.endm

/* ---- rows ---- */

/* The sums so far of the rows that exist. */
.macro load_sums temp
    mv \temp, rows_left
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    flw fa\n, 4*\n(dst)
    addi \temp, \temp, -1
    beqz \temp, .Lblock
    .endr
.endm

/* What a gemm has beside a gemv: its shape, and the next token. */
.macro open_tokens
    ld t0, SHAPE_Y_STRIDE(rows_left)
    ld t1, SHAPE_TOKENS(rows_left)
    ld act_end, SHAPE_COLS(rows_left)
    ld rows_left, SHAPE_ROWS(rows_left)
    slli t0, t0, 2
    sd act_start, FRAME_TOKEN_X(sp)
    sd zero, FRAME_LANE(sp)
    sd t0, FRAME_Y_BYTES(sp)
    sd t1, FRAME_TOKENS(sp)
    beqz t1, .Ldone
.endm

.macro next_token
    ld t0, FRAME_TOKENS(sp)
    ld t1, FRAME_LANE(sp)
    ld t2, FRAME_Y(sp)
    ld t3, FRAME_Y_BYTES(sp)
    addi t0, t0, -1
    addi t1, t1, 1
    andi t1, t1, 3
    add t2, t2, t3
    sd t0, FRAME_TOKENS(sp)
    sd t1, FRAME_LANE(sp)
    sd t2, FRAME_Y(sp)
    beqz t0, .Ldone
    bnez t1, .Ltoken
    ld t0, FRAME_X(sp)                 /* after the last block of these four */
    sd t0, FRAME_TOKEN_X(sp)
    j .Ltoken
.endm

.macro start_token
    ld t0, FRAME_TOKEN_X(sp)
    ld t1, FRAME_ALL_W(sp)
    ld t2, FRAME_GROUP_BYTES(sp)
    sd t0, FRAME_X(sp)
    sd t1, FRAME_W(sp)
    sd t2, FRAME_LEFT(sp)
    sd zero, FRAME_FIRST(sp)
.endm

/* All segments of x, and all rows by 8 in each. \block_macro takes one block to fa0-fa7: block and
 * act are its, and move to the next; it keeps dst, rows_left, mask and scale_up. Arguments as of a
 * gemv or a gemm. */
.macro gemv_loops block_macro, starts, block_bytes
    .if TOKENS == 4
    open_tokens
    .else
    sd act_start, FRAME_TOKEN_X(sp)
    .endif
    beqz rows_left, .Ldone
    srli act_end, act_end, 8
    li t0, \block_bytes
    mul t0, t0, act_end
    sd dst, FRAME_Y(sp)
    sd block, FRAME_ALL_W(sp)
    sd rows_left, FRAME_ROWS(sp)
    sd t0, FRAME_GROUP_BYTES(sp)
    load_float scale_up, F32_2P112, t0
.Ltoken:
    start_token
    ld t0, FRAME_LEFT(sp)
    beqz t0, .Lempty
.Lsegment:
    li t1, SEGMENT*\block_bytes
    bleu t0, t1, .Lpack
    mv t0, t1
.Lpack:
    li t1, \block_bytes
    divu x_left, t0, t1
    pack_segment \starts
    ld dst, FRAME_Y(sp)
    ld rows_left, FRAME_ROWS(sp)
    ld block, FRAME_W(sp)
    make_masks
.Lgroup:
    sd block, FRAME_GROUP(sp)
    addi act, sp, FRAME_BYTES
    ld part1, FRAME_FIRST(sp)
    clear_sums
    beqz part1, .Lblock
    load_sums part1
.Lblock:
    \block_macro
    ld part1, FRAME_END(sp)
    bne act, part1, .Lblock
    store_sums .Lnext_segment
    ld block, FRAME_GROUP(sp)
    ld part1, FRAME_GROUP_BYTES(sp)
    add block, block, part1
    j .Lgroup
.Lnext_segment:
    li t1, SEGMENT*\block_bytes
    ld t0, FRAME_LEFT(sp)
    ld t2, FRAME_W(sp)
    sub t0, t0, t1
    add t2, t2, t1
    sd t0, FRAME_LEFT(sp)
    sd t2, FRAME_W(sp)
    sd t1, FRAME_FIRST(sp)
    bgtz t0, .Lsegment
.Lnext_token:
    .if TOKENS == 4
    next_token
    .else
    j .Ldone
    .endif
.Lempty:
    ld t1, FRAME_Y(sp)
    ld t2, FRAME_ROWS(sp)
.Lzero:
    sw zero, 0(t1)
    addi t1, t1, 4
    addi t2, t2, -1
    bnez t2, .Lzero
    j .Lnext_token
.Ldone:
.endm

.macro load_pairs
    lw act0, 0(act)
    lw act1, 4(act)
    lw act2, 8(act)
    lw act3, 12(act)
    lw act4, 16(act)
    lw act5, 20(act)
    lw act6, 24(act)
    lw act7, 28(act)
    addi act, act, PAIRS_BYTES
.endm

/* Four parts of word, each masked, times four pairs, to four sums (or one, four times); word is
 * kept where \first does not shift it. */
.macro multiply shift0, act_0, to0, shift1, act_1, to1, shift2, act_2, to2, shift3, act_3, to3
    srli part1, word, \shift1
    srli part2, word, \shift2
    srli part3, word, \shift3
    .if \shift0
    srli part0, word, \shift0
    and part0, part0, mask
    .else
    and part0, word, mask
    .endif
    and part1, part1, mask
    and part2, part2, mask
    and part3, part3, mask
    mul part0, part0, \act_0
    mul part1, part1, \act_1
    mul part2, part2, \act_2
    mul part3, part3, \act_3
    add \to0, \to0, part0
    add \to1, \to1, part1
    add \to2, \to2, part2
    add \to3, \to3, part3
.endm

#endif
