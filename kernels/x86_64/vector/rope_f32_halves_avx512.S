// void rope_f32_halves_avx512(float *x, const float *cos_sin, size_t d)
//
// rdi x; rsi cos_sin; rdx d, even, then pairs left; all are changed; rcx second half of x;
// zmm0 and zmm1 x, zmm2 and zmm3 cos and sin in turn, zmm4 cos, zmm5 sin, zmm6 and zmm7 indices
// of cos and of sin.
// Clobbers rax, rcx, rdx, rdi, rsi, zmm0-zmm7, k1-k3.
//
// Takes 16 pairs per step; cos and sin alternate, and one
// permutation for each separates them. A head of 64 takes 21 cycles.
#include "kernels/x86_64/vector/vectors.h"

    .section .rodata.rope_f32_halves_avx512, "a", @progbits
    .p2align 6
cos_places:
    .byte   0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
    .size   cos_places, . - cos_places

#define first rdi
#define turns rsi
#define left rdx
#define left_32 edx
#define second rcx

.macro turn_sixteen v, tail
    load    zmm, 0, first, \tail
    load    zmm, 1, second, \tail
    .ifb \tail
    vmovups zmm2, [turns]
    vmovups zmm3, [turns + 64]
    .else                           // each pair left has two lanes, cos and sin: 32 lanes
    add     left_32, left_32
    mov     eax, -1
    bzhi    rax, rax, left
    kmovd   k2, eax
    kshiftrd k3, k2, 16
    vmovups zmm2{k2}{z}, [turns]
    vmovups zmm3{k3}{z}, [turns + 64]
    .endif
    vmovdqa64 zmm4, zmm6
    vmovdqa64 zmm5, zmm7
    vpermi2ps zmm4, zmm2, zmm3
    vpermi2ps zmm5, zmm2, zmm3
    vmulps  zmm2, zmm0, zmm4
    vmulps  zmm3, zmm0, zmm5
    vfnmadd231ps zmm2, zmm1, zmm5
    vfmadd231ps zmm3, zmm1, zmm4
    store   zmm, 2, first, \tail
    store   zmm, 3, second, \tail
    add     first, 64
    add     second, 64
    add     turns, 128
.endm

func rope_f32_halves_avx512
    lea     second, [first + 2*left]
    shr     left, 1
    mov     eax, 1
    vpmovzxbd zmm6, [rip + cos_places]
    vpbroadcastd zmm7, eax
    vpaddd  zmm7, zmm7, zmm6
    for_vectors zmm, left, left_32, turn_sixteen
endfunc rope_f32_halves_avx512
