// The gemm of Q4_0 and Q8_0 by AVX-512 VNNI: 32 rows by 4 tokens.
//
// rdi y; rsi w; rdx x; rcx shape, then the current block of the panel;
// r8 rows left; r9 the frame, aligned; r10 bytes from one row of y to the next;
// rbx, rbp two groups of 8 rows, then the weights prefetched during the last tokens; r13 bytes of a group;
// r11 y of the current tokens; r12 x of the current block; r14 tokens left; r15 blocks left;
// rax scratch;
// zmm0-zmm3 y of the first 16 rows by 4 tokens, zmm4-zmm7 of the others; zmm8-zmm15 integer sums of a
// block, zmm16-zmm23 of the next, or the weights that are unpacked; zmm24, zmm25 weights of a chunk, or scales;
// zmm26, zmm29 scratch, x of a token; zmm27 mask or flip; zmm28 zero; k1, k2 rows to store.
// Clobbers rax, rcx, rsi, rdi, r8-r11, zmm0-zmm29, k1, k2.
//
// Once for all tokens, PANEL blocks of 32 rows are unpacked to bytes and their scales to floats. The panel
// stays in the first-level cache; y is in memory. Four bytes of x are broadcast once for two multiplications,
// because a core that multiplies 512 bits twice per cycle also loads only twice per cycle. The sums of
// two blocks are computed together, because the eight vpdpbusd of one block would wait for each other. For
// one block, 16 rows and one token, the loop takes 8 vpdpbusd, 3 other operations on their ports, and 6 loads.
#ifndef INGOT_KERNELS_X86_64_GEMM_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_AVX512_VNNI_H

#include "kernels/blocks.h"

#define at_block rcx
#define frame r9
#define x_block r12
#define group_stride r13

// The frame holds the panel's blocks, then words. A block has the 8
// chunks and the scales of 16 rows, the start values of the integer sums
// of the four current tokens, and chunks and scales of the other 16 rows.
#define PANEL 8
#define SCALES 512
#define START 576
#define HALF 640
#define UNPACKED (2 * HALF)
#define WORDS (PANEL * UNPACKED)
#define SHAPE (WORDS + 0)
#define N_BLOCKS (WORDS + 8) // of a row
#define LEFT (WORDS + 16)     // panels left, including this one
#define PANEL_BLOCKS (WORDS + 24)
#define PANEL_X (WORDS + 32)
#define PANEL_W (WORDS + 40)
#define FRAME (WORDS + 48 + 56)

#include "kernels/x86_64/matrix/gemm/avx512_vnni.h"

// ---- a panel ---------------------------------------------------------------------------------

.macro store_unpacked reg, at
    vmovdqa32 [at_block + \at], zmm\reg
.endm

// Unpack the blocks at group_a and group_b to half 0 or 1 of each block of the panel.
.macro unpack_half load, block_bytes, half
    lea     at_block, [frame + HALF * \half]
    mov     blocks_left, [frame + PANEL_BLOCKS]
.Lunpack\@:
    \load   16, 27
    load_scales 24, 26
    .irp    chunk, 0, 1, 2, 3, 4, 5, 6, 7
    store_unpacked %(16 + \chunk), (64 * \chunk)
    .endr
    store_unpacked 24, SCALES
    add     group_a, \block_bytes
    add     group_b, \block_bytes
    add     at_block, UNPACKED
    dec     blocks_left
    jnz     .Lunpack\@
.endm

// ---- four tokens -----------------------------------------------------------------------------

// Run `action`, which loads or stores y in zmm0-zmm7, for the remaining tokens, at most 4.
.macro each_token action
    mov     rax, y_row
    .irp    t, 0, 1, 2, 3
    .if \t
    cmp     tokens_left, \t
    jbe     .Lall\@
    .endif
    \action \t, %(4 + \t)
    add     rax, y_stride
    .endr
.Lall\@:
.endm

.macro store_token first, second
    vmovups [rax]{k1}, zmm\first
    vmovups [rax + 64]{k2}, zmm\second
