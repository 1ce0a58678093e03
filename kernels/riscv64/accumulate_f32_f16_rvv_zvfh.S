/* accumulate_f32_f16 of accumulate_f16_rvv.h: 11.5 instructions for 8 registers of dimensions, one
 * position and three queries; of more than three 13.5 for the first three and 7.5 for three others. */
#include "kernels/riscv64/accumulate_f16_rvv.h"

func accumulate_f32_f16_rvv_zvfh, v
    accumulate_f32_f16 1
    ret
endfunc
