// void sha256_u8_neon(uint32_t *h, const void *blocks, size_t n)
//
// x0 h; x1 blocks; x2 n.
// Clobbers x0-x17. 128 bytes of stack.
//
// Needs no SHA-2 instructions. The state and the 16 words of the schedule stay in general registers, whose
// instructions can rotate an operand at no cost. In the majority b ^ ((a ^ b) & (b ^ c)) the term a ^ b of a round is
// the term b ^ c of the next. Each load reads two round constants. A round takes 19.5 instructions, a word of the
// schedule 9 more, and a block 1,738: 27.2 per byte.
#include "kernels/arm64/asm.h"
#include "kernels/sha256_words.inc"

// These values are in the frame while a block is hashed, because its rounds need all registers.
#define h_at sp, #96
#define left_at sp, #104
#define blocks_at sp, #112

#define LAST_LOW 0xbef9a3f7

#define words_at x0
#define pair x1                         // of the round constants
#define pair_low w1
#define temp w2
#define other w29
#define differ w30                      // b ^ c, also for the next round
#define differ_next w28


// w3-w10 hold a to h; after each round every register takes the next letter. For the schedule:
#define s0 w11
#define s1 w12
#define s2 w13
#define s3 w14
#define s4 w15
#define s5 w16
#define s6 w17
#define s7 w19
#define s8 w20
#define s9 w21
#define s10 w22
#define s11 w23
#define s12 w24
#define s13 w25
#define s14 w26
#define s15 w27

// `bc` is b ^ c; the macro leaves a ^ b in `ab`. a to h are register numbers. `odd` is 1 if the round's word
// is the upper one of the pair.
.macro round a, b, c, d, e, f, g, h, bc, ab, odd, s
    ror     temp, w\e, #6
    eor     other, w\e, w\e, ror #14
.if \odd
    add     x\h, x\h, pair, lsr #32     // the upper half is not used
.else
    ldr     pair, [words_at], #8
.endif
    eor     temp, temp, other, ror #11
    eor     other, w\f, w\g
    add     w\h, w\h, \s
.if \odd == 0
    add     w\h, w\h, pair_low
.endif
    and     other, other, w\e
    add     w\h, w\h, temp
    eor     other, other, w\g
    eor     \ab, w\a, w\b
    add     w\h, w\h, other
    ror     temp, w\a, #2
    eor     other, w\a, w\a, ror #9
    and     \bc, \bc, \ab
    add     w\d, w\d, w\h
    eor     temp, temp, other, ror #13
    eor     \bc, \bc, w\b
    add     w\h, w\h, temp
    add     w\h, w\h, \bc
.endm

// Replace `s`, a word of the schedule, by the word 16 places later.
.macro next_word s, after1, after9, after14
    ror     temp, \after1, #7
    ror     other, \after14, #17
    eor     temp, temp, \after1, ror #18
    eor     other, other, \after14, ror #19
    eor     temp, temp, \after1, lsr #3
    eor     other, other, \after14, lsr #10
    add     \s, \s, \after9
    add     temp, temp, other
    add     \s, \s, temp
.endm

.macro later_round a, b, c, d, e, f, g, h, bc, ab, odd, s, after1, after9, after14
    next_word \s, \after1, \after9, \after14
    round   \a, \b, \c, \d, \e, \f, \g, \h, \bc, \ab, \odd, \s
.endm

.macro swap_words pair, second
    rev32   \pair, \pair
    lsr     \second, \pair, #32
.endm