.endm

.macro load_token first, second
    vmovups zmm\first{k1}{z}, [rax]
    vmovups zmm\second{k2}{z}, [rax + 64]
.endm

// Load y as it is before this panel: zeros, or the sums of earlier panels.
.macro begin_tokens
    .irp    t, 0, 1, 2, 3, 4, 5, 6, 7
    vpxord  zmm\t, zmm\t, zmm\t
    .endr
    mov     rax, [frame + LEFT]
    cmp     rax, [frame + N_BLOCKS]
    je      .Lbegun\@
    each_token load_token
.Lbegun\@:
.endm

.macro begin_sums first, second, at
    vpbroadcastd zmm\first, dword ptr [at_block + \at]
    vpbroadcastd zmm\second, dword ptr [at_block + \at]
.endm

.macro multiply_token first, second, at
    vpbroadcastd zmm26, dword ptr [x_block + \at]
    vpdpbusd zmm\first, zmm24, zmm26
    vpdpbusd zmm\second, zmm25, zmm26
.endm

// Multiply chunk `chunk` of the current block of 32 rows (`block` is 0) or of the next one (1).
.macro multiply_chunk sums, chunk, block
    vmovdqa32 zmm24, [at_block + UNPACKED * \block + 64 * \chunk]
    vmovdqa32 zmm25, [at_block + UNPACKED * \block + HALF + 64 * \chunk]
    .irp    t, 0, 1, 2, 3
    multiply_token %(\sums + \t), %(\sums + 4 + \t), (Q8X4_BYTES * \block + 16 * \chunk + 4 * \t)
    .endr
.endm

// Add the sums of token t and a block, in zmm first and second, to its y.
.macro add_token t, first, second, y_second, at
    vbroadcastss zmm26, dword ptr [x_block + \at]
    vmulps  zmm29, zmm24, zmm26
    vmulps  zmm26, zmm25, zmm26
    vcvtdq2ps zmm\first, zmm\first
    vcvtdq2ps zmm\second, zmm\second
    vfmadd231ps zmm\t, zmm\first, zmm29
    vfmadd231ps zmm\y_second, zmm\second, zmm26
.endm

// For every block of the panel, store the start values of four tokens' integer
// sums: minus the sums of x, shifted. The macro runs before the first use of these values.
.macro begin_blocks shift
    mov     at_block, frame
    mov     rax, x_block
.Lbegin\@:
    vmovdqu32 xmm26, [rax + Q8X4_SUM]
    vpslld  xmm26, xmm26, \shift
    vpsubd  xmm26, xmm28, xmm26
    vmovdqa32 [at_block + START], xmm26
    add     rax, Q8X4_BYTES
    add     at_block, UNPACKED
    dec     blocks_left
    jnz     .Lbegin\@
.endm

.macro begin_block sums, block
    .irp    t, 0, 1, 2, 3
    begin_sums %(\sums + \t), %(\sums + 4 + \t), (UNPACKED * \block + START + 4 * \t)
    .endr
.endm

.macro add_block sums, block
    vmovaps zmm24, [at_block + UNPACKED * \block + SCALES]
    vmovaps zmm25, [at_block + UNPACKED * \block + HALF + SCALES]
    .irp    t, 0, 1, 2, 3
    add_token \t, %(\sums + \t), %(\sums + 4 + \t), %(4 + \t), (Q8X4_BYTES * \block + Q8X4_SCALE + 4 * \t)
    .endr
.endm

// Multiply n blocks of the panel, one or two at the same time, by four tokens.
.macro multiply_blocks n
    begin_block 8, 0
    .if \n == 2
    begin_block 16, 1
    .endif
    .irp    chunk, 0, 1, 2, 3, 4, 5, 6, 7
    multiply_chunk 8, \chunk, 0
    .if \n == 2
    multiply_chunk 16, \chunk, 1
    .endif
    .endr
    add_block 8, 0
    .if \n == 2
    add_block 16, 1
    .endif
    add     x_block, \n * Q8X4_BYTES
    add     at_block, \n * UNPACKED
