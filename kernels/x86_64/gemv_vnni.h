// The gemv of Q4_0 and Q8_0 by AVX-512 VNNI, 16 rows at a time.
//
// rdi y  rsi w  rdx x  rcx rows  r8 cols, then blocks of a row  r9 ahead
// rbx group a  rbp group b  r10 block of x  r11 blocks left  rdx rows left (x is in r12)
// zmm0 y of 16 rows  zmm1, zmm2 integer sums  zmm16-zmm23 weights of a block  zmm24 their scales
// zmm25, zmm26 scratch  zmm27 mask or flip  k1 rows to store
//
// Two chains of vpdpbusd a block; blocks do not depend on each other but for the last fma, so
// that several are under way at once and memory is what one waits for. Prefetching by
// instruction has cost 5 to 30 % on such cores (docs/EXPERIMENTS.md): `ahead` is not used.
#ifndef INGOT_KERNELS_X86_64_GEMV_VNNI_H
#define INGOT_KERNELS_X86_64_GEMV_VNNI_H

#include "kernels/x86_64/vnni.h"

#define out rdi
#define weights rsi
#define n_rows rdx
#define n_blocks r8
#define block r10
#define blocks_left r11
#define x_blocks r12

#define X_BYTES 40
#define X_SCALE 32
#define X_SUM 36

.macro multiply_two low, high, at
    vpdpbusd zmm1, zmm\low, dword ptr [block + \at]{1to16}
    vpdpbusd zmm2, zmm\high, dword ptr [block + 16 + \at]{1to16}
.endm

.macro gemv_vnni name, load, block_bytes, shift, constant
func \name
    push    rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    push    rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    push    r12
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset r12, 0
    mov     x_blocks, rdx
    mov     n_rows, rcx
    shr     n_blocks, 5
    mov     eax, \constant
    vpbroadcastd zmm27, eax
    test    n_rows, n_rows
    jz      4f
1:                                  // 16 rows, or the last 1 to 15
    row_mask n_rows
    imul    rax, n_blocks, \block_bytes
    mov     group_a, weights
    lea     group_b, [weights + rax]
    lea     weights, [weights + 2*rax]
    cmp     n_rows, 8
    cmovbe  group_b, group_a        // no second group: what its lanes give is not stored
    vpxord  zmm0, zmm0, zmm0
    mov     block, x_blocks
    mov     blocks_left, n_blocks
    test    blocks_left, blocks_left
    jz      3f
2:
    vpbroadcastd zmm25, dword ptr [block + X_SUM]
    \load   16, 27
    vpxord  zmm1, zmm1, zmm1
    vpslld  zmm25, zmm25, \shift
    vpsubd  zmm2, zmm1, zmm25
    load_scales 24, 26
    vmulps  zmm24, zmm24, dword ptr [block + X_SCALE]{1to16}
    multiply_two 16, 20, 0
    multiply_two 17, 21, 4
    multiply_two 18, 22, 8
    multiply_two 19, 23, 12
    vpaddd  zmm1, zmm1, zmm2
    vcvtdq2ps zmm1, zmm1
    vfmadd231ps zmm0, zmm1, zmm24
    add     group_a, \block_bytes
    add     group_b, \block_bytes
    add     block, X_BYTES
    dec     blocks_left
    jnz     2b
3:
    vmovups [out]{k1}, zmm0
    add     out, 64
    sub     n_rows, 16
    ja      1b
4:
    pop     r12
    .cfi_adjust_cfa_offset -8
    pop     rbp
    .cfi_adjust_cfa_offset -8
    pop     rbx
    .cfi_adjust_cfa_offset -8
endfunc \name
.endm

#endif
