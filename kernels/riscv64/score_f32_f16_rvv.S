/* score_f32_f16 of score_f16_rvv.h: 14 instructions for 8 registers of positions, one dimension and
 * three queries; of more than three 16 for the first three and 8 for three others. An infinite or NaN
 * key makes its positions go the slow way. */
#include "kernels/riscv64/score_f16_rvv.h"

func score_f32_f16_rvv, v
    score_f32_f16 0
    ret
endfunc
