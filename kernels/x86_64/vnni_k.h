// Q4_K and Q6_K by AVX-512 VNNI: 16 rows by 4 tokens (gemm) or by 1 (gemv), from one body.
//
// rdi y  rsi w  r8 rows left  r9 blocks of a row  r10 bytes from one row of y to the next
// rbx group a  rbp group b  r11 y of the tokens at work  rdx x  r12 x of the block at work
// r13 x of the first token  r14 tokens left  r15 blocks left  rax scratch
// zmm0-zmm3 y of 16 rows by 4 tokens  zmm4-zmm7 scaled sums of a block  zmm8-zmm11 sums of a
// sub-block  zmm12-zmm15 sums of minimums  zmm16-zmm23 weights  zmm24 scales of a sub-block
// zmm25-zmm29 scratch  zmm30, zmm31 masks  k1 rows to store
//
// A sub-block's sum is vpdpbusd as in vnni.h; vpmulld by the sub-block's scale adds it to the
// block's. Scales of both groups lie on the stack as bytes, those of even sub-blocks first, so
// that one vpmovzxbd fetches 16 rows of a sub-block.
#ifndef INGOT_KERNELS_X86_64_VNNI_K_H
#define INGOT_KERNELS_X86_64_VNNI_K_H

#include "kernels/x86_64/vnni.h"

#define out rdi
#define weights rsi
#define tokens rdx
#define n_rows r8
#define n_blocks r9
#define y_stride r10
#define y_row r11
#define block r12
#define x_first r13
#define tokens_left r14
#define blocks_left r15

// The frame: scales (128 or 256 bytes), minimums (128), what a token's sums contribute (256).
#define SCALES 0
#define MINS 256
#define SUMS 384
#define N_TOKENS 640
#define FRAME 648

// struct block_q8k and struct block_q8kx4
#define X1_BYTES 304
#define X1_SUM 256
#define X1_SCALE 288
#define X4_BYTES 1168
#define X4_SUM 1024
#define X4_SCALE 1152

// Stack <- bytes of eight sub-blocks by 8 rows of zmm a and zmm b: even ones, then odd ones.
.macro store_pairs at, a, b, other
    vpunpcklqdq zmm\other, zmm\a, zmm\b
    vpunpckhqdq zmm\a, zmm\a, zmm\b
    vmovdqu32 [rsp + \at], zmm\other
    vmovdqu32 [rsp + \at + 64], zmm\a
.endm

// One chunk by each token. The stride from token to token is 4 bytes, from chunk to chunk 4 for
// one token and 16 for four.
.macro multiply_tokens n, weight, chunk
    .if \n == 1
    vpdpbusd zmm8, zmm\weight, dword ptr [block + 4 * (\chunk)]{1to16}
    .else
    vpdpbusd zmm8, zmm\weight, dword ptr [block + 16 * (\chunk)]{1to16}
    vpdpbusd zmm9, zmm\weight, dword ptr [block + 16 * (\chunk) + 4]{1to16}
    vpdpbusd zmm10, zmm\weight, dword ptr [block + 16 * (\chunk) + 8]{1to16}
    vpdpbusd zmm11, zmm\weight, dword ptr [block + 16 * (\chunk) + 12]{1to16}
    .endif
.endm

.macro scale_token sum, total
    vpmulld zmm\sum, zmm\sum, zmm24
    vpaddd  zmm\total, zmm\total, zmm\sum
.endm

// The sub-blocks' sums times zmm24 onto the block's.
.macro scale_tokens n
    .irp    t, 0, 1, 2, 3
    .if \t < \n
    scale_token %(8 + \t), %(4 + \t)
    .endif
    .endr
.endm

// ---- Q4_K -----------------------------------------------------------------------------------

#define Q4K_BYTES 1152
#define Q4K_SCALES 32
#define Q4K_MINS 96
#define Q4K_QUANTS 128

// 6-bit scales and minimums of both groups to the stack.
.macro prepare_weights_q4k
    vmovdqu32 zmm16, [group_a + Q4K_SCALES]
    vmovdqu32 zmm17, [group_b + Q4K_SCALES]
    vmovdqu32 ymm18, [group_a + Q4K_MINS]
    vmovdqu32 ymm19, [group_b + Q4K_MINS]
    mov     eax, 0x03030303
    vpbroadcastd zmm26, eax
    vpsrlw  zmm20, zmm16, 6
    vpsrlw  zmm21, zmm17, 6
    vpandd  zmm20, zmm20, zmm26     // low bits of the minimums
    vpandd  zmm21, zmm21, zmm26
    vpandd  zmm16, zmm16, zmm31
    vpandd  zmm17, zmm17, zmm31
    store_pairs SCALES, 16, 17, 22
    vpsrlw  ymm22, ymm18, 4
    vpsrlw  ymm23, ymm19, 4
    vinserti64x4 zmm18, zmm18, ymm22, 1
    vinserti64x4 zmm19, zmm19, ymm23, 1
    vpandd  zmm18, zmm18, zmm30
    vpandd  zmm19, zmm19, zmm30
    vpsllw  zmm18, zmm18, 2
    vpsllw  zmm19, zmm19, 2
    vpord   zmm18, zmm18, zmm20
    vpord   zmm19, zmm19, zmm21
    store_pairs MINS, 18, 19, 22
