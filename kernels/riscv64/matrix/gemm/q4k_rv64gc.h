/* gemm of Q4_K without vectors.
 *
 * A sub-block of 32 columns gives the same as a block of Q4_0 in gemm_nibbles_rv64gc.h: the negated dots of
 * nibble - 8, int16, two rows in one register. 8 times the sum of the activations minus these dots
 * gives the dots of the nibbles, which are multiplied by their scales and added up in the frame for
 * the 8 sub-blocks. The mins follow at the end of a block. A record has four start values, 256
 * bytes of pairs and four sums of x for each sub-block. */
#ifndef INGOT_KERNELS_RISCV64_Q4K_RV64GC_H
#define INGOT_KERNELS_RISCV64_Q4K_RV64GC_H

#define SUB_BLOCK_BYTES 304
#define SUB_BLOCK_SUMS 288
#define RECORD_BYTES (8 * SUB_BLOCK_BYTES + 16)
#define RECORD_MIDDLE 1216     /* from a record's end back to where offsets reach all of it */
#define RECORD_D (8 * SUB_BLOCK_BYTES - RECORD_MIDDLE)
#define RECORD_STEP (RECORD_BYTES - RECORD_MIDDLE)
#define SEGMENT 4

#include "kernels/riscv64/matrix/gemm/mins_rv64gc.h"

/* Chunks per iteration. With two chunks, the loop itself costs about 3 %, and the code is still
 * small. */
#define CHUNKS 2

.macro start
    load_float scale_up, F32_2P112, temp
    li mask, 0x000f000f000f000f
.endm

#define from_sums a7

.macro pack_block
    li start_factor, 0x0008000800080000
    li start_of_dots, (1 << 47) + (1 << 32) + (1 << 15)
    mv from_chunk, from
    addi from_sums, from, Q8KX4_SUM
    li s1, 8
.Lpack_sub_block:
    .irp token, 0, 1, 2, 3
    lh t0, 2*\token(from_sums)
    lh t4, 2*\token + 8(from_sums)
    add t4, t4, t0
    sw t4, SUB_BLOCK_SUMS + 4*\token(to)
    pack_start \token, 0
    .endr
    addi from_sums, from_sums, 16
    li s2, 8
.Lpack_chunk:
    .irp token, 0, 1, 2, 3
    pack_pairs \token, 0, 32
    .endr
    addi from_chunk, from_chunk, CHUNK
    addi to, to, PAIRS
    addi s2, s2, -1
    bnez s2, .Lpack_chunk
    addi to, to, SUB_BLOCK_BYTES - 8*PAIRS
    addi s1, s1, -1
    bnez s1, .Lpack_sub_block
    pack_d
.endm

.macro load_act_sum out, token
    lw \out, 4*\token(act)
    slli \out, \out, 3
.endm

.macro part chunk, act_chunk, odd, shift
    of_tokens load_pair, PAIRS*(\act_chunk) + 16*\odd
    .irp pair, 0, 1, 2, 3
    ld word, K45_QUANTS + 32*\chunk + 8*\pair(block)
    .if \shift
    srli word, word, \shift
    .endif
    and word, word, mask
    of_pair \pair, products
    .endr
.endm

/* isum += scale (8 sum - N) for both rows of a token; N is the int16 of a row in \dots. */
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
    scale_token \dots1, \row, 1, act1
    scale_token \dots2, \row, 2, act2
    scale_token \dots3, \row, 3, act3
.endm

/* Multiply the low (\high = 0) or high nibbles of 64 columns; block and act advance by 8 chunks. */
.macro sub_block high
    of_tokens load_start, 0
    addi act, act, 32
    of_pairs set_dots, act0, act1, act2, act3
    begin_chunks .Lchunks_\high, 8/CHUNKS
    .irp chunk, 0, 1, 2, 3
    .if \chunk < CHUNKS
    part \chunk, \chunk, 0, 4*\high
    part \chunk, \chunk, 1, 4*\high + 8
    .endif
    .endr
    next_chunks .Lchunks_\high, 32*CHUNKS, CHUNKS*PAIRS
    ld product2, FRAME_SCALES_AT(sp)
    of_tokens load_act_sum
    addi act, act, 16
    of_pair 0, scale_pair, 0
    of_pair 1, scale_pair, 2
    of_pair 2, scale_pair, 4
    of_pair 3, scale_pair, 6
    addi product2, product2, 8
    sd product2, FRAME_SCALES_AT(sp)
.endm

.macro q4k_block
    clear_isum
    addi temp_1, block, K45_SCALES
    li temp_2, 4
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
    addi block, block, K45_QUANTS - Q4K_BYTES
    addi act, act, -RECORD_MIDDLE
    add_isums
    subtract_all_mins
.endm

#endif
