// void mamba2_f32_neon(float *s, float *y, const float *x, const float *b, const float *c,
//                      const struct state_shape *shape, float decay, float dt)
//
// x0 s; x1 y; x2 x; x3 b; x4 c; x5 shape; s0 decay; s1 dt; the rest as in state_neon.h.
// Clobbers x0-x2, x6-x14, v0-v7, v16-v31; d8-d11 are saved; 32 bytes of stack.
//
// The kernel makes one pass over the state. An element of 128 rows by 64 columns takes .92
// instructions: 1.8 cycles in the model of Cortex-A53, .76 in that of Cortex-A72, .50
// in that of Neoverse N1 (llvm-mca 19); the compiler's C takes 12.1 instructions.
#include "kernels/arm64/vector/state_neon.h"

#define inputs x2
#define gates_in x3
#define gates_out x4

.macro times_dt n, row
    fmul    in\n\().4s, in\n\().4s, gain
.endm

.macro mamba_columns width
    load_in \width, inputs
    for_strip \width, times_dt
    step_strip \width, gates_in, gates_out
    store_sums \width
.endm

func mamba2_f32_neon
    start_state
    for_columns mamba_columns
    end_state
    ret
endfunc mamba2_f32_neon
