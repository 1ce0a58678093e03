// Shared by the dequantize kernels: find a row and its quants, and convert 16 integers to floats.
#ifndef INGOT_KERNELS_ARM64_DEQUANTIZE_NEON_H
#define INGOT_KERNELS_ARM64_DEQUANTIZE_NEON_H

#include "kernels/arm64/asm.h"

// weights = the first block of the group of 8 rows that contains `row`; row = the row's index in
// the group; blocks_left = blocks of a row. A block of 8 rows has group_bytes. Destroys temp and
// other.
.macro find_row weights, row, blocks_left, cols_log2, group_bytes, temp, other
    lsr     \blocks_left, \blocks_left, #\cols_log2
    lsr     \temp, \row, #3
    mul     \temp, \temp, \blocks_left
    mov     \other, #\group_bytes
    madd    \weights, \temp, \other, \weights
    and     \row, \row, #7
.endm

// ---- Q8_0, Q4_0 ------------------------------------------------------

// Like find_row; also points `scales` and `quants` to the scales and quants of the row in its
// first block.
.macro find_row_32 weights, row, blocks_left, scales, quants, group_bytes
    find_row \weights, \row, \blocks_left, COLS_LOG2, \group_bytes, \scales, \quants
    add     \scales, \weights, \row, lsl #1
    add     \quants, \weights, \row, lsl #2
    add     \quants, \quants, #QUANTS
.endm

// Write sixteen int8 in v0, times v7.s[0], as 16 floats to out. Destroys v0-v4.
.macro scale_sixteen out
    sxtl2   v2.8h, v0.16b
    sxtl    v0.8h, v0.8b
    sxtl2   v3.4s, v2.8h
    sxtl    v2.4s, v2.4h
    sxtl2   v1.4s, v0.8h
    sxtl    v0.4s, v0.4h
    scvtf   v0.4s, v0.4s
    scvtf   v1.4s, v1.4s
    scvtf   v2.4s, v2.4s
    scvtf   v3.4s, v3.4s
    fmul    v0.4s, v0.4s, v7.s[0]
    fmul    v1.4s, v1.4s, v7.s[0]
    fmul    v2.4s, v2.4s, v7.s[0]
    fmul    v3.4s, v3.4s, v7.s[0]
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [\out], #64
.endm

// ---- the K formats ---------------------------------------------------

// first, second = 32 bytes of a row: the first 4 of every `step` bytes
.macro row_bytes first, second, from, step
    ld1     {\first\().s}[0], [\from], \step
    ld1     {\first\().s}[1], [\from], \step
    ld1     {\first\().s}[2], [\from], \step
    ld1     {\first\().s}[3], [\from], \step
    ld1     {\second\().s}[0], [\from], \step
    ld1     {\second\().s}[1], [\from], \step
    ld1     {\second\().s}[2], [\from], \step
    ld1     {\second\().s}[3], [\from], \step
.endm

// v0-v3 = 16 floats: int8 in q times scale.h[0]
.macro scaled_sixteen q, scale
    sxtl    v0.8h, \q\().8b
    sxtl2   v2.8h, \q\().16b
    mul     v0.8h, v0.8h, \scale\().h[0]
    mul     v2.8h, v2.8h, \scale\().h[0]
    sxtl2   v1.4s, v0.8h
    sxtl    v0.4s, v0.4h
    sxtl2   v3.4s, v2.8h
    sxtl    v2.4s, v2.4h
    scvtf   v0.4s, v0.4s
    scvtf   v1.4s, v1.4s
    scvtf   v2.4s, v2.4s
    scvtf   v3.4s, v3.4s
.endm

#endif
