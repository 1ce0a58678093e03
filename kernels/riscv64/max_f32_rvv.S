/* float max_f32_rvv(const float *x, size_t n)
 *
 * a0 x, a1 n >= 1; the result in fa0. Clobbers a0-a1, t0-t1, v0-v15.
 * Running maxima in 8 registers, 7 instructions for these, one reduction at the end. */
#include "kernels/riscv64/exp_rvv.h"

#define src a0
#define count a1
#define taken t0
#define bytes t1
#define maximum fa0

func max_f32_rvv, v
    max_of maximum, src, count, taken, bytes
    ret
endfunc
