// The gemvs of the K45 types with the dot product. Scales and minima have 6 bits. The including
// kernels name the registers.
#ifndef INGOT_KERNELS_ARM64_GEMV_K45_NEON_DOTPROD_H
#define INGOT_KERNELS_ARM64_GEMV_K45_NEON_DOTPROD_H

#include "kernels/arm64/matrix/gemv/gemv_neon_dotprod.h"

#define first_meta x11
#define second_meta x12
#define first_scale x13
#define second_scale x14
#define part_left x15
#define meta_step x16
#define spread w16              // before meta_step

#define low_mask v4
#define six_bits v5

// v16-v19 = indices for tbl; each of the four spreads four bytes to four words.
.macro place_spread
    mov_word spread, 0xffffff00            // four words, each of one byte; index 0xff gives zero
    dup     v16.4s, spread
    add     spread, spread, #1
    ins     v16.s[1], spread
    add     spread, spread, #1
    ins     v16.s[2], spread
    add     spread, spread, #1
    ins     v16.s[3], spread
    movi    v19.4s, #4
    add     v17.4s, v16.4s, v19.4s
    add     v18.4s, v17.4s, v19.4s
    add     v19.4s, v18.4s, v19.4s
.endm

// Totals += sums v20-v23 of two sub-blocks * the scales at `scale`.
.macro add_sub_blocks scale, total0123, total4567
    ld1     {v8.16b}, [\scale], #16
    and     v8.16b, v8.16b, six_bits.16b
    tbl     v9.16b, {v8.16b}, v16.16b
    tbl     v10.16b, {v8.16b}, v17.16b
    tbl     v11.16b, {v8.16b}, v18.16b
    tbl     v8.16b, {v8.16b}, v19.16b
    mla     \total0123\().4s, v20.4s, v9.4s
    mla     \total4567\().4s, v21.4s, v10.4s
    mla     \total0123\().4s, v22.4s, v11.4s
    mla     \total4567\().4s, v23.4s, v8.4s
.endm

// v20, v21 += minima of sub-blocks 2p and 2p + 1, bytes in `pair`, * their sums in v0.
.macro add_minima pair, sum, multiply
    ushll   v14.8h, \pair\().8b, #0
    ushll2  v15.8h, \pair\().16b, #0
    \multiply   v20.4s, v14.4h, v0.h[\sum]
    \multiply\()2 v21.4s, v14.8h, v0.h[\sum]
    smlal   v20.4s, v15.4h, v0.h[\sum + 1]
    smlal2  v21.4s, v15.8h, v0.h[\sum + 1]
.endm

// y of a group += (integers * d - minima * dmin) * the scale of x, which is in v1.
.macro finish_group meta, total0123, total4567, y0123, y4567
    ld1     {v2.8h, v3.8h}, [\meta], #32
    ld1     {v8.16b, v9.16b, v10.16b, v11.16b}, [\meta], #64
    ld1     {v6.16b, v7.16b}, [\meta], meta_step
    ushr    v8.16b, v8.16b, #6
    ushr    v9.16b, v9.16b, #6
    ushr    v10.16b, v10.16b, #6
    ushr    v11.16b, v11.16b, #6
    ushr    v12.16b, v6.16b, #4
    ushr    v13.16b, v7.16b, #4
    sli     v8.16b, v6.16b, #2
    sli     v9.16b, v7.16b, #2
    sli     v10.16b, v12.16b, #2
    sli     v11.16b, v13.16b, #2
    and     v8.16b, v8.16b, six_bits.16b
    and     v9.16b, v9.16b, six_bits.16b
    add_minima v8, 0, smull
    add_minima v9, 2, smlal
    add_minima v10, 4, smlal
    add_minima v11, 6, smlal
    fcvtl   v12.4s, v2.4h
    fcvtl2  v13.4s, v2.8h
    fcvtl   v14.4s, v3.4h
    fcvtl2  v15.4s, v3.8h
    fmul    v12.4s, v12.4s, v1.s[0]
    fmul    v13.4s, v13.4s, v1.s[0]
    scvtf   \total0123\().4s, \total0123\().4s
    scvtf   \total4567\().4s, \total4567\().4s
    fmul    v14.4s, v14.4s, v1.s[0]
    fmul    v15.4s, v15.4s, v1.s[0]
    fmla    \y0123\().4s, \total0123\().4s, v12.4s
    fmla    \y4567\().4s, \total4567\().4s, v13.4s
    scvtf   v20.4s, v20.4s
    scvtf   v21.4s, v21.4s
    fmls    \y0123\().4s, v20.4s, v14.4s
    fmls    \y4567\().4s, v21.4s, v15.4s
.endm

#endif