func sha256_u8_neon
    cbz     x2, 3f
    push_pair x29, x30, 128
    save_pair x19, x20, 16
    save_pair x21, x22, 32
    save_pair x23, x24, 48
    save_pair x25, x26, 64
    save_pair x27, x28, 80
    stp     x0, x2, [h_at]
    ldp     w3, w4, [x0]
    ldp     w5, w6, [x0, #8]
    ldp     w7, w8, [x0, #16]
    ldp     w9, w10, [x0, #24]
1:  ldp     x11, x13, [x1]
    ldp     x15, x17, [x1, #16]
    ldp     x20, x22, [x1, #32]
    ldp     x24, x26, [x1, #48]
    add     x1, x1, #64
    str     x1, [blocks_at]
    swap_words x11, x12
    swap_words x13, x14
    swap_words x15, x16
    swap_words x17, x19
    swap_words x20, x21
    swap_words x22, x23
    swap_words x24, x25
    swap_words x26, x27
    adrp    words_at, sha256_round_words
    add     words_at, words_at, #:lo12:sha256_round_words
    eor     differ, w4, w5
    round       3, 4, 5, 6, 7, 8, 9, 10, differ, differ_next, 0, s0
    round       10, 3, 4, 5, 6, 7, 8, 9, differ_next, differ, 1, s1
    round       9, 10, 3, 4, 5, 6, 7, 8, differ, differ_next, 0, s2
    round       8, 9, 10, 3, 4, 5, 6, 7, differ_next, differ, 1, s3
    round       7, 8, 9, 10, 3, 4, 5, 6, differ, differ_next, 0, s4
    round       6, 7, 8, 9, 10, 3, 4, 5, differ_next, differ, 1, s5
    round       5, 6, 7, 8, 9, 10, 3, 4, differ, differ_next, 0, s6
    round       4, 5, 6, 7, 8, 9, 10, 3, differ_next, differ, 1, s7
    round       3, 4, 5, 6, 7, 8, 9, 10, differ, differ_next, 0, s8
    round       10, 3, 4, 5, 6, 7, 8, 9, differ_next, differ, 1, s9
    round       9, 10, 3, 4, 5, 6, 7, 8, differ, differ_next, 0, s10
    round       8, 9, 10, 3, 4, 5, 6, 7, differ_next, differ, 1, s11
    round       7, 8, 9, 10, 3, 4, 5, 6, differ, differ_next, 0, s12
    round       6, 7, 8, 9, 10, 3, 4, 5, differ_next, differ, 1, s13
    round       5, 6, 7, 8, 9, 10, 3, 4, differ, differ_next, 0, s14
    round       4, 5, 6, 7, 8, 9, 10, 3, differ_next, differ, 1, s15
2:
    later_round 3, 4, 5, 6, 7, 8, 9, 10, differ, differ_next, 0, s0, s1, s9, s14
    later_round 10, 3, 4, 5, 6, 7, 8, 9, differ_next, differ, 1, s1, s2, s10, s15
    later_round 9, 10, 3, 4, 5, 6, 7, 8, differ, differ_next, 0, s2, s3, s11, s0
    later_round 8, 9, 10, 3, 4, 5, 6, 7, differ_next, differ, 1, s3, s4, s12, s1
    later_round 7, 8, 9, 10, 3, 4, 5, 6, differ, differ_next, 0, s4, s5, s13, s2
    later_round 6, 7, 8, 9, 10, 3, 4, 5, differ_next, differ, 1, s5, s6, s14, s3
    later_round 5, 6, 7, 8, 9, 10, 3, 4, differ, differ_next, 0, s6, s7, s15, s4
    later_round 4, 5, 6, 7, 8, 9, 10, 3, differ_next, differ, 1, s7, s8, s0, s5
    later_round 3, 4, 5, 6, 7, 8, 9, 10, differ, differ_next, 0, s8, s9, s1, s6
    later_round 10, 3, 4, 5, 6, 7, 8, 9, differ_next, differ, 1, s9, s10, s2, s7
    later_round 9, 10, 3, 4, 5, 6, 7, 8, differ, differ_next, 0, s10, s11, s3, s8
    later_round 8, 9, 10, 3, 4, 5, 6, 7, differ_next, differ, 1, s11, s12, s4, s9
    later_round 7, 8, 9, 10, 3, 4, 5, 6, differ, differ_next, 0, s12, s13, s5, s10
    later_round 6, 7, 8, 9, 10, 3, 4, 5, differ_next, differ, 1, s13, s14, s6, s11
    later_round 5, 6, 7, 8, 9, 10, 3, 4, differ, differ_next, 0, s14, s15, s7, s12
    later_round 4, 5, 6, 7, 8, 9, 10, 3, differ_next, differ, 1, s15, s0, s8, s13
    mov_word temp, LAST_LOW             // low half of the last pair of round constants
    cmp     pair_low, temp
    b.ne    2b
    ldp     x0, x2, [h_at]
    ldr     x1, [blocks_at]
    ldp     s0, s1, [x0]
    ldp     s2, s3, [x0, #8]
    ldp     s4, s5, [x0, #16]
    ldp     s6, s7, [x0, #24]
    add     w3, w3, s0
    add     w4, w4, s1
    add     w5, w5, s2
    add     w6, w6, s3
    add     w7, w7, s4
    add     w8, w8, s5
    add     w9, w9, s6
    add     w10, w10, s7
    stp     w3, w4, [x0]
    stp     w5, w6, [x0, #8]
    stp     w7, w8, [x0, #16]
    stp     w9, w10, [x0, #24]
    subs    x2, x2, #1
    str     x2, [left_at]
    b.ne    1b
    restore_pair x19, x20, 16
    restore_pair x21, x22, 32
    restore_pair x23, x24, 48
    restore_pair x25, x26, 64
    restore_pair x27, x28, 80
    pop_pair x29, x30, 128
3:  ret
endfunc sha256_u8_neon
