/* void quantize_q8_f32_rv64gc(struct block_q8 *restrict y, const float *restrict x, size_t n)
 *
 * a0 y, a1 x, a2 n, then the end of x. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft11, fa0-fa3.
 * A number takes 9.3 instructions: 3 to find the largest, 5 to round, store and sum. */
#include "kernels/riscv64/asm.h"

#define block a0
#define from a1
#define end a2         /* first the argument n */
#define at a3
#define to a4
#define block_end a5
#define sum a6
#define tiny a7
#define largest ft8
#define inverse ft9
#define limit ft10     /* 127 */
#define smallest ft11  /* 2^-100: below it, a block counts as zero */

/* ft0-ft7 = the next 8 numbers */
.macro load_eight
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    flw ft\n, 4*\n(at)
    .endr
    addi at, at, 32
.endm

.macro find_largest
    .irp n, 0, 1, 2, 3
    fmv.w.x fa\n, zero
    .endr
    mv at, from
.Llargest:
    load_eight
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fabs.s ft\n, ft\n
    .endr
    .irp n, 0, 1, 2, 3
    fmax.s fa\n, fa\n, ft\n
    .endr
    fmax.s fa0, fa0, ft4
    fmax.s fa1, fa1, ft5
    fmax.s fa2, fa2, ft6
    fmax.s fa3, fa3, ft7
    bne at, block_end, .Llargest
    fmax.s fa0, fa0, fa1
    fmax.s fa2, fa2, fa3
    fmax.s largest, fa0, fa2
.endm

func quantize_q8_f32_rv64gc
    load_float limit, F32_127, at
    load_float smallest, F32_2M100, at
    slli end, end, 2
    add end, end, from
    beq from, end, .Ldone
.Lblock:
    addi block_end, from, 128
    find_largest
    fdiv.s inverse, limit, largest
    flt.s tiny, largest, smallest
    beqz tiny, .Lround
    fmv.w.x largest, zero
    fmv.w.x inverse, zero
.Lround:
    fdiv.s largest, largest, limit
    mv at, from
    mv to, block
    li sum, 0
.Leight:
    load_eight
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fmul.s ft\n, ft\n, inverse
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6
    fcvt.w.s t\n, ft\n, rne
    .endr
    fcvt.w.s tiny, ft7, rne
    .irp n, 0, 1, 2, 3, 4, 5, 6
    sb t\n, \n(to)
    add sum, sum, t\n
    .endr
    sb tiny, 7(to)
    add sum, sum, tiny
    addi to, to, 8
    bne at, block_end, .Leight
    fsw largest, Q8_SCALE(block)
    sw sum, Q8_SUM(block)
    mv from, block_end
    addi block, block, Q8_BYTES
    bne from, end, .Lblock
.Ldone:
    ret
endfunc
