// void interleave_q8x4_q8_neon(struct block_q8x4 *y, const struct block_q8 *x, size_t n_tokens,
//                              size_t cols)
//
// x0-x10 as named below; v0-v3 16 columns of 4 tokens, v4, v5 their d and sum.
// Clobbers x0-x10, v0-v7.
//
// One st4 interleaves the words of four registers, one per token. Tokens that do not fill a group
// of 4 are stored word by word over zeros. 4 blocks take 19 instructions: 66 cycles in the model of
// Cortex-A53, 25 in that of Cortex-A72 (llvm-mca 19).
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
#define step x9                 // 16: in y, bytes from a token's word to its next one
#define target x10

func interleave_q8x4_q8_neon
    lsr     n_blocks, n_blocks, #5
    cbz     n_blocks, 9f
    add     token_bytes, n_blocks, n_blocks, lsl #2
    lsl     token_bytes, token_bytes, #3
    subs    n_tokens, n_tokens, #4
    b.lo    3f
1:
    add     second, tokens, token_bytes
    add     third, second, token_bytes
    add     fourth, third, token_bytes
    mov     blocks_left, n_blocks
2:
    ld1     {v0.4s}, [tokens], #16
    ld1     {v1.4s}, [second], #16
    ld1     {v2.4s}, [third], #16
    ld1     {v3.4s}, [fourth], #16
    subs    blocks_left, blocks_left, #1
    st4     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
    ld1     {v0.4s}, [tokens], #16
    ld1     {v1.4s}, [second], #16
    ld1     {v2.4s}, [third], #16
    ld1     {v3.4s}, [fourth], #16
    ld1     {v4.d}[0], [tokens], #8
    ld1     {v5.d}[0], [third], #8
    ld1     {v4.d}[1], [second], #8
    ld1     {v5.d}[1], [fourth], #8
    st4     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
    uzp1    v6.4s, v4.4s, v5.4s
    uzp2    v7.4s, v4.4s, v5.4s
    st1     {v6.4s, v7.4s}, [out], #32
    b.ne    2b
    mov     tokens, fourth
    subs    n_tokens, n_tokens, #4
    b.hs    1b
3:
    adds    n_tokens, n_tokens, #4
    b.eq    9f
    movi    v0.16b, #0
    movi    v1.16b, #0
    mov     target, out
    mov     blocks_left, n_blocks
4:
    st1     {v0.4s, v1.4s}, [target], #32
    st1     {v0.4s, v1.4s}, [target], #32
    st1     {v0.4s, v1.4s}, [target], #32
    st1     {v0.4s, v1.4s}, [target], #32
    st1     {v0.4s, v1.4s}, [target], #32
    subs    blocks_left, blocks_left, #1
    b.ne    4b
    mov     step, #16
5:
    mov     target, out
    mov     blocks_left, n_blocks
6:
    ld1     {v0.4s, v1.4s}, [tokens], #32
    ld1     {v2.2s}, [tokens], #8
    subs    blocks_left, blocks_left, #1
    st1     {v0.s}[0], [target], step
    st1     {v0.s}[1], [target], step
    st1     {v0.s}[2], [target], step
    st1     {v0.s}[3], [target], step
    st1     {v1.s}[0], [target], step
    st1     {v1.s}[1], [target], step
    st1     {v1.s}[2], [target], step
    st1     {v1.s}[3], [target], step
    st1     {v2.s}[0], [target], step
    st1     {v2.s}[1], [target], step
    b.ne    6b
    add     out, out, #4
    subs    n_tokens, n_tokens, #1
    b.ne    5b
9:
    ret
endfunc interleave_q8x4_q8_neon
