// The gemm of Q4_0 and Q8_0 by AVX2: 8 rows by 4 tokens.
//
// rdi y  rsi w  rdx x  rcx group: where the loop over blocks is in w (first the shape)
// r8 rows left  r9 blocks of a row  r10 bytes from one row of y to the next
// r11 y of the tokens at work  r12 block of x  r13 blocks left  r14 tokens left  rbx tokens
// rax scratch
// ymm0-ymm3 y of 8 rows by 4 tokens  ymm4-ymm7 their sums in int16, ymm8-ymm11 those of high
// nibbles (Q8_0)  ymm12, ymm13 weights  ymm14, ymm15 scratch
//
// 32 bytes are 8 rows by 4 columns, so that a lane of 32 bits is a row. vpmaddubsw takes unsigned
// by signed bytes and saturates at 16 bits: nibbles by any x give a pair within 2 * 15 * 128 =
// 3840, and an int16 collects the 8 chunks of a block: 30720. A byte of Q8_0 plus 128 is two
// nibbles, so that its sum is exact for every byte: sum w x = 16 sum high x + sum low x - 128 sum
// x. The weights of a block are unpacked once for 4 tokens.
//
// Per block and 4 tokens: 32 (Q4_0) or 64 (Q8_0) vpmaddubsw, and as many additions, 32
// broadcasts, and about 60 others: 36 and 62 cycles on Zen 4, four vector operations a cycle.
#ifndef INGOT_KERNELS_X86_64_GEMM_AVX2_H
#define INGOT_KERNELS_X86_64_GEMM_AVX2_H

#include "kernels/x86_64/asm.h"

    .altmacro                       // %(register number) in the arguments of macros

#define out rdi
#define weights rsi
#define tokens rdx
#define group rcx
#define n_rows r8
#define n_blocks r9
#define y_stride r10
#define y_row r11
#define block r12
#define blocks_left r13
#define tokens_left r14
#define n_tokens rbx

#define X_BYTES 160
#define X_SCALE 128
#define X_SUM 144

    .section .rodata.kernels_gemm_avx2, "aG", @progbits, kernels_gemm_avx2, comdat
    .p2align 5
    .weak   kernels_gemm_avx2
    .hidden kernels_gemm_avx2
    .type   kernels_gemm_avx2, @object
kernels_gemm_avx2:
    .fill   32, 1, 0x0f
    .fill   32, 1, 0x80
    .fill   16, 2, 1
    .fill   16, 2, 16
    .size   kernels_gemm_avx2, . - kernels_gemm_avx2

#define NIBBLE [rip + kernels_gemm_avx2]
#define FLIP [rip + kernels_gemm_avx2 + 32]
#define ONES [rip + kernels_gemm_avx2 + 64]
#define SIXTEENS [rip + kernels_gemm_avx2 + 96]

// Sum of one token += ymm weight by its 4 columns at `at`, or the sum begins with it.
.macro multiply_token sum, weight, at, begin
    vpbroadcastd ymm14, dword ptr [block + \at]
    .if \begin
    vpmaddubsw ymm\sum, ymm\weight, ymm14
    .else
    vpmaddubsw ymm14, ymm\weight, ymm14
    vpaddw  ymm\sum, ymm\sum, ymm14
    .endif
.endm

.macro multiply_four weight, chunk, begin
    .irp    t, 0, 1, 2, 3
    multiply_token %(4 + \t), \weight, (16 * \chunk + 4 * \t), \begin
    .endr
.endm

// Q4_0: 32 bytes are the chunks c and c + 4.
.macro block_q4
    .irp    c, 0, 1, 2, 3
    vmovdqu ymm12, [group + 16 + 32 * \c]
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, NIBBLE
    vpand   ymm13, ymm13, NIBBLE
    multiply_four 12, \c, (\c == 0)
    multiply_four 13, (\c + 4), 0
    .endr
.endm

.macro finish_q4 sum, high
    vpmaddwd ymm\sum, ymm\sum, ONES