.endm

// Prefetch `bytes` bytes of the next panel from each of the four groups of these 32 rows.
.macro fetch_blocks bytes
    .irp    line, 0, 1, 2, 3, 4, 5, 6, 7, 8
    .if 64 * \line < \bytes
    prefetcht0 [group_a + 64 * \line]
    prefetcht0 [group_a + group_stride + 64 * \line]
    prefetcht0 [group_b + 64 * \line]
    prefetcht0 [group_b + group_stride + 64 * \line]
    .endif
    .endr
    add     group_a, \bytes
    add     group_b, \bytes
.endm

// ---- the loops over rows, panels, tokens and blocks ------------------------------------------

// Adding 2^shift makes a weight unsigned; the sums of x correct this. `constant` is the mask or
// flip, as a word.
.macro gemm_vnni name, load, block_bytes, shift, constant
func \name
    enter_panels 5, \block_bytes
    mov     eax, \constant
    vpbroadcastd zmm27, eax
    vpxord  zmm28, zmm28, zmm28
    test    rows_left, rows_left
    jz      .Ldone\@
.Lrows\@:                           // 32 rows, or the last 1 to 31
    rows_to_store
    mov     [frame + PANEL_W], weights
    mov     [frame + PANEL_X], tokens
    mov     rax, [frame + N_BLOCKS]
.Lpanel\@:                          // rax blocks are left
    mov     [frame + LEFT], rax
    mov     ecx, PANEL
    cmp     rax, rcx
    cmova   rax, rcx
    mov     [frame + PANEL_BLOCKS], rax
    test    rax, rax
    jz      .Lunpacked\@
    unpack_panel <unpack_half \load, \block_bytes,>
.Lunpacked\@:
    imul    rax, [frame + PANEL_BLOCKS], \block_bytes
    add     [frame + PANEL_W], rax
    mov     rax, [frame + SHAPE]
    mov     tokens_left, [rax + SHAPE_TOKENS]
    mov     y_row, out
    mov     x_block, [frame + PANEL_X]
    test    tokens_left, tokens_left
    jz      .Lnext_panel\@
.Ltokens\@:                         // 4 tokens, or the last 1 to 3
    begin_tokens
    mov     blocks_left, [frame + PANEL_BLOCKS]
    test    blocks_left, blocks_left
    jz      .Lstore\@
    begin_blocks \shift
    mov     at_block, frame
    mov     blocks_left, [frame + PANEL_BLOCKS]
    cmp     tokens_left, 4
    jbe     .Llast_tokens\@
.Lpair\@:
    sub     blocks_left, 2
    jb      .Lodd\@
    multiply_blocks 2
    jmp     .Lpair\@
.Llast_tokens\@:
    mov     group_a, [frame + PANEL_W]
    lea     group_b, [group_a + 2*group_stride]
.Llast_pair\@:
    sub     blocks_left, 2
    jb      .Lodd\@
    fetch_blocks (2 * \block_bytes)
    multiply_blocks 2
    jmp     .Llast_pair\@
.Lodd\@:
    cmp     blocks_left, -1
    jne     .Lstore\@
    multiply_blocks 1
.Lstore\@:
    each_token store_token
    mov     rax, [frame + N_BLOCKS] // the same blocks of the next tokens
    sub     rax, [frame + PANEL_BLOCKS]
    imul    rax, rax, Q8X4_BYTES
    add     x_block, rax
    lea     y_row, [y_row + 4*y_stride]
    sub     tokens_left, 4
    ja      .Ltokens\@
.Lnext_panel\@:
    add     qword ptr [frame + PANEL_X], PANEL * Q8X4_BYTES
    mov     rax, [frame + LEFT]
    sub     rax, [frame + PANEL_BLOCKS]
    ja      .Lpanel\@
    lea     weights, [weights + 4*group_stride]
    add     out, 128
    sub     rows_left, 32
    ja      .Lrows\@
.Ldone\@:
    leave_panels
endfunc \name
.endm

#endif
