/* void softmax_f32_rvv(float *x, size_t n)
 *
 * a0 x, a1 n >= 1. Clobbers a0-a4, t0-t1, ft0-ft7, fa0, fa3-fa6, v0-v31.
 * The passes are the maximum, exp, the sum, and the product with 1 / sum. For 8 registers, maximum,
 * exp and product take 7, 28 and 8 instructions; the sum takes 4 for 16 lanes. */
#include "kernels/riscv64/vector/exp_rvv.h"

#define vector a0
#define count a1
#define position a2
#define left a3
#define values_end a4
#define vtype_16 t0
#define temp t1
#define taken t0
#define bytes t1
#define result fa0     /* first the maximum, then the sum, then its inverse */

func softmax_f32_rvv, v
    mv position, vector
    mv left, count
    max_of result, position, left, taken, bytes

    exp_fall_constants temp            /* nothing is above the maximum */
    mv position, vector
    mv left, count
    exp_all position, left, result, exp_of_fall, taken, bytes
    mv position, vector
    mv left, count
    sum_16_lanes result, position, left, values_end, vtype_16, temp

    fdiv.s result, exp_one, result
.Lscale:
    vsetvli taken, count, e32, m8, ta, ma
    vle32.v v0, (vector)
    slli bytes, taken, 2
    sub count, count, taken
    vfmul.vf v0, v0, result
    vse32.v v0, (vector)
    add vector, vector, bytes
    bnez count, .Lscale
    ret
endfunc
