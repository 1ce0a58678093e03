/* void gemm_f32_q4x8_q8x4_rv64gc(float *restrict y, const void *restrict w,
 *                                const struct block_q8x4 *restrict x,
 *                                const struct gemm_shape *restrict shape)
 *
 * a0 y, a1 w, a2 x, a3 shape. Clobbers a0-a7, t0-t6, ft0-ft11, fa0-fa5, fa7; keeps s0-s11 in a
 * frame of 304 bytes.
 *
 * One multiplication makes four products, as in the gemv: (a0 + a2 B + b0 B^2 + b2 B^3) times
 * (x2 + x0 B), B = 2^16, has the dots of rows a and b at B and B^3. All 16 products of a pair of
 * rows and a token are subtracted from one register, which starts with 8 x.sum in B, B^2 and B^3:
 * there it then has -sum (nibble - 8) x, at most 8 * 127 * 32 = 32512 and at least -32768, an
 * int16. 2^15 keeps the part below B positive (15 * 128 * 16 = 30720), 2^47 + 2^32 the part below
 * B^3. Nibbles are masked once for four tokens. Instructions per 32 weights and token: 39. */
#include "kernels/riscv64/gemm_rv64gc.h"

.macro start
    load_float scale_up, F32_2P112, temp
    li mask, 0x000f000f000f000f
.endm

.macro start_dots out, token
    lw \out, Q8X4_SUM + 4*\token(act)
    slli \out, \out, 3
    mul \out, \out, product0
    add \out, \out, product1
.endm

/* x2 + x0 B, or x3 + x1 B, of a token. */
.macro act_pair out, offset
    lb \out, \offset(act)
    lb word, \offset + 2(act)
    slli \out, \out, 16
    add \out, \out, word
.endm

/* The nibbles \shift and every 16 bits further up, of 4 bytes of each row: \chunk of the weights
 * with bytes \odd and \odd + 2 of chunk \act_chunk of x. */
.macro part chunk, act_chunk, odd, shift
    act_pair act0, 16*(\act_chunk) + \odd
    act_pair act1, 16*(\act_chunk) + \odd + 4
    act_pair act2, 16*(\act_chunk) + \odd + 8
    act_pair act3, 16*(\act_chunk) + \odd + 12
    .irp pair, 0, 1, 2, 3
    ld word, QUANTS + 32*\chunk + 8*\pair(block)
    .if \shift
    srli word, word, \shift
    .endif
    and word, word, mask
    of_pair \pair, four_tokens, sub
    .endr
.endm

.macro finish dots, row, scale0, scale1, token
    sraiw word, \dots, 16
    srai \dots, \dots, 48
    finish_pair fnmsub.s, word, \dots, \row, \scale0, \scale1, \token
.endm

.macro q4_block
    li product0, 0x0001000100010000
    li product1, (1 << 47) + (1 << 32) + (1 << 15)
    start_dots act0, 0
    start_dots act1, 1
    start_dots act2, 2
    start_dots act3, 3
    of_pairs set_dots, act0, act1, act2, act3
    begin_chunks .Lchunks, 2
    .irp chunk, 0, 1
    part \chunk, \chunk, 0, 0
    part \chunk, \chunk, 1, 8
    part \chunk, \chunk + 4, 0, 4
    part \chunk, \chunk + 4, 1, 12
    .endr
    next_chunks .Lchunks, 64, 32
    addi block, block, -128
    addi act, act, -64
    load_row_scales 0, product0
    .irp token, 0, 1, 2, 3
    flw fa\token, Q8X4_SCALE + 4*\token(act)
    .endr
    finish_rows finish
.endm

func gemm_f32_q4x8_q8x4_rv64gc
    open_frame
    gemm_loops q4_block, Q4X8_BYTES, Q8X4_BYTES, 5
    close_frame
    ret
endfunc
