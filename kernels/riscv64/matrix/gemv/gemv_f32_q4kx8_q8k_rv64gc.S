/* void gemv_f32_q4kx8_q8k_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                                size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0-a7, t0-t6, ft0-ft9, fa0-fa7; saves s0-s11 and ra
 * in a frame of 2848 bytes.
 *
 * The code is in gemv_k_rv64gc.h. Units are sub-blocks: the sum of (nibble - 8) x over 32
 * columns fills an int16. Instructions per 32 weights: 53. */
#define TOKENS 1
#define SCALES K45_SCALES
#define LOW K45_QUANTS
#define HIGH 0
#define UNIT 32
#define SCALED 32 /* columns of a scale */
#define OFFSET 8
#define WITH_OFFSET 3 /* log2 of OFFSET, or 0 if q already includes it */
#define PLACES 2
#include "kernels/riscv64/matrix/gemv_k_rv64gc.h"

.macro make_masks
    li even_mask, 0x000f000f000f000f
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

.macro make_block_masks
.endm

.macro value at
    ld bytes, \at(low_at)
    .if place
    srli bytes, bytes, 4
    .endif
.endm

.macro scale to, row
    lbu \to, \row(bits)
    andi \to, \to, 63
.endm

.macro next_place
    .if place == 0
    addi low_at, low_at, -256
    .endif
.endm

.macro q4k_block
    k_block mins_of_32, Q4K_BYTES
.endm

func gemv_f32_q4kx8_q8k_rv64gc
    open_frame
    gemv_loops q4k_block, Q4K_BYTES
    close_frame
    ret
endfunc
