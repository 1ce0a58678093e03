/* void accumulate_f32_f16_rvv(float *restrict o, const float *restrict p,
 *                             const uint16_t *restrict v, size_t n, size_t d)
 *
 * a0 o, a1 p, a2 v, a3 n, a4 d. Clobbers a0, a2, a4-a7, t0-t5, ft0-ft1, v0-v31.
 *
 * 8 registers of o stay while all n values pass: 14 instructions for each of them. */
#include "kernels/riscv64/vector.h"

#define dst a0
#define weights a1
#define column a2      /* first value of these columns */
#define count a3
#define cols_left a4
#define value_at a5
#define row_bytes a6
#define exponent a7
#define taken t0
#define temp t1
#define sign_bits t2
#define largest t3
#define weight_at t4
#define left t5
#define scale_up ft0
#define weight ft1

#define halves v4      /* m4, fp16 */
#define sums v8        /* m8 */
#define wide v16
#define scratch v24

func accumulate_f32_f16_rvv, v
    widen_f16_constants scale_up, sign_bits, largest, exponent, temp
    slli row_bytes, cols_left, 1
    beqz count, .Ldone
    beqz cols_left, .Ldone
.Lcolumns:
    vsetvli taken, cols_left, e32, m8, ta, mu
    vle32.v sums, (dst)
    mv value_at, column
    mv weight_at, weights
    mv left, count
.Lvalue:
    vle16.v halves, (value_at)
    flw weight, 0(weight_at)
    add value_at, value_at, row_bytes
    widen_f16 wide, halves, scratch, scale_up, sign_bits, largest, exponent
    addi weight_at, weight_at, 4
    addi left, left, -1
    vfmacc.vf sums, weight, wide
    bnez left, .Lvalue
    vse32.v sums, (dst)
    sub cols_left, cols_left, taken
    slli temp, taken, 1
    add column, column, temp
    slli temp, taken, 2
    add dst, dst, temp
    bnez cols_left, .Lcolumns
.Ldone:
    ret
endfunc
