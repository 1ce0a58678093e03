/* void mamba2_f32_rvv(float *restrict s, float *y, const float *x, const float *b, const float *c,
 *                     const struct state_shape *restrict shape, float decay, float dt)
 *
 * a0 s, a1 y (may be x), a2 x, a3 b, a4 c, a5 shape, fa0 decay, fa1 dt; the rest as state_rvv.h
 * says. Clobbers a0-a2, a5-a7, t0-t6, ft0-ft2, v0-v31. One pass over the state. */
#include "kernels/riscv64/state_rvv.h"

#define sources a2
#define gates_in a3
#define gates_out a4

func mamba2_f32_rvv, v
    start_state .Ldone
.Lstrip:
    take_columns
    vle32.v inputs, (sources)
    add sources, sources, bytes
    vfmul.vf inputs, inputs, gain
    step_strip gates_in, gates_out
    store_sums
    bnez left, .Lstrip
.Ldone:
    ret
endfunc
