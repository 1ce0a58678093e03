/* void sigmoid_mul_f32_rv64gc(float *y, const float *x, const float *gate, size_t n)
 *
 * a0 y (may be x or gate), a1 x, a2 gate, a3 n; the rest, and what is clobbered, as gates_rv64gc.h says. */
#include "kernels/riscv64/gates_rv64gc.h"

func sigmoid_mul_f32_rv64gc
    gates a3, a2, a1
endfunc
