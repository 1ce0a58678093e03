// The gemm of Q4_K and Q6_K by AVX-512 VNNI: a block of 32 rows, unpacked once for all tokens, by 4 tokens at a time.
//
// rdi y  rsi w  rdx x  rcx shape, then scratch
// r8 rows left  r9 bytes of a group of 8 rows  r10 bytes from one row of y to the next
// rbx, rbp two groups, then what is fetched with the last tokens
// r11 y of the tokens at work  r12 their x  r13 frame  r14 tokens left  r15 blocks left  rax scratch
// zmm0-zmm7 a block's scaled sums of 16 rows by 4 tokens, and of the other 16  zmm8-zmm15 sums of a sub-block,
// zmm16-zmm23 of the next  zmm24, zmm25 weights of a chunk  zmm26 x of a token  zmm27-zmm29 scratch
// zmm30, zmm31 masks  k1, k2 rows to store
// Clobbers rax, rcx, rsi, rdi, r8-r11, zmm0-zmm31, k1, k2.
//
// Four bytes of x are broadcast once for two multiplications. Q4_K's sums become floats before they are scaled, a
// conversion and an fma instead of the three that vpmulld and vpaddd take: a sum is below 2^16, four times 63 of it are
// below 2^24, and the two halves of a block are added in the end, so that all but this addition is
// exact. Q6_K's scaled sums are too large for that.
//
// Per block and 4 tokens by 16 rows: 256 vpdpbusd, 64 (Q4_K) or 192 (Q6_K) that scale, 16 (Q4_K) vpdpwssd.
#ifndef INGOT_KERNELS_X86_64_GEMM_K_PANEL_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_K_PANEL_AVX512_VNNI_H

#include "kernels/x86_64/gemm_k_avx512_vnni.h"

#undef n_blocks // has no register here
#define group_stride r9

// The frame goes on behind SUMS. Of each half of 16 rows: scales, d and dmin as floats (Q6_K: scales as int32),
// minimums of two sub-blocks as pairs of int16, 64 chunks of bytes.
#define TOTALS 640
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
#undef FRAME
#define FRAME (WORDS + 32 + 56)

// ---- a panel ---------------------------------------------------------------------------------

.macro store_frame reg, at
    vmovdqa32 [frame + \at], zmm\reg
.endm

// d of both groups, and what lies `at` behind it, as 16 floats.
.macro unpack_floats at, to
    vcvtph2ps ymm16, [group_a + \at]
    vcvtph2ps ymm17, [group_b + \at]
    vinsertf64x4 zmm16, zmm16, ymm17, 1
    vmovaps [frame + \to], zmm16
.endm

// Scale j of the 16 rows, of the bytes that store_pairs left.
.macro unpack_factor_q4k half, j
    vpmovzxbd zmm16, [frame + SCALES + 64 * (\j % 2) + 16 * (\j / 2)]
    vcvtdq2ps zmm16, zmm16
    store_frame 16, (FACTORS + 1024 * \half + 64 * \j)
.endm

.macro unpack_chunk_q4k at, p, c
    load_pair 20, (Q4K_QUANTS + 256 * \p + 32 * \c)
    vpsrlw  zmm21, zmm20, 4
    vpandd  zmm20, zmm20, low_nibbles
    vpandd  zmm21, zmm21, low_nibbles
    store_frame 20, (\at + 64 * (16 * \p + \c))
    store_frame 21, (\at + 64 * (16 * \p + 8 + \c))
.endm

.macro unpack_min_q4k half, p
    vpmovzxbd zmm16, [frame + MINS + 16 * \p]
    vpmovzxbd zmm17, [frame + MINS + 64 + 16 * \p]
    vpslld  zmm17, zmm17, 16
    vpord   zmm16, zmm16, zmm17
    store_frame 16, (MIN_PAIRS + 256 * \half + 64 * \p)
.endm

.macro unpack_q4k half
    prepare_weights_q4k
    .irp    j, 0, 1, 2, 3, 4, 5, 6, 7
    unpack_factor_q4k \half, \j
    .endr
    .irp    p, 0, 1, 2, 3
    unpack_min_q4k \half, \p
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    unpack_chunk_q4k (WEIGHTS + 4096 * \half), \p, \c
    .endr
    .endr
    unpack_floats 0, (D + 64 * \half)
    unpack_floats Q4K_DMIN, (DMIN + 64 * \half)
.endm

// zmm low: its low nibbles and bits 4 and 5 of zmm high, to chunk `chunk`.
.macro store_joined low, high, at, chunk
    vpternlogd zmm\low, zmm\high, low_nibbles, 0xe4 // low nibbles from low, the others from high
    vpandd  zmm\low, zmm\low, six_bits
    store_frame \low, (\at + 64 * (\chunk))
.endm

