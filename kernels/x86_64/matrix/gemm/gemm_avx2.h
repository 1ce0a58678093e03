// The gemm of Q4_0 and Q8_0 with AVX2.
//
// Registers and loops: tiles_avx2.h.
// ymm4-ymm7 sums of four tokens, in int16 (Q4_0) or int32; ymm8 ones (Q8_0); ymm12, ymm13 weights;
// ymm14 scratch.
// Clobbers rax, rcx, rsi, rdi, r8-r11, ymm0-ymm8, ymm12-ymm15.
//
// Q8_0: vpsignb moves the sign of a weight to x, and vpmaddubsw multiplies the weight's magnitude by this x.
// The sum of a pair is at most 2 * 128 * 127, which fits int16, if x is not -128. vpmaddwd by ones widens
// the sums to 32 bits. x is searched for -128 once per call; if one is found, other loops multiply int16.
//
// The weights of a block are unpacked once for 4 tokens. A block and 4 tokens take 32 vpmaddubsw and 32
// broadcasts. Q4_0 also takes 32 additions and about 60 other operations: 35 cycles. Q8_0 also takes
// 32 vpsignb, 32 vpmaddwd, 28 additions and about 30 other operations.
#ifndef INGOT_KERNELS_X86_64_GEMM_AVX2_H
#define INGOT_KERNELS_X86_64_GEMM_AVX2_H

#include "kernels/x86_64/matrix/tiles_avx2.h"

    .section .rodata.kernels_gemm_avx2, "aG", @progbits, kernels_gemm_avx2, comdat
    .p2align 5
    .weak   kernels_gemm_avx2
    .hidden kernels_gemm_avx2
    .type   kernels_gemm_avx2, @object
kernels_gemm_avx2:
    .fill   32, 1, 0x0f
    .fill   16, 2, 1
    .fill   32, 1, 0x80
    .size   kernels_gemm_avx2, . - kernels_gemm_avx2

#define NIBBLE [rip + kernels_gemm_avx2]
#define ONES [rip + kernels_gemm_avx2 + 32]
#define LEAST [rip + kernels_gemm_avx2 + 64]
#define ones ymm8

.macro multiply_four weight, chunk, begin
    .irp    t, 0, 1, 2, 3
    multiply_token %(4 + \t), \weight, (16 * \chunk + 4 * \t), \begin
    .endr
.endm

// Q4_0: the low nibbles of 32 bytes are chunk c, the high nibbles chunk c + 4.
.macro block_q4
    .irp    c, 0, 1, 2, 3
    vmovdqu ymm12, [group + QUANTS + 32 * \c]
    vpsrlw  ymm13, ymm12, 4
    vpand   ymm12, ymm12, NIBBLE
    vpand   ymm13, ymm13, NIBBLE
    multiply_four 12, \c, (\c == 0)
    multiply_four 13, (\c + 4), 0
    .endr
    vcvtph2ps ymm12, [group]
    .irp    t, 0, 1, 2, 3
    add_block_q4 \t, %(4 + \t), (4 * \t)
    .endr
.endm

.macro add_scaled y, sum, scale:vararg
    vbroadcastss ymm13, dword ptr [\scale]
    vmulps  ymm13, ymm12, ymm13
    vcvtdq2ps ymm\sum, ymm\sum
    vfmadd231ps ymm\y, ymm\sum, ymm13
.endm

// Add one token's block to its y. ymm12 has the scales of the rows.
.macro add_block_q4 y, sum, at
    vpmaddwd ymm\sum, ymm\sum, ONES
    vpbroadcastd ymm14, dword ptr [block + Q8X4_SUM + \at]
    vpslld  ymm14, ymm14, 3         // adding 8 makes a weight unsigned
    vpsubd  ymm\sum, ymm\sum, ymm14
    add_scaled \y, \sum, block + Q8X4_SCALE + \at
.endm

// Add the products of one token with 8 rows by 4 columns. ymm13 has the weights, ymm12 their magnitudes.
.macro multiply_signed sum, at, begin
    vpbroadcastd ymm14, dword ptr [block + \at]
    vpsignb ymm14, ymm14, ymm13
    vpmaddubsw ymm14, ymm12, ymm14
    .if \begin
    vpmaddwd ymm\sum, ymm14, ones
    .else
    vpmaddwd ymm14, ymm14, ones
    vpaddd  ymm\sum, ymm\sum, ymm14
    .endif
