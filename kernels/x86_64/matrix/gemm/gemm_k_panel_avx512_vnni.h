// The gemm of the K formats with AVX-512 VNNI: a block of 32 rows, unpacked once for
// all tokens, times 4 tokens at a time. The headers that unpack weights include this one.
//
// rdi y; rsi w; rdx x; rcx shape, then scratch;
// r8 rows left; r9 bytes of a group of 8 rows; r10 bytes from one row of y to the next;
// rbx, rbp two groups, then the weights prefetched during the last tokens;
// r11 y of the current tokens; r12 their x; r13 frame; r14 tokens left; r15 blocks left; rax scratch;
// zmm0-zmm7 a block's scaled sums of 16 rows by 4 tokens, and of the other 16; zmm8-zmm15 sums of a sub-block, or
// of minima, zmm16-zmm23 of the next; zmm24, zmm25 weights of a chunk; zmm26 x of a token; zmm27-zmm29 scratch;
// zmm30, zmm31 masks; k1, k2 rows to store.
// Clobbers rax, rcx, rsi, rdi, r8-r11, zmm0-zmm31, k1, k2.
//
// vpdpbusd sums a sub-block as in avx512_vnni.h; four bytes of x are broadcast once for two vpdpbusd. If the
// sum fits an int16 (at most 6,096 with two bits per weight, 8,128 with three), one vpdpwssd scales and adds it,
// because the upper half of the scale's lane is zero. If four scaled sums stay below 2^24 (with four bits, they are
// at most 4 x 63 x 60,960), floats hold them exactly. Then a conversion and an fma replace the three operations of
// vpmulld and vpaddd. The two halves of a block are added at the end, which rounds as one conversion would.
//
// A block and 4 tokens by 16 rows take 256 vpdpbusd. To scale the sums takes 64 operations with up to four bits per
// weight, 96 with five, 192 with six. Minima take 16 vpdpwssd, or 32 with two bits per weight.
#ifndef INGOT_KERNELS_X86_64_GEMM_K_PANEL_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_K_PANEL_AVX512_VNNI_H

#include "kernels/blocks.h"

#define group_stride r9
#define block r12
#define frame r13
#define low_nibbles zmm30
#define six_bits zmm31

// The frame, 64-byte aligned. It begins with the bytes of scales and minima while a block is unpacked; while tokens are
// multiplied, the same space holds the start values of their sums and half a block's totals. Next, each half of 16 rows has
// d and dmin, scales as floats or int32, minima of two sub-blocks as pairs of bytes, and 64 chunks of bytes. At the end
// are the 64-bit words SHAPE to PANEL_W.
#define SCALES 0
#define MINS 256
#define SUMS 0
#define TOTALS 256
#define D (TOTALS + 512)
#define DMIN (D + 128)
#define FACTORS (DMIN + 128)
#define MIN_PAIRS (FACTORS + 2048)
#define WEIGHTS (MIN_PAIRS + 512)
#define WORDS (WEIGHTS + 8192)
#define SHAPE WORDS
#define N_BLOCKS (WORDS + 8) // of a row
#define PANEL_X (WORDS + 16)
#define PANEL_W (WORDS + 24)
#define FRAME (WORDS + 32 + 56)

#include "kernels/x86_64/matrix/gemm/avx512_vnni.h"

// ---- what all types share to unpack the 16 rows
// at group_a and group_b: half 0 or 1 of the panel --

.macro store_frame reg, at
    vmovdqa32 [frame + \at], zmm\reg
.endm

.macro store_chunk reg, half, chunk
    store_frame \reg, (WEIGHTS + 4096 * \half + 64 * (\chunk))
.endm

// Store to the stack the bytes of eight sub-blocks by 8
// rows, in zmm a and zmm b: even sub-blocks, then odd ones.
.macro store_pairs at, a, b, other
    vpunpcklqdq zmm\other, zmm\a, zmm\b
    vpunpckhqdq zmm\a, zmm\a, zmm\b
    vmovdqu32 [frame + \at], zmm\other
    vmovdqu32 [frame + \at + 64], zmm\a
