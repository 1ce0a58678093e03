// void silu_f32_neon(float *y, const float *x, size_t n)
//
// x0 y; x1 x; x2 n;
// x4-x8 as in tail_neon.h, x9-x14 and v24-v28 constants, v8-v11 x, v30, v31 bounds.
// Clobbers x0-x2, x4-x14, v0-v7, v16-v31; d8-d15 are saved; 192 bytes of stack.
//
// The loop is in gates_neon.h. The division returns a NaN as a NaN. 16 elements take 75
// instructions: 219 cycles in the model of Cortex-A53, 153 in that of Cortex-A72, 46 in that of
// Neoverse N1 (llvm-mca 19).
#include "kernels/arm64/vector/gates_neon.h"

#define vector x1
#define left x2

.macro silu_sixteen
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [vector], #64
    four_by fmin, exp_x, gates, high_bound.4s
    four_by fmax, exp_x, exp_x, low_bound.4s
    gate_divisor
    four    fdiv, exp_x, gates, exp_z
.endm

func silu_f32_neon
    start_gates
    for_gates left, silu_sixteen, vector
    ret
endfunc silu_f32_neon
