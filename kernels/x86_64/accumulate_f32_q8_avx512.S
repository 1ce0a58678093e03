// void accumulate_f32_q8_avx512(float *o, const struct score_row *s, const void *v,
//                              size_t n_q, size_t n, size_t d)
//
// Registers and algorithm: accumulate_avx512.h. Clobbers all that the ABI gives, k1-k4.
#include "kernels/x86_64/accumulate_avx512.h"

accumulate_avx512 accumulate_f32_q8_avx512, q8
