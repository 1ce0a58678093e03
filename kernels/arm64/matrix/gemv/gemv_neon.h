// Shared by the quantized gemvs without the dot product: the loop over groups of 8 rows.
#ifndef INGOT_KERNELS_ARM64_GEMV_NEON_H
#define INGOT_KERNELS_ARM64_GEMV_NEON_H

#include "kernels/arm64/asm.h"

#define out x0
#define weights x1              // the next block
#define vector x2               // x
#define rows_left x3
#define n_blocks x4             // of a row
#define ahead x5                // prefetch distance in bytes
#define block x6                // x
#define blocks_left x7

// Compute y of all rows. `blocks` adds blocks_left >= 1 blocks of a group to acc_low and acc_high.
// Jumps to `ragged` if the last group has fewer rows, otherwise continues with rows_left 0.
.macro gemv_groups blocks, acc_low, acc_high, ragged
.Lgroup\@:
    movi    \acc_low\().4s, #0
    movi    \acc_high\().4s, #0
    mov     block, vector
    mov     blocks_left, n_blocks
    cbz     n_blocks, .Lno_blocks\@
    \blocks
.Lno_blocks\@:
    subs    rows_left, rows_left, #8
    b.lo    \ragged
    st1     {\acc_low\().4s, \acc_high\().4s}, [out], #32
    b.ne    .Lgroup\@
.endm

#endif
