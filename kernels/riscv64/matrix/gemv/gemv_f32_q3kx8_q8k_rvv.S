/* void gemv_f32_q3kx8_q8k_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                             size_t ahead)
 *
 * gemv_k16_rvv.h. Weights are two bits less 4 times the sign. */
#include "kernels/riscv64/matrix/gemv/gemv_k16_rvv.h"

/* The two bits of 128 columns, two pairs, are in the same bytes. */
.macro begin_pairs
    addi bytes_at, group, Q3K_LOW
    addi bits_at, group, Q3K_HIGH
    addi scales_at, group, Q3K_SCALES
    li shift_even, 0
    li shift_odd, 2
    li bit_even, 0
    li bit_odd, 1
.endm

.macro next_pair
    addi scales_at, scales_at, 32
    addi bit_even, bit_even, 2
    addi bit_odd, bit_odd, 2
    xori shift_even, shift_even, 4
    xori shift_odd, shift_odd, 4
    bnez shift_even, .Lsame_bytes\@
    addi bytes_at, bytes_at, 256
.Lsame_bytes\@:
.endm

.macro values k
    addi temp, bits_at, 32*(\k)
    vle8.v bits, (temp)
    vsrl.vx even, packed, shift_even
    vsrl.vx odd, packed, shift_odd
    vsrl.vx part, bits, bit_even
    vsrl.vx bits, bits, bit_odd
    vand.vi even, even, 3
    vand.vi part, part, 1
    vand.vi odd, odd, 3
    vand.vi bits, bits, 1
    vnmsac.vx even, factor, part
    vnmsac.vx odd, factor, bits
.endm

.macro load_scales half
    addi temp, scales_at, 8*\half
    li temp_1, 16
    vsetivli zero, 2, e64, m1, ta, ma
    vlse64.v v20, (temp), temp_1
    vsetivli zero, 16, e16, m2, ta, ma
    vsext.vf2 v22, v20
.endm

.macro finish_block
    add_products
.endm

func gemv_f32_q3kx8_q8k_rvv, v
    gemv_k16 Q3K_BYTES, 4
    ret
endfunc
