// void swiglu_oai_f32_avx512(float *y, const float *gate, const float *up, size_t n,
//                            float limit, float alpha)
//
// Registers and algorithm: gates.h; xmm0 limit  xmm1 alpha.
#include "kernels/x86_64/gates.h"

func swiglu_oai_f32_avx512
    vbroadcastss zmm8, xmm0
    vbroadcastss zmm10, xmm1
    op_constant vxorps, zmm, 9, 8, exp_sign
    for_vectors zmm, left, left_32, swiglu_oai_step
endfunc swiglu_oai_f32_avx512
