/* void interleave_q8kx4_q8k_rvv(struct block_q8kx4 *restrict y, const struct block_q8k *restrict x,
 *                               size_t n_tokens, size_t cols)
 *
 * a0 y, a1 x, a2 n_tokens, a3 cols. Clobbers a0-a7, t0-t6, v0-v11.
 *
 * Word i of q[] goes to word 4 * i + token of the block of
 * four; sum i goes to int16 number 4 * i + token of that block's sums. */
#include "kernels/riscv64/asm.h"

#define dst a0         /* of four tokens */
#define src a1
#define n_tokens a2
#define n_blocks a3
#define token_dst a4   /* the destination of a block of one token */
#define blocks_left a5
#define tokens_left a6 /* of the four */
#define words_left a7
#define word_stride t0 /* 16 */
#define half_stride t1 /* 8 */
#define group_bytes t2
#define sums_offset t3 /* from token_dst */
#define taken t4
#define temp t5
#define scale t6

#define word_lanes v0  /* m8 */
#define sums v8        /* m2 */

#define BLOCK_WORDS 64

/* Store one token's blocks; zeros unless \present. */
.macro token_blocks present
.Lblock\@:
    li words_left, BLOCK_WORDS
    mv temp, token_dst
.Lwords\@:
    vsetvli taken, words_left, e32, m8, ta, ma
    .if \present
    vle32.v word_lanes, (src)
    .else
    vmv.v.i word_lanes, 0
    .endif
    sub words_left, words_left, taken
    slli taken, taken, 2
    vsse32.v word_lanes, (temp), word_stride
    .if \present
    add src, src, taken
    .endif
    slli taken, taken, 2
    add temp, temp, taken
    bnez words_left, .Lwords\@
    vsetivli zero, 16, e16, m2, ta, ma
    .if \present
    vle16.v sums, (src)
    lw scale, Q8K_SCALE - Q8K_SUM(src)
    addi src, src, Q8K_BYTES - Q8K_SUM
    .else
    vmv.v.i sums, 0
    li scale, 0
    .endif
    add temp, token_dst, sums_offset
    vsse16.v sums, (temp), half_stride
    sw scale, Q8KX4_SCALE(token_dst)
    addi token_dst, token_dst, Q8KX4_BYTES
    addi blocks_left, blocks_left, -1
    bnez blocks_left, .Lblock\@
.endm

func interleave_q8kx4_q8k_rvv, v
    srli n_blocks, n_blocks, 8
    beqz n_blocks, .Ldone
    li word_stride, 16
    li half_stride, 8
    li group_bytes, Q8KX4_BYTES
    mul group_bytes, group_bytes, n_blocks
.Lgroup:
    beqz n_tokens, .Ldone
    li tokens_left, 4
    li sums_offset, Q8KX4_SUM
.Ltoken:
    mv token_dst, dst
    mv blocks_left, n_blocks
    beqz n_tokens, .Labsent
    addi n_tokens, n_tokens, -1
    token_blocks 1
.Lnext_token:
    addi dst, dst, 4
    addi sums_offset, sums_offset, -2
    addi tokens_left, tokens_left, -1
    bnez tokens_left, .Ltoken
    addi dst, dst, -16
    add dst, dst, group_bytes
    j .Lgroup

.Labsent:
    token_blocks 0
    j .Lnext_token
.Ldone:
    ret
endfunc
