// void quantize_q8_f32_avx512(struct block_q8 *y, const float *x, size_t n)
//
// rdi y; rsi x; rdx n, then blocks left; all are changed; eax scratch;
// zmm0-zmm3 values, zmm4 max, then d, zmm5 127 / max, zmm6, zmm7 scratch, zmm26 4 * 1024,
// zmm27-zmm31 as in quantize.h, k1.
// Clobbers rax, rdx, rdi, rsi, zmm0-zmm7, zmm26-zmm31, k1.
//
// A step takes two blocks of 32, the low and the high half of a vector.
// vpsadbw sums the bytes after they are made unsigned. 576 elements take 96 ns on Zen 4.
#include "kernels/x86_64/matrix/quantize.h"

// Quantize n blocks, 2 or 1.
.macro quantize_blocks n
    vmovups zmm0, [vector]
    vmovups zmm1, [vector + 64]
    .if \n == 2
    vmovups zmm2, [vector + 128]
    vmovups zmm3, [vector + 192]
    .else
    vmovaps zmm2, zmm27
    vmovaps zmm3, zmm27
    .endif
    take_magnitude 4, 0, 1
    take_magnitude 5, 2, 3
    vshuff64x2 zmm6, zmm4, zmm5, 0x44
    vshuff64x2 zmm7, zmm4, zmm5, 0xee
    vmaxps  zmm4, zmm6, zmm7
    vshuff64x2 zmm5, zmm4, zmm4, 0xb1
    vmaxps  zmm4, zmm4, zmm5
    vpermilps zmm5, zmm4, 0x4e
    vmaxps  zmm4, zmm4, zmm5
    vpermilps zmm5, zmm4, 0xb1
    vmaxps  zmm4, zmm4, zmm5        // max of a block in every lane of its half
    find_scales_avx512 zmm, 4, 5
    vshuff64x2 zmm6, zmm5, zmm5, 0x00
    vshuff64x2 zmm7, zmm5, zmm5, 0xff
    quantize_four 0, 1, 2, 3, 6, 7, 5
    vmovdqu [out], ymm0
    vmovss  dword ptr [out + Q8_SCALE], xmm4
    vpshufd zmm6, zmm5, 0x4e
    vpaddd  zmm5, zmm5, zmm6
    vshufi64x2 zmm6, zmm5, zmm5, 0xb1
    vpaddd  zmm5, zmm5, zmm6
    vpsubd  zmm5, zmm5, zmm26
    vmovd   dword ptr [out + Q8_SUM], xmm5
    .if \n == 2
    vextracti64x4 [out + Q8_BYTES], zmm0, 1
    vextractf32x4 xmm4, zmm4, 2
    vextracti32x4 xmm5, zmm5, 2
    vmovss  dword ptr [out + Q8_BYTES + Q8_SCALE], xmm4
    vmovd   dword ptr [out + Q8_BYTES + Q8_SUM], xmm5
    .endif
.endm

func quantize_q8_f32_avx512
    prepare_avx512
    mov     eax, 4 * 1024
    vpbroadcastd zmm26, eax
    shr     left, 5
    sub     left, 2
    jb      2f
1:
    quantize_blocks 2
    add     vector, 256
    add     out, 2 * Q8_BYTES
    sub     left, 2
    jae     1b
2:
    add     left, 2
    jz      3f
    quantize_blocks 1
3:
endfunc quantize_q8_f32_avx512