.endm

// Sums of 32 columns as pairs of int16, one pair a dword: of sub-blocks 2p and 2p + 1 of token t
// at 4 p (one token) or 16 p + 4 t.
.macro prepare_sums_q4k n
    .if \n == 1
    vmovdqu xmm8, [block + X1_SUM]
    vphaddw xmm8, xmm8, [block + X1_SUM + 16]
    vmovdqu [rsp + SUMS], xmm8
    .else
    vmovdqu32 zmm8, [block + X4_SUM]
    vmovdqu32 zmm9, [block + X4_SUM + 64]
    vpunpcklqdq zmm10, zmm8, zmm9
    vpunpckhqdq zmm8, zmm8, zmm9
    vpaddw  zmm8, zmm8, zmm10       // of sub-blocks 0 4, 1 5, 2 6, 3 7, four tokens each
    vextracti32x4 xmm9, zmm8, 1
    vextracti32x4 xmm10, zmm8, 2
    vextracti32x4 xmm11, zmm8, 3
    vpunpcklwd xmm12, xmm8, xmm9
    vpunpckhwd xmm13, xmm8, xmm9
    vpunpcklwd xmm14, xmm10, xmm11
    vpunpckhwd xmm15, xmm10, xmm11
    vmovdqu [rsp + SUMS], xmm12
    vmovdqu [rsp + SUMS + 16], xmm14
    vmovdqu [rsp + SUMS + 32], xmm13
    vmovdqu [rsp + SUMS + 48], xmm15
    .endif
.endm

.macro add_mins_q4k n, p
    vpmovzxbd zmm25, [rsp + MINS + 16 * \p]
    vpmovzxbd zmm26, [rsp + MINS + 64 + 16 * \p]
    vpslld  zmm26, zmm26, 16
    vpord   zmm25, zmm25, zmm26
    .if \n == 1
    vpdpwssd zmm12, zmm25, dword ptr [rsp + SUMS + 4 * \p]{1to16}
    .else
    vpdpwssd zmm12, zmm25, dword ptr [rsp + SUMS + 16 * \p]{1to16}
    vpdpwssd zmm13, zmm25, dword ptr [rsp + SUMS + 16 * \p + 4]{1to16}
    vpdpwssd zmm14, zmm25, dword ptr [rsp + SUMS + 16 * \p + 8]{1to16}
    vpdpwssd zmm15, zmm25, dword ptr [rsp + SUMS + 16 * \p + 12]{1to16}
    .endif
.endm

.macro chunk_q4k n, p, high, c, w
    load_pair \w, (Q4K_QUANTS + 256 * \p + 32 * \c)
    .if \high
    vpsrlw  zmm\w, zmm\w, 4
    .endif
    vpandd  zmm\w, zmm\w, zmm30
    multiply_tokens \n, \w, (16 * \p + 8 * \high + \c)
.endm

.macro sub_block_q4k n, p, high
    vpmovzxbd zmm24, [rsp + SCALES + 64 * \high + 16 * \p]
    .irp    t, 8, 9, 10, 11
    .if \t < 8 + \n
    vpxord  zmm\t, zmm\t, zmm\t
    .endif
    .endr
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    chunk_q4k \n, \p, \high, \c, %(16 + \c)
    .endr
    scale_tokens \n
.endm

.macro add_block_q4k t, sum, min, scale
    vmulps  zmm27, zmm25, dword ptr [block + \scale + 4 * \t]{1to16}
    vmulps  zmm28, zmm26, dword ptr [block + \scale + 4 * \t]{1to16}
    vcvtdq2ps zmm\sum, zmm\sum
    vcvtdq2ps zmm\min, zmm\min
    vfmadd231ps zmm\t, zmm\sum, zmm27
    vfnmadd231ps zmm\t, zmm\min, zmm28
.endm

