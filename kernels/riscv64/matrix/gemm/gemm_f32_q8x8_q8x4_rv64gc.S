/* void gemm_f32_q8x8_q8x4_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8x4 *restrict x,
 *                                const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft11, fa0-fa5, fa7; keeps s0-s11 in a
 * frame of 304 bytes.
 *
 * One multiplication makes two products, as in the gemv: a + b 2^32, the bytes of one column of
 * two rows plus 128, times x, into one register a pair of rows and token, which starts with
 * -128 x.sum in both halves and 2^31. Bytes are masked once for four tokens. Instructions per 32
 * weights and token: 61. */
#include "kernels/riscv64/matrix/gemm/gemm_rv64gc.h"

#define sign_flip ra   /* 0x80 in every byte */

.macro start
    load_float scale_up, F32_2P112, temp
    li mask, 0x000000ff000000ff
.endm

.macro start_dots out, token
    lw word, Q8X4_SUM + 4*\token(act)
    slli word, word, 7
    slli product0, word, 32
    sub \out, product1, word
    sub \out, \out, product0           /* 2^31 - 128 * x.sum in both */
.endm

.macro column chunk, index
    lb act0, 16*\chunk + \index(act)
    lb act1, 16*\chunk + \index + 4(act)
    lb act2, 16*\chunk + \index + 8(act)
    lb act3, 16*\chunk + \index + 12(act)
    .irp pair, 0, 1, 2, 3
    ld word, QUANTS + 32*\chunk + 8*\pair(block)
    xor word, word, sign_flip
    .if \index
    srli word, word, 8*\index
    .endif
    and word, word, mask
    of_pair \pair, four_tokens, add
    .endr
.endm

.macro finish dots, row, scale0, scale1, token
    srai word, \dots, 32
    subw \dots, \dots, product0
    finish_pair fmadd.s, \dots, word, \row, \scale0, \scale1, \token
.endm

.macro q8_block
    li product1, 1 << 31
    start_dots act0, 0
    start_dots act1, 1
    start_dots act2, 2
    start_dots act3, 3
    of_pairs set_dots, act0, act1, act2, act3
    begin_chunks .Lchunks, 4
    .irp chunk, 0, 1
    column \chunk, 0
    column \chunk, 1
    column \chunk, 2
    column \chunk, 3
    .endr
    next_chunks .Lchunks, 64, 32
    addi block, block, -256
    addi act, act, -128
    load_row_scales 0, product0
    li product0, 1 << 31
    .irp token, 0, 1, 2, 3
    flw fa\token, Q8X4_SCALE + 4*\token(act)
    .endr
    finish_rows finish
.endm

func gemm_f32_q8x8_q8x4_rv64gc
    open_frame
    sd ra, FRAME_RA(sp)
    .cfi_rel_offset ra, FRAME_RA
    li sign_flip, 0x8080808080808080
    gemm_loops q8_block, Q8X8_BYTES, Q8X4_BYTES, 5
    ld ra, FRAME_RA(sp)
    .cfi_restore ra
    close_frame
    ret
endfunc
