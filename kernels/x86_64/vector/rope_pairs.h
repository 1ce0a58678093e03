// rope over neighbouring pairs; AVX2 and AVX-512 share one body.
//
// rdi x; rsi cos_sin; rdx d, even; all are changed; rax scratch;
// ymm or zmm: 0 x; 1 cos and sin; 2, 3 scratch; 4 sign of the even; ymm15 or k1 mask.
// Clobbers rax, rdx, rsi, rdi, ymm0-ymm4 and ymm15 (AVX2), zmm0-zmm4 and k1 (AVX-512).
//
// For a pair (a, b), computes (a, a) * (cos, sin), then adds (-b, b) * (sin, cos) by fma. vfmaddsub
// would give b sin - a cos in the even lanes, whose zero has the other sign.
#ifndef INGOT_KERNELS_X86_64_ROPE_PAIRS_H
#define INGOT_KERNELS_X86_64_ROPE_PAIRS_H

#include "kernels/x86_64/vector/vectors.h"

#define vector rdi
#define turns rsi
#define left rdx
#define left_32 edx

.macro turn_step v, tail, pair=0, turn=1, first=2, second=3, even_sign=4
    load    \v, \pair, vector, \tail
    load    \v, \turn, turns, \tail
    vmovsldup \v\first, \v\pair     // a, a
    vmovshdup \v\second, \v\pair    // b, b
    vmulps  \v\pair, \v\first, \v\turn
    vxorps  \v\second, \v\second, \v\even_sign
    vpermilps \v\turn, \v\turn, 0xb1 // sin, cos
    vfmadd231ps \v\pair, \v\second, \v\turn
    store   \v, \pair, vector, \tail
    advance \v, turns, vector
.endm

.macro rope_pairs name, v
func \name
    mov     eax, 0x80000000
    vmovq   xmm4, rax
    vpbroadcastq \v\()4, xmm4
    for_vectors \v, left, left_32, turn_step
endfunc \name
.endm

#endif
