/* void rope_f32_pairs_rvv(float *restrict x, const float *restrict cos_sin, size_t d)
 *
 * a0 x, a1 cos_sin, a2 d (even). Clobbers a0-a2, t0-t1, v0-v23.
 *
 * Segment loads split the pairs (x0, x1) and (cos,
 * sin). 4 registers of pairs take 13 instructions. */
#include "kernels/riscv64/asm.h"

#define pairs_at a0
#define cos_sin a1
#define pairs_left a2
#define taken t0
#define bytes t1

#define first v0       /* m4: x0, and the next field x1 */
#define second v4
#define cosine v8
#define sine v12
#define new_first v16
#define new_second v20

func rope_f32_pairs_rvv, v
    srli pairs_left, pairs_left, 1
    beqz pairs_left, .Ldone
.Lrotate:
    vsetvli taken, pairs_left, e32, m4, ta, ma
    vlseg2e32.v first, (pairs_at)
    vlseg2e32.v cosine, (cos_sin)
    slli bytes, taken, 3
    sub pairs_left, pairs_left, taken
    vfmul.vv new_first, first, cosine
    vfmul.vv new_second, first, sine
    add cos_sin, cos_sin, bytes
    vfnmsac.vv new_first, second, sine /* fma(-x1, sin, x0 * cos) */
    vfmacc.vv new_second, second, cosine
    vsseg2e32.v new_first, (pairs_at)
    add pairs_at, pairs_at, bytes
    bnez pairs_left, .Lrotate
.Ldone:
    ret
endfunc
