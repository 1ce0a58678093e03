/* accumulate_f32_f16 of accumulate_f16_rvv.h: 13.5 instructions for 8 registers of dimensions, one
 * position and three queries; of more than three 15.5 for the first three and 7.5 for three others. An
 * infinite or NaN value makes its columns go the slow way. */
#include "kernels/riscv64/accumulate_f16_rvv.h"

func accumulate_f32_f16_rvv, v
    accumulate_f32_f16 0
    ret
endfunc
