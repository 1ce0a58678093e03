// Like gemv_k_avx512_vnni.h, for weights whose bits are in separate planes. Also clobbers
// ymm24-ymm26, ymm30, ymm31.
#ifndef INGOT_KERNELS_X86_64_GEMV_K_BITS_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMV_K_BITS_AVX512_VNNI_H

#include "kernels/x86_64/matrix/gemv/gemv_k_avx512_vnni.h"

#define mask ymm30              // of whole weights
#define two_bits ymm31

// Shift up by `by` bits, or down if negative; bits that cross a byte are masked afterwards.
.macro shift_words to, from, by
    .if (\by) > 0
    vpsllw  ymm\to, ymm\from, (\by)
    .elseif (\by) < 0
    vpsrlw  ymm\to, ymm\from, -(\by)
    .elseif 1
    vmovdqa32 ymm\to, ymm\from
    .endif
.endm

#endif
