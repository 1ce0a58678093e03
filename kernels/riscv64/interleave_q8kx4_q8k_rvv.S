/* void interleave_q8kx4_q8k_rvv(struct block_q8kx4 *restrict y, const struct block_q8k *restrict x,
 *                               size_t n_tokens, size_t cols)
 *
 * a0 y, a1 x, a2 n_tokens, a3 cols. Clobbers a0-a7, t0-t6, v0-v11.
 *
 * Word i of q[] goes to word 4 * i + token of the block of four, sum i to int16 4 * i + token of
 * its sums. */
#include "kernels/riscv64/asm.h"

#define dst a0         /* of four tokens */
#define src a1
#define n_tokens a2
#define n_blocks a3
#define token_dst a4   /* of one of the four, a block */
#define blocks_left a5
#define tokens_left a6 /* of the four */
#define words_left a7
#define word_stride t0 /* 16 */
#define half_stride t1 /* 8 */
#define group_bytes t2
#define sums_offset t3 /* from token_dst */
#define vl t4
#define temp t5
#define scale t6

#define words v0       /* m8 */
#define sums v8        /* m2 */

#define BLOCK_WORDS 64
#define BLOCK_BYTES 304
#define SUMS_BYTES 32
#define GROUP_BYTES 1168
#define GROUP_SUMS 1024
#define GROUP_SCALES 1152

/* One token's blocks: of zeros unless \present. */
.macro token_blocks present
1:  li words_left, BLOCK_WORDS
    mv temp, token_dst
2:  vsetvli vl, words_left, e32, m8, ta, ma
    .if \present
    vle32.v words, (src)
    .else
    vmv.v.i words, 0
    .endif
    sub words_left, words_left, vl
    slli vl, vl, 2
    vsse32.v words, (temp), word_stride
    .if \present
    add src, src, vl
    .endif
    slli vl, vl, 2
    add temp, temp, vl
    bnez words_left, 2b
    vsetivli zero, 16, e16, m2, ta, ma
    .if \present
    vle16.v sums, (src)
    lw scale, SUMS_BYTES(src)
    addi src, src, BLOCK_BYTES - 4 * BLOCK_WORDS
    .else
    vmv.v.i sums, 0
    li scale, 0
    .endif
    add temp, token_dst, sums_offset
    vsse16.v sums, (temp), half_stride
    sw scale, GROUP_SCALES(token_dst)
    addi token_dst, token_dst, GROUP_BYTES
    addi blocks_left, blocks_left, -1
    bnez blocks_left, 1b
.endm

func interleave_q8kx4_q8k_rvv, v
    srli n_blocks, n_blocks, 8
    beqz n_blocks, .Ldone
    li word_stride, 16
    li half_stride, 8
    li group_bytes, GROUP_BYTES
    mul group_bytes, group_bytes, n_blocks
.Lgroup:
    beqz n_tokens, .Ldone
    li tokens_left, 4
    li sums_offset, GROUP_SUMS
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
