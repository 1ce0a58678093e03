// void gemm_f32_q8x8_q8x4_sve(float *y, const void *w, const struct block_q8x4 *x,
//                             const struct gemm_shape *shape)
//
// x0 y  x1 w  x2 x  x3 shape; the loops are in gemm_sve.h
// z24-z31 y of 8 rows and 8 tokens, z16-z23 their sums; z8-z11 weights, z0-z7 x
// Clobbers x0-x17, z0-z7, z16-z31, the high parts of z8-z15, p0-p2; x19-x26 and d8-d15 are saved.
//
// The weights are used where they lie. A block of 8 rows takes a token 8 sdot and 3 others in the
// vector pipes at 256 bits, 16.3 instructions in all: 6.1 cycles in the model of Neoverse V1
// (llvm-mca 19).
#include "kernels/arm64/gemm_sve.h"

.macro multiply_q8_sve
    mov     w_step, #128 + QUANTS           // over the scales of the next block
    multiply_32
.endm

func gemm_f32_q8x8_q8x4_sve, sve
    gemm_sve_tiles gemm_f32_q8x8_q8x4_neon_dotprod, prepare_q8, multiply_q8_sve, COLS_LOG2, \
                   Q8X4_BYTES, Q8_SLICE, Q8_SCRATCH
endfunc gemm_f32_q8x8_q8x4_sve
