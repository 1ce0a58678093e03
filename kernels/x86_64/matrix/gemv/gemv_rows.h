// The loops over rows and blocks of the integer gemvs, 8 rows at a time.
//
// rdi y; rsi w; rdx x; rcx rows left; r8 columns, then blocks of a row; r9 `ahead`;
// r10 block of x, free before the loops; r11 blocks left; rax free for the body;
// ymm0 y of 8 rows; ymm1 mask of the last 1 to 7.
// Clobbers rax, rcx, rsi, rdi, r8, r10, r11, ymm0, ymm1 and what the body clobbers.
//
// w is read as one stream from end to end. The registers could hold more groups of rows, but each group would be a
// separate stream of a few kilobytes, too short for hardware prefetching: half the speed on Zen 4
// (docs/experiments/prefetch.md). Blocks depend on each other only in their last fma, so a core computes several
// at the same time, and memory is the limit. On Zen 4, hints cost 5 to 30 % if the weights are one stream. On a
// Xeon, a core without hints fetches too few lines at a time; hints to the second-level cache, for all lines of a
// block together, raise the speed by half. So there is a loop without hints, for `ahead` = 0 (kernels/tuning.c).
#ifndef INGOT_KERNELS_X86_64_GEMV_ROWS_H
#define INGOT_KERNELS_X86_64_GEMV_ROWS_H

#include "kernels/blocks.h"
#include "kernels/x86_64/asm.h"

#define out rdi
#define weights rsi
#define blocks rdx
#define rows_left rcx
#define n_blocks r8
#define ahead r9
#define block r10
#define blocks_left r11

// Go to the next block; the zero flag is set after the last block of the row.
.macro next_block block_bytes, x_bytes
    add     weights, \block_bytes
    add     block, \x_bytes
    dec     blocks_left
.endm

// `body` multiplies the block of 8 rows at `weights` by the block of x at `block`, and adds the product to ymm0.
// `columns` is log2 of the columns in a block.
.macro gemv_rows body, columns, block_bytes, x_bytes
    shr     n_blocks, \columns
    test    rows_left, rows_left
    jz      .Ldone\@
.Lgroup\@:
    vpxor   xmm0, xmm0, xmm0
    mov     block, blocks
    mov     blocks_left, n_blocks
    test    blocks_left, blocks_left
    jz      .Lstore\@
    test    ahead, ahead
    jz      .Lblock\@
.Lblock_ahead\@:
    fetch_lines weights + ahead, \block_bytes
    \body
    next_block \block_bytes, \x_bytes
    jnz     .Lblock_ahead\@
    jmp     .Lstore\@
.Lblock\@:
    \body
    next_block \block_bytes, \x_bytes
    jnz     .Lblock\@
.Lstore\@:
    sub     rows_left, 8
    jb      .Llast_rows\@
    vmovups [out], ymm0
    lea     out, [out + 32]         // leaves the flags
    jnz     .Lgroup\@
    jmp     .Ldone\@
.Llast_rows\@:
    add     rows_left, 8
    lane_mask 1, rows_left
    vmaskmovps [out], ymm1, ymm0
.Ldone\@:
.endm

#endif
