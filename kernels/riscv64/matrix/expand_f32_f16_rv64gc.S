/* void expand_f32_f16_rv64gc(float *restrict y, const uint16_t *restrict b, const float *restrict u,
 *                            size_t rows, size_t rank)
 *
 * a0 y, a1 b, a2 u, a3 rows, a4 rank. Clobbers a0, a1, a3-a7, t0-t6, ft0-ft9, fa0-fa7, fflags.
 *
 * The kernel takes eight rows at a time, whose sums stay in registers; 8 weights take 43
 * instructions. A half that is shifted into place is exactly the float 2^-112 times its value, and u
 * times 2^112 is exact for u below 2^16. So u is multiplied once instead of 8 halves, and the fma
 * gives the same bits. If u is larger or NaN, each half is multiplied, row by row; the last rows are
 * also computed in this way. */
#include "kernels/riscv64/matrix/f16_rv64gc.h"

#define out a0
#define column a1
#define vector a2
#define rows_left a3
#define vector_end a4  /* first the argument rank */
#define group_bytes a5
#define vector_at a6
#define eight a7
#define at t0          /* address of the next half of one row */
#define temp t0
#define limit t1
#define factor ft8
#define raw4 ft4
#define raw5 ft5
#define raw6 ft6
#define raw7 ft9

/* Load four halves at \offset, times 2^-112. */
.macro load_four offset, raw0, raw1, raw2, raw3
    ld bits3, \offset(column)
    lh bits0, \offset(column)
    slli bits2, bits3, 16
    sraiw bits1, bits3, 3              /* the half in bits 16 to 31, as widen_shift leaves it */
    srai bits2, bits2, 35              /* the half in bits 48 to 63 */
    srai bits3, bits3, 35
    slli bits0, bits0, 13
    and bits1, bits1, sign_bits
    and bits2, bits2, sign_bits
    and bits3, bits3, sign_bits
    and bits0, bits0, sign_bits
    fmv.w.x \raw1, bits1
    fmv.w.x \raw2, bits2
    fmv.w.x \raw3, bits3
    fmv.w.x \raw0, bits0
.endm

.macro for_sums op
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    \op fa\n, 4*\n(out)
    .endr
.endm

func expand_f32_f16_rv64gc
    beqz rows_left, .Ldone
    widen_start temp
    slli group_bytes, vector_end, 4
    slli vector_end, vector_end, 2
    add vector_end, vector_end, vector
    li eight, 8
    li limit, 0x8f                     /* 2^16, without its sign */
    slli limit, limit, 56
    mv vector_at, vector
.Llook:
    lw temp, 0(vector_at)
    addi vector_at, vector_at, 4
    slli temp, temp, 33
    bgeu temp, limit, .Lrow
    bne vector_at, vector_end, .Llook
    bltu rows_left, eight, .Lrow
.Lgroup:
    for_sums flw
    mv vector_at, vector
.Lcolumn:
    flw factor, 0(vector_at)
    load_four 0, ft0, ft1, ft2, ft3
    fmul.s factor, factor, scale_up
    load_four 8, raw4, raw5, raw6, raw7
    fmadd.s fa0, factor, ft0, fa0
    fmadd.s fa1, factor, ft1, fa1
    fmadd.s fa2, factor, ft2, fa2
    fmadd.s fa3, factor, ft3, fa3
    addi vector_at, vector_at, 4
    addi column, column, 16
    fmadd.s fa4, factor, raw4, fa4
    fmadd.s fa5, factor, raw5, fa5
    fmadd.s fa6, factor, raw6, fa6
    fmadd.s fa7, factor, raw7, fa7
    bne vector_at, vector_end, .Lcolumn
    for_sums fsw
    addi rows_left, rows_left, -8
    addi out, out, 32
    bgeu rows_left, eight, .Lgroup
    beqz rows_left, .Ldone
.Lrow:
    flw fa0, 0(out)
    mv at, column
    mv vector_at, vector
.Lone:
    lh bits0, 0(at)
    flw factor, 0(vector_at)
    addi at, at, 16
    addi vector_at, vector_at, 4
    widen_shift bits0
    fmv.w.x ft0, bits0
    fmul.s ft0, ft0, scale_up
    fmadd.s fa0, factor, ft0, fa0
    bne vector_at, vector_end, .Lone
    fsw fa0, 0(out)
    addi out, out, 4
    addi column, column, 2
    addi rows_left, rows_left, -1
    andi temp, column, 15              /* B is aligned, so this is zero after the eighth row of a group */
    bnez temp, .Lnext
    addi column, column, -16
    add column, column, group_bytes
.Lnext:
    bnez rows_left, .Lrow
.Ldone:
    ret
endfunc
