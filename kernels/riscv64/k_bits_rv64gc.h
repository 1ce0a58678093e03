/* gemv and gemm of Q5_K, Q3_K and Q2_K without vectors: TOKENS (1 or 4) at a time.
 *
 * A block of 8 rows is spread to one of Q6_K on the stack, whose q - 32 are the weights: a word of 8
 * bytes at a time, for 12 to 53 instructions to 32 weights and 1 or 4 tokens. q6k_rv64gc.h does the
 * rest, but for the mins. */
#ifndef INGOT_KERNELS_RISCV64_K_BITS_RV64GC_H
#define INGOT_KERNELS_RISCV64_K_BITS_RV64GC_H

#include "kernels/riscv64/mins_rv64gc.h"
#include "kernels/riscv64/q6k_rv64gc.h"

/* While a block is spread; a0 and a3 keep the masks. */
#define from t0
#define from_bits t1
#define to_low t2
#define to_high t3
#define left t4
#define bytes t5
#define bits t6
#define ones s0        /* 0x01 in each byte */
#define threes s1      /* 0x03 */
#define nibbles s2     /* 0x0f */
#define bias s3        /* 0x20, of Q5_K and Q2_K 0xaa: 32 as the high bits of four weights */
#define value0 s4
#define value1 s5
#define value2 s6
#define value3 s7
#define low_word s8
#define high_word s9
#define half_shift s10 /* of the bits of these 128 columns: 0 or 4 */
#define part s11

/* Above the frame: the block of Q6_K. */
.macro open_with_block
    li t0, -Q6K_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset Q6K_BYTES
    open_frame
.endm

.macro close_with_block
    close_frame
    li t0, Q6K_BYTES
    add sp, sp, t0
    .cfi_adjust_cfa_offset -Q6K_BYTES
.endm

.macro find_spread reg
    li \reg, FRAME_BYTES
    add \reg, \reg, sp
.endm

/* \reg = \byte in each byte. */
.macro all_bytes reg, byte
    li \reg, 0x01010101
    slli bytes, \reg, 32
    or \reg, \reg, bytes
    li bytes, \byte
    mul \reg, \reg, bytes
.endm

.macro copy_words from_at, to_at, count
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    .if \n < \count
    ld bytes, \from_at + 8*\n(block)
    sd bytes, \to_at + 8*\n(to_low)
    .endif
    .endr
.endm

.macro begin_spread
    sd block, FRAME_BLOCK(sp)
    find_spread to_low
.endm

/* The sums of the spread block, then block as it was. */
.macro multiply_spread
    find_spread block
    share q6k_block
    ld block, FRAME_BLOCK(sp)
.endm

/* ---- Q3_K ---- */

/* \value = 32 + a weight of number \s of four. */
.macro value_q3k value, s
    srli \value, bytes, 2*\s
    srli part, bits, \s
    and \value, \value, threes
    and part, part, ones
    add \value, \value, bias
    slli part, part, 2
    sub \value, \value, part
.endm

/* The high bits of \value to number \s of those of high_word, its low ones to \value. */
.macro part_value value, s
    srli part, \value, 4
    and part, part, threes
    .if \s
    slli part, part, 2*\s
    or high_word, high_word, part
    .else
    mv high_word, part
    .endif
    and \value, \value, nibbles
.endm

.macro q3k_block
    begin_spread
    copy_words 0, 0, 18                /* d and scales */
    all_bytes ones, 1
    all_bytes threes, 3
    all_bytes nibbles, 15
    all_bytes bias, 32
    addi from, block, Q3K_LOW
    addi to_high, to_low, Q6K_HIGH
    addi to_low, to_low, Q6K_LOW
    li half_shift, 0
.Lspread_half:
    addi from_bits, block, Q3K_HIGH
    li left, 32
.Lspread_word:
    ld bytes, 0(from)
    ld bits, 0(from_bits)
    srl bits, bits, half_shift
    value_q3k value0, 0
    value_q3k value1, 1
    value_q3k value2, 2
    value_q3k value3, 3
    part_value value0, 0
    part_value value1, 1
    part_value value2, 2
    part_value value3, 3
    slli value1, value1, 4
    slli value3, value3, 4
    or value0, value0, value1
    or value2, value2, value3
    sd value0, 0(to_low)
    sd value2, 256(to_low)
    sd high_word, 0(to_high)
    addi from, from, 8
    addi from_bits, from_bits, 8
    addi to_low, to_low, 8
    addi to_high, to_high, 8
    addi left, left, -1
    bnez left, .Lspread_word
    addi to_low, to_low, 256
    xori half_shift, half_shift, 4
    bnez half_shift, .Lspread_half
    multiply_spread
