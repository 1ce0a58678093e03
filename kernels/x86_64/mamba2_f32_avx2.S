// void mamba2_f32_avx2(float *s, float *y, const float *x, const float *b, const float *c,
//                      const struct state_shape *shape, float decay, float dt)
//
// Registers and algorithm: states.h; rdx x  rcx b  r8 c, of which the first and the last change places.
#include "kernels/x86_64/states.h"

state mamba2_f32_avx2, ymm, mamba_columns
