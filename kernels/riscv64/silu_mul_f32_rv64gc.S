/* void silu_mul_f32_rv64gc(float *y, const float *gate, const float *up, size_t n)
 *
 * a0 y (may be gate or up), a1 gate, a2 up, a3 n; the rest, and what is clobbered, as gates_rv64gc.h says. */
#include "kernels/riscv64/gates_rv64gc.h"

func silu_mul_f32_rv64gc
    gates a3, a1, a1, a2
endfunc