.macro block_q4k n, scale
    prepare_weights_q4k
    prepare_sums_q4k \n
    .irp    t, 4, 5, 6, 7, 12, 13, 14, 15
    .if \t % 4 < \n
    vpxord  zmm\t, zmm\t, zmm\t
    .endif
    .endr
    .irp    p, 0, 1, 2, 3
    sub_block_q4k \n, \p, 0
    sub_block_q4k \n, \p, 1
    add_mins_q4k \n, \p
    .endr
    vcvtph2ps ymm25, [group_a]
    vcvtph2ps ymm26, [group_a + 16]
    vcvtph2ps ymm27, [group_b]
    vcvtph2ps ymm28, [group_b + 16]
    vinsertf64x4 zmm25, zmm25, ymm27, 1
    vinsertf64x4 zmm26, zmm26, ymm28, 1
    .irp    t, 0, 1, 2, 3
    .if \t < \n
    add_block_q4k \t, %(4 + \t), %(12 + \t), \scale
    .endif
    .endr
    add     group_a, Q4K_BYTES
    add     group_b, Q4K_BYTES
.endm

.macro constants_q4k
    mov     eax, 0x0f0f0f0f
    vpbroadcastd zmm30, eax
    mov     eax, 0x3f3f3f3f
    vpbroadcastd zmm31, eax
.endm

// ---- Q6_K -----------------------------------------------------------------------------------

#define Q6K_BYTES 1680
#define Q6K_SCALES 16
#define Q6K_LOW 144
#define Q6K_HIGH 1168

.macro prepare_weights_q6k
    vmovdqu32 zmm16, [group_a + Q6K_SCALES]
    vmovdqu32 zmm17, [group_b + Q6K_SCALES]
    vmovdqu32 zmm18, [group_a + Q6K_SCALES + 64]
    vmovdqu32 zmm19, [group_b + Q6K_SCALES + 64]
    store_pairs SCALES, 16, 17, 20
    store_pairs (SCALES + 128), 18, 19, 20
.endm

// -32 times the sums of 16 columns: of sub-block j of token t at 4 j or 16 j + 4 t.
.macro prepare_sums_q6k n
    vpxord  zmm9, zmm9, zmm9
    .if \n == 1
    vpmovsxwd zmm8, [block + X1_SUM]
    vpslld  zmm8, zmm8, 5
    vpsubd  zmm8, zmm9, zmm8
    vmovdqu32 [rsp + SUMS], zmm8
    .else
    .irp    i, 0, 1, 2, 3
    vpmovsxwd zmm8, [block + X4_SUM + 32 * \i]
    vpslld  zmm8, zmm8, 5
    vpsubd  zmm8, zmm9, zmm8
    vmovdqu32 [rsp + SUMS + 64 * \i], zmm8
    .endr
    .endif
.endm

// Chunk c (0 to 7) of 32 columns number 4 half + s: six bits, unsigned, to a register.
.macro chunk_q6k n, half, s, c, w
    load_pair \w, (Q6K_LOW + 512 * \half + 256 * (\s / 2) + 32 * \c)
    load_pair 25, (Q6K_HIGH + 256 * \half + 32 * \c)
    .if \s % 2
    vpsrlw  zmm\w, zmm\w, 4
    .endif
    .if \s < 2
    vpsllw  zmm25, zmm25, 4 - 2 * \s
    .elseif \s == 3
    vpsrlw  zmm25, zmm25, 2
    .endif
    vpandd  zmm\w, zmm\w, zmm30
    vpandd  zmm25, zmm25, zmm31
    vpord   zmm\w, zmm\w, zmm25
    multiply_tokens \n, \w, (32 * \half + 8 * \s + \c)
.endm

.macro begin_q6k n, j
    .if \n == 1
    vpbroadcastd zmm8, dword ptr [rsp + SUMS + 4 * \j]
    .else
    vpbroadcastd zmm8, dword ptr [rsp + SUMS + 16 * \j]
    vpbroadcastd zmm9, dword ptr [rsp + SUMS + 16 * \j + 4]
    vpbroadcastd zmm10, dword ptr [rsp + SUMS + 16 * \j + 8]
    vpbroadcastd zmm11, dword ptr [rsp + SUMS + 16 * \j + 12]
    .endif
.endm

// Sub-blocks 2i and 2i + 1, i = 4 half + s; within a half of eight, even ones come first.
.macro sub_blocks_q6k n, half, s
    vpmovsxbd zmm24, [rsp + SCALES + 128 * \half + 16 * \s]
    begin_q6k \n, (8 * \half + 2 * \s)
    .irp    c, 0, 1, 2, 3
    chunk_q6k \n, \half, \s, \c, %(16 + \c)
    .endr
    scale_tokens \n
    vpmovsxbd zmm24, [rsp + SCALES + 128 * \half + 64 + 16 * \s]
    begin_q6k \n, (8 * \half + 2 * \s + 1)
    .irp    c, 4, 5, 6, 7
    chunk_q6k \n, \half, \s, \c, %(16 + \c)
    .endr
    scale_tokens \n
