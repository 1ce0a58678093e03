/* expand_f32_f32 of expand_rvv.h. */
#include "kernels/riscv64/expand_rvv.h"

func expand_f32_f32_rvv, v
    expand f32
    ret
endfunc
