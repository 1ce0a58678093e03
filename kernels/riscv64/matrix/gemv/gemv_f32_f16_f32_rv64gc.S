/* void gemv_f32_f16_f32_rv64gc(float *restrict y, const void *restrict w,
 *                              const float *restrict x, size_t rows, size_t cols, size_t ahead)
 *
 * Four rows share x: the lanes of dot16_rv64gc.h, four of each row at a time. A half shifted into place is the float
 * 2^-112 times its value, which is exact; so is x times 2^112 for x below 2^16: one product makes up for those of four
 * halves, and the fma rounds what it always did. A larger x raises the overflow flag, and a half that is not a number is
 * seen by its exponent: then, and for the last three rows, dot16_rv64gc.h has a gemm of one token.
 * Instructions per weight: 6.5; of the others 8.8. */
#define WEIGHT_BYTES 2
#include "kernels/riscv64/matrix/dot16_rv64gc.h"

#define at0 a5
#define at1 a6
#define at2 a7
#define at3 s0
#define x_at t0
#define at0_end t1
#define bad s1         /* bit 15 of a half whose exponent is that of infinity */
#define one_up s2      /* 1 in each half's exponent */
#define top_bits s3
#define half_lane s6   /* bytes of a row up to the first of four lanes */
#define bytes s7       /* of a row */
#define place s8       /* of the lanes in the frame, of row 0; a row has 64 bytes */
#define temp2 s4

#define FRAME 304      /* lanes of four rows, then fs0 to fs4 */

.macro row_products at, sum0, sum1, sum2, sum3
    ld bits3, 0(\at)
    lh bits0, 0(\at)
    addi \at, \at, 32
    slli bits2, bits3, 16
    sraiw bits1, bits3, 3              /* the half in bits 16 to 31, as widen_shift leaves one */
    add temp2, bits3, one_up
    xor temp2, temp2, bits3                /* a carry into the sign */
    or bad, bad, temp2
    srai bits2, bits2, 35              /* that in bits 48 to 63 */
    srai bits3, bits3, 35
    slli bits0, bits0, 13
    and bits1, bits1, sign_bits
    and bits2, bits2, sign_bits
    and bits3, bits3, sign_bits
    and bits0, bits0, sign_bits
    fmv.w.x ft1, bits1
    fmv.w.x ft2, bits2
    fmv.w.x ft3, bits3
    fmv.w.x ft0, bits0
    fmadd.s \sum1, ft1, ft5, \sum1
    fmadd.s \sum2, ft2, ft6, \sum2
    fmadd.s \sum3, ft3, fs4, \sum3
    fmadd.s \sum0, ft0, ft4, \sum0
.endm

.macro store_row index, sum0, sum1, sum2, sum3
    fsw \sum0, 64*\index(place)
    fsw \sum1, 64*\index + 4(place)
    fsw \sum2, 64*\index + 8(place)
    fsw \sum3, 64*\index + 12(place)
.endm

.macro for_saved op
    \op fs0, 256(sp)
    \op fs1, 264(sp)
    \op fs2, 272(sp)
    \op fs3, 280(sp)
    \op fs4, 288(sp)
.endm

func gemv_f32_f16_f32_rv64gc
    li temp, 4
    bltu rows_left, temp, .Lothers     /* rows and cols are where they belong */
    beqz row_bytes, .Lothers
    push 80, s0, s1, s2, s3, s4, s5, s6, s7, s8
    addi sp, sp, -FRAME
    .cfi_adjust_cfa_offset FRAME
    for_saved fsd
    widen_start temp
    slli bytes, row_bytes, 1
    li one_up, 0x0400040004000400
    slli top_bits, one_up, 5
.Lgroup:
    fsflagsi 0
    li bad, 0
    li half_lane, 0
    mv place, sp
.Lpass:
    .irp sum, fa0, fa1, fa2, fa3, fa4, fa5, fa6, fa7, ft8, ft9, ft10, ft11, fs0, fs1, fs2, fs3
    fmv.w.x \sum, zero
    .endr
    slli x_at, half_lane, 1
    add x_at, x_at, act_start
    add at0, row, half_lane
    add at0_end, at0, bytes
    mv at1, at0_end
    add at2, at1, bytes
    add at3, at2, bytes
.Lsixteen:
    flw ft4, 0(x_at)
    flw ft5, 4(x_at)
    flw ft6, 8(x_at)
    flw fs4, 12(x_at)
    fmul.s ft4, ft4, scale_up
    fmul.s ft5, ft5, scale_up
    fmul.s ft6, ft6, scale_up
    fmul.s fs4, fs4, scale_up
    row_products at0, fa0, fa1, fa2, fa3
    row_products at1, fa4, fa5, fa6, fa7
    row_products at2, ft8, ft9, ft10, ft11
    row_products at3, fs0, fs1, fs2, fs3
    addi x_at, x_at, 64
    bne at0, at0_end, .Lsixteen
    store_row 0, fa0, fa1, fa2, fa3
    store_row 1, fa4, fa5, fa6, fa7
    store_row 2, ft8, ft9, ft10, ft11
    store_row 3, fs0, fs1, fs2, fs3
    addi half_lane, half_lane, 8
    addi place, place, 16
    li temp, 32
    bne half_lane, temp, .Lpass
    frflags temp
    andi temp, temp, FLAG_OVERFLOW
    and bad, bad, top_bits
    or temp, temp, bad
    bnez temp, .Lend
    mv out, dst
    li y_bytes, 4
    li x_bytes, 0
    fold_token 0
    fold_token 1
    fold_token 2
    fold_token 3
    mv dst, out
    slli temp, bytes, 2
    add row, row, temp
    addi rows_left, rows_left, -4
    li temp, 4
    bgeu rows_left, temp, .Lgroup
.Lend:
    for_saved fld
    addi sp, sp, FRAME
    .cfi_adjust_cfa_offset -FRAME
    pop 80, s0, s1, s2, s3, s4, s5, s6, s7, s8
    beqz rows_left, .Lall
.Lothers:
    li n_tokens, 1
    dot_rows f16
.Lall:
    ret
endfunc