// Chunk c (0 to 7) of the four times 32 columns of part `part` of a block.
.macro unpack_chunk_q6k at, part, c
    load_pair 24, (Q6K_LOW + 512 * \part + 32 * \c)
    load_pair 26, (Q6K_HIGH + 256 * \part + 32 * \c)
    vpsrlw  zmm25, zmm24, 4
    vpsllw  zmm27, zmm26, 4
    vpsllw  zmm28, zmm26, 2
    store_joined 24, 27, \at, (32 * \part + \c)
    store_joined 25, 28, \at, (32 * \part + 8 + \c)
    load_pair 24, (Q6K_LOW + 512 * \part + 256 + 32 * \c)
    vpsrlw  zmm29, zmm26, 2
    vpsrlw  zmm25, zmm24, 4
    store_joined 24, 26, \at, (32 * \part + 16 + \c)
    store_joined 25, 29, \at, (32 * \part + 24 + \c)
.endm

// Scale j of part `part`.
.macro unpack_factor_q6k half, part, j
    vpmovsxbd zmm16, [frame + SCALES + 128 * \part + 64 * (\j % 2) + 16 * (\j / 2)]
    store_frame 16, (FACTORS + 1024 * \half + 64 * (8 * \part + \j))
.endm

.macro unpack_q6k half
    prepare_weights_q6k
    .irp    part, 0, 1
    .irp    j, 0, 1, 2, 3, 4, 5, 6, 7
    unpack_factor_q6k \half, \part, \j
    unpack_chunk_q6k (WEIGHTS + 4096 * \half), \part, \j
    .endr
    .endr
    unpack_floats 0, (D + 64 * \half)
.endm

.macro unpack_panel unpack
    mov     group_a, [frame + PANEL_W]
    find_second 8, group_stride
    \unpack 0
    mov     group_a, [frame + PANEL_W]
    lea     rax, [group_a + 2*group_stride]
    cmp     rows_left, 16
    cmova   group_a, rax
    find_second 24, group_stride
    \unpack 1
.endm

// ---- four tokens -----------------------------------------------------------------------------

// Line `line` of the next block and the six behind it, of the same rows' four groups.
.macro fetch_lines line
    .irp    i, 0, 1, 2, 3, 4, 5, 6
    prefetcht0 [group_a + 64 * (\line + \i)]
    prefetcht0 [group_a + group_stride + 64 * (\line + \i)]
    prefetcht0 [group_b + 64 * (\line + \i)]
    prefetcht0 [group_b + group_stride + 64 * (\line + \i)]
    .endr
.endm

// A quarter of it, with the last tokens.
.macro fetch_quarter p
    cmp     tokens_left, 4
    ja      .Lfetched\@
    fetch_lines (7 * \p)
.Lfetched\@:
.endm

.macro multiply_halves first, second, at
    vpbroadcastd zmm26, dword ptr [block + \at]
    vpdpbusd zmm\first, zmm24, zmm26
    vpdpbusd zmm\second, zmm25, zmm26
.endm

// Chunk `chunk` onto the sums from zmm `sums` on.
.macro multiply_chunk sums, chunk
    vmovdqa32 zmm24, [frame + WEIGHTS + 64 * (\chunk)]
    vmovdqa32 zmm25, [frame + WEIGHTS + 4096 + 64 * (\chunk)]
    .irp    t, 0, 1, 2, 3
    multiply_halves %(\sums + \t), %(\sums + 4 + \t), (16 * (\chunk) + 4 * \t)
    .endr
.endm

.macro each_sum action, sums, j
    .irp    t, 0, 1, 2, 3
    \action %(\sums + \t), \t, (FACTORS + 64 * (\j))
    \action %(\sums + 4 + \t), %(4 + \t), (FACTORS + 1024 + 64 * (\j))
    .endr
.endm

.macro scale_float sum, total, at
    vcvtdq2ps zmm\sum, zmm\sum
    vfmadd231ps zmm\total, zmm\sum, [frame + \at]
.endm

.macro scale_int sum, total, at
    vpmulld zmm\sum, zmm\sum, [frame + \at]
    vpaddd  zmm\total, zmm\total, zmm\sum
.endm

.macro sub_blocks_q4k p
    fetch_quarter \p
    clear   8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
    .irp    c, 0, 1, 2, 3, 4, 5, 6, 7
    multiply_chunk 8, (16 * \p + \c)
    multiply_chunk 16, (16 * \p + 8 + \c)
    .endr
    each_sum scale_float, 8, (2 * \p)
    each_sum scale_float, 16, (2 * \p + 1)
.endm

.macro add_total t
    vaddps  zmm\t, zmm\t, [frame + TOTALS + 64 * \t]
.endm

