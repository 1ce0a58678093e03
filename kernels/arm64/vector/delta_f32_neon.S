// void delta_f32_neon(float *s, float *o, const float *q, const float *k, const float *v,
//                     const struct state_shape *shape, float decay, float beta)
//
// x0 s; x1 o; x2 q; x3 k; x4 v; x5 shape; s0 decay; s1 beta; the rest as in state_neon.h.
// Clobbers x0, x1, x4, x6-x14, v0-v7, v16-v31; d8-d11 are saved; 32 bytes of stack.
//
// There are two passes over a strip of columns, which stays in the first-level cache. The first
// computes the state's answer for k, the second decays the state, writes it and computes the
// output. The first pass reads the state before its decay, as the contract does, so it stores
// nothing. A head of 128 by 128 takes 1.26 instructions per element: 2.7 cycles in the model of
// Cortex-A53, 1.0 in that of Cortex-A72, .64 in that of Neoverse N1 (llvm-mca 19); the compiler's
// C takes 19.2 instructions.
#include "kernels/arm64/vector/state_neon.h"

#define queries x2
#define keys x3
#define values x4

// d = beta (v - decay m)
.macro delta n, row
    fmls    in\n\().4s, sum\n\().4s, decay
    fmul    in\n\().4s, in\n\().4s, gain
.endm

.macro delta_columns width
    read_strip \width, keys
    load_in \width, values
    for_strip \width, delta
    step_strip \width, keys, queries
    store_sums \width
.endm

func delta_f32_neon
    start_state
    for_columns delta_columns
    end_state
    ret
endfunc delta_f32_neon