.endm

// Widen scale j, a byte that store_pairs wrote to SCALES + `from`, to int32, and store it to FACTORS.
// extend: vpmovzxbd or vpmovsxbd.
.macro unpack_factor extend, from, half, j
    \extend zmm16, [frame + SCALES + \from]
    store_frame 16, (FACTORS + 1024 * \half + 64 * (\j))
.endm

// Like unpack_factor, but the upper half of the int32 is zero, as scale_narrow needs.
.macro unpack_narrow_factor extend, from, half, j
    \extend zmm16, [frame + SCALES + \from]
    vpslld  zmm16, zmm16, 16
    vpsrld  zmm16, zmm16, 16
    store_frame 16, (FACTORS + 1024 * \half + 64 * (\j))
.endm

.macro unpack_float_factor extend, from, half, j
    \extend zmm16, [frame + SCALES + \from]
    vcvtdq2ps zmm16, zmm16
    store_frame 16, (FACTORS + 1024 * \half + 64 * (\j))
.endm

// Store minima 2p and 2p + 1 of 16 rows as pairs of bytes. They are at MINS + `from` and 64 bytes after.
.macro unpack_mins from, half, p
    vmovdqu32 xmm16, [frame + MINS + \from]
    vmovdqu32 xmm18, [frame + MINS + \from + 64]
    vpunpcklbw xmm17, xmm16, xmm18
    vpunpckhbw xmm16, xmm16, xmm18
    vmovdqu32 [frame + MIN_PAIRS + 256 * \half + 32 * (\p)], xmm17
    vmovdqu32 [frame + MIN_PAIRS + 256 * \half + 32 * (\p) + 16], xmm16
.endm

// Store the fp16 at `at` of both groups as 16 floats.
.macro unpack_floats at, to, half
    vcvtph2ps ymm16, [group_a + \at]
    vcvtph2ps ymm17, [group_b + \at]
    vinsertf64x4 zmm16, zmm16, ymm17, 1
    store_frame 16, (\to + 64 * \half)
.endm

// ---- four tokens -----------------------------------------------------------------------------

.macro clear regs:vararg
    .irp    reg, \regs
    vpxord  zmm\reg, zmm\reg, zmm\reg
    .endr
.endm

// If these are the last tokens, prefetch lines 7 q to 7 q + 6 of the next
// block of each of the four groups.
.macro fetch_quarter q
    cmp     tokens_left, 4
    ja      .Lfetched\@
    .irp    i, 0, 1, 2, 3, 4, 5, 6
    prefetcht0 [group_a + 64 * (7 * \q + \i)]
    prefetcht0 [group_a + group_stride + 64 * (7 * \q + \i)]
    prefetcht0 [group_b + 64 * (7 * \q + \i)]
    prefetcht0 [group_b + group_stride + 64 * (7 * \q + \i)]
    .endr
.Lfetched\@:
.endm

// Store int32 sums over 16 columns, times -2^shift: those of sub-block j and token t at 16 j + 4 t.
.macro prepare_begins shift
    clear   9
    .irp    i, 0, 1, 2, 3
    vpmovsxwd zmm8, [block + Q8KX4_SUM + 32 * \i]
    vpslld  zmm8, zmm8, \shift
    vpsubd  zmm8, zmm9, zmm8
    store_frame 8, (SUMS + 64 * \i)
    .endr
.endm

.macro begin_halves first, second, at
    vpbroadcastd zmm\first, dword ptr [frame + SUMS + \at]
    vmovdqa32 zmm\second, zmm\first
.endm

// Load the start values of sub-block j to the sums from zmm `sums` on. prepare_begins stored them.
.macro begin_sub_block sums, j
    .irp    t, 0, 1, 2, 3
    begin_halves %(\sums + \t), %(\sums + 4 + \t), (16 * (\j) + 4 * \t)
    .endr
.endm

