/* gemm of Q6_K without vectors.
 *
 * Works as for nibbles with a min, but takes 8 columns at a time: -sum (q - 32) x of 8 columns is an int16, at
 * most 32 * 127 * 8 = 32512 and at least -32768, and the by-product at 1 is at most 63 * 128 * 4 = 32256. The
 * start value is 32 times the sum of these 8 activations. For each 8 columns a record has 64 bytes of pairs and
 * four start values. */
#ifndef INGOT_KERNELS_RISCV64_Q6K_RV64GC_H
#define INGOT_KERNELS_RISCV64_Q6K_RV64GC_H

#define UNIT_BYTES 96
#define RECORD_D 0             /* bytes from act, which is past the last unit when d is read, to the tokens' d */
#define RECORD_BYTES (32 * UNIT_BYTES + 16)
#define RECORD_STEP 16
#define SEGMENT 3

#include "kernels/riscv64/matrix/gemm/k_rv64gc.h"

#define mask_high a0   /* 0x30 in each B */

.macro start
    load_float scale_up, F32_2P112, temp
    li mask, 0x000f000f000f000f
    li mask_high, 0x0030003000300030
.endm

.macro pack_block
    li start_factor, 0x0020002000200000
    li start_of_dots, (1 << 47) + (1 << 32) + (1 << 15)
    mv from_chunk, from
    li s1, 32
.Lpack_unit:
    .irp token, 0, 1, 2, 3
    pack_pairs \token, 0, 0
    mv t5, t4
    pack_pairs \token, 1, PAIRS
    add t4, t4, t5
    pack_start \token, 64
    .endr
    addi from_chunk, from_chunk, 2*CHUNK
    addi to, to, UNIT_BYTES
    addi s1, s1, -1
    bnez s1, .Lpack_unit
    pack_d
.endm

.macro products_6 dots0, dots1, dots2, dots3
    mul product0, word, act0
    mul product1, word, act1
    sub \dots0, \dots0, product0
    mul product0, word, act2
    sub \dots1, \dots1, product1
    mul word, word, act3
    sub \dots2, \dots2, product0
    sub \dots3, \dots3, word
.endm

/* Shift right by \by, or left if \by is negative. */
.macro shift register, by
    .if \by > 0
    srli \register, \register, \by
    .elseif \by < 0
    slli \register, \register, -(\by)
    .endif
.endm

/* Bytes \odd and \odd + 2 of a chunk: 4 bits from \low_shift on, 2 from \high_shift on. */
.macro part chunk, odd, low_shift, high_shift
    of_tokens load_pair, PAIRS*\chunk + 16*\odd
    .irp pair, 0, 1, 2, 3
    ld word, 32*\chunk + 8*\pair(block)
    ld product0, 32*\chunk + 8*\pair(spare)
    shift word, \low_shift + 8*\odd
    shift product0, \high_shift + 8*\odd - 4
    and word, word, mask
    and product0, product0, mask_high
    or word, word, product0
    of_pair \pair, products_6
    .endr
.endm

/* isum -= scale N for both rows of a token; N is the int16 of a row in \dots. */
.macro scale_token dots, row, token
    sraiw word, \dots, 16
    lw spare, FRAME_ISUM + 32*\token + 4*\row(sp)
    mul word, word, product0
    srai \dots, \dots, 48
    mul \dots, \dots, product1
    sub word, spare, word
    lw spare, FRAME_ISUM + 32*\token + 4*\row + 4(sp)
    sw word, FRAME_ISUM + 32*\token + 4*\row(sp)
    sub spare, spare, \dots
    sw spare, FRAME_ISUM + 32*\token + 4*\row + 4(sp)
.endm

.macro scale_pair dots0, dots1, dots2, dots3, row
    lb product0, \row(act0)
    lb product1, \row + 1(act0)
    scale_token \dots0, \row, 0
    scale_token \dots1, \row, 1
    scale_token \dots2, \row, 2
    scale_token \dots3, \row, 3
.endm

/* Multiply 8 columns: two chunks at block, with high bits at FRAME_HIGH_AT; advances block,
 * FRAME_HIGH_AT and act. */
.macro unit low_shift, high_shift
    of_tokens load_start, 64
    of_pairs set_dots, act0, act1, act2, act3
    ld spare, FRAME_HIGH_AT(sp)
    part 0, 0, \low_shift, \high_shift
    part 0, 1, \low_shift, \high_shift
    part 1, 0, \low_shift, \high_shift
    part 1, 1, \low_shift, \high_shift
    ld act0, FRAME_SCALES_AT(sp)
    addi spare, spare, 64
    sd spare, FRAME_HIGH_AT(sp)
    addi act1, act0, 4                 /* a row of 8 scales serves two units */
    andi act0, act0, -8
    sd act1, FRAME_SCALES_AT(sp)
    of_pair 0, scale_pair, 0
    of_pair 1, scale_pair, 2
    of_pair 2, scale_pair, 4
    of_pair 3, scale_pair, 6
    addi block, block, 64
    addi act, act, UNIT_BYTES
.endm

/* Multiply 32 columns; then block advances by \low_next and the high bits by \high_next. */
.macro group low_shift, high_shift, low_next, high_next
    li temp, 4
.Lunit_\high_shift:
    sd temp, FRAME_UNITS(sp)
    unit \low_shift, \high_shift
    ld temp, FRAME_UNITS(sp)
    addi temp, temp, -1
    bnez temp, .Lunit_\high_shift
    .if \low_next
    addi block, block, \low_next
    .endif
    .if \high_next
    ld temp, FRAME_HIGH_AT(sp)
    addi temp, temp, \high_next
    sd temp, FRAME_HIGH_AT(sp)
    .endif
.endm

.macro q6k_block
    clear_isum
    addi temp, block, K36_SCALES
    addi temp_1, block, Q6K_HIGH
    li temp_2, 2
    sd temp, FRAME_SCALES_AT(sp)
    sd temp_1, FRAME_HIGH_AT(sp)
    addi block, block, Q6K_LOW
.Lhalf:
    sd temp_2, FRAME_LEFT(sp)
    group 0, 0, -256, -256
    group 4, 2, 0, -256
    group 0, 4, -256, -256
    group 4, 6, 0, 0
    ld temp_2, FRAME_LEFT(sp)
    addi temp_2, temp_2, -1
    bnez temp_2, .Lhalf
    addi block, block, -Q6K_HIGH
    add_isums
.endm

#endif
