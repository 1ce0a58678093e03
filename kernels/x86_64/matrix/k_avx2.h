// The K formats with AVX2 or, if AVX_VNNI is defined as in tiles_avx2.h, with AVX-VNNI: 8 rows by 4 tokens
// (gemm) or by 1 (gemv), with the same code.
//
// tiles_avx2.h has registers and loops; r15 points to the sums.
// ymm4-ymm7 scaled sums of a block; ymm8-ymm11 sums of a sub-block (in int16 with AVX2), then sums
// of minima;
// ymm12 weights; ymm13 scales of a sub-block; ymm14 scratch; ymm15 mask of low nibbles, then scratch.
// Clobbers rax, rcx, rsi, rdi, r8-r11, ymm0-ymm15; stack: FRAME.
//
// Weights stay unsigned for vpmaddubsw and vpdpbusd. With AVX2, an int16 adds as many chunks of a
// sub-block as fit. vpmaddwd then scales two int16 and adds them to 32 bits; both halves of a lane have
// the sub-block's scale. One vpmaddwd multiplies the minima of two sub-blocks, or the bias of unsigned
// weights (32), by sums of x. With one token, memory is the limit.
#ifndef INGOT_KERNELS_X86_64_K_AVX2_H
#define INGOT_KERNELS_X86_64_K_AVX2_H

#include "kernels/x86_64/matrix/tiles_avx2.h"

#define sums r15
#define low_nibbles ymm15

// The frame: sums of pairs of sub-blocks, a dword each; then, in k_pairs_avx2_vnni.h, y of four
// tokens. The frame is 32-byte aligned: a store across two cache lines is not forwarded to loads.
#define Y_SAVED 128
#ifdef AVX_VNNI
#define FRAME (Y_SAVED + 128 + 31)
#else
#define FRAME (Y_SAVED + 32)
#endif

// Patterns of vpshufb: index 128 yields a zero byte. A lane of 128 bits is 4 rows.
    .section .rodata.kernels_avx2_k, "aG", @progbits, kernels_avx2_k, comdat
    .p2align 5
    .weak   kernels_avx2_k
    .hidden kernels_avx2_k
    .type   kernels_avx2_k, @object
kernels_avx2_k:                     // copies a byte of each row to both int16 of its lane
    .byte   0, 128, 0, 128, 1, 128, 1, 128, 2, 128, 2, 128, 3, 128, 3, 128
    .byte   4, 128, 4, 128, 5, 128, 5, 128, 6, 128, 6, 128, 7, 128, 7, 128
    // copies a byte of each row to the high bytes, so that vpsraw extends the sign
    .byte   128, 0, 128, 0, 128, 1, 128, 1, 128, 2, 128, 2, 128, 3, 128, 3
    .byte   128, 4, 128, 4, 128, 5, 128, 5, 128, 6, 128, 6, 128, 7, 128, 7
    // bytes r and r + 8 to the two int16 of row r
    .byte   0, 128, 8, 128, 1, 128, 9, 128, 2, 128, 10, 128, 3, 128, 11, 128
    .byte   4, 128, 12, 128, 5, 128, 13, 128, 6, 128, 14, 128, 7, 128, 15, 128
    .byte   128, 0, 128, 8, 128, 1, 128, 9, 128, 2, 128, 10, 128, 3, 128, 11
    .byte   128, 4, 128, 12, 128, 5, 128, 13, 128, 6, 128, 14, 128, 7, 128, 15
    // int16 t and t + 4 side by side
    .byte   0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15
    .byte   0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15
    .fill   32, 1, 63
    .fill   32, 1, 3
    .fill   32, 1, 0x30
    .fill   8, 4, 0xffff
    .size   kernels_avx2_k, . - kernels_avx2_k

#define SPREAD [rip + kernels_avx2_k]
#define SPREAD_SIGNED [rip + kernels_avx2_k + 32]
#define SPREAD_PAIR [rip + kernels_avx2_k + 64]
#define SPREAD_PAIR_SIGNED [rip + kernels_avx2_k + 96]
#define PAIR_SUMS [rip + kernels_avx2_k + 128]
#define SIX_BITS [rip + kernels_avx2_k + 160]
#define TWO_BITS [rip + kernels_avx2_k + 192]
#define BITS_4_5 [rip + kernels_avx2_k + 224]
#define LOW_HALVES [rip + kernels_avx2_k + 256]

// ---- products: by vpdpbusd, sums have 32 bits ------------------------------------------------

#ifdef AVX_VNNI

// ymm reg = the scales of 8 rows, bytes at `at` of the group, as scale_token needs them.
.macro load_scales reg, at, mask:vararg
    vpmovzxbd ymm\reg, qword ptr [group + \at]
    vpand   ymm\reg, ymm\reg, \mask
.endm

.macro load_signed_scales reg, at
    vpmovsxbd ymm\reg, qword ptr [group + \at]
.endm