.endm

/* ---- Q5_K ---- */

.macro q5k_block
    begin_spread
    copy_words 0, 0, 2                 /* d */
    all_bytes value0, 63
    .irp j, 0, 1, 2, 3, 4, 5, 6, 7
    ld bytes, Q4K_SCALES + 8*\j(block)
    and bytes, bytes, value0
    sd bytes, Q6K_SCALES + 16*\j(to_low)
    sd bytes, Q6K_SCALES + 16*\j + 8(to_low)
    .endr
    all_bytes nibbles, 15
    all_bytes value0, 0x33
    all_bytes value1, 0x55
    all_bytes bias, 0xaa
    addi from, block, Q4K_QUANTS
    addi to_high, to_low, Q6K_HIGH
    addi to_low, to_low, Q6K_LOW
    li left, 128
.Lspread_low:
    ld bytes, 0(from)
    sd bytes, 0(to_low)
    addi from, from, 8
    addi to_low, to_low, 8
    addi left, left, -1
    bnez left, .Lspread_low
    li half_shift, 0
.Lspread_half:
    addi from_bits, block, Q5K_HIGH
    li left, 32
.Lspread_word:
    ld bits, 0(from_bits)
    srl bits, bits, half_shift
    and bits, bits, nibbles            /* four bits to every second place */
    slli part, bits, 2
    or bits, bits, part
    and bits, bits, value0
    slli part, bits, 1
    or bits, bits, part
    and bits, bits, value1
    or bits, bits, bias
    sd bits, 0(to_high)
    addi from_bits, from_bits, 8
    addi to_high, to_high, 8
    addi left, left, -1
    bnez left, .Lspread_word
    xori half_shift, half_shift, 4
    bnez half_shift, .Lspread_half
    multiply_spread
    sum_all_activations
    share subtract_mins
.endm

/* ---- Q2_K ---- */

/* The mins of all rows and token \token, which add up in dots00 to dots13. */
.macro mins_q2k act_of_token, token
    .irp sum, s0, s1, s2, s3, s4, s5, s6, s7
    li \sum, 0
    .endr
    addi t3, block, Q2K_SCALES
    addi t4, act, ACT_SUM + 2*\token
    li t5, 16
.Lmins_\token:
    ld word, 0(t3)
    lh product0, 0(t4)
    srli word, word, 4
    .irp sum, s0, s1, s2, s3, s4, s5, s6, s7
    andi product1, word, 15
    srli word, word, 8
    mul product1, product1, product0
    add \sum, \sum, product1
    .endr
    addi t3, t3, 8
    addi t4, t4, 2*TOKENS
    addi t5, t5, -1
    bnez t5, .Lmins_\token
    finish_pair fnmsub.s, s0, s1, 0, ft0, ft1, \token
    finish_pair fnmsub.s, s2, s3, 2, ft2, ft3, \token
    finish_pair fnmsub.s, s4, s5, 4, ft4, ft5, \token
    finish_pair fnmsub.s, s6, s7, 6, ft6, ft7, \token
.endm

.macro q2k_block
    begin_spread
    copy_words 0, 0, 2                 /* d */
    all_bytes nibbles, 15
    .irp j, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    ld bytes, Q2K_SCALES + 8*\j(block)
    and bytes, bytes, nibbles
    sd bytes, Q6K_SCALES + 8*\j(to_low)
    .endr
    all_bytes threes, 3
    all_bytes bias, 0xaa
    slli nibbles, threes, 2            /* the second two bits */
    addi from, block, Q2K_QUANTS
    addi to_high, to_low, Q6K_HIGH
    addi to_low, to_low, Q6K_LOW
    li half_shift, 0
.Lspread_half:
    li left, 32
.Lspread_word:
    ld bytes, 0(from)
    and value0, bytes, threes
    and value1, bytes, nibbles
    srli bytes, bytes, 4
    slli value1, value1, 2
    and value2, bytes, threes
    and value3, bytes, nibbles
    or value0, value0, value1
    slli value3, value3, 2
    sd value0, 0(to_low)
    or value2, value2, value3
    sd bias, 0(to_high)
    sd value2, 256(to_low)
    addi from, from, 8
    addi to_low, to_low, 8
    addi to_high, to_high, 8
    addi left, left, -1
    bnez left, .Lspread_word
    addi to_low, to_low, 256
    xori half_shift, half_shift, 4
    bnez half_shift, .Lspread_half
    multiply_spread
    load_row_scales Q2K_DMIN, product0
    of_tokens mins_q2k
.endm

#endif
