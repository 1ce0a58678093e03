/* float exp_sum_f32_rvv(float *x, size_t n, float max)
 *
 * a0 x, a1 n, fa0 max; the sum in fa0. Clobbers a0-a4, t0-t1, t6, ft0-ft7, fa3-fa6, v0-v31.
 * 33 instructions for 8 registers, then 4 for 16 lanes of the sum. */
#include "kernels/riscv64/exp_rvv.h"

#define vector a0
#define count a1
#define position a2
#define left a3
#define values_end a4
#define vtype_16 t0
#define temp t1
#define taken t0
#define maximum fa0

func exp_sum_f32_rvv, v
    exp_constants temp
    mv position, vector
    mv left, count
    exp_all position, left, maximum, exp_lanes, taken, temp
    sum_16_lanes maximum, vector, count, values_end, vtype_16, temp
    ret
endfunc
