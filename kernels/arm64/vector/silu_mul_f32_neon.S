// void silu_mul_f32_neon(float *y, const float *gate, const float *up, size_t n)
//
// x0 y; x1 gate; x2 up; x3 n;
// x4-x8 as in tail_neon.h, x9-x14 and v24-v28 constants, v8-v11 gate, v30, v31 bounds.
// Clobbers x0-x14, v0-v7, v16-v31; d8-d15 are saved; 192 bytes of stack.
//
// The loop is in gates_neon.h. The division returns a NaN as a NaN. 16 elements take 57
// instructions for e^-gate, 5 for 1 + e^-gate, 4 divisions and 13 others: 225 cycles in the model
// of Cortex-A53, 157 in that of Cortex-A72, 52 in that of Neoverse N1, which stands for
// Cortex-A76 (llvm-mca 19).
#include "kernels/arm64/vector/gates_neon.h"

#define gate x1
#define up_at x2
#define left x3

.macro silu_mul_sixteen
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [gate], #64
    four_by fmin, exp_x, gates, high_bound.4s
    four_by fmax, exp_x, exp_x, low_bound.4s
    gate_divisor
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [up_at], #64
    four    fdiv, exp_x, gates, exp_z
    four    fmul, exp_x, exp_x, ups
.endm

func silu_mul_f32_neon
    start_gates
    for_gates left, silu_mul_sixteen, gate, up_at
    ret
endfunc silu_mul_f32_neon
