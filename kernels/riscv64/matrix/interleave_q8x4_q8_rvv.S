/* void interleave_q8x4_q8_rvv(struct block_q8x4 *restrict y, const struct block_q8 *restrict x,
 *                             size_t n_tokens, size_t cols)
 *
 * a0 y, a1 x, a2 n_tokens, a3 cols. Clobbers a0-a6, t0-t1, v0-v3.
 *
 * A block is 10 words: eight of q[], d and sum. Word i goes to word 4 * i +
 * token of the block of four. A block of a token takes 5 instructions. */
#include "kernels/riscv64/asm.h"

#define dst a0         /* of four tokens */
#define src a1
#define n_tokens a2
#define n_blocks a3
#define token_dst a4   /* the destination of a block of one token */
#define blocks_left a5
#define tokens_left a6 /* of the four */
#define word_stride t0 /* 16 */
#define group_bytes t1

#define word_lanes v0  /* m4 */

func interleave_q8x4_q8_rvv, v
    srli n_blocks, n_blocks, 5
    beqz n_blocks, .Ldone
    li word_stride, 16
    li group_bytes, Q8X4_BYTES
    mul group_bytes, group_bytes, n_blocks
    vsetivli zero, Q8_BYTES / 4, e32, m4, ta, ma
.Lgroup:
    beqz n_tokens, .Ldone
    li tokens_left, 4
.Ltoken:
    mv token_dst, dst
    mv blocks_left, n_blocks
    beqz n_tokens, .Labsent
    addi n_tokens, n_tokens, -1
.Lblock:
    vle32.v word_lanes, (src)
    addi src, src, Q8_BYTES
    vsse32.v word_lanes, (token_dst), word_stride
    addi token_dst, token_dst, Q8X4_BYTES
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock
.Lnext_token:
    addi dst, dst, 4
    addi tokens_left, tokens_left, -1
    bnez tokens_left, .Ltoken
    addi dst, dst, -16
    add dst, dst, group_bytes
    j .Lgroup

.Labsent:
    vmv.v.i word_lanes, 0
.Lzero_block:
    vsse32.v word_lanes, (token_dst), word_stride
    addi token_dst, token_dst, Q8X4_BYTES
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lzero_block
    j .Lnext_token
.Ldone:
    ret
endfunc
