// void rope_f32_pairs_avx2(float *x, const float *cos_sin, size_t d)
//
// Registers and algorithm: rope_pairs.h.
#include "kernels/x86_64/rope_pairs.h"

rope_pairs rope_f32_pairs_avx2, ymm
