// Unpacks weights whose bits are in separate planes, for gemm_k_panel_avx512_vnni.h.
#ifndef INGOT_KERNELS_X86_64_GEMM_K_BITS_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_GEMM_K_BITS_AVX512_VNNI_H

#include "kernels/x86_64/matrix/gemm/gemm_k_avx512_vnni.h"

.macro mask_bytes reg, value
    mov     eax, \value
    vpbroadcastd zmm\reg, eax
.endm

// Shift up by `by` bits, or down if negative; bits that cross a byte are masked afterwards.
.macro shift_words to, from, by
    .if (\by) > 0
    vpsllw  zmm\to, zmm\from, (\by)
    .elseif (\by) < 0
    vpsrlw  zmm\to, zmm\from, -(\by)
    .elseif 1
    vmovdqa32 zmm\to, zmm\from
    .endif
.endm

#endif
