// The gemv of Q4_0 and Q8_0 by AVX-512 VNNI on vectors of 256 bits, 8 rows at a time.
//
// rdi y  rsi w  rdx x  rcx rows left  r8 cols, then blocks of a row  r9 ahead
// r10 block of x  r11 blocks left
// ymm0 y of 8 rows  ymm1, ymm2 integer sums  ymm16-ymm23 weights of a block  ymm24 their scales
// ymm25 what a sum begins with  ymm27 mask or flip  k1 rows to store
//
// w is read as one stream from end to end. 16 rows at a time, which zmm registers would hold, are
// two streams of a few kilobytes each, at which the hardware's prefetching falls behind: half the
// speed on Zen 4. Two chains of vpdpbusd a block; blocks do not depend on each other but for the
// last fma, so that several are under way at once and memory is what one waits for. Prefetching
// by instruction has cost 5 to 30 % on such cores (docs/EXPERIMENTS.md): `ahead` is not used.
#ifndef INGOT_KERNELS_X86_64_GEMV_VNNI_H
#define INGOT_KERNELS_X86_64_GEMV_VNNI_H

#include "kernels/x86_64/vnni.h"

#define out rdi
#define weights rsi
#define blocks rdx
#define n_rows rcx
#define n_blocks r8
#define block r10
#define blocks_left r11

#define X_BYTES 40
#define X_SCALE 32
#define X_SUM 36

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
    vmovdqu32 ymm\low, [weights + 16 + 32 * \c]
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
    vpxord  ymm\reg, ymm27, [weights + 16 + 32 * \c]
.endm

.macro gemv_vnni name, unpack, block_bytes, shift, constant
func \name
    shr     n_blocks, 5
    mov     eax, \constant
    vpbroadcastd ymm27, eax
    test    n_rows, n_rows
    jz      5f
1:
    vpxor   xmm0, xmm0, xmm0
    mov     block, blocks
    mov     blocks_left, n_blocks
    test    blocks_left, blocks_left
    jz      3f
2:
    vpbroadcastd ymm25, dword ptr [block + X_SUM]
    \unpack
    vpxor   xmm1, xmm1, xmm1
    vpslld  ymm25, ymm25, \shift
    vpsubd  ymm2, ymm1, ymm25
    vcvtph2ps ymm24, [weights]
    vmulps  ymm24, ymm24, dword ptr [block + X_SCALE]{1to8}
    multiply_two 16, 20, 0
    multiply_two 17, 21, 4
    multiply_two 18, 22, 8
    multiply_two 19, 23, 12
    vpaddd  ymm1, ymm1, ymm2
    vcvtdq2ps ymm1, ymm1
    vfmadd231ps ymm0, ymm1, ymm24
    add     weights, \block_bytes
    add     block, X_BYTES
    dec     blocks_left
    jnz     2b
3:
    sub     n_rows, 8
    jb      4f
    vmovups [out], ymm0
    lea     out, [out + 32]         // leaves the flags
    jnz     1b
    jmp     5f
4:
    lea     rax, [n_rows + 8]
    mov     ecx, -1
    bzhi    eax, ecx, eax
    kmovw   k1, eax
    vmovups [out]{k1}, ymm0
5:
endfunc \name
.endm

#endif
