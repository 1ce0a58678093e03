/* void score_f32_q8_rv64gc(struct score_row *restrict s, const struct block_q8 *restrict q,
 *                          const void *restrict k, size_t n_q, size_t n, size_t d)
 *
 * Registers, and what is clobbered: score_int_rv64gc.h. */
#include "kernels/riscv64/score_int_rv64gc.h"

func score_f32_q8_rv64gc
    score_int 8
endfunc
