/* float exp_sum_f32_rvv(float *x, size_t n, float max)
 *
 * a0 x, a1 n, fa0 max; the sum in fa0. Clobbers a0-a2, t0-t1, t6, ft0-ft7, fa3-fa6, v0-v19.
 * 16 lanes a step, 31 instructions. */
#include "kernels/riscv64/exp.h"

#define values a0
#define count a1
#define values_end a2
#define vtype_16 t0
#define temp t1
#define maximum fa0

func exp_sum_f32_rvv, v
    exp_constants temp
    exp_sum_of maximum, values, count, maximum, values_end, vtype_16, temp
    ret
endfunc
