// The gemvs of the K45 types, which have scales and mins of 6 bits. The kernels name the registers.
#ifndef INGOT_KERNELS_ARM64_GEMV_K45_NEON_H
#define INGOT_KERNELS_ARM64_GEMV_K45_NEON_H

#include "kernels/arm64/matrix/gemv/gemv_neon.h"

#define scales x8
#define quants x9
#define count x10
#define forth x11               // bytes in x from an even sub-block's 16 columns to the odd sub-block's
#define back x12                // bytes from the odd sub-block's columns to the even one's other 16
#define later x13               // weights to prefetch now

#define sums01 v8
#define sums23 v9
#define sums45 v10
#define sums67 v11
#define mask v12
#define low v13
#define acc_low v14
#define acc_high v15

// Multiply the mins of two sub-blocks, bytes in `mins`, by v0.h[from], v0.h[from + 1]
.macro add_mins mins, multiply, from
    uxtl    v20.8h, \mins\().8b
    uxtl2   v21.8h, \mins\().16b
    \multiply   v24.4s, v20.4h, v0.h[\from]
    \multiply\()2 v25.4s, v20.8h, v0.h[\from]
    \multiply   v26.4s, v21.4h, v0.h[\from + 1]
    \multiply\()2 v27.4s, v21.8h, v0.h[\from + 1]
.endm

// y of 8 rows += the block's totals (of rows 0-3 and 4-7) * d - its mins * dmin, times the scale of
// x. The scales of the block end at `scales`, and the sums of x are at `block`.
.macro finish_block low, high
    sub     scales, scales, #64
    ld1     {v0.8h, v1.8h}, [block], #32
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [scales], #64
    ld1     {v20.16b, v21.16b}, [scales]
    addp    v0.8h, v0.8h, v1.8h         // sums of x over 32 columns
    ushr    v16.16b, v16.16b, #6
    ushr    v17.16b, v17.16b, #6
    ushr    v18.16b, v18.16b, #6
    ushr    v19.16b, v19.16b, #6
    and     v22.16b, v20.16b, mask.16b
    and     v23.16b, v21.16b, mask.16b
    ushr    v20.16b, v20.16b, #4
    ushr    v21.16b, v21.16b, #4
    sli     v16.16b, v22.16b, #2
    sli     v17.16b, v23.16b, #2
    sli     v18.16b, v20.16b, #2
    sli     v19.16b, v21.16b, #2
    ld1     {v2.8h, v3.8h}, [weights]   // d, dmin
    ld1r    {v1.4s}, [block]
    add_mins v16, smull, 0
    fcvtl   v4.4s, v2.4h
    fcvtl2  v5.4s, v2.8h
    add_mins v17, smlal, 2
    fcvtl   v6.4s, v3.4h
    fcvtl2  v7.4s, v3.8h
    add_mins v18, smlal, 4
    add_mins v19, smlal, 6
    fmul    v4.4s, v4.4s, v1.4s
    fmul    v5.4s, v5.4s, v1.4s
    fmul    v6.4s, v6.4s, v1.4s
    fmul    v7.4s, v7.4s, v1.4s
    scvtf   \low\().4s, \low\().4s
    scvtf   \high\().4s, \high\().4s
    add     v24.4s, v24.4s, v26.4s
    add     v25.4s, v25.4s, v27.4s
    fmla    acc_low.4s, \low\().4s, v4.4s
    fmla    acc_high.4s, \high\().4s, v5.4s
    scvtf   v24.4s, v24.4s
    scvtf   v25.4s, v25.4s
    add     block, block, #16
    fmls    acc_low.4s, v24.4s, v6.4s
    fmls    acc_high.4s, v25.4s, v7.4s
.endm

#endif