.endm

.macro multiply_signed_four at, begin
    vpabsb  ymm12, ymm13
    .irp    t, 0, 1, 2, 3
    multiply_signed %(4 + \t), (\at + 4 * \t), \begin
    .endr
.endm

// Widen the bytes of ymm odd to int16: the even bytes to ymm even, the odd bytes in place.
.macro widen even, odd
    vpsllw  ymm\even, ymm\odd, 8
    vpsraw  ymm\even, ymm\even, 8
    vpsraw  ymm\odd, ymm\odd, 8
.endm

// Like multiply_signed, but x may be -128; ymm12 and ymm13 have weights of even and odd columns.
.macro multiply_exact sum, at, begin
    vpbroadcastd ymm14, dword ptr [block + \at]
    widen   15, 14
    vpmaddwd ymm14, ymm13, ymm14
    .if \begin
    vpmaddwd ymm\sum, ymm12, ymm15
    .else
    vpmaddwd ymm15, ymm12, ymm15
    vpaddd  ymm\sum, ymm\sum, ymm15
    .endif
    vpaddd  ymm\sum, ymm\sum, ymm14
.endm

.macro multiply_exact_four at, begin
    widen   12, 13
    .irp    t, 0, 1, 2, 3
    multiply_exact %(4 + \t), (\at + 4 * \t), \begin
    .endr
.endm

.macro finish_signed
    vcvtph2ps ymm12, [group]
    .irp    t, 0, 1, 2, 3
    add_scaled \t, %(4 + \t), block + Q8X4_SCALE + 4 * \t
    .endr
.endm

.macro block_q8 multiply
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    vmovdqu ymm13, [group + QUANTS + 32 * \c]
    \multiply (16 * \c), (\c == 0)
    .endr
    finish_signed
.endm

// ymm4 = for each of 32 byte positions, the smallest byte of x at this position, or 0 if none is
// negative. x has rax groups of four tokens; a group has blocks_left blocks.
.macro find_least q_bytes, x_bytes
    vpxor   xmm4, xmm4, xmm4
    mov     block, tokens
    imul    rax, blocks_left
    test    rax, rax
    jz      .Lfound\@
.Lblock\@:
    mov     blocks_left, \q_bytes
.Lbytes\@:
    vpminsb ymm4, ymm4, [block + blocks_left - 32]
    sub     blocks_left, 32
    jnz     .Lbytes\@
    add     block, \x_bytes
    dec     rax
    jnz     .Lblock\@
.Lfound\@:
.endm

// `columns` is log2 of the columns of a block of w; a block of x has x_columns = 2^x_shift columns.
// `body multiply` computes a block of w, and x then advances by tile_bytes; if these are 0, the body
// itself advances x.
.macro gemm_signed name, body, columns, block_bytes, tile_bytes, x_shift, x_columns, x_bytes, frame_bytes, begin
func \name
    enter_tiles \frame_bytes
    \begin
    vmovdqu ones, ONES
    mov     rows_left, [shape + SHAPE_ROWS]
    mov     n_blocks, [shape + SHAPE_COLS]
    mov     n_tokens, [shape + SHAPE_TOKENS]
    mov     y_stride, [shape + SHAPE_Y_STRIDE]
    shl     y_stride, 2
    lea     blocks_left, [n_blocks + \x_columns - 1]
    shr     blocks_left, \x_shift
    lea     rax, [n_tokens + 3]
    shr     rax, 2
    shr     n_blocks, \columns
    find_least (4 * \x_columns), \x_bytes
    vpcmpeqb ymm4, ymm4, LEAST
    vptest  ymm4, ymm4
    jnz     .Lexact\@
    multiply_tiles 4, <\body multiply_signed_four>, \block_bytes, \tile_bytes
    jmp     .Ldone\@
.Lexact\@:
    multiply_tiles 4, <\body multiply_exact_four>, \block_bytes, \tile_bytes
.Ldone\@:
    leave_tiles \frame_bytes
endfunc \name
.endm

#endif
