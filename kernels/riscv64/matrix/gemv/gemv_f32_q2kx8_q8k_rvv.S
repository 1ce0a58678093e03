/* void gemv_f32_q2kx8_q8k_rvv(float *restrict y, const void *restrict w,
 *                             const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                             size_t ahead)
 *
 * gemv_k16_rvv.h. */
#include "kernels/riscv64/matrix/gemv/gemv_k16_rvv.h"

/* The two bits of 128 columns, two pairs, are in the same bytes. */
.macro begin_pairs
    addi bytes_at, group, Q2K_QUANTS
    addi scales_at, group, Q2K_SCALES
    li shift_even, 0
    li shift_odd, 2
.endm

.macro next_pair
    addi scales_at, scales_at, 32
    xori shift_even, shift_even, 4
    xori shift_odd, shift_odd, 4
    bnez shift_even, .Lsame_bytes\@
    addi bytes_at, bytes_at, 256
.Lsame_bytes\@:
.endm

.macro values k
    vsrl.vx even, packed, shift_even
    vsrl.vx odd, packed, shift_odd
    vand.vi even, even, 3
    vand.vi odd, odd, 3
.endm

.macro load_scales half
    addi temp, scales_at, 8*\half
    li temp_1, 16
    vsetivli zero, 2, e64, m1, ta, ma
    vlse64.v v20, (temp), temp_1
    vsetivli zero, 16, e8, m1, ta, ma
    vand.vi v20, v20, 15
    vsetvli zero, zero, e16, m2, ta, ma
    vzext.vf2 v22, v20
.endm

/* v8 (+)= the mins of sub-block \j by its sum. */
.macro add_min j
    addi temp_1, group, Q2K_SCALES + 8*\j
    vsetivli zero, 8, e8, mf2, ta, ma
    vle8.v v0, (temp_1)
    lh temp, 2*\j(act)
    vsrl.vi v0, v0, 4
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
    .irp j, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    add_min \j
    .endr
    subtract_mins
.endm

func gemv_f32_q2kx8_q8k_rvv, v
    gemv_k16 Q2K_BYTES, 1
    ret
endfunc
