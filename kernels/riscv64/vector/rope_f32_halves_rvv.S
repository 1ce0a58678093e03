/* void rope_f32_halves_rvv(float *restrict x, const float *restrict cos_sin, size_t d)
 *
 * a0 x, a1 cos_sin, a2 d (even). Clobbers a0-a3, t0-t1, v0-v23.
 *
 * x0 comes from the first half, x1 from the second; a segment load splits (cos, sin). 4 registers
 * of pairs take 17 instructions. */
#include "kernels/riscv64/asm.h"

#define first_at a0
#define cos_sin a1
#define pairs_left a2
#define second_at a3
#define taken t0
#define bytes t1

#define first v0       /* m4 each */
#define second v4
#define cosine v8      /* the next field is sin */
#define sine v12
#define new_first v16
#define new_second v20

func rope_f32_halves_rvv, v
    srli pairs_left, pairs_left, 1
    slli second_at, pairs_left, 2
    add second_at, second_at, first_at
    beqz pairs_left, .Ldone
.Lrotate:
    vsetvli taken, pairs_left, e32, m4, ta, ma
    vle32.v first, (first_at)
    vle32.v second, (second_at)
    vlseg2e32.v cosine, (cos_sin)
    slli bytes, taken, 2
    sub pairs_left, pairs_left, taken
    vfmul.vv new_first, first, cosine
    vfmul.vv new_second, first, sine
    add cos_sin, cos_sin, bytes        /* two floats a pair */
    add cos_sin, cos_sin, bytes
    vfnmsac.vv new_first, second, sine /* fma(-x1, sin, x0 * cos) */
    vfmacc.vv new_second, second, cosine
    vse32.v new_first, (first_at)
    vse32.v new_second, (second_at)
    add first_at, first_at, bytes
    add second_at, second_at, bytes
    bnez pairs_left, .Lrotate
.Ldone:
    ret
endfunc
