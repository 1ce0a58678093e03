// The gemm of the K formats by AVX-512 VNNI, 16 rows by 4 tokens: Q5_K, Q3_K and Q2_K, whose weights
// gemm_k_bits_avx512_vnni.h unpacks; and of Q4_K and Q6_K, for gemm_k_panel_avx512_vnni.h, how scales, minimums and
// sums of x become words on the stack.
//
// rdi y  rsi w  rdx x  rcx shape  r8 rows left  r9 blocks of a row
// r10 bytes from one row of y to the next
// rbx group a  rbp group b  r11 y of the tokens at work  r12 x of the block at work
// r13 frame  r14 tokens left  r15 blocks left  rax scratch
// zmm0-zmm3 y of 16 rows by 4 tokens  zmm4-zmm7 scaled sums of a block  zmm8-zmm15 (Q5_K) or
// zmm8-zmm23 sums of sub-blocks, four tokens each  zmm16-zmm19 sums of minimums (Q5_K)
// zmm20-zmm29 weights and scratch  zmm30, zmm31 masks  k1 rows to store
// Clobbers rax, rcx, rsi, rdi, r8-r11, zmm0-zmm31, k1.
//
// A sub-block's sum is vpdpbusd as in avx512_vnni.h; vpmulld by the sub-block's scale adds it to
// the block's. What is loaded is unpacked for all sub-blocks that have a part in it, whose sums are under way
// together. Scales of both groups lie on the stack as bytes, those of even sub-blocks first, so that one
// vpmovzxbd fetches 16 rows of a sub-block.
#ifndef INGOT_KERNELS_X86_64_GEMM_K_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_K_AVX512_VNNI_H

#include "kernels/x86_64/avx512_vnni.h"

#define block r12
#define frame r13
#define low_nibbles zmm30
#define six_bits zmm31

// The frame, 64-byte aligned, as a store across two cache lines is not forwarded to loads: scales
// (128 or 256 bytes), minimums (128), what a token's sums contribute (256), tokens.
#define SCALES 0
#define MINS 256
#define SUMS 384
#define N_TOKENS 640
#define FRAME 712

// Stack <- bytes of eight sub-blocks by 8 rows of zmm a and zmm b: even ones, then odd ones.
.macro store_pairs at, a, b, other
    vpunpcklqdq zmm\other, zmm\a, zmm\b
    vpunpckhqdq zmm\a, zmm\a, zmm\b
    vmovdqu32 [frame + \at], zmm\other
    vmovdqu32 [frame + \at + 64], zmm\a
.endm

// Chunk `chunk` by each token, onto zmm `first` ... first + 3.
.macro multiply_tokens first, weight, chunk
    .irp    t, 0, 1, 2, 3
    multiply_token %(\first + \t), \weight, (16 * (\chunk) + 4 * \t)
    .endr
.endm

.macro multiply_token sum, weight, at
    vpdpbusd zmm\sum, zmm\weight, dword ptr [block + \at]{1to16}
.endm

// The sums of a sub-block, zmm `first` ... first + 3, times zmm scale onto the block's.
.macro scale_tokens first, scale
    .irp    t, 0, 1, 2, 3
    scale_token %(\first + \t), %(4 + \t), \scale
    .endr
.endm

.macro scale_token sum, total, scale
    vpmulld zmm\sum, zmm\sum, zmm\scale
    vpaddd  zmm\total, zmm\total, zmm\sum
.endm

.macro clear regs:vararg
    .irp    reg, \regs
    vpxord  zmm\reg, zmm\reg, zmm\reg
    .endr
.endm

// ---- Q4_K -----------------------------------------------------------------------------------

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
    vpandd  zmm16, zmm16, six_bits
    vpandd  zmm17, zmm17, six_bits
    store_pairs SCALES, 16, 17, 22
    vpsrlw  ymm22, ymm18, 4
    vpsrlw  ymm23, ymm19, 4
    vinserti64x4 zmm18, zmm18, ymm22, 1
    vinserti64x4 zmm19, zmm19, ymm23, 1
    vpandd  zmm18, zmm18, low_nibbles
    vpandd  zmm19, zmm19, low_nibbles
    vpsllw  zmm18, zmm18, 2
    vpsllw  zmm19, zmm19, 2
    vpord   zmm18, zmm18, zmm20
    vpord   zmm19, zmm19, zmm21
    store_pairs MINS, 18, 19, 22
.endm

// Sums of 32 columns as pairs of int16 to the stack: of sub-blocks 2p and 2p + 1 of token t at
// 16 p + 4 t.
.macro prepare_sums_q4k
    vmovdqu32 zmm8, [block + Q8KX4_SUM]
    vmovdqu32 zmm9, [block + Q8KX4_SUM + 64]
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
    vmovdqu [frame + SUMS], xmm12
    vmovdqu [frame + SUMS + 16], xmm14
    vmovdqu [frame + SUMS + 32], xmm13
    vmovdqu [frame + SUMS + 48], xmm15
