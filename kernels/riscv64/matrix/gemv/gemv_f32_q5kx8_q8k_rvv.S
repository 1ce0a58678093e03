/* void gemv_f32_q5kx8_q8k_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                             size_t ahead)
 *
 * gemv_k16_rvv.h. */
#include "kernels/riscv64/matrix/gemv/gemv_k16_rvv.h"

.macro begin_pairs
    addi bytes_at, group, Q4K_QUANTS
    addi bits_at, group, Q5K_HIGH
    addi scales_at, group, Q4K_SCALES
    li bit_even, 0
    li bit_odd, 1
.endm

.macro next_pair
    addi bytes_at, bytes_at, 256
    addi scales_at, scales_at, 16
    addi bit_even, bit_even, 2
    addi bit_odd, bit_odd, 2
.endm

.macro values k
    addi temp, bits_at, 32*(\k)
    vle8.v bits, (temp)
    vand.vi even, packed, 15
    vsrl.vi odd, packed, 4
    vsrl.vx part, bits, bit_even
    vsrl.vx bits, bits, bit_odd
    vand.vi part, part, 1
    vand.vi bits, bits, 1
    vmacc.vx even, factor, part
    vmacc.vx odd, factor, bits
.endm

.macro load_scales half
    li temp, 63
    vsetivli zero, 16, e8, m1, ta, ma
    vle8.v v20, (scales_at)
    vand.vx v20, v20, temp
    vsetvli zero, zero, e16, m2, ta, ma
    vzext.vf2 v22, v20
.endm

/* v8 (+)= the mins of sub-block \j by its sum. */
.macro add_min j
    addi temp_1, group, Q4K_SCALES + 8*\j
    vsetivli zero, 8, e8, mf2, ta, ma
    vle8.v v0, (temp_1)
    addi temp_1, group, Q4K_MINS + 8*(\j % 4)
    vle8.v v1, (temp_1)
    lh temp, 4*\j(act)
    lh temp_1, 4*\j + 2(act)
    vsrl.vi v0, v0, 6
    .if \j < 4
    vand.vi v1, v1, 15
    .else
    vsrl.vi v1, v1, 4
    .endif
    vsll.vi v1, v1, 2
    add temp, temp, temp_1
    vor.vv v0, v0, v1
    vsetvli zero, zero, e16, m1, ta, ma
    vzext.vf2 v2, v0
    .if \j == 0
    vwmul.vx v8, v2, temp
    .else
    vwmacc.vx v8, temp, v2
    .endif
.endm

.macro finish_block
    add_products
    .irp j, 0, 1, 2, 3, 4, 5, 6, 7
    add_min \j
    .endr
    subtract_mins
.endm

func gemv_f32_q5kx8_q8k_rvv, v
    gemv_k16 Q5K_BYTES, 16
    ret
endfunc
