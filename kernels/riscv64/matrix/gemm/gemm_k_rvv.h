/* Shared by the RVV gemms with blocks of 256 columns. Tokens are taken in chunks of about 16. A
 * chunk's int32 sums over a block are kept in the scratch. The scratch, from sp on: columns, int8
 * [32][TILE]; the sums; the kernel's own data. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_K_RVV_H
#define INGOT_KERNELS_RISCV64_GEMM_K_RVV_H

#include "kernels/riscv64/matrix/gemm/gemm_rvv.h"

#define scale_at s0    /* SCALE_AT in the scratch */
#define first_part s0  /* used instead of scale_at if a block has several d */
#define chunk_left s6  /* tokens left, from this chunk on */
#define chunk_act s7   /* its first tokens' block */
#define chunk_out s8   /* its first token's y */
#define part s9        /* bytes of 32 columns of the block */
#define chunk_tokens s10
#define acc s11        /* int32 sums of a token */

#ifndef TOKENS
#define TOKENS 16      /* tokens of a chunk, rounded up to fours */
#endif
#define ACC_AT (32 * TILE)                    /* int32 [TOKENS][TILE] */
#define SCALE_AT (ACC_AT + 4 * TILE * TOKENS) /* int16: scales of the current columns */

.macro scratch reg, offset
    li \reg, \offset
    add \reg, \reg, sp
.endm

/* These three macros give the most tokens in a chunk and the bytes from one token's sums to the
 * next token's, and advance acc to the next token. */
#ifndef SUMS_BY_VLEN /* a kernel with SUMS_BY_VLEN defines these three */
.macro most_tokens to
    li \to, TOKENS
.endm

.macro sums_stride to
    li \to, 4 * TILE
.endm

.macro next_sums tokens
    addi acc, acc, 4 * TILE * \tokens
.endm
#endif

/* Clear the chunk's int32 sums. */
.macro clear_sums
    li temp, TILE
    vsetvli temp, temp, e32, m8, ta, ma /* divides TILE */
    vmv.v.i v0, 0
    slli temp, temp, 2
    scratch out, ACC_AT
    sums_stride tokens_left
    mul tokens_left, tokens_left, chunk_tokens
.Lvector\@:
    vse32.v v0, (out)
    add out, out, temp
    sub tokens_left, tokens_left, temp
    bnez tokens_left, .Lvector\@
.endm

/* Take the next tile's rows; clear its y of every token. */
.macro take_tile
    take_tile_rows
    mv out, dst
    mv tokens_left, n_tokens
    slli temp_1, rows_low, 2
    add temp_1, temp_1, dst
    clear_halves v0
.endm

/* Add the block's sums of a token, at acc, to its y; then move to the next token. */
.macro finish token
    flw act_scale, 4*\token(act)
    li temp, 0
    finish_half \token, rows_low
    beqz rows_high, .Lfinished\@
    second_half
    finish_half \token, rows_high
.Lfinished\@:
    next_sums 1
    add chunk_out, chunk_out, y_stride
.endm

.macro begin_columns at_once
    .ifc \at_once, 4
    vsetvli zero, rows, e8, m2, ta, ma
    .else
    vsetvli zero, rows, e8, m4, ta, ma
    .endif
.endm

/* Multiply one part of the chunk; \eight and \at_once as in four_columns. */
.macro multiply_pairs sums_at, eight, at_once
.Lpair\@:
    mv column_at, sp
    multiply_pair \eight, \at_once
    next_sums 2
    next_pair \sums_at
    addi tokens_left, tokens_left, -2
    bgtz tokens_left, .Lpair\@
.endm

/* Body of a gemm; runs after load_shape. \sums_at is the offset of the activations' sums in the scratch; `out`
 * advances through them, 32 bytes per pair of tokens. \sums_at is blank if no sums are needed. The kernel defines
 * the macros decode_scales (for a block), begin_chunk (clears its int32 sums), decode_part (32 columns of the tile,
 * and their scales), multiply_pair (multiply these by two tokens, into the int32 sums at acc), second_half (temp =
 * the start of the rows beyond rows_low) and finish_half (for the rows from temp on, add the sums of the block to
 * y). If \parts is below 8, all these macros run again for each \parts * 32 columns, from first_part on. If \whole
 * is not blank, columns of the scratch have 64 bytes, whole registers at VLEN 128 and 256, and multiply_pair takes
 * \eight and \at_once. */
.macro gemm_loops_k block_bytes, sums_at, parts=8, whole
    beqz rows_left, .Ldone
.Ltile:
    take_tile
    beqz n_tokens, .Lnext_tile
    beqz group_bytes, .Lnext_tile
    mv group_at, weights
    mv act_block, act_start
.Lblock:
    .if \parts < 8
    li first_part, 0
    .endif
.Lscales:
    decode_scales
    mv chunk_act, act_block
    mv chunk_out, dst
    mv chunk_left, n_tokens
.Lchunk:
    most_tokens chunk_tokens
    at_most chunk_tokens, chunk_left
    begin_chunk
    .if \parts < 8
    mv part, first_part
    .else
    li part, 0
    .endif
.Lpart:
    decode_part
    slli act, part, 7
    add act, act, chunk_act
    scratch acc, ACC_AT
    .ifnb \sums_at
    scratch out, \sums_at
    slli temp, part, 2
    add out, out, temp
    .endif
    mv tokens_left, chunk_tokens
    li step, 8
    .ifnb \whole
    csrr temp, vlenb
    addi temp, temp, -16
    beqz temp, .Lpairs_128
    addi temp, temp, -16
    beqz temp, .Lpairs_256
    .endif
    multiply_pairs \sums_at
    .ifnb \whole
    j .Lnext_part
.Lpairs_128:
    multiply_pairs \sums_at, 128, 2
    j .Lnext_part
.Lpairs_256:
    multiply_pairs \sums_at, 256, 4
.Lnext_part:
    .endif
    addi part, part, 1
    .if \parts < 8
    addi temp, first_part, \parts
    .else
    li temp, 8
    .endif
    bne part, temp, .Lpart

    addi act, chunk_act, Q8KX4_SCALE
    scratch acc, ACC_AT
    .ifnb \sums_at
    scratch out, \sums_at
    .endif
    mv tokens_left, chunk_tokens
    li step, 8
.Lfinish_pair:
    finish 0
    addi tokens_left, tokens_left, -2
    bltz tokens_left, .Lnext_block     /* there is no second token */
    finish 1
    next_pair \sums_at
    bnez tokens_left, .Lfinish_pair
    srli temp, chunk_tokens, 2         /* size of a whole chunk; only the last chunk may be shorter */
    mul temp, temp, group_bytes
    add chunk_act, chunk_act, temp
    sub chunk_left, chunk_left, chunk_tokens
    bnez chunk_left, .Lchunk
.Lnext_block:
    .if \parts < 8
    addi first_part, first_part, \parts
    li temp, 8
    bne first_part, temp, .Lscales
    .endif
    addi act_block, act_block, Q8KX4_BYTES
    addi group_at, group_at, \block_bytes
    add temp, act_start, group_bytes
    bne act_block, temp, .Lblock
.Lnext_tile:
    next_tile
.Ldone:
.endm

.macro next_pair sums_at
    .ifnb \sums_at
    addi out, out, 32
    .endif
    add act, act, step
    sub step, group_bytes, step
.endm

#endif
