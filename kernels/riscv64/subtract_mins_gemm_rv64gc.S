/* The mins of a block, in the kernels of Q4_K and Q5_K:
 * what their gemms share. No kernel: called with the registers and in the frame of k_rv64gc.h, it
 * follows no calling convention. mins_rv64gc.h. */
#define TOKENS 4
#define ACT_BYTES Q8KX4_BYTES
#define ACT_D Q8KX4_SCALE
#include "kernels/riscv64/mins_rv64gc.h"

shared subtract_mins_gemm_rv64gc, subtract_all_mins
