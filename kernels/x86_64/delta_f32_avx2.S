// void delta_f32_avx2(float *s, float *o, const float *q, const float *k, const float *v,
//                     const struct state_shape *shape, float decay, float beta)
//
// Registers and algorithm: states.h.
#include "kernels/x86_64/states.h"

state delta_f32_avx2, ymm, delta_columns
