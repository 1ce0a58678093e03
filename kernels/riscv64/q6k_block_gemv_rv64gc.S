/* A block of Q6_K, in Q6_K's kernel and in those of Q5_K, Q3_K and Q2_K, which spread theirs to one:
 * what their gemvs share. No kernel: called with the registers and in the frame of k_rv64gc.h, it
 * follows no calling convention. q6k_rv64gc.h. */
#define TOKENS 1
#define ACT_BYTES Q8K_BYTES
#define ACT_D Q8K_SCALE
#include "kernels/riscv64/q6k_rv64gc.h"

shared q6k_block_gemv_rv64gc, q6k_block
