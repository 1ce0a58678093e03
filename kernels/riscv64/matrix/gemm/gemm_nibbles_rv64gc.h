/* Shared by the gemms of Q4_0 and Q4_1 without vectors. A kernel that includes this defines BLOCK_BYTES and
 * QUANTS_AT, which describe a group's block, and MINS_AT if there are minima.
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft11, fa0-fa5, fa7; saves s0-s11 in a frame of
 * 9328 bytes, with minima 9840.
 *
 * One multiplication computes four products, as in the gemv: (a0 + a2 B + b0 B^2 + b2 B^3) times (x2 + x0
 * B), B = 2^16, has the dots of rows a and b at B and B^3. All 16 products of a pair of rows and a token
 * are subtracted from one register. Its fields at B, B^2 and B^3 start with 8 x.sum, and so end with -sum
 * (nibble - 8) x, an int16: at most 8 * 127 * 32 = 32512, at least -32768. 2^15 keeps the part below B
 * positive (15 * 128 * 16 = 30720), 2^47 + 2^32 the part below B^3. Nibbles are masked once for four
 * tokens. The pairs x2 + x0 B are prepared for 512 columns (gemm_packed_rv64gc.h), because making them each
 * time would take a fifth of the time. For Q4_1, 8 x.sum minus the int16 is the dot of the nibbles. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_NIBBLES_RV64GC_H
#define INGOT_KERNELS_RISCV64_GEMM_NIBBLES_RV64GC_H

#define SEGMENT 16

/* A block of 4 tokens of x has 4 chunks of 4 parts of 4 pairs, the start values
 * of the dots, and d; with minima, also 8 x.sum and x.sum * d as a float. */
#define RECORD_STARTS 512
#define RECORD_SCALES 544
#ifdef MINS_AT
#define RECORD_BIASES 560
#define RECORD_SUMS 576
#define RECORD_BYTES 592
#else
#define RECORD_BYTES 560
#endif

#include "kernels/riscv64/matrix/gemm/gemm_packed_rv64gc.h"

.macro start
    load_float scale_up, F32_2P112, temp
    li mask, 0x000f000f000f000f
.endm

/* x2 + x0 B, or x3 + x1 B, of a token: bytes \offset and \offset + 2 of 8 chunks. */
.macro pack_pair place, offset
    lb t0, \offset(a6)
    lb t1, \offset + 2(a6)
    slli t0, t0, 16
    add t0, t0, t1
    sd t0, 8*(\place)(to)
.endm

.macro pack_block
    mv a6, from
    li s1, 4
.Lpack_chunk:
    .irp token, 0, 1, 2, 3
    pack_pair \token, 4*\token
    pack_pair \token + 4, 4*\token + 1
    pack_pair \token + 8, 4*\token + 64
    pack_pair \token + 12, 4*\token + 65
    .endr
    addi a6, a6, 16
    addi to, to, 128
    addi s1, s1, -1
    bnez s1, .Lpack_chunk
    li t1, 0x0001000100010000
    li t2, (1 << 47) + (1 << 32) + (1 << 15)
    .irp token, 0, 1, 2, 3
    lw t0, Q8X4_SUM + 4*\token(from)
    lw t3, Q8X4_SCALE + 4*\token(from)
    slli t0, t0, 3
    mul t0, t0, t1
    add t0, t0, t2
    sd t0, RECORD_STARTS - 512 + 8*\token(to)
    sw t3, RECORD_SCALES - 512 + 4*\token(to)
#ifdef MINS_AT
    lw t0, Q8X4_SUM + 4*\token(from)
    fmv.w.x ft1, t3
    fcvt.s.w ft0, t0
    slli t0, t0, 3
    fmul.s ft0, ft0, ft1
    sw t0, RECORD_BIASES - 512 + 4*\token(to)
    fsw ft0, RECORD_SUMS - 512 + 4*\token(to)
#endif
    .endr
    addi to, to, RECORD_BYTES - 512
.endm

.macro load_pairs offset
    ld act0, \offset(act)
    ld act1, \offset + 8(act)
    ld act2, \offset + 16(act)
    ld act3, \offset + 24(act)
.endm

/* Multiply nibbles of \chunk by the pairs at \pairs of the record: of each row's 4 bytes, the nibbles at
 * bit \shift and 16 bits above it. */
.macro part chunk, pairs, shift
    load_pairs \pairs
    .irp pair, 0, 1, 2, 3
    ld word, QUANTS_AT + 32*\chunk + 8*\pair(block)
    .if \shift
    srli word, word, \shift
    .endif
    and word, word, mask
    of_pair \pair, four_tokens, sub
    .endr
.endm

.macro finish dots, row, scale0, scale1, token
    sraiw word, \dots, 16
    srai \dots, \dots, 48
#ifdef MINS_AT
    lw product0, RECORD_BIASES + 4*\token(act)
    sub word, product0, word
    sub \dots, product0, \dots
    finish_pair fmadd.s, word, \dots, \row, \scale0, \scale1, \token
#else
    finish_pair fnmsub.s, word, \dots, \row, \scale0, \scale1, \token
#endif
.endm

.macro nibbles_block
    load_pairs RECORD_STARTS
    of_pairs set_dots, act0, act1, act2, act3
    begin_chunks .Lchunks, 2
    .irp chunk, 0, 1
    part \chunk, 128*\chunk, 0
    part \chunk, 128*\chunk + 32, 8
    part \chunk, 128*\chunk + 64, 4
    part \chunk, 128*\chunk + 96, 12
    .endr
    next_chunks .Lchunks, 64, 256
    addi block, block, -128
    addi act, act, -512
    load_row_scales 0, product0
    .irp token, 0, 1, 2, 3
    flw fa\token, RECORD_SCALES + 4*\token(act)
    .endr
    finish_rows finish
#ifdef MINS_AT
    .irp token, 0, 1, 2, 3
    flw fa\token, RECORD_SUMS + 4*\token(act)
    .endr
    add_minima MINS_AT
#endif
.endm

/* Body of a gemm. */
.macro gemm_nibbles
    open_packed_frame
    packed_loops nibbles_block, BLOCK_BYTES, Q8X4_BYTES, COLS_LOG2
    close_packed_frame
    ret
.endm

#endif
