/* Shared by the scalar gemms over interleaved blocks: the loops. The sums of 8 rows and 4 tokens
 * are kept in the frame, so that one block can use all integer registers. */
#ifndef INGOT_KERNELS_RISCV64_GEMM_RV64GC_H
#define INGOT_KERNELS_RISCV64_GEMM_RV64GC_H

#include "kernels/riscv64/asm.h"

#define block a1
#define act a2
#define mask a3        /* the kernel sets it */
#define dst a0         /* arguments, until the loops begin */
#define shape a3
#define act0 a4        /* activations of the 4 tokens */
#define act1 a5
#define act2 a6
#define act3 a7
#define temp t0        /* between blocks */
#define temp_1 t1
#define temp_2 t2
#define word t0
#define product0 t1
#define product1 t2
#define product2 a0
/* dots\p\t: the packed dots of row pair p and token t. */
#define dots00 s0
#define dots01 s1
#define dots02 s2
#define dots03 s3
#define dots10 s4
#define dots11 s5
#define dots12 s6
#define dots13 s7
#define dots20 s8
#define dots21 s9
#define dots22 s10
#define dots23 s11
#define dots30 t3
#define dots31 t4
#define dots32 t5
#define dots33 t6
/* ft0-ft7: scales of the rows. fa0-fa3: of the tokens. */
#define scale_up fa7   /* 2^112 */

/* The frame: sums[token][row], the state of the loops, s0-s11. */
#define FRAME_Y 128      /* y of this group of rows */
#define FRAME_W 136
#define FRAME_X 144
#define FRAME_ROWS 152   /* left */
#define FRAME_SHAPE 160
#define FRAME_OUT 168    /* y of this group of tokens */
#define FRAME_TOKENS 176 /* left */
#define FRAME_X_END 184
#define FRAME_SAVED 192
#define FRAME_RA 288       /* space for a kernel that needs one more register */
#define FRAME_CHUNKS 296   /* iterations left in a block */
#ifndef FRAME_BYTES
#define FRAME_BYTES 304
#endif

.macro open_frame
    push_at FRAME_SAVED, FRAME_BYTES, ALL_SAVED
.endm

.macro close_frame
    pop_at FRAME_SAVED, FRAME_BYTES, ALL_SAVED
.endm

/* Call \macro with the dots of row pair \pair for each token, then \more. */
.macro of_pair pair, macro, more:vararg
    .if \pair == 0
    \macro dots00, dots01, dots02, dots03, \more
    .elseif \pair == 1
    \macro dots10, dots11, dots12, dots13, \more
    .elseif \pair == 2
    \macro dots20, dots21, dots22, dots23, \more
    .else
    \macro dots30, dots31, dots32, dots33, \more
    .endif
.endm

.macro of_pairs macro, more:vararg
    of_pair 0, \macro, \more
    of_pair 1, \macro, \more
    of_pair 2, \macro, \more
    of_pair 3, \macro, \more
.endm

.macro set_dots dots0, dots1, dots2, dots3, value0, value1, value2, value3
    mv \dots0, \value0
    mv \dots1, \value1
    mv \dots2, \value2
    mv \dots3, \value3
.endm

/* Multiply word by a4-a7 and add to the dots (\op is add) or subtract from them (sub). */
.macro four_tokens dots0, dots1, dots2, dots3, op
    mul product0, word, act0
    mul product1, word, act1
    mul product2, word, act2
    mul word, word, act3
    \op \dots0, \dots0, product0
    \op \dots1, \dots1, product1
    \op \dots2, \dots2, product2
    \op \dots3, \dots3, word
.endm

/* A loop of \turns over the chunks of a block, which advances block and act. */
.macro begin_chunks label, turns
    li word, \turns
\label:
    sd word, FRAME_CHUNKS(sp)
.endm

.macro next_chunks label, block_step, act_step
    ld word, FRAME_CHUNKS(sp)
    addi block, block, \block_step
    addi act, act, \act_step
    addi word, word, -1
    bnez word, \label
.endm

/* ft0-ft7 = the 8 fp16 scales at \offset(block), finite; \bits and word are clobbered. */
.macro load_row_scales offset, bits
    li \bits, F16_SIGN_MAGNITUDE
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    lh word, \offset + 2*\n(block)
    slli word, word, 13
    and word, word, \bits
    fmv.w.x ft\n, word
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fmul.s ft\n, ft\n, scale_up
    .endr
.endm

/* Call \macro for the four tokens of a pair of rows from \row on. */
.macro finish_tokens dots0, dots1, dots2, dots3, macro, row, scale0, scale1
    \macro \dots0, \row, \scale0, \scale1, 0
    \macro \dots1, \row, \scale0, \scale1, 1
    \macro \dots2, \row, \scale0, \scale1, 2
    \macro \dots3, \row, \scale0, \scale1, 3
.endm

.macro finish_rows macro
    of_pair 0, finish_tokens, \macro, 0, ft0, ft1
    of_pair 1, finish_tokens, \macro, 2, ft2, ft3
    of_pair 2, finish_tokens, \macro, 4, ft4, ft5
    of_pair 3, finish_tokens, \macro, 6, ft6, ft7
.endm

/* sum = \fma((float)dot, scale * x.d, sum) for \first and \second, the dots of rows \row and \row +
 * 1, with scales \scale0 and \scale1, of token \token. */
