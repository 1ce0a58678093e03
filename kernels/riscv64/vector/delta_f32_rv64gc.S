/* void delta_f32_rv64gc(float *restrict s, float *o, const float *q, const float *k,
 *                       const float *v, const struct state_shape *restrict shape, float decay,
 *                       float beta)
 *
 * a0 s, a1 o (may be v), a2 q, a3 k, a4 v, a5 shape, fa0 decay, fa1 beta; the rest as in
 * state_rv64gc.h. Clobbers a0, a1, a4-a7, t1-t5, ft0-ft11, fa2-fa7; saves fs0-fs7 on the stack.
 *
 * Makes two passes over a strip of columns, like delta_f32_rvv. */
#include "kernels/riscv64/vector/state_rv64gc.h"

#define queries a2
#define keys a3
#define values a4

/* d = beta (v - decay m) */
.macro delta index, state, in, sum
    flw \in, 4*\index(values)
    fnmsub.s \in, decay, \sum, \in
    fmul.s \in, \in, gain
.endm

.macro delta_columns width
    read_strip \width, keys
    for_strip \width, delta
    addi values, values, 4*\width
    step_strip \width, keys, queries
.endm

func delta_f32_rv64gc
    start_state
    for_columns delta_columns
    end_state
    ret
endfunc
