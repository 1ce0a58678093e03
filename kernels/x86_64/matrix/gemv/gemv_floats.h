// The gemv of f32 and fp16 weights, one body for AVX2 and AVX-512.
//
// rdi y; rsi w; rdx x; rcx rows left; r8 columns; r9 `ahead`: gemv_rows.h; r10 the row's address + r9; rax
// column; ymm0, ymm1 or zmm0 16 lanes; ymm2, ymm3 or zmm1 weights or x.
// Clobbers rax, rcx, rsi, rdi, r10, ymm0-ymm3 (AVX2), zmm0, zmm1 (AVX-512).
//
// Takes one row at a time, so that w is read as one stream from end to end. With four rows side by
// side, the hardware's prefetching falls behind: 35 tokens per second instead of 58 (Zen 4, a model of
// 539 MB), and software prefetching recovers only a part. The latency of fma, 4 cycles for 16 columns,
// is hidden by waits for memory, and by the next row if it begins within about 800 columns, because the
// core looks that far ahead.
#ifndef INGOT_KERNELS_X86_64_GEMV_FLOATS_H
#define INGOT_KERNELS_X86_64_GEMV_FLOATS_H

#include "kernels/x86_64/asm.h"

#define out rdi
#define weights rsi
#define vector rdx
#define rows_left rcx
#define n_cols r8
#define ahead r9
#define later r10
#define column rax
#define column_32 eax

// Multiply 16 columns of a row by those of x and add to the lanes.
.macro multiply_f32_avx2
    vmovups ymm2, [vector + 4*column]
    vmovups ymm3, [vector + 4*column + 32]
    vfmadd231ps ymm0, ymm2, [weights + 4*column]
    vfmadd231ps ymm1, ymm3, [weights + 4*column + 32]
.endm

.macro multiply_f16_avx2
    vcvtph2ps ymm2, [weights + 2*column]
    vcvtph2ps ymm3, [weights + 2*column + 16]
    vfmadd231ps ymm0, ymm2, [vector + 4*column]
    vfmadd231ps ymm1, ymm3, [vector + 4*column + 32]
.endm

.macro multiply_f32_avx512
    vmovups zmm1, [weights + 4*column]
    vfmadd231ps zmm0, zmm1, [vector + 4*column]
.endm

.macro multiply_f16_avx512
    vcvtph2ps zmm1, [weights + 2*column]
    vfmadd231ps zmm0, zmm1, [vector + 4*column]
.endm

// `multiply` is one of these macros. `fold` folds the lanes to word 0 of xmm0.
.macro gemv_floats name, multiply, fold, weight_bytes
func \name
    test    rows_left, rows_left
    jz      .Ldone\@
.Lrows\@:
    vxorps  xmm0, xmm0, xmm0
    vxorps  xmm1, xmm1, xmm1
    xor     column_32, column_32
    test    n_cols, n_cols
    jz      .Lfold\@
    test    ahead, ahead
    jz      .Lcolumns\@
    lea     later, [weights + ahead]
    .p2align 5
.Lcolumns_ahead\@:
    prefetcht1 [later + \weight_bytes*column]
    \multiply
    add     column, 16
    cmp     column, n_cols
    jb      .Lcolumns_ahead\@
    jmp     .Lnext_row\@
    .p2align 5
.Lcolumns\@:
    \multiply
    add     column, 16
    cmp     column, n_cols
    jb      .Lcolumns\@
.Lnext_row\@:
    lea     weights, [weights + \weight_bytes*n_cols]
.Lfold\@:
    \fold   0, 1
    vmovss  dword ptr [out], xmm0
    add     out, 4
    dec     rows_left
    jnz     .Lrows\@
.Ldone\@:
endfunc \name
.endm

#endif