.macro multiply_halves first, second, at
    vpbroadcastd zmm26, dword ptr [block + \at]
    vpdpbusd zmm\first, zmm24, zmm26
    vpdpbusd zmm\second, zmm25, zmm26
.endm

// Add chunk `chunk` to the sums from zmm `sums` on.
.macro multiply_chunk sums, chunk
    vmovdqa32 zmm24, [frame + WEIGHTS + 64 * (\chunk)]
    vmovdqa32 zmm25, [frame + WEIGHTS + 4096 + 64 * (\chunk)]
    .irp    t, 0, 1, 2, 3
    multiply_halves %(\sums + \t), %(\sums + 4 + \t), (16 * (\chunk) + 4 * \t)
    .endr
.endm

.macro scale_float sum, total, at
    vcvtdq2ps zmm\sum, zmm\sum
    vfmadd231ps zmm\total, zmm\sum, [frame + \at]
.endm

.macro scale_narrow sum, total, at
    vpdpwssd zmm\total, zmm\sum, [frame + \at]
.endm

.macro scale_int sum, total, at
    vpmulld zmm\sum, zmm\sum, [frame + \at]
    vpaddd  zmm\total, zmm\total, zmm\sum
.endm

// Multiply the sums of sub-block j, from zmm `sums` on, by their scales, and add them to the totals.
.macro scale_sub_block scale, sums, j
    .irp    t, 0, 1, 2, 3
    \scale  %(\sums + \t), \t, (FACTORS + 64 * (\j))
    \scale  %(\sums + 4 + \t), %(4 + \t), (FACTORS + 1024 + 64 * (\j))
    .endr
.endm

// Multiply sub-blocks 2p and 2p + 1, of 8 chunks each.
.macro sub_blocks_of_32 p, scale
    fetch_quarter \p
    clear   8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    multiply_chunk 8, (16 * \p + \c)
    multiply_chunk 16, (16 * \p + 8 + \c)
    .endr
    scale_sub_block \scale, 8, (2 * \p)
    scale_sub_block \scale, 16, (2 * \p + 1)
.endm

// Multiply all 16 sub-blocks, of 4 chunks each. `begins` is 1 if prepare_begins ran before.
.macro sub_blocks_of_16 scale, begins
    .irp    p, 0, 1, 2, 3, 4, 5, 6, 7
    .if \p % 2 == 0
    fetch_quarter %(\p / 2)
    .endif
    .if \begins
    begin_sub_block 8, (2 * \p)
    begin_sub_block 16, (2 * \p + 1)
    .else
    clear   8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
    .endif
    .irp    c, 0, 1, 2, 3
    multiply_chunk 8, (8 * \p + \c)
    multiply_chunk 16, (8 * \p + 4 + \c)
    .endr
    scale_sub_block \scale, 8, (2 * \p)
    scale_sub_block \scale, 16, (2 * \p + 1)
    .endr
.endm

.macro totals_to_floats
    .irp    t, 0, 1, 2, 3, 4, 5, 6, 7
    vcvtdq2ps zmm\t, zmm\t
    .endr
.endm

.macro add_min_halves first, second, at
    vpbroadcastd zmm26, dword ptr [frame + SUMS + \at]
    vpdpwssd zmm\first, zmm24, zmm26
    vpdpwssd zmm\second, zmm25, zmm26
.endm

.macro add_min_pair p
    vpmovzxbw zmm24, [frame + MIN_PAIRS + 32 * \p]
    vpmovzxbw zmm25, [frame + MIN_PAIRS + 256 + 32 * \p]
    .irp    t, 0, 1, 2, 3
    add_min_halves %(8 + \t), %(12 + \t), (16 * \p + 4 * \t)
    .endr
.endm

// zmm8-zmm15 = the sum, over these pairs of sub-blocks, of the minima times the sums of x, which
// are pairs of int16 at SUMS.
.macro add_mins pairs:vararg
    clear   8, 9, 10, 11, 12, 13, 14, 15
    .irp    p, \pairs
    add_min_pair \p
    .endr
.endm

