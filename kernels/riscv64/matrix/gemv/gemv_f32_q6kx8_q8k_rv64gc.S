/* void gemv_f32_q6kx8_q8k_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8k *restrict x, size_t rows, size_t cols,
 *                                size_t ahead)
 *
 * a0 y, a1 w, a2 x, a3 rows, a4 cols. Clobbers a0-a7, t0-t6, ft0-ft9, fa0-fa7; keeps s0-s11 and ra
 * in a frame of 4384 bytes.
 *
 * gemv_k_rv64gc.h. (q - 32) x of 8 columns fills an int16, so that a sub-block has two units.
 * Instructions per 32 weights: 80. */
#define TOKENS 1
#define SCALES Q6K_SCALES
#define LOW Q6K_LOW
#define HIGH Q6K_HIGH
#define UNIT 8
#define SCALED 16 /* columns of a scale */
#define OFFSET 32
#define WITH_OFFSET 0 /* log2 of OFFSET where it is not part of q, else 0 */
#define PLACES 4
#include "kernels/riscv64/matrix/gemv_k_rv64gc.h"

.macro make_masks
    li even_mask, 0x00ff00ff00ff00ff
    li sign_bits, F16_SIGN_MAGNITUDE
.endm

.macro make_block_masks
    li low_mask, 0x0f0f0f0f0f0f0f0f
    li high_mask, 0x3030303030303030
.endm

.macro value at
    ld bytes, \at(low_at)
    ld bits, \at(high_at)
    .if place % 2
    srli bytes, bytes, 4
    .endif
    .if place < 2
    slli bits, bits, 4 - 2*place
    .elseif place == 3
    srli bits, bits, 2
    .endif
    and bytes, bytes, low_mask
    and bits, bits, high_mask
    or bytes, bytes, bits
.endm

.macro scale to, row
    lb \to, \row(bits)
.endm

.macro next_place
    .if place % 2 == 0
    addi low_at, low_at, -256
    .endif
    .if place < 3
    addi high_at, high_at, -256
    .endif
.endm

.macro q6k_block
    k_block no_mins, Q6K_BYTES
.endm

func gemv_f32_q6kx8_q8k_rv64gc
    open_frame
    gemv_loops q6k_block, Q6K_BYTES
    close_frame
    ret
endfunc
