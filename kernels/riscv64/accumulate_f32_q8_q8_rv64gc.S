/* void accumulate_f32_q8_q8_rv64gc(float *restrict o, const struct score_row *restrict s,
 *                                  const struct block_q8 *restrict w, const void *restrict v,
 *                                  size_t n_q, size_t d)
 *
 * Registers, and what is clobbered: accumulate_int_rv64gc.h. */
#include "kernels/riscv64/accumulate_int_rv64gc.h"

func accumulate_f32_q8_q8_rv64gc
    accumulate_int 8
endfunc
