/* void sha256_u8_rvv_zvknha(uint32_t *h, const void *blocks, size_t n)
 *
 * a0 h, a1 blocks, a2 n. Clobbers a1-a2, t0-t1, v0-v11, v16-v31.
 *
 * vsha2cl and vsha2ch compute two rounds each: from four sums of a word and its constant, vsha2cl takes the lower
 * two and vsha2ch the upper two. After two rounds a, b, e, f become c, d, g, h, so each instruction writes the
 * other's operand. vsha2ms computes four words of the schedule. The round constants stay in v16-v31. vrgather
 * swaps the bytes of a word, so Zvkb is not needed; its vrev8 would save the two vsetivli. A block takes 92
 * instructions. */
#include "kernels/riscv64/asm.h"
#include "kernels/riscv64/hash/crypto_rvv.h"
#include "kernels/sha256_words.inc"

#define h a0
#define blocks a1
#define left a2
#define words_at t0
#define temp t1

#define first_lane v0  /* as a mask */
#define sums v1        /* words of the message and round constants; then word 4 and words 9 to 11 of the schedule */
#define abef v2        /* lanes f, e, b, a */
#define cdgh v3
#define word0 v4       /* four words of the schedule each */
#define word1 v5
#define word2 v6
#define word3 v7
#define abef_before v8
#define cdgh_before v9
#define swapped v10    /* places of bytes: 3, 2, 1, 0, 7 ... */
#define lanes v11      /* byte offsets of f, e, b, a from h, and of h, g, d, c from c */

/* Do four rounds with the words `now`. If `second` to `fourth` are given, then replace `now` by the words for 16
 * rounds later. */
.macro four_rounds words, now, second, third, fourth
    vadd.vv sums, \words, \now
    vsha2cl.vv cdgh, abef, sums
    vsha2ch.vv abef, cdgh, sums
.ifnb \second
    vmerge.vvm sums, \third, \second, first_lane
    vsha2ms.vv \now, sums, \fourth
.endif
.endm

.macro sixteen_rounds a, b, c, d
    four_rounds \a, word0, word1, word2, word3
    four_rounds \b, word1, word2, word3, word0
    four_rounds \c, word2, word3, word0, word1
    four_rounds \d, word3, word0, word1, word2
.endm

.macro load_constants
    la words_at, sha256_round_words
    .irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    vle32.v v\n, (words_at)
    addi words_at, words_at, 16
    .endr
    vmv.v.i first_lane, 1
    li temp, 0x00041014
    vmv.v.x lanes, temp
    vsetivli zero, 16, e8, m1, ta, ma
    vid.v swapped
    vxor.vi swapped, swapped, 3
.endm

.macro load_block
    .irp word, word0, word1, word2, word3
    vle8.v sums, (blocks)
    addi blocks, blocks, 16
    vrgather.vv \word, sums, swapped
    .endr
.endm

func sha256_u8_rvv_zvknha, v
    beqz left, .Lnone
    vsetivli zero, 4, e32, m1, ta, ma
    load_constants
    vsetivli zero, 4, e32, m1, ta, ma
    vluxei8.v abef, (h), lanes
    addi temp, h, 8
    vluxei8.v cdgh, (temp), lanes
.Lblock:
    vsetivli zero, 16, e8, m1, ta, ma
    load_block
    vsetivli zero, 4, e32, m1, ta, ma
    vmv.v.v abef_before, abef
    vmv.v.v cdgh_before, cdgh
    sixteen_rounds v16, v17, v18, v19
    sixteen_rounds v20, v21, v22, v23
    sixteen_rounds v24, v25, v26, v27
    four_rounds v28, word0
    four_rounds v29, word1
    four_rounds v30, word2
    four_rounds v31, word3
    addi left, left, -1
    vadd.vv abef, abef, abef_before
    vadd.vv cdgh, cdgh, cdgh_before
    bnez left, .Lblock
    vsuxei8.v abef, (h), lanes
    vsuxei8.v cdgh, (temp), lanes
.Lnone:
    ret
endfunc
