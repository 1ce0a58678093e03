/* void mamba2_f32_rv64gc(float *restrict s, float *y, const float *x, const float *b,
 *                        const float *c, const struct state_shape *restrict shape, float decay,
 *                        float dt)
 *
 * a0 s, a1 y (may be x), a2 x, a3 b, a4 c, a5 shape, fa0 decay, fa1 dt; the rest as in
 * state_rv64gc.h. Clobbers a0-a2, a5-a7, t1-t5, ft0-ft11, fa2-fa7; saves fs0-fs7 on the stack. */
#include "kernels/riscv64/vector/state_rv64gc.h"

#define sources a2
#define gates_in a3
#define gates_out a4

.macro times_dt index, state, in, sum
    flw \in, 4*\index(sources)
    fmul.s \in, \in, gain
.endm

.macro mamba_columns width
    for_strip \width, times_dt
    addi sources, sources, 4*\width
    step_strip \width, gates_in, gates_out
.endm

func mamba2_f32_rv64gc
    start_state
    for_columns mamba_columns
    end_state
    ret
endfunc