// Like load_signed_scales, but the upper int16 of a lane is zero, as scale_short_token needs.
.macro load_short_scales reg, at
    load_signed_scales \reg, \at
    vpand   ymm\reg, ymm\reg, LOW_HALVES
.endm

// Add \sum of a sub-block, times its scale, to the block's sum \total. Destroys \sum.
.macro scale_token sum, total, scale, begin
    .if \begin
    vpmulld ymm\total, ymm\sum, ymm\scale
    .else
    vpmulld ymm\sum, ymm\sum, ymm\scale
    vpaddd  ymm\total, ymm\total, ymm\sum
    .endif
.endm

// Like scale_token, for a sum that fits the lower int16 of its lane. vpmulld and an addition
// would take two or three times the work, and would add their latencies to the chain.
.macro scale_short_token sum, total, scale, begin
    .if \begin
    vpmaddwd ymm\total, ymm\sum, ymm\scale
    .else
    {vex} vpdpwssd ymm\total, ymm\sum, ymm\scale
    .endif
.endm

// Multiply pairs of int16 at `at` by those of ymm13.
.macro multiply_pairs sum, begin, at:vararg
    vpbroadcastd ymm14, dword ptr [\at]
    .if \begin
    vpmaddwd ymm\sum, ymm13, ymm14
    .else
    {vex} vpdpwssd ymm\sum, ymm13, ymm14
    .endif
.endm

#else


// ymm reg = the scales of 8 rows, bytes at `at` of the group, as scale_token needs them.
.macro load_scales reg, at, mask:vararg
    vpbroadcastq ymm\reg, [group + \at]
    vpand   ymm\reg, ymm\reg, \mask
    vpshufb ymm\reg, ymm\reg, SPREAD
.endm

.macro load_signed_scales reg, at
    vpbroadcastq ymm\reg, [group + \at]
    vpshufb ymm\reg, ymm\reg, SPREAD_SIGNED
    vpsraw  ymm\reg, ymm\reg, 8
.endm

// Add \sum of a sub-block, times its scale, to the block's sum \total. Destroys \sum.
.macro scale_token sum, total, scale, begin
    .if \begin
    vpmaddwd ymm\total, ymm\sum, ymm\scale
    .else
    vpmaddwd ymm\sum, ymm\sum, ymm\scale
    vpaddd  ymm\total, ymm\total, ymm\sum
    .endif
.endm

#define load_short_scales load_signed_scales
#define scale_short_token scale_token

// Multiply pairs of int16 at `at` by those of ymm13.
.macro multiply_pairs sum, begin, at:vararg
    vpbroadcastd ymm14, dword ptr [\at]
    .if \begin
    vpmaddwd ymm\sum, ymm13, ymm14
    .else
    vpmaddwd ymm14, ymm13, ymm14
    vpaddd  ymm\sum, ymm\sum, ymm14
    .endif
.endm

#endif

// Multiply chunk `chunk` of the block by each token. Tokens are 4 bytes apart; chunks are 4 bytes
// apart with one token, and 16 with four.
.macro multiply_tokens n, chunk, begin
    .irp    t, 0, 1, 2, 3
    .if \t < \n
    multiply_token %(8 + \t), 12, (4 * (\chunk) * \n + 4 * \t), \begin
    .endif
    .endr
.endm

// Add the tokens' sums of a sub-block times ymm13 to their sums of the block.
.macro scale_tokens n, begin, scale=scale_token
    .irp    t, 0, 1, 2, 3
    .if \t < \n
    \scale %(8 + \t), %(4 + \t), 13, \begin
    .endif
    .endr
.endm

// Add sums number 2p and 2p + 1 of each token, times ymm13, to ymm8-ymm11.
.macro multiply_sums n, p, from, begin
    .irp    t, 0, 1, 2, 3
    .if \t < \n
    multiply_pairs %(8 + \t), \begin, \from + (4 * (\p) * \n + 4 * \t)
    .endif
    .endr
.endm

// ---- the K45 types --------------------------------------------------------------------------

// Store sums over 32 columns to the stack, as pairs of int16: those of
// sub-blocks 2p and 2p + 1 of token t at 4 p (one token) or 16 p + 4 t.
.macro prepare_sums_k45 n
    .if \n == 1
    vmovdqu xmm8, [block + Q8K_SUM]
    vphaddw xmm8, xmm8, [block + Q8K_SUM + 16]
    vmovdqu [sums], xmm8
    .else
    .irp    i, 0, 1
    vmovdqu ymm8, [block + Q8KX4_SUM + 64 * \i]
    vmovdqu ymm9, [block + Q8KX4_SUM + 64 * \i + 32]
    vpunpcklqdq ymm10, ymm8, ymm9
    vpunpckhqdq ymm8, ymm8, ymm9
    vpaddw  ymm8, ymm8, ymm10       // of sub-blocks 4i, 4i + 2, 4i + 1, 4i + 3
    vextracti128 xmm9, ymm8, 1
    vpunpcklwd xmm10, xmm8, xmm9
    vpunpckhwd xmm8, xmm8, xmm9
    vmovdqu [sums + 32 * \i], xmm10
    vmovdqu [sums + 32 * \i + 16], xmm8
    .endr
    .endif
