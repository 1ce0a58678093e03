/* void silu_f32_rv64gc(float *y, const float *x, size_t n)
 *
 * a0 y (may be x), a1 x, a2 n; the rest, and what is clobbered, as gates_rv64gc.h says. */
#include "kernels/riscv64/gates_rv64gc.h"

func silu_f32_rv64gc
    gates a2, a1, a1
endfunc
