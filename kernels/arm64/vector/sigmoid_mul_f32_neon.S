// void sigmoid_mul_f32_neon(float *y, const float *x, const float *gate, size_t n)
//
// x0 y; x1 x; x2 gate; x3 n;
// x4-x8 as in tail_neon.h, x9-x14 and v24-v28 constants, v16-v19 x, v30, v31 bounds.
// Clobbers x0-x14, v0-v7, v16-v31; d8-d15 are saved; 192 bytes of stack.
//
// The loop is in gates_neon.h. fmax turns every NaN into a quiet one, which fminnm replaces by the
// bound. 16 elements take 76 instructions: 229 cycles in the model of Cortex-A53, 155 in that of
// Cortex-A72, 47 in that of Neoverse N1 (llvm-mca 19).
#include "kernels/arm64/vector/gates_neon.h"

#define vector x1
#define gate x2
#define left x3

.macro sigmoid_mul_sixteen
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [gate], #64
    four_by fmax, exp_x, exp_x, low_bound.4s
    four_by fminnm, exp_x, exp_x, high_bound.4s
    gate_divisor
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [vector], #64
    four    fdiv, exp_x, ups, exp_z
.endm

func sigmoid_mul_f32_neon
    start_gates
    for_gates left, sigmoid_mul_sixteen, vector, gate
    ret
endfunc sigmoid_mul_f32_neon
