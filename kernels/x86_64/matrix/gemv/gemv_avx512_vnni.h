// The gemv of Q4_0 and Q8_0 by AVX-512 VNNI on vectors of 256 bits, 8 rows at a time.
//
// gemv_rows.h names the registers of the loops.
// ymm1, ymm2 integer sums; ymm16-ymm23 weights of a block; ymm24 their scales; ymm25 start
// value of a sum; ymm27 mask or flip.
// Clobbers the same as gemv_rows.h, and ymm2, ymm16-ymm25, ymm27.
//
// A block takes 8 vpdpbusd in two chains; the first factor is unsigned as in avx512_vnni.h.
#ifndef INGOT_KERNELS_X86_64_GEMV_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMV_AVX512_VNNI_H

#include "kernels/x86_64/matrix/gemv/gemv_rows.h"

    .altmacro                       // allows %(register number) in arguments of macros

.macro multiply_two low, high, at
    vpdpbusd ymm1, ymm\low, dword ptr [block + \at]{1to8}
    vpdpbusd ymm2, ymm\high, dword ptr [block + 16 + \at]{1to8}
.endm

// ymm16-ymm23 = the 8 chunks of a block, unsigned.
.macro unpack_q4
    .irp    c, 0, 1, 2, 3
    unpack_nibbles \c, %(16 + \c), %(20 + \c)
    .endr
.endm

.macro unpack_nibbles c, low, high
    vmovdqu32 ymm\low, [weights + QUANTS + 32 * \c]
    vpsrlw  ymm\high, ymm\low, 4
    vpandd  ymm\low, ymm\low, ymm27
    vpandd  ymm\high, ymm\high, ymm27
.endm

.macro unpack_q8
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    unpack_bytes \c, %(16 + \c)
    .endr
.endm

.macro unpack_bytes c, reg
    vpxord  ymm\reg, ymm27, [weights + QUANTS + 32 * \c]
.endm

.macro block_vnni unpack, shift
    vpbroadcastd ymm25, dword ptr [block + Q8_SUM]
    \unpack
    vpxor   xmm1, xmm1, xmm1
    vpslld  ymm25, ymm25, \shift
    vpsubd  ymm2, ymm1, ymm25
    vcvtph2ps ymm24, [weights]
    vmulps  ymm24, ymm24, dword ptr [block + Q8_SCALE]{1to8}
    multiply_two 16, 20, 0
    multiply_two 17, 21, 4
    multiply_two 18, 22, 8
    multiply_two 19, 23, 12
    vpaddd  ymm1, ymm1, ymm2
    vcvtdq2ps ymm1, ymm1
    vfmadd231ps ymm0, ymm1, ymm24
.endm

// Adding 2^shift makes a weight unsigned; the sum of x corrects this. `constant` is the mask or
// flip, as a word.
.macro gemv_vnni name, unpack, block_bytes, shift, constant
func \name
    mov     eax, \constant
    vpbroadcastd ymm27, eax
    gemv_rows <block_vnni \unpack, \shift>, 5, \block_bytes, Q8_BYTES
endfunc \name
.endm

#endif
