// void swiglu_oai_f32_neon(float *y, const float *gate, const float *up, size_t n, float limit,
//                          float alpha)
//
// x0 y; x1 gate; x2 up; x3 n; s0 limit; s1 alpha;
// x4-x8 as in tail_neon.h, x9-x14 and v24-v28 constants, v8-v11 gate, v12 limit, v13 -limit, v29
// alpha, v30, v31 bounds.
// Clobbers x0-x14, v0-v7, v16-v31; d8-d15 are saved; 192 bytes of stack.
//
// The loop is in gates_neon.h. fmin and fmax keep NaNs, and so do the division and the product. 16
// elements take 100 instructions: 259 cycles in the model of Cortex-A53, 175 in that of Cortex-A72,
// 58 in that of Neoverse N1 (llvm-mca 19).
#include "kernels/arm64/vector/gates_neon.h"

#define gate x1
#define up_at x2
#define left x3
#define upper v12.4s
#define lower v13.4s
#define alpha v29.s[0]

.macro swiglu_sixteen
    ld1     {v8.4s, v9.4s, v10.4s, v11.4s}, [gate], #64
    four_by fmin, gates, gates, upper
    four_by fmul, exp_x, gates, alpha
    four_by fmin, exp_x, exp_x, high_bound.4s
    four_by fmax, exp_x, exp_x, low_bound.4s
    gate_divisor
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [up_at], #64
    four_by fmin, ups, ups, upper
    four_by fmax, ups, ups, lower
    four    fdiv, exp_x, gates, exp_z
    four_by fadd, ups, ups, exp_one.4s
    four    fmul, exp_x, exp_x, ups
.endm

func swiglu_oai_f32_neon
    start_gates
    dup     upper, v0.s[0]
    fneg    lower, upper
    dup     v29.4s, v1.s[0]
    for_gates left, swiglu_sixteen, gate, up_at
    ret
endfunc swiglu_oai_f32_neon