.endm

.macro mins_k45 n, p
    vbroadcasti128 ymm13, [group + K45_SCALES + 16 * \p]
    vbroadcasti128 ymm12, [group + K45_MINS + 16 * (\p % 2)]
    vpsrlw  ymm13, ymm13, 6
    .if \p >= 2
    vpsrlw  ymm12, ymm12, 4
    .endif
    vpand   ymm13, ymm13, TWO_BITS
    vpand   ymm12, ymm12, low_nibbles
    vpsllw  ymm12, ymm12, 2
    vpor    ymm13, ymm13, ymm12
    vpshufb ymm13, ymm13, SPREAD_PAIR
    multiply_sums \n, \p, <sums>, (\p == 0)
.endm

.macro add_block_mins t, sum, min, scale
    vbroadcastss ymm14, dword ptr [block + \scale + 4 * \t]
    vcvtdq2ps ymm\sum, ymm\sum
    vcvtdq2ps ymm\min, ymm\min
    vmulps  ymm15, ymm12, ymm14
    vmulps  ymm14, ymm13, ymm14
    vfmadd231ps ymm\t, ymm\sum, ymm15
    vfnmadd231ps ymm\t, ymm\min, ymm14
.endm

.macro finish_mins n, scale
    vcvtph2ps ymm12, [group]
    vcvtph2ps ymm13, [group + K_DMIN]
    .irp    t, 0, 1, 2, 3
    .if \t < \n
    add_block_mins \t, %(4 + \t), %(8 + \t), \scale
    .endif
    .endr
.endm

.macro finish_k45 n, scale
    .irp    p, 0, 1, 2, 3
    mins_k45 \n, \p
    .endr
    finish_mins \n, \scale
.endm

// ---- the K36 types --------------------------------------------------------------------------

// Store sums over 16 columns as pairs, as above; those of a single token already are in pairs.
.macro prepare_sums_of_16 n
    .if \n == 4
    vmovdqu ymm12, PAIR_SUMS
    .irp    i, 0, 1, 2, 3
    vmovdqu ymm8, [block + Q8KX4_SUM + 32 * \i]
    vpshufb ymm8, ymm8, ymm12
    vmovdqu [sums + 32 * \i], ymm8
    .endr
    .endif
.endm

.macro biases_k36 n, p
    vbroadcasti128 ymm13, [group + K36_SCALES + 16 * \p]
    vpshufb ymm13, ymm13, SPREAD_PAIR_SIGNED
    vpsraw  ymm13, ymm13, 8
    .if \n == 1
    multiply_sums \n, \p, <block + Q8K_SUM>, (\p == 0)
    .else
    multiply_sums \n, \p, <sums>, (\p == 0)
    .endif
.endm

.macro add_block_biases t, sum, bias, scale, shift
    vpslld  ymm\bias, ymm\bias, \shift
    vpsubd  ymm\sum, ymm\sum, ymm\bias
    vbroadcastss ymm14, dword ptr [block + \scale + 4 * \t]
    vcvtdq2ps ymm\sum, ymm\sum
    vmulps  ymm14, ymm12, ymm14
    vfmadd231ps ymm\t, ymm\sum, ymm14
.endm

// Adding 2^shift makes a weight unsigned.
.macro finish_biases n, scale, shift
    .irp    p, 0, 1, 2, 3, 4, 5, 6, 7
    biases_k36 \n, \p
    .endr
    vcvtph2ps ymm12, [group]
    .irp    t, 0, 1, 2, 3
    .if \t < \n
    add_block_biases \t, %(4 + \t), %(8 + \t), \scale, \shift
    .endif
    .endr
.endm

// ---- the kernels ----------------------------------------------------------------------------

.macro gemm_k name, body, block_bytes
    gemm_tiles \name, <\body 4, Q8KX4_SCALE>, 8, \block_bytes, Q8KX4_BYTES, FRAME
.endm

#define ahead y_stride // y_stride is unused in a gemv, which has one row of y

// Compute one token, and prefetch a later block of weights like gemv_rows.h.
.macro block_of_one body, block_bytes
    test    ahead, ahead
    jz      .Lnone\@
    fetch_lines group + ahead, \block_bytes
.Lnone\@:
    \body 1, Q8K_SCALE
.endm

// A gemv is a gemm of one token.
.macro gemv_k name, body, block_bytes
func \name
    enter_tiles FRAME
    mov     n_tokens, 1
    mov     ahead, r9               // r9 will hold the number of blocks
    mov     n_blocks, r8            // columns; r8 will be the rows
    mov     rows_left, rcx
    shr     n_blocks, 8
    multiply_tiles 1, <block_of_one \body, \block_bytes>, \block_bytes, Q8K_BYTES
    leave_tiles FRAME
endfunc \name
.endm

#endif
