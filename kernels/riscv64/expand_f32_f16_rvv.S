/* expand_f32_f16 of expand_rvv.h. */
#include "kernels/riscv64/expand_rvv.h"

func expand_f32_f16_rvv, v
    expand f16
    ret
endfunc
