/* A block of Q6_K, in Q6_K's kernel and in those of Q5_K, Q3_K and Q2_K, which spread theirs to one:
 * what their gemms share. No kernel: called with the registers and in the frame of k_rv64gc.h, it
 * follows no calling convention. q6k_rv64gc.h. */
#define TOKENS 4
#define ACT_BYTES Q8KX4_BYTES
#define ACT_D Q8KX4_SCALE
#include "kernels/riscv64/q6k_rv64gc.h"

shared q6k_block_gemm_rv64gc, q6k_block
