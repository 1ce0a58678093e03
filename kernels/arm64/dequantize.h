// What the dequantize kernels share: the place of a row, and 16 integers to 16 floats.
#ifndef INGOT_KERNELS_ARM64_DEQUANTIZE_H
#define INGOT_KERNELS_ARM64_DEQUANTIZE_H

#include "kernels/arm64/asm.h"

// weights = first group of row's rows; scales, quants = the row's in it; left = blocks of a row.
// A group has group_bytes; destroys row.
.macro row_begin weights, row, left, scales, quants, group_bytes
    lsr     \left, \left, #5
    lsr     \scales, \row, #3
    mul     \scales, \scales, \left
    mov     \quants, #\group_bytes
    madd    \weights, \scales, \quants, \weights
    and     \row, \row, #7
    add     \scales, \weights, \row, lsl #1
    add     \quants, \weights, \row, lsl #2
    add     \quants, \quants, #16
.endm

// Sixteen int8 in v0 times v7.s[0] to 16 floats at out. Destroys v0-v4.
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

#endif
