// The gemv of Q4_0 and Q8_0 by AVX-VNNI, the VEX coding of vpdpbusd, as in tiles_avx2.h.
//
// gemv_rows.h names the registers of the loops.
// ymm1, ymm2 integer sums; ymm3, ymm4 weights; ymm5, ymm6 x; ymm7 start value of a sum, then scales;
// ymm15 mask or flip.
// Clobbers the same as gemv_rows.h, and ymm2-ymm7, ymm15.
//
// A block takes 8 vpdpbusd in two chains. The first factor of vpdpbusd must be unsigned. Nibbles
// are unsigned. 128 is added to int8 weights, and the sum of x corrects this.
#ifndef INGOT_KERNELS_X86_64_GEMV_AVX2_VNNI_H
#define INGOT_KERNELS_X86_64_GEMV_AVX2_VNNI_H

#include "kernels/x86_64/matrix/gemv/gemv_rows.h"

.macro multiply_two at
    vpbroadcastd ymm5, dword ptr [block + \at]
    vpbroadcastd ymm6, dword ptr [block + 16 + \at]
    {vex} vpdpbusd ymm1, ymm3, ymm5
    {vex} vpdpbusd ymm2, ymm4, ymm6
.endm

// Multiply chunks c and c + 4 of a block, unsigned.
.macro unpack_q4 c
    vmovdqu ymm3, [weights + QUANTS + 32 * \c]
    vpsrlw  ymm4, ymm3, 4
    vpand   ymm3, ymm3, ymm15
    vpand   ymm4, ymm4, ymm15
.endm

.macro unpack_q8 c
    vpxor   ymm3, ymm15, [weights + QUANTS + 32 * \c]
    vpxor   ymm4, ymm15, [weights + QUANTS + 128 + 32 * \c]
.endm

.macro block_vnni unpack, shift
    vpbroadcastd ymm7, dword ptr [block + Q8_SUM]
    vpxor   xmm1, xmm1, xmm1
    vpslld  ymm7, ymm7, \shift
    vpsubd  ymm2, ymm1, ymm7
    .irp    c, 0, 1, 2, 3
    \unpack \c
    multiply_two (4 * \c)
    .endr
    vcvtph2ps ymm7, [weights]
    vbroadcastss ymm3, dword ptr [block + Q8_SCALE]
    vpaddd  ymm1, ymm1, ymm2
    vmulps  ymm7, ymm7, ymm3        // scale of a row * scale of x
    vcvtdq2ps ymm1, ymm1
    vfmadd231ps ymm0, ymm1, ymm7
.endm

// Adding 2^shift makes a weight unsigned; the sum of x corrects this. `constant` is the mask or
// flip, as a word.
.macro gemv_vnni name, unpack, block_bytes, shift, constant
func \name
    broadcast_word 15, \constant
    gemv_rows <block_vnni \unpack, \shift>, 5, \block_bytes, Q8_BYTES
endfunc \name
.endm

    .altmacro                       // callers put < > around arguments with commas

#endif
