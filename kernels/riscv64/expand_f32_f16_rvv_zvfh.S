/* expand_f32_f16 of expand_rvv.h. */
#include "kernels/riscv64/expand_rvv.h"

func expand_f32_f16_rvv_zvfh, v
    expand f16_zvfh
    ret
endfunc
