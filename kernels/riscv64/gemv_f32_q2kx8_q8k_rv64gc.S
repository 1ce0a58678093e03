/* void gemv_f32_q2kx8_q8k_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                                size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0-a7, t0-t6, ft0-ft9, fa0-fa7; keeps s0-s11 and ra
 * in a frame of 3360 bytes.
 *
 * gemv_k_rv64gc.h. Units are sub-blocks.
 * Instructions per 32 weights: 63. */
#define SCALES Q2K_SCALES
#define LOW Q2K_QUANTS
#define HIGH 0
#define UNIT 16
#define SCALED 16 /* columns of a scale */
#define OFFSET 0
#define WITH_OFFSET 0 /* log2 of OFFSET where it is no part of q, else 0 */
#include "kernels/riscv64/gemv_k_rv64gc.h"

.macro make_masks
    li even_mask, 0x0003000300030003
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

.macro make_block_masks
.endm

.macro value at
    ld bytes, \at(low_at)
    srl bytes, bytes, low_shift
.endm

.macro scale to, row
    lbu \to, \row(bits)
    andi \to, \to, 15
.endm

.macro next_place
    next_two_bits low_at, low_shift
.endm

.macro q2k_block
    k_block mins_of_16, Q2K_BYTES
.endm

func gemv_f32_q2kx8_q8k_rv64gc
    open_frame
    gemv_loops q2k_block, Q2K_BYTES
    close_frame
    ret
endfunc
