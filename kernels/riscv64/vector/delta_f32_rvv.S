/* void delta_f32_rvv(float *restrict s, float *o, const float *q, const float *k, const float *v,
 *                    const struct state_shape *restrict shape, float decay, float beta)
 *
 * a0 s, a1 o (may be v), a2 q, a3 k, a4 v, a5 shape, fa0 decay, fa1 beta; the rest as in
 * state_rvv.h. Clobbers a0, a1, a4-a7, t0-t6, ft0-ft2, v0-v31.
 *
 * Makes two passes over a strip of columns, which stays in the first-level cache. The first
 * computes the state's answer for k, the second decays the state, writes it and computes the
 * output. The first pass reads the state before its decay, as the contract does, so it stores
 * nothing. */
#include "kernels/riscv64/vector/state_rvv.h"

#define queries a2
#define keys a3
#define values a4

func delta_f32_rvv, v
    start_state .Ldone
.Lstrip:
    take_columns
    read_strip keys
    vle32.v inputs, (values)
    add values, values, bytes
    vfnmsac.vf inputs, decay, sums     /* v - decay m */
    vfmul.vf inputs, inputs, gain
    step_strip keys, queries
    store_sums
    bnez left, .Lstrip
.Ldone:
    ret
endfunc
