/* gemv and gemm of Q4_K without vectors: TOKENS (1 or 4) at a time.
 *
 * A sub-block of 32 columns gives what a block of Q4_0 gives in gemm_f32_q4x8_q8x4_rv64gc.S:
 * the negated dots of nibble - 8, int16, two rows in one register. From 8 times the sum of the
 * activations they are taken off, which leaves the dots of the nibbles; these times their scales
 * add up in the frame over the 8 sub-blocks. The mins follow at the end of a block. */
#ifndef INGOT_KERNELS_RISCV64_Q4K_RV64GC_H
#define INGOT_KERNELS_RISCV64_Q4K_RV64GC_H

#include "kernels/riscv64/k_rv64gc.h"

#define ACT_SUM (Q8K_SUM * TOKENS)

/* Chunks of a turn of the loop: what keeps its cost near 3 % in few instructions. */
#if TOKENS == 4
#define CHUNKS 2
#else
#define CHUNKS 4
#endif

.macro start
    load_float scale_up, F32_2P112, temp
    li mask, 0x000f000f000f000f
.endm

.macro load_act_sum out, token
    lw \out, 4*\token(word)
    slli \out, \out, 3
.endm

.macro part chunk, act_chunk, odd, shift
    of_tokens act_pair, CHUNK*(\act_chunk) + \odd
    .irp pair, 0, 1, 2, 3
    ld word, Q4K_QUANTS + 32*\chunk + 8*\pair(block)
    .if \shift
    srli word, word, \shift
    .endif
    and word, word, mask
    of_pair \pair, products
    .endr
.endm

/* isum += scale (8 sum - N) for both rows of a token. */
.macro scale_token dots, row, token, eight_sums
    sraiw word, \dots, 16
    lw spare, FRAME_ISUM + 32*\token + 4*\row(sp)
    sub word, \eight_sums, word
    mul word, word, product0
    srai \dots, \dots, 48
    sub \dots, \eight_sums, \dots
    mul \dots, \dots, product1
    add word, word, spare
    lw spare, FRAME_ISUM + 32*\token + 4*\row + 4(sp)
    sw word, FRAME_ISUM + 32*\token + 4*\row(sp)
    add spare, spare, \dots
    sw spare, FRAME_ISUM + 32*\token + 4*\row + 4(sp)
.endm

.macro scale_pair dots0, dots1, dots2, dots3, row
    lbu product0, \row(product2)
    lbu product1, \row + 1(product2)
    andi product0, product0, 63
    andi product1, product1, 63
    scale_token \dots0, \row, 0, act0
    .if TOKENS == 4
    scale_token \dots1, \row, 1, act1
    scale_token \dots2, \row, 2, act2
    scale_token \dots3, \row, 3, act3
    .endif
.endm

/* The low (\high = 0) or high nibbles of 64 columns; block and act move on by 8 chunks. */
.macro sub_block high
    ld word, FRAME_SUMS_AT(sp)
    li product0, 0x0001000100010000
    li product1, (1 << 47) + (1 << 32) + (1 << 15)
    of_tokens load_act_sum
    of_tokens start_dots
    of_pairs set_dots, act0, act1, act2, act3
    begin_chunks .Lchunks_\high, 8/CHUNKS
    .irp chunk, 0, 1, 2, 3
    .if \chunk < CHUNKS
    part \chunk, \chunk, 0, 4*\high
    part \chunk, \chunk, 1, 4*\high + 8
    .endif
    .endr
    next_chunks .Lchunks_\high, 32*CHUNKS, CHUNKS*CHUNK
    ld word, FRAME_SUMS_AT(sp)
    ld product2, FRAME_SCALES_AT(sp)
    of_tokens load_act_sum
    addi word, word, 16
    sd word, FRAME_SUMS_AT(sp)
    of_pair 0, scale_pair, 0
    of_pair 1, scale_pair, 2
    of_pair 2, scale_pair, 4
    of_pair 3, scale_pair, 6
    addi product2, product2, 8
    sd product2, FRAME_SCALES_AT(sp)
.endm

.macro sum_activations out, token, index
    lh word, ACT_SUM + 4*TOKENS*\index + 2*\token(act)
    lh \out, ACT_SUM + 4*TOKENS*\index + 2*TOKENS + 2*\token(act)
    add \out, \out, word
    sw \out, FRAME_ACT_SUMS + 16*\index + 4*\token(sp)
.endm

.macro load_min out, row, index
    lbu \out, Q4K_SCALES + 8*\index + \row(block)
    lbu word, Q4K_MINS + 8*(\index % 4) + \row(block)
    srli \out, \out, 6
    .if \index < 4
    andi word, word, 15
    .else
    srli word, word, 4
    .endif
    slli word, word, 2
    or \out, \out, word
.endm

.macro load_mins row, min0, min1, min2, min3, min4, min5, min6, min7
    load_min \min0, \row, 0
    load_min \min1, \row, 1
    load_min \min2, \row, 2
    load_min \min3, \row, 3
    load_min \min4, \row, 4
    load_min \min5, \row, 5
    load_min \min6, \row, 6
    load_min \min7, \row, 7
.endm

/* One sub-block's part of the mins of two rows, which add up in a4 and a5. */
.macro add_min index, token, min0, min1
    lw word, FRAME_ACT_SUMS + 16*\index + 4*\token(sp)
    mul product0, word, \min0
    mul product1, word, \min1
    .if \index == 0
    mv act0, product0
    mv act1, product1
    .else
    add act0, act0, product0
    add act1, act1, product1
    .endif
.endm

.macro add_imin row, scale0, scale1, token
    add_min 0, \token, dots00, dots20
    add_min 1, \token, dots01, dots21
    add_min 2, \token, dots02, dots22
    add_min 3, \token, dots03, dots23
    add_min 4, \token, dots10, dots30
    add_min 5, \token, dots11, dots31
    add_min 6, \token, dots12, dots32
    add_min 7, \token, dots13, dots33
    finish_pair fnmsub.s, act0, act1, \row, \scale0, \scale1, \token
.endm

.macro subtract_mins row, scale0, scale1
    load_mins \row, dots00, dots01, dots02, dots03, dots10, dots11, dots12, dots13
    load_mins \row + 1, dots20, dots21, dots22, dots23, dots30, dots31, dots32, dots33
    of_rows add_imin, \row, \scale0, \scale1
.endm

.macro q4k_block
    .irp index, 0, 1, 2, 3, 4, 5, 6, 7
    of_tokens sum_activations, \index
    .endr
    clear_isum
    addi temp, sp, FRAME_ACT_SUMS
    addi temp_1, block, Q4K_SCALES
    li temp_2, 4
    sd temp, FRAME_SUMS_AT(sp)
    sd temp_1, FRAME_SCALES_AT(sp)
    sd temp_2, FRAME_LEFT(sp)
.Lcolumns:
    sub_block 0
    addi block, block, -256
    sub_block 1
    ld temp, FRAME_LEFT(sp)
    addi temp, temp, -1
    sd temp, FRAME_LEFT(sp)
    bnez temp, .Lcolumns
    addi block, block, Q4K_QUANTS - Q4K_BYTES
    addi act, act, -64*CHUNK
    add_isums
    load_row_scales Q4K_DMIN, product0
    subtract_mins 0, ft0, ft1
    subtract_mins 2, ft2, ft3
    subtract_mins 4, ft4, ft5
    subtract_mins 6, ft6, ft7
.endm

#endif
