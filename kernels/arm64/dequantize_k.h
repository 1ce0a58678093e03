// What the dequantize kernels of the K formats share: the place of a row, its quants, and 16
// integers times a scale.
#ifndef INGOT_KERNELS_ARM64_DEQUANTIZE_K_H
#define INGOT_KERNELS_ARM64_DEQUANTIZE_K_H

#include "kernels/arm64/asm.h"

// weights = first group of row's rows; row = its place in it; left = groups of 256 columns.
// A group has group_bytes; destroys temp and other.
.macro row_begin_k weights, row, left, group_bytes, temp, other
    lsr     \left, \left, #8
    lsr     \temp, \row, #3
    mul     \temp, \temp, \left
    mov     \other, #\group_bytes
    madd    \weights, \temp, \other, \weights
    and     \row, \row, #7
.endm

// first, second = 32 bytes of a row, 4 of every `step`
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