.endm

.macro multiply_both low, high, at, begin
    vpbroadcastd ymm14, dword ptr [block + \at]
    .if \begin
    vpmaddubsw ymm\low, ymm12, ymm14
    vpmaddubsw ymm\high, ymm13, ymm14
    .else
    vpmaddubsw ymm15, ymm12, ymm14
    vpmaddubsw ymm14, ymm13, ymm14
    vpaddw  ymm\low, ymm\low, ymm15
    vpaddw  ymm\high, ymm\high, ymm14
    .endif
.endm

.macro block_q8
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    vmovdqu ymm12, [group + 16 + 32 * \c]
    vpxor   ymm12, ymm12, FLIP
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, NIBBLE
    vpand   ymm13, ymm13, NIBBLE
    .irp    t, 0, 1, 2, 3
    multiply_both %(4 + \t), %(8 + \t), (16 * \c + 4 * \t), (\c == 0)
    .endr
    .endr
.endm

.macro finish_q8 sum, high
    vpmaddwd ymm\sum, ymm\sum, ONES
    vpmaddwd ymm\high, ymm\high, SIXTEENS
    vpaddd  ymm\sum, ymm\sum, ymm\high
.endm

// One token's block into its y; ymm12: scales of the rows.
.macro add_block y, sum, high, finish, at, shift
    \finish \sum, \high
    vpbroadcastd ymm14, dword ptr [block + X_SUM + \at]
    vbroadcastss ymm13, dword ptr [block + X_SCALE + \at]
    vpslld  ymm14, ymm14, \shift
    vpsubd  ymm\sum, ymm\sum, ymm14
    vmulps  ymm13, ymm12, ymm13
    vcvtdq2ps ymm\sum, ymm\sum
    vfmadd231ps ymm\y, ymm\sum, ymm13
.endm

// `shift`: 2 to the shift is what was added to make a weight unsigned.
.macro gemm_avx2 name, body, finish, block_bytes, shift
func \name
    .irp    reg, rbx, r12, r13, r14
    push    \reg
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \reg, 0
    .endr
    mov     n_rows, [rcx]
    mov     n_blocks, [rcx + 8]
    mov     n_tokens, [rcx + 16]
    mov     y_stride, [rcx + 24]
    shl     y_stride, 2
    shr     n_blocks, 5
    test    n_rows, n_rows
    jz      9f
1:                                  // 8 rows, or the last 1 to 7
    mov     block, tokens
    mov     y_row, out
    mov     tokens_left, n_tokens
    test    tokens_left, tokens_left
    jz      7f
2:                                  // 4 tokens, or the last 1 to 3
    mov     group, weights
    mov     blocks_left, n_blocks
    .irp    t, 0, 1, 2, 3
    vpxor   xmm\t, xmm\t, xmm\t
    .endr
    test    blocks_left, blocks_left
    jz      4f
3:
    \body
    vcvtph2ps ymm12, [group]
    .irp    t, 0, 1, 2, 3
    add_block \t, %(4 + \t), %(8 + \t), \finish, (4 * \t), \shift
    .endr
    add     group, \block_bytes
    add     block, X_BYTES
    dec     blocks_left
    jnz     3b
4:
    mov     eax, 8
    cmp     n_rows, 8
    cmovb   eax, r8d                // n_rows
    mov     ecx, eax
    lane_mask 4, rcx                // group is done
    .irp    t, 0, 1, 2, 3
    .if \t
    cmp     tokens_left, \t
    jbe     8f
    .endif
    vmaskmovps [y_row], ymm4, ymm\t
    add     y_row, y_stride
    .endr
8:
    sub     tokens_left, 4
    ja      2b
7:
    imul    rax, n_blocks, \block_bytes
    add     weights, rax
    add     out, 32
    sub     n_rows, 8
    ja      1b
9:
    .irp    reg, r14, r13, r12, rbx
    pop     \reg
    .cfi_adjust_cfa_offset -8
    .endr
endfunc \name
.endm

#endif
