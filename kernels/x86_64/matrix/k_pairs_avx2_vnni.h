// The K formats with AVX-VNNI, two sub-blocks at a
// time: the low and the high nibbles of the same bytes.
//
// k_avx2.h has registers and loops. Two things differ here: y of four tokens is on the stack, and
// ymm0-ymm3 are the sums of the second sub-block (ymm9 if there is one token).
//
// Each vpdpbusd waits 5 cycles for the previous one in its chain, and scaling adds the 10 cycles of
// vpmulld. With four chains at a time the core's queue fills with waiting additions; with eight they
// are ready in time.
#ifndef INGOT_KERNELS_X86_64_K_PAIRS_AVX2_VNNI_H
#define INGOT_KERNELS_X86_64_K_PAIRS_AVX2_VNNI_H

#define AVX_VNNI
#include "kernels/x86_64/matrix/k_bits_avx2.h"

// Multiply ymm12 by chunk `first`, ymm13 by chunk `second` of the block, for each token.
.macro multiply_pair n, first, second, begin
    multiply_tokens \n, \first, \begin
    .if \n == 1
    multiply_token 9, 13, (4 * (\second)), \begin
    .else
    .irp    t, 0, 1, 2, 3
    multiply_token \t, 13, (16 * (\second) + 4 * \t), \begin
    .endr
    .endif
.endm

// Multiply the sums of the two sub-blocks by ymm12 and ymm13, and add them to the sums of the block.
.macro scale_pair n, begin
    .if \n == 1
    scale_token 8, 4, 12, \begin
    scale_token 9, 4, 13, 0
    .else
    .irp    t, 0, 1, 2, 3
    scale_token %(8 + \t), %(4 + \t), 12, \begin
    .endr
    .irp    t, 0, 1, 2, 3
    scale_token \t, %(4 + \t), 13, 0
    .endr
    .endif
.endm

.macro put_y n
    .if \n == 4
    .irp    t, 0, 1, 2, 3
    vmovdqa [sums + Y_SAVED + 32 * \t], ymm\t
    .endr
    .endif
.endm

.macro take_y n
    .if \n == 4
    .irp    t, 0, 1, 2, 3
    vmovdqa ymm\t, [sums + Y_SAVED + 32 * \t]
    .endr
    .endif
.endm

#endif