.endm

.macro add_block_q6k t, sum, scale
    vmulps  zmm27, zmm25, dword ptr [block + \scale + 4 * \t]{1to16}
    vcvtdq2ps zmm\sum, zmm\sum
    vfmadd231ps zmm\t, zmm\sum, zmm27
.endm

.macro block_q6k n, scale
    prepare_weights_q6k
    prepare_sums_q6k \n
    .irp    t, 4, 5, 6, 7
    .if \t < 4 + \n
    vpxord  zmm\t, zmm\t, zmm\t
    .endif
    .endr
    .irp    s, 0, 1, 2, 3
    sub_blocks_q6k \n, 0, \s
    .endr
    .irp    s, 0, 1, 2, 3
    sub_blocks_q6k \n, 1, \s
    .endr
    load_scales 25, 26
    .irp    t, 0, 1, 2, 3
    .if \t < \n
    add_block_q6k \t, %(4 + \t), \scale
    .endif
    .endr
    add     group_a, Q6K_BYTES
    add     group_b, Q6K_BYTES
.endm

.macro constants_q6k
    mov     eax, 0x0f0f0f0f
    vpbroadcastd zmm30, eax
    mov     eax, 0x30303030
    vpbroadcastd zmm31, eax
.endm

// ---- the loops over rows, tokens and blocks -------------------------------------------------

.macro enter_k
    .irp    reg, rbx, rbp, r12, r13, r14, r15
    push    \reg
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \reg, 0
    .endr
    sub     rsp, FRAME
    .cfi_adjust_cfa_offset FRAME
.endm

.macro leave_k
    add     rsp, FRAME
    .cfi_adjust_cfa_offset -FRAME
    .irp    reg, r15, r14, r13, r12, rbp, rbx
    pop     \reg
    .cfi_adjust_cfa_offset -8
    .endr
.endm

// n: tokens at a time. `store` leaves by label 8.
.macro loops_k n, constants, body, block_bytes, x_bytes, scale
    \constants
    test    n_rows, n_rows
    jz      9f
1:                                  // 16 rows, or the last 1 to 15
    row_mask n_rows
    mov     tokens_left, [rsp + N_TOKENS]
    mov     y_row, out
    mov     x_first, tokens
    test    tokens_left, tokens_left
    jz      7f
2:
    imul    rax, n_blocks, \block_bytes
    mov     group_a, weights
    lea     group_b, [weights + rax]
    cmp     n_rows, 8
    cmovbe  group_b, group_a        // no second group: what its lanes give is not stored
    mov     block, x_first
    mov     blocks_left, n_blocks
    .irp    t, 0, 1, 2, 3
    vpxord  zmm\t, zmm\t, zmm\t
    .endr
    test    blocks_left, blocks_left
    jz      4f
3:
    \body   \n, \scale
    add     block, \x_bytes
    dec     blocks_left
    jnz     3b
4:
    .irp    t, 0, 1, 2, 3
    .if \t < \n
    .if \t
    cmp     tokens_left, \t
    jbe     8f
    .endif
    vmovups [y_row]{k1}, zmm\t
    add     y_row, y_stride
    .endif
    .endr
8:
    mov     x_first, block
    sub     tokens_left, \n
    ja      2b
7:
    imul    rax, n_blocks, 2 * \block_bytes
    add     weights, rax
    add     out, 64
    sub     n_rows, 16
    ja      1b
9:
.endm

.macro gemm_k name, constants, body, block_bytes
func \name
    enter_k
    mov     rax, [rcx + 16]
    mov     [rsp + N_TOKENS], rax
    mov     n_rows, [rcx]
    mov     n_blocks, [rcx + 8]
    mov     y_stride, [rcx + 24]
    shl     y_stride, 2
    shr     n_blocks, 8
    loops_k 4, \constants, \body, \block_bytes, X4_BYTES, X4_SCALE
    leave_k
endfunc \name
.endm

// `ahead` is not used, see gemv_vnni.h.
.macro gemv_k name, constants, body, block_bytes
func \name
    enter_k
    mov     qword ptr [rsp + N_TOKENS], 1
    mov     n_blocks, r8
    mov     n_rows, rcx
    shr     n_blocks, 8
    loops_k 1, \constants, \body, \block_bytes, X1_BYTES, X1_SCALE
    leave_k
endfunc \name
.endm

#endif
