/* What the RVV gemms of Q4_K and Q6_K share: tokens in chunks of 16, whose int32 sums over a block
 * wait in the scratch. The scratch, from sp on: columns, int8 [32][TILE]; the sums; what the kernel
 * has besides. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_K_H
#define INGOT_KERNELS_RISCV64_GEMM_K_H

#include "kernels/riscv64/gemm.h"

#define scale_at s0    /* SCALE_AT in the scratch */
#define chunk_left s6  /* tokens from this chunk on */
#define chunk_act s7   /* its first tokens' block */
#define chunk_out s8   /* its first token's y */
#define chunk_tokens s10
#define acc s11        /* int32 sums of a token */

#define TOKENS 16      /* of a chunk */
#define ACC_AT (32 * TILE)                    /* int32 [TOKENS][TILE] */
#define SCALE_AT (ACC_AT + 4 * TILE * TOKENS) /* int16: of the columns at hand */

.macro scratch reg, offset
    li \reg, \offset
    add \reg, \reg, sp
.endm

/* Zeros to the chunk's int32 sums. */
.macro clear_sums
    li temp, TILE
    vsetvli temp, temp, e32, m8, ta, ma /* divides TILE */
    vmv.v.i v0, 0
    slli temp, temp, 2
    scratch out, ACC_AT
    li tokens_left, 4 * TILE * TOKENS
.Lvector\@:
    vse32.v v0, (out)
    add out, out, temp
    sub tokens_left, tokens_left, temp
    bnez tokens_left, .Lvector\@
.endm

/* Zeros to the tile's y of every token. */
.macro clear_tile
    mv out, dst
    mv tokens_left, n_tokens
    slli temp_1, rows_low, 2
    add temp_1, temp_1, dst
    vsetvli zero, rows_low, e32, m8, ta, ma
    vmv.v.i v0, 0
.Ltoken\@:
    beqz tokens_left, .Lcleared\@
    vsetvli zero, rows_low, e32, m8, ta, ma
    vse32.v v0, (out)
    vsetvli zero, rows_high, e32, m8, ta, ma
    vse32.v v0, (temp_1)
    add out, out, y_stride
    add temp_1, temp_1, y_stride
    addi tokens_left, tokens_left, -1
    j .Ltoken\@
.Lcleared\@:
.endm

#endif
