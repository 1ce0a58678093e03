/* void conv_f32_rv64gc(float *restrict y, const float *restrict x, const float *restrict w,
 *                      const float *restrict bias, const struct conv_shape *restrict shape)
 *
 * a0 y, a1 x, a2 w, a3 bias or 0, a4 shape. Clobbers a0-a7, t0-t3, ft0-ft7, fa0-fa7.
 *
 * Takes eight channels at a time, then single channels. Each tap is added to all eight sums before
 * the next tap, so that no sum waits for itself. The 8 products of a tap take 28 instructions. */
#include "kernels/riscv64/asm.h"

#define dst a0
#define src a1
#define weights a2
#define bias a3
#define left a4        /* first the argument shape */
#define n_taps a5
#define src_bytes a6   /* bytes from a tap to the next */
#define weight_bytes a7
#define position t0
#define weight t1
#define taps_left t2
#define temp t3

.macro four_products at, sum0, sum1, sum2, sum3
    .irp n, 0, 1, 2, 3
    flw ft\n, \at + 4*\n(position)
    .endr
    flw ft4, \at(weight)
    flw ft5, \at + 4(weight)
    flw ft6, \at + 8(weight)
    flw ft7, \at + 12(weight)
    fmadd.s \sum0, ft4, ft0, \sum0
    fmadd.s \sum1, ft5, ft1, \sum1
    fmadd.s \sum2, ft6, ft2, \sum2
    fmadd.s \sum3, ft7, ft3, \sum3
.endm

.macro start_taps
    mv position, src
    mv weight, weights
    mv taps_left, n_taps
.endm

.macro next_tap
    add position, position, src_bytes
    add weight, weight, weight_bytes
    addi taps_left, taps_left, -1
.endm

.macro next_channels count
    addi src, src, 4*\count
    addi weights, weights, 4*\count
    addi dst, dst, 4*\count
    addi left, left, -\count
.endm

func conv_f32_rv64gc
    ld n_taps, CONV_TAPS(left)
    ld src_bytes, CONV_X_STRIDE(left)
    ld weight_bytes, CONV_W_STRIDE(left)
    ld left, CONV_CHANNELS(left)
    slli src_bytes, src_bytes, 2
    slli weight_bytes, weight_bytes, 2
    j .Leights
.Leight:
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fmv.w.x fa\n, zero
    .endr
    beqz bias, .Lstart
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    flw fa\n, 4*\n(bias)
    .endr
    addi bias, bias, 32
.Lstart:
    start_taps
.Ltap:
    four_products 0, fa0, fa1, fa2, fa3
    four_products 16, fa4, fa5, fa6, fa7
    next_tap
    bnez taps_left, .Ltap
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fsw fa\n, 4*\n(dst)
    .endr
    next_channels 8
.Leights:
    li temp, 8
    bgeu left, temp, .Leight
    j .Lones
.Lone:
    fmv.w.x fa0, zero
    beqz bias, .Lstart_one
    flw fa0, 0(bias)
    addi bias, bias, 4
.Lstart_one:
    start_taps
.Ltap_one:
    flw ft0, 0(position)
    flw ft4, 0(weight)
    fmadd.s fa0, ft4, ft0, fa0
    next_tap
    bnez taps_left, .Ltap_one
    fsw fa0, 0(dst)
    next_channels 1
.Lones:
    bnez left, .Lone
    ret
endfunc
