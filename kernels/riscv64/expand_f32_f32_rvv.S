/* expand_f32_f32 of expand_rvv.h: 20 instructions for 64 weights at VLEN 128. 576 rows of rank 8 are
 * 1950 in all, and 1449 at VLEN 256; 1755 cycles in the model of SiFive P670 (llvm-mca 19). */
#include "kernels/riscv64/expand_rvv.h"

func expand_f32_f32_rvv, v
    expand f32
    ret
endfunc