// y at rax += total * d * (scale of x), for 16 of the rows; if `min` is given, also
// y -= min * dmin * (scale of x).
.macro add_half total, min, half, mask
    vmovups zmm24{\mask}{z}, [rax + 64 * \half]
    vmulps  zmm27, zmm26, [frame + D + 64 * \half]
    vfmadd231ps zmm24, zmm\total, zmm27
    .ifnb \min
    vmulps  zmm28, zmm26, [frame + DMIN + 64 * \half]
    vcvtdq2ps zmm\min, zmm\min
    vfnmadd231ps zmm24, zmm\min, zmm28
    .endif
    vmovups [rax + 64 * \half]{\mask}, zmm24
.endm

.macro add_token t, second, mins:vararg
    add_half \t, , 0, k1
    add_half \second, , 1, k2
.endm

.macro add_token_with_mins t, second, min, second_min
    add_half \t, \min, 0, k1
    add_half \second, \second_min, 1, k2
.endm

// Run `action`, which adds to y, for the remaining tokens, at most 4; zmm26 = the scale of the token's x.
.macro each_token action
    mov     rax, y_row
    .irp    t, 0, 1, 2, 3
    .if \t
    cmp     tokens_left, \t
    jbe     .Lall\@
    .endif
    vbroadcastss zmm26, dword ptr [block + Q8KX4_SCALE + 4 * \t]
    \action \t, %(4 + \t), %(8 + \t), %(12 + \t)
    add     rax, y_stride
    .endr
.Lall\@:
.endm

// ---- the loops over rows, blocks and tokens --------------------------------------------------

// y of these rows = 0.
.macro clear_rows
    mov     rax, [frame + SHAPE]
    mov     tokens_left, [rax + SHAPE_TOKENS]
    mov     rax, out
    vpxord  zmm0, zmm0, zmm0
    test    tokens_left, tokens_left
    jz      .Lcleared\@
.Lclear\@:
    vmovups [rax]{k1}, zmm0
    vmovups [rax + 64]{k2}, zmm0
    add     rax, y_stride
    dec     tokens_left
    jnz     .Lclear\@
.Lcleared\@:
.endm

.macro gemm_vnni_k name, unpack, multiply, block_bytes
func \name
    enter_panels 8, \block_bytes
    mov     eax, 0x0f0f0f0f
    vpbroadcastd low_nibbles, eax
    mov     eax, 0x3f3f3f3f
    vpbroadcastd six_bits, eax
    test    rows_left, rows_left
    jz      .Ldone\@
.Lrows\@:                           // 32 rows, or the last 1 to 31
    rows_to_store
    clear_rows
    mov     [frame + PANEL_W], weights
    mov     [frame + PANEL_X], tokens
    mov     blocks_left, [frame + N_BLOCKS]
    test    blocks_left, blocks_left
    jz      .Lnext_rows\@
.Lblock\@:
    unpack_panel \unpack
    add     qword ptr [frame + PANEL_W], \block_bytes
    mov     group_a, [frame + PANEL_W]
    lea     group_b, [group_a + 2*group_stride]
    mov     rax, [frame + SHAPE]
    mov     tokens_left, [rax + SHAPE_TOKENS]
    mov     y_row, out
    mov     block, [frame + PANEL_X]
    test    tokens_left, tokens_left
    jz      .Lnext_block\@
.Ltokens\@:                         // 4 tokens, or the last 1 to 3
    \multiply
    imul    rax, [frame + N_BLOCKS], Q8KX4_BYTES
    add     block, rax
    lea     y_row, [y_row + 4*y_stride]
    sub     tokens_left, 4
    ja      .Ltokens\@
.Lnext_block\@:
    add     qword ptr [frame + PANEL_X], Q8KX4_BYTES
    dec     blocks_left
    jnz     .Lblock\@
.Lnext_rows\@:
    lea     weights, [weights + 4*group_stride]
    add     out, 128
    sub     rows_left, 32
    ja      .Lrows\@
.Ldone\@:
    leave_panels
endfunc \name
.endm

#endif