.macro finish_pair fma, first, second, row, scale0, scale1, token
    fcvt.s.w fa4, \first
    fcvt.s.w fa5, \second
    flw ft10, 32*\token + 4*\row(sp)
    flw ft11, 32*\token + 4*\row + 4(sp)
    fmul.s ft8, \scale0, fa\token
    fmul.s ft9, \scale1, fa\token
    \fma ft10, fa4, ft8, ft10
    \fma ft11, fa5, ft9, ft11
    fsw ft10, 32*\token + 4*\row(sp)
    fsw ft11, 32*\token + 4*\row + 4(sp)
.endm

/* sum += m * (x.sum * x.d) for 8 rows, whose m are at \offset(block), and four tokens, fa0-fa3. */
.macro add_minima offset
    load_row_scales \offset, product0
    .irp token, 0, 1, 2, 3
    add_two_minima \token, 0, 1
    add_two_minima \token, 2, 3
    add_two_minima \token, 4, 5
    add_two_minima \token, 6, 7
    .endr
.endm

.macro add_two_minima token, row, next
    flw ft10, 32*\token + 4*\row(sp)
    flw ft11, 32*\token + 4*\row + 4(sp)
    fmadd.s ft10, ft\row, fa\token, ft10
    fmadd.s ft11, ft\next, fa\token, ft11
    fsw ft10, 32*\token + 4*\row(sp)
    fsw ft11, 32*\token + 4*\row + 4(sp)
.endm

/* Compute all rows in eights and tokens in fours; \block_macro adds a block's products to the sums.
 * a0-a3: the arguments of a gemm; \block_macro gets block and act, and may clobber all registers
 * except sp and mask. */
.macro gemm_loops block_macro, block_bytes, act_bytes, cols_shift
    sd shape, FRAME_SHAPE(sp)
    ld temp, SHAPE_ROWS(shape)
    ld temp_1, SHAPE_TOKENS(shape)
    sd dst, FRAME_Y(sp)
    sd block, FRAME_W(sp)
    sd act, FRAME_X(sp)
    sd temp, FRAME_ROWS(sp)
    beqz temp, .Ldone
    beqz temp_1, .Ldone
    start
.Lrows:
    ld act, FRAME_X(sp)
    ld temp, FRAME_Y(sp)
    ld temp_1, FRAME_SHAPE(sp)
    ld temp_1, SHAPE_TOKENS(temp_1)
    sd temp, FRAME_OUT(sp)
    sd temp_1, FRAME_TOKENS(sp)
.Ltokens:
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    sd zero, 8*\n(sp)
    .endr
    ld block, FRAME_W(sp)
    ld temp, FRAME_SHAPE(sp)
    ld temp, SHAPE_COLS(temp)
    addi temp, temp, (1 << \cols_shift) - 1 /* the last block of FIG4 may be half a block */
    srli temp, temp, \cols_shift
    li temp_1, \act_bytes
    mul temp, temp, temp_1
    add temp, temp, act
    sd temp, FRAME_X_END(sp)
    beq act, temp, .Lstore
.Lblock:
    \block_macro
    addi block, block, \block_bytes
    addi act, act, \act_bytes
    ld temp, FRAME_X_END(sp)
    bne act, temp, .Lblock
.Lstore:
    store_group
    ld temp, FRAME_TOKENS(sp)
    bnez temp, .Ltokens
    ld temp, FRAME_Y(sp)
    ld temp_1, FRAME_ROWS(sp)
    addi temp, temp, 32
    addi temp_1, temp_1, -8
    sd block, FRAME_W(sp)
    sd temp, FRAME_Y(sp)
    sd temp_1, FRAME_ROWS(sp)
    bgtz temp_1, .Lrows
.Ldone:
.endm

#define out s0
#define tokens_now s1  /* rows to store now */
#define y_bytes s2
#define rows_now s3
#define sums_at s4
#define floats_left s5
#define out_row s6
#define from_row s7

/* Store the sums of the rows and tokens that exist, and advance FRAME_OUT and FRAME_TOKENS. */
.macro store_group
    ld out, FRAME_OUT(sp)
    ld tokens_now, FRAME_TOKENS(sp)
    ld y_bytes, FRAME_SHAPE(sp)
    ld y_bytes, SHAPE_Y_STRIDE(y_bytes)
    ld rows_now, FRAME_ROWS(sp)
    slli y_bytes, y_bytes, 2
    li temp, 8
    bleu rows_now, temp, .Lrows_known
    mv rows_now, temp
.Lrows_known:
    li temp, 4
    mv temp_1, tokens_now
    bleu tokens_now, temp, .Ltokens_known
    mv tokens_now, temp
.Ltokens_known:
    sub temp_1, temp_1, tokens_now
    sd temp_1, FRAME_TOKENS(sp)
    mv sums_at, sp
.Lstore_token:
    mv out_row, out
    mv from_row, sums_at
    mv floats_left, rows_now
.Lstore_row:
    flw ft0, 0(from_row)
    fsw ft0, 0(out_row)
    addi from_row, from_row, 4
    addi out_row, out_row, 4
    addi floats_left, floats_left, -1
    bnez floats_left, .Lstore_row
    add out, out, y_bytes
    addi sums_at, sums_at, 32
    addi tokens_now, tokens_now, -1
    bnez tokens_now, .Lstore_token
    sd out, FRAME_OUT(sp)
.endm

#endif