.endm

.macro add_mins_q4k p
    vpmovzxbd zmm25, [frame + MINS + 16 * \p]
    vpmovzxbd zmm26, [frame + MINS + 64 + 16 * \p]
    vpslld  zmm26, zmm26, 16
    vpord   zmm25, zmm25, zmm26
    .irp    t, 0, 1, 2, 3
    add_min_q4k %(16 + \t), (16 * \p + 4 * \t)
    .endr
.endm

.macro add_min_q4k sum, at
    vpdpwssd zmm\sum, zmm25, dword ptr [frame + SUMS + \at]{1to16}
.endm

.macro add_block_q4k t, sum, min
    vmulps  zmm27, zmm25, dword ptr [block + Q8KX4_SCALE + 4 * \t]{1to16}
    vmulps  zmm28, zmm26, dword ptr [block + Q8KX4_SCALE + 4 * \t]{1to16}
    vcvtdq2ps zmm\sum, zmm\sum
    vcvtdq2ps zmm\min, zmm\min
    vfmadd231ps zmm\t, zmm\sum, zmm27
    vfnmadd231ps zmm\t, zmm\min, zmm28
.endm

// ---- Q6_K -----------------------------------------------------------------------------------

.macro prepare_weights_q6k
    vmovdqu32 zmm16, [group_a + Q6K_SCALES]
    vmovdqu32 zmm17, [group_b + Q6K_SCALES]
    vmovdqu32 zmm18, [group_a + Q6K_SCALES + 64]
    vmovdqu32 zmm19, [group_b + Q6K_SCALES + 64]
    store_pairs SCALES, 16, 17, 20
    store_pairs (SCALES + 128), 18, 19, 20
.endm

// -32 times the sums of 16 columns: of sub-block j of token t at 16 j + 4 t.
.macro prepare_sums_q6k
    clear   9
    .irp    i, 0, 1, 2, 3
    vpmovsxwd zmm8, [block + Q8KX4_SUM + 32 * \i]
    vpslld  zmm8, zmm8, 5
    vpsubd  zmm8, zmm9, zmm8
    vmovdqu32 [frame + SUMS + 64 * \i], zmm8
    .endr
.endm

.macro begin_q6k sum, at
    vpbroadcastd zmm\sum, dword ptr [frame + SUMS + \at]
.endm

.macro add_block_q6k t, sum
    vmulps  zmm27, zmm25, dword ptr [block + Q8KX4_SCALE + 4 * \t]{1to16}
    vcvtdq2ps zmm\sum, zmm\sum
    vfmadd231ps zmm\t, zmm\sum, zmm27
.endm

// ---- the loops over rows, tokens and blocks -------------------------------------------------

.macro gemm_vnni_k name, body, block_bytes
func \name
    push_saved rbx, rbp, r12, r13, r14, r15
    take_stack FRAME
    mov     rows_left, [shape + SHAPE_ROWS]
    mov     n_blocks, [shape + SHAPE_COLS]
    lea     frame, [rsp + 63]
    and     frame, -64
    mov     rax, [shape + SHAPE_TOKENS]
    mov     [frame + N_TOKENS], rax
    mov     y_stride, [shape + SHAPE_Y_STRIDE]
    shl     y_stride, 2
    shr     n_blocks, 8
    mov     eax, 0x0f0f0f0f
    vpbroadcastd low_nibbles, eax
    mov     eax, 0x3f3f3f3f
    vpbroadcastd six_bits, eax
    test    rows_left, rows_left
    jz      .Ldone\@
.Lrows\@:                           // 16 rows, or the last 1 to 15
    row_mask rows_left
    mov     tokens_left, [frame + N_TOKENS]
    mov     y_row, out
    mov     block, tokens
    test    tokens_left, tokens_left
    jz      .Lnext_rows\@
.Ltokens\@:                         // 4 tokens, or the last 1 to 3
    find_groups \block_bytes
    mov     blocks_left, n_blocks
    clear   0, 1, 2, 3
    test    blocks_left, blocks_left
    jz      .Lstore\@
.Lblock\@:
    \body
    add     block, Q8KX4_BYTES
    dec     blocks_left
    jnz     .Lblock\@
.Lstore\@:
    .irp    t, 0, 1, 2, 3
    .if \t
    cmp     tokens_left, \t
    jbe     .Lstored\@
    .endif
    vmovups [y_row]{k1}, zmm\t
    add     y_row, y_stride
    .endr
.Lstored\@:
    sub     tokens_left, 4
    ja      .Ltokens\@
.Lnext_rows\@:
    imul    rax, n_blocks, 2 * \block_bytes
    add     weights, rax
    add     out, 64
    sub     rows_left, 16
    ja      .Lrows\@
.Ldone\@:
    give_stack FRAME
    pop_saved r15, r14, r13, r12, rbp, rbx
endfunc \name
.endm

#endif