.macro add_min_halves first, second, at
    vpbroadcastd zmm26, dword ptr [frame + SUMS + \at]
    vpdpwssd zmm\first, zmm24, zmm26
    vpdpwssd zmm\second, zmm25, zmm26
.endm

.macro add_mins_q4k_halves p
    vmovdqa32 zmm24, [frame + MIN_PAIRS + 64 * \p]
    vmovdqa32 zmm25, [frame + MIN_PAIRS + 256 + 64 * \p]
    .irp    t, 0, 1, 2, 3
    add_min_halves %(8 + \t), %(12 + \t), (16 * \p + 4 * \t)
    .endr
.endm

// y at rax + at += total d x - min dmin x.
.macro add_half_q4k total, min, half, mask
    vmovups zmm24{\mask}{z}, [rax + 64 * \half]
    vmulps  zmm27, zmm26, [frame + D + 64 * \half]
    vmulps  zmm28, zmm26, [frame + DMIN + 64 * \half]
    vcvtdq2ps zmm\min, zmm\min
    vfmadd231ps zmm24, zmm\total, zmm27
    vfnmadd231ps zmm24, zmm\min, zmm28
    vmovups [rax + 64 * \half]{\mask}, zmm24
.endm

.macro add_token_q4k t, second, min, second_min
    add_half_q4k \t, \min, 0, k1
    add_half_q4k \second, \second_min, 1, k2
.endm

.macro tokens_q4k
    prepare_sums_q4k
    clear   0, 1, 2, 3, 4, 5, 6, 7
    sub_blocks_q4k 0
    sub_blocks_q4k 1
    .irp    t, 0, 1, 2, 3, 4, 5, 6, 7
    store_frame \t, (TOTALS + 64 * \t)
    .endr
    clear   0, 1, 2, 3, 4, 5, 6, 7
    sub_blocks_q4k 2
    sub_blocks_q4k 3
    .irp    t, 0, 1, 2, 3, 4, 5, 6, 7
    add_total \t
    .endr
    clear   8, 9, 10, 11, 12, 13, 14, 15
    .irp    p, 0, 1, 2, 3
    add_mins_q4k_halves \p
    .endr
    each_token add_token_q4k
.endm

.macro begin_halves first, second, at
    vpbroadcastd zmm\first, dword ptr [frame + SUMS + \at]
    vmovdqa32 zmm\second, zmm\first
.endm

// Sub-block j from zmm `sums` on.
.macro begin_sub_block sums, j
    .irp    t, 0, 1, 2, 3
    begin_halves %(\sums + \t), %(\sums + 4 + \t), (16 * (\j) + 4 * \t)
    .endr
.endm

.macro sub_blocks_q6k_halves p
    begin_sub_block 8, (2 * \p)
    begin_sub_block 16, (2 * \p + 1)
    .irp    c, 0, 1, 2, 3
    multiply_chunk 8, (8 * \p + \c)
    multiply_chunk 16, (8 * \p + 4 + \c)
    .endr
    each_sum scale_int, 8, (2 * \p)
    each_sum scale_int, 16, (2 * \p + 1)
.endm

.macro add_half_q6k total, half, mask
    vmovups zmm24{\mask}{z}, [rax + 64 * \half]
    vmulps  zmm27, zmm26, [frame + D + 64 * \half]
    vcvtdq2ps zmm\total, zmm\total
    vfmadd231ps zmm24, zmm\total, zmm27
    vmovups [rax + 64 * \half]{\mask}, zmm24
.endm

.macro add_token_q6k t, second, min, second_min
    add_half_q6k \t, 0, k1
    add_half_q6k \second, 1, k2
.endm

.macro tokens_q6k
    prepare_sums_q6k
    clear   0, 1, 2, 3, 4, 5, 6, 7
    .irp    p, 0, 1, 2, 3, 4, 5, 6, 7
    .if \p % 2 == 0
    fetch_quarter %(\p / 2)
    .endif
    sub_blocks_q6k_halves \p
    .endr
    each_token add_token_q6k
.endm

// By the tokens left, at most 4; zmm26 = the scale of a token's x.
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

.macro gemm_vnni_k_panel name, unpack, multiply, block_bytes
func \name
    push_saved rbx, rbp, r12, r13, r14, r15
    take_stack FRAME
    lea     frame, [rsp + 63]
    and     frame, -64
    mov     [frame + SHAPE], shape
    mov     rows_left, [shape + SHAPE_ROWS]
    mov     rax, [shape + SHAPE_COLS]
    mov     y_stride, [shape + SHAPE_Y_STRIDE]
    shl     y_stride, 2
    shr     rax, 8
    mov     [frame + N_BLOCKS], rax
    imul    group_stride, rax, \block_bytes
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
    give_stack FRAME
    pop_saved r15, r14, r13, r12, rbp, rbx
endfunc \name
.endm

#endif
