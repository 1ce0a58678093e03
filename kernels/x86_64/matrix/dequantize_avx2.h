// Shared by the dequantizing kernels: finding a row, and converting 16 of its columns.
#ifndef INGOT_KERNELS_X86_64_DEQUANTIZE_AVX2_H
#define INGOT_KERNELS_X86_64_DEQUANTIZE_AVX2_H

#include "kernels/blocks.h"
#include "kernels/x86_64/asm.h"

// weights = the first group of the row's eight rows (a group has group_bytes); row =
// its index in the group; cols = the number of blocks of 2^shift columns. Destroys rax.
.macro find_row weights, row, cols, group_bytes, shift=5
    mov     rax, \row
    shr     \cols, \shift
    shr     rax, 3
    and     \row, 7
    imul    rax, \cols
    imul    rax, rax, \group_bytes
    add     \weights, rax
.endm

// ymm reg = the fp16 at `from`. Destroys eax.
.macro broadcast_half reg, from:vararg
    movzx   eax, word ptr [\from]
    vmovd   xmm\reg, eax
    vcvtph2ps xmm\reg, xmm\reg
    vbroadcastss ymm\reg, xmm\reg
.endm

// xmm reg = 16 bytes of the row at `from`: four chunks, 32 bytes apart.
.macro gather_row reg, from:vararg
    vmovd   xmm\reg, dword ptr [\from]
    vpinsrd xmm\reg, xmm\reg, dword ptr [\from + 32], 1
    vpinsrd xmm\reg, xmm\reg, dword ptr [\from + 64], 2
    vpinsrd xmm\reg, xmm\reg, dword ptr [\from + 96], 3
.endm

// Store 16 floats at out + offset: scale * the int8 in xmm reg. Destroys ymm reg and tmp.
.macro put_sixteen out, offset, reg, tmp, scale
    vpsrldq xmm\tmp, xmm\reg, 8
    vpmovsxbd ymm\reg, xmm\reg
    vpmovsxbd ymm\tmp, xmm\tmp
    vcvtdq2ps ymm\reg, ymm\reg
    vcvtdq2ps ymm\tmp, ymm\tmp
    vmulps  ymm\reg, ymm\reg, \scale
    vmulps  ymm\tmp, ymm\tmp, \scale
    vmovups [\out + \offset], ymm\reg
    vmovups [\out + \offset + 32], ymm\tmp
.endm

#endif
