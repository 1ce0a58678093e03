/* void dequantize_f32_q6kx8_rvv(float *restrict y, const void *restrict w, size_t row, size_t cols)
 *
 * a0 y, a1 w, a2 row, a3 cols. Clobbers a0-a7, t0-t5, ft0-ft1, v0-v15.
 *
 * Strided loads gather the row's 8 words of 32 columns: one load for the low and one for the high
 * bits. 32 columns take 30 instructions. */

#define dst a0
#define group a1       /* a block of the row */
#define row a2
#define blocks_left a3
#define low_at a4
#define high_at a5
#define scales_at a6
#define part a7        /* of 32 columns */
#define stride t0
#define sign_bits t1
#define lanes t2
#define temp t3
#define temp_1 t4
#define upper_bits t5  /* 0x30 */
#define scale ft0
#define scale_up ft1   /* 2^112 */

#define low v0         /* m2 */
#define high v2        /* m2 */
#define products v4    /* m4, int16: of 16 columns, then of 16 more */
#define floats v8      /* m8 */

#include "kernels/riscv64/matrix/dequantize_rvv.h"

func dequantize_f32_q6kx8_rvv, v
    find_row group, row, blocks_left, COLS_K_LOG2, Q6K_BYTES, temp, temp_1, .Ldone
    load_float scale_up, F32_2P112, temp
    li sign_bits, F16_SIGN_MAGNITUDE
    li upper_bits, 0x30
    li lanes, 32
    li stride, ROW_STRIDE
.Lblock:
    slli temp_1, row, 1
    add temp_1, temp_1, group
    load_scale scale, temp_1, 0, temp
    add scales_at, group, row
    addi scales_at, scales_at, K36_SCALES
    slli low_at, row, 2
    add low_at, low_at, group
    addi high_at, low_at, Q6K_HIGH
    addi low_at, low_at, Q6K_LOW
    li part, 0
.Lpart:
    vsetivli zero, 8, e32, m2, ta, ma
    vlse32.v low, (low_at), stride
    vlse32.v high, (high_at), stride
    slli temp, part, 2
    slli temp_1, part, 1
    vsetvli zero, lanes, e8, m2, ta, ma
    vsrl.vx low, low, temp             /* shift by 0 or 4: the shift is taken modulo 8 */
    vsrl.vx high, high, temp_1         /* by 0, 2, 4, 6 */
    vand.vi low, low, 15
    vsll.vi high, high, 4
    li temp, -32
    vand.vx high, high, upper_bits
    vor.vv low, low, high
    vadd.vx low, low, temp
    lb temp, 8(scales_at)
    lb temp_1, 0(scales_at)
    addi scales_at, scales_at, 16
    vwmul.vx products, low, temp
    vsetivli zero, 16, e8, m2, tu, ma
    vwmul.vx products, low, temp_1
    vsetvli zero, lanes, e16, m4, ta, ma
    vfwcvt.f.x.v floats, products
    vsetvli zero, zero, e32, m8, ta, ma
    andi temp, part, 1                 /* the low bits change after each second part */
    slli temp, temp, 8
    add low_at, low_at, temp
    addi part, part, 1
    vfmul.vf floats, floats, scale
    vse32.v floats, (dst)
    addi dst, dst, 128
    li temp, 4
    bne part, temp, .Lsame_high
    addi high_at, high_at, 256         /* the high bits change after the fourth part */
.Lsame_high:
    li temp, 8
    bne part, temp, .Lpart
    addi group, group, Q6K_BYTES
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock
.Ldone:
    ret
endfunc
