/* void dequantize_f32_q8x8_rv64gc(float *restrict y, const void *restrict w, size_t row, size_t cols)
 *
 * a0 y, a1 w, a2 row, a3 cols. Clobbers a0, a1, a3-a5, t2-t6, ft0-ft4, ft7, fflags.
 *
 * Four columns of a row are one word, and the words of eight rows are adjacent. The kernel takes 4.4
 * instructions per weight. */
#include "kernels/riscv64/matrix/f16_rv64gc.h"

#define dst a0
#define block a1
#define row a2
#define blocks_left a3
#define words_at a4    /* the row's first word of a block */
#define temp a5
#define scale ft0

#define WORD_STRIDE 32 /* of eight rows */

.macro four_columns index
    lb bits0, WORD_STRIDE*\index(words_at)
    lb bits1, WORD_STRIDE*\index + 1(words_at)
    lb bits2, WORD_STRIDE*\index + 2(words_at)
    lb bits3, WORD_STRIDE*\index + 3(words_at)
    fcvt.s.w ft1, bits0
    fcvt.s.w ft2, bits1
    fcvt.s.w ft3, bits2
    fcvt.s.w ft4, bits3
    fmul.s ft1, ft1, scale
    fmul.s ft2, ft2, scale
    fmul.s ft3, ft3, scale
    fmul.s ft4, ft4, scale
    fsw ft1, 16*\index(dst)
    fsw ft2, 16*\index + 4(dst)
    fsw ft3, 16*\index + 8(dst)
    fsw ft4, 16*\index + 12(dst)
.endm

func dequantize_f32_q8x8_rv64gc
    srli blocks_left, blocks_left, 5
    beqz blocks_left, .Ldone
    widen_start temp
    srli temp, row, 3
    mul temp, temp, blocks_left
    li words_at, Q8X8_BYTES
    mul temp, temp, words_at
    add block, block, temp
    andi row, row, 7
    slli temp, row, 1
    slli words_at, row, 2
    add words_at, words_at, block
    addi words_at, words_at, QUANTS
    add block, block, temp             /* the row's scale */
.Lblock:
    lh bits0, 0(block)
    widen_shift bits0
    fmv.w.x scale, bits0
    fmul.s scale, scale, scale_up
    .irp index, 0, 1, 2, 3, 4, 5, 6, 7
    four_columns \index
    .endr
    addi block, block, Q8X8_BYTES
    addi words_at, words_at, Q8X8_BYTES
    addi dst, dst, 128
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock
.Ldone:
    ret
endfunc
