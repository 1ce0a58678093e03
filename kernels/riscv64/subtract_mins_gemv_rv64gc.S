/* The mins of a block, in the kernels of Q4_K and Q5_K:
 * what their gemvs share. No kernel: called with the registers and in the frame of k_rv64gc.h, it
 * follows no calling convention. mins_rv64gc.h. */
#define TOKENS 1
#define ACT_BYTES Q8K_BYTES
#define ACT_D Q8K_SCALE
#include "kernels/riscv64/mins_rv64gc.h"

shared subtract_mins_gemv_rv64gc, subtract_all_mins
