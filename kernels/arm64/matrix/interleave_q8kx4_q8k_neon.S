// void interleave_q8kx4_q8k_neon(struct block_q8kx4 *y, const struct block_q8k *x,
//                                size_t n_tokens, size_t cols)
//
// x0-x13 as named below; v0-v3 16 columns, or 8 sums, of 4 tokens; v4 their d.
// Clobbers x0-x13, v0-v4.
//
// Works like interleave_q8x4_q8, with blocks of 256 columns. 4 blocks take 110 instructions:
// 427 cycles in the model of Cortex-A53, 157 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/asm.h"

#define out x0
#define tokens x1
#define n_tokens x2
#define n_blocks x3
#define second x4
#define third x5
#define fourth x6
#define blocks_left x7
#define token_bytes x8
#define step x9                 // 16: in y, bytes from a token's word to the token's next word
#define sum_step x10            // 8: bytes from a token's last word to its sums
#define target x11
#define sum_offset x12          // in y, from a token's word to its sum: 2 bytes per token
#define count x13

.macro four_tokens arrangement
    ld1     {v0.\arrangement}, [tokens], #16
    ld1     {v1.\arrangement}, [second], #16
    ld1     {v2.\arrangement}, [third], #16
    ld1     {v3.\arrangement}, [fourth], #16
    st4     {v0.\arrangement, v1.\arrangement, v2.\arrangement, v3.\arrangement}, [out], #64
.endm

.macro eight_sums from
.irp lane, 0, 1, 2, 3, 4, 5, 6, 7
    st1     {\from}[\lane], [target], sum_step
.endr
.endm

func interleave_q8kx4_q8k_neon
    lsr     n_blocks, n_blocks, #8
    cbz     n_blocks, 9f
    mov     token_bytes, #Q8K_BYTES
    mul     token_bytes, token_bytes, n_blocks
    mov     step, #16
    subs    n_tokens, n_tokens, #4
    b.lo    4f
1:
    add     second, tokens, token_bytes
    add     third, second, token_bytes
    add     fourth, third, token_bytes
    mov     blocks_left, n_blocks
2:
    mov     count, #4
3:
    four_tokens 4s
    four_tokens 4s
    four_tokens 4s
    four_tokens 4s
    subs    count, count, #1
    b.ne    3b
    four_tokens 8h
    four_tokens 8h
    ld1     {v4.s}[0], [tokens], step
    ld1     {v4.s}[1], [second], step
    ld1     {v4.s}[2], [third], step
    ld1     {v4.s}[3], [fourth], step
    st1     {v4.4s}, [out], #16
    subs    blocks_left, blocks_left, #1
    b.ne    2b
    mov     tokens, fourth
    subs    n_tokens, n_tokens, #4
    b.hs    1b
4:
    adds    n_tokens, n_tokens, #4
    b.eq    9f
    movi    v0.16b, #0
    mov     target, out
    mov     count, #Q8KX4_BYTES / 16
    mul     count, count, n_blocks
5:
    st1     {v0.4s}, [target], #16
    subs    count, count, #1
    b.ne    5b
    mov     sum_step, #8
    mov     sum_offset, #0
6:
    mov     target, out
    mov     blocks_left, n_blocks
7:
    mov     count, #16
8:
    ld1     {v0.4s}, [tokens], #16
    subs    count, count, #1
    st1     {v0.s}[0], [target], step
    st1     {v0.s}[1], [target], step
    st1     {v0.s}[2], [target], step
    st1     {v0.s}[3], [target], step
    b.ne    8b
    ld1     {v0.8h, v1.8h}, [tokens], #32
    ld1     {v2.s}[0], [tokens], step
    sub     target, target, sum_offset
    eight_sums v0.h
    eight_sums v1.h
    add     target, target, sum_offset
    subs    blocks_left, blocks_left, #1
    st1     {v2.s}[0], [target], step
    b.ne    7b
    add     out, out, #4
    add     sum_offset, sum_offset, #2
    subs    n_tokens, n_tokens, #1
    b.ne    6b
9:
    ret
endfunc interleave_q8kx4_q8k_neon
