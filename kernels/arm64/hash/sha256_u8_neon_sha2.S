// void sha256_u8_neon_sha2(uint32_t *h, const void *blocks, size_t n)
//
// x0 h; x1 blocks; x2 n.
// Clobbers x1-x3, v0-v7, v16-v31.
//
// sha256h and sha256h2 compute four rounds, sha256su0 and sha256su1 four words of the schedule. The
// round constants stay in v16-v31. A block takes 102 instructions; each pair of sha256h and sha256h2
// waits for the previous pair, and each of the two takes 4 cycles on Cortex-A76 (its optimization
// guide).
#include "kernels/arm64/asm.h"
#include "kernels/sha256_words.inc"

#define h x0
#define blocks x1
#define left x2
#define words_at x3

// Do four rounds with the words `now`. If `second` to `fourth` are given, then replace `now` by the
// words for 16 rounds later.
.macro four_rounds words, now, second, third, fourth
    add     v3.4s, \now\().4s, \words\().4s
    mov     v2.16b, v0.16b
.ifnb \second
    sha256su0 \now\().4s, \second\().4s
.endif
    sha256h q0, q1, v3.4s
    sha256h2 q1, q2, v3.4s
.ifnb \second
    sha256su1 \now\().4s, \third\().4s, \fourth\().4s
.endif
.endm

.macro sixteen_rounds a, b, c, d
    four_rounds \a, v4, v5, v6, v7
    four_rounds \b, v5, v6, v7, v4
    four_rounds \c, v6, v7, v4, v5
    four_rounds \d, v7, v4, v5, v6
.endm

func sha256_u8_neon_sha2, sha2
    cbz     left, 2f
    adrp    words_at, sha256_round_words
    add     words_at, words_at, #:lo12:sha256_round_words
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [words_at], #64
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [words_at], #64
    ld1     {v24.4s, v25.4s, v26.4s, v27.4s}, [words_at], #64
    ld1     {v28.4s, v29.4s, v30.4s, v31.4s}, [words_at]
    ld1     {v0.4s, v1.4s}, [h]
1:  ld1     {v4.16b, v5.16b, v6.16b, v7.16b}, [blocks], #64
    rev32   v4.16b, v4.16b
    rev32   v5.16b, v5.16b
    rev32   v6.16b, v6.16b
    rev32   v7.16b, v7.16b
    sixteen_rounds v16, v17, v18, v19
    sixteen_rounds v20, v21, v22, v23
    sixteen_rounds v24, v25, v26, v27
    four_rounds v28, v4
    four_rounds v29, v5
    four_rounds v30, v6
    four_rounds v31, v7
    ld1     {v4.4s, v5.4s}, [h]
    add     v0.4s, v0.4s, v4.4s
    add     v1.4s, v1.4s, v5.4s
    st1     {v0.4s, v1.4s}, [h]
    subs    left, left, #1
    b.ne    1b
2:  ret
endfunc sha256_u8_neon_sha2
