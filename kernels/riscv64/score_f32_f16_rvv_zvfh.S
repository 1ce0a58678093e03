/* score_f32_f16 of score_f16_rvv.h: 12 instructions for 8 registers of positions, one dimension and
 * three queries; of more than three 14 for the first three and 8 for three others. */
#include "kernels/riscv64/score_f16_rvv.h"

func score_f32_f16_rvv_zvfh, v
    score_f32_f16 1
    ret
endfunc
