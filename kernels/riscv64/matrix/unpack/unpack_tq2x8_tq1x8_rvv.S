/* void unpack_tq2x8_tq1x8_rvv(void *restrict y, const void *restrict w, size_t n)
 *
 * a0 y, a1 w, a2 blocks left. Clobbers a0-a7, t1-t6, v0-v19.
 *
 * The upper byte of a byte times 3^n is the number that the first n digits form (kernels/ref/unpack.c). The 96 places of fifth
 * digits are taken in parts that four registers hold: 48 to 64 at VLEN 128, all 96 from 256 on. A block takes 176
 * instructions at VLEN 128, 102 from 256 on. */
#include "kernels/riscv64/matrix/unpack/unpack_rvv.h"

#define places_left a3
#define taken a4
#define from a5
#define to a6
#define fifths_at a7
#define times3 t3
#define times9 t4
#define times27 t5
#define times81 t6
#define times243 t2

/* m4 each */
#define digits v0
#define whole v4       /* the number of the first four digits */
#define part v8
#define sum v12
#define fifths v16

/* Unpack the first four digits of the bytes at \at to the same place of the result. */
.macro four_digits at, place
    vle8.v digits, (\at)
    vmulhu.vx whole, digits, times81
    vmulhu.vx part, digits, times27
    vadd.vv sum, whole, part
    vmulhu.vx part, digits, times9
    vsll.vi part, part, 2
    vadd.vv sum, sum, part
    vmulhu.vx part, digits, times3
    vsll.vi part, part, 4
    vadd.vv sum, sum, part
    vse8.v sum, (\place)
.endm

.macro fifth_digit
    vmulhu.vx part, digits, times243
    vnmsac.vx part, times3, whole
.endm

func unpack_tq2x8_tq1x8_rvv, v
    beqz blocks_left, .Ldone
    li times3, 3
    li times9, 9
    li times27, 27
    li times81, 81
.Lblock:
    copy_scales
    li times243, 243
    addi fifths_at, out, TQ1_DIGITS
    li places_left, TQ1_FIFTHS
.Lplaces:
    vsetvli taken, places_left, e8, m4, ta, ma
    mv from, weights
    mv to, out
    four_digits from, to
    fifth_digit
    vmv.v.v fifths, part
    .irp shift, 2, 4, 6
    addi from, from, TQ1_FIFTHS
    addi to, to, TQ1_FIFTHS
    four_digits from, to
    fifth_digit
    vsll.vi part, part, \shift
    vor.vv fifths, fifths, part
    .endr
    vse8.v fifths, (fifths_at)
    add fifths_at, fifths_at, taken
    add weights, weights, taken
    add out, out, taken
    sub places_left, places_left, taken
    bnez places_left, .Lplaces
    addi weights, weights, 3 * TQ1_FIFTHS
    addi out, out, 3 * TQ1_FIFTHS
    li places_left, TQ1_DIGITS - 4 * TQ1_FIFTHS
    vsetvli zero, places_left, e8, m4, ta, ma
    four_digits weights, out
    addi weights, weights, TQ1_DIGITS - 4 * TQ1_FIFTHS
    mv out, fifths_at
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock
.Ldone:
    ret
endfunc
