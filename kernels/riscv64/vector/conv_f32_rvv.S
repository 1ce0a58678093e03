/* void conv_f32_rvv(float *restrict y, const float *restrict x, const float *restrict w,
 *                   const float *restrict bias, const struct conv_shape *restrict shape)
 *
 * a0 y, a1 x, a2 w, a3 bias or 0, a4 shape. Clobbers a0-a7, t0-t4, v0-v23.
 *
 * A lane is a channel. All taps of 8 registers of channels are
 * added one after the other; a tap takes 7 instructions. */
#include "kernels/riscv64/asm.h"

#define dst a0
#define src a1
#define weights a2
#define bias a3
#define left a4        /* first the argument shape */
#define n_taps a5
#define src_bytes a6   /* bytes from a tap to the next */
#define weight_bytes a7
#define taken t0
#define bytes t1
#define position t2
#define weight t3
#define taps_left t4

#define sums v0        /* m8 each */
#define values v8
#define factors v16

func conv_f32_rvv, v
    ld n_taps, CONV_TAPS(left)
    ld src_bytes, CONV_X_STRIDE(left)
    ld weight_bytes, CONV_W_STRIDE(left)
    ld left, CONV_CHANNELS(left)
    slli src_bytes, src_bytes, 2
    slli weight_bytes, weight_bytes, 2
    beqz left, .Ldone
.Lchannels:
    vsetvli taken, left, e32, m8, ta, ma
    vmv.v.i sums, 0
    slli bytes, taken, 2
    beqz bias, .Lstart
    vle32.v sums, (bias)
    add bias, bias, bytes
.Lstart:
    mv position, src
    mv weight, weights
    mv taps_left, n_taps
.Ltap:
    vle32.v values, (position)
    vle32.v factors, (weight)
    add position, position, src_bytes
    add weight, weight, weight_bytes
    addi taps_left, taps_left, -1
    vfmacc.vv sums, factors, values
    bnez taps_left, .Ltap
    vse32.v sums, (dst)
    add src, src, bytes
    add weights, weights, bytes
    sub left, left, taken
    add dst, dst, bytes
    bnez left, .Lchannels
.Ldone:
    ret
endfunc
