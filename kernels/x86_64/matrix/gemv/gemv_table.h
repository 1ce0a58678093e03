// Shared by the gemvs of FIG4, whose nibbles are indices into a table. One block of x serves two
// blocks of FIG4. The including header defines these macros with the instructions of its ISA
// level:
//   begin_fig4         runs before the columns, and moves `block` to their half of x.
//   collect_run w, x   multiplies 32 columns at `w` of the weights by x at `x` of the block.
//   add_sums           adds the sums to y.
#ifndef INGOT_KERNELS_X86_64_GEMV_TABLE_H
#define INGOT_KERNELS_X86_64_GEMV_TABLE_H

#include "kernels/x86_64/matrix/gemv/gemv_rows.h"

#define table_at r10 // before the loops
#define n_blocks_32 r8d
#define blocks_left_32 r11d

// The last argument of a kernel is the address of the table, which also holds `ahead`.
.macro take_table
    mov     table_at, r9
    mov     ahead, [table_at + TABLE_AHEAD]
.endm

// eax = 0 or 1: the half of the block of x that this block of weights uses.
.macro half_of_block
    mov     eax, n_blocks_32
    sub     eax, blocks_left_32
    and     eax, 1
.endm

.macro block_fig4
    half_of_block
    shl     eax, 4
    begin_fig4
    collect_run QUANTS, 0
    collect_run (QUANTS + 128), 32
    collect_run (QUANTS + 256), 64
    collect_run (QUANTS + 384), 96
    half_of_block
    imul    eax, eax, Q8K_BYTES - FIG4_COLS
    add_sums
    add     block, rax
.endm

#endif
